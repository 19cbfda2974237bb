"""Compiled graphs kept: in memory for the next question, and beside the base for the next process.

Beside a base `KB` lies the folder `KB-snapshot`: the table of all facts (kg/store/columns.py), and the graph of a few
views of it, as files that every process maps. They are made from one state of the base. After a commit nothing of this
is made anew: what the commits since have touched is asked for again and laid over (kg/graph/patch.py), until it is so
much that a new table is cheaper. A small base is compiled in memory and leaves no files; so does one in a folder that
cannot be written to. Deleting the folder is harmless.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kg.graph import arrays
from kg.graph.edges import Buckets, EdgeRows, Ids, Kinds
from kg.graph.layout import anchored, table_edges
from kg.graph.patch import Changed, Parts, compiled, patched
from kg.graph.view_columns import Live, Nodes, VisibleBounds, live_facts, visible_nodes
from kg.ids import digest
from kg.store.columns import FactTable, State, TableSource, Texts, Touched
from kg.store.sight import microseconds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeVar

    from numpy.typing import NDArray

    from kg.model import Entity
    from kg.relations import Vocabulary
    from kg.store.columns import Reader
    from kg.store.port import View

    T = TypeVar("T")

_FORMAT = 2
_WORTH_A_FILE = 20_000  # facts
_PATCHED_AT_MOST = 20_000  # facts; above, and above a twentieth of all, a new table is read
_LEAST_PATCH = 1_000
_GRAPHS, _TABLES, _VIEW_FILES = 8, 2, 8
_NOTHING = Touched(frozenset(), frozenset())


class _Kept:
    """The last few of something that is costly to make."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._found: OrderedDict[object, Any] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: object) -> Any:
        with self._guard:
            if key in self._found:
                self._found.move_to_end(key)
            return self._found.get(key)

    def put(self, key: object, made: T) -> T:
        with self._guard:
            self._found[key] = made
            self._found.move_to_end(key)
            while len(self._found) > self._room:
                self._found.popitem(last=False)
        return made

    def clear(self) -> None:
        with self._guard:
            self._found.clear()


_graphs, _tables = _Kept(_GRAPHS), _Kept(_TABLES)


def forget() -> None:
    """Drop what is kept in memory; files stay, as for another process."""
    _graphs.clear()
    _tables.clear()


@dataclass(frozen=True, slots=True)
class _Held:
    """A table, the state of the base it was read from, and whether it lies in a file."""

    table: FactTable
    state: State
    filed: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """One request for a graph."""

    view: View
    source: TableSource
    words: Vocabulary
    spelled: str
    sight: VisibleBounds

    @property
    def folder(self) -> Path:
        """Where files go."""
        return Path(f"{self.source.path}-snapshot")

    def key(self, state: State) -> tuple[object, ...]:
        """What the graph depends on."""
        return str(self.source.path), state, self.spelled, self.sight

    def header(self, state: State) -> dict[str, Any]:
        """What a file must have been made from."""
        return {"format": _FORMAT, "revision": state.revision, "stamp": state.stamp, "vocabulary": self.spelled}


def parts_of(view: View, words: Vocabulary) -> Parts:
    """Return the compiled graph of a view."""
    source = getattr(view, "source", None)
    if not isinstance(source, TableSource):
        return compiled(view, words)
    day = None if view.as_of is None else view.as_of.toordinal()
    read = None if view.known_at is None else microseconds(view.known_at)
    asked = _Asked(view, source, words, _spelled(words), VisibleBounds(day, read, source.period))
    with source.reading() as reader:
        state = reader.state()
        found: Parts | None = _graphs.get(asked.key(state))
        if found is not None:
            return found
        held, touched = _table(asked, reader, state)
    changed = _changed_entities(asked, held, touched)
    made = _graph(asked, held) if changed is None else _laid_over(asked, held, touched, changed)
    return _graphs.put(asked.key(state), made)


def _spelled(words: Vocabulary) -> str:
    """Hash what of a vocabulary a compiled graph depends on."""
    return digest(
        f"{name} {r.cardinality} {r.one_per} {r.half_life} {r.weight!r}" for name, r in words.relations.items()
    )


def _table(asked: _Asked, reader: Reader, state: State) -> tuple[_Held, Touched]:
    """Return a table of the base, and what has been touched since it was read."""
    place = str(asked.source.path), asked.spelled
    held: _Held | None = _tables.get(place)
    for known in (held, _filed(asked)):
        if known is None:
            continue
        touched = _NOTHING if known.state == state else reader.touched(known.state, asked.words)
        few = max(_LEAST_PATCH, min(len(known.table.fact_id) // 20, _PATCHED_AT_MOST))
        if touched is not None and len(touched.facts) <= few:
            return _tables.put(place, known), touched
    table = reader.table(asked.words)
    filed = len(table.fact_id) >= _WORTH_A_FILE and arrays.save(
        asked.folder / "table", asked.header(state), {f.name: getattr(table, f.name) for f in fields(FactTable)}
    )
    return _tables.put(place, _Held(table, state, filed)), _NOTHING


def _filed(asked: _Asked) -> _Held | None:
    """Map the table that lies beside the base, when it was made with this vocabulary."""
    path = asked.folder / "table"
    key = arrays.key_of(path)
    if key is None:
        return None
    state = State(int(key.get("revision", -1)), str(key.get("stamp", "")))
    found = arrays.load(path, asked.header(state))
    if found is None or found.keys() != {field.name for field in fields(FactTable)}:
        return None
    return _Held(FactTable(**found), state, filed=True)


def _graph(asked: _Asked, held: _Held) -> Parts:
    """Return the graph of a view as the table has it."""
    key = ("as the table has it", asked.key(held.state))
    found: Parts | None = _graphs.get(key)
    if found is not None:
        return found
    bounded = asked.sight.read is not None or asked.sight.period is not None
    path = asked.folder / f"view-{asked.view.as_of or 'latest'}"
    if held.filed and not bounded:
        mapped = arrays.load(path, asked.header(held.state))
        if mapped is not None:
            return _graphs.put(key, _unpacked(mapped, held.table))
    made = _derived(asked, held.table)
    if held.filed and not bounded and arrays.save(path, asked.header(held.state), _packed(made)):
        _drop_old(asked.folder)
    return _graphs.put(key, made)


def _derived(asked: _Asked, table: FactTable, *, without: NDArray[np.int64] | None = None, least_day: int = 0) -> Parts:
    nodes = visible_nodes(table, asked.sight)
    live = live_facts(table, asked.sight, asked.words, without=without, least_day=least_day)
    return _put_together(nodes, live, table, len(asked.words.relations))


def _put_together(nodes: Nodes, live: Live, table: FactTable, relations: int) -> Parts:
    edges, out, back = table_edges(table, nodes, live, relations=relations)
    return Parts(
        as_of=date.fromordinal(live.day) if live.day else None,
        entity_ids=_entity_ids(table, nodes.rows),
        kinds=Kinds(nodes.kinds),
        about=nodes.about,
        fact_ids=Ids(table.fact_id),
        rows=EdgeRows.of(edges),
        outward=out,
        inward=back,
        anchored=anchored(nodes.about),
    )


def _entity_ids(table: FactTable, rows: NDArray[np.int32]) -> Texts:
    every = Texts(table.entity_texts, table.entity_ends)
    return every if len(rows) == len(every) else every.picked(rows)


def _packed(parts: Parts) -> dict[str, NDArray[Any]]:
    ids, none = parts.entity_ids, np.empty(0, dtype=np.int32)
    return {
        "edges": parts.rows.records.view(f"V{parts.rows.records.itemsize}"),
        "day": np.array([parts.as_of.toordinal() if parts.as_of else 0]),
        "nodes": np.arange(len(ids), dtype=np.int32) if ids.rows is None else ids.rows,
        "kinds": parts.kinds.codes,
        "about": parts.about,
        "outward": parts.outward.keys,
        "inward": parts.inward.keys,
        "inward_rows": none if parts.inward.rows is None else parts.inward.rows,
    }


def _unpacked(found: Mapping[str, NDArray[Any]], table: FactTable) -> Parts:
    day = int(found["day"][0])
    return Parts(
        as_of=date.fromordinal(day) if day else None,
        entity_ids=_entity_ids(table, found["nodes"]),
        kinds=Kinds(found["kinds"]),
        about=found["about"],
        fact_ids=Ids(table.fact_id),
        rows=EdgeRows.mapped(found["edges"]),
        outward=Buckets(found["outward"], None),
        inward=Buckets(found["inward"], found["inward_rows"]),
        anchored=anchored(found["about"]),
    )


def _drop_old(folder: Path) -> None:
    """Keep the files of the views that were compiled last."""
    try:
        files = sorted(folder.glob("view-*[!w]"), key=lambda path: (path.stat().st_mtime_ns, path.name))
        for path in files[:-_VIEW_FILES]:
            path.unlink(missing_ok=True)
    except OSError:
        return  # another process tidies up at the same time


# ── what changed since ─────────────────────────────────────────────────────────────────────────────────────────────


def _changed_entities(asked: _Asked, held: _Held, touched: Touched) -> dict[str, Entity | None] | None:
    """Return the entities that may look different from the table; None when nothing at all does."""
    judged = asked.source.judged
    if not touched.facts and not touched.entities and not judged:
        return None
    names = set(touched.entities) | set(judged)
    if judged:
        names |= _about(held.table, judged)
    found = {name: asked.view.entity(name) for name in sorted(names)}
    known = {name: entity if entity and entity.id == name else None for name, entity in found.items()}
    # One that goes by another's name stands under that.
    return known | {entity.id: entity for entity in found.values() if entity and entity.id not in known}


def _about(table: FactTable, judged: frozenset[str]) -> set[str]:
    """Return the entities of the table that are about a judged one."""
    ids = Texts(table.entity_texts, table.entity_ends)
    nodes = _found(ids, judged)
    return {ids[row] for row in set(table.profile_entity[np.isin(table.profile_about, nodes)].tolist())}


def _laid_over(asked: _Asked, held: _Held, touched: Touched, entities: dict[str, Entity | None]) -> Parts:
    """Return the graph of a view with what changed laid over what the table has."""
    table, judged = held.table, asked.source.judged
    facts = list(asked.view.facts(ids=touched.facts | asked.source.judged_facts))
    rows = _rows_of(table, touched.facts | asked.source.judged_facts)
    if judged:
        nodes = _found(Texts(table.entity_texts, table.entity_ends), judged)
        rows = np.union1d(rows, np.flatnonzero(np.isin(table.source, nodes) | np.isin(table.target, nodes)))
    base = _graph(asked, held)
    newest = max((fact.last_published_on.toordinal() for fact in facts), default=0)
    if asked.view.as_of is None and _moves(table, rows, base.as_of, newest):
        base = _derived(asked, table, without=rows, least_day=newest)
    lost = np.zeros(len(table.fact_id), dtype=np.bool_)
    lost[rows] = True
    return patched(base, Changed(lost[base.edges.fact], facts, entities), asked.words)


def _moves(table: FactTable, rows: NDArray[np.int64], day: date | None, newest: int) -> bool:
    """Whether the day that weights fade to is another one now."""
    before = day.toordinal() if day else 0
    if newest >= before:
        return newest > before
    ends = table.evidence_ends
    return any(
        int(table.document_day[table.evidence_document[ends[row] : ends[row + 1]]].max()) >= before
        for row in rows.tolist()
    )


def _rows_of(table: FactTable, ids: frozenset[str]) -> NDArray[np.int64]:
    """Return the rows of the facts that the table has."""
    if not ids or not len(table.fact_id):
        return np.empty(0, dtype=np.int64)
    wanted = np.array(sorted(identity.encode() for identity in ids), dtype=np.bytes_)
    place = np.minimum(np.searchsorted(table.fact_id, wanted, sorter=table.by_id), len(table.by_id) - 1)
    rows = table.by_id[place].astype(np.int64)
    return np.unique(rows[table.fact_id[rows] == wanted])


def _found(ids: Texts, names: frozenset[str]) -> NDArray[np.int32]:
    """Return the positions of the names that are there."""
    places = ((bisect_left(ids, name), name) for name in sorted(names))
    return np.array([place for place, name in places if place < len(ids) and ids[place] == name], dtype=np.int32)
