"""Facts out of a SQLite base, with the evidence a view may see, and what is superseded among them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kg.model import Evidence
from kg.store import codec
from kg.store import statements as sql
from kg.store.merging import first_of_families, unite
from kg.store.schema import day_of, instant_of
from kg.store.superseding import one_at_a_time, superseded

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from kg.model import Fact
    from kg.relations import Vocabulary
    from kg.store.schema import Sight

Row = tuple[Any, ...]


class FactReader:
    """Reads facts for one view; make one per read, within one transaction."""

    def __init__(self, connection: sqlite3.Connection, sight: Sight, vocabulary: Vocabulary) -> None:
        self._connection, self._sight, self._vocabulary = connection, sight, vocabulary
        self._ones = json.dumps([name for name in vocabulary.relations if one_at_a_time(name, vocabulary)])
        self._witness = _first_of_families(connection, sight)

    def everything(self) -> Iterator[Fact]:
        """Stream all facts by id; of the superseded ones only the ids are held."""
        closed: dict[str, str] = {}
        rows = self._rows(f"{sql.BARE_FACTS} AND {sql.RIVALS} ORDER BY f.subject, f.relation", {})
        for _, group in groupby(rows, key=itemgetter(2, 3)):
            closed |= superseded(self._facts(sorted(group, key=itemgetter(1, 0))), self._vocabulary)
        for fact in self._facts(self._rows(f"{sql.FACTS} ORDER BY f.id, f.key", {})):
            by = closed.get(fact.id)
            yield replace(fact, superseded_by=by) if by else fact

    def matching(self, wanted: Mapping[str, str]) -> list[Fact]:
        """Return the facts that meet all conditions, by id; `wanted` has conditions of `sql.facts_where`."""
        facts = list(self._facts(self._rows(sql.facts_where(wanted), wanted)))
        companions = self._facts(self._rows(sql.COMPANIONS, {"ids": json.dumps([fact.id for fact in facts])}))
        known = {fact.id for fact in facts}
        closed = superseded([*facts, *(fact for fact in companions if fact.id not in known)], self._vocabulary)
        return [replace(fact, superseded_by=closed[fact.id]) if fact.id in closed else fact for fact in facts]

    def touching(self, entities: str) -> list[Fact]:
        """Return the facts with an end among entities (a JSON list of ids), one a wording, superseding not judged."""
        return list(self._worded(self._rows(sql.TOUCHING, {"entities": entities})))

    def _rows(self, statement: str, parameters: Mapping[str, str]) -> Iterator[Row]:
        return self._connection.execute(statement, {**self._sight.parameters, "ones": self._ones, **parameters})

    def _facts(self, rows: Iterable[Row]) -> Iterator[Fact]:
        """Build facts from rows that come by id; rows of one id are one fact."""
        for _, group in groupby(rows, key=itemgetter(1)):
            yield unite(list(self._worded(group)))

    def _worded(self, rows: Iterable[Row]) -> Iterator[Fact]:
        for _, said in groupby(rows, key=itemgetter(0)):
            same = list(said)
            _, identity, subject, relation, object_, claim = same[0][:6]
            evidence = tuple(map(self._evidence, same))
            yield codec.claim_in(identity, (subject, relation, object_), claim, evidence=evidence)

    def _evidence(self, row: Row) -> Evidence:
        return Evidence(
            document=row[7],
            start=row[8],
            end=row[9],
            quote=row[10],
            published_on=day_of(row[6]),
            recorded_at=instant_of(row[11]),
            speaker=row[12],
            witness=self._witness.get(row[7], ""),
            confidence=row[13],
            extractor=row[14],
        )


def _first_of_families(connection: sqlite3.Connection, sight: Sight) -> dict[str, str]:
    copied = dict(connection.execute(sql.COPIED, sight.parameters).fetchall())
    if not copied:
        return {}
    copied.update(connection.execute(sql.ORIGINS, sight.parameters).fetchall())
    days = {identity: day_of(key) for identity, key in copied.items()}
    return first_of_families(connection.execute(sql.COPIES), days)
