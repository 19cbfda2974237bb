"""Sizes of nodes and positions after layout, in pixels at zoom 1."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from viz.scene import SceneNode

ROW_HEIGHT: Final = 25
"""Height of a company's row under its stage."""

_WIDE_EM, _NARROW_EM = 1.0, 0.6
_LINE_EMS = 9.0
_MOST_LINES = 2
_PIECES = re.compile(r"[!-~]{1,12} ?|.")  # keep Latin words whole; Chinese text may break anywhere
_CODE_PIXELS = 12
_PADDING = 24
_SLANTED = frozenset((Kind.INDUSTRY, Kind.INDICATOR, Kind.EVENT, Kind.REGION, Kind.PERSON))
_SLANT_PADDING = 20


@dataclass(frozen=True, slots=True)
class NodeSize:
    """Text of a node and its size: one or two lines of name, and a code in small type.

    A `row` is one line with the name left and the code right, as for companies under a stage.
    """

    lines: tuple[str, ...]
    code: str
    width: int
    height: int
    row: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle: centre and size."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Box, gap: float = 0.0) -> bool:
        """Whether two boxes overlap or are closer than `gap`."""
        return (
            abs(self.x - other.x) < (self.width + other.width) / 2 + gap
            and abs(self.y - other.y) < (self.height + other.height) / 2 + gap
        )


@dataclass(frozen=True, slots=True)
class ColumnHeading:
    """A caption above columns: its centre and the width of its rule."""

    text: str
    x: float
    y: float
    width: float


@dataclass(frozen=True, slots=True)
class Placement:
    """A complete layout: boxes by node id, bends by edge index, cards by stage id, and headings."""

    boxes: Mapping[str, Box]
    bends: Mapping[int, tuple[tuple[float, float], ...]]
    cards: Mapping[str, Box]
    heads: tuple[ColumnHeading, ...] = ()


def ems(text: str) -> float:
    """Return a text's width in em: 1 per Chinese character, about 0.6 per Latin one.

    >>> ems("光伏A")
    2.6
    """
    return sum(_WIDE_EM if unicodedata.east_asian_width(char) in "WFA" else _NARROW_EM for char in text)


def wrap(text: str, width: float = _LINE_EMS, most: int = _MOST_LINES) -> tuple[str, ...]:
    """Break a name into at most `most` lines of similar width, with an ellipsis if it does not fit.

    >>> wrap("光伏玻璃")
    ('光伏玻璃',)
    >>> wrap("新能源汽车动力电池装机量")
    ('新能源汽车动', '力电池装机量')
    >>> wrap("一二三四五六七八九十", width=4, most=1)
    ('一二三…',)
    """
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    lines_needed = -(-ems(text) // width)
    if 1 < lines_needed <= most:
        width = min(width, ems(text) / lines_needed + 0.5)
    lines = _fill(text, width)
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(lines[most - 1], width)]
    return tuple(lines) or ("",)


def face(node: SceneNode, *, narrow: bool = False, dense: bool = False) -> NodeSize:
    """Return a node's text and size.

    Args:
        node: the node.
        narrow: put a hosted company's code below its name instead of next to it.
        dense: omit codes, for graphs with many nodes.
    """
    code = "" if dense or not node.codes else node.codes[0]
    arrow = node.size + 2 if node.direction else 0
    if node.stage:
        name = wrap(node.label, most=1)
        own, extra = ems(name[0]) * node.size, ems(code) * _CODE_PIXELS
        if narrow:
            return NodeSize(name, code, round(max(own, extra) + arrow) + 18, ROW_HEIGHT + (12 if code else 0))
        width = own + (extra + 12 if code else 0)
        return NodeSize(name, code, round(width + arrow) + 24, ROW_HEIGHT, row=True)
    lines = wrap(node.label, most=1 if dense else _MOST_LINES)
    text_width = max(max(map(ems, lines)) * node.size, ems(code) * _CODE_PIXELS)
    width = text_width + arrow + _PADDING + (_SLANT_PADDING if node.kind in _SLANTED else 0)
    height = len(lines) * (node.size + 5) + (_CODE_PIXELS + 5 if code else 0) + (8 if dense else 12)
    return NodeSize(lines, code, max(round(width), 72), round(height))


def _fill(text: str, width: float) -> list[str]:
    lines, line = [], ""
    for piece in _PIECES.findall(text):
        if line and ems(line + piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()] if line.strip() else lines


def _cut(line: str, width: float) -> str:
    while line and ems(line) + _WIDE_EM > width:
        line = line[:-1]
    return line + "…"
