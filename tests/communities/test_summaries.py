"""What a composed summary says, from contents that the test makes."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from communities import printable
from communities.content import Content
from communities.evidence import Section
from communities.summaries import ThemePage, changes, compose, exposed, neighbours
from kg.model import Chunk, Fact, Modality, Value
from kg.period import year
from kg.query.session import QuerySession
from tests.kg.query.world import (
    CELL,
    COST,
    CUT,
    LONGI,
    MARGIN,
    MODULE,
    PRICE,
    SILICON,
    SUNGROW,
    TONGWEI,
    WAFER,
    claim,
    moves,
    named,
    paper,
    seen,
)

DAY = date(2024, 1, 20)


def content_of(*facts: Fact) -> tuple[QuerySession, Content]:
    """Return a content of exactly these facts, in their order, each in a sentence and a note of its own."""
    view = seen(*(paper(n, "2024-01-01", (sentence_of(fact), fact)) for n, fact in enumerate(facts, start=1)))
    session = QuerySession(view)
    by_claim = {(fact.subject, fact.relation, fact.object, fact.sign, fact.modality): fact for fact in view.facts()}
    said = [by_claim[fact.subject, fact.relation, fact.object, fact.sign, fact.modality] for fact in facts]
    linked = tuple(fact for fact in said if fact.relation != "reports")
    opposed = tuple(
        (one, other)
        for one in said
        for other in said
        if (one.subject, one.object) == (other.subject, other.object) and one.sign > 0 > other.sign
    )
    members = tuple(dict.fromkeys(end for fact in said for end in (fact.subject, fact.object)))
    figures = tuple(fact for fact in said if fact.relation == "reports")
    notes = ((date(2024, 1, 1), "doc:1"),)
    return session, Content(SILICON, members, linked, figures, opposed, tuple(said[:2]), notes)


def sentence_of(fact: Fact) -> str:
    value = f"为{fact.value.number:g}{fact.value.unit}" if fact.value else ""
    expected = "预计" if fact.modality is Modality.FORECAST else ""
    return f"{expected}{named(fact.subject).name}与{named(fact.object).name}{value}。"


def lines_of(*facts: Fact, day: date = DAY) -> list[str]:
    session, content = content_of(*facts)
    return [line.text for line in compose(session, content, day=day).lines]


CHAIN = (
    claim(SILICON, "upstream_of", WAFER),
    claim(WAFER, "upstream_of", CELL),
    claim(CELL, "upstream_of", MODULE),
    claim(TONGWEI, "produces", SILICON),
    claim(LONGI, "produces", MODULE),
)


def test_the_head_stands_between_what_is_up_and_down_its_chain_and_companies_have_codes():
    lines = lines_of(*CHAIN, moves(CUT, PRICE, 0, 1), moves(PRICE, COST, -1, -1))
    assert lines[0] == "概要：限产 → 硅料价格上升（2024-01-01 起）"
    assert "下游：硅片" in lines
    assert (
        "公司：通威股份（600438.SH）、隆基绿能（601012.SH）—组件" in lines
    )  # what the theme is called need not be said
    assert "近期：硅料价格下降 → 电池片成本下降（2024-01-01）" in lines


def test_a_rumour_gives_no_place_on_the_chain_nor_does_what_is_on_both_sides():
    rumour = claim(SILICON, "upstream_of", WAFER, modality=Modality.RUMOURED)
    assert neighbours(*content_of(rumour)) == ({}, {})
    assert neighbours(*content_of(CHAIN[0], claim(WAFER, "upstream_of", SILICON))) == ({}, {})


def test_a_company_gains_or_pays_as_the_latest_source_states():
    session, content = content_of(moves(PRICE, TONGWEI, 1, 1), moves(PRICE, LONGI, 1, -1))
    page = ThemePage(session, content, DAY)
    assert [line.text for line in exposed(page)] == [
        "受益：通威股份（600438.SH）（硅料价格上升）",
        "受损：隆基绿能（601012.SH）（硅料价格上升）",
    ]
    assert list(exposed(page)) == []  # a sentence serves one line


def test_one_line_is_no_summary_unless_it_has_three_companies():
    assert lines_of(claim(TONGWEI, "produces", SILICON)) == []
    makers = (claim(company, "produces", SILICON) for company in (TONGWEI, LONGI, SUNGROW))
    assert lines_of(*makers) == ["公司：通威股份（600438.SH）、隆基绿能（601012.SH）、阳光电源（300274.SZ）"]


def test_a_company_below_a_heading_about_the_topic_needs_no_other_mention_of_it():
    session, content = content_of(claim(TONGWEI, "operates", SILICON))
    page = ThemePage(session, replace(content, sections=(Section(Chunk("c", "doc:1", 0, 99, ""), "硅料龙头"),)), DAY)
    (fact,) = content.facts
    assert page.section(fact) == "硅料龙头"
    other = replace(fact, evidence=tuple(replace(item, quote="通威股份：龙头") for item in fact.evidence))
    assert not printable.makes_known(session, other)
    assert printable.makes_known(session, other, section=page.section(fact))


def test_the_gist_is_about_the_head_and_not_about_one_firm_or_another_product():
    lines = lines_of(*CHAIN, moves(PRICE, TONGWEI, 1, 1), moves(PRICE, COST, -1, -1))
    assert not lines[0].startswith("概要")
    assert "近期：硅料价格下降 → 电池片成本下降（2024-01-01）" in lines


def test_a_title_says_what_the_newest_heading_of_its_topic_says():
    session, content = content_of(*CHAIN)
    chunk = Chunk("chunk:1", "doc:1", 0, 99, "")
    headed, dull = Section(chunk, "1.1 硅料：减产推升价格，库存回落"), Section(chunk, "硅料投资建议")
    assert compose(session, replace(content, sections=(dull, headed)), day=DAY).title == "硅料：减产推升价格，库存回落"
    assert compose(session, replace(content, sections=(dull,)), day=DAY).title == "硅料"
    of_more = headed._replace(alone=False)  # names another topic, or a company
    assert compose(session, replace(content, sections=(of_more,)), day=DAY).title == "硅料"


def said(sentence: str, fact: Fact) -> tuple[QuerySession, Content]:
    """Return a content of one less sure fact, which this sentence states."""
    view = seen(paper(1, "2024-01-10", (sentence, fact)))
    notes = ((date(2024, 1, 10), "doc:1"),)
    return QuerySession(view), Content(SILICON, (SILICON,), (), (), notes=notes, told=tuple(view.facts()))


def test_a_sentence_about_the_head_is_printed_word_for_word_however_sure_its_reading_and_names_what_happened():
    session, content = said("1.2 供给：硅料减产，价格回升。", moves(CUT, PRICE, 0, 1))
    page = ThemePage(session, content, DAY)
    assert [page.quoted("概要", fact).text for fact in page.of_head] == ["概要：供给：硅料减产，价格回升（2024-01-10）"]
    content = replace(content, members=(SILICON, TONGWEI, LONGI, SUNGROW))
    assert compose(session, content, day=DAY).title == "硅料：硅料减产，价格回升"


def test_what_is_said_twice_is_printed_once():
    session, content = said("硅料企业减产，推动价格回升。", moves(CUT, PRICE, 0, 1))
    (fact,) = content.told
    other = replace(fact.evidence[0], document="doc:2", quote="硅料企业减产，推动价格小幅回升。")
    page = ThemePage(session, replace(content, told=(fact, replace(fact, id="fact:2", evidence=(other,)))), DAY)
    assert len(page.statements) == 2
    assert len(page.say(page.statements, 4)) == 1


def test_what_happened_to_a_firm_long_ago_is_no_news():
    assert any("通威股份" in line for line in lines_of(*CHAIN, moves(CUT, TONGWEI, 0, 1)) if "→" in line)
    late = lines_of(*CHAIN, moves(CUT, TONGWEI, 0, 1), day=date(2024, 6, 1))
    assert not any("→" in line for line in late)


def test_opposite_signs_are_set_side_by_side_and_cite_both():
    session, content = content_of(moves(PRICE, COST, 1, 1), moves(PRICE, COST, 1, -1))
    (line,) = [line for line in compose(session, content, day=DAY).lines if line.text.startswith("分歧：")]
    assert "另有：" in line.text
    assert set(line.facts) == {fact.id for fact in content.facts}


def test_a_forecast_is_open_until_its_period_is_over():
    ahead = moves(PRICE, MARGIN, 1, -1, modality=Modality.FORECAST, valid=year(2024))
    rest = (*CHAIN, moves(CUT, PRICE, 0, 1))
    assert any(line.startswith("日程：") for line in lines_of(*rest, ahead, day=date(2024, 12, 31)))
    assert not any(line.startswith("日程：") for line in lines_of(*rest, ahead, day=date(2025, 1, 1)))
    assert not any("毛利率" in line for line in lines_of(*rest, ahead) if not line.startswith("日程："))


def test_numbers_are_reported_as_data():
    reported = claim("industry:光伏", "reports", PRICE, value=Value(40.0, "元/千克"), valid=year(2023))
    assert any("40元/千克" in line for line in lines_of(*CHAIN, reported))


def test_a_summary_that_says_the_same_has_the_same_id_and_another_has_another():
    session, content = content_of(*CHAIN)
    one = compose(session, content, day=DAY)
    assert compose(session, content, day=date(2024, 1, 21)) == one
    assert compose(session, replace(content, head=WAFER), day=DAY).id != one.id


def test_changes_tell_what_is_new_but_not_in_the_first_week():
    session, content = content_of(*CHAIN)
    assert changes(session, content, first=True) == ()
    head, *reported = changes(session, content, first=False)
    assert head.text == "新增 2 条事实"
    assert [line.facts for line in reported] == [(fact.id,) for fact in content.fresh]
