"""A reader of triples fitted on labelled text: who is told of, what is listed of it, and as what. Needs `train`.

Two parts. A linear-chain CRF tags names with their roles (`role_tagger`). A logistic regression weighs pairs of names
(`role_candidates`); it is fitted on what taggers say of texts that they have not seen (stacking, Wolpert 1992), and the
probability from which a pair is told is the best on those. Minutes on one core for a few thousand sentences.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from extraction.training.role_candidates import candidates_of
from extraction.training.role_examples import Triple, hash_of, in_order
from extraction.training.role_lexicon import KnownNames
from extraction.training.role_tagger import RoleTagger, library
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from extraction.training.role_candidates import Candidate, Place
    from extraction.training.role_examples import Mark, RoleExample

FORMAT = "liantu-roles/1"
_PARTS = 3  # the texts of one are read by a tagger of the others
_C = 0.1  # inverse regularisation
_BIAS = ""  # the feature that every pair has
_LEAST = 0.1  # no pair is told of a lower probability
_SURE = 0.5  # a second owner of a listed name is told from here


@dataclass(frozen=True, slots=True)
class Role:
    """A pair of names of a text; `name` is the child of a parent, the object of all else."""

    owner: Place
    relation: str
    name: Place
    probability: float


class RoleModel:
    """Reads pairs; made by `fit` or `load`. `trained_on` is the SHA-256 of its examples."""

    def __init__(self, tagger: RoleTagger, weights: Mapping[str, float], least: float) -> None:
        self.tagger, self.weights, self.least = tagger, dict(weights), least
        self.trained_on, self.examples = "", 0

    @classmethod
    def fit(cls, examples: Sequence[RoleExample]) -> RoleModel:
        """Fit a model on examples with their marks; the same ones give the same model, whatever their order.

        Raises:
            DocumentError: no pair that can be found is right, or all are.
        """
        examples = in_order(examples)
        parts = [[each for each in examples if _part(each.text) == part] for part in range(_PARTS)]
        judged = []
        for part in parts:
            others = [each for other in parts if other is not part for each in other]
            if part and others:
                judged += _judged(RoleTagger.fit(others), part)
        weights = _weights([(candidate, right) for one in judged for candidate, right in one.pairs])
        model = cls(RoleTagger.fit(examples), weights, _LEAST)
        model.least = _best_least(model, judged)
        model.trained_on, model.examples = hash_of(examples), len(examples)
        return model

    def read(self, text: str, marks: Sequence[Mark] = ()) -> list[Role]:
        """Return the pairs of a text that are likely enough, the likeliest first."""
        return self._told(text, candidates_of(self.tagger.tag(text, marks), marks), self.least)

    def _told(self, text: str, candidates: Iterable[Candidate], least: float) -> list[Role]:
        """Keep likely pairs; of stretches that overlap the likeliest, of a name's owners the likeliest or sure ones."""
        roles = [Role(each.owner, each.relation, each.name, self._probability(each)) for each in candidates]
        kept: list[Role] = []
        for role in sorted(roles, key=lambda role: (-role.probability, role.owner, role.relation, role.name)):
            if role.probability >= least and not any(_excludes(text, other, role) for other in kept):
                kept.append(role)
        return kept

    def _probability(self, candidate: Candidate) -> float:
        weights = self.weights
        score = weights[_BIAS] + sum(weights.get(what, 0.0) * value for what, value in candidate.features.items())
        return float(1.0 / (1.0 + np.exp(-score)))

    def save(self, path: Path) -> None:
        """Write the model as an archive of arrays."""
        names = self.tagger.names
        about = {
            "format": FORMAT,
            "trained_on": self.trained_on,
            "examples": self.examples,
            "least": self.least,
            "features": list(self.weights),
            "roles": names.roles,
            "texts": names.texts,
        }
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                about=np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8),
                crf=np.frombuffer(self.tagger.crf, dtype=np.uint8),
                weights=np.array(list(self.weights.values())),
            )

    @classmethod
    def load(cls, path: Path) -> RoleModel:
        """Read a model.

        Raises:
            DocumentError: the file is no model of this version.
        """
        try:
            with np.load(path, allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes().decode())
                if about["format"] != FORMAT:
                    raise DocumentError(str(path), f"is a model of {about['format']}", "train it again")
                crf = archive["crf"].tobytes()
                weights = dict(zip(about["features"], archive["weights"].tolist(), strict=True))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise DocumentError(str(path), f"is no model: {error}", "train it again with liantu train") from error
        model = cls(RoleTagger(crf, KnownNames(about["roles"], about["texts"])), weights, about["least"])
        model.trained_on, model.examples = about["trained_on"], about["examples"]
        return model


@dataclass(frozen=True, slots=True)
class _Judged:
    """The pairs that may be told of a text, each with whether it is right, and how many right ones there are."""

    text: str
    pairs: list[tuple[Candidate, bool]]
    gold: int


def _judged(tagger: RoleTagger, examples: Sequence[RoleExample]) -> list[_Judged]:
    out = []
    for example in examples:
        pairs = candidates_of(tagger.tag(example.text, example.marks), example.marks)
        right = [(each, _triple(example.text, each) in example.triples) for each in pairs]
        out.append(_Judged(example.text, right, len(example.triples)))
    return out


def _triple(text: str, pair: Candidate | Role) -> Triple:
    owner, name = text[pair.owner[0] : pair.owner[1]], text[pair.name[0] : pair.name[1]]
    return (
        Triple(name, pair.relation, owner) if pair.relation == "subsidiary_of" else Triple(owner, pair.relation, name)
    )


def _weights(pairs: Sequence[tuple[Candidate, bool]]) -> dict[str, float]:
    """Fit a logistic regression of what is right; features by name, the bias under _BIAS."""
    labels = np.array([right for _, right in pairs], dtype=bool)
    if not labels.any() or labels.all():
        raise DocumentError("training", "no triple of the texts can be learnt", "give texts with triples, and without")
    vectorizer = library("sklearn.feature_extraction").DictVectorizer()
    rows = _small(vectorizer.fit_transform([candidate.features for candidate, _ in pairs]))
    linear = library("sklearn.linear_model").LogisticRegression(C=_C, solver="liblinear", random_state=0)
    linear.fit(rows, labels)
    named: NDArray[np.float64] = linear.coef_[0]
    return {_BIAS: float(linear.intercept_[0]), **dict(zip(vectorizer.feature_names_, named.tolist(), strict=True))}


def _small(rows: Any) -> Any:
    """Return a sparse matrix with indices of 32 bits, which liblinear wants."""
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows


def _best_least(model: RoleModel, judged: Sequence[_Judged]) -> float:
    """Return the probability from which the told pairs of unseen texts have the best F1, in steps of 0.02."""
    gold = sum(each.gold for each in judged)
    best, least = 0.0, _LEAST
    for step in np.arange(_LEAST, _SURE, 0.02).tolist():
        told = right = 0
        for one in judged:
            kept = model._told(one.text, (candidate for candidate, _ in one.pairs), step)  # noqa: SLF001 -- our own
            good = {_triple(one.text, candidate) for candidate, is_right in one.pairs if is_right}
            told += len(kept)
            right += sum(_triple(one.text, role) in good for role in kept)
        if told and 2 * right / (told + gold) > best:
            best, least = 2 * right / (told + gold), step
    return round(least, 2)


def _excludes(text: str, kept: Role, role: Role) -> bool:
    """Whether a pair that is told leaves no room for a less likely one."""
    ours, theirs = text[kept.name[0] : kept.name[1]], text[role.name[0] : role.name[1]]
    if ours == theirs and kept.relation == role.relation:
        return role.probability < _SURE and kept.owner != role.owner
    same_owner = text[kept.owner[0] : kept.owner[1]] == text[role.owner[0] : role.owner[1]]
    return (ours in theirs or theirs in ours) and (kept.relation == role.relation or same_owner)


def _part(text: str) -> int:
    return int(sha256(b"part" + text.encode()).hexdigest(), 16) % _PARTS
