"""Traditional Chinese characters as simplified ones, one for one, so that places in a text stay what they are.

Two spellings of a word that differ in more than their characters (軟體, 软件) stay two; a list of synonyms joins them.
"""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def table() -> dict[int, int]:
    """Code points of traditional characters and their simplified forms, for `str.translate`."""
    lines = (resources.files("kg") / "simplified.txt").read_text(encoding="utf-8").splitlines()
    return {ord(old): ord(new) for old, new in zip(lines[1], lines[2], strict=True)}


def simplified(text: str) -> str:
    """The text with every traditional character replaced.

    >>> simplified("寧德時代與乾照光电")
    '宁德时代与乾照光电'
    """
    # Nearly every text is simplified already, and looking is twenty times faster than translating.
    return text if text.isascii() or _characters().isdisjoint(text) else text.translate(table())


@cache
def _characters() -> frozenset[str]:
    return frozenset(map(chr, table()))
