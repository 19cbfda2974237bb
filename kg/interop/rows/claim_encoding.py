"""Encode what a row of an imported graph claims apart from its two ends."""

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
NESTED = "a field holds a list or an object; only qualifiers may be nested"


class BadRow(ValueError):
    """A row that cannot be imported; the message states the cause and the remedy."""


class Worded(NamedTuple):
    """An encoded claim: `text` in stored form, `key` its contribution to the fact id."""

    text: str
    key: bytes
    negative: bool


class Around(NamedTuple):
    """Template of a claim with a measured value, shared by rows that differ only in the number.

    `text` and `key` are the parts before and after the whole value; `tail` follows the number when there is no `high`.
    """

    unit: Mapping[str, str]
    text: tuple[str, str]
    key: tuple[bytes, bytes]
    tail: tuple[str, bytes]
    negative: bool

    @staticmethod
    def of(fact: Fact, row: SourceRow) -> Around:
        """Split the encoding of a fact without a value."""
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
        """Insert a value and return the text and the key of the claim."""
        if high is None:
            return f"{self.text[0]}{codec.dump(number)}{self.tail[0]}", self.key[0] + number_key(number) + self.tail[1]
        value = Value(number, **self.unit, high=high)
        return f"{self.text[0]}{codec.value_out(value)[1:]}{self.text[1]}", value_key(value).join(self.key)


def worded(row: SourceRow, *, measured: bool) -> Worded | Around:
    """Return the encoded claim of a row; with `measured`, a template without its numbers.

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
        BadRow: when it is not a finite number.
    """
    value = getattr(row, name)
    if type(value) is float and isfinite(value):
        return value
    found: float | None = _read(row, name, _finite_number, None)
    return found


def parse_period(text: str) -> Period:
    """Parse 2024, 2024H1, 2024Q3, 2024-09, 2024-09-30, or FIRST/LAST, both inclusive and optional.

    Raises:
        BadRow: when the format is not one of these.
    """
    first, slash, last = text.partition("/")
    try:
        if slash:
            end = date.fromisoformat(last) + timedelta(days=1) if last else None
            return Period(date.fromisoformat(first) if first else None, end)
        found = _PERIOD.fullmatch(text)
        if found is None:
            raise ValueError(text)  # noqa: TRY301 - handled like a day that does not exist
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
    """Return the confidence of a row.

    Raises:
        BadRow: when it is not a number in (0, 1].
    """
    value = row.confidence
    if value is None or value == "":
        return 1.0
    try:
        confidence = float(str(value))
    except ValueError:
        raise BadRow(f"confidence {value!r} is not a number") from None
    if not 0 < confidence <= 1:
        raise BadRow(f"confidence {value!r} is not above 0 and at most 1")
    return confidence


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


def _finite_number(text: Any) -> float:
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
            raise BadRow(f"qualifiers {given!r} are not in the form name=value;name=value")
        return tuple(sorted((name.strip(), value.strip()) for name, _, value in pairs))
    if not isinstance(given, dict):
        raise BadRow("qualifiers must be an object or name=value;name=value")
    return tuple(sorted((str(name), str(value)) for name, value in given.items()))


def _read(row: SourceRow, name: str, kind: Callable[[Any], Any], default: Any) -> Any:
    value = getattr(row, name)
    if value is None or value == "":
        return default
    if isinstance(value, list | dict):
        raise BadRow(NESTED)
    try:
        return kind(value)
    except (ValueError, TypeError, OverflowError):
        raise BadRow(f"{name} {value!r} is not valid") from None
