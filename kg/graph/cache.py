"""Cache of compiled graphs, in memory and in memory-mapped files beside the base.

The folder `KB-snapshot` beside a base `KB` holds the table of all facts (kg/store/columns.py) and the graphs of a few
views, all built from one state of the base. After a commit they are not rebuilt: the facts touched since are read again
and applied as a patch (kg/graph/patch.py), until there are so many that a new table is cheaper. A small base, or one in
a read-only folder, is compiled in memory and leaves no files. Deleting the folder is harmless.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, fields
from datetime import date
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.graph import arrays
from kg.graph.edges import Buckets, EdgeRows, Ids, Kinds
from kg.graph.layout import anchored, table_edges
from kg.graph.outlines import Outlines, rows_between
from kg.graph.patch import Changed, Parts, compiled, patched
from kg.graph.view_columns import VisibleBounds, live_facts, visible_nodes
from kg.ids import digest
from kg.store.columns import FactTable, State, Texts, Touched
from kg.store.visibility import ViewCache, microseconds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from numpy.typing import NDArray

    from kg.model import Entity, Fact
    from kg.relations import Vocabulary
    from kg.store.port import View
    from kg.store.sqlite.columns import SqliteReader, SqliteSource


_FORMAT = 4
_WORTH_A_FILE = 20_000  # facts
_MAX_PATCH = 20_000  # facts; beyond this or a twentieth of all facts, read a new table
_LEAST_PATCH = 1_000
_GRAPHS, _TABLES, _VIEW_FILES = 8, 2, 8
_NOTHING = Touched(frozenset(), frozenset())


_graphs: ViewCache[Parts] = ViewCache(_GRAPHS)
_tables: ViewCache[_CachedTable] = ViewCache(_TABLES)


def forget() -> None:
    """Clear the in-memory caches; files are kept."""
    _graphs.clear()
    _tables.clear()


@dataclass(frozen=True, slots=True)
class _CachedTable:
    """A table, the state of the base it was read from, and whether it is stored in a file."""

    table: FactTable
    state: State
    on_disk: bool


@dataclass(frozen=True, slots=True)
class _GraphRequest:
    """One request for a graph."""

    view: View
    source: SqliteSource
    vocabulary: Vocabulary
    vocabulary_hash: str
    bounds: VisibleBounds

    @property
    def folder(self) -> Path:
        """The folder of the cache files."""
        return Path(f"{self.source.path}-snapshot")

    def key(self, state: State) -> tuple[object, ...]:
        """Return the in-memory cache key of the graph."""
        return str(self.source.path), state, self.vocabulary_hash, self.bounds

    def header(self, state: State) -> dict[str, Any]:
        """Return the key that a valid cache file must have."""
        return {"format": _FORMAT, "revision": state.revision, "stamp": state.stamp, "vocabulary": self.vocabulary_hash}


def parts_of(view: View, vocabulary: Vocabulary) -> Parts:
    """Return the compiled graph of a view, from the cache where possible."""
    source: SqliteSource | None = getattr(view, "source", None)
    if source is None:
        return compiled(view, vocabulary)
    day = None if view.as_of is None else view.as_of.toordinal()
    read = None if view.known_at is None else microseconds(view.known_at)
    request = _GraphRequest(
        view, source, vocabulary, _hash_vocabulary(vocabulary), VisibleBounds(day, read, source.period)
    )
    with source.reading() as reader:
        state = reader.state()
        found = _graphs.known(request.key(state))
        if found is not None:
            return found
        cached, touched = _table(request, reader, state)
    changed = _changed_entities(request, cached, touched)
    made = _graph(request, cached) if changed is None else _apply_changes(request, cached, touched, changed)
    return _graphs.put(request.key(state), made)


def _hash_vocabulary(vocabulary: Vocabulary) -> str:
    """Hash the parts of a vocabulary that a compiled graph depends on."""
    return digest(
        f"{name} {r.cardinality} {r.one_per} {r.half_life} {r.weight!r}" for name, r in vocabulary.relations.items()
    )


def _table(request: _GraphRequest, reader: SqliteReader, state: State) -> tuple[_CachedTable, Touched]:
    """Return a table of the base and what was touched since it was read."""
    place = str(request.source.path), request.vocabulary_hash
    cached = _tables.known(place)
    for known in (cached, _load_table(request)):
        if known is None:
            continue
        touched = _NOTHING if known.state == state else reader.touched(known.state, request.vocabulary)
        limit = max(_LEAST_PATCH, min(len(known.table.fact_id) // 20, _MAX_PATCH))
        if touched is not None and len(touched.facts) <= limit:
            return _tables.put(place, known), touched
    table = reader.table(request.vocabulary)
    on_disk = len(table.fact_id) >= _WORTH_A_FILE and arrays.save(
        request.folder / "table", request.header(state), {f.name: getattr(table, f.name) for f in fields(FactTable)}
    )
    return _tables.put(place, _CachedTable(table, state, on_disk)), _NOTHING


def _load_table(request: _GraphRequest) -> _CachedTable | None:
    """Map the table file beside the base, if it was built with this vocabulary."""
    path = request.folder / "table"
    key = arrays.key_of(path)
    if key is None:
        return None
    state = State(int(key.get("revision", -1)), str(key.get("stamp", "")))
    found = arrays.load(path, request.header(state))
    if found is None or found.keys() != {field.name for field in fields(FactTable)}:
        return None
    return _CachedTable(FactTable(**found), state, on_disk=True)


def _graph(request: _GraphRequest, cached: _CachedTable) -> Parts:
    """Return the graph of a view at the state of the table."""
    key = ("table state", request.key(cached.state))
    found = _graphs.known(key)
    if found is not None:
        return found
    bounded = request.bounds.read is not None or request.bounds.period is not None
    path = request.folder / f"view-{request.view.as_of or 'latest'}"
    if cached.on_disk and not bounded:
        mapped = arrays.load(path, request.header(cached.state))
        if mapped is not None:
            return _graphs.put(key, _unpack(mapped, cached.table, request.bounds))
    made = _derived(request, cached.table)
    if cached.on_disk and not bounded and arrays.save(path, request.header(cached.state), _pack(made)):
        _drop_old(request.folder)
    return _graphs.put(key, made)


def _derived(
    request: _GraphRequest, table: FactTable, *, without: NDArray[np.int64] | None = None, least_day: int = 0
) -> Parts:
    nodes = visible_nodes(table, request.bounds)
    live = live_facts(table, request.bounds, request.vocabulary, without=without, least_day=least_day)
    edges, out, back = table_edges(table, nodes, live, relations=len(request.vocabulary.relations))
    entity_ids = _entity_ids(table, nodes.rows)
    return Parts(
        as_of=date.fromordinal(live.day) if live.day else None,
        entity_ids=entity_ids,
        kinds=Kinds(nodes.kinds),
        about=nodes.about,
        fact_ids=Ids(table.fact_id),
        rows=EdgeRows.of(edges),
        outward=out,
        inward=back,
        anchored=anchored(nodes.about),
        outlines=Outlines.of(table, request.bounds, entity_ids, edges=edges),
    )


def _entity_ids(table: FactTable, rows: NDArray[np.int32]) -> Texts:
    all_ids = Texts(table.entity_texts, table.entity_ends)
    return all_ids if len(rows) == len(all_ids) else all_ids.picked(rows)


def _pack(parts: Parts) -> dict[str, NDArray[Any]]:
    ids, none = parts.entity_ids, np.empty(0, dtype=np.int32)
    return {
        "edges": parts.rows.records,
        "day": np.array([parts.as_of.toordinal() if parts.as_of else 0]),
        "nodes": np.arange(len(ids), dtype=np.int32) if ids.rows is None else ids.rows,
        "kinds": parts.kinds.codes,
        "about": parts.about,
        "outward": parts.outward.keys,
        "inward": parts.inward.keys,
        "inward_rows": none if parts.inward.rows is None else parts.inward.rows,
    }


def _unpack(found: Mapping[str, NDArray[Any]], table: FactTable, bounds: VisibleBounds) -> Parts:
    day, entity_ids, rows = int(found["day"][0]), _entity_ids(table, found["nodes"]), EdgeRows.mapped(found["edges"])
    return Parts(
        as_of=date.fromordinal(day) if day else None,
        entity_ids=entity_ids,
        kinds=Kinds(found["kinds"]),
        about=found["about"],
        fact_ids=Ids(table.fact_id),
        rows=rows,
        outward=Buckets(found["outward"], None),
        inward=Buckets(found["inward"], found["inward_rows"]),
        anchored=anchored(found["about"]),
        outlines=Outlines.of(table, bounds, entity_ids, edges=rows.columns),
    )


def _drop_old(folder: Path) -> None:
    """Delete all but the most recently compiled view files."""
    try:
        files = sorted(folder.glob("view-*[!w]"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        for path in files[:-_VIEW_FILES]:
            path.unlink(missing_ok=True)
    except OSError:
        return  # another process is deleting the same files


# ── changes since the table was read ───────────────────────────────────────────────────────────────────────────────


def _changed_entities(
    request: _GraphRequest, cached: _CachedTable, touched: Touched
) -> dict[str, Entity | None] | None:
    """Return the entities that may differ from the table, or None when nothing changed."""
    judged = request.source.judged
    if not touched.facts and not touched.entities and not judged:
        return None
    names = set(touched.entities) | set(judged)
    if judged:
        names |= _entities_about(cached.table, judged)
    found = {name: request.view.entity(name) for name in sorted(names)}
    known = {name: entity if entity and entity.id == name else None for name, entity in found.items()}
    # A merged entity is listed under the id it was merged into.
    return known | {entity.id: entity for entity in found.values() if entity and entity.id not in known}


def _entities_about(table: FactTable, judged: frozenset[str]) -> set[str]:
    """Return the entities of the table that are about a judged entity."""
    ids = Texts(table.entity_texts, table.entity_ends)
    nodes = _found(ids, judged)
    return {ids[row] for row in set(table.profile_entity[np.isin(table.profile_about, nodes)].tolist())}


def _apply_changes(
    request: _GraphRequest, cached: _CachedTable, touched: Touched, entities: dict[str, Entity | None]
) -> Parts:
    """Return the graph of a view: the table's graph with all later changes applied."""
    table, judged = cached.table, request.source.judged
    found = {fact.id: fact for fact in request.view.facts(ids=touched.facts | request.source.judged_facts)}
    # With a fact, all facts between its ends are read again: what several documents claim is weighed as a whole.
    beside = rows_between(table, _triples_of(table, found.values(), request.vocabulary))
    found |= {fact.id: fact for fact in request.view.facts(ids={*Ids(table.fact_id).at(beside)} - found.keys())}
    facts = sorted(found.values(), key=attrgetter("id"))
    rows = np.union1d(beside.astype(np.int64), _rows_of(table, touched.facts | request.source.judged_facts))
    if judged:
        nodes = _found(Texts(table.entity_texts, table.entity_ends), judged)
        rows = np.union1d(rows, np.flatnonzero(np.isin(table.source, nodes) | np.isin(table.target, nodes)))
    base = _graph(request, cached)
    newest = max((fact.last_published_on.toordinal() for fact in facts), default=0)
    if request.view.as_of is None and _day_changes(table, rows, base.as_of, newest):
        base = _derived(request, table, without=rows, least_day=newest)
    lost = np.zeros(len(table.fact_id), dtype=np.bool_)
    lost[rows] = True
    return patched(base, Changed(lost, lost[base.edges.fact], facts, entities), request.vocabulary)


def _triples_of(table: FactTable, facts: Collection[Fact], vocabulary: Vocabulary) -> NDArray[np.int64]:
    """Return the distinct (subject, object, relation) of those facts whose ends and relation are in the table."""
    relations = {name: number for number, name in enumerate(vocabulary.relations)}
    names = sorted({end for fact in facts for end in (fact.subject, fact.object)})
    node = _node_of(Texts(table.entity_texts, table.entity_ends), names)
    found = {
        (node[fact.subject], node[fact.object], relations[fact.relation])
        for fact in facts
        if fact.relation in relations and fact.subject in node and fact.object in node
    }
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 3)


def _day_changes(table: FactTable, rows: NDArray[np.int64], day: date | None, newest: int) -> bool:
    """Whether the reference day for fading has changed."""
    before = day.toordinal() if day else 0
    if newest >= before:
        return newest > before
    ends = table.evidence_ends
    return any(
        int(table.document_day[table.evidence_document[ends[row] : ends[row + 1]]].max()) >= before
        for row in rows.tolist()
    )


def _rows_of(table: FactTable, ids: frozenset[str]) -> NDArray[np.int64]:
    """Return the rows of those facts that are in the table."""
    if not ids or not len(table.fact_id):
        return np.empty(0, dtype=np.int64)
    wanted = np.array(sorted(identity.encode() for identity in ids), dtype=np.bytes_)
    place = np.minimum(np.searchsorted(table.fact_id, wanted, sorter=table.by_id), len(table.by_id) - 1)
    rows = table.by_id[place].astype(np.int64)
    return np.unique(rows[table.fact_id[rows] == wanted])


def _found(ids: Texts, names: frozenset[str]) -> NDArray[np.int32]:
    """Return the positions of those names that exist."""
    return np.array(sorted(_node_of(ids, names).values()), dtype=np.int32)


def _node_of(ids: Texts, names: Iterable[str]) -> dict[str, int]:
    """Return the position of each name that exists."""
    places = ((bisect_left(ids, name), name) for name in names)
    return {name: place for place, name in places if place < len(ids) and ids[place] == name}
