"""Finds every name of the master in a text in one pass.

The text is never rewritten: half- and full-width spellings, capitals and the padding of exchange lists are further
patterns of the automaton, so places are places in the original text. Automaton: daachorse, a double-array Aho-Corasick
(Kanda et al., Engineering Faster Double-Array Aho-Corasick Automata, 2023), leftmost-longest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import daachorse

from kg.securities.records import name_key
from kg.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg.securities.master import Master

_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}
_SHORTEST = 2
_SHORTEST_SMALL = 5  # English names of fewer letters are words or abbreviations when written small
_PADDED = 3
_SEAM = re.compile(r"(?<=[一-鿿])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[一-鿿])")  # 三星 SDI
_CHINESE = re.compile(r"[一-鿿]")


class Hit(NamedTuple):
    """A name at text[start:end]; `name_key` is what the master looks it up by."""

    start: int
    end: int
    name_key: str


class NameFinder:
    """All names of a master, compiled."""

    def __init__(self, master: Master, extra_names: Iterable[str] = ()) -> None:
        """Compile the names.

        Args:
            master: its names of all times are looked for; which of them counts on a day the resolver says.
            extra_names: further names to be found, such as a user's list of unlisted companies.
        """
        patterns: dict[str, str] = {}
        for text in (*master.all_names(), *extra_names):
            key = name_key(text)
            for spelling in _spellings(simplified(text), small=master.word_kind(text) is None):
                if len(spelling) >= _SHORTEST:
                    patterns.setdefault(spelling, key)
        self._patterns = list(patterns)
        self._keys = list(patterns.values())
        self._edges = [_latin_edges(pattern) for pattern in patterns]
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(
            list(patterns), daachorse.MATCH_KIND_LEFTMOST_LONGEST
        )

    @property
    def patterns(self) -> list[str]:
        """Every spelling looked for."""
        return list(self._patterns)

    def find(self, text: str) -> list[Hit]:
        """Names in a simplified text, left to right, the longest where several begin at one place, without overlaps.

        Offsets are code points. A name that begins or ends with a Latin letter or digit must not touch another there.
        """
        keys, edges = self._keys, self._edges
        return [
            Hit(start, end, keys[index])
            for start, end, index in self._automaton.find(text)
            if not edges[index] or _stands_alone(text, start, end, edges[index])
        ]


def _spellings(text: str, *, small: bool) -> Iterator[str]:
    """The ways one name is written."""
    yield text
    if not _CHINESE.search(text):
        yield text.upper()
        if small and len(text) >= _SHORTEST_SMALL:
            yield text.lower()
        return
    if any(char.isascii() for char in text):
        yield text.translate(_FULL_WIDTH)
        yield _SEAM.sub(" ", text)
        yield text.replace("-", " - ")
    if len(text) == _PADDED:
        yield " ".join(text)


def _latin_edges(pattern: str) -> int:
    """Bit 1: the pattern begins with a Latin letter or digit; bit 2: it ends with one."""
    return (pattern[0].isascii() and pattern[0].isalnum()) + 2 * (pattern[-1].isascii() and pattern[-1].isalnum())


def _stands_alone(text: str, start: int, end: int, edges: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if edges & 1 and before.isascii() and before.isalnum():
        return False
    return not (edges & 2 and after.isascii() and after.isalnum())
