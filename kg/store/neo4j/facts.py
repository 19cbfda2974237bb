"""Read facts from a Neo4j store with their visible evidence and compute superseding among them."""

from __future__ import annotations

import pickle
import zlib
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from kg.model import Evidence
from kg.store import codec
from kg.store.neo4j import statements as cypher
from kg.store.neo4j.schema import LAST_DAY
from kg.store.rules.merging import first_of_families, unite
from kg.store.rules.superseding import one_at_a_time, superseded, superseded_in_groups
from kg.store.visibility import instant_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date

    from kg.model import Fact
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.neo4j.connection import Moment, Row

_PAGE = 5000


@dataclass(frozen=True, slots=True)
class Neo4jSight:
    """Visibility limits of a view: last publication day, last recording time (microseconds since 1970)."""

    day: date
    known: int

    @property
    def parameters(self) -> dict[str, object]:
        """The values of the named parameters in kg/store/neo4j/statements.py."""
        return {"day": self.day, "known": self.known}


class Neo4jFactReader:
    """Reads facts of one state for one view."""

    def __init__(self, moment: Moment, visibility: Neo4jSight, vocabulary: Vocabulary) -> None:
        self._moment, self._visibility, self._vocabulary = moment, visibility, vocabulary
        self._witness = witnesses(moment, visibility)

    def everything(self, period: Period | None) -> list[bytes]:
        """Return all facts in id order, in pages for `unpacked`; a stream would not see one state."""
        ones = [name for name in self._vocabulary.relations if one_at_a_time(name, self._vocabulary)]
        groups = groupby(self._rows(cypher.RIVALS, ones=ones), key=itemgetter(2, 3))
        closed = superseded_in_groups((self._facts(group) for _, group in groups), self._vocabulary)
        pages, after = [], ""
        while rows := list(self._rows(cypher.EVERYTHING, after=after, limit=_PAGE, **narrowed(period))):
            after = rows[-1][0]
            facts = [_with_superseding(fact, closed) for fact in self._facts(rows)]
            pages.append(zlib.compress(pickle.dumps(facts), 1))
        return pages

    def matching(self, wanted: Mapping[str, object], period: Period | None) -> list[Fact]:
        """Return the facts that meet all conditions in id order; `wanted` has names of `cypher.CONDITIONS`."""
        conditions = " AND ".join((*(cypher.CONDITIONS[name] for name in wanted if name != "triples"), cypher.HOLDS))
        found = cypher.OF_TRIPLES if "triples" in wanted else "MATCH (f:Fact)"
        statement = f"{found} WHERE {conditions} {cypher.FACTS}"
        facts = list(self._facts(self._rows(statement, **wanted, **narrowed(period))))
        pairs = dict.fromkeys((fact.subject, fact.relation) for fact in facts)
        queried = [[*pair, one_at_a_time(pair[1], self._vocabulary)] for pair in pairs]
        known = {fact.id for fact in facts}
        companions = self._facts(self._rows(cypher.COMPANIONS, pairs=queried)) if queried else ()
        closed = superseded([*facts, *(fact for fact in companions if fact.id not in known)], self._vocabulary)
        return [_with_superseding(fact, closed) for fact in facts]

    def touching(self, entities: list[str]) -> list[Fact]:
        """Return the facts with an end among entities, one per wording, without superseding."""
        rows = self._rows(cypher.TOUCHING, entities=entities)
        return [fact for _, group in groupby(rows, key=itemgetter(0)) for fact in self._by_wording(group)]

    def _rows(self, statement: str, **parameters: object) -> Iterator[Row]:
        return self._moment.stream(statement, **self._visibility.parameters, **parameters)

    def _facts(self, rows: Iterable[Row]) -> Iterator[Fact]:
        """Build facts from rows sorted by id; rows with the same id are one fact."""
        for _, group in groupby(rows, key=itemgetter(0)):
            yield unite(self._by_wording(group))

    def _by_wording(self, rows: Iterable[Row]) -> list[Fact]:
        by_claim: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            by_claim[row[1]].append(row)
        return [self._fact(claim, group) for claim, group in sorted(by_claim.items())]

    def _fact(self, claim: str, rows: list[Row]) -> Fact:
        identity, _, *ends = rows[0][:5]
        evidence = tuple(map(self._evidence, rows))
        return codec.claim_in(identity, (ends[0], ends[1], ends[2]), claim, evidence=evidence)

    def _evidence(self, row: Row) -> Evidence:
        return Evidence(
            document=row[5],
            start=row[7],
            end=row[8],
            quote=row[9],
            published_on=native(row[6]),
            recorded_at=instant_of(row[10]),
            speaker=row[11],
            witness=self._witness.get(row[5], ""),
            confidence=row[12],
            extractor=row[13],
        )


def unpacked(pages: Iterable[bytes]) -> Iterator[Fact]:
    """Yield the facts of pages packed by this process."""
    for page in pages:
        yield from pickle.loads(zlib.decompress(page))  # noqa: S301 - made by `everything` in this process


def narrowed(period: Period | None) -> dict[str, object]:
    """Return a period as parameters of `cypher.HOLDS`; an open end becomes the minimum or maximum date."""
    start = period.start if period and period.start else LAST_DAY.min
    return {"narrowed": period is not None, "start": start, "end": (period and period.end) or LAST_DAY}


def witnesses(moment: Moment, visibility: Neo4jSight) -> dict[str, str]:
    """Map each visible document that has visible copies to the first of its family."""
    copied = moment.rows(cypher.COPIES, **visibility.parameters)
    if not copied:
        return {}
    days = {identity: native(day) for identity, day, _ in copied}
    others = sorted({other for *_, copies in copied for other in copies} - days.keys())
    days.update(
        (identity, native(day)) for identity, day in moment.rows(cypher.ORIGINS, ids=others, **visibility.parameters)
    )
    return first_of_families(((one, other) for one, _, copies in copied for other in copies), days)


@lru_cache(maxsize=4096)
def native(day: Any) -> date:
    """Convert a date of the driver to a Python date."""
    found: date = day.to_native()
    return found


def _with_superseding(fact: Fact, closed: Mapping[str, str]) -> Fact:
    by = closed.get(fact.id)
    return replace(fact, superseded_by=by) if by else fact
