"""One row of an existing graph as a claim in our words; what rows have in common is worked out once."""

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

_ROOM = 65_536  # of what is remembered of each sort, so that no file fills the memory
_ENDS = 1_048_576
_COMPANY = str(Kind.COMPANY)
NEEDED = ("subject", "relation", "object", "published_on")
_COMMON = SourceRow.__struct_fields__[OWN:-1]  # without the qualifiers, which may be an object


class RowEntity:
    """An entity as rows name it.

    `number` is that of its id among the names of the reader, `part` what it gives to a fact's id, `plain` whether its
    id says all there is.
    """

    __slots__ = ("entity", "id", "kind", "number", "part", "plain")

    def __init__(self, entity: Entity, number: int) -> None:
        self.entity, self.id, self.kind, self.number = entity, entity.id, str(entity.kind), number
        self.part = id_part(entity.id)
        self.plain = not entity.codes and entity.id.endswith(f":{entity.name}")  # folding may have changed the name


class RowTemplate:
    """What rows that differ in their ends, their numbers and how sure they are have in common.

    `place` are their day and source; `subjects` and `objects` the ends of such rows, by the names they go by; `fitting`
    the kinds of ends that were found to be allowed; `words` the text and the key of the claim, if they state no number.
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
        said: Worded | Around,
    ) -> None:
        self.relation, self.place, self.speaker = relation, place, speaker
        self.name, self.symmetric = relation.name, relation.symmetric
        self.part, self.negative = id_part(relation.name), said.negative
        self.subjects, self.objects = ends
        self.fitting: set[tuple[str, str]] = set()
        self.words = said[:2] if isinstance(said, Worded) else ("", b"")
        self._around = None if isinstance(said, Worded) else said

    def measured(self, row: SourceRow, number: float) -> tuple[str, bytes]:
        """Return the text and the key of the claim of a row that states a number.

        Raises:
            BadRow: when it states a second one that cannot be read.
        """
        assert self._around is not None
        return self._around.measured(number, None if row.high is None else number_in(row, "high"))


# A checked row: the digest of the fact's id, its ends, what it is like, the claim as stores keep it, how sure it is.
Claim = tuple[bytes, RowEntity, RowEntity, RowTemplate, str, float]


class Claims:
    """Turns rows into claims; `names` are the ids of the entities that it met."""

    def __init__(self, words: Vocabulary, master: Master | None = None) -> None:
        self.names = Names()
        self._words, self._master = words, master
        self._days: dict[str, date] = {}
        self._ends: dict[tuple[str, date | None], dict[str, RowEntity]] = {}
        self._bare: dict[object, RowTemplate] = {}
        self._measured: dict[object, RowTemplate] = {}

    def of(self, rows: Iterable[SourceRow | Fault]) -> tuple[list[Claim | None], list[str]]:
        """Return the claims of rows, and what is wrong with those that have none.

        A field is missing or cannot be read, no such relation exists, or it cannot stand between such ends.
        """
        claims: list[Claim | None] = []
        faults: list[str] = []
        add, bare, measured = claims.append, self._bare, self._measured
        for row in rows:  # a line less here is a tenth of a second less for a million rows
            if isinstance(row, Fault):
                faults.append(row)
                add(None)
                continue
            try:
                fields = astuple(row)
                subject, object_, value, _, sure = fields[:OWN]
                number = None if value is None else number_in(row, "value")
                try:  # most rows are made of parts met before
                    like = (bare if number is None else measured)[fields[OWN:]]
                except (KeyError, TypeError):
                    like = self._like(row, measured=number is not None)
                try:
                    one, other = like.subjects[subject], like.objects[object_]
                except (KeyError, TypeError):
                    one, other = (
                        self._end(row, side, known, like)
                        for side, known in (("subject", like.subjects), ("object", like.objects))
                    )
                if one.id == other.id or (one.kind, other.kind) not in like.fitting:
                    _check_ends(like.relation, one.entity, other.entity)
                    like.fitting.add((one.kind, other.kind))
                if like.symmetric and one.id > other.id:
                    one, other = other, one
                text, key = like.words if number is None else like.measured(row, number)
                sure = 1.0 if sure is None else confidence_in(row)
                add((claim_digest(one.part + like.part + other.part + key), one, other, like, text, sure))
            except BadRow as fault:
                faults.append(str(fault))
                add(None)
            except UnicodeEncodeError:
                faults.append("a field holds half a character, which no text can")
                add(None)
        return claims, faults

    def _like(self, row: SourceRow, *, measured: bool) -> RowTemplate:
        known = self._measured if measured else self._bare
        key: tuple[object, ...] = astuple(row)[OWN:]
        if isinstance(row.qualifiers, list | dict):
            key = (*key[:-1], ("written", repr(row.qualifiers)))
        try:
            like = known.get(key)
        except TypeError:
            raise BadRow(NESTED) from None
        if like is None:
            like = self._worked_out(row, measured=measured)
            # 1, 1.0 and true are one key and three texts: only what is text is remembered.
            if all(isinstance(getattr(row, name), str | None) for name in _COMMON if name != "sign"):
                if len(known) >= _ROOM:
                    known.clear()
                known[key] = like
        return like

    def _worked_out(self, row: SourceRow, *, measured: bool) -> RowTemplate:
        published_on = self._day(row.published_on)
        name = row.relation
        relation = self._words.relations.get(name) if isinstance(name, str) else None
        if relation is None:
            raise BadRow(f"relation {str(name or '')!r} is not in the vocabulary (kg/relations.yaml)")
        source = str(row.source or "")
        ends = self._ends_of(row.subject_kind, published_on), self._ends_of(row.object_kind, published_on)
        speaker = str(row.speaker or source)
        for text in (source, speaker):
            text.encode()  # half a character is a fault of the row, and not of the sheet that would hold it
        said = worded(row, measured=measured)
        return RowTemplate(relation, (published_on, source), ends, speaker=speaker, said=said)

    def _day(self, text: object) -> date:
        written = str(text or "")
        if written not in self._days:
            try:
                found = date.fromisoformat(written)
            except ValueError:
                raise BadRow(f"published_on {written!r} is not a day like 2025-12-31") from None
            self._days[written] = found
        return self._days[written]

    def _ends_of(self, kind: object, published_on: date) -> dict[str, RowEntity]:
        """Return the ends known of a kind; only a company's name can mean another one on another day."""
        called = str(kind or "")
        day = published_on if self._master and called == _COMPANY else None
        return self._ends.setdefault((called, day), {})

    def _end(self, row: SourceRow, side: str, known: dict[str, RowEntity], like: RowTemplate) -> RowEntity:
        text = getattr(row, side)
        if not isinstance(text, str) or not text:
            raise BadRow(f"{side} is missing")
        found = known.get(text)
        if found is None:
            stripped = text.strip()
            if not stripped:
                raise BadRow(f"{side} is missing")
            kind = str(getattr(row, f"{side}_kind") or "")
            number, met = len(self.names.ids), self._entity(stripped, kind, like.place[0], side)
            if number and number % _ENDS == 0:
                for ends in self._ends.values():
                    ends.clear()
            found = known[text] = RowEntity(met, number)
            self.names.ids.append(found.id)
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
