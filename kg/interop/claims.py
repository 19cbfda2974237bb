"""One row of an existing graph as a claim in our words; what rows have in common is worked out once."""

from __future__ import annotations

from datetime import date
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from kg.ids import claim_digest, entity_id, id_part
from kg.interop.wording import CLAIM, NESTED, Around, BadRow, Worded, confidence_in, number_in, worded
from kg.model import Entity, Kind
from kg.store.prepared import bare_entity

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.interop.rows import Row
    from kg.relations import Relation, Vocabulary
    from kg.securities.master import Master

_ROOM = 65_536  # of what is remembered of each sort, so that no file fills the memory
_ENDS = 1_048_576
_COMPANY = str(Kind.COMPANY)
NEEDED = ("subject", "relation", "object", "published_on")
# What many rows share: all that they say but their ends, their numbers and how sure they are.
_COMMON = ("relation", "subject_kind", "object_kind", "published_on", "source", "speaker", *CLAIM)
_common: Callable[[Row], tuple[object, ...]] = attrgetter(*_COMMON, "qualifiers")


class End:
    """An entity as rows name it: `part` is what it gives to a fact's id, `plain` when its id says all there is."""

    __slots__ = ("entity", "id", "kind", "part", "plain")

    def __init__(self, entity: Entity) -> None:
        self.entity, self.id, self.kind = entity, entity.id, str(entity.kind)
        self.part = id_part(entity.id)
        self.plain = not entity.codes and entity.id.endswith(f":{entity.name}")  # folding may have changed the name


class Like:
    """What rows that differ in their ends, their numbers and how sure they are have in common.

    `place` are their day and source; `subjects` and `objects` the ends of such rows, by the names they go by; `fitting`
    the kinds of ends that were found to be allowed.
    """

    __slots__ = ("fitting", "negative", "objects", "part", "place", "relation", "speaker", "subjects", "worded")

    def __init__(
        self,
        relation: Relation,
        place: tuple[date, str],
        ends: tuple[dict[str, End], dict[str, End]],
        *,
        speaker: str,
        said: Worded | Around,
    ) -> None:
        self.relation, self.place, self.speaker, self.worded = relation, place, speaker, said
        self.part, self.negative = id_part(relation.name), said.negative
        self.subjects, self.objects = ends
        self.fitting: set[tuple[str, str]] = set()


class Claim(NamedTuple):
    """A checked row: `digest` is that of the fact's id, `text` the claim as stores keep it."""

    digest: bytes
    subject: End
    object: End
    like: Like
    text: str
    confidence: float


_claim: Callable[[type[Claim], tuple[Any, ...]], Claim] = tuple.__new__  # twice as fast as by name


class Claims:
    """Turns rows into claims."""

    def __init__(self, words: Vocabulary, master: Master | None = None) -> None:
        self._words, self._master = words, master
        self._days: dict[str, date] = {}
        self._ends: dict[tuple[str, date | None], dict[str, End]] = {}
        self._named = 0
        self._bare: dict[object, Like] = {}
        self._measured: dict[object, Like] = {}

    def claim(self, row: Row) -> Claim:
        """Return the claim of a row.

        Raises:
            BadRow: when a field is missing, no such relation exists, or it cannot stand between such ends.
        """
        number = None if row.value is None else number_in(row, "value")
        try:  # most rows are made of parts met before
            like = (self._bare if number is None else self._measured)[_common(row)]
            one, other = like.subjects[row.subject], like.objects[row.object]
        except (KeyError, TypeError):
            like = self._like(row, measured=number is not None)
            one = self._end(row, "subject", like.subjects, like.place[0])
            other = self._end(row, "object", like.objects, like.place[0])
        if one.id == other.id or (one.kind, other.kind) not in like.fitting:
            _check_ends(like.relation, one.entity, other.entity)
            like.fitting.add((one.kind, other.kind))
        if like.relation.symmetric and one.id > other.id:
            one, other = other, one
        said = like.worded
        if isinstance(said, Worded):
            text, key, _ = said
        else:
            assert number is not None
            text, key = said.measured(number, None if row.high is None else number_in(row, "high"))
        sure = 1.0 if row.confidence is None else confidence_in(row)
        digest = claim_digest(one.part, like.part, other.part, claim=key)
        return _claim(Claim, (digest, one, other, like, text, sure))

    def _like(self, row: Row, *, measured: bool) -> Like:
        known = self._measured if measured else self._bare
        key = _common(row)
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

    def _worked_out(self, row: Row, *, measured: bool) -> Like:
        published_on = self._day(row.published_on)
        name = row.relation
        relation = self._words.relations.get(name) if isinstance(name, str) else None
        if relation is None:
            raise BadRow(f"relation {str(name or '')!r} is not in the vocabulary (kg/relations.yaml)")
        source = str(row.source or "")
        ends = self._ends_of(row.subject_kind, published_on), self._ends_of(row.object_kind, published_on)
        said = worded(row, measured=measured)
        return Like(relation, (published_on, source), ends, speaker=str(row.speaker or source), said=said)

    def _day(self, text: object) -> date:
        written = str(text or "")
        if written not in self._days:
            try:
                found = date.fromisoformat(written)
            except ValueError:
                raise BadRow(f"published_on {written!r} is not a day like 2025-12-31") from None
            self._days[written] = found
        return self._days[written]

    def _ends_of(self, kind: object, published_on: date) -> dict[str, End]:
        """Return the ends known of a kind; only a company's name can mean another one on another day."""
        called = str(kind or "")
        day = published_on if self._master and called == _COMPANY else None
        return self._ends.setdefault((called, day), {})

    def _end(self, row: Row, side: str, known: dict[str, End], published_on: date) -> End:
        text = getattr(row, side)
        if not isinstance(text, str) or not text:
            raise BadRow(f"{side} is missing")
        found = known.get(text)
        if found is None:
            stripped = text.strip()
            if not stripped:
                raise BadRow(f"{side} is missing")
            self._named += 1
            if self._named % _ENDS == 0:
                for ends in self._ends.values():
                    ends.clear()
            kind = str(getattr(row, f"{side}_kind") or "")
            found = known[text] = End(self._entity(stripped, kind, published_on, side))
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
