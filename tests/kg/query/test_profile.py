"""Profiles, histories, themes, passages and the links they are made of."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from communities.weekly import run_week
from kg.errors import QuestionError, UnknownName
from kg.model import Alias, Entity, Kind, Polarity, Value, ValueClass
from kg.period import year, years
from kg.query.browse.profile import group_of, profile
from kg.query.history import history
from kg.query.passages import citation_of, passages
from kg.query.session import QuerySession
from kg.query.themes.listing import NoRun, UnknownTheme, theme, themes
from kg.query.wording import claim_text, group_text
from tests.communities.test_weekly import LITHIUM, chain_of
from tests.kg.query.world import (
    COST,
    LONGI,
    MARGIN,
    MARGIN_2023,
    MODULE,
    PRICE,
    PV,
    TONGWEI,
    claim,
    filled,
    moves,
    paper,
    seen,
    solar,
)

# ── profile ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_profile_holds_every_relation_of_an_entity():
    answer = profile(seen(*solar()), "隆基绿能")
    assert {link.relation for link in answer.links} == {
        "produces",
        "supplies",
        "partners_with",
        "affects",
        "reports",
        "rates",
    }
    assert all(LONGI in (link.source, link.target) for link in answer.links)
    layers = {node.entity.id: node.layer for node in answer.graph.nodes}
    assert (layers[LONGI], layers[MODULE], layers[TONGWEI]) == (0, 1, -1)


def test_a_denial_is_a_link_of_its_own():
    makes = claim(LONGI, "produces", MODULE)
    view = seen(
        paper(1, "2024-01-01", ("它不生产。", replace(makes, polarity=Polarity.NEGATIVE)), speaker="甲"),
        paper(2, "2024-02-01", ("它生产。", makes), speaker="乙"),
    )
    found = [
        (link.facts[0].polarity.value, link.citations[0].quote, link.contested)
        for link in profile(view, "隆基绿能").links
    ]
    assert sorted(found) == [("negative", "它不生产。", True), ("positive", "它生产。", True)]


def test_what_was_superseded_is_no_part_of_a_profile():
    view = seen(
        paper(1, "2024-01-01", ("毛利率18.3%。", MARGIN_2023)),
        paper(2, "2024-02-01", ("毛利率修正为18.5%。", replace(MARGIN_2023, value=Value(18.5, "%")))),
    )
    (link,) = profile(view, "隆基绿能").links
    assert [fact.value.number for fact in link.facts if fact.value] == [18.5]


def test_the_first_citation_of_a_link_is_of_the_fact_that_speaks_for_it():
    """The newest year said first; a later document repeats the older year."""
    later = claim(LONGI, "reports", "indicator:毛利率", value=Value(20, "%"), valid=year(2024))
    view = seen(
        paper(1, "2025-03-01", ("2024年毛利率20%。", later)),
        paper(2, "2024-03-01", ("2023年毛利率18.3%。", MARGIN_2023)),
    )
    (link,) = profile(view, "隆基绿能").links
    assert link.facts[0].valid == year(2024)
    assert [citation.quote for citation in link.citations] == ["2024年毛利率20%。", "2023年毛利率18.3%。"]


def test_a_hub_shows_its_strongest_links_only():
    said = [(f"公司{n}属于光伏。", claim(f"org:公司{n:03}", "belongs_to", PV)) for n in range(120)]
    again = paper(2, "2024-01-02", ("公司7属于光伏。", claim("org:公司007", "belongs_to", PV)))
    answer = profile(seen(paper(1, "2024-01-01", *said), again), "光伏")
    assert len(answer.links) == 20
    assert answer.links[0].source == "org:公司007"


# ── links ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_link_joins_the_facts_of_one_relation_and_sign():
    said = ("甲。", moves(PRICE, COST, -1, -1)), ("乙。", moves(PRICE, COST, 1, 1)), ("丙。", moves(PRICE, COST, 1, -1))
    session = QuerySession(seen(paper(1, "2024-01-01", *said)))
    start = session.index(PRICE)
    assert start is not None
    links = session.links(session.expand([start], ("affects",), "out", limit=9))
    assert [(link.sign, len(link.facts)) for link in links] == [(-1, 1), (1, 2)]
    assert links[1].weight == pytest.approx(2 * links[0].weight, abs=1e-3)
    assert session.links([]) == []
    assert session.expand([], ("affects",), "out", limit=9) == []


def test_citations_give_each_fact_its_turn_and_each_place_once():
    one, other = moves(PRICE, COST, -1, -1), moves(PRICE, COST, 1, 1)
    papers = [paper(n, f"2024-01-{n:02}", (f"甲{n}。", one), speaker=f"人{n}") for n in range(1, 8)]
    session = QuerySession(seen(*papers, paper(9, "2023-01-01", ("旧。", other))))
    facts = sorted(session.view.facts(), key=lambda fact: -fact.witnesses)
    assert [c.quote for c in session.citations(facts, 4)] == ["甲7。", "旧。", "甲6。", "甲5。"]
    assert len(session.citations(facts, 99)) == 8
    assert session.citations([facts[0], facts[0]], 99) == session.citations([facts[0]], 99)
    assert session.citations(facts, 0) == session.citations([], 9) == []
    (cited,) = session.citations(facts, 1)
    assert (cited.document, cited.title, cited.speaker, cited.published_on) == (
        "doc:7",
        "报告7",
        "人7",
        date(2024, 1, 7),
    )
    document = session.view.document("doc:7")
    assert document is not None
    assert document.text[cited.start : cited.end] == cited.quote


# ── history ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_history_is_given_by_episode_oldest_first():
    view = seen(
        paper(
            1,
            "2025-01-01",
            ("近年。", moves(PRICE, MARGIN, 1, -1)),
            ("当年。", moves(PRICE, MARGIN, 1, -1, valid=year(2021))),
        ),
        paper(2, "2025-02-01", ("三年。", moves(PRICE, MARGIN, -1, 1, valid=years(2018, 2020)))),
    )
    first, second, episodes = history(QuerySession(view), "硅料", "组件")
    assert (first.name, second.name) == ("硅料", "组件")
    assert [episode.label for episode in episodes] == ["2018–2020 年", "2021 年", "2025 年（发表）"]
    assert [link.citations[0].quote for episode in episodes for link in episode.links] == ["三年。", "当年。", "近年。"]
    assert history(QuerySession(view), "组件", "硅料")[2] == ()
    with pytest.raises(UnknownName):
        history(QuerySession(view), "硅料", "火星")


# ── themes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_themes_are_of_the_newest_run_the_view_may_see():
    store = filled(solar())
    with pytest.raises(NoRun):
        themes(store.view())
    with pytest.raises(NoRun):
        theme(store.view(), "theme:1")
    run = run_week(store, date(2025, 2, 1)).run
    found = themes(store.view())
    assert [len(item.members) for item in found] == sorted((len(item.members) for item in found), reverse=True)
    assert {item.id for item in found} == {item.id for item in run.communities if item.level == 0}
    assert {item.id for item in themes(store.view(), level=1)} == {
        item.id for item in run.communities if item.level == 1
    }
    assert themes(store.view(), level=3) == ()
    with pytest.raises(NoRun):
        themes(store.view(as_of=date(2025, 1, 31)))


def test_a_theme_is_found_by_the_beginning_of_its_id_if_only_one_fits():
    store = filled([*solar(), chain_of(9, "2025-02-01", LITHIUM)])
    run_week(store, None)
    view = store.view()
    wanted = themes(view)[0]
    for text in (wanted.id, wanted.id.removeprefix("theme:"), wanted.id[:20]):
        assert theme(view, text).community == wanted
    ids = {node.entity.id for node in theme(view, wanted.id).graph.nodes}
    assert ids
    assert ids <= set(wanted.members)  # a member without a shown fact is listed, not drawn
    for text in ("", "theme:", "theme:zzz", "%", "x" * 9999):
        with pytest.raises(UnknownTheme):
            theme(view, text)
    assert issubclass(UnknownTheme, QuestionError)


# ── passages ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_passages_come_with_their_document_the_best_first():
    view = seen(*solar())
    found = passages(view, "补贴退坡")
    assert (found[0].title, found[0].publisher, found[0].published_on) == ("报告5", "示例证券丙", date(2025, 1, 15))
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    assert len(passages(view, "硅料", limit=1)) == 1
    assert passages(view, "火星") == passages(view, "") == passages(view, "硅料", limit=0) == []


def test_of_passages_that_fit_alike_causes_come_before_plain_text_and_plain_text_before_notices():
    order = (ValueClass.BOILERPLATE, ValueClass.PLAIN, ValueClass.CAUSAL, ValueClass.BARE_NUMBERS, ValueClass.FORECAST)
    papers = [paper(number, "2024-01-01", ("硅料价格。", moves(PRICE, COST, 1, 1))) for number in range(len(order))]
    classed = [
        replace(one, chunks=tuple(replace(chunk, value_class=worth) for chunk in one.chunks))
        for one, worth in zip(papers, order, strict=True)
    ]
    view = seen(*classed)
    found = [passage.chunk.value_class for passage in passages(view, "硅料")]
    assert found == sorted(order, key=list(ValueClass).index)
    assert passages(view, "硅料", limit=1)[0].chunk.value_class == ValueClass.CAUSAL  # chosen from more than one


def test_the_citation_of_a_passage_is_stored_text():
    long = "硅料价格。" * 99
    view = seen(paper(1, "2024-01-01", (long, moves(PRICE, COST, 1, 1))))
    citation = citation_of(passages(view, "硅料")[0])
    document = view.document("doc:1")
    assert document is not None
    assert citation.quote == document.text[citation.start : citation.end]
    assert len(citation.quote) < len(long)


# ── names ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_issuer_bears_the_name_of_the_day_of_the_view():
    old = Entity(LONGI, Kind.COMPANY, "隆基股份", codes=("601012.SH",))
    new = Entity(LONGI, Kind.COMPANY, "隆基绿能", (Alias("隆基股份"),), ("601012.SH",))
    store = filled([
        paper(1, "2021-01-01", ("一。", claim(LONGI, "produces", MODULE)), extra=(old,)),
        paper(2, "2026-01-01", ("二。", claim(LONGI, "produces", MODULE)), extra=(new,)),
    ])  # fmt: skip
    assert profile(store.view(as_of=date(2021, 6, 1)), "601012.SH").entity.name == "隆基股份"
    assert profile(store.view(), "隆基股份").entity.name == "隆基绿能"


def test_customers_and_suppliers_are_groups_of_their_own_the_largest_share_first():
    sold = [
        claim(LONGI, "supplies", TONGWEI),
        claim(LONGI, "supplies", "org:甲电站", qualifiers=(("revenue_share", "35"), ("stage", "volume"))),
        claim("org:乙硅料", "supplies", LONGI),
    ]
    view = seen(
        *(paper(at, "2024-01-01", (f"第{at}句。", fact), speaker=f"券商{at}") for at, fact in enumerate(sold, 1))
    )
    session = QuerySession(view)
    answer = profile(session, "隆基绿能")
    assert [link.citations[0].quote for link in answer.links] == ["第2句。", "第1句。", "第3句。"]
    groups = [group_of(session, LONGI, link)[1] for link in answer.links]
    assert [group_text(session, "supplies", incoming=each) for each in groups] == ["客户", "客户", "供应商"]
    assert claim_text(session, answer.links[0].facts[0]) == "隆基绿能 供应 甲电站（占供方收入 35%，批量）"


def test_a_profile_holds_what_is_said_of_all_names_of_its_topic():
    said = paper(
        1,
        "2024-01-01",
        ("甲公司布局生猪养殖。", claim("org:甲公司", "operates", "industry:生猪养殖")),
        ("乙公司生产生猪。", claim("org:乙公司", "produces", "product:生猪")),
        ("生猪属于生猪养殖。", claim("product:生猪", "belongs_to", "industry:生猪养殖")),
    )
    links = profile(seen(said), "product:生猪").links
    assert {(link.source, link.target) for link in links} == {
        ("org:甲公司", "product:生猪"),
        ("org:乙公司", "product:生猪"),
    }
