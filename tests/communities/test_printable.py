"""A fact is printed if its quote names what the line names and says what the line says."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from communities.printable import is_cause, is_due, is_figure, is_link, is_statement, makes_known
from kg.model import Fact, Modality, Value
from kg.period import Period, year
from kg.query.session import QuerySession
from tests.kg.query.world import COST, CUT, LONGI, MODULE, PRICE, SILICON, claim, moves, paper, seen

ASSERTED, FORECAST, CONDITIONAL = Modality.ASSERTED, Modality.FORECAST, Modality.CONDITIONAL


def told(fact: Fact, sentence: str) -> tuple[QuerySession, Fact]:
    """Return a session in which this sentence states this fact."""
    view = seen(paper(1, "2024-06-01", (sentence, fact)))
    (found,) = view.facts()
    return QuerySession(view), found


@pytest.mark.parametrize(
    ("sentence", "fact", "printed"),
    [
        ("硅料价格上涨推高电池片成本。", moves(PRICE, COST, 1, 1), True),
        ("硅料价格与电池片成本。", moves(PRICE, COST, 1, 0), False),  # no direction
        ("若硅料价格上涨，电池片成本上升。", moves(PRICE, COST, 1, 1), False),
        ("硅料价格回升缓慢，电池片成本上升。", moves(PRICE, COST, 1, 1), False),
        ("硅料价格下跌，电池片成本下降。", moves(PRICE, COST, 1, 1), False),  # says the opposite
        ("2011 年硅料价格上涨推高电池片成本。", moves(PRICE, COST, 1, 1), False),
        ("限产，隆基绿能（+60.4%）领涨。", moves(CUT, LONGI, 0, -1), False),  # rose beside its name
        ("限产拖累公司。", moves(CUT, LONGI, 0, -1), False),  # names no firm
    ],
)
def test_a_cause_is_printed_if_its_quote_states_it_without_a_limit(sentence: str, fact: Fact, printed: bool):
    assert is_cause(*told(fact, sentence)) is printed


@pytest.mark.parametrize(
    ("sentence", "modality", "printed"),
    [
        ("硅料价格为 40 元/千克。", ASSERTED, True),
        ("预计硅料价格为 40 元/千克。", ASSERTED, False),
        ("硅料价格为 50 元/千克。", ASSERTED, False),  # another number
        ("均价为 40 元/千克。", ASSERTED, False),  # of what?
        ("预计 2024 年硅料价格为 40 元/千克。", FORECAST, True),
        ("2024 年硅料价格为 40 元/千克。", FORECAST, False),
        ("2023 年硅料价格 40 元/千克，预计 2024 年升至 50 元/千克。", FORECAST, False),
    ],
)
def test_a_figure_is_printed_with_its_number_and_a_forecast_only_as_one(
    sentence: str, modality: Modality, printed: bool
):
    valid = year(2024 if modality is FORECAST else 2023)
    fact = claim("industry:光伏", "reports", PRICE, value=Value(40.0, "元/千克"), valid=valid, modality=modality)
    assert is_figure(*told(fact, sentence)) is printed


@pytest.mark.parametrize(
    ("sentence", "value", "period", "printed"),
    [
        ("硅料价格上涨 10%。", Value(10.0, "%", change="change"), year(2023), True),
        ("硅料价格较 2021 年高点上涨 10%。", Value(10.0, "%", change="change"), year(2023), False),  # since when?
        ("硅料价格年均上涨 10%。", Value(10.0, "%", change="change"), year(2023), False),  # a year
        ("硅料价格 10 年复合增速 10%。", Value(10.0, "%", change="cagr"), None, False),  # of which years?
        ("硅料价格上涨 10%。", Value(10.0, "%", change="change"), Period(date(2014, 1, 1), date(2024, 1, 1)), False),
        ("硅料价格上涨 10%。", Value(10.0, "%", change="change"), year(2024), False),  # is not over
        ("隆基绿能：硅料价格上涨 10%。", Value(10.0, "%", change="change"), year(2023), False),  # of one firm
        ("硅料价格 | 10% | 12%", Value(10.0, "%", change="change"), year(2023), False),  # under which head?
    ],
)
def test_a_figure_is_of_what_its_line_names_and_of_its_period(
    sentence: str, value: Value, period: Period | None, printed: bool
):
    fact = claim("industry:光伏", "reports", PRICE, value=value, valid=period)
    firm = claim(LONGI, "produces", MODULE)
    view = seen(paper(1, "2024-06-01", (sentence, fact)), paper(2, "2024-06-01", ("隆基绿能生产组件。", firm)))
    (found,) = view.facts(relation="reports")
    assert is_figure(QuerySession(view), found) is printed


@pytest.mark.parametrize(
    ("sentence", "printed"),
    [
        ("硅料企业联合减产，推动价格回升。", True),
        ("硅料行业的基本情况介绍如下。", False),
        ("风险：硅料价格可能大幅下跌。", False),
        ("建议关注硅料龙头，价格有望回升。", False),
        ("隆基绿能：硅料价格回升，盈利改善。", False),  # of one firm
        ("2019 年硅料企业联合减产，推动价格回升。", False),  # long ago
        ("组件价格回升，企业盈利改善。", False),  # another topic
    ],
)
def test_a_sentence_stands_for_itself_if_it_says_what_happens_to_the_topic(sentence: str, printed: bool):
    firm = claim(LONGI, "produces", MODULE)
    view = seen(
        paper(1, "2024-06-01", (sentence, moves(CUT, PRICE, 0, 1))),
        paper(2, "2024-06-01", ("隆基绿能生产组件。", firm)),
    )
    (found,) = view.facts(relation="affects")
    assert is_statement(QuerySession(view), found, ("硅料",)) is printed


def test_a_place_on_the_chain_is_stated_not_advised():
    assert is_link("硅料用于硅片。", "硅料", "硅片")
    assert not is_link("光伏：关注硅料、硅片。", "硅料", "硅片")


def test_a_maker_is_named_with_what_it_makes_and_still_makes_it():
    fact = claim(LONGI, "produces", MODULE)
    assert makes_known(*told(fact, "隆基绿能生产组件。"))
    assert not makes_known(*told(fact, "公司生产组件。"))
    assert not makes_known(*told(fact, "隆基绿能不再生产组件。"))


def test_a_warning_is_no_appointment():
    expected = replace(moves(CUT, PRICE, 0, 1), modality=FORECAST, valid=year(2025))
    assert is_due(*told(expected, "限产将于 2025 年推升硅料价格。"))
    assert not is_due(*told(expected, "风险：限产可能推升硅料价格。"))
    planned = replace(expected, modality=Modality.PLANNED)  # an effect is no plan
    assert not is_due(*told(planned, "限产将于 2025 年推升硅料价格。"))
    assert not is_due(*told(replace(expected, modality=CONDITIONAL), "限产将推升硅料价格。"))
    assert not is_due(*told(claim(SILICON, "upstream_of", MODULE, modality=Modality.PLANNED), "项目投产。"))
