"""Rows of tables in the text of a page: a label and the figures behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NUMBER = re.compile(r"[(\-–—$€£¥]*\d[\d,]*(?<!,)(?:\.\d+)?\)?%?\)?$|[—–-]+$|不适用$")
_DASH = re.compile(r"[—–-]+$")
_REFERENCE = re.compile(
    r"[一二三四五六七八九十]+(?:[、.]\s*[(（]?|[(（])[一二三四五六七八九十\d]+[)）]?(?:[(（][\da-z]+[)）])?$|附注\S*$|注\d+$"
)
_ASIDE = re.compile(
    r"\((?=[^()]*(?:[A-Za-z]|(?:19|20)\d\d\b))[^()]*\d[^()]*\)"
)  # (Note 4), (2021, $230): no figure of the row
_JOINED = re.compile(  # two figures in the middle of a line: the end of a row, whose line goes on with the next one
    r"(?<=\s)\$?\s?(?:\(?\d[\d,]*(?:\.\d+)?\)?|[—–-])\s+\$?\s?(?:\(?\d[\d,]*(?:\.\d+)?\)?|[—–-])(?:\s+\$)?\s+(?=[A-Z][a-z])"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its label, its figures (None where a cell is empty), where it is, and the heading above it."""

    label: str
    figures: tuple[float | None, ...]
    start: int
    end: int
    head: str = ""


def lines_of(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the lines of a page with their offsets; rows that the text put on one line are apart.

    >>> text = "Changes in assets (696) (525) Net cash 145 323"
    >>> [line for line, _ in lines_of(text, 0, len(text))]
    ['Changes in assets (696) (525)', 'Net cash 145 323']
    """
    at = start
    for line in text[start:end].split("\n"):
        cuts = [0, *(match.end() for match in _JOINED.finditer(line)), len(line)]
        for one, other in pairwise(cuts):
            piece = line[one:other].rstrip()
            yield piece, at + one
        at += len(line) + 1


def split_row(line: str, *, percent: bool = False) -> tuple[str, tuple[float | None, ...]]:
    """Return the label and the figures at the end of a row; a dash is nothing, a percentage only counts if asked.

    >>> split_row("Total assets $ 36,500 $ (1,200)"), split_row("存货 | 七、5 | 1,000.50 | ")
    (('Total assets', (36500.0, -1200.0)), ('存货', (1000.5, None)))
    """
    if "|" in line:
        label, *cells = (cell.strip() for cell in line.split("|"))
        kept = [cell for cell in cells if not _REFERENCE.match(cell)]
        figures = tuple(None if not cell else _figure(cell) for cell in kept if not cell or _NUMBER.match(cell))
        return label, figures if len(figures) == len(kept) and any(f is not None for f in figures) else ()
    plain = re.sub(r"\(\s+(?=\d)", "(", re.sub(r"\$\s*", " ", _ASIDE.sub(" ", line)))
    words = re.sub(r"(?<=\d)\s+%", "%", re.sub(r"(?<=\d)\s+\)", ")", plain)).split()
    place = len(words)
    while place and (_NUMBER.match(words[place - 1]) or words[place - 1] in {")", "%", "$"}):
        place -= 1
    shown = (word for word in words[place:] if word not in {")", "%", "$"})
    figures = tuple(_figure(word) for word in shown if percent or not word.endswith(("%", "%)")))
    if len(words) - place == 1 and _DASH.match(words[-1]):  # a label that goes on in the next line
        return " ".join(words), ()
    if place and _REFERENCE.match(words[place - 1]):
        place -= 1
    return " ".join(words[:place]), figures


def _figure(word: str) -> float | None:
    if _DASH.match(word):
        return 0.0
    digits = re.sub(r"[^\d.]", "", word)
    if not digits or digits.count(".") > 1:
        return None
    value = float(digits)
    return -value if word.startswith(("(", "-", "–", "—")) else value
