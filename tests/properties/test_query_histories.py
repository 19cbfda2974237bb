"""No look-ahead: what was published after a day changes no answer as of that day (DESIGN §1.2)."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import hypothesis.strategies as st
from hypothesis import given

from communities.weekly import run_week
from kg.errors import JudgementRefused, QuestionError
from kg.judgement import Judgement, Verdict
from kg.model import Alias, Entity, Kind, Modality, Polarity, Value
from kg.query.ask.answer import ask
from kg.query.browse.profile import profile
from kg.query.history import history
from kg.query.passages import passages
from kg.query.resolve import candidates, names_in, near_names
from kg.query.session import QuerySession
from kg.query.themes.listing import theme, themes
from kg.query.walks.chain import chain
from kg.query.walks.impact import causes, exposures, impact
from kg.query.walks.relate import relate
from kg.store.rules.contradiction import contradicting
from tests.kg.query.world import (
    COST,
    CUT,
    LONGI,
    MARGIN,
    MODULE,
    PRICE,
    PV,
    READ,
    SILICON,
    TONGWEI,
    WAFER,
    claim,
    filled,
    moves,
    paper,
    solar,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.model import Reading
    from kg.store.port import Store, View

_CLAIMS = [
    claim(SILICON, "upstream_of", WAFER),
    claim(WAFER, "upstream_of", MODULE),
    claim(MODULE, "upstream_of", SILICON),
    claim(MODULE, "belongs_to", PV),
    claim(LONGI, "produces", MODULE),
    claim(LONGI, "produces", MODULE, polarity=Polarity.NEGATIVE),
    claim(TONGWEI, "produces", SILICON, modality=Modality.PLANNED),
    claim(TONGWEI, "supplies", LONGI),
    claim(LONGI, "subsidiary_of", TONGWEI),
    claim(LONGI, "subsidiary_of", "org:母公司"),
    moves(CUT, PRICE, 0, 1),
    moves(PRICE, COST, -1, -1),
    moves(PRICE, COST, 1, -1),
    moves(PRICE, COST, -1, -1, polarity=Polarity.NEGATIVE),
    moves(COST, MARGIN, -1, 1),
    moves(MARGIN, LONGI, 1, 1),
    claim(LONGI, "reports", "indicator:毛利率", value=Value(18.0, "%")),
    claim(LONGI, "reports", "indicator:毛利率", value=Value(20.0, "%")),
]
_NAMES = [
    Entity(LONGI, Kind.COMPANY, "隆基股份", codes=("601012.SH",)),
    Entity(LONGI, Kind.COMPANY, "隆基绿能", (Alias("隆基股份"),), ("601012.SH",)),
    Entity("product:硅料粉", Kind.PRODUCT, "硅料粉"),
    Entity("indicator:电池级硅料价格", Kind.INDICATOR, "电池级硅料价格", about=SILICON),
]
_DAY = date(2024, 1, 1)
_JUDGEMENTS = [
    (Verdict.MERGE, TONGWEI, LONGI, {}),
    (Verdict.MERGE, WAFER, "product:硅料粉", {}),
    (Verdict.MERGE, "indicator:电池级硅料价格", PRICE, {}),
    (Verdict.SPLIT, LONGI, "org:隆基股份", {"name": "隆基股份"}),
    (Verdict.SPLIT, LONGI, TONGWEI, {"name": "隆基绿能", "documents": ("doc:0", "doc:1")}),
]
Judged = list[tuple[Judgement, int | None]]


@st.composite
def _reading(draw: Any, number: int) -> Reading:
    said = draw(st.lists(st.sampled_from(_CLAIMS), min_size=1, max_size=4, unique_by=id))
    day = _DAY + timedelta(days=draw(st.integers(0, 5)))
    return paper(
        number,
        day.isoformat(),
        *((f"第{_CLAIMS.index(fact)}句说硅料与隆基。", fact) for fact in said),
        speaker=draw(st.sampled_from("甲乙")),
        extra=tuple(draw(st.lists(st.sampled_from(_NAMES), max_size=2, unique_by=lambda entity: entity.id))),
        copies=tuple(f"doc:{other}" for other in range(number) if draw(st.integers(0, 5)) == 0),
    )


@st.composite
def _judgement(draw: Any) -> tuple[Judgement, int | None]:
    verdict, subject, object_, scope = draw(st.sampled_from(_JUDGEMENTS))
    on = draw(st.integers(0, 5))
    written = READ + timedelta(hours=draw(st.integers(0, 9)))
    said = Judgement("", verdict, subject, _DAY + timedelta(on), written, object_, by="甲", why="乙", **scope)
    return said, draw(st.one_of(st.none(), st.integers(on, 6)))


def judge(
    store: Store, judged: Judged, until: date | None = None, kept: list[Judgement] | None = None
) -> list[Judgement]:
    """Keep what makes sense of some judgements, or those that another base has `kept` until a day."""
    done = []
    with store.writer() as writer:
        for said in kept or ():
            if until is None or said.published_on <= until:
                writer.judge(said)
        for said, revoked in judged:
            with suppress(JudgementRefused):
                found = writer.judge(said)
                done += [found] if found else []
                if found and revoked is not None:
                    end, day = found.recorded_at + timedelta(days=1), _DAY + timedelta(revoked)
                    done.append(writer.judge(Judgement("", Verdict.REVOKE, found.id, day, end, by="甲", why="错")))
    return done


_HISTORIES = st.integers(2, 6).flatmap(lambda size: st.tuples(*(_reading(number) for number in range(size))))


def _told(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except QuestionError as fault:
        return str(fault)


def answers(view: View) -> dict[str, Any]:
    """Ask everything."""
    session = QuerySession(view)
    asked: dict[str, Callable[[], Any]] = {
        "chain": lambda: [chain(session, topic, depth=3) for topic in ("硅料", "光伏产业链", "601012.SH")],
        "impact": lambda: [impact(session, factor, way) for factor in ("硅料价格", "限产") for way in (1, -1)],
        "causes": lambda: [causes(session, effect) for effect in ("组件毛利率", "隆基股份")],
        "relate": lambda: [relate(session, *pair) for pair in (("硅料", "隆基股份"), ("通威股份", "组件"))],
        "profile": lambda: profile(session, "隆基股份"),
        "renamed": lambda: profile(session, "隆基绿能"),
        "product": lambda: profile(session, "硅料"),
        "history": lambda: history(session, "硅料", "电池片"),
        "passages": lambda: passages(view, "硅料 隆基"),
        "themes": lambda: [theme(session, item.id) for item in themes(view)],
        "near": lambda: near_names(session, "硅料价"),
        "resolve": lambda: [candidates(session, name) for name in ("隆基股份", "601012", "光伏行业", "电池级硅料价格")],
        "named": lambda: names_in(session, "隆基股份的硅料价格与通威股份"),
        "exposure": lambda: exposures(session, range(len(session.graph.entity_ids))),
        "contradicting": lambda: [contradicting(view, fact, session.words) for fact in view.facts()],
        "superseded": lambda: [(fact.id, fact.superseded_by) for fact in view.facts()],
        **{
            question: lambda question=question: ask(session, question)  # type: ignore[misc]
            for question in ("硅料价格下跌的影响", "光伏上下游", "隆基股份怎么样", "热点主题", "电池级硅料价格为什么涨")
        },
    }
    return {name: _told(question) for name, question in asked.items()}


@given(readings=_HISTORIES, judged=st.lists(_judgement(), max_size=3), as_of=st.integers(0, 4), weekly=st.booleans())
def test_nothing_published_later_changes_an_answer(
    readings: tuple[Reading, ...], judged: Judged, as_of: int, *, weekly: bool
):
    day = _DAY + timedelta(days=as_of)
    until = [reading for reading in readings if reading.document.published_on <= day]
    full, ignorant = filled(readings), filled(until)
    judge(ignorant, [], day, judge(full, judged))
    if weekly and until:
        run_week(full, date(2025, 1, 1))
        run_week(full, day)
        run_week(ignorant, day)
    found, expected = answers(full.view(as_of=day)), answers(ignorant.view(as_of=day))
    for name, answer in expected.items():
        assert found[name] == answer, name


def test_the_questions_do_see_what_is_published():
    """The property above is empty words unless later documents would change every answer."""
    early, late = paper(0, "2024-01-01", ("句。", _CLAIMS[0])), [
        paper(n + 1, "2024-01-02", (f"第{n}句说硅料与隆基。", fact), extra=tuple(_NAMES[n % 4 : n % 4 + 1]))
        for n, fact in enumerate(_CLAIMS)
    ]  # fmt: skip
    store = filled([early, *late])
    run_week(store, date(2024, 1, 2))
    before, after = answers(store.view(as_of=date(2024, 1, 1))), answers(store.view())
    assert {name for name in before if before[name] == after[name]} == set()


def test_a_week_passes_over_a_fact_of_which_a_split_leaves_a_part():
    """What one document says stays with the old owner, what another says to the new one: one id asked, two facts."""
    margin = claim(LONGI, "reports", "indicator:毛利率", value=Value(20.0, "%"))
    store = filled(
        [
            *solar(),
            paper(91, "2024-01-01", ("毛利率20%。", margin), extra=(_NAMES[0],)),
            paper(92, "2024-01-01", ("隆基毛利率20%。", margin), extra=(Entity(LONGI, Kind.COMPANY, "隆基绿能"),)),
        ]
    )
    verdict, subject, object_, scope = _JUDGEMENTS[3]
    judge(store, [(Judgement("", verdict, subject, _DAY, READ, object_, by="甲", why="乙", **scope), None)])
    run_week(store, None)
    assert themes(store.view())
