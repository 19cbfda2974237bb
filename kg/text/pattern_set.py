"""Search for many patterns at once; where several match, the first in order wins."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from kg.text.regex_prefilter import first_letters

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NAME = re.compile(r"\(\?P<\w+>")


class Alternatives:
    """Named patterns, searched like `(?P<one>…)|(?P<two>…)`; `lastgroup` is the name of the one that matched.

    That alternation alone is slow: at every character the engine enters each group and evaluates its lookbehind before
    it compares a letter. This class stops only at letters that can begin a match, and tries only the patterns that can
    begin with that letter.

    >>> cues = Alternatives({"plan": "(?<!模)拟", "forecast": "预计|有望"})
    >>> [(match.lastgroup, match[0]) for match in cues.finditer("模拟表明，公司拟投资，预计增长")]
    [('plan', '拟'), ('forecast', '预计')]
    """

    def __init__(self, patterns: Mapping[str, str], *, runs: str = "") -> None:
        r"""Compile the patterns.

        Args:
            patterns: by name; inner group names are dropped.
            runs: a character class; only the first of a run of them can begin a match: `\d` where 2024 is one number.
        """
        self.patterns = {name: _NAME.sub("(?:", pattern) for name, pattern in patterns.items()}
        self._letters = {name: re.compile(first_letters(pattern), re.DOTALL) for name, pattern in self.patterns.items()}
        inside = f"(?<!{runs}{runs})" if runs else ""
        self._begin = re.compile(first_letters("|".join(self.patterns.values())) + inside, re.DOTALL)
        self._by_letter: dict[str, re.Pattern[str]] = {}
        self._compiled: dict[str, re.Pattern[str]] = {}

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match in text[start:end], as `re.Pattern.search` does."""
        return next(self.finditer(text, start, end), None)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """Yield the matches in text[start:end] from left to right; patterns are expected to match some text."""
        for begin in self._begin.finditer(text, start, end):
            at = begin.start()
            if at < start:
                continue  # inside the previous match
            candidates = self._by_letter.get(text[at]) or self._beginning_with(text[at])
            if match := candidates.match(text, at, end):
                yield match
                start = max(match.end(), at + 1)

    def _beginning_with(self, letter: str) -> re.Pattern[str]:
        """Compile the patterns that can begin with a letter; letters with the same patterns share one regex."""
        named = (f"(?P<{name}>{self.patterns[name]})" for name, first in self._letters.items() if first.match(letter))
        joined = "|".join(named)
        if joined not in self._compiled:
            self._compiled[joined] = re.compile(joined)
        return self._by_letter.setdefault(letter, self._compiled[joined])
