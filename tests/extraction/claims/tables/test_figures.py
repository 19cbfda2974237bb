from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from extraction.documents.html import read_html
from extraction.documents.markdown import read_markdown
from extraction.documents.metadata import SourceFile
from kg.model import Modality, Reading
from tests.goldens.reports import READ, extractor, names_of, read, report

TODAY = date(2026, 1, 1)


def table(*rows: str) -> str:
    """Return Markdown rows as one stored table: cells joined by a bar, no rule below the head."""
    return "| " + "\n".join(row[1:-1].strip() + " " * row.endswith("| |") for row in rows if "---" not in row)


def cells(*lines: str, **about: object) -> set[tuple[str, str, float, str, str, str]]:
    """(subject, indicator, number, unit, change, period) of every fact of a table."""
    reading = read(report(table(*lines), **about))  # type: ignore[arg-type]
    names = names_of(reading)
    found = [fact for fact in reading.facts if fact.evidence[0].extractor.endswith(":table")]
    for fact in found:
        item = fact.evidence[0]
        assert reading.document.text[item.start : item.end] == item.quote
    return {
        (names[f.subject], names[f.object], f.value.number, f.value.unit, f.value.change, str(f.valid or ""))
        for f in found
        if f.value
    }


SUMMARY = (
    "| （百万元） | 2023A | 2024A | 2025E |",
    "|---|---|---|---|",
    "| 营业收入 | 400,917 | 362,013 | 420,000 |",
    "| 同比（%） | 22.0% | -9.7% | 16.0% |",
    "| 毛利率 | 22.9% | 24.4% | 24.8% |",
    "| PE | 18.0 | 21.5 | 17.9 |",
)


def test_a_financial_summary_is_a_fact_a_cell():
    found = cells(*SUMMARY, codes=("300750.SZ",))
    assert ("宁德时代", "营业收入", 362013e6, "元", "", "2024") in found
    assert ("宁德时代", "营业收入", -9.7, "%", "yoy", "2024") in found
    assert ("宁德时代", "毛利率", 24.8, "%", "", "2025") in found
    assert ("宁德时代", "PE", 18.0, "倍", "", "2023") in found
    assert len(found) == 12


def test_a_column_of_estimates_is_a_forecast():
    reading = read(report(table(*SUMMARY), codes=("300750.SZ",)))
    tables = [fact for fact in reading.facts if fact.evidence[0].extractor.endswith(":table")]
    stated = {str(fact.valid): fact.modality for fact in tables}
    assert stated == {"2023": Modality.ASSERTED, "2024": Modality.ASSERTED, "2025": Modality.FORECAST}


def test_segments_narrow_the_companys_figures():
    reading = read(
        report(
            table("| （百万元） | 2023 | 2024 |", "| 1、动力电池 | | |", "| 营业收入 | 285,253 | 253,041 |"),
            codes=("300750.SZ",),
        )
    )
    tables = [fact for fact in reading.facts if fact.evidence[0].extractor.endswith(":table")]
    assert {fact.qualifiers for fact in tables} == {(("scope", "动力电池"),)}


def test_names_down_the_side_and_indicators_along_the_top():
    found = cells(
        "| 公司 | 2024年市占率 | 市盈率（倍） | 看点 |",
        "|---|---|---|---|",
        "| 宁德时代 | 45.2% | 20.1 | 龙头 |",
        "| 比亚迪 | 24.7% | 22.3 | 垂直整合 |",
        "| 合计 | 69.9% | - | |",
    )
    assert ("宁德时代", "市占率", 45.2, "%", "", "2024") in found
    assert ("比亚迪", "市占率", 24.7, "%", "", "2024") in found
    assert {subject for subject, *_ in found} == {"宁德时代", "比亚迪"}


def test_two_rankings_side_by_side_keep_their_own_names():
    found = cells(
        "| 公司 | 2023年市占率 | 公司 | 2024年市占率 |",
        "|---|---|---|---|",
        "| 宁德时代 | 43.1% | 宁德时代 | 45.2% |",
        "| 比亚迪 | 27.2% | 国轩高科 | 4.1% |",
    )
    assert ("国轩高科", "市占率", 4.1, "%", "", "2024") in found
    assert not any(subject == "比亚迪" and period == "2024" for subject, *_, period in found)


def test_a_number_without_a_unit_is_a_problem():
    reading = read(report(table("| 指标 | 2023 | 2024 |", "| 营业收入 | 4009 | 3620 |"), codes=("300750.SZ",)))
    assert [problem.kind for problem in reading.problems] == ["unit", "unit"]
    assert not [fact for fact in reading.facts if fact.evidence[0].extractor.endswith(":table")]


def test_a_table_of_words_says_nothing():
    assert cells("| 公司 | 看点 |", "|---|---|", "| 宁德时代 | 全球龙头 |", "| 比亚迪 | 垂直整合 |") == set()


def markdown(text: str, *, title: str = "宁德时代2024年报点评") -> Reading:
    """Read a Markdown note as a user's file, rules only."""
    source = SourceFile(Path("note.md"), f"---\ntitle: {title}\ndate: 2025-04-28\n---\n\n{text}\n".encode(), TODAY)
    return extractor().extract(read_markdown(source), recorded_at=READ)


def page(table_: str, *, title: str = "可比公司估值") -> Reading:
    """Read an HTML page as a user's file."""
    body = f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>2025-04-28</p>{table_}</body></html>"
    return extractor().extract(read_html(SourceFile(Path("note.html"), body.encode(), TODAY)), recorded_at=READ)


def figures(reading: Reading) -> dict[tuple[str, str, str], float]:
    """Number by subject, indicator with change, and period."""
    names = names_of(reading)
    return {
        (names[f.subject], names[f.object] + f.value.change, str(f.valid or "")): f.value.number
        for f in reading.facts
        if f.value and f.evidence[0].confidence > 0.5
    }


ROWS = "| 会计年度 | 2023A | 2024A |\n|---|---|---|\n| 营业收入 | 4009 | 3620 |\n| 每股收益 | 10.0 | 11.6 |\n"


@pytest.mark.parametrize(
    ("caption", "factor"),
    [
        ("单位：亿元人民币", 1e8),
        ("单位:RMB bn", 1e9),
        ("（人民币亿元）", 1e8),
        ("(RMB mn)", 1e6),
        ("金额单位：人民币万元", 1e4),
        ("单位：亿元，每股数据除外", 1e8),
        ("单位：人民币百万元（除特别注明外）", 1e6),
        ("财务摘要（人民币百万元）", 1e6),
        ("RMB'000", 1e3),
        ("表1 主要财务指标 单位：亿元", 1e8),
        ("币种：人民币 单位：万元", 1e4),
        ("（单位：人民币 亿元）", 1e8),
        ("单位：亿", 1e8),
    ],
)
def test_the_unit_above_a_table_is_read_as_a_whole(caption, factor):
    found = figures(markdown(f"{caption}\n\n{ROWS}"))
    assert found[("宁德时代", "营业收入", "2024")] == pytest.approx(3620 * factor)
    shares = {value for (_, name, _), value in found.items() if name == "EPS"}
    assert all(value < 100 for value in shares)  # 百万元 is no unit of a share's profit, but its 元 is


@pytest.mark.parametrize("caption", ["单位：亿元或百万美元", "财务摘要（亿元及百万美元）", "财务摘要"])
def test_a_unit_that_is_not_understood_refuses_the_figures(caption):
    reading = markdown(f"{caption}\n\n{ROWS}")
    assert figures(reading) == {}
    assert {problem.kind for problem in reading.problems} == {"unit"}


TWO_HEADERS = {
    ("宁德时代", "营业收入", "2024"): 3620e8,
    ("宁德时代", "营业收入", "2025"): 4200e8,
    ("宁德时代", "PE", "2024"): 22.0,
    ("宁德时代", "PE", "2025"): 18.0,
}


@pytest.mark.parametrize(
    "table_",
    [
        (
            "<tr><td rowspan=2>公司</td><td colspan=2>营业收入（亿元）</td><td colspan=2>PE</td></tr>"
            "<tr><td>2024A</td><td>2025E</td><td>2024A</td><td>2025E</td></tr>"
            "<tr><td>宁德时代</td><td>3620</td><td>4200</td><td>22</td><td>18</td></tr>"
        ),
        (
            "<tr><th rowspan=2>公司</th><th colspan=2>2024A</th><th colspan=2>2025E</th></tr>"
            "<tr><th>营业收入（亿元）</th><th>PE</th><th>营业收入（亿元）</th><th>PE</th></tr>"
            "<tr><td>宁德时代</td><td>3620</td><td>22</td><td>4200</td><td>18</td></tr>"
        ),
        (
            "<tr><td colspan=5>可比公司估值</td></tr><tr><th rowspan=3>公司</th><th colspan=4>财务指标</th></tr>"
            "<tr><th colspan=2>营业收入（亿元）</th><th colspan=2>PE</th></tr>"
            "<tr><th>2024A</th><th>2025E</th><th>2024A</th><th>2025E</th></tr>"
            "<tr><td>宁德时代</td><td>3620<sup>1</sup></td><td><del>4000</del>4200</td><td>22</td><td>18</td></tr>"
        ),
    ],
)
def test_spanning_headers_name_all_their_columns(table_):
    assert figures(page(f"<table>{table_}</table>")) == TWO_HEADERS
    assert figures(markdown(f"<table>\n\n{table_}\n\n</table>", title="可比公司估值")) == TWO_HEADERS


@pytest.mark.parametrize(
    "rows",
    [
        (
            "| 公司 | 营业收入（亿元） |  | PE |  |\n|---|---|---|---|---|\n|  | 2024A | 2025E | 2024A | 2025E |\n"
            "| 宁德时代 | 3620 | 4200 | 22 | 18 |"
        ),
        (
            "| 公司 | 2024A |  | 2025E |  |\n|---|---|---|---|---|\n"
            "|  | 营业收入（亿元） | PE | 营业收入（亿元） | PE |\n| 宁德时代 | 3620 | 22 | 4200 | 18 |"
        ),
        (
            "| 公司 | 营业收入（亿元） | 营业收入（亿元） | PE | PE |\n|---|---|---|---|---|\n"
            "| 公司 | 2024A | 2025E | 2024A | 2025E |\n| 宁德时代 | 3620 | 4200 | 22 | 18 |"
        ),
    ],
)
def test_header_rows_without_spans_are_joined_where_their_groups_repeat(rows):
    assert figures(markdown(rows, title="可比公司估值")) == TWO_HEADERS


def test_periods_as_rows():
    rows = (
        "| 报告期 | 营业收入（亿元） | 同比 | 毛利率(%) |\n|---|---|---|---|\n| 2024Q1 | 798 | -10.4% | 26.4 |\n"
        "| 2025Q1 | 847* | 6.2% | 24.4① |"
    )
    assert figures(markdown(rows)) == {
        ("宁德时代", "营业收入", "2024Q1"): 798e8,
        ("宁德时代", "营业收入yoy", "2024Q1"): -10.4,
        ("宁德时代", "毛利率", "2024Q1"): 26.4,
        ("宁德时代", "营业收入", "2025Q1"): 847e8,
        ("宁德时代", "营业收入yoy", "2025Q1"): 6.2,
        ("宁德时代", "毛利率", "2025Q1"): 24.4,
    }


def test_a_name_is_repeated_below_and_a_column_dates_its_rows():
    rows = (
        "| 公司 | 年份 | 营业收入（亿元） |\n|---|---|---|\n| 宁德时代 | 2023A | 4009 |\n|  | 2024A | 3620 |\n"
        "| 亿纬锂能 | 2023A | 488 |\n|  | 2024A | 486 |"
    )
    reading = markdown(rows, title="可比公司")
    assert figures(reading)[("宁德时代", "营业收入", "2024")] == 3620e8
    assert figures(reading)[("亿纬锂能", "营业收入", "2024")] == 486e8
    assert all(item.quote in reading.document.text for fact in reading.facts for item in fact.evidence)


def test_a_column_of_units_and_cells_with_their_own():
    rows = (
        "| 项目 | 单位 | 2023A | 2024A |\n|---|---|---|---|\n| 营业收入 | 人民币百万元 | 400917 | 3620亿元 |\n"
        "| 毛利率 | % | 22.9 | 24.4% |\n| 销量 | GWh | 390 | (475) |"
    )
    found = figures(markdown(rows))
    assert found[("宁德时代", "营业收入", "2023")] == 400917e6
    assert found[("宁德时代", "营业收入", "2024")] == 3620e8
    assert found[("宁德时代", "毛利率", "2024")] == 24.4
    assert found[("宁德时代", "销量", "2023")] == 390.0


@pytest.mark.parametrize("cell", ["(70)", "（70）", "-70", "−70", "–70", "—70", "﹣70", "(70)*", "-70¹", "（70）注1"])
def test_a_negative_cell(cell):
    rows = f"| 项目（亿元） | 2023A | 2024A |\n|---|---|---|\n| 归母净利润 | 136 | {cell} |"
    assert figures(markdown(rows))[("宁德时代", "归母净利润", "2024")] == -70e8


@pytest.mark.parametrize("cell", ["N/A", "-", "—", "n.m.", "60-70", "70/80", ""])
def test_a_cell_without_one_number(cell):
    rows = f"| 项目（亿元） | 2023A | 2024A |\n|---|---|---|\n| 归母净利润 | 136 | {cell} |"
    assert set(figures(markdown(rows))) == {("宁德时代", "归母净利润", "2023")}


@pytest.mark.parametrize(
    ("above", "subject"),
    [
        ("## 比亚迪盈利预测", "比亚迪"),
        ("## 比亚迪\n\n### 盈利预测", "比亚迪"),
        ("表2：比亚迪盈利预测", "比亚迪"),
        ("## 盈利预测", "宁德时代"),
    ],
)
def test_the_firm_of_a_table_is_the_one_above_it(above, subject):
    rows = "| 项目（亿元） | 2023A | 2024A |\n|---|---|---|\n| 营业收入 | 6023 | 7771 |"
    assert {name for name, *_ in figures(markdown(f"{above}\n\n{rows}"))} == {subject}


@pytest.mark.parametrize("above", ["## 比亚迪与宁德时代", "表2：公司与比亚迪毛利率对比"])
def test_a_table_of_two_firms_is_of_neither(above):
    rows = "| 项目（亿元） | 2023A | 2024A |\n|---|---|---|\n| 营业收入 | 6023 | 7771 |"
    assert figures(markdown(f"{above}\n\n{rows}")) == {}


def test_a_total_that_its_parts_do_not_give_refuses_the_column():
    rows = "| 公司 | 2024年出货量（GWh） |\n|---|---|\n| 宁德时代 | 475 |\n| 亿纬锂能 | 50 |\n| 合计 | {} |"
    assert len(figures(markdown(rows.format("525"), title="动力电池"))) == 2
    reading = markdown(rows.format("5250"), title="动力电池")
    assert figures(reading) == {}
    assert [problem.kind for problem in reading.problems] == ["figure", "figure"]


def test_a_growth_that_its_two_values_deny_is_refused():
    rows = "| 项目 | 2023A | 2024A |\n|---|---|---|\n| 营业收入（亿元） | 4009 | 3620 |\n| 同比（%） | 22.0 | {} |"
    assert ("宁德时代", "营业收入yoy", "2024") in figures(markdown(rows.format("-9.7")))
    reading = markdown(rows.format("9.7"))
    assert ("宁德时代", "营业收入yoy", "2024") not in figures(reading)
    assert [problem.kind for problem in reading.problems] == ["figure"]


def test_a_revenue_of_a_listed_firm_below_a_million_is_refused():
    reading = markdown("| 项目（元） | 2023A | 2024A |\n|---|---|---|\n| 营业收入 | 4009 | 3620 |")
    assert figures(reading) == {}
    assert {problem.kind for problem in reading.problems} == {"scale"}


def test_a_financial_year_in_a_header_is_sure_on_the_mainland_only():
    rows = (
        "| 公司 | PE（FY25E） | 股价 |\n|---|---|---|\n| 宁德时代 | 17.5 | 251.5 CNY |\n| 阿里巴巴 | 14.2 | 120 HKD |"
    )
    assert {name for name, indicator, _ in figures(markdown(rows, title="可比公司")) if indicator == "PE"} == {
        "宁德时代"
    }


def test_the_growth_of_a_quarter_is_not_measured_against_a_year():
    rows = (
        "| 公司 | 2024年营业收入 | 2024年同比 | 2025Q1营业收入 | 2025Q1营收同比 |\n|---|---|---|---|---|\n"
        "| 宁德时代 | 3620亿元 | -9.7% | 847亿元 | +6.2% |"
    )
    assert markdown(rows, title="可比公司").problems == ()


@pytest.mark.parametrize("label", ["美元 / 桶", "美元/桶", "美元／桶"])
def test_blanks_around_the_slash_of_a_price(label):
    rows = f"| 指标 | 2024Q1 | 2025Q1 |\n|---|---|---|\n| 布伦特原油价格（{label}） | 82.9 | 74.9 |"
    assert 74.9 in figures(markdown(rows, title="原油")).values()


def test_a_column_of_growth_is_of_the_latest_period():
    rows = "| 营业收入 | 3620.1 | 4009.2 | -9.7% |\n| 毛利率 | 24.4% | 22.9% | 6.5% |\n"
    found = figures(markdown("| 亿元 | 2024 | 2023 | 同比 |\n|---|---|---|---|\n" + rows))
    assert found["宁德时代", "营业收入yoy", "2024"] == -9.7
    assert ("宁德时代", "毛利率yoy", "2024") not in found  # of points or of the rate


@pytest.mark.parametrize(
    "rows",
    [
        # the column before it is no plain period, the cell that grew is not understood, the label has another period
        "| 亿元 | 2023 | 2024（调整后） | 目标 | 同比 |\n|---|---|---|---|---|\n| 营业收入 | 1 | 2 | 3 | 5% |\n",
        "| 亿元 | 2023 | 2024 | 同比 |\n|---|---|---|---|\n| 营业收入 | 4009 | 海外3620（累计） | 5% |\n",
        "| 亿元 | 2024 | 同比 |\n|---|---|---|\n| 营业收入（1-5月） | 3620 | 5% |\n",
    ],
)
def test_growth_whose_base_is_unclear_is_not_read(rows):
    assert not [name for _, name, _ in figures(markdown(rows)) if name.endswith("yoy")]


def test_a_corner_s_period_dates_its_table():
    rows = "| 2025Q1 | 不良率 |\n|---|---|\n| 招商银行 | 0.94% |\n| 宁波银行 | 0.76% |\n"
    assert ("招商银行", "不良贷款率", "2025Q1") in figures(markdown(rows, title="银行业绩"))


def test_a_product_s_row_in_a_company_s_report_may_be_the_company_s():
    rows = "| 项目 | 2023年 | 2024年 |\n|---|---|---|\n| 商品煤产量（百万吨） | 324.5 | 327.1 |\n"
    assert not figures(markdown(rows, title="中国神华2024年报点评"))


def test_english_labels_and_a_share_s_profit_in_the_table_s_currency():
    rows = "US$ mn\n\n| | 1Q24 | 1Q25 |\n|---|---|---|\n| Revenue | 1,750 | 2,247 |\n| 摊薄每股收益 | 0.01 | 0.02 |\n"
    found = figures(markdown(rows, title="中芯国际点评"))
    assert found["中芯国际", "营业收入", "2025Q1"] == 2.247e9
    assert found["中芯国际", "EPS", "2025Q1"] == 0.02


def test_results_named_within_days_of_the_quarter_are_expected():
    rows = "| 公司 | 2025Q1归母净利润（亿元） |\n|---|---|\n| 天孚通信 | 6.5 |\n| 紫光股份 | 9.9 |\n"
    source = SourceFile(Path("note.md"), f"---\ntitle: 业绩\ndate: 2025-04-07\n---\n\n{rows}\n".encode(), TODAY)
    facts = extractor().extract(read_markdown(source), recorded_at=READ).facts
    assert {fact.modality for fact in facts if fact.value} == {Modality.FORECAST}
