"""The shape of an answer follows the question: a verdict, one side, ratings side by side, the chain only when asked."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest

from kg.model import Value
from kg.period import year
from kg.query.answers import Party
from kg.query.ask.answer import ask
from kg.query.ask.composed import _party_lines
from kg.query.ask.understand import understand
from kg.query.session import QuerySession
from tests.kg.query.world import LONGI, MARGIN, PRICE, TONGWEI, claim, moves, named, paper, seen, solar

if TYPE_CHECKING:
    from kg.model import Fact


def margin(company: str, number: float, of: int) -> Fact:
    return claim(company, "reports", "indicator:毛利率", value=Value(number, "%"), valid=year(of))


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("隆基绿能和通威股份2023年毛利率哪个高", "通威股份更高（隆基绿能 18.3%，通威股份 26.4%）"),
        ("隆基绿能和通威股份2023年毛利率谁更低", "隆基绿能更低（隆基绿能 18.3%，通威股份 26.4%）"),
        ("隆基绿能2022年和2023年的毛利率哪个高", "2023更高（2022 15.4%，2023 18.3%）"),
    ],
)
def test_a_comparison_leads_with_the_verdict(question: str, verdict: str):
    view = seen(
        paper(1, "2024-04-01", ("隆基绿能2023年毛利率18.3%。", margin(LONGI, 18.3, 2023))),
        paper(2, "2024-04-02", ("通威股份2023年毛利率26.4%。", margin(TONGWEI, 26.4, 2023))),
        paper(3, "2023-04-02", ("隆基绿能2022年毛利率15.4%。", margin(LONGI, 15.4, 2022))),
    )
    first = ask(view, question).lines[0]
    assert first.text == verdict
    assert len(first.citations) == 2


def test_sentences_are_compared_only_where_both_state_the_measure():
    def told(*said: str) -> str:
        known = [(f"硅料价格上涨带动{name}盈利改善。", moves(PRICE, company, 1, 1)) for name, company in named]
        view = seen(paper(1, "2024-04-01", *known, *((each, moves(PRICE, MARGIN, 1, -1)) for each in said)))
        return ask(view, "隆基绿能和通威股份2023年毛利率哪个高").lines[0].text

    named = [("隆基绿能", LONGI), ("通威股份", TONGWEI)]
    verdict = "通威股份更高（隆基绿能 18.3%，通威股份 26.4%）"
    assert told("2023年毛利率对比：隆基绿能 18.3%，通威股份 26.4%。") == verdict
    assert told("2023年隆基绿能毛利率为18.3%。", "2023年通威股份毛利率为26.4%。") == verdict
    assert "更高" not in told("2023年隆基绿能毛利率为18.3%。", "2023年通威股份毛利率下降2.1%。")
    assert "更高" not in told("2023年隆基绿能毛利率为18.3%。", "2023年通威股份毛利率为20-25%。")
    assert "更高" not in told("2023年硅片（隆基绿能）、福斯特毛利率为15.0%。", "2023年通威股份毛利率为26.4%。")


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("硅料价格上涨利好谁", ["受益：", "隆基绿能（601012.SH）（已述）"]),
        ("硅料价格上涨对谁不利", ["受损：", "组件（已述）"]),
    ],
)
def test_a_question_for_one_side_gets_that_side(question: str, lines: list[str]):
    view = seen(
        paper(
            1,
            "2024-01-01",
            ("硅料价格上涨压低组件毛利率。", moves(PRICE, MARGIN, 1, -1)),
            ("硅料价格上涨带动隆基绿能盈利改善。", moves(PRICE, LONGI, 1, 1)),
        )
    )
    assert [line.text for line in ask(view, question).lines if line.source == "graph"] == lines


def test_that_no_source_names_a_side_is_said():
    view = seen(paper(1, "2024-01-01", ("硅料价格上涨压低组件毛利率。", moves(PRICE, MARGIN, 1, -1))))
    lines = [line.text for line in ask(view, "硅料价格上涨利好谁").lines]
    assert lines[:3] == ["资料中没有写到受益者；写到的是：", "受损：", "组件（已述）"]


def test_ratings_stand_side_by_side_with_what_they_were():
    def rates(rating: str, house: str = "institution:示例证券丙") -> Fact:
        return claim(house, "rates", LONGI, qualifiers=(("rating", rating),))

    view = seen(
        paper(1, "2024-01-01", ("示例证券丙给予隆基绿能买入评级。", rates("买入"))),
        paper(2, "2024-03-01", ("示例证券丙下调隆基绿能至中性评级。", rates("中性"))),
        paper(3, "2024-02-01", ("示例证券乙给予隆基绿能增持评级。", rates("增持", "institution:示例证券乙"))),
    )
    lines = [line.text for line in ask(view, "隆基绿能的评级").lines if line.source == "graph"]
    assert len(lines) == 2
    assert "中性" in lines[0]
    assert "2024-03-01" in lines[0]
    assert "此前 买入" in lines[0]
    assert "增持" in lines[1]


@pytest.mark.parametrize(
    ("question", "is_chain"),
    [
        ("硅片产业链上下游有哪些公司", True),
        ("硅片产业链各环节的龙头公司；", True),
        ("硅片产业链哪个环节最赚钱", False),
        ("钱都被硅片产业链的哪一环赚走了", False),
    ],
)
def test_the_chain_answers_only_where_it_is_asked_for(question: str, is_chain: bool):
    asked = understand(QuerySession(seen(*solar())), question, date(2025, 1, 1))
    assert (asked.operation == "chain") is is_chain


@pytest.mark.parametrize("question", ["推荐一部电影", "写一首诗", "讲个笑话"])
def test_what_has_nothing_to_do_with_documents_is_not_looked_for(question: str):
    assert ask(seen(*solar()), question).status == "not_found"


def test_no_line_repeats_another():
    said = "隆基绿能2023年毛利率18.3%，同比提升2.9个百分点。"
    view = seen(
        paper(1, "2024-04-01", (said, margin(LONGI, 18.3, 2023))),
        paper(2, "2024-04-02", (said, margin(LONGI, 18.3, 2023))),
    )
    lines = ask(view, "隆基绿能2023年毛利率是多少").lines
    assert [line.source for line in lines] == ["graph"]


def test_customers_are_not_answered_by_suppliers():
    view = seen(
        paper(
            1,
            "2024-01-01",
            ("隆基绿能的主要供应商是通威股份。", moves(PRICE, MARGIN, 1, -1)),
            ("隆基绿能向阳光电源供应组件。", moves(PRICE, LONGI, 1, 1)),
        )
    )
    quoted = [line.text for line in ask(view, "隆基绿能给谁供货").lines]
    assert not any("供应商" in text for text in quoted)


def test_what_a_move_causes_is_no_cause_of_it():
    known = ("硅料价格上涨带动隆基绿能盈利改善。", moves(PRICE, LONGI, 1, 1))
    view = seen(
        paper(1, "2024-01-01", known, ("硅料价格下跌导致企业收入下滑。", moves(PRICE, MARGIN, -1, -1))),
        paper(2, "2024-01-02", ("供给过剩导致硅料价格下跌。", moves(MARGIN, PRICE, 1, -1))),
    )
    texts = [line.text for line in ask(view, "硅料价格为什么下跌").lines if line.source == "text"]
    assert not any("收入下滑" in text for text in texts)


def test_what_is_only_inferred_of_the_other_side_answers_nothing():
    buyer = Party(named(LONGI), -1, "inferred", "采购硅料", (), ())
    maker = Party(named(TONGWEI), 1, "inferred", "生产硅料", (), ())
    assert _party_lines([buyer], "zh", [1]) == []
    assert _party_lines([buyer, maker], "zh", [1]) == _party_lines([maker], "zh", [1]) != []


def test_a_sentence_about_another_side_of_the_chain_does_not_answer():
    lines = ("硅片的中游主要是切片环节，包括切片机。", "硅片的下游主要是电池片环节。")
    view = seen(paper(1, "2024-04-01", *((each, moves(PRICE, MARGIN, 1, -1)) for each in lines)))
    for side, other in (("下游", "中游"), ("中游", "下游")):
        answer = ask(view, f"硅片的{side}包括什么")
        assert not any(other in line.text for line in (*answer.lines, *answer.passages)), side
    assert "切片机" in ask(view, "硅片的中游包括什么").lines[0].text
