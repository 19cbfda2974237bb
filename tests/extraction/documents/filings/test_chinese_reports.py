"""Annual reports made with reportlab in two layouts, read, stored and asked: nothing is exchanged."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from extraction.documents.metadata import SourceFile
from extraction.documents.pdf.reader import read_pdf
from extraction.pipeline import Extractor
from kg.query.filings.outline import outline_of
from kg.service.base import KnowledgeBase
from tests.contracts.reference import MemoryStore
from tests.extraction.documents.filings.annual_reports import pdf_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.model import Document

ISSUERS = (("示例泵业", "605990", 3_000), ("样本水务", "301990", 7_000))
YEARS = (2021, 2022)
_FILLER = "公司围绕主营业务开展工作，完善内部管理，推进项目建设，提升产品质量。"
_Line = str | tuple[str, str, str]


def pages_of(name: str, code: str, year: int, base: int) -> list[Sequence[_Line]]:
    """Return the lines of a report; odd years have the layout of the other exchange, with blanks in the title."""
    odd = year % 2
    cover = [f"公司代码：{code}    公司简称：{name}", f"{name}股份有限公司", f"{year} 年年度报告"]
    other = [f"证券代码：{code}", f"{name}股份有限公司", f"{year}年年度报告全文", f"{year + 1}年4月"]
    heads = ("项目", f"{year}年12月31日", f"{year - 1}年12月31日")

    def row(label: str, factor: int) -> tuple[str, str, str]:
        return label, f"{base * factor + year:,}.50", f"{base * factor:,}.25"

    return [
        [*cover, f"{year + 1} 年 4 月 20 日"] if odd else other,
        ["目 录", "第一节 释义 ..... 4", "第二节 公司简介和主要财务指标 ..... 5", "第三节 管理层讨论与分析 ..... 8"],
        ["第三节 管理层讨论与分析", "一、报告期内公司所处行业情况", "水泵行业需求回升，原材料价格下降使毛利率提高。"],
        *([f"二、经营情况讨论（{number}）", *[_FILLER] * 12] for number in range(27)),
        [
            "第十节 财务报告",
            "单位：千元",
            "合并资产负债表",
            heads,
            row("存货", 5),
            row("流动资产合计", 12),
            row("资产总计", 20),
        ],
        ["合并现金流量表", heads, row("购建固定资产支付的现金", 2), row("分配股利、利润支付的现金", 1)],
        ["十六、或有事项", "未决诉讼：原告向法院提起诉讼，公司尚在应诉。"],
    ]


BALANCE, CASH, LITIGATION = 31, 32, 33


def report(name: str, code: str, year: int, base: int) -> Document:
    """Return a report as read."""
    return read_pdf(SourceFile(Path("1.pdf"), pdf_of(pages_of(name, code, year, base)), date(2026, 1, 1)))


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    """Return a base with the reports of two issuers and two years."""
    store = MemoryStore()
    extractor = Extractor.default(ner=False, edge_model="off", filing_pages=0)
    with store.writer() as writer:
        for name, code, base in ISSUERS:
            for year in YEARS:
                document = report(name, code, year, base)
                writer.write(extractor.extract(document, recorded_at=datetime(2026, 1, 1, tzinfo=UTC)))
    return KnowledgeBase(store)


@pytest.mark.parametrize("year", YEARS)
def test_a_report_is_titled_by_its_cover(year: int):
    document = report(*ISSUERS[0][:2], year, ISSUERS[0][2])
    assert document.title == f"示例泵业股份有限公司{year}年年度报告"
    assert document.codes == ("605990.SH",)
    assert document.published_on == (date(year + 1, 4, 20) if year % 2 else date(year + 1, 4, 30))
    assert "scale=1000" in document.tags
    sections = [(each.level, each.title, each.page) for each in outline_of(document).sections]
    assert sections[:2] == [(1, "第三节 管理层讨论与分析", 3), (2, "一、报告期内公司所处行业情况", 3)]


@pytest.mark.parametrize("year", YEARS)
@pytest.mark.parametrize("name", [issuer[0] for issuer in ISSUERS])
@pytest.mark.parametrize(
    ("wording", "page"),
    [
        ("{n}{y}年年报中的存货是多少？", BALANCE),
        ("{n}{y}年年报购建固定资产等资本支出是多少？", CASH),
        ("{n}{y}年年度报告有哪些未决诉讼？", LITIGATION),
    ],
)
def test_the_page_of_the_right_issuer_and_year_is_found(
    kb: KnowledgeBase, wording: str, page: int, name: str, year: int
):
    answer = kb.filing_pages(wording.format(n=name, y=year))
    assert (answer.filings[0].company, answer.filings[0].fiscal_year) == (f"{name}股份有限公司", year)
    first = [each.page for each in answer.pages if each.title == answer.filings[0].title]
    assert page in first[:3]
