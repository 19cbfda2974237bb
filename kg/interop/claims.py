"""One row of an existing graph as a claim in our words, or one line about what is wrong with it."""

from __future__ import annotations

import re
from datetime import date, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kg.ids import claim_key, claim_key_around_value, entity_id, fact_id_of, id_part, value_key
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
_COMPANY = str(Kind.COMPANY)
# What says what is claimed, beside the ends and the relation.
CLAIM = ("sign", "polarity", "modality", "valid", "value", "unit", "scale", "change", "basis", "high")
_NUMBERS, _UNIT = ("value", "high"), ("unit", "scale", "change", "basis")
_NESTED = "a field holds a list or an object; only qualifiers may"
NEEDED = ("subject", "relation", "object", "published_on")


class BadRow(ValueError):
    """A row that cannot be taken in; the text says why and what to do."""


class End(NamedTuple):
    """An entity as rows name it: `part` is what it gives to a fact's id, `plain` when its id says all there is."""

    entity: Entity
    id: str
    kind: Kind
    part: bytes
    plain: bool

    @staticmethod
    def of(entity: Entity) -> End:
        """Work out what all rows that name an entity need of it."""
        plain = not entity.codes and entity.id.endswith(f":{entity.name}")  # folding may have changed the name
        return End(entity, entity.id, entity.kind, id_part(entity.id), plain)


class Claim(NamedTuple):
    """A checked row: `fact` is the id, `text` the claim as stores keep it."""

    fact: str
    subject: End
    relation: str
    object: End
    negative: bool
    text: str


class _Worded(NamedTuple):
    """What a claim says beyond its ends."""

    text: str
    key: bytes
    negative: bool


class _Around(NamedTuple):
    """What a claim of a measured value says around it: rows that differ in the number alone share it."""

    unit: Mapping[str, str]
    text: tuple[str, str]
    key: tuple[bytes, bytes]
    negative: bool

    @staticmethod
    def of(fact: Fact, row: Mapping[str, Any]) -> _Around:
        """Take apart what a fact without a value says."""
        after = f",{codec.dump(fact.qualifiers)}]"
        before = codec.claim_out(fact).removesuffix(f"null{after}")
        unit = {name: str(row.get(name) or "") for name in _UNIT}
        return _Around(unit, (before, after), claim_key_around_value(fact), fact.polarity == "negative")

    def measured(self, number: float, high: float | None) -> _Worded:
        """Put a value in."""
        value = Value(number, **self.unit, high=high)
        text = codec.value_out(value).join(self.text)
        return _Worded(text, value_key(value).join(self.key), self.negative)


class _Shape(NamedTuple):
    """How rows of the same fields are told apart by what they claim."""

    said: Callable[[Mapping[str, Any]], object]
    qualified: bool
    measured: bool

    @staticmethod
    def of(row: Mapping[str, Any]) -> _Shape:
        """Look at the fields of a row."""
        fields = [name for name in CLAIM if name in row and name not in _NUMBERS]
        said = itemgetter(*fields) if fields else _nothing
        return _Shape(said, "qualifiers" in row, "value" in row)


def _nothing(_: Mapping[str, Any]) -> object:
    return None


class Claims:
    """Turns rows into claims; what rows have in common is worked out once."""

    def __init__(self, words: Vocabulary, master: Master | None = None) -> None:
        self._words, self._master = words, master
        self._relations = {name: (relation, id_part(name)) for name, relation in words.relations.items()}
        self._days: dict[str, date] = {}
        self._ends: dict[tuple[object, ...], End] = {}
        self._fitting: set[tuple[str, Kind, Kind]] = set()
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._worded: dict[tuple[object, ...], _Worded | _Around] = {}

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

    def claim(self, row: Mapping[str, Any], published_on: date) -> Claim:
        """Return the claim of a row.

        Raises:
            BadRow: when a field is missing, no such relation exists, or it cannot stand between such ends.
        """
        name = row.get("relation")
        known = self._relations.get(name) if isinstance(name, str) else None
        if known is None:
            raise BadRow(f"relation {str(name or '')!r} is not in the vocabulary (kg/relations.yaml)")
        relation, part = known
        one = self._end(row.get("subject"), row.get("subject_kind"), published_on, side="subject")
        other = self._end(row.get("object"), row.get("object_kind"), published_on, side="object")
        fitting = relation.name, one.kind, other.kind
        if one.id == other.id or fitting not in self._fitting:
            _check_ends(relation, one.entity, other.entity)
            self._fitting.add(fitting)
        if relation.symmetric and one.id > other.id:
            one, other = other, one
        text, key, negative = self._claimed(row)
        return Claim(fact_id_of(one.part, part, other.part, claim=key), one, relation.name, other, negative, text)

    def _end(self, text: Any, kind: Any, published_on: date, *, side: str) -> End:
        if not isinstance(text, str):
            raise BadRow(f"{side} is missing")
        if not isinstance(kind, str):
            kind = str(kind or "")
        # Only a company's name can mean another one on another day.
        key = (text, kind, published_on) if self._master and kind == _COMPANY else (text, kind)
        found = self._ends.get(key)
        if found is None:
            if not text.strip():
                raise BadRow(f"{side} is missing")
            if len(self._ends) >= _ROOM * 16:
                self._ends.clear()
            found = self._ends[key] = End.of(self._entity(text.strip(), kind, published_on, side))
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
        fields = tuple(row)
        shape = self._shapes.get(fields)
        if shape is None:
            if len(self._shapes) >= _ROOM:
                self._shapes.clear()
            shape = self._shapes[fields] = _Shape.of(row)
        qualifiers = repr(row["qualifiers"]) if shape.qualified else ""
        number = _read(row, "value", _number, None) if shape.measured else None
        key = fields, shape.said(row), qualifiers, number is None
        try:
            found = self._worded.get(key)
        except TypeError:
            raise BadRow(_NESTED) from None
        if found is None:
            if len(self._worded) >= _ROOM:
                self._worded.clear()
            fact = _fact(row)
            plain = _Worded(codec.claim_out(fact), claim_key(fact), fact.polarity == "negative")
            found = self._worded[key] = plain if number is None else _Around.of(fact, row)
        if isinstance(found, _Worded):
            return found
        return found.measured(cast("float", number), _read(row, "high", _number, None))


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
        qualifiers=_qualifiers(row.get("qualifiers")),
    )


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
    if isinstance(value, list | dict):
        raise BadRow(_NESTED)
    try:
        return kind(value)
    except (ValueError, TypeError):
        raise BadRow(f"{name} {value!r} cannot be read") from None
