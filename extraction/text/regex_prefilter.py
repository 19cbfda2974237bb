"""What a regular expression can begin with and cannot do without, so that a search may pass over all other letters.

Reads the syntax that the tables of this package are written in: literals, classes, groups, looking around, repetition.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ANY = "."
_AROUND = re.compile(r"\(\?<?[=!]")
_PLACE = re.compile(r"[$^]|\\[bB]")
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_ONE = re.compile(r"\[\^?(?:\\.|[^\]\\])+\]|\\[dsw]|\\[^a-zA-Z0-9]|[^\\()\[\]{}|^$*+?]")
_REPEAT = re.compile(r"(?:[*+?]|\{(?P<least>\d*),?\d*\})[+?]?")


def first_letters(pattern: str) -> str:
    """Return a pattern of the single letters that a match of `pattern` can begin with; "." where any may.

    >>> first_letters("(?<!模)拟(?!合)|(?:市场)?传[言闻]")
    '[传市拟]'

    Raises:
        ValueError: the pattern is written in more than what this reads, as `(?i:…)`.
    """
    read = _alternation(pattern, 0)
    return ANY if read.empty or ANY in read.first else f"[{''.join(sorted(read.first))}]"


def needed_letters(pattern: str) -> list[frozenset[str]]:
    """Return sets of letters of each of which any match of `pattern` holds one, the smallest set first.

    A text that holds none of some set need not be searched; only sets of single letters are told, no ranges.

    >>> [sorted(letters) for letters in needed_letters("(?:向|给)[^，]{1,9}(?:供应|供货)")]
    [['供'], ['向', '给']]
    """
    return sorted(_alternation(pattern, 0).needed, key=len)


class Prefiltered:
    """A pattern that is sought only from letters that it can begin with.

    At every character the engine enters each branch and group and looks behind before it compares a letter: a search
    that finds nothing costs twenty times what it takes to see that no letter is among the first ones.

    >>> Prefiltered("(?<!新)(?:上涨|下跌)").search("价格上涨")[0]
    '上涨'
    """

    __slots__ = ("_begin", "_finditer", "_search", "fullmatch", "match", "pattern", "split", "sub")

    def __init__(self, pattern: str) -> None:
        """Take a pattern.

        Raises:
            ValueError: it may begin with any letter, so that there is none to look for.
        """
        first = first_letters(pattern)
        if first == ANY:
            raise ValueError(f"{pattern}: may begin with any letter")
        compiled = re.compile(f"(?={first})(?:{pattern})")
        self.pattern = pattern
        self._begin, self._search, self._finditer = re.compile(first).search, compiled.search, compiled.finditer
        self.match, self.fullmatch, self.sub, self.split = (
            compiled.match,
            compiled.fullmatch,
            compiled.sub,
            compiled.split,
        )

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        """Return the first match in text[start:end], as `re.Pattern.search` does."""
        begin = self._begin(text, start, end)
        return self._search(text, begin.start(), end) if begin else None

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        """Yield the matches in text[start:end], as `re.Pattern.finditer` does."""
        begin = self._begin(text, start, end)
        return self._finditer(text, begin.start(), end) if begin else iter(())


class _Read(NamedTuple):
    """What is known of a stretch of a pattern, which ends at `end`.

    `first` are the letters that it can begin with, as they stand in a class; `empty` says that it may match nothing.
    """

    first: set[str]
    empty: bool
    end: int
    needed: list[frozenset[str]]


def _alternation(pattern: str, at: int) -> _Read:
    """Read up to the end of a group."""
    branches = [_Read(set(), empty=True, end=at, needed=[])]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            at += 1
            branches.append(_Read(set(), empty=True, end=at, needed=[]))
            continue
        told, before = _element(pattern, at), branches[-1]
        first = before.first | told.first if before.empty else before.first
        at = told.end
        branches[-1] = _Read(first, before.empty and told.empty, at, [*before.needed, *told.needed])
    needed = branches[0].needed
    if len(branches) > 1:  # of several branches, the letters that tell the most in each
        told_most = [min(branch.needed, key=len, default=None) for branch in branches]
        needed = [] if None in told_most else [frozenset().union(*filter(None, told_most))]
    return _Read(set().union(*(each.first for each in branches)), any(each.empty for each in branches), at, needed)


def _element(pattern: str, at: int) -> _Read:
    """Read one letter, class, group or place with its repetition."""
    if around := _AROUND.match(pattern, at):
        return _Read(set(), empty=True, end=_alternation(pattern, around.end()).end + 1, needed=[])
    if place := _PLACE.match(pattern, at):
        return _Read(set(), empty=True, end=place.end(), needed=[])
    if group := _GROUP.match(pattern, at):
        first, empty, at, needed = _alternation(pattern, group.end())
        at += 1
    elif one := _ONE.match(pattern, at):
        first, empty, at, needed = {_in_class(one[0])}, False, one.end(), _letters_in(one[0])
    else:
        raise ValueError(f"{pattern[at : at + 12]} in {pattern}: no syntax that this reads")
    if repeat := _REPEAT.match(pattern, at):
        at = repeat.end()
        if repeat[0][0] in "*?" or repeat["least"] in {"", "0"}:
            empty, needed = True, []
    return _Read(first, empty, at, needed)


def _in_class(one: str) -> str:
    """Return a letter or class as what stands between the brackets of one; what is not in one may be any letter."""
    if one == "." or one.startswith("[^"):
        return ANY
    if len(one) == 1:
        return re.escape(one)
    return one[1:-1] if one[0] == "[" else one


def _letters_in(one: str) -> list[frozenset[str]]:
    """Return the letters of which one must stand here, where they can be counted: no range, no class by its name."""
    if (len(one) == 1 and one != ".") or (one[0] == "\\" and not one[1].isalnum()):
        return [frozenset(one[-1])]
    countable = one[0] == "[" and not any(mark in one for mark in "^-\\")
    return [frozenset(one[1:-1])] if countable else []
