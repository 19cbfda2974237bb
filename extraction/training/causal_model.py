"""A causal model fitted on labelled text: which movements are cause and effect, and whose they are.

Three parts, minutes on two cores. The links that the untrained reader finds compete with one another (`causal_links`).
Two linear-chain CRFs (Lafferty et al. 2001; averaged perceptron,
Collins 2002) tag products, regions and trades of the cause and of the effect, and the names of the text are weighed
for the same (`causal_names`): a name that is tagged counts for more. Needs the extra `train`.
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
from extraction.training.causal_features import LONGEST, WIDTH, Characters
from extraction.training.causal_links import LinkModel
from extraction.training.causal_names import NameModel
from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from extraction.patterns.move_pairs import Link
    from extraction.training.causal_examples import Argument, CausalExample, Pair

VERSION = 3
TOLD = 0.25  # share among the pairs of a text from which a further one is told, by a fifth of the train part held out
_SIDES = 2
_TAGGER = {"max_iterations": 10, "feature.minfreq": 2}
_SEED = 0
_AFTER = 6  # a name behind its factor's word counts as this many characters further away
# By a fifth of the train part of CCKS 2021 held out: what a tag adds to the log-odds of a name, the log-odds of what is
# tagged and no name of the text, and from where on one is told.
_TAGGED, _UNNAMED, _ARGUMENT = 2.0, -2.2, -0.6


@dataclass(frozen=True, slots=True)
class Told:
    """A pair that the model reads, the link it is likeliest read from and its probability, 0 … 1."""

    pair: Pair
    link: Link
    probability: float


class CausalModel:
    """A fitted model; `data_hash` is the SHA-256 of what it was fitted on."""

    def __init__(self, links: LinkModel, taggers: tuple[bytes, bytes], names: NameModel, data_hash: str) -> None:
        self.links, self.taggers, self.names, self.data_hash = links, taggers, names, data_hash
        self._lexicon = shipped_lexicon()
        self._tagging = [_opened(tagger) for tagger in taggers]

    def read(self, text: str) -> list[Told]:
        """Return the pairs of a text that are likely among them, the likeliest first; the likeliest in any case."""
        return [
            Told(each.pair, each.link, float(1.0 / (1.0 + np.exp(-each.log_odds))))
            for rank, each in enumerate(self.links.weigh(text))
            if rank == 0 or each.share >= TOLD
        ]

    def arguments(self, text: str, pairs: Iterable[Pair]) -> dict[Pair, tuple[set[Argument], set[Argument]]]:
        """Return the arguments of the cause and of the effect of each pair of a text."""
        characters = Characters(text, self._lexicon)
        return {pair: (self._side(characters, pair, 0), self._side(characters, pair, 1)) for pair in pairs}

    def _side(self, characters: Characters, pair: Pair, side: int) -> set[Argument]:
        tags = self._tagging[side].tag(characters.features(pair, side))
        tagged = {(role, characters.text[start:end]) for role, start, end in _spans(tags)}
        weighed = self.names.log_odds(characters, pair, side)
        return {
            argument
            for argument in tagged | weighed.keys()
            if weighed.get(argument, _UNNAMED) + _TAGGED * (argument in tagged) > _ARGUMENT
        }

    def save(self, path: Path) -> None:
        """Write the model as one NumPy archive without pickles."""
        columns = np.flatnonzero(self.links.weights)
        arrays: dict[str, Any] = {
            f"tagger{side}": np.frombuffer(tagger, dtype=np.uint8) for side, tagger in enumerate(self.taggers)
        }
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                version=np.array(VERSION),
                data_hash=np.array(self.data_hash),
                columns=columns.astype(np.int32),
                values=self.links.weights[columns],
                none=np.array(self.links.none),
                **arrays,
                **self.names.arrays(),
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
                links = LinkModel(weights, float(stored["none"]))
                return cls(links, taggers, NameModel.of(stored), str(stored["data_hash"]))
        except (OSError, EOFError, BadZipFile, KeyError, ValueError) as error:
            raise KgError(f"{path}: no causal model ({error}); fit it again") from error


def fit(examples: Sequence[CausalExample]) -> CausalModel:
    """Fit a model on labelled texts; the same examples in the same order give the same weights.

    Raises:
        KgError: the texts hold no pair the reader can find.
        ImportError: the extra `train` is not installed.
    """
    taggers = _fit_tagger(examples, 0), _fit_tagger(examples, 1)
    return CausalModel(LinkModel.fit(examples), taggers, NameModel.fit(examples), hash_of(examples))


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
