"""A tagger of roles fitted on labelled triples: which stretches of a sentence are its subjects, and whose what.

One linear-chain CRF (Lafferty et al. 2001; CRFsuite, L-BFGS) tags every word with the roles of the name that it is part
of: the subject of a relation, or the object of one. An object belongs to the last subject before it, else to the first.
A role is learnt at one place of a name, the one nearest behind the subject. Needs the extra `train`.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.training.role_features import Mark, Words, grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Mark", "RoleExample", "RoleTagger", "Triple"]

_SETTINGS = {"max_iterations": 30, "c1": 0.05, "c2": 0.5, "feature.minfreq": 2}
_SUBJECT, _USED = "subject", "used"  # what is used somewhere is a subject of another kind than a company
_APART = frozenset(["upstream_of"])  # relations whose subjects are of that kind
_OTHER = "O"
_BESIDE = re.compile("、|和|及|以及|与|等")


@dataclass(frozen=True, slots=True, order=True)
class Triple:
    """Two names of a text, as it spells them, and their relation; a relation may carry its own direction (`child`)."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class RoleExample:
    """A text, its triples, and what is known of it beforehand."""

    text: str
    triples: frozenset[Triple]
    marks: tuple[Mark, ...] = ()


class RoleTagger:
    """Reads triples; made by `fit`, or from the bytes of a fitted one."""

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._tagger = _library().Tagger()
        self._tagger.open_inmemory(model)

    @classmethod
    def fit(cls, examples: Sequence[RoleExample]) -> RoleTagger:
        """Fit a tagger; the same examples give the same one."""
        trainer = _library().Trainer(algorithm="lbfgs", verbose=False)
        for example in examples:
            words = Words.of(example.text)
            trainer.append(words.features(example.marks), _tags(words, example.triples))
        trainer.set_params(_SETTINGS)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "roles"
            trainer.train(str(path))
            return cls(path.read_bytes())

    def read(self, text: str, marks: Sequence[Mark] = ()) -> set[Triple]:
        """Return the triples of a text; where no subject is tagged, the first company known is it."""
        words = Words.of(text)
        places = grouped(list(_spans(words, self._tagger.tag(words.features(marks)))))
        firms = [(mark.start, mark.end) for mark in marks if mark.label == "company" and not mark.read]
        told = places.pop(_SUBJECT, None) or firms[:1]
        used = places.pop(_USED, [])
        return {
            Triple(text[low:high], relation, text[start:end])
            for relation, objects in places.items()
            for start, end in objects
            for low, high in _owners(text, used if relation in _APART else told, start, every=relation in _APART)
            if text[low:high] != text[start:end]
        }


def _library() -> Any:
    from importlib import import_module  # noqa: PLC0415 -- of the extra `train`

    return import_module("pycrfsuite")


def _owners(text: str, told: Sequence[tuple[int, int]], at: int, *, every: bool) -> list[tuple[int, int]]:
    """Return the last subject before a place, else the first; with `every`, also those listed beside it."""
    before = [place for place in told if place[1] <= at]
    owners = before[-1:] or list(told[:1])
    while every and before and len(owners) < len(before):
        beside = before[-len(owners) - 1]
        if not _BESIDE.fullmatch(text, beside[1], owners[0][0]):
            break
        owners.insert(0, beside)
    return owners


def _tags(words: Words, triples: frozenset[Triple]) -> list[str]:
    roles: dict[str, set[str]] = {}
    for triple in sorted(triples):
        roles.setdefault(triple.object, set()).add(triple.relation)
        roles.setdefault(triple.subject, set()).add(_USED if triple.relation in _APART else _SUBJECT)
    first = min((words.text.find(triple.subject) for triple in triples), default=0)
    tags = [_OTHER] * len(words.words)
    for name in sorted(roles, key=lambda name: (-len(name), name)):
        places = [match.start() for match in re.finditer(re.escape(name), words.text)]
        if not roles[name] & {_SUBJECT, _USED}:
            places = [place for place in places if place > first][:1] or places[:1]
        label = "+".join(sorted(roles[name]))
        for place in places:
            covered = words.covering(place, place + len(name))
            if covered and all(tags[at] == _OTHER for at in covered):
                tags[covered[0] : covered[-1] + 1] = [f"B-{label}", *[f"I-{label}"] * (len(covered) - 1)]
    return tags


def _spans(words: Words, tags: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    label, begin = "", 0
    for at, tag in enumerate([*tags, _OTHER]):
        if label and tag != f"I-{label}":
            yield label, words.starts[begin], words.end(at - 1)
            label = ""
        if tag != _OTHER and not label:
            label, begin = tag[2:], at
