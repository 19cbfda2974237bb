"""The same base in SQLite and in Neo4j: every question has the same answer, and every hop the same edges."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kg.errors import QuestionError
from kg.graph.edges import Edges
from kg.graph.remote_graph import ServedGraph, served_graph
from kg.graph.snapshot import Snapshot
from kg.interop.copying import copy, verify
from kg.model import Community, Run
from kg.period import since, year
from kg.query.ask.answer import ask
from kg.query.browse.profile import profile
from kg.query.history import history
from kg.query.passages import passages
from kg.query.resolve import near_names, resolve
from kg.query.session import QuerySession
from kg.query.themes.listing import theme, themes
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, impact
from kg.query.walks.relate import relate
from kg.relations import vocabulary
from kg.store.open import open_store
from tests.contracts.readings import CATL, fact, reading
from tests.neo4j.bases import demo, fill
from tests.neo4j.server import emptied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.store.port import Store, View
    from tests.neo4j.server import Server

pytestmark = pytest.mark.neo4j

VIEWS: dict[str, Callable[[Store], View]] = {
    "now": lambda store: store.view(),
    "a day": lambda store: store.view(as_of=date(2024, 6, 30)),
    "a period": lambda store: store.view().during(year(2025)),
    "a day and a period": lambda store: store.view(as_of=date(2025, 6, 30)).during(since(date(2025, 1, 1))),
}
QUESTIONS: dict[str, Callable[[QuerySession], object]] = {
    "chain of 光伏": lambda session: chain(session, "光伏"),
    "chain of 锂电池": lambda session: chain(session, "锂电池"),
    "impact of 碳酸锂价格": lambda session: impact(session, "碳酸锂价格", -1),
    "impact of 生猪价格": lambda session: impact(session, "生猪价格"),
    "causes of 碳酸锂价格": lambda session: causes(session, "碳酸锂价格"),
    "relate 通威股份 and 隆基绿能": lambda session: relate(session, "通威股份", "隆基绿能"),
    "relate 宁德时代 and 碳酸锂": lambda session: relate(session, "宁德时代", "碳酸锂"),
    "profile of 宁德时代": lambda session: profile(session, "300750"),
    "history": lambda session: history(session, "生猪价格", "温氏股份"),
    "resolve": lambda session: [resolve(session, "光伏产业链"), near_names(session, "隆基绿")],
    "passages": lambda session: passages(session.view, "碳酸锂价格下跌"),
    "themes": lambda session: [themes(session.view), theme(session, "theme:one")],
    "ask for a chain": lambda session: ask(session, "光伏产业链上下游有哪些公司？"),
    "ask for an impact": lambda session: ask(session, "猪周期拐点会影响哪些板块？"),
    "ask for history": lambda session: ask(session, "历史上加息周期银行板块怎么表现？"),
}


@pytest.fixture(scope="module")
def bases(neo4j_server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    readings = demo()
    path = tmp_path_factory.mktemp("answers") / "kb.liantu"
    with pytest.MonkeyPatch.context() as patch, closing(open_store(path, create=True)) as local:
        opened = emptied(neo4j_server, patch)
        served = next(opened)
        members = tuple(sorted({end for item in readings for f in item.facts for end in (f.subject, f.object)}))[:40]
        fill(local, readings)
        with local.writer() as writer:
            writer.publish(Run("run:one", date(2022, 1, 1), communities=(Community("theme:one", 0, "", members),)))
        copy(local, served)
        verify(local, served)
        yield local, served
        opened.close()


@pytest.fixture(scope="module")
def lenses(bases: tuple[Store, Store]) -> Callable[[str], tuple[QuerySession, QuerySession]]:
    """Give for each view what both stores are asked through; made once, as a service does."""
    local, served = bases
    return cache(lambda seen: (QuerySession(VIEWS[seen](local)), QuerySession(VIEWS[seen](served))))


def outcome(question: Callable[[QuerySession], object], session: QuerySession) -> object:
    """Return the answer, or the error that says there is none."""
    try:
        return question(session)
    except QuestionError as error:
        return str(error)


@pytest.mark.parametrize("seen", VIEWS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_has_the_same_answer(
    lenses: Callable[[str], tuple[QuerySession, QuerySession]], question: str, seen: str
):
    local, served = (outcome(QUESTIONS[question], session) for session in lenses(seen))
    assert served == local


def test_the_questions_have_answers(lenses: Callable[[str], tuple[QuerySession, QuerySession]]):
    """Equal answers are empty words when they say that nothing was found."""
    local, served = lenses("now")
    silent = [name for name, question in QUESTIONS.items() if isinstance(outcome(question, local), str)]
    assert silent == []
    assert isinstance(served.graph, ServedGraph)


@pytest.mark.parametrize("seen", VIEWS)
def test_a_hop_gives_the_edges_of_a_snapshot(bases: tuple[Store, Store], seen: str):
    words = vocabulary()
    local, served = (VIEWS[seen](store) for store in bases)
    whole, hops = Snapshot.compile(local, words), served_graph(served, words)
    assert isinstance(hops, ServedGraph)
    assert (list(hops.entity_ids), list(hops.kinds)) == (list(whole.entity_ids), list(whole.kinds))
    assert np.array_equal(hops.about, whole.about)
    assert hops.as_of == whole.as_of
    nodes = np.arange(len(whole.entity_ids))
    for direction in ("out", "in"):
        for limit in (1, 3, 1000):
            same_edges(whole, hops, nodes, direction=direction, limit_per_node=limit)
        narrow = {"limit_per_node": 2, "during": year(2025), "published_by": date(2025, 9, 30)}
        same_edges(whole, hops, nodes, direction=direction, **narrow)
    assert [hops.degree(node) for node in range(0, len(nodes), 211)] == [
        whole.degree(node) for node in range(0, len(nodes), 211)
    ]


def same_edges(whole: Snapshot, hops: ServedGraph, nodes: object, **asked: object) -> None:
    words = vocabulary()
    expected = whole.expand(nodes, words.relations, **asked)  # type: ignore[arg-type]
    found = hops.expand(nodes, words.relations, **asked)  # type: ignore[arg-type]
    assert hops.facts_of(found) == whole.facts_of(expected)
    for name in set(Edges.__slots__) - {"fact"}:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_what_was_walked_is_not_asked_again(
    lenses: Callable[[str], tuple[QuerySession, QuerySession]], monkeypatch: pytest.MonkeyPatch
):
    _, session = lenses("now")
    first = relate(session, "通威股份", "隆基绿能")
    asked = []
    hops = type(session.graph._hops)
    strongest = hops.strongest
    monkeypatch.setattr(hops, "strongest", lambda *args, **kwargs: asked.append(1) or strongest(*args, **kwargs))
    assert relate(session, "通威股份", "隆基绿能") == first
    assert asked == []


def test_hops_see_the_state_they_began_with(bases: tuple[Store, Store]):
    served = bases[1]
    graph = served_graph(served.view(), vocabulary())
    node = int(graph.index_of(CATL))
    with served.writer() as writer:
        writer.write(reading(900, 0, fact(CATL, "uses", "product:从未提过的材料")))
        found = graph.facts_of(graph.expand([node], ["uses"], "out", limit_per_node=1000))
        assert all(not item.object.endswith("从未提过的材料") for item in served.view().facts(ids=found))
        writer.remove("doc:900")
