"""Values of made-up Chinese annual reports: 154 questions over twelve reports in three layouts."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from extraction.documents.markdown import read_markdown
from extraction.documents.metadata import SourceFile
from extraction.documents.pdf.reader import read_pdf
from extraction.pipeline import Extractor
from kg.query.filings.values.answer import filing_value
from kg.service.base import KnowledgeBase
from kg.store.memory import MemoryStore
from tests.extraction.documents.filings.annual_reports import ISSUERS, YEARS, Issuer, figures, pages_of, pdf_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kg.query.filings.values.answer import FilingValueAnswer
    from kg.query.session import QuerySession

_Numbers = dict[str, int]


def base_of(issuers: Sequence[Issuer], years: Sequence[int]) -> KnowledgeBase:
    """Return a base with reports."""
    store = MemoryStore()
    extractor = Extractor.default(ner=False, edge_model="off", filing_pages=0)
    with store.writer() as writer:
        for issuer, year in product(issuers, years):
            file = SourceFile(Path("1.pdf"), pdf_of(pages_of(issuer, year)), date(2026, 1, 1))
            writer.write(extractor.extract(read_pdf(file), recorded_at=datetime(2026, 1, 1, tzinfo=UTC)))
    return KnowledgeBase(store)


@pytest.fixture(scope="module")
def session() -> Iterator[QuerySession]:
    with base_of(ISSUERS, YEARS).session() as session:
        yield session


QUESTIONS: dict[str, Callable[[_Numbers, _Numbers], float]] = {
    "{n}{y}年年报中的营业收入是多少？": lambda now, _: now["营业收入"] * 1e4,
    "{n}{y}年年报的归母净利润是多少亿元？": lambda now, _: now["归属于母公司股东的净利润"] * 1e4,
    "{n}{y}年年度报告的资产总计是多少？": lambda now, _: now["资产总计"] * 1e4,
    "{n}{y}年年报的存货是多少万元？": lambda now, _: now["存货"] * 1e4,
    "{n}{y}年年报的资本支出是多少？": lambda now, _: now["购建固定资产、无形资产和其他长期资产支付的现金"] * 1e4,
    "{n}{y}年年报的研发费用是多少？": lambda now, _: now["研发费用"] * 1e4,
    "{n}{y}年年报的毛利率是多少？": lambda now, _: 100 * (1 - now["营业成本"] / now["营业收入"]),
    "{n}{y}年年报的资产负债率是多少？": lambda now, _: 100 * now["负债合计"] / now["资产总计"],
    "{n}{y}年年报的流动比率是多少？": lambda now, _: now["流动资产合计"] / now["流动负债合计"],
    "{n}{y}年年报营业收入同比增长了多少？": lambda now, old: 100 * (now["营业收入"] / old["营业收入"] - 1),
    "{n}{y}年年报的经营活动产生的现金流量净额是多少？": lambda now, _: now["经营活动产生的现金流量净额"] * 1e4,
}
PARENT = "{n}{y}年年报母公司报表的货币资金是多少？"


def _asked(issuers: Sequence[Issuer], years: Sequence[int]) -> Iterator[tuple[Issuer, int, str, float]]:
    for issuer, year in product(issuers, years):
        now, old = figures(issuer, year), figures(issuer, year - 1)
        for wording, true in QUESTIONS.items():
            yield issuer, year, wording.format(n=issuer.name, y=year), true(now, old)
        own = figures(issuer, year, parent=True)["货币资金"] * 1e4
        yield issuer, year, PARENT.format(n=issuer.name, y=year), own


def _is_mixed_up(answer: FilingValueAnswer, issuer: Issuer, year: int) -> bool:
    """Return whether an operand is of another issuer, or of a year that was not asked for."""
    return any(
        not each.company.startswith(issuer.name) or each.fiscal_year not in {year, year - 1} for each in answer.operands
    )


def test_values_are_right_and_of_the_right_report(session: QuerySession):
    asked = list(_asked(ISSUERS, YEARS))
    answers = [filing_value(session, question) for _, _, question, _ in asked]
    right = [
        answer.value == pytest.approx(true, rel=1e-4) for answer, (_, _, _, true) in zip(answers, asked, strict=True)
    ]
    wrong = [
        (question, answer.text, true)
        for answer, fits, (_, _, question, true) in zip(answers, right, asked, strict=True)
        if not fits and answer.value is not None
    ]
    assert wrong == []
    assert not [row for answer, row in zip(answers, asked, strict=True) if _is_mixed_up(answer, row[0], row[1])]
    assert sum(right) == len(asked)


def test_comparisons_follow_from_the_numbers(session: QuerySession):
    pump, water, _ = ISSUERS
    both = filing_value(session, f"{pump.name}和{water.name}2021年年报的营业收入哪个更大？")
    assert both.decision.startswith(water.name)
    rose = filing_value(session, f"{pump.name}2021年年报的营业收入是否增长？")
    assert rose.decision == "yes"
    three = filing_value(session, f"{pump.name}2019年至2021年年报营业收入的复合增长率是多少？")
    ends = [figures(pump, year)["营业收入"] for year in (2019, 2021)]
    assert three.value == pytest.approx(100 * ((ends[1] / ends[0]) ** 0.5 - 1), rel=1e-4)


@pytest.mark.parametrize(
    "question",
    [
        "示例泵业年报的营业收入是多少？",
        "某某电子2021年年报的营业收入是多少？",
        "示例泵业2021年年报境外营业收入是多少？",
        "示例泵业2021年年报水泵业务的营业收入是多少？",
        "示例泵业2021年年报预计的营业收入是多少？",
        "示例泵业2021年第三季度的营业收入是多少？",
        "示例泵业2021年年报的商誉是多少？",
        "示例泵业2030年年报的营业收入是多少？",
    ],
)
def test_traps_are_refused(session: QuerySession, question: str):
    answer = filing_value(session, question)
    assert (answer.value, answer.status != "answered") == (None, True)


def test_a_forecast_of_a_note_stands_beside_the_reported_value():
    issuer = Issuer("贵州茅台", "600519", 3_100_000, 0)  # a listed one, with made-up figures
    note = """---
title: 贵州茅台：渠道改革见效
date: 2022-03-01
publisher: 示例证券
---
我们预计贵州茅台2022年营业收入450亿元，归母净利润60亿元。"""
    kb = base_of([issuer], [2022])
    extractor = Extractor.default(ner=False, edge_model="off")
    with kb.store.writer() as writer:
        document = read_markdown(SourceFile(Path("n.md"), note.encode(), date(2026, 1, 1)))
        writer.write(extractor.extract(document, recorded_at=datetime(2026, 1, 1, tzinfo=UTC)))
    reported = figures(issuer, 2022)["营业收入"] / 1e4
    lines = [line.text for line in kb.ask("贵州茅台2022年营业收入是多少？").lines]
    assert lines == [f"贵州茅台营业收入 {reported:g}亿元［2022］", "贵州茅台营业收入 450亿元（预测）［2022］"]
    before = kb.ask("贵州茅台2022年营业收入是多少？", as_of=date(2022, 6, 1)).lines
    assert [line.text for line in before] == ["贵州茅台营业收入 450亿元（预测）［2022］"]
