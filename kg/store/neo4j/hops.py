"""Run one hop of a graph walk as one query: the strongest live edges of many nodes, per bucket (DESIGN §6).

A bucket is a node and a relation. A subquery per bucket filters by the view's clocks, computes weights and applies the
limit, so that hubs are never transferred in full. The weights are parameters: those of the vocabulary and those of
kg/graph/weights.py.

Facts with a later rival or denial come with these candidates and do not count towards the limit;
kg/store/rules/superseding.py then decides which of them are superseded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from kg.model import Evidence
from kg.store import codec
from kg.store.neo4j.facts import narrowed, native
from kg.store.neo4j.schema import LAST_DAY
from kg.store.neo4j.statements import HOLDS, SAID
from kg.store.rules.merging import unite
from kg.store.rules.superseding import one_at_a_time, superseded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from kg.model import Fact
    from kg.period import Period
    from kg.relations import Vocabulary
    from kg.store.neo4j.connection import ReadSession, Row
    from kg.store.neo4j.facts import Neo4jSight

End = Literal["subject", "object"]
Stated = Sequence[tuple[str, str, str, str, Any]]  # fact, object, claim, speaker, day
_UNDATED = datetime.min.replace(tzinfo=UTC)

# Later statements of facts that may supersede `f`: rivals where only one fact can hold, and denials.
_LATER = f"""
    CALL (f, bucket) {{
        WITH f, bucket WHERE bucket.one_per = 'object'
        MATCH (r:Fact {{subject: f.subject, relation: f.relation, object: f.object}})
        WHERE r.matter = f.matter AND NOT r.negative RETURN r
        UNION ALL
        WITH f, bucket WHERE bucket.one_per = 'subject'
        MATCH (r:Fact {{subject: f.subject, relation: f.relation}})
        WHERE r.matter = f.matter AND NOT r.negative RETURN r
        UNION ALL
        WITH f
        MATCH (r:Fact {{subject: f.subject, relation: f.relation, object: f.object}}) WHERE r.negative RETURN r
    }}
    WITH r WHERE r.id <> f.id
    MATCH (r)<-[e:STATES]-() WHERE {SAID} AND e.published_on > first
    RETURN collect(DISTINCT [r.id, r.object, e.claim, e.speaker, e.published_on]) AS later
"""
_VISIBLE = f"""
    WHERE NOT f.negative AND {HOLDS}
    MATCH (f)<-[e:STATES]-() WHERE {SAID}
    WITH f, bucket, min(e.published_on) AS first, max(e.published_on) AS last, max(e.confidence) AS sure,
        count(DISTINCT coalesce($witness[e.document], e.document)) AS witnesses,
        collect(DISTINCT [f.id, f.object, e.claim, e.speaker, e.published_on]) AS said
    CALL (f, bucket, first) {{ {_LATER} }}
"""
_WITHIN = """
    CASE WHEN f.dated THEN f.valid_from < $until AND $since < f.valid_to ELSE first < $until END
    AND first <= $published
"""
# Weights are compared in single precision (24 bits) as in the snapshot, ties by id.
_STRONGEST = f"""
    WITH f, first, said, later, witnesses * sure * bucket.weight * $factors[f.modality] AS strength,
        CASE WHEN f.dated AND f.valid_to <> $open AND f.valid_to > last THEN f.valid_to ELSE last END AS fresh,
        bucket.half_life AS half_life
    WHERE {_WITHIN}
    WITH *, strength * 0.5 ^ (CASE WHEN fresh < $as_of THEN duration.inDays(fresh, $as_of).days ELSE 0 END / half_life)
        AS weight
    WITH *, CASE WHEN weight > 0 THEN 2.0 ^ (23 - floor(log(weight) / log(2))) ELSE 1.0 END AS bits
    WITH * ORDER BY round(weight * bits) / bits DESC, f.id
    WITH collect([f, first, strength, fresh, CASE WHEN size(later) > 0 THEN said ELSE [] END, later]) AS rows
    WITH rows, [place IN range(0, size(rows) - 1) WHERE size(rows[place][5]) = 0][$limit - 1] AS last
    UNWIND CASE WHEN last IS NULL THEN rows ELSE rows[..last + 1] END AS row
    RETURN row[0] AS f, row[1] AS first, row[2] AS strength, row[3] AS fresh, row[4] AS said, row[5] AS later
"""
_EDGE = """f.subject, f.object, f.relation, f.sign, strength, fresh, f.dated, f.valid_from, f.valid_to, first,
    f.cause, f.effect, f.id, said, later"""
# The buckets of a node are read from the index, so that empty ones cost nothing.
_EACH = """
    UNWIND $nodes AS node
    CALL (node) {{ MATCH (f:Fact) WHERE f.{0} = node AND f.relation IS NOT NULL RETURN DISTINCT f.relation AS name }}
    WITH node, $relations[name] AS relation WHERE relation IS NOT NULL
    WITH relation {{.*, node: node}} AS bucket
"""
_BUCKET = "MATCH (f:Fact {{{0}: bucket.node, relation: bucket.relation}})"
_ENDS: tuple[End, End] = ("subject", "object")
HOP = {
    end: f"{_EACH.format(end)} CALL (bucket) {{ {_BUCKET.format(end)} {_VISIBLE} {_STRONGEST} }} RETURN {_EDGE}"
    for end in _ENDS
}
_COUNT = """RETURN sum(CASE size(later) WHEN 0 THEN 1 ELSE 0 END) AS live,
    [row IN collect([f.subject, f.relation, f.id, said, later]) WHERE size(row[4]) > 0] AS questioned"""
DEGREE = {
    end: f"{_EACH.format(end)} CALL (bucket) {{ {_BUCKET.format(end)} {_VISIBLE} {_COUNT} }} RETURN live, questioned"
    for end in _ENDS
}
LAST_SAID = f"""
    MATCH (d:Document) WITH d ORDER BY d.published_on DESC
    CALL (d) {{ MATCH (d)-[e:STATES]->(f:Fact) WHERE {SAID} WITH f WHERE {HOLDS} RETURN 1 AS found LIMIT 1 }}
    RETURN d.published_on LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Hop:
    """An edge returned by the server.

    Attributes:
        strength: the weight before decay.
        fresh: the day on which the decay starts.
        valid: first day and the day after the last, None for an open end; None for a fact without a stated period.
        published: the day of the first visible document that states it.
    """

    subject: str
    object: str
    relation: str
    sign: int
    strength: float
    fresh: date
    valid: tuple[date | None, date | None] | None
    published: date
    cause: str
    effect: str
    fact: str


@dataclass(frozen=True, slots=True)
class HopWindow:
    """Limits on edges: valid on some day of a period, first stated by a day."""

    period: Period | None = None
    published_by: date | None = None


@dataclass(frozen=True)
class Hops:
    """Hops in one state of one view, unaffected by later writes."""

    line: ReadSession
    sight: Neo4jSight
    vocabulary: Vocabulary
    period: Period | None
    revision: int
    witness: Mapping[str, str]

    def last_said(self) -> date | None:
        """Return the latest publication day of any fact of the view."""
        rows = self._rows(LAST_SAID)
        return native(rows[0][0]) if rows else None

    def strongest(
        self,
        nodes: Iterable[str],
        relations: Iterable[str],
        end: End,
        *,
        limit: int,
        weighing: tuple[date, Mapping[str, float]],
        within: HopWindow,
    ) -> list[Hop]:
        """Return the `limit` strongest edges of each node and relation, or some more, unordered.

        Args:
            nodes: ids of entities.
            relations: names of the vocabulary.
            end: which end of a fact the nodes are.
            limit: edges per node and relation.
            weighing: the day to which weights decay, and a factor for each modality.
            within: limits on the edges.
        """
        as_of, factors = weighing
        span = narrowed(within.period)
        rows = self._rows(
            HOP[end],
            nodes=list(nodes),
            relations=self._relations(relations),
            limit=limit,
            as_of=as_of,
            factors=dict(factors),
            open=LAST_DAY,
            since=span["start"],
            until=span["end"],
            published=within.published_by or LAST_DAY,
        )
        closed = self._superseded((row[0], row[2], *row[-2:]) for row in rows)
        return [_hop(row) for row in rows if row[12] not in closed]

    def degree(self, node: str) -> int:
        """Return how many edges leave or reach a node."""
        relations = self._relations(self.vocabulary.relations)
        degree = 0
        for end in _ENDS:
            for live, questioned in self._rows(DEGREE[end], nodes=[node], relations=relations):
                closed = self._superseded((subject, relation, *later) for subject, relation, _, *later in questioned)
                degree += live + sum(row[2] not in closed for row in questioned)
        return degree

    def _superseded(self, questioned: Iterable[tuple[str, str, Stated, Stated]]) -> Mapping[str, str]:
        """Apply the rule to facts, given as subject, relation, own statements and later ones of what may close them."""
        evidence: dict[tuple[str, ...], set[Evidence]] = defaultdict(set)
        for subject, relation, own, later in questioned:
            for identity, object_, claim, speaker, day in (*own, *later):
                stated = Evidence("", 0, 0, "", native(day), _UNDATED, speaker)
                evidence[identity, subject, relation, object_, claim].add(stated)
        by_id: dict[str, list[Fact]] = defaultdict(list)
        for (identity, *ends, claim), items in sorted(evidence.items(), key=itemgetter(0)):
            fact = codec.claim_in(identity, (ends[0], ends[1], ends[2]), claim, evidence=tuple(items))
            by_id[identity].append(fact)
        return superseded(map(unite, by_id.values()), self.vocabulary)

    def _relations(self, names: Iterable[str]) -> dict[str, dict[str, object]]:
        return {
            name: {
                "relation": name,
                "weight": float(self.vocabulary[name].weight),
                "half_life": float(self.vocabulary[name].half_life),
                "one_per": self.vocabulary[name].one_per if one_at_a_time(name, self.vocabulary) else "",
            }
            for name in names
        }

    def _rows(self, statement: str, **parameters: object) -> list[Row]:
        values = {**self.sight.parameters, **narrowed(self.period), **parameters, "revision": self.revision}
        return self.line.read(lambda moment: moment.rows(statement, witness=self.witness, **values))


def _hop(row: Row) -> Hop:
    subject, object_, relation, sign, strength, fresh, dated, start, end, published, cause, effect, fact = row[:13]
    valid = None
    if dated:
        first, last = native(start), native(end)
        valid = (None if first == LAST_DAY.min else first, None if last == LAST_DAY else last)
    ends = (subject, object_, relation, sign, strength)
    return Hop(*ends, native(fresh), valid, native(published), cause, effect, fact)
