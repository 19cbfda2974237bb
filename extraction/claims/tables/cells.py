"""Read the cells of a table: numbers with sign, unit and marks of notes; blanks below merged cells; sums that break."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from extraction.quantities.label_units import AmountUnit, read_unit
from extraction.text.lexicon import phrases
from kg.text.table_rows import PlacedRow

if TYPE_CHECKING:
    from collections.abc import Sequence

_PHRASES = phrases("tables/cells")
_NOTE = _PHRASES["note"]
_PLAIN = _PHRASES["plain"]
_TOTAL, _NO_SUM = _PHRASES["total"], _PHRASES["no_sum"]
_AMOUNT = re.compile(
    r"(?P<about>[~≈约]\s*)?(?P<open>[(（])?\s*(?P<sign>[-+])?\s*(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)\s*"
    r"(?P<in>[^\d()（）]{0,8}?)\s*(?P<close>[)）])?\s*(?P<out>[^\d()（）]{0,8})"
)
_DASHES = str.maketrans("−－–—﹣‐‑‒―＋﹢％", "---------++%")
_ROUNDING = 0.02


class CellAmount(Struct, frozen=True):
    """The number of a cell, signed, with the unit that the cell itself states."""

    number: float
    unit: AmountUnit | None = None


def without_notes(text: str) -> str:
    """Return a text without the marks of notes: 4009*, 3620.1①, 营业收入[1], 归母净利润注2.

    >>> without_notes("3620.1①"), without_notes("营业收入（亿元）[1]"), without_notes("归母净利润 注2")
    ('3620.1', '营业收入（亿元）', '归母净利润')
    """
    return _NOTE.sub("", text).strip()


def read_amount(text: str) -> CellAmount | None:
    """Return the number of a cell; brackets make it negative, and all of its words must be understood.

    >>> [read_amount(text) and read_amount(text).number for text in ("(70)", "4,009*", "（12.3%）", "-5.1%", "N/A")]
    [-70.0, 4009.0, -12.3, -5.1, None]
    """
    found = _AMOUNT.fullmatch(without_notes(text).translate(_DASHES))
    if found is None or bool(found["open"]) != bool(found["close"]) or (found["in"].strip() and found["out"].strip()):
        return None
    written = (found["in"] + found["out"]).strip()
    unit = read_unit(written) if written else None
    if written and unit is None:
        return None
    number = float(found["n"].replace(",", ""))
    negative = found["sign"] == "-" or (found["open"] and not found["sign"])
    return CellAmount(-number if negative else number, unit)


def filled_down(rows: Sequence[PlacedRow]) -> list[PlacedRow]:
    """Repeat the texts above blank cells at the start of a row, as below a merged cell; numbers are not repeated.

    A filled row begins where its first repeated text is written, so that a quote of it holds that text.
    """
    out: list[PlacedRow] = []
    for row in rows:
        filled = row
        blank = next((at for at, cell in enumerate(row.cells) if cell), len(row.cells))
        if out and 0 < blank < len(row.cells) and len(out[-1].placed) >= blank:
            above = out[-1].placed[:blank]
            if all(text and not _PLAIN.fullmatch(text) for _, _, text in above):
                filled = PlacedRow(above[0][0], row.end, (*above, *row.placed[blank:]))
        out.append(filled)
    return out


def broken_sums(rows: Sequence[PlacedRow], columns: Sequence[int]) -> list[int]:
    """Return those columns whose last row is a total that its parts do not add up to."""
    if len(rows) < 3 or not _TOTAL.fullmatch(without_notes(rows[-1].cells[0])):  # noqa: PLR2004 - two parts and a total
        return []
    if any(not row.cells[0] or _NO_SUM.search(row.cells[0]) for row in rows[:-1]):
        return []
    broken = []
    for column in columns:
        amounts = [read_amount(row.cells[column]) if column < len(row.cells) else None for row in rows]
        numbers = [amount.number for amount in amounts if amount and amount.unit is None]
        if len(numbers) == len(rows) and _differs(sum(numbers[:-1]), numbers[-1], len(rows)):
            broken.append(column)
    return broken


def contradicts(before: float, after: float, growth: float) -> bool:
    """Return whether a stated growth in percent contradicts the two values; near zero and for losses none does."""
    if before <= 0:
        return False
    real = 100 * (after / before - 1)
    return abs(real - growth) > max(2.0, 0.1 * abs(real))  # rounding of the values


def _differs(total: float, stated: float, count: int) -> bool:
    return abs(total - stated) > max(_ROUNDING * max(abs(total), abs(stated)), 0.5 * count)
