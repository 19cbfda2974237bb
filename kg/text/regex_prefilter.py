"""Find the letters that a regex can begin with and those it requires, so that a search can skip other text.

Parses the syntax used in this package: literals, classes, groups, lookarounds, repetition.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ANY = "."
_LOOKAROUND = re.compile(r"\(\?<?[=!]")
_ANCHOR = re.compile(r"[$^]|\\[bB]")
_GROUP = re.compile(r"\((?:\?:|\?P<\w+>|(?!\?))")
_ONE = re.compile(r"\[\^?(?:\\.|[^\]\\])+\]|\\[dsw]|\\[^a-zA-Z0-9]|[^\\()\[\]{}|^$*+?]")
_REPEAT = re.compile(r"(?:[*+?]|\{(?P<least>\d*),?\d*\})[+?]?")


def first_letters(pattern: str) -> str:
    """Return a character class of the letters that a match of `pattern` can begin with; "." if any can.

    >>> first_letters("(?<!模)拟(?!合)|(?:市场)?传[言闻]")
    '[传市拟]'

    Raises:
        ValueError: the pattern uses unsupported syntax, such as `(?i:…)`.
    """
    parsed = _alternation(pattern, 0)
    return ANY if parsed.empty or ANY in parsed.first else f"[{''.join(sorted(parsed.first))}]"


def needed_letters(pattern: str) -> list[frozenset[str]]:
    """Return letter sets such that every match of `pattern` contains a letter of each, smallest set first.

    Text without any letter of one of them need not be searched. Ranges and named classes yield no set.

    >>> [sorted(letters) for letters in needed_letters("(?:向|给)[^，]{1,9}(?:供应|供货)")]
    [['供'], ['向', '给']]
    """
    return sorted(_alternation(pattern, 0).needed, key=len)


class Prefiltered:
    """A pattern that is tried only from the first letter it can begin with.

    At every character the engine enters each branch and group and evaluates lookbehinds before it compares a letter: a
    search without a match costs twenty times what it takes to see that none of the first letters occurs.

    >>> Prefiltered("(?<!新)(?:上涨|下跌)").search("价格上涨")[0]
    '上涨'
    """

    __slots__ = ("_begin", "_finditer", "_search", "fullmatch", "match", "pattern", "split", "sub")

    def __init__(self, pattern: str) -> None:
        """Compile a pattern.

        Raises:
            ValueError: it may begin with any letter, so there is nothing to filter by.
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


class _Parsed(NamedTuple):
    """Properties of a part of a pattern that ends at `end`.

    `first` holds the letters it can begin with, as written in a character class; `empty` means that it can match "".
    """

    first: set[str]
    empty: bool
    end: int
    needed: list[frozenset[str]]


def _alternation(pattern: str, at: int) -> _Parsed:
    """Parse up to the end of a group."""
    branches = [_Parsed(set(), empty=True, end=at, needed=[])]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            at += 1
            branches.append(_Parsed(set(), empty=True, end=at, needed=[]))
            continue
        element, before = _element(pattern, at), branches[-1]
        first = before.first | element.first if before.empty else before.first
        at = element.end
        branches[-1] = _Parsed(first, before.empty and element.empty, at, [*before.needed, *element.needed])
    needed = branches[0].needed
    if len(branches) > 1:  # of several branches, the smallest set of each
        smallest = [min(branch.needed, key=len, default=None) for branch in branches]
        needed = [] if None in smallest else [frozenset().union(*filter(None, smallest))]
    return _Parsed(set().union(*(each.first for each in branches)), any(each.empty for each in branches), at, needed)


def _element(pattern: str, at: int) -> _Parsed:
    """Parse one letter, class, group or anchor with its repetition."""
    if lookaround := _LOOKAROUND.match(pattern, at):
        return _Parsed(set(), empty=True, end=_alternation(pattern, lookaround.end()).end + 1, needed=[])
    if anchor := _ANCHOR.match(pattern, at):
        return _Parsed(set(), empty=True, end=anchor.end(), needed=[])
    if group := _GROUP.match(pattern, at):
        first, empty, at, needed = _alternation(pattern, group.end())
        at += 1
    elif one := _ONE.match(pattern, at):
        first, empty, at, needed = {_in_class(one[0])}, False, one.end(), _letters_in(one[0])
    else:
        raise ValueError(f"{pattern[at : at + 12]} in {pattern}: unsupported syntax")
    if repeat := _REPEAT.match(pattern, at):
        at = repeat.end()
        if repeat[0][0] in "*?" or repeat["least"] in {"", "0"}:
            empty, needed = True, []
    return _Parsed(first, empty, at, needed)


def _in_class(one: str) -> str:
    """Return a letter or class as the content of a character class; `ANY` for a dot or a negated class."""
    if one == "." or one.startswith("[^"):
        return ANY
    if len(one) == 1:
        return re.escape(one)
    return one[1:-1] if one[0] == "[" else one


def _letters_in(one: str) -> list[frozenset[str]]:
    """Return the letters of which one must occur here, if they can be listed: no range, no named class."""
    if (len(one) == 1 and one != ".") or (one[0] == "\\" and not one[1].isalnum()):
        return [frozenset(one[-1])]
    listable = one[0] == "[" and not any(mark in one for mark in "^-\\")
    return [frozenset(one[1:-1])] if listable else []
