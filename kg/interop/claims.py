"""One row of an existing graph as a claim in our words, or one line about what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from kg.ids import claim_key, entity_id, fact_id_between
from kg.model import Entity, Fact, Kind, Modality, Polarity, Value
from kg.period import Period, day, half, month, quarter, year
from kg.store import codec
from kg.store.prepared import bare_entity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kg.relations import Relation, Vocabulary
    from kg.securities.master import Master

_PERIOD = re.compile(r"(\d{4})(?:H([12])|Q([1-4])|-(\d{2})(?:-(\d{2}))?)?")
_ROOM = 65_536
# What says what is claimed, beside the ends and the relation.
CLAIM = ("sign", "polarity", "modality", "valid", "value", "unit", "scale", "change", "basis", "high")
NEEDED = ("subject", "relation", "object", "published_on")


class BadRow(ValueError):
    """A row that cannot be taken in; the text says why and what to do."""


class Claim(NamedTuple):
    """A checked row: `fact` is the id, `text` the claim as stores keep it."""

    fact: str
    subject: str
    relation: str
    object: str
    negative: bool
    text: str


@dataclass(frozen=True, slots=True)
class _Worded:
    """What a claim says beyond its ends."""

    text: str
    key: bytes
    negative: bool


class Claims:
    """Turns rows into claims; what rows have in common is worked out once."""

    def __init__(self, words: Vocabulary, master: Master | None = None) -> None:
        self._words, self._master = words, master
        self._days: dict[str, date] = {}
        self._ends: dict[tuple[str, str, date | None], Entity] = {}
        self._worded: dict[tuple[object, ...], _Worded] = {}

    def day(self, text: object) -> date:
        """Return the day a row was published on.

        Raises:
            BadRow: when it is none.
        """
        written = str(text or "")
        if written not in self._days:
            try:
                self._days[written] = date.fromisoformat(written)
            except ValueError:
                raise BadRow(f"published_on {written!r} is not a day like 2025-12-31") from None
        return self._days[written]

    def claim(self, row: Mapping[str, Any], published_on: date) -> tuple[Claim, Entity, Entity]:
        """Return the claim of a row, and the entities at its ends.

        Raises:
            BadRow: when a field is missing, no such relation exists, or it cannot stand between such ends.
        """
        name = str(row.get("relation") or "")
        relation = self._words.relations.get(name)
        if relation is None:
            raise BadRow(f"relation {name!r} is not in the vocabulary (kg/relations.yaml)")
        one = self._end(row, "subject", published_on)
        other = self._end(row, "object", published_on)
        _check_ends(relation, one, other)
        if relation.symmetric and one.id > other.id:
            one, other = other, one
        worded = self._claimed(row)
        identity = fact_id_between(one.id, name, other.id, claim=worded.key)
        return Claim(identity, one.id, name, other.id, worded.negative, worded.text), one, other

    def _end(self, row: Mapping[str, Any], side: str, published_on: date) -> Entity:
        text = row.get(side)
        if not isinstance(text, str) or not text.strip():
            raise BadRow(f"{side} is missing")
        kind = str(row.get(f"{side}_kind") or "")
        # Only a company's name can mean another one on another day.
        key = text, kind, published_on if kind == Kind.COMPANY and self._master else None
        found = self._ends.get(key)
        if found is None:
            if len(self._ends) >= _ROOM * 16:
                self._ends.clear()
            found = self._ends[key] = self._entity(text.strip(), kind, published_on, side)
        return found

    def _entity(self, text: str, kind: str, published_on: date, side: str) -> Entity:
        if not kind:
            return _by_id(text, side)
        try:
            known = Kind(kind)
        except ValueError:
            raise BadRow(f"{side}_kind {kind!r} is none of {', '.join(Kind)}") from None
        if known is Kind.COMPANY and self._master:
            issuer = self._master.by_code(text)
            named = [issuer] if issuer else self._master.by_name(text, published_on)
            if len(named) == 1:
                return Entity(named[0].id, Kind(named[0].kind), named[0].name, codes=(named[0].code,))
        identity = entity_id(known, text)
        if identity.endswith(":"):
            raise BadRow(f"{side} {text!r} is no name")
        return Entity(identity, known, text)

    def _claimed(self, row: Mapping[str, Any]) -> _Worded:
        qualifiers = row.get("qualifiers")
        said = tuple(row.get(name) for name in CLAIM)
        key = (*said, repr(qualifiers)) if qualifiers else said
        try:
            found = self._worded.get(key)
        except TypeError:
            raise BadRow("a field holds a list or an object; only qualifiers may") from None
        if found is None:
            if len(self._worded) >= _ROOM:
                self._worded.clear()
            fact = _fact(row)
            found = self._worded[key] = _Worded(codec.claim_out(fact), claim_key(fact), fact.polarity == "negative")
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


def _by_id(text: str, side: str) -> Entity:
    try:
        entity = bare_entity(text)
    except ValueError:
        raise BadRow(f"{side} {text!r} is not an id like product:碳酸锂; give {side}_kind for a name") from None
    return entity


def _check_ends(relation: Relation, one: Entity, other: Entity) -> None:
    if one.id == other.id:
        raise BadRow(f"subject and object are both {one.id}")
    if not relation.allows(one.kind, other.kind):
        raise BadRow(f"{relation.name} cannot stand between {one.kind} and {other.kind} (kg/relations.yaml)")


def _fact(row: Mapping[str, Any]) -> Fact:
    sign = _read(row, "sign", int, 0)
    if sign not in {-1, 0, 1}:
        raise BadRow(f"sign {sign} is not 1, -1 or 0")
    valid = str(row.get("valid") or "")
    return Fact(
        id="",
        subject="",
        relation="",
        object="",
        sign=sign,
        polarity=_read(row, "polarity", Polarity, Polarity.POSITIVE),
        modality=_read(row, "modality", Modality, Modality.ASSERTED),
        valid=parse_period(valid) if valid else None,
        value=_value(row),
        qualifiers=_qualifiers(row.get("qualifiers")),
    )


def _value(row: Mapping[str, Any]) -> Value | None:
    number = _read(row, "value", _number, None)
    if number is None:
        return None
    texts = {name: str(row.get(name) or "") for name in ("unit", "scale", "change", "basis")}
    return Value(number, **texts, high=_read(row, "high", _number, None))


def _number(text: Any) -> float:
    number = float(text)
    if number != number or number in {float("inf"), float("-inf")}:  # noqa: PLR0124 - only a NaN differs from itself
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


def _read(row: Mapping[str, Any], name: str, kind: Callable[[Any], Any], otherwise: Any) -> Any:
    value = row.get(name)
    if value is None or value == "":
        return otherwise
    try:
        return kind(value)
    except (ValueError, TypeError):
        raise BadRow(f"{name} {value!r} cannot be read") from None
