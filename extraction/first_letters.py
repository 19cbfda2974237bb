"""What a regular expression can begin with, so that a search may pass over all other letters.

Reads the syntax that the tables of this package are written in: literals, classes, groups, looking around, repetition.
"""

from __future__ import annotations

import re

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
    letters, may_be_empty, _ = _alternation(pattern, 0)
    return ANY if may_be_empty or ANY in letters else f"[{''.join(sorted(letters))}]"


def _alternation(pattern: str, at: int) -> tuple[set[str], bool, int]:
    """Read up to the end of a group: what it begins with, whether it may match nothing, and where it ends."""
    letters: set[str] = set()
    may_be_empty, empty = False, True  # any branch before; this branch as far as it is read
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "|":
            may_be_empty, empty, at = may_be_empty or empty, True, at + 1
            continue
        told, skipped, at = _element(pattern, at)
        letters |= told if empty else set()
        empty = empty and skipped
    return letters, may_be_empty or empty, at


def _element(pattern: str, at: int) -> tuple[set[str], bool, int]:
    """Read one letter, class, group or place with its repetition."""
    if around := _AROUND.match(pattern, at):
        return set(), True, _alternation(pattern, around.end())[2] + 1
    if place := _PLACE.match(pattern, at):
        return set(), True, place.end()
    if group := _GROUP.match(pattern, at):
        letters, empty, at = _alternation(pattern, group.end())
        at += 1
    elif one := _ONE.match(pattern, at):
        letters, empty, at = {_in_class(one[0])}, False, one.end()
    else:
        raise ValueError(f"{pattern[at : at + 12]} in {pattern}: no syntax that this reads")
    if repeat := _REPEAT.match(pattern, at):
        at = repeat.end()
        empty = empty or repeat[0][0] in "*?" or repeat["least"] in {"", "0"}
    return letters, empty, at


def _in_class(one: str) -> str:
    """Return a letter or class as what stands between the brackets of one; what is not in one may be any letter."""
    if one == "." or one.startswith("[^"):
        return ANY
    if len(one) == 1:
        return re.escape(one)
    return one[1:-1] if one[0] == "[" else one
