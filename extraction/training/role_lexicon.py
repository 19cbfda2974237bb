"""Names that the labelled texts teach: what each is there, and how surely it is that wherever it stands."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import daachorse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from extraction.training.role_examples import RoleExample, Triple

OWNER, USED = "subject", "used"  # roles of an owner: a company, and what is used somewhere
APART = frozenset(["upstream_of"])  # relations whose owners are things
_SHORTEST = 2


def owner_of(triple: Triple) -> str:
    """Return the name that a triple is told of: the parent of a child, the subject of all else."""
    return triple.object if triple.relation == "subsidiary_of" else triple.subject


def name_of(triple: Triple) -> str:
    """Return the name that a triple lists."""
    return triple.subject if triple.relation == "subsidiary_of" else triple.object


def roles_of(example: RoleExample) -> set[tuple[str, str]]:
    """Return the names of an example with their roles."""
    named = {(name_of(each), each.relation) for each in example.triples}
    return named | {(owner_of(each), USED if each.relation in APART else OWNER) for each in example.triples}


@dataclass(frozen=True, slots=True)
class Known:
    """A known name at its places in a text; `count` labelled texts give it the role, `share` of those that hold it."""

    name: str
    role: str
    share: float
    count: int
    starts: tuple[int, ...]


class KnownNames:
    """How often each name has each role, and how many texts hold it."""

    def __init__(self, roles: Mapping[str, Mapping[str, int]], texts: Mapping[str, int]) -> None:
        self.roles = {name: dict(counts) for name, counts in sorted(roles.items())}
        self.texts = {name: texts[name] for name in self.roles}
        self._spellings = list(self.roles)
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(self._spellings) if self._spellings else None

    @classmethod
    def of(cls, examples: Sequence[RoleExample]) -> KnownNames:
        """Count the names of labelled texts."""
        roles: dict[str, Counter[str]] = defaultdict(Counter)
        for example in examples:
            for name, role in roles_of(example):
                if len(name) >= _SHORTEST:
                    roles[name][role] += 1
        bare = cls(roles, dict.fromkeys(roles, 0))
        texts = Counter(name for example in examples for name in bare.held(example.text))
        return cls(roles, texts)

    def held(self, text: str) -> list[str]:
        """Return the names that a text holds, sorted."""
        found = self._automaton.find_overlapping(text) if self._automaton else []
        return sorted({self._spellings[at] for _, _, at in found})

    def find(self, text: str, own: RoleExample | None = None) -> Iterator[Known]:
        """Yield the names of a text by role; what the labels of the text itself teach, `own`, is left out."""
        taught = roles_of(own) if own else set()
        for name in self.held(text):
            texts = self.texts[name] - bool(own)
            starts = tuple(match.start() for match in re.finditer(re.escape(name), text))
            for role, count in sorted(self.roles[name].items()):
                others = count - ((name, role) in taught)
                if others > 0 and texts > 0 and starts:
                    yield Known(name, role, others / texts, others, starts)
