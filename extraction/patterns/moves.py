"""What moves in a text: kinds of factor (price, supply, demand …) with a direction, and events that have none.

The vocabulary is `lexicon/factor_kinds.yaml`; it needs no name beside it: 「丰收」 is more supply of whatever is spoken
of. Texts without full stops, as in collections of news, are read as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

_REACH, _BEFORE = 24, 8  # characters from a factor to the word that moves it, behind and before
_CLAUSE = re.compile(r"[，。；,;！？#\n]")
LONGEST = 600  # characters of a text that are read: a causal claim stands early and a bound keeps pairs few


@dataclass(frozen=True, slots=True, order=True)
class Move:
    """A factor that moves at text[start:end]; `head` is where its own word stands, `direction` 0 for an event."""

    start: int
    end: int
    kind: str
    direction: int
    head: tuple[int, int]

    @property
    def type(self) -> tuple[str, int]:
        """What kind of thing goes where: ("price", 1)."""
        return self.kind, self.direction


@dataclass(frozen=True, slots=True)
class _Words:
    head: re.Pattern[str]
    kind_of: dict[str, str]
    single: re.Pattern[str]
    singles: dict[str, list[tuple[str, int]]]
    happening: re.Pattern[str]
    happenings: dict[str, str]
    moves: re.Pattern[str]
    rises: frozenset[str]


def find_moves(text: str) -> list[Move]:
    """Return what moves in the first LONGEST characters, in order; one of two overlapping readings of a kind stays."""
    words = _words()
    text = text[:LONGEST]
    found = [*_of_heads(text, words), *_of_singles(text, words)]
    found += [Move(m.start(), m.end(), words.happenings[m[0]], 0, m.span()) for m in words.happening.finditer(text)]
    kept: list[Move] = []
    for move in sorted(found, key=lambda move: (move.start, -move.end, move.kind, move.direction)):
        if not any(_covers(other, move) for other in kept):
            kept.append(move)
    return kept


def _covers(other: Move, move: Move) -> bool:
    return other.type == move.type and other.start <= move.start and move.end <= other.end


def _of_heads(text: str, words: _Words) -> Iterable[Move]:
    """价格…上涨, and 降低…成本: a factor's word with the word of direction behind or before it."""
    for head in words.head.finditer(text):
        kind = words.kind_of[head[0]]
        stop = _CLAUSE.search(text, head.end())
        end = min(stop.start() if stop else len(text), head.end() + _REACH)
        following = words.head.search(text, head.end(), end)
        behind = words.moves.search(text, head.end(), following.start() if following else end)
        behind = behind or words.moves.search(text, head.end(), end)
        if behind:
            yield Move(head.start(), behind.end(), kind, _direction(behind, words), head.span())
        before = list(words.moves.finditer(text, max(0, head.start() - _BEFORE), head.start()))
        if before and not _CLAUSE.search(text, before[-1].end(), head.start()):
            yield Move(before[-1].start(), head.end(), kind, _direction(before[-1], words), head.span())


def _of_singles(text: str, words: _Words) -> Iterable[Move]:
    for match in words.single.finditer(text):
        for kind, direction in words.singles[match[0]]:
            yield Move(match.start(), match.end(), kind, direction, match.span())


def _direction(match: re.Match[str], words: _Words) -> int:
    return 1 if match[0] in words.rises else -1


@cache
def _words() -> _Words:
    path = resources.files("extraction") / "lexicon" / "factor_kinds.yaml"
    table: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    kind_of = {word: entry["kind"] for entry in table["moves"] for word in entry["heads"]}
    singles: dict[str, list[tuple[str, int]]] = {}
    for entry in table["moves"]:
        for direction, listed in ((1, entry["rise"]), (-1, entry["fall"])):
            for word in listed:
                singles.setdefault(word, []).append((entry["kind"], direction))
    happenings = {word: entry["kind"] for entry in table["happenings"] for word in entry["words"]}
    rises, falls = frozenset(table["rises"]), frozenset(table["falls"])
    return _Words(
        _any(kind_of), kind_of, _any(singles), singles, _any(happenings), happenings, _any(rises | falls), rises
    )


def _any(words: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))))
