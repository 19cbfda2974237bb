"""Many ways of writing something, looked for at once: which of them stands where, the first in order at each place."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME = re.compile(r"\(\?P<\w+>")
_BEHIND = re.compile(r"\(\?<[!=][^()]*\)")


class Alternatives:
    """Patterns by name, searched like `(?P<one>…)|(?P<two>…)`, whose `lastgroup` tells which one it was.

    That alternation alone is slow: at every character the engine enters each group and looks behind before it compares
    a letter. So it is tried only where the same patterns without names and without looking behind fit; those begin
    with a letter each, and the engine passes over most of them at once.

    >>> cues = Alternatives({"plan": "(?<!模)拟", "forecast": "预计|有望"})
    >>> [(match.lastgroup, match[0]) for match in cues.finditer("模拟表明，公司拟投资，预计增长")]
    [('plan', '拟'), ('forecast', '预计')]
    """

    def __init__(self, patterns: Mapping[str, str], *, first: str = "") -> None:
        """Compile the patterns.

        Args:
            patterns: by name; inner names are dropped, and what is looked ahead for must not itself look behind.
            first: a pattern of no width that holds wherever one of them can begin, where that is cheap to say.
        """
        plain = {name: _NAME.sub("(?:", pattern) for name, pattern in patterns.items()}
        self._exact = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in plain.items()))
        self._likely = re.compile(f"{first}(?:" + "|".join(_BEHIND.sub("", each) for each in plain.values()) + ")")

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match in text[start:end], as `re.Pattern.search` does."""
        while likely := self._likely.search(text, start, end):
            if match := self._exact.match(text, likely.start(), end):
                return match
            start = likely.start() + 1
        return None

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """Yield the matches in text[start:end] from left to right; one of no width is none."""
        while match := self.search(text, start, end):
            yield match
            start = max(match.end(), match.start() + 1)
