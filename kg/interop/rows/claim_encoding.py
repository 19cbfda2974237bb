"""What one row of an existing graph claims beyond its ends, or one line about what is wrong with it."""

from __future__ import annotations

import re
from datetime import date, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from kg.ids import claim_key, claim_key_around_value, number_key, value_key
from kg.model import Fact, Modality, Polarity, Value
from kg.period import Period, day, half, month, quarter, year
from kg.store import codec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kg.interop.rows.fields import SourceRow

_PERIOD = re.compile(r"(\d{4})(?:H([12])|Q([1-4])|-(\d{2})(?:-(\d{2}))?)?")
_UNIT = ("unit", "scale", "change", "basis")
NESTED = "a field holds a list or an object; only qualifiers may"


class BadRow(ValueError):
    """A row that cannot be taken in; the text says why and what to do."""


class Worded(NamedTuple):
    """What a claim says: `text` as stores keep it, `key` what it gives to the fact's id."""

    text: str
    key: bytes
    negative: bool


class Around(NamedTuple):
    """What a claim of a measured value says around the number: rows that differ in the number alone share it.

    `text` and `key` stand before and after the whole value, `tail` after its number when there is no second one.
    """

    unit: Mapping[str, str]
    text: tuple[str, str]
    key: tuple[bytes, bytes]
    tail: tuple[str, bytes]
    negative: bool

    @staticmethod
    def of(fact: Fact, row: SourceRow) -> Around:
        """Take apart what a fact without a value says."""
        after = f",{codec.dump(fact.qualifiers)}]"
        before = codec.claim_out(fact).removesuffix(f"null{after}")
        unit = {name: str(getattr(row, name) or "") for name in _UNIT}
        zero = Value(0.0, **unit, high=None)
        key = claim_key_around_value(fact)
        tail = (
            codec.value_out(zero).removeprefix("[0.0") + after,
            value_key(zero).removeprefix(number_key(0.0)) + key[1],
        )
        return Around(unit, (f"{before}[", after), key, tail, fact.polarity == "negative")

    def measured(self, number: float, high: float | None) -> tuple[str, bytes]:
        """Put a value in, and return the text and the key of the claim."""
        if high is None:
            return f"{self.text[0]}{number!r}{self.tail[0]}", self.key[0] + number_key(number) + self.tail[1]
        value = Value(number, **self.unit, high=high)
        return f"{self.text[0]}{codec.value_out(value)[1:]}{self.text[1]}", value_key(value).join(self.key)


def worded(row: SourceRow, *, measured: bool) -> Worded | Around:
    """Return what a row claims; with `measured` its numbers are left out, to be put in for each row like it.

    Raises:
        BadRow: when a field cannot be read.
    """
    fact = _fact(row)
    if measured:
        return Around.of(fact, row)
    return Worded(codec.claim_out(fact), claim_key(fact), fact.polarity == "negative")


def number_in(row: SourceRow, name: str) -> float | None:
    """Return a number of a row, or None when it states none.

    Raises:
        BadRow: when it is none, or not finite.
    """
    value = getattr(row, name)
    if type(value) is float and isfinite(value):
        return value
    found: float | None = _read(row, name, _number, None)
    return found


def parse_period(text: str) -> Period:
    """Read 2024, 2024H1, 2024Q3, 2024-09, 2024-09-30, or FIRST/LAST, both included and either left out.

    Raises:
        BadRow: when it is none of these.
    """
    first, slash, last = text.partition("/")
    try:
        if slash:
            end = date.fromisoformat(last) + timedelta(days=1) if last else None
            return Period(date.fromisoformat(first) if first else None, end)
        found = _PERIOD.fullmatch(text)
        if found is None:
            raise ValueError(text)  # noqa: TRY301 - the same answer as to a day that does not exist
        number, halves, quarters, months, days = found.groups()
        if days:
            return day(date.fromisoformat(text))
        if halves:
            return half(int(number), int(halves))
        if quarters:
            return quarter(int(number), int(quarters))
        return month(int(number), int(months)) if months else year(int(number))
    except (ValueError, OverflowError):
        raise BadRow(f"valid {text!r} is not a period like 2024, 2024Q3, 2024-09-30 or 2024-01-01/2024-06-30") from None


def confidence_in(row: SourceRow) -> float:
    """Return how sure a row is.

    Raises:
        BadRow: when it is no number above 0 and at most 1.
    """
    value = row.confidence
    if value is None or value == "":
        return 1.0
    try:
        sure = float(str(value))
    except ValueError:
        raise BadRow(f"confidence {value!r} is not a number") from None
    if not 0 < sure <= 1:
        raise BadRow(f"confidence {value!r} is not above 0 and at most 1")
    return sure


def _fact(row: SourceRow) -> Fact:
    sign = _read(row, "sign", int, 0)
    if sign not in {-1, 0, 1}:
        raise BadRow(f"sign {sign} is not 1, -1 or 0")
    valid = str(row.valid or "")
    return Fact(
        id="",
        subject="",
        relation="",
        object="",
        sign=sign,
        polarity=_read(row, "polarity", Polarity, Polarity.POSITIVE),
        modality=_read(row, "modality", Modality, Modality.ASSERTED),
        valid=parse_period(valid) if valid else None,
        qualifiers=_qualifiers(row.qualifiers),
    )


def _number(text: Any) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


def _qualifiers(given: Any) -> tuple[tuple[str, str], ...]:
    if not given:
        return ()
    if isinstance(given, str):  # a CSV cell: product=电池;rank=1
        pairs = [part.partition("=") for part in given.split(";") if part.strip()]
        if not all(equals for _, equals, _ in pairs):
            raise BadRow(f"qualifiers {given!r} are not written name=value;name=value")
        return tuple(sorted((name.strip(), value.strip()) for name, _, value in pairs))
    if not isinstance(given, dict):
        raise BadRow("qualifiers are neither an object nor name=value;name=value")
    return tuple(sorted((str(name), str(value)) for name, value in given.items()))


def _read(row: SourceRow, name: str, kind: Callable[[Any], Any], otherwise: Any) -> Any:
    value = getattr(row, name)
    if value is None or value == "":
        return otherwise
    if isinstance(value, list | dict):
        raise BadRow(NESTED)
    try:
        return kind(value)
    except (ValueError, TypeError, OverflowError):
        raise BadRow(f"{name} {value!r} cannot be read") from None
