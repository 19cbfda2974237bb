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
from tests.contracts.reference import MemoryStore
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
        "示例泵业2021年人均创收",
        "示例泵业2021年行业平均毛利率",
        "示例泵业的竞争对手2021年营业收入",
        "示例泵业2021年研发费用与营业收入之比",
        # a month, the opening balance, the year before
        "示例泵业2022年3月营业收入是多少？",
        "示例泵业2022年1月至6月营业收入是多少？",
        "示例泵业2022年1月1日至6月30日营业收入是多少？",
        "示例泵业2022年6月货币资金余额",
        "示例泵业2022年1月1日的货币资金",
        "示例泵业2022年期初货币资金",
        "示例泵业2022年初的货币资金余额",
        "示例泵业2022年上一年的营业收入",
        "示例泵业2022年前一年的营业收入增长了多少？",
        "示例泵业2022年比前一年营业收入多多少",
        "示例泵业2020年至2022年营业收入比上年增长了多少？",
        # an amount
        "示例泵业2022年营业收入是否超过9000亿元？",
        "示例泵业2022年营业收入是否超过9000？",
        "示例泵业2022年营业收入比9000亿元高吗？",
        "示例泵业2022年营业收入是否增长了50%？",
        "示例泵业2022年营业收入减去3亿元是多少？",
        "示例泵业2022年营业收入是否高于营业成本？",
    ],
)
def test_traps_are_refused(session: QuerySession, question: str):
    answer = filing_value(session, question)
    assert (answer.value, answer.status != "answered") == (None, True)


# Further wordings, each asked of one report in turn: figures, computed ones, comparisons with the year before.
EXTRACTED = {
    "{n}{y}年度营业收入为多少亿元": "营业收入",
    "{n}在{y}财年录得多少营收？": "营业收入",
    "请问{y}年{n}的营业成本是多少万元？": "营业成本",
    "{n}{y}年末的存货余额": "存货",
    "{n}{y}年账面存货有多少": "存货",
    "查一下{n}{y}年年报里的应收账款": "应收账款",
    "{y}年底{n}账上有多少货币资金？": "货币资金",
    "帮我找{n}{y}年年报，货币资金期末是多少": "货币资金",
    "{n}{y}年度销售费用花了多少？": "销售费用",
    "{n} {y}年 管理费用 (万元)": "管理费用",
    "{n}{y}年实现净利润多少亿元？": "净利润",
    "截至{y}年12月31日，{n}总资产多少？": "资产总计",
    "{n}截止{y}年底的负债总额": "负债合计",
    "{y}年末{n}的净资产是多少亿元": "所有者权益合计",
    "{n}{y}年短期借款余额是多少千元？": "短期借款",
    "{n}{y}年应付账款期末数": "应付账款",
    "{y}年{n}销售商品收到的现金是多少？": "销售商品、提供劳务收到的现金",
    "{n}{y}年度投资活动现金流净额": "投资活动产生的现金流量净额",
}
COMPUTED: dict[str, Callable[[_Numbers, _Numbers], float]] = {
    "{n}{y}年净利润同比增速": lambda now, old: 100 * (now["净利润"] / old["净利润"] - 1),
    "{n}{p}到{y}年存货增长了百分之多少": lambda now, old: 100 * (now["存货"] / old["存货"] - 1),
    "{n}{y}年货币资金比年初增加了多少？": lambda now, old: (now["货币资金"] - old["货币资金"]) * 1e4,
    "{n}{y}年存货比上年增加了多少万元？": lambda now, old: (now["存货"] - old["存货"]) * 1e4,
    "{n}{y}年研发费用占营业收入的比重": lambda now, _: 100 * now["研发费用"] / now["营业收入"],
    "{n}{y}年应收账款占总资产的比例": lambda now, _: 100 * now["应收账款"] / now["资产总计"],
    "{n}{y}年1月1日至{y}年12月31日营业收入是几亿元？": lambda now, _: now["营业收入"] * 1e4,
    "{n}{y}年末流动比率是多少倍": lambda now, _: now["流动资产合计"] / now["流动负债合计"],
    "{n}{y}年和{p}年的平均营业收入是多少？": lambda now, old: (now["营业收入"] + old["营业收入"]) * 5e3,
    "{n}{y}年利润总额减去所得税费用是多少？": lambda now, _: (now["利润总额"] - now["所得税费用"]) * 1e4,
    "{n}{y}年存货周转天数": lambda now, old: 365 * (now["存货"] + old["存货"]) / 2 / now["营业成本"],
}
COMPARED: dict[str, Callable[[_Numbers, _Numbers], bool]] = {
    "{n}{y}年净利润比上年高吗？": lambda now, old: now["净利润"] > old["净利润"],
    "{n}{y}年营业收入有没有超过{p}年？": lambda now, old: now["营业收入"] > old["营业收入"],
    "{n}{y}年毛利率是不是下降了？": lambda _now, _old: True,
    "{n}{y}年筹资活动现金流量净额是正的吗？": lambda now, _: now["筹资活动产生的现金流量净额"] > 0,
    "{n}{y}年存货是不是比{p}年多？": lambda now, old: now["存货"] > old["存货"],
}


def _in_turn(wordings: Sequence[str]) -> Iterator[tuple[str, str, Issuer, int]]:
    for number, wording in enumerate(wordings):
        issuer, year = ISSUERS[number % 3], YEARS[1 + number // 3 % 3]
        yield wording, wording.format(n=issuer.name, y=year, p=year - 1), issuer, year


def test_further_wordings_are_answered(session: QuerySession):
    for wording, question, issuer, year in _in_turn([*EXTRACTED, *COMPUTED]):
        now, old = figures(issuer, year), figures(issuer, year - 1)
        true = now[EXTRACTED[wording]] * 1e4 if wording in EXTRACTED else COMPUTED[wording](now, old)
        answer = filing_value(session, question)
        assert (question, answer.value) == (question, pytest.approx(true, rel=1e-4))
        assert not _is_mixed_up(answer, issuer, year)
    for wording, question, issuer, year in _in_turn(list(COMPARED)):
        holds = COMPARED[wording](figures(issuer, year), figures(issuer, year - 1))
        assert (question, filing_value(session, question).decision) == (question, "yes" if holds else "no")


def test_of_two_equal_values_neither_is_the_greater(session: QuerySession):
    answer = filing_value(session, "样本水务与虚构阀门相比，2021年哪家毛利率更高？")
    assert (answer.status, answer.decision) == ("answered", "")


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
