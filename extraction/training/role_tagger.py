"""A linear-chain CRF over words: which stretches of a text are owners, and which are listed of them, and how likely.

Lafferty et al. 2001; CRFsuite, L-BFGS. Every word is tagged with the role of the name that it is part of. A role is
learnt at one place of a listed name, the one nearest behind the owner; an owner at all of its places.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.training.role_features import Words
from extraction.training.role_lexicon import APART, OWNER, USED, KnownNames, name_of, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.training.role_examples import Mark, RoleExample
    from extraction.training.role_lexicon import Known

_SETTINGS = {"max_iterations": 30, "c1": 0.05, "c2": 0.5, "feature.minfreq": 2}
_OTHER = "O"
_LIKELY = 0.08  # a probability from which a stretch may begin; half of it may end there
_ENDS = 3  # that are kept of one beginning


@dataclass(frozen=True, slots=True)
class Spot:
    """A stretch of a text in a role; `probability` is that it begins, goes on and ends there."""

    role: str
    start: int
    end: int
    probability: float
    best: bool = False  # part of the likeliest tagging


@dataclass(frozen=True, slots=True)
class Tagged:
    """A text as the tagger sees it."""

    words: Words
    spots: tuple[Spot, ...]
    known: tuple[Known, ...]


class RoleTagger:
    """Tags texts; made by `fit`, or from the bytes of a fitted CRF and the names it knows."""

    def __init__(self, crf: bytes, names: KnownNames) -> None:
        self.crf, self.names = crf, names
        self._tagger = library("pycrfsuite").Tagger()
        self._tagger.open_inmemory(crf)

    @classmethod
    def fit(cls, examples: Sequence[RoleExample]) -> RoleTagger:
        """Fit a tagger; the same examples give the same one."""
        names = KnownNames.of(examples)
        trainer = library("pycrfsuite").Trainer(algorithm="lbfgs", verbose=False)
        for example in examples:
            words = Words.of(example.text)
            trainer.append(
                words.features(example.marks, list(names.find(example.text, example))), _tags(words, example)
            )
        trainer.set_params(_SETTINGS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "roles"
            trainer.train(str(path))
            return cls(path.read_bytes(), names)

    def tag(self, text: str, marks: Sequence[Mark]) -> Tagged:
        """Return the likely stretches of a text."""
        words, known = Words.of(text), tuple(self.names.find(text))
        if not words.words:
            return Tagged(words, (), known)
        self._tagger.set(words.features(marks, known))
        spots = dict.fromkeys(_spans(words, self._tagger.tag()), 0.0)
        best = frozenset(spots)
        for role, start, end, probability in self._likely(words):
            spots[role, start, end] = probability
        return Tagged(words, tuple(Spot(*key, spots[key], key in best) for key in sorted(spots)), known)

    def _likely(self, words: Words) -> Iterator[tuple[str, int, int, float]]:
        count = range(len(words.words))
        odds = {label: [self._tagger.marginal(label, at) for at in count] for label in self._tagger.labels()}
        none = [0.0] * len(count)
        for label in sorted(odds):
            if label.startswith("B-"):
                begins, goes_on = odds[label], odds.get(f"I-{label[2:]}", none)
                for at in count:
                    if begins[at] >= _LIKELY:
                        for probability, last in _endings(begins[at], goes_on, at):
                            yield label[2:], words.starts[at], words.end(last), probability


def library(module: str) -> Any:
    """Return a module of the extra `train`.

    Raises:
        ImportError: it is not installed.
    """
    from importlib import import_module  # noqa: PLC0415 -- of the extra `train`

    return import_module(module)


def _endings(begin: float, goes_on: Sequence[float], at: int) -> list[tuple[float, int]]:
    """Return the likeliest last words of a stretch that begins at a word."""
    ends, probability = [], begin
    for last in range(at, len(goes_on)):
        following = min(probability, goes_on[last + 1]) if last + 1 < len(goes_on) else 0.0
        ends.append((probability - following, last))
        if following < _LIKELY / 2:
            break
        probability = following
    likeliest = sorted(ends, key=lambda end: (-end[0], end[1]))[:_ENDS]
    return [end for end in likeliest if end[0] >= _LIKELY / 2]


def _tags(words: Words, example: RoleExample) -> list[str]:
    """Tag the names of an example, the longer ones first; a name with several roles has its commonest."""
    roles = {owner_of(each): USED if each.relation in APART else OWNER for each in sorted(example.triples)}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for triple in sorted(example.triples):
        counts[name_of(triple)][triple.relation] += 1
    roles |= {name: min(each, key=lambda role: (-each[role], role)) for name, each in counts.items()}
    first = min((words.text.find(owner_of(triple)) for triple in example.triples), default=0)
    tags = [_OTHER] * len(words.words)
    for name in sorted(roles, key=lambda name: (-len(name), name)):
        places = [match.start() for match in re.finditer(re.escape(name), words.text)]
        if roles[name] not in (OWNER, USED):
            places = [place for place in places if place > first][:1] or places[:1]
        for place in places:
            covered = words.covering(place, place + len(name))
            if covered and all(tags[at] == _OTHER for at in covered):
                tags[covered[0] : covered[-1] + 1] = [f"B-{roles[name]}", *[f"I-{roles[name]}"] * (len(covered) - 1)]
    return tags


def _spans(words: Words, tags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    role, begin = "", 0
    for at, tag in enumerate([*tags, _OTHER]):
        if role and tag != f"I-{role}":
            yield role, words.starts[begin], words.end(at - 1)
            role = ""
        if tag != _OTHER and not role:
            role, begin = tag[2:], at
