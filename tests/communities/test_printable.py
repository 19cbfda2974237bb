"""A fact is printed if its quote names what the line names and says what the line says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from communities.printable import is_cause, is_due, is_figure, makes_known
from kg.model import Fact, Modality, Value
from kg.period import year
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
    fact = claim("industry:光伏", "reports", PRICE, value=Value(40.0, "元/千克"), valid=year(2024), modality=modality)
    assert is_figure(*told(fact, sentence)) is printed


def test_a_maker_is_named_with_what_it_makes_and_still_makes_it():
    fact = claim(LONGI, "produces", MODULE)
    assert makes_known(*told(fact, "隆基绿能生产组件。"))
    assert not makes_known(*told(fact, "公司生产组件。"))
    assert not makes_known(*told(fact, "隆基绿能不再生产组件。"))


def test_a_warning_is_no_appointment():
    planned = replace(moves(CUT, PRICE, 0, 1), modality=Modality.PLANNED, valid=year(2025))
    assert is_due(*told(planned, "限产将于 2025 年推升硅料价格。"))
    assert not is_due(*told(planned, "风险：限产可能推升硅料价格。"))
    assert not is_due(*told(replace(planned, modality=CONDITIONAL), "限产将推升硅料价格。"))
    assert not is_due(*told(claim(SILICON, "upstream_of", MODULE, modality=Modality.PLANNED), "项目投产。"))
