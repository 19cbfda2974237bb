"""Convert rows of an imported graph to claims; what rows share is computed once and cached."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from msgspec.structs import astuple

from kg.ids import claim_digest, entity_id, id_part
from kg.interop.rows.claim_encoding import NESTED, BadRow, Worded, confidence_in, number_in, worded
from kg.interop.rows.fields import OWN, Fault, SourceRow
from kg.model import Entity, Kind
from kg.store.bulk.row_batch import Names
from kg.store.rules.validated import bare_entity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.interop.rows.claim_encoding import Around
    from kg.relations import Relation, Vocabulary
    from kg.securities.master import Master

_CACHE_SIZE = 65_536  # entries per cache, which bounds memory
_MAX_ENDS = 1_048_576
_COMPANY = str(Kind.COMPANY)
NEEDED = ("subject", "relation", "object", "published_on")
_COMMON = SourceRow.__struct_fields__[OWN:-1]  # all but the qualifiers, which may be an object


class RowEntity:
    """An entity as named in rows.

    `number` is its position among the reader's names, `part` its contribution to a fact id, and `plain` whether its
    kind and name follow from its id.
    """

    __slots__ = ("entity", "id", "kind", "number", "part", "plain")

    def __init__(self, entity: Entity, number: int) -> None:
        self.entity, self.id, self.kind, self.number = entity, entity.id, str(entity.kind), number
        self.part = id_part(entity.id)
        self.plain = not entity.codes and entity.id.endswith(f":{entity.name}")  # folding may have changed the name


class RowTemplate:
    """What rows share when they differ only in their ends, numbers and confidence.

    `place` is their day and source; `subjects` and `objects` map names to the ends of such rows; `fitting` holds the
    pairs of kinds known to be allowed; `words` is the text and key of the claim when it has no number.
    """

    __slots__ = (
        *("fitting", "name", "negative", "objects", "part", "place", "relation", "speaker", "subjects"),
        *("symmetric", "words", "_around"),
    )

    def __init__(
        self,
        relation: Relation,
        place: tuple[date, str],
        ends: tuple[dict[str, RowEntity], dict[str, RowEntity]],
        *,
        speaker: str,
        encoded: Worded | Around,
    ) -> None:
        self.relation, self.place, self.speaker = relation, place, speaker
        self.name, self.symmetric = relation.name, relation.symmetric
        self.part, self.negative = id_part(relation.name), encoded.negative
        self.subjects, self.objects = ends
        self.fitting: set[tuple[str, str]] = set()
        self.words = encoded[:2] if isinstance(encoded, Worded) else ("", b"")
        self._around = None if isinstance(encoded, Worded) else encoded

    def measured(self, row: SourceRow, number: float) -> tuple[str, bytes]:
        """Return the text and the key of the claim of a row that states a number.

        Raises:
            BadRow: when its second number (`high`) is not valid.
        """
        assert self._around is not None
        return self._around.measured(number, None if row.high is None else number_in(row, "high"))


# A checked row: digest of the fact id, subject, object, template, claim in stored form, confidence.
Claim = tuple[bytes, RowEntity, RowEntity, RowTemplate, str, float]


class Claims:
    """Converts rows to claims; `names` collects the ids of their entities."""

    def __init__(self, words: Vocabulary, master: Master | None = None) -> None:
        self.names = Names()
        self._words, self._master = words, master
        self._days: dict[str, date] = {}
        self._ends: dict[tuple[str, date | None], dict[str, RowEntity]] = {}
        self._bare: dict[object, RowTemplate] = {}
        self._measured: dict[object, RowTemplate] = {}

    def of(self, rows: Iterable[SourceRow | Fault]) -> tuple[list[Claim | None], list[str]]:
        """Return one claim or None per row, and the fault messages of the rows without a claim.

        Faults: a missing or invalid field, an unknown relation, or a relation that does not allow such ends.
        """
        claims: list[Claim | None] = []
        faults: list[str] = []
        add, bare, measured = claims.append, self._bare, self._measured
        for row in rows:  # hot loop: each line costs 0.1 s per million rows
            if isinstance(row, Fault):
                faults.append(row)
                add(None)
                continue
            try:
                fields = astuple(row)
                subject, object_, value, _, confidence = fields[:OWN]
                number = None if value is None else number_in(row, "value")
                try:  # most rows consist of cached parts
                    template = (bare if number is None else measured)[fields[OWN:]]
                except (KeyError, TypeError):
                    template = self._template(row, measured=number is not None)
                try:
                    one, other = template.subjects[subject], template.objects[object_]
                except (KeyError, TypeError):
                    one, other = (
                        self._end(row, side, known, template)
                        for side, known in (("subject", template.subjects), ("object", template.objects))
                    )
                if one.id == other.id or (one.kind, other.kind) not in template.fitting:
                    _check_ends(template.relation, one.entity, other.entity)
                    template.fitting.add((one.kind, other.kind))
                if template.symmetric and one.id > other.id:
                    one, other = other, one
                text, key = template.words if number is None else template.measured(row, number)
                confidence = 1.0 if confidence is None else confidence_in(row)
                add((claim_digest(one.part + template.part + other.part + key), one, other, template, text, confidence))
            except BadRow as fault:
                faults.append(str(fault))
                add(None)
            except UnicodeEncodeError:
                faults.append("a field contains an unpaired surrogate")
                add(None)
        return claims, faults

    def _template(self, row: SourceRow, *, measured: bool) -> RowTemplate:
        known = self._measured if measured else self._bare
        key: tuple[object, ...] = astuple(row)[OWN:]
        if isinstance(row.qualifiers, list | dict):
            key = (*key[:-1], ("written", repr(row.qualifiers)))
        try:
            template = known.get(key)
        except TypeError:
            raise BadRow(NESTED) from None
        if template is None:
            template = self._build_template(row, measured=measured)
            # 1, 1.0 and true are equal keys with different texts, so only strings are cached.
            if all(isinstance(getattr(row, name), str | None) for name in _COMMON if name != "sign"):
                if len(known) >= _CACHE_SIZE:
                    known.clear()
                known[key] = template
        return template

    def _build_template(self, row: SourceRow, *, measured: bool) -> RowTemplate:
        published_on = self._day(row.published_on)
        name = row.relation
        relation = self._words.relations.get(name) if isinstance(name, str) else None
        if relation is None:
            raise BadRow(f"relation {str(name or '')!r} is not in the vocabulary (kg/relations.yaml)")
        source = str(row.source or "")
        ends = self._ends_of(row.subject_kind, published_on), self._ends_of(row.object_kind, published_on)
        speaker = str(row.speaker or source)
        for text in (source, speaker):
            text.encode()  # raises on an unpaired surrogate here, so that only this row is refused
        encoded = worded(row, measured=measured)
        return RowTemplate(relation, (published_on, source), ends, speaker=speaker, encoded=encoded)

    def _day(self, text: object) -> date:
        raw = str(text or "")
        if raw not in self._days:
            try:
                found = date.fromisoformat(raw)
            except ValueError:
                raise BadRow(f"published_on {raw!r} is not a date like 2025-12-31") from None
            self._days[raw] = found
        return self._days[raw]

    def _ends_of(self, kind: object, published_on: date) -> dict[str, RowEntity]:
        """Return the cached ends of a kind; only company names depend on the day."""
        kind_name = str(kind or "")
        day = published_on if self._master and kind_name == _COMPANY else None
        return self._ends.setdefault((kind_name, day), {})

    def _end(self, row: SourceRow, side: str, known: dict[str, RowEntity], template: RowTemplate) -> RowEntity:
        text = getattr(row, side)
        if not isinstance(text, str) or not text:
            raise BadRow(f"{side} is missing")
        found = known.get(text)
        if found is None:
            stripped = text.strip()
            if not stripped:
                raise BadRow(f"{side} is missing")
            kind = str(getattr(row, f"{side}_kind") or "")
            number, entity = len(self.names.ids), self._entity(stripped, kind, template.place[0], side)
            if number and number % _MAX_ENDS == 0:
                for ends in self._ends.values():
                    ends.clear()
            found = known[text] = RowEntity(entity, number)
            self.names.ids.append(found.id)
        return found

    def _entity(self, text: str, kind: str, published_on: date, side: str) -> Entity:
        if not kind:
            return _by_id(text, side)
        try:
            known = Kind(kind)
        except ValueError:
            raise BadRow(f"{side}_kind {kind!r} is not one of {', '.join(Kind)}") from None
        if known is Kind.COMPANY and self._master:
            issuer = self._master.by_code(text)
            named = [issuer] if issuer else self._master.by_name(text, published_on)
            if len(named) == 1:
                return Entity(named[0].id, Kind(named[0].kind), named[0].name, codes=(named[0].code,))
        identity = entity_id(known, text)
        if identity.endswith(":"):
            raise BadRow(f"{side} {text!r} is not a name")
        return Entity(identity, known, text)


def _by_id(text: str, side: str) -> Entity:
    try:
        entity = bare_entity(text)
    except ValueError:
        raise BadRow(f"{side} {text!r} is not an id like product:碳酸锂; add {side}_kind for a name") from None
    return entity


def _check_ends(relation: Relation, one: Entity, other: Entity) -> None:
    if one.id == other.id:
        raise BadRow(f"subject and object are both {one.id}")
    if not relation.allows(one.kind, other.kind):
        raise BadRow(f"{relation.name} does not allow {one.kind} and {other.kind} as its ends (kg/relations.yaml)")
