"""A causal model fitted on labelled text: which movements are cause and effect, and whose they are.

Two parts, minutes on two cores. A logistic regression weighs the links that the untrained reader finds; a text says a
pair of types, not where, so that after a first fit only the surest link of each labelled pair stays positive (as in
multiple-instance learning, Andrews et al. 2002). Two linear-chain CRFs (Lafferty et al. 2001; averaged perceptron,
Collins 2002) tag products, regions and trades of the cause and of the effect. Needs the extra `train`.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from extraction.mentions import shipped_lexicon
from extraction.training.causal_examples import hash_of
from extraction.training.causal_features import LONGEST, WIDTH, Candidates, Characters, pair_of
from kg.errors import KgError
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from extraction.patterns.move_pairs import Link
    from extraction.training.causal_examples import Argument, CausalExample, Pair

VERSION = 1
TOLD = 0.4  # probability from which a further pair of a text is told
_SIDES = 2
_C_FIRST, _C = 0.03, 0.08  # inverse regularisation of the first fit and of the last
_TAGGER = {"max_iterations": 10, "feature.minfreq": 2}
_SEED = 0
_AFTER = 6  # a name behind its factor's word counts as this many characters further away


@dataclass(frozen=True, slots=True)
class Told:
    """A pair that the model reads, the link it is read from and its probability, 0 … 1."""

    pair: Pair
    link: Link
    probability: float


class CausalModel:
    """A fitted model; `data_hash` is the SHA-256 of what it was fitted on."""

    def __init__(self, weights: NDArray[np.float32], taggers: tuple[bytes, bytes], data_hash: str) -> None:
        self.weights, self.taggers, self.data_hash = weights, taggers, data_hash
        self._lexicon = shipped_lexicon()
        self._tagging = [_opened(tagger) for tagger in taggers]

    def read(self, text: str) -> list[Told]:
        """Return the pairs of a text that are sure enough, the surest first; the surest of all in any case."""
        candidates = Candidates.of(text)
        best: dict[Pair, Told] = {}
        for link, columns in zip(candidates.links, candidates.columns(), strict=True):
            told = Told(pair_of(link), link, _probability(self.weights, columns))
            if told.pair not in best or told.probability > best[told.pair].probability:
                best[told.pair] = told
        ranked = sorted(best.values(), key=lambda told: (-told.probability, told.pair))
        return [told for rank, told in enumerate(ranked) if rank == 0 or told.probability >= TOLD]

    def arguments(self, text: str, pairs: Iterable[Pair]) -> dict[Pair, tuple[set[Argument], set[Argument]]]:
        """Return the arguments of the cause and of the effect of each pair of a text."""
        characters = Characters(text, self._lexicon)
        return {pair: (self._side(characters, pair, 0), self._side(characters, pair, 1)) for pair in pairs}

    def _side(self, characters: Characters, pair: Pair, side: int) -> set[Argument]:
        tags = self._tagging[side].tag(characters.features(pair, side))
        found = {(role, characters.text[start:end]) for role, start, end in _spans(tags)}
        if any(role != "region" for role, _ in found):
            return found
        guessed = [name for name in characters.guess(pair, side) if name.kind != Kind.REGION]
        return found | {
            ("industry" if name.kind == Kind.INDUSTRY else "product", characters.text[name.start : name.end])
            for name in guessed
        }

    def save(self, path: Path) -> None:
        """Write the model as one NumPy archive without pickles."""
        columns = np.flatnonzero(self.weights)
        arrays: dict[str, Any] = {
            f"tagger{side}": np.frombuffer(tagger, dtype=np.uint8) for side, tagger in enumerate(self.taggers)
        }
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                version=np.array(VERSION),
                data_hash=np.array(self.data_hash),
                columns=columns.astype(np.int32),
                values=self.weights[columns],
                **arrays,
            )

    @classmethod
    def load(cls, path: Path) -> CausalModel:
        """Read a model back.

        Raises:
            KgError: the file is no causal model of this version.
        """
        try:
            with np.load(path, allow_pickle=False) as stored:
                if int(stored["version"]) != VERSION:
                    raise KgError(f"{path}: a causal model of another version; fit it again")
                weights = np.zeros(WIDTH + 1, dtype=np.float32)
                weights[stored["columns"]] = stored["values"]
                taggers = (stored["tagger0"].tobytes(), stored["tagger1"].tobytes())
                return cls(weights, taggers, str(stored["data_hash"]))
        except (OSError, EOFError, BadZipFile, KeyError, ValueError) as error:
            raise KgError(f"{path}: no causal model ({error}); fit it again") from error


def fit(examples: Sequence[CausalExample]) -> CausalModel:
    """Fit a model on labelled texts; the same examples in the same order give the same weights.

    Raises:
        KgError: the texts hold no pair the reader can find.
        ImportError: the extra `train` is not installed.
    """
    return CausalModel(_fit_pairs(examples), (_fit_tagger(examples, 0), _fit_tagger(examples, 1)), hash_of(examples))


def _fit_pairs(examples: Sequence[CausalExample]) -> NDArray[np.float32]:
    columns: list[NDArray[np.int64]] = []
    pairs: list[tuple[int, Pair]] = []
    for index, example in enumerate(examples):
        candidates = Candidates.of(example.text)
        columns += candidates.columns()
        pairs += [(index, pair_of(link)) for link in candidates.links]
    labels = np.fromiter((pair in examples[index].pairs for index, pair in pairs), dtype=bool, count=len(pairs))
    if not labels.any() or labels.all():
        raise KgError("no causal pair of the labelled texts can be learned: are their types Liantu's kinds of factor?")
    rows = _matrix(columns)
    first = _logistic(rows, labels, _C_FIRST)
    surest: dict[tuple[int, Pair], int] = {}
    for row in np.flatnonzero(labels):
        known = surest.get(pairs[row])
        if known is None or first[row] > first[known]:
            surest[pairs[row]] = int(row)
    kept = ~labels
    kept[list(surest.values())] = True
    return _weights(rows[kept], labels[kept], _C)


def _matrix(columns: Sequence[NDArray[np.int64]]) -> Any:
    indptr = np.concatenate(([0], np.cumsum([each.size for each in columns])))
    indices = np.concatenate(columns)
    sparse = _library("scipy.sparse")
    return sparse.csr_matrix((np.ones(indices.size, dtype=np.float64), indices, indptr), shape=(len(columns), WIDTH))


def _logistic(rows: Any, labels: NDArray[np.bool_], strength: float) -> NDArray[np.float64]:
    weights = _weights(rows, labels, strength)
    scores: NDArray[np.float64] = rows @ weights[:WIDTH].astype(np.float64) + weights[WIDTH]
    return scores


def _weights(rows: Any, labels: NDArray[np.bool_], strength: float) -> NDArray[np.float32]:
    """Return the weights of a logistic regression, the intercept last."""
    linear = _library("sklearn.linear_model")
    model = linear.LogisticRegression(C=strength, solver="liblinear", random_state=0).fit(rows, labels)
    return np.concatenate((model.coef_[0], model.intercept_)).astype(np.float32)


def _probability(weights: NDArray[np.float32], columns: NDArray[np.int64]) -> float:
    score = float(weights[columns].sum(dtype=np.float64) + weights[WIDTH])
    return float(1.0 / (1.0 + np.exp(-score)))


def _fit_tagger(examples: Sequence[CausalExample], side: int) -> bytes:
    trainer = _library("pycrfsuite").Trainer(algorithm="ap", verbose=False)
    lexicon = shipped_lexicon()
    for example in examples:
        characters = Characters(example.text, lexicon)
        for pair, arguments in sorted(example.pairs.items(), key=lambda item: item[0]):
            move = characters.sides(pair)[side]
            tags = _tags(characters.text, arguments[side], move.head[0] if move else None)
            trainer.append(characters.features(pair, side), tags)
    trainer.set_params(_TAGGER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger"
        ctypes.CDLL(None).srand(_SEED)  # CRFsuite shuffles its sequences with the C library's generator
        trainer.train(str(path))
        return path.read_bytes()


def _tags(text: str, arguments: frozenset[Argument], head: int | None) -> list[str]:
    """Tag of each argument the occurrence nearest to the factor's word; the longer ones first."""
    tags = ["O"] * min(len(text), LONGEST)
    for role, name in sorted(arguments, key=lambda item: (-len(item[1]), item)):
        start = _nearest(text, name, head)
        span = slice(start, start + len(name))
        if start >= 0 and all(tag == "O" for tag in tags[span]):
            tags[span] = [f"B-{role}", *[f"I-{role}"] * (len(name) - 1)]
    return tags


def _nearest(text: str, name: str, head: int | None) -> int:
    places = [at for at in range(len(text) - len(name) + 1) if text.startswith(name, at)]
    if not places or head is None:
        return places[0] if places else -1
    return min(places, key=lambda at: head - at if at <= head else 2 * (at - head) + _AFTER)


def _spans(tags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield (role, start, end) of BIO tags."""
    open_at: dict[str, int] = defaultdict(int)
    role = ""
    for at, tag in enumerate([*tags, "O"]):
        if role and tag != f"I-{role}":
            yield role, open_at[role], at
            role = ""
        if tag.startswith("B-"):
            role = tag[2:]
            open_at[role] = at


def _opened(tagger: bytes) -> Any:
    opened = _library("pycrfsuite").Tagger()
    opened.open_inmemory(tagger)
    return opened


def _library(module: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 -- of the extra `train`

    return import_module(module)
