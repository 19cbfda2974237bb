"""Find the ruled tables of a page: rules are straight lines and thin rectangles, cells are what they enclose.

Rules at nearly the same place are one. Where rules cross are the corners of cells, and cells with common corners are
one table: the method of Nurminen (2013), which pdfplumber and Tabula use as well.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pypdfium2.raw as pdfium

from extraction.documents.table import Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from extraction.documents.pdf.lines import PageLine

    Box = tuple[float, float, float, float]
    Matrix = tuple[float, float, float, float, float, float]

_NEAR = 3.0  # points: rules closer are one, gaps that are shorter do not end a rule, rules that are shorter are none
_MOST_CORNERS, _MOST_RULES, _MOST_CROSSINGS, _DEEPEST = 20_000, 400, 6_000, 3  # more on a page is a drawing
_MOST_GROUNDS, _HIGHEST = 2_000, 120.0  # painted cells, and how high one may be: the ground of a table is no cell
_SHARED = 3  # areas with an edge at one place from which it is a rule
_MAX_OPEN = 0.3  # share of places that are in no cell
_UNIT = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Rule(NamedTuple):
    """A straight line along an axis: where it is across it, and its ends along it, in points."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Rulings:
    """The rules of a page; coordinates are from its upper left corner."""

    across: tuple[Rule, ...] = ()
    down: tuple[Rule, ...] = ()

    def between(self, top: float, bottom: float) -> Rulings:
        """Return the rules of a strip of the page."""
        across = tuple(rule for rule in self.across if top <= rule.at <= bottom)
        down = tuple(
            Rule(rule.at, max(rule.start, top), min(rule.end, bottom))
            for rule in self.down
            if rule.start < bottom and rule.end > top
        )
        return Rulings(across, down)

    def separates(self, left: float, right: float, height: float) -> bool:
        """Return whether a rule goes down between two places at a height."""
        return any(left <= rule.at <= right and rule.start <= height <= rule.end for rule in self.down)


NO_RULINGS = Rulings()


def read_rulings(page: Any, *, origin: tuple[float, float]) -> Rulings:
    """Return the rules of a pypdfium2 page, none if it is a drawing; `origin` is its upper left corner."""
    across: list[Rule] = []
    down: list[Rule] = []
    grounds: list[Box] = []
    corners = 0
    for stroked, points in _paths(page.raw, pdfium.FPDFPage_CountObjects, pdfium.FPDFPage_GetObject, _UNIT):
        corners += len(points) + 1
        if corners > _MOST_CORNERS:
            return NO_RULINGS
        places = [(x - origin[0], origin[1] - y) for x, y in points]
        xs, ys = zip(*places, strict=True) if places else ((0.0,), (0.0,))
        box = (min(xs), min(ys), max(xs), max(ys))
        if not stroked and min(box[2] - box[0], box[3] - box[1]) > _NEAR:
            if box[3] - box[1] <= _HIGHEST:
                grounds.append(box)
            continue
        for (x, y), (to_x, to_y) in pairwise(places):
            if abs(y - to_y) < 1:
                across.append(Rule((y + to_y) / 2, min(x, to_x), max(x, to_x)))
            elif abs(x - to_x) < 1:
                down.append(Rule((x + to_x) / 2, min(y, to_y), max(y, to_y)))
    cells = _outermost(grounds)
    across += _shared(Rule(y, cell[0], cell[2]) for cell in cells for y in cell[1::2])
    down = [rule for rule in down if not _is_side_of_bar(rule, cells)]
    down += _shared(Rule(x, cell[1], cell[3]) for cell in cells for x in cell[::2])
    rulings = Rulings(tuple(_merged(across)), tuple(_merged(down)))
    return rulings if max(len(rulings.across), len(rulings.down)) <= _MOST_RULES else NO_RULINGS


def _outermost(grounds: Sequence[Box]) -> list[Box]:
    """Return the painted areas that are in no other one: cells, not their lines of text or the bars in them."""
    boxes = np.array(sorted(set(grounds))[:_MOST_GROUNDS]).reshape(-1, 4)
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    inside = (low >= boxes[None, :, :2] - 1).all(axis=2) & (high <= boxes[None, :, 2:] + 1).all(axis=2)
    larger = (boxes[:, 2:] - boxes[:, :2]).sum(axis=1)
    inside &= larger[:, None] < larger[None, :]
    return [tuple(box) for box in boxes[~inside.any(axis=1)].tolist()]


def _is_side_of_bar(rule: Rule, cells: Iterable[Box]) -> bool:
    """Return whether a rule that goes down is well inside a cell and nearly as high: the end of a bar in it."""
    return any(
        left + 1 < rule.at < right - 1
        and top + 1 <= rule.start
        and rule.end <= bottom - 1
        and 2 * (rule.end - rule.start) > bottom - top
        for left, top, right, bottom in cells
    )


def _shared(edges: Iterable[Rule]) -> Iterator[Rule]:
    """Yield the edges of areas that several share: those of cells, not the ends of bars."""
    for group in _near(edges, 1.0):
        yield from group if len(group) >= _SHARED else ()


def _paths(
    parent: Any, count: Any, child: Any, outer: Matrix, depth: int = 0
) -> Iterator[tuple[bool, list[tuple[float, float]]]]:
    """Yield the painted paths, also in forms: whether one has an outline, and its corners, closed with the first."""
    for number in range(count(parent)):
        found = child(parent, number)
        kind = pdfium.FPDFPageObj_GetType(found)
        if kind == pdfium.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
            inner = _placed(found, outer)
            yield from _paths(found, pdfium.FPDFFormObj_CountObjects, pdfium.FPDFFormObj_GetObject, inner, depth + 1)
        elif kind == pdfium.FPDF_PAGEOBJ_PATH:
            fill, stroke = _painted(found)
            parts = _corners(found, _placed(found, outer)) if fill or stroke else ()
            yield from ((stroke, part) for part in parts)


def _placed(found: Any, outer: Matrix) -> Matrix:
    """Return the matrix of an object, followed by that of what holds it."""
    own = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(found, ctypes.byref(own)):
        return outer
    a, b, c, d, e, f = outer
    return (
        *(own.a * a + own.b * c, own.a * b + own.b * d, own.c * a + own.d * c, own.c * b + own.d * d),
        *(own.e * a + own.f * c + e, own.e * b + own.f * d + f),
    )


def _painted(path: Any) -> tuple[bool, bool]:
    """Return whether the inside and the outline of a path are painted."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    known = pdfium.FPDFPath_GetDrawMode(path, ctypes.byref(fill), ctypes.byref(stroke))
    return bool(known and fill.value), bool(known and stroke.value)


def _corners(path: Any, matrix: Matrix) -> Iterator[list[tuple[float, float]]]:
    """Yield the corners of each part of a path; a curve ends a part, for no rule is bent."""
    a, b, c, d, e, f = matrix
    x, y = ctypes.c_float(), ctypes.c_float()
    part: list[tuple[float, float]] = []
    for number in range(min(pdfium.FPDFPath_CountSegments(path), _MOST_CORNERS)):
        segment = pdfium.FPDFPath_GetPathSegment(path, number)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        place = (x.value * a + y.value * c + e, x.value * b + y.value * d + f)
        if kind != pdfium.FPDF_SEGMENT_LINETO:
            yield part
            part = []
        part.append(place)
        if pdfium.FPDFPathSegment_GetClose(segment):
            part.append(part[0])
    yield part


def _near(rules: Iterable[Rule], most: float) -> Iterator[list[Rule]]:
    """Yield rules in groups, each at most this far from the one before."""
    group: list[Rule] = []
    for rule in sorted(rules):
        if group and rule.at - group[-1].at > most:
            yield group
            group = []
        group.append(rule)
    if group:
        yield group


def _merged(rules: Iterable[Rule]) -> Iterator[Rule]:
    """Yield rules with those at nearly the same place as one, and touching parts of them as one."""
    for group in _near(rules, _NEAR):
        at = sum(rule.at for rule in group) / len(group)
        parts: list[Rule] = []
        for _, start, end in sorted(group, key=lambda rule: rule[1:]):
            if parts and start - parts[-1].end <= _NEAR:
                parts[-1] = Rule(at, parts[-1].start, max(end, parts[-1].end))
            else:
                parts.append(Rule(at, start, end))
        yield from (part for part in parts if part.end - part.start >= _NEAR)


def ruled_tables(rulings: Rulings, lines: Sequence[PageLine]) -> Iterator[tuple[Box, list[list[Cell | None]]]]:
    """Yield the box (left, top, right, bottom) of each ruled table with its rows, filled with the words of lines."""
    for cells in _adjoining(_enclosed(_crossings(rulings))):
        lefts, tops = sorted({cell[0] for cell in cells}), sorted({cell[1] for cell in cells})
        places: list[list[Box | None]] = [[None] * len(lefts) for _ in tops]
        for cell in cells:
            for row in places[bisect_left(tops, cell[1]) : bisect_left(tops, cell[3] - 1)]:
                first, last = bisect_left(lefts, cell[0]), bisect_left(lefts, cell[2] - 1)
                row[first:last] = [cell] * (last - first)
        if sum(place is None for row in places for place in row) <= _MAX_OPEN * len(tops) * len(lefts):
            box = (lefts[0], tops[0], max(cell[2] for cell in cells), max(cell[3] for cell in cells))
            yield box, _filled(places, tops, lefts, lines)


def _crossings(rulings: Rulings) -> dict[tuple[float, float], tuple[set[Rule], set[Rule]]]:
    """Return where rules cross or touch, the place with the rules down and across it; nothing if it is a drawing."""
    found: dict[tuple[float, float], tuple[set[Rule], set[Rule]]] = {}
    for down in rulings.down:
        for across in rulings.across:
            meets = down.start - _NEAR <= across.at <= down.end + _NEAR
            if meets and across.start - _NEAR <= down.at <= across.end + _NEAR:
                rules = found.setdefault((down.at, across.at), (set(), set()))
                rules[0].add(down)
                rules[1].add(across)
    return found if len(found) <= _MOST_CROSSINGS else {}


def _enclosed(crossings: Mapping[tuple[float, float], tuple[set[Rule], set[Rule]]]) -> Iterator[Box]:
    """Yield the smallest box that rules enclose to the lower right of each crossing (Nurminen 2013)."""
    below: dict[float, list[float]] = {}
    beside: dict[float, list[float]] = {}
    for x, y in sorted(crossings):
        below.setdefault(x, []).append(y)
        beside.setdefault(y, []).append(x)

    def are_joined(one: tuple[float, float], other: tuple[float, float], way: int) -> bool:
        return other in crossings and not crossings[one][way].isdisjoint(crossings[other][way])

    for x, y in sorted(crossings):
        bottoms = (bottom for bottom in below[x] if bottom > y and are_joined((x, y), (x, bottom), 0))
        rights = [right for right in beside[y] if right > x and are_joined((x, y), (right, y), 1)]
        closed = (
            (x, y, right, bottom)
            for bottom in bottoms
            for right in rights
            if are_joined((right, y), (right, bottom), 0) and are_joined((x, bottom), (right, bottom), 1)
        )
        yield from islice(closed, 1)


def _adjoining(cells: Iterable[Box]) -> Iterator[list[Box]]:
    """Yield the cells of each table, two or more: those that share corners with one another; upper tables first."""
    joined: dict[tuple[float, float], tuple[float, float]] = {}

    def root(corner: tuple[float, float]) -> tuple[float, float]:
        while joined.setdefault(corner, corner) != corner:
            joined[corner] = corner = joined[joined[corner]]
        return corner

    found = sorted(cells)
    for cell in found:
        for corner in product(cell[::2], cell[1::2]):
            joined[root(corner)] = root(cell[:2])
    tables: dict[tuple[float, float], list[Box]] = {}
    for cell in found:
        tables.setdefault(root(cell[:2]), []).append(cell)
    several = (table for table in tables.values() if len(table) > 1)
    yield from sorted(several, key=lambda table: min((cell[1], cell[0]) for cell in table))


def _filled(
    places: Sequence[Sequence[Box | None]], tops: Sequence[float], lefts: Sequence[float], lines: Iterable[PageLine]
) -> list[list[Cell | None]]:
    """Return the cells of a table at all places that they cover, with the words inside, line by line."""
    texts: dict[Box, list[tuple[float, float, float, str]]] = {}
    for line in lines:
        row = bisect_right(tops, line.middle) - 1
        for word in line.words if line.upright and row >= 0 else ():
            middle = (word.x0 + word.x1) / 2
            column = bisect_right(lefts, middle) - 1
            box = places[row][column] if column >= 0 else None
            if box and middle <= box[2] and line.middle <= box[3]:
                texts.setdefault(box, []).append((line.middle, line.size, word.x0, word.text))
    cells = {box: Cell(_text(texts.get(box, []))) for row in places for box in row if box}
    return [[cells[box] if box else None for box in row] for row in places]


def _text(words: Iterable[tuple[float, float, float, str]]) -> str:
    """Return words as lines, upper ones first."""
    lines: list[list[tuple[float, float, float, str]]] = []
    for word in sorted(words):
        if lines and word[0] - lines[-1][0][0] < word[1] / 2:
            lines[-1].append(word)
        else:
            lines.append([word])
    return "\n".join(" ".join(text for *_, text in sorted(line, key=lambda word: word[2])) for line in lines)
