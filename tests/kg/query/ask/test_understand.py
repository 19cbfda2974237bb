from __future__ import annotations

from datetime import date

import pytest

from kg.model import Entity, Kind
from kg.query.ask.understand import understand
from kg.query.resolve import names_in
from kg.query.session import QuerySession
from tests.kg.query.world import WAFER, claim, named, paper, seen, solar

TODAY = date(2025, 12, 31)

EXTRA = tuple(
    map(named, ("theme:AI", "indicator:关税", "indicator:LPR", "industry:银行", "indicator:净息差", "event:加息"))
)


@pytest.fixture(scope="module")
def session() -> QuerySession:
    return QuerySession(seen(*solar(), paper(9, "2024-01-01", extra=EXTRA)))


@pytest.mark.parametrize(
    ("question", "operation", "first", "direction"),
    [
        ("光伏产业链", "chain", "光伏", 1),
        ("光伏的上下游有哪些公司？", "chain", "光伏", 1),
        ("硅料上游是什么", "upstream", "硅料", 1),
        ("supply chain of 光伏", "chain", "光伏", 1),
        ("硅料价格下跌有什么影响？", "impact", "硅料价格", -1),
        ("硅料价格上涨利好谁", "impact", "硅料价格", 1),
        ("限产会带动硅料价格上涨吗", "impact", "限产", 1),
        ("补贴退坡谁受损", "impact", "补贴退坡", 1),
        ("下调关税会影响哪些行业", "impact", "关税", -1),
        ("组件毛利率为什么下降", "causes", "组件毛利率", -1),
        ("为什么组件毛利率改善", "causes", "组件毛利率", 1),
        ("什么导致硅料价格下跌", "causes", "硅料价格", -1),
        ("通威股份和隆基绿能是什么关系", "relate", "通威股份", 1),
        ("隆基绿能 related to 通威股份", "relate", "隆基绿能", 1),
        ("回顾历次加息对净息差的影响", "history", "加息", 1),
        ("隆基绿能怎么样", "facts", "隆基绿能", 1),
        ("601012的毛利率", "facts", "隆基绿能", 1),
        ("隆基绿能的供应商有哪些", "supplier", "隆基绿能", 1),
        ("通威股份卖给谁", "customer", "通威股份", 1),
        ("谁在生产硅料", "producer", "硅料", 1),
        ("隆基绿能布局什么", "operates", "隆基绿能", 1),
        ("隆基绿能的主要竞争对手", "competitor", "隆基绿能", 1),
        ("大家怎么看硅料价格", "views", "硅料价格", 1),
        ("当前热点主题有哪些", "themes", "", 1),
        ("火星天气如何", "facts", "", 1),
        ("", "facts", "", 1),
    ],
)
def test_a_question_is_parsed(session: QuerySession, question: str, operation: str, first: str, direction: int):
    asked = understand(session, question, TODAY)
    assert asked.operation == operation
    assert (asked.entities[0].name if asked.entities else "") == first
    assert asked.direction == direction


@pytest.mark.parametrize(
    ("question", "day", "period"),
    [
        ("截至2024年3月，硅料价格是多少", date(2024, 3, 31), None),
        ("站在2024年3月15日看硅料价格", date(2024, 3, 15), None),
        ("去年7月大家怎么看硅料价格", date(2024, 7, 31), None),
        ("2024年上半年硅料价格", None, "2024H1"),
        ("2023年和2024年硅料价格", None, "2023-01-01…2024-12-31"),
        ("硅料价格", None, None),
    ],
)
def test_a_day_and_a_period_are_distinguished(
    session: QuerySession, question: str, day: date | None, period: str | None
):
    asked = understand(session, question, TODAY)
    assert asked.as_of == day
    assert (str(asked.period) if asked.period else None) == period


@pytest.mark.parametrize(
    ("question", "written", "meant"),
    [
        ("tongwei gufen 的客户", "tongwei gufen", "通威股份"),
        ("阳光电园怎么样", "阳光电园", "阳光电源"),
    ],
)
def test_a_misspelt_company_is_corrected_and_said(session: QuerySession, question: str, written: str, meant: str):
    asked = understand(session, question, TODAY)
    assert (written, meant) in asked.corrections
    assert asked.entities[0].name == meant


def test_a_beginning_that_two_companies_share_is_asked_back():
    one = Entity("sec:600001.SH", Kind.COMPANY, "东方一号", codes=("600001.SH",))
    two = Entity("sec:600002.SH", Kind.COMPANY, "东方二号", codes=("600002.SH",))
    said = ("甲。", claim(one.id, "produces", WAFER)), ("乙。", claim(two.id, "produces", WAFER))
    seen_of = seen(paper(1, "2024-01-01", *said, extra=(one, two)))
    asked = understand(QuerySession(seen_of), "东方最近怎么样", TODAY)
    assert {entity.name for entity in asked.choices} == {"东方一号", "东方二号"}


def test_of_two_companies_the_one_with_many_times_as_many_facts_is_meant_and_said():
    one = Entity("sec:600001.SH", Kind.COMPANY, "东方一号", codes=("600001.SH",))
    two = Entity("sec:600002.SH", Kind.COMPANY, "东方二号", codes=("600002.SH",))
    made = ("product:钢", "product:铁", "product:铝", "product:锌", WAFER)
    said = [(f"乙{number}。", claim(two.id, "produces", each)) for number, each in enumerate(made)]
    view = seen(paper(1, "2024-01-01", ("甲。", claim(one.id, "produces", WAFER)), *said, extra=(one, two)))
    asked = understand(QuerySession(view), "东方最近怎么样", TODAY)
    assert (asked.choices, [entity.name for entity in asked.entities]) == ((), ["东方二号"])
    assert asked.corrections == (("东方", "东方二号"),)


def test_growth_in_percent_is_asked_for_in_words(session: QuerySession):
    asked = understand(session, "通威股份2023年净利润涨了百分之多少", TODAY)
    assert (asked.operation, asked.wants_value) == ("growth", True)
    assert not any(term.word in ("涨", "百分之") for term in asked.terms)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("硅料价格与硅料", ["硅料价格", "硅料"]),
        ("AI在chain里", ["AI"]),
        ("MAIL与ai", ["AI"]),
        ("硅料硅料", ["硅料", "硅料"]),
        ("x" * 300 + "硅料", []),
        ("  ", []),
        ("ＡＩ", ["AI"]),
    ],
)
def test_names_are_found_by_place_the_longest_first(session: QuerySession, question: str, found: list[str]):
    names = names_in(session, question)
    assert [item.entity.name for item in names] == found
    assert [item.start for item in names] == sorted(item.start for item in names)


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("隆基绿能2023营收", "2023"),
        ("LONGi 2023 expected revenue", "2023"),
        ("隆基绿能 2023 年营收", "2023"),
        ("隆基绿能 2023 Q1 营收", "2023Q1"),
        ("隆基绿能卖了2023辆", "None"),
    ],
)
def test_a_year_without_its_word_is_read(session: QuerySession, question: str, period: str):
    assert str(understand(session, question, date(2025, 1, 1)).period) == period


@pytest.mark.parametrize(
    ("question", "asked_for"),
    [("隆基绿能卖了多少组件", "销量"), ("组件市场今年多大", "市场规模"), ("组件多少钱", "价格")],
)
def test_a_measure_may_be_asked_for_without_its_name(session: QuerySession, question: str, asked_for: str):
    assert asked_for in [term.word for term in understand(session, question, date(2025, 1, 1)).terms if term.measure]


def test_what_is_paid_is_no_price(session: QuerySession):
    terms = understand(session, "通威股份收购隆基绿能花了多少钱", date(2025, 1, 1)).terms
    assert "价格" not in [term.word for term in terms]


def test_a_spoken_name_is_no_part_of_other_words():
    oil = Entity("indicator:原油价格", Kind.INDICATOR, "原油价格")
    view = seen(paper(1, "2024-01-01", ("原油价格上涨。", claim("sec:601012.SH", "reports", oil.id)), extra=(oil,)))
    parsed = [understand(QuerySession(view), question, TODAY) for question in ("油价上涨", "UCO餐厨废油价格")]
    assert [[entity.name for entity in each.entities] for each in parsed] == [["原油价格"], []]


@pytest.mark.parametrize(
    ("question", "period"),
    [
        ("5月19日那周硅料价格多少", "2025-W21"),
        ("2025年5月底硅料价格多少", "2025-05-21…2025-05-31"),
        ("2025年5月19日硅料价格多少", "2025-05-19"),
    ],
)
def test_a_day_may_stand_for_the_days_around_it(session: QuerySession, question: str, period: str):
    found = understand(session, question, TODAY).period
    assert found is not None
    assert str(found) == period


@pytest.mark.parametrize(("question", "operation"), [("前四月硅料产量多少", "facts"), ("硅料产量前四是谁", "rank")])
def test_the_first_months_are_no_ranking(session: QuerySession, question: str, operation: str):
    assert understand(session, question, TODAY).operation == operation
