from __future__ import annotations

import pytest

from kg.model import Fact, Kind, Modality, Polarity, Value
from kg.period import quarter, year
from kg.query.session import QuerySession
from kg.query.walks.impact import impact
from kg.query.walks.relate import relate
from kg.query.wording import claim_text, direction_text, path_citations, path_text, value_text
from tests.kg.query.world import (
    COST,
    CUT,
    LONGI,
    MARGIN,
    MODULE,
    PRICE,
    SILICON,
    TONGWEI,
    WAFER,
    claim,
    moves,
    paper,
    seen,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (Value(9.45e8, "元", scale="亿"), "9.45亿元"),
        (Value(9.45e8, "元"), "9.45亿元"),
        (Value(2.5e12, "元", scale="亿"), "25,000亿元"),
        (Value(2.5e12, "元"), "2.5万亿元"),
        (Value(-3.2e8, "元"), "-3.2亿元"),
        (Value(97500, "元/吨"), "9.75万元/吨"),
        (Value(9800, "元/吨"), "9,800元/吨"),
        (Value(18.3, "%"), "18.3%"),
        (Value(12.3, "%", change="yoy"), "同比 +12.3%"),
        (Value(-12.3, "%", change="yoy"), "同比 -12.3%"),
        (Value(2, "%", change="wow"), "周环比 +2%"),
        (Value(35, "%", change="share"), "占比 35%"),
        (Value(1.2, "pct", change="yoy"), "同比 +1.2个百分点"),
        (Value(25, "bp", change="change"), "变动 +25bp"),
        (Value(65, "美元/桶", high=70), "65–70美元/桶"),
        (Value(2e8, "元", scale="亿", high=3e8), "2–3亿元"),
        (Value(5e6, "美元", scale="百万"), "500万美元"),
        (Value(2e6, "%"), "2,000,000%"),
        (Value(0.00002, "元"), "0.00002元"),
        (Value(0, "%"), "0%"),
        (Value(12, ""), "12"),
    ],
)
def test_a_number_is_worded_as_it_is_written(value: Value | None, text: str):
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (moves(PRICE, COST, -1, -1), "硅料价格下降 → 电池片成本下降"),
        (moves(CUT, PRICE, 0, 1), "限产 → 硅料价格上升"),
        (moves(PRICE, LONGI, -1, 1), "硅料价格下降 → 隆基绿能向好"),
        (moves(PRICE, LONGI, 1, -1), "硅料价格上升 → 隆基绿能走弱"),
        (
            claim(
                CUT,
                "affects",
                PRICE,
                sign=1,
                qualifiers=(
                    ("cause_direction", "down"),
                    ("cause_scope", "不及预期"),
                    ("effect_direction", "down"),
                    ("effect_scope", "国内"),
                ),
            ),
            "限产（不及预期） → 硅料价格（国内）下降",
        ),
        (claim(LONGI, "produces", MODULE), "隆基绿能 生产 组件"),
        (claim(LONGI, "located_in", "region:印度", qualifiers=(("site", "工厂"),)), "隆基绿能 在 印度 有工厂"),
        (claim(LONGI, "located_in", "region:印度"), "隆基绿能 位于 印度"),
        (claim(SILICON, "upstream_of", WAFER), "硅料 是 硅片 的上游"),
        (claim(TONGWEI, "supplies", LONGI, qualifiers=(("product", "硅料"),)), "通威股份 供应 隆基绿能：硅料"),
        (claim(TONGWEI, "holds_stake_in", "org:甲", value=Value(51, "%")), "通威股份 持股 甲（51%）"),
        (claim(LONGI, "produces", MODULE, polarity=Polarity.NEGATIVE), "隆基绿能 生产 组件（否认）"),
        (claim(LONGI, "produces", MODULE, modality=Modality.PLANNED), "隆基绿能 生产 组件（计划）"),
        (
            claim(LONGI, "produces", MODULE, modality=Modality.RUMOURED, valid=year(2026)),
            "隆基绿能 生产 组件（传闻）［2026］",
        ),
        (
            claim(LONGI, "reports", "indicator:毛利率", value=Value(18.3, "%"), valid=quarter(2024, 3)),
            "隆基绿能毛利率 18.3%［2024Q3］",
        ),
        (
            claim(LONGI, "reports", "indicator:毛利率", value=Value(18, "%"), qualifiers=(("scope", "海外"),)),
            "隆基绿能毛利率（海外） 18%",
        ),
        (claim("product:组件", "reports", "indicator:组件毛利率", value=Value(18, "%")), "组件毛利率 18%"),
        (
            claim("institution:某证券", "rates", LONGI, qualifiers=(("rating", "买入"),), value=Value(25, "元")),
            "某证券给予隆基绿能“买入”评级，目标价 25元",
        ),
        (claim("institution:某证券", "rates", LONGI), "某证券给予隆基绿能评级"),
    ],
)
def test_a_claim_is_worded_as_a_sentence(fact: Fact, text: str):
    assert claim_text(QuerySession(seen(paper(1, "2024-01-01", ("一句话。", fact)))), fact) == text


def test_an_end_that_the_view_does_not_know_is_called_by_its_id():
    nobody = QuerySession(seen())
    assert claim_text(nobody, claim("product:锗", "upstream_of", "product:芯片")) == "锗 是 芯片 的上游"


def test_the_wording_follows_the_language():
    session = QuerySession(seen(paper(1, "2024-01-01", ("句。", claim(LONGI, "produces", MODULE)))), lang="en")
    assert claim_text(session, claim(LONGI, "produces", MODULE)) == "隆基绿能 produces 组件"


def test_a_move_has_a_word_for_each_direction():
    assert [direction_text(way) for way in (1, -1, 0)] == ["上升", "下降", "变动"]
    assert [direction_text(way, Kind.EVENT) for way in (1, -1)] == ["", "（反向）"]


def test_a_path_is_worded_as_it_is_walked_and_cites_what_it_words():
    """Both links have a fact for each move; the one that speaks of the move walked is worded and cited."""
    session = QuerySession(
        seen(
            paper(1, "2024-01-01", ("甲。", moves(PRICE, COST, -1, -1)), ("乙。", moves(COST, MARGIN, -1, 1))),
            paper(2, "2024-02-01", ("丙。", moves(PRICE, COST, 1, 1)), ("丁。", moves(COST, MARGIN, 1, -1))),
        )
    )
    for direction, words, quotes in (
        (1, "硅料价格上升 → 电池片成本上升；电池片成本上升 → 组件毛利率下降", ["丙。", "丁。"]),
        (-1, "硅料价格下降 → 电池片成本下降；电池片成本下降 → 组件毛利率上升", ["甲。", "乙。"]),
    ):
        path = next(path for path in impact(session, "硅料价格", direction).paths if len(path.links) == 2)
        assert path_text(session, path, direction) == words
        assert [citation.quote for citation in path_citations(path, direction)] == quotes


def test_what_is_only_said_of_the_opposite_move_says_so():
    fall, margin = moves(PRICE, COST, -1, -1), moves(COST, MARGIN, 1, -1)
    session = QuerySession(seen(paper(1, "2024-01-01", ("甲。", fall), ("乙。", margin))))
    path = next(path for path in impact(session, "硅料价格", 1).paths if len(path.links) == 2)
    said = path_text(session, path, 1)
    assert said == "硅料价格上升 → 电池片成本上升（由反向说法推断）；电池片成本上升 → 组件毛利率下降"


def test_a_later_step_is_not_turned_round():
    fall = moves(PRICE, COST, -1, -1)
    session = QuerySession(seen(paper(1, "2024-01-01", ("甲。", moves(CUT, PRICE, 0, 1)), ("乙。", fall))))
    assert [len(path.links) for path in impact(session, "限产").paths] == [1]


def test_a_link_without_a_sign_moves_nobody_knows_where():
    unsigned = claim(PRICE, "affects", COST)
    session = QuerySession(seen(paper(1, "2024-01-01", ("甲。", unsigned), ("乙。", moves(COST, MARGIN, -1, 1)))))
    assert impact(session, "硅料价格").paths == ()  # no direction is stated, so nothing follows from it
    (path,) = relate(session, "硅料价格", "组件毛利率").paths
    assert path_text(session, path, 1).startswith("硅料价格 → 电池片成本；")
