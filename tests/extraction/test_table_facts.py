from __future__ import annotations

from kg.model import Modality
from tests.goldens.reports import names_of, read, report


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
