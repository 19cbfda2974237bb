"""Chinese annual reports made with reportlab: three issuers, four years, three layouts, with their true figures.

Layouts: labels with notes beside them in yuan; a table continued on the next page in thousands; statements of the group
beside those of the parent company in one table, in ten thousands. All have tables of key figures with a column of
changes, statements of the parent with other figures, and footnotes.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

YEARS = (2019, 2020, 2021, 2022)
_UNITS = {0: ("元", 1), 1: ("千元", 1_000), 2: ("万元", 10_000)}
_Line = str | tuple[str, ...]
_LEFTS = (270, 340, 430, 510)
_FILLER = "公司围绕主营业务开展工作，完善内部管理，推进项目建设，提升产品质量。"


@dataclass(frozen=True)
class Issuer:
    """An issuer of made-up reports; `base` is its size, in ten thousands of yuan."""

    name: str
    code: str
    base: int
    layout: int

    @property
    def unit(self) -> tuple[str, int]:
        """The unit of its statements."""
        return _UNITS[self.layout]


ISSUERS = (
    Issuer("示例泵业", "605990", 310_000, 0),
    Issuer("样本水务", "301990", 720_000, 1),
    Issuer("虚构阀门", "605991", 150_000, 2),
)


def figures(issuer: Issuer, year: int, *, parent: bool = False) -> dict[str, int]:
    """Return the true figures of a year in ten thousands of yuan."""
    step, share = year - 2017, 3 if parent else 10
    base = (issuer.base + issuer.base * step * (7 + issuer.layout) // 100) * share // 10
    revenue, cost = base, base * (62 + step) // 100
    assets, current = base * 2 + 1_100 * step, base * 9 // 10
    liabilities = assets * (41 + step) // 100
    return {
        "营业收入": revenue,
        "营业成本": cost,
        "销售费用": revenue * 5 // 100,
        "管理费用": revenue * 4 // 100 + 3,
        "研发费用": revenue * 6 // 100 + 7,
        "营业利润": revenue * 17 // 100,
        "利润总额": revenue * 17 // 100 + 11,
        "所得税费用": revenue * 2 // 100,
        "净利润": revenue * 15 // 100 + 11,
        "归属于母公司股东的净利润": revenue * 14 // 100 + 9,
        "货币资金": base * 3 // 10 + 5 * step,
        "应收账款": base * 2 // 10 + 3,
        "存货": base * 18 // 100 + step,
        "流动资产合计": current,
        "固定资产": base * 7 // 10,
        "资产总计": assets,
        "短期借款": base // 20 + step,
        "应付账款": base * 12 // 100,
        "流动负债合计": liabilities * 6 // 10,
        "负债合计": liabilities,
        "所有者权益合计": assets - liabilities,
        "经营活动产生的现金流量净额": revenue * 12 // 100 + 2,
        "购建固定资产、无形资产和其他长期资产支付的现金": revenue * 8 // 100 + 1,
        "销售商品、提供劳务收到的现金": revenue * 11 // 10,
        "支付给职工以及为职工支付的现金": revenue * 9 // 100,
        "投资活动产生的现金流量净额": -revenue * 7 // 100,
        "筹资活动产生的现金流量净额": -revenue * 3 // 100,
    }


_INCOME = ("营业收入", "营业成本", "销售费用", "管理费用", "研发费用", "营业利润", "利润总额", "所得税费用", "净利润")
_BALANCE = (
    "货币资金",
    "应收账款",
    "存货",
    "流动资产合计",
    "固定资产",
    "资产总计",
    "短期借款",
    "应付账款",
    "流动负债合计",
)
_CASH = (
    *("销售商品、提供劳务收到的现金", "支付给职工以及为职工支付的现金", "经营活动产生的现金流量净额"),
    *("购建固定资产、无形资产和其他长期资产支付的现金", "投资活动产生的现金流量净额", "筹资活动产生的现金流量净额"),
)


def pages_of(issuer: Issuer, year: int) -> list[Sequence[_Line]]:
    """Return the lines of a report's pages."""
    title = f"{year} 年年度报告" if issuer.layout != 1 else f"{year}年年度报告全文"
    cover = [f"公司代码：{issuer.code}    公司简称：{issuer.name}", f"{issuer.name}股份有限公司", title]
    return [
        [*cover, f"{year + 1} 年 4 月 20 日"],
        ["目 录", "第一节 释义 ..... 4", "第二节 公司简介和主要财务指标 ..... 5", "第三节 管理层讨论与分析 ..... 8"],
        ["第二节 公司简介和主要财务指标", "七、近三年主要会计数据和财务指标", *_key_figures(issuer, year)],
        ["第三节 管理层讨论与分析", "一、报告期内公司所处行业情况", "水泵行业需求回升，原材料价格下降使毛利率提高。"],
        *([f"二、经营情况讨论（{number}）", *[_FILLER] * 12] for number in range(26)),
        *_statements(issuer, year),
        ["十六、或有事项", "未决诉讼：原告向法院提起诉讼，公司尚在应诉。"],
    ]


def _amount(issuer: Issuer, ten_thousands: int) -> str:
    unit = issuer.unit[1]
    return f"{ten_thousands:,}.00" if unit == 10_000 else f"{ten_thousands * 10_000 // unit:,}.00"


def _key_figures(issuer: Issuer, year: int) -> list[_Line]:
    names = ("营业收入", "归属于上市公司股东的净利润", "经营活动产生的现金流量净额")
    rows: list[_Line] = [
        f"单位：{issuer.unit[0]}",
        ("主要会计数据", f"{year}年", f"{year - 1}年", "本期比上年同期增减(%)", f"{year - 2}年"),
    ]
    for name in names:
        own = name.replace("上市公司", "母公司")
        three = [figures(issuer, year - back)[own] for back in range(3)]
        change = f"{100 * (three[0] / three[1] - 1):.2f}"
        rows.append((name, _amount(issuer, three[0]), _amount(issuer, three[1]), change, _amount(issuer, three[2])))
    return [*rows, "注：上述数据按合并口径。", ("加权平均净资产收益率（%）", "13.21", "12.40", "0.81", "11.95")]


def _rows(issuer: Issuer, year: int, names: Sequence[str], *, parent: bool = False) -> list[_Line]:
    rows: list[_Line] = []
    for place, name in enumerate(names):
        label = {
            "营业收入": "一、营业收入",
            "营业成本": "减：营业成本",
            "营业利润": "三、营业利润（亏损以“－”号填列）",
        }.get(name, name)
        values = [_amount(issuer, figures(issuer, year - back, parent=parent)[name]) for back in range(2)]
        note = (f"七、{place + 1}",) if issuer.layout == 0 and not parent else ()
        rows.append((label, *note, *values))
    return rows


def _statements(issuer: Issuer, year: int) -> list[list[_Line]]:
    days: _Line = ("项目", f"{year}年12月31日", f"{year - 1}年12月31日")
    spans: _Line = ("项目", f"{year}年度", f"{year - 1}年度")
    if issuer.layout == 1:
        days, spans = ("项目", "期末余额", "期初余额"), ("项目", "本期发生额", "上期发生额")
    if issuer.layout == 0:
        days, spans = (("项目", "附注", *line[1:]) for line in (days, spans))
    unit = f"单位：{issuer.unit[0]} 币种：人民币"
    attributable = ["归属于母公司股东的净利润"]
    balance = _rows(issuer, year, _BALANCE)
    debt = _rows(issuer, year, ("负债合计", "所有者权益合计"))
    total = [
        ("负债和所有者权益总计", *[_amount(issuer, figures(issuer, year - back)["资产总计"]) for back in range(2)])
    ]
    rows = [*balance, *debt, *total]
    cut = 6 if issuer.layout == 1 else len(rows)
    pages: list[list[_Line]] = [["第十节 财务报告", "二、财务报表", "合并资产负债表", unit, days, *rows[:cut]]]
    pages += [rows[cut:]] if rows[cut:] else []
    pages += [
        ["母公司资产负债表", unit, days, *_rows(issuer, year, (*_BALANCE, "负债合计", "所有者权益合计"), parent=True)]
    ]
    pages += [["合并利润表", unit, spans, *_rows(issuer, year, (*_INCOME, *attributable))]]
    pages += [["母公司利润表", unit, spans, *_rows(issuer, year, _INCOME, parent=True)]]
    pages += [["合并现金流量表", unit, spans, *_rows(issuer, year, _CASH)]]
    pages += [["母公司现金流量表", unit, spans, *_rows(issuer, year, _CASH, parent=True)]]
    return pages


def pdf_of(pages: Sequence[Sequence[_Line]]) -> bytes:
    """Return the pages as a PDF with a template's title."""
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.setTitle("定期报告模板")
    for page in pages:
        canvas.setFont("STSong-Light", 9)
        for number, line in enumerate(page):
            cells = (line,) if isinstance(line, str) else line
            lefts = (40, *_LEFTS[-len(cells) + 1 :]) if len(cells) > 1 else (40,)
            for left, cell in zip(lefts, cells, strict=True):
                canvas.drawString(left, 800 - 16 * number, cell)
        canvas.showPage()
    canvas.save()
    return file.getvalue()
