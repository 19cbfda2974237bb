"""The same base in SQLite and in Neo4j: every question has the same answer, and the same graph."""

from __future__ import annotations

from contextlib import closing
from datetime import date
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kg.errors import QuestionError
from kg.graph.edges import Edges
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
    local, _ = lenses("now")
    silent = [name for name, question in QUESTIONS.items() if isinstance(outcome(question, local), str)]
    assert silent == []


@pytest.mark.parametrize("seen", VIEWS)
def test_the_compiled_graph_is_that_of_the_local_base(bases: tuple[Store, Store], seen: str):
    local, served = (Snapshot.compile(VIEWS[seen](store), vocabulary()) for store in bases)
    assert (list(served.entity_ids), list(served.kinds)) == (list(local.entity_ids), list(local.kinds))
    assert np.array_equal(served.about, local.about)
    assert served.as_of == local.as_of
    expected, found = local.edges(), served.edges()
    assert served.facts_of(found) == local.facts_of(expected)
    for name in set(Edges.__slots__) - {"fact"}:
        assert np.array_equal(getattr(found, name), getattr(expected, name)), name


def test_a_graph_is_compiled_once_for_a_state(bases: tuple[Store, Store]):
    served = bases[1]
    first = Snapshot.compile(served.view(), vocabulary())
    assert Snapshot.compile(served.view(), vocabulary()).parts is first.parts
    with served.writer() as writer:
        writer.write(reading(900, 0, fact(CATL, "uses", "product:从未提过的材料")))
    later = Snapshot.compile(served.view(), vocabulary())
    assert later.index_of("product:从未提过的材料") is not None
    with served.writer() as writer:
        writer.remove("doc:900")
