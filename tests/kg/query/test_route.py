from __future__ import annotations

import pytest
from kg.query.route import route

from kg.query.resolve import names_in
from kg.query.session import QuerySession
from tests.kg.query.world import named, paper, seen, solar

EXTRA = tuple(
    map(named, ("theme:AI", "indicator:关税", "indicator:LPR", "industry:银行", "indicator:净息差", "event:加息"))
)


@pytest.fixture(scope="module")
def session() -> QuerySession:
    return QuerySession(seen(*solar(), paper(9, "2024-01-01", extra=EXTRA)))


@pytest.mark.parametrize(
    ("question", "name", "first", "direction"),
    [
        ("光伏产业链", "chain", "光伏", 1),
        ("光伏的上下游有哪些公司？", "chain", "光伏", 1),
        ("硅料上游是什么", "chain", "硅料", 1),
        ("隆基绿能在组件供应链里的位置", "chain", "组件", 1),
        ("supply chain of 光伏", "chain", "光伏", 1),
        ("硅料价格下跌有什么影响？", "impact", "硅料价格", -1),
        ("硅料价格上涨利好谁", "impact", "硅料价格", 1),
        ("硅料降价对组件毛利率有什么影响", "impact", "硅料", -1),
        ("硅料价格上涨会导致组件毛利率下降吗，影响多大", "impact", "硅料价格", 1),
        ("限产会带动硅料价格上涨吗", "impact", "限产", 1),
        ("补贴退坡谁受损", "impact", "补贴退坡", 1),
        ("下调关税会影响哪些行业", "impact", "关税", -1),
        ("LPR下调对银行的影响", "impact", "LPR", -1),
        ("哪些公司受益于硅料价格上涨", "impact", "硅料价格", 1),
        ("组件毛利率为什么下降", "causes", "组件毛利率", -1),
        ("为什么组件毛利率改善", "causes", "组件毛利率", 1),
        ("哪些因素影响硅料价格", "causes", "硅料价格", 1),
        ("什么导致硅料价格下跌", "causes", "硅料价格", -1),
        ("隆基绿能的组件毛利率受什么影响", "causes", "组件毛利率", 1),
        ("通威股份和隆基绿能是什么关系", "relate", "通威股份", 1),
        ("硅料与组件的联系", "relate", "硅料", 1),
        ("隆基绿能 related to 通威股份", "relate", "隆基绿能", 1),
        ("加息周期里银行历史上表现如何", "history", "加息", 1),
        ("回顾历次加息对净息差的影响", "history", "加息", 1),
        ("隆基绿能怎么样", "profile", "隆基绿能", 1),
        ("601012.SH", "profile", "隆基绿能", 1),
        ("组件龙头隆基绿能", "profile", "隆基绿能", 1),
        ("隆基绿能历史上如何", "profile", "隆基绿能", 1),
        ("硅料和火星的关系", "profile", "硅料", 1),
        ("当前热点主题有哪些", "themes", "", 1),
        ("哪些主题和光伏有关", "themes", "光伏", 1),
        ("火星天气如何", "passages", "", 1),
        ("", "passages", "", 1),
        ("chain reaction", "passages", "", 1),
    ],
)
def test_a_question_goes_to_its_call(session: QuerySession, question: str, name: str, first: str, direction: int):
    chosen = route(session, question)
    assert chosen.name == name
    assert (chosen.entities[0].name if chosen.entities else "") == first
    assert chosen.direction == direction


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
