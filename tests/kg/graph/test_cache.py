"""Compiled graphs kept in files and patched after commits, against graphs compiled fact by fact."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace
from datetime import timedelta
from math import prod
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from kg.errors import JudgementRefused
from kg.graph import arrays
from kg.graph import cache as archive
from kg.graph import edges as arrays_of_edges
from kg.graph.edges import Edges
from kg.graph.outlines import Outline
from kg.graph.snapshot import Snapshot
from kg.judgement import Judgement, Verdict
from kg.model import Entity, Kind
from kg.period import month, quarter
from kg.query.browse.profile import profile_of
from kg.query.browse.stats import stats
from kg.query.session import QuerySession
from kg.relations import vocabulary
from kg.store.open import open_store
from kg.store.sqlite.columns import SqliteSource
from tests.contracts.readings import BYD, CATL, LITHIUM, MARGIN, READ, day, denied, fact, planned, reading, reported
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from pathlib import Path

    from kg.model import Reading
    from kg.store.port import Store, View

WORDS = vocabulary()
_CLAIMS = (
    reported(20),
    reported(22),
    reported(22, valid=quarter(2024, 1)),
    planned(reported(25)),
    denied(reported(20)),
    fact(CATL, "uses", LITHIUM),
    denied(fact(CATL, "uses", LITHIUM)),
    fact(BYD, "subsidiary_of", CATL),
    fact(BYD, "subsidiary_of", "org:母公司"),
    fact(BYD, "competes_with", CATL),
    fact(LITHIUM, "affects", MARGIN, sign=-1, qualifiers=(("cause_direction", "down"), ("effect_direction", "up"))),
    fact("product:铜箔", "upstream_of", LITHIUM, valid=month(2024, 2)),
)
_ENTITIES = (
    Entity("indicator:碳酸锂价格", Kind.INDICATOR, "碳酸锂价格", about=LITHIUM),
    Entity(LITHIUM, Kind.PRODUCT, "锂盐"),
    Entity(BYD, Kind.COMPANY, "比亚迪"),
)


@st.composite
def _readings(draw: st.DrawFn, number: int) -> Reading:
    said = reading(
        number,
        draw(st.integers(0, 6)),
        *draw(st.lists(st.sampled_from(_CLAIMS), max_size=4)),
        speaker=draw(st.sampled_from(("", "甲", "乙"))),
        entities=tuple(draw(st.lists(st.sampled_from(_ENTITIES), max_size=2))),
        copies=tuple(draw(st.lists(st.integers(0, max(number - 1, 0)), max_size=1))),
        read=READ + timedelta(days=draw(st.integers(0, 2))),
    )
    sure = st.sampled_from((1.0, 0.9, 0.7, 0.3))
    facts = (
        replace(each, evidence=tuple(replace(item, confidence=draw(sure)) for item in each.evidence))
        for each in said.facts
    )
    return replace(said, facts=tuple(facts))


_HISTORIES = st.integers(2, 7).flatmap(lambda count: st.tuples(*(_readings(number) for number in range(count))))


def laid_out(view: View) -> dict[str, Any]:
    """Return all that a snapshot can say."""
    snapshot = Snapshot.compile(view, WORDS)
    edges = snapshot.edges()
    ids = list(snapshot.entity_ids)
    found: dict[str, Any] = {
        "day": snapshot.as_of,
        "entities": ids,
        "kinds": list(snapshot.kinds),
        "about": snapshot.about.tolist(),
        "anchored": [snapshot.about_of(node) for node in range(len(ids))],
        "degrees": [snapshot.degree(node) for node in range(len(ids))],
        "edges": spelled(snapshot, edges),
    }
    for direction in ("out", "in"):
        for limit in (1, 2, 9):
            few = snapshot.expand(range(len(ids)), WORDS.relations, direction, limit_per_node=limit)  # type: ignore[arg-type]
            found[f"{direction} {limit}"] = spelled(snapshot, few)
        alone = [
            snapshot.expand([node], WORDS.relations, direction, limit_per_node=2)  # type: ignore[arg-type]
            for node in range(len(ids))
        ]
        found[f"{direction} alone"] = [spelled(snapshot, few) for few in alone]
    return found


def outlined(view: View) -> list[list[object]]:
    """Return the outlines of all facts by their ends and by each end, from the columns or else from the facts."""
    snapshot = Snapshot.compile(view, WORDS)
    numbers = {name: number for number, name in enumerate(snapshot.relation_names)}
    node = {name: number for number, name in enumerate(snapshot.entity_ids)}
    facts = [(fact, (node[fact.subject], numbers[fact.relation], node[fact.object])) for fact in view.facts()]
    known = snapshot.outlines
    if known is None:
        between = [Outline.of(fact, ends) for fact, ends in facts]
        at = [[Outline.of(fact, ends) for fact, ends in facts if each in (ends[0], ends[2])] for each in node.values()]
    else:
        between = known.between({ends for _, ends in facts})
        at = [known.at(each) for each in node.values()]
    return [weighed(between), *map(weighed, at)]


def answered(view: View) -> list[object]:
    """Return answers that read columns where there are some."""
    session = QuerySession(view)
    return [stats(session), *(profile_of(session, entity) for entity in view.entities())]


def weighed(outlines: list[Outline]) -> list[object]:
    """Return outlines as ranking sees them: which documents doubt a claim does not matter, how much they do does."""
    documents: dict[object, dict[object, float]] = {}
    for outline in outlines:
        doubts = documents.setdefault(outline.claim, {})
        for document, doubt in outline.doubts:
            doubts[document] = min(doubts.get(document, 1.0), doubt)
    products = {claim: prod(doubts.values()) for claim, doubts in documents.items()}
    return sorted((*outline._replace(doubts=()), products[outline.claim]) for outline in outlines)


def spelled(snapshot: Snapshot, edges: Any) -> list[tuple[object, ...]]:
    names = [name for name in Edges.__slots__ if name != "fact"]
    columns = [getattr(edges, name).tolist() for name in names]
    return list(zip(snapshot.facts_of(edges), *columns, strict=True))


def write(store: Store, item: Reading) -> None:
    with store.writer() as writer:
        writer.write(item)


def remove(store: Store, item: Reading) -> None:
    with store.writer() as writer:
        writer.remove(item.document.id)


_JUDGED = (
    (BYD, CATL, ""),
    ("org:母公司", CATL, ""),
    ("product:铜箔", LITHIUM, ""),
    (LITHIUM, "product:锂盐", "锂盐"),
    (CATL, "org:别家", "宁德时代"),
)


def judge(store: Store, subject: str, object_: str, name: str) -> None:
    verdict = Verdict.SPLIT if name else Verdict.MERGE
    said = Judgement("", verdict, subject, day(2), READ, object=object_, name=name, by="甲", why="查过")
    with store.writer() as writer, suppress(JudgementRefused):
        writer.judge(said)


@pytest.fixture
def filed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small bases have files too."""
    monkeypatch.setattr(archive, "_WORTH_A_FILE", 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=_HISTORIES, choice=st.randoms(use_true_random=False), as_of=st.integers(0, 6))
def test_after_each_commit_the_patched_graph_is_the_one_compiled_anew(
    tmp_path_factory: pytest.TempPathFactory, filed: None, history: tuple[Reading, ...], choice: Any, as_of: int
):
    assert filed is None
    reference = MemoryStore()
    with closing(open_store(tmp_path_factory.mktemp("kb") / "kb.liantu", create=True)) as store:
        assert isinstance(store.view().source, SqliteSource)  # type: ignore[attr-defined]
        for count, item in enumerate(history):
            for one in (store, reference):
                write(one, item)
            if choice.random() < 0.3:
                gone = choice.choice(history[: count + 1])
                for one in (store, reference):
                    remove(one, gone)
            if choice.random() < 0.3:
                ends = choice.choice(_JUDGED)
                for one in (store, reference):
                    judge(one, *ends)
            for view in ({}, {"as_of": day(as_of)}, {"known_at": READ + timedelta(days=1)}):
                assert laid_out(store.view(**view)) == laid_out(reference.view(**view)), view
                assert outlined(store.view(**view)) == outlined(reference.view(**view)), view
                assert answered(store.view(**view)) == answered(reference.view(**view)), view
            during = month(2024, 1)
            assert laid_out(store.view().during(during)) == laid_out(reference.view().during(during))
            assert outlined(store.view().during(during)) == outlined(reference.view().during(during))


@pytest.fixture
def base(tmp_path: Path, filed: None) -> Path:
    assert filed is None
    path = tmp_path / "kb.liantu"
    with closing(open_store(path, create=True)) as store:
        for number, claim in enumerate(_CLAIMS):
            write(store, reading(number, number % 5, claim, entities=_ENTITIES))
    return path


def asked(path: Path) -> dict[str, Any]:
    with closing(open_store(path)) as store:
        return laid_out(store.view())


def test_another_process_maps_what_the_first_has_compiled(base: Path, monkeypatch: pytest.MonkeyPatch):
    expected = asked(base)
    folder = base.with_name("kb.liantu-snapshot")
    assert {path.name for path in folder.iterdir()} == {"table", "view-latest"}
    archive.forget()
    monkeypatch.setattr(archive, "_derived", lambda *_: pytest.fail("compiled again"))
    with closing(open_store(base)) as store:
        assert laid_out(store.view()) == expected
        weight = Snapshot.compile(store.view(), WORDS).edges().weight
        assert isinstance(weight.base.base, np.memmap) or isinstance(weight.base, np.memmap)


def test_a_commit_makes_nothing_anew(base: Path, monkeypatch: pytest.MonkeyPatch):
    asked(base)
    with closing(open_store(base)) as store:
        write(store, reading(90, 4, fact("org:新", "uses", LITHIUM)))
        monkeypatch.setattr(archive, "_derived", lambda *_, **__: pytest.fail("derived again"))
        snapshot = Snapshot.compile(store.view(), WORDS)
    assert snapshot.parts.patch is not None
    assert snapshot.index_of("org:新") is not None


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign", "text"])
def test_a_damaged_or_foreign_file_is_made_anew(base: Path, damage: str):
    expected = asked(base)
    for path in base.with_name("kb.liantu-snapshot").iterdir():
        content = bytearray(path.read_bytes())
        if damage == "cut":
            content = content[: len(content) // 2]
        elif damage == "flipped":
            content[-70] ^= 1
        elif damage == "empty":
            content = bytearray()
        elif damage == "text":
            content = bytearray(b"\x93NUMPY\x01\x00" + b"\xff" * 40)
        else:
            header = {"format": 1, "revision": 12, "stamp": "another", "vocabulary": ""}
            arrays.save(path, header, {"weight": np.zeros(3)})
            continue
        path.write_bytes(bytes(content))
    archive.forget()
    assert asked(base) == expected
    archive.forget()
    assert asked(base) == expected


def test_another_base_of_the_same_age_is_not_taken_for_the_first(base: Path, tmp_path: Path):
    asked(base)
    other = tmp_path / "other.liantu"
    with closing(open_store(other, create=True)) as store:
        for number, claim in enumerate(_CLAIMS):
            write(store, reading(number, 5, replace(claim), speaker="别人"))
    expected = asked(other)
    assert expected != asked(base)
    other.replace(base)
    archive.forget()
    assert asked(base) == expected


def test_a_folder_that_cannot_be_written_to_costs_only_the_files(base: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "denied")

    monkeypatch.setattr(type(base), "mkdir", refused)
    assert asked(base)["edges"]
    monkeypatch.undo()
    assert not base.with_name("kb.liantu-snapshot").exists()


def test_what_a_killed_process_left_half_written_is_swept_away(base: Path):
    folder = base.with_name("kb.liantu-snapshot")
    folder.mkdir()
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    left, alive = folder / f"table.{gone.stdout.decode().strip()}.new", folder / f"table.{os.getppid()}.new"
    for path in (left, alive):
        path.write_bytes(b"half")
    expected = asked(base)
    assert (left.exists(), alive.exists()) == (False, True)
    archive.forget()
    assert asked(base) == expected


def test_files_of_old_views_are_dropped(base: Path):
    with closing(open_store(base)) as store:
        for number in range(12):
            Snapshot.compile(store.view(as_of=day(number)), WORDS)
    assert len(list(base.with_name("kb.liantu-snapshot").glob("view-*"))) == archive._VIEW_FILES


@given(
    edges=st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["upstream_of", "affects"]), st.integers(0, 3), st.integers(0, 9)),
        max_size=30,
    ),
    frontier=st.sets(st.integers(0, 3)),
    limit=st.integers(0, 3),
    start=st.integers(0, 9),
    published=st.none() | st.integers(0, 9),
    at_once=st.sampled_from([0, 5, 4096]),
)
def test_expand_in_a_period_is_a_plain_walk_over_the_facts(
    edges: list[tuple[int, str, int, int]],
    frontier: set[int],
    limit: int,
    start: int,
    published: int | None,
    at_once: int,
):
    """The first k of a bucket that hold in the period, whatever lies before them."""
    store = MemoryStore()
    for number, (one, relation, other, month_) in enumerate(edges):
        claim = fact(f"product:{one}", relation, f"product:{other}", valid=month(2024, 1 + month_))
        write(store, reading(number, month_, claim, entities=()))
    snapshot = Snapshot.compile(store.view(), WORDS)
    whole = snapshot.edges()
    wanted = month(2024, 1 + start)
    said_by = None if published is None else day(published)
    nodes = sorted(n for end in frontier if (n := snapshot.index_of(f"product:{end}")) is not None)
    with patch.object(arrays_of_edges, "_AT_ONCE", at_once):
        found = snapshot.expand(
            nodes, ["upstream_of", "affects"], "out", limit_per_node=limit, during=wanted, published_by=said_by
        )
    expected = []
    for node in nodes:
        for number, name in enumerate(WORDS.relations):
            here = [
                row
                for row in range(len(whole))
                if whole.source[row] == node
                and whole.relation[row] == number
                and name in {"upstream_of", "affects"}
                and whole.start[row] < wanted.end.toordinal()  # type: ignore[union-attr]
                and whole.end[row] > wanted.start.toordinal()  # type: ignore[union-attr]
                and (said_by is None or whole.published[row] <= said_by.toordinal())
            ]
            expected += [int(whole.fact[row]) for row in here[:limit]]
    assert found.fact.tolist() == expected
