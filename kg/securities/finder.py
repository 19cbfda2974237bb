"""Find every name of the master in a text in one pass.

The text is not normalised: half- and full-width spellings, capitals and the padding of exchange lists are separate
patterns of the automaton, so offsets refer to the original text. Automaton: daachorse, a double-array Aho-Corasick
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
_SHORTEST_LOWER = 5  # shorter English names are words or abbreviations in lower case
_PADDED = 3
_SEAM = re.compile(r"(?<=[一-鿿])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[一-鿿])")  # 三星 SDI
_CHINESE = re.compile(r"[一-鿿]")
_DATED = re.compile(r"(?:19|20)?\d\d(?:[年QHE]|前三季|[上下]半年)|[1-4][QH]\d\d|(?:19|20)\d\d(?!\d)")  # 万科A2024年


class Hit(NamedTuple):
    """A name at text[start:end] and its lookup key in the master."""

    start: int
    end: int
    name_key: str


class NameFinder:
    """Aho-Corasick automaton over all names of a master."""

    def __init__(self, master: Master, extra_names: Iterable[str] = ()) -> None:
        """Compile the names.

        Args:
            master: source of names, past and present; the resolver decides which apply on a day.
            extra_names: additional names, such as a user's list of unlisted companies.
        """
        patterns: dict[str, str] = {}
        for text in (*master.all_names(), *extra_names):
            key = name_key(text)
            for spelling in _spellings(simplified(text), allow_lower=master.word_kind(text) is None):
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
        """All search patterns."""
        return list(self._patterns)

    def find(self, text: str) -> list[Hit]:
        """Return non-overlapping names in a simplified text, left to right, leftmost-longest.

        Offsets are code points. A name that starts or ends with a Latin letter or digit must not touch another one,
        except that a year may follow a letter.
        """
        keys, edges = self._keys, self._edges
        return [
            Hit(start, end, keys[index])
            for start, end, index in self._automaton.find(text)
            if not edges[index] or _stands_alone(text, start, end, edges[index])
        ]


def _spellings(text: str, *, allow_lower: bool) -> Iterator[str]:
    """Yield the spellings of a name."""
    yield text
    if not _CHINESE.search(text):
        yield text.upper()
        if allow_lower and len(text) >= _SHORTEST_LOWER:
            yield text.lower()
        return
    if any(char.isascii() for char in text):
        yield text.translate(_FULL_WIDTH)
        yield _SEAM.sub(" ", text)
        yield text.replace("-", " - ")
    if len(text) == _PADDED:
        yield " ".join(text)


def _latin_edges(pattern: str) -> int:
    """Return bit flags: 1 if the pattern starts with a Latin letter or digit, 2 if it ends with one."""
    return (pattern[0].isascii() and pattern[0].isalnum()) + 2 * (pattern[-1].isascii() and pattern[-1].isalnum())


def _stands_alone(text: str, start: int, end: int, edges: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    if edges & 1 and before.isascii() and before.isalnum():
        return False
    if not (edges & 2 and after.isascii() and after.isalnum()):
        return True
    return text[end - 1].isalpha() and _DATED.match(text, end) is not None
