"""The rules by which a found value counts as the annotated one, on texts of our own in the set's format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.quality.score import Options
from benchmarks.quality.yanbao import measure
from extraction.pipeline import Extractor
from tests.goldens.reports import extractor

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.quality.score import Report

HEAD = "2025年8月20日\n行业点评\n"
LINE = "宁德时代2024年实现营业收入3620.13亿元，同比下降9.70%。"


@pytest.fixture(autouse=True)
def one_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building an extractor takes seconds; the session's reads the same."""
    shared = extractor()
    monkeypatch.setattr(Extractor, "default", lambda **_: shared)


def annotated(name: str, value: str, time: str = "", *, line: str = LINE) -> dict[str, Any]:
    """Return one indicator as the set annotates it: value and its offsets in the text, both offsets as strings."""
    start = len(HEAD) + line.index(value)
    element = {"时间": [time, "", ""]} if time else {}
    return {
        "indicator_name": name,
        "indicator_value": [value, str(start), str(start + len(value))],
        "indicator_element": element,
    }


def measured(folder: Path, *indicators: dict[str, Any], line: str = LINE) -> Report:
    """Measure one text with these annotations in its one sentence."""
    clause = {"content": line, "content_offset": [str(len(HEAD)), str(len(HEAD) + len(line))]}
    record = {"source_content": HEAD + line + "\n", "data": [{**clause, "indicators": list(indicators)}]}
    path = folder / "one.json"
    path.write_text(json.dumps(record, ensure_ascii=False), encoding="utf-8")
    return measure(Options((path,)))


def right(report: Report) -> dict[str, int]:
    return {score.name: score.right for score in report.scores}


def test_what_is_annotated_and_found_is_right_in_every_measure(tmp_path: Path):
    report = measured(
        tmp_path, annotated("营业收入", "3620.13亿元", "2024年"), annotated("营业收入同比", "9.70%", "2024年")
    )
    assert right(report) == {"value": 2, "value + indicator": 2, "value + indicator + period": 2}
    assert not report.faults
    assert all(score.f1 == 1.0 for score in report.scores)


@pytest.mark.parametrize("name", ["营收", "收入", "主营业务收入"])
def test_names_of_one_thing_fold_to_one(tmp_path: Path, name: str):
    assert right(measured(tmp_path, annotated(name, "3620.13亿元", "2024年")))["value + indicator + period"] == 1


@pytest.mark.parametrize(
    ("indicator", "fault", "values"),
    [
        (annotated("净利润", "3620.13亿元", "2024年"), "wrong indicator", {"value": 1, "value + indicator": 0}),
        (annotated("营业收入", "3620.13亿元", "2023年"), "wrong date", {"value": 1, "value + indicator": 1}),
        (annotated("营业收入环比", "9.70%", "2024年"), "wrong indicator", {"value": 1, "value + indicator": 0}),
    ],
)
def test_what_differs_is_named(tmp_path: Path, indicator: dict[str, Any], fault: str, values: dict[str, int]):
    report = measured(tmp_path, indicator)
    assert report.faults[fault] == 1
    assert values.items() <= right(report).items()
    assert right(report)["value + indicator + period"] == 0


def test_what_is_not_read_is_missed_and_what_is_not_annotated_is_reported(tmp_path: Path):
    line = "宁德时代2024年实现营业收入3620.13亿元，某不明之物达到77.77度。"
    wanted = annotated("不明之物", "77.77度", line=line)
    report = measured(tmp_path, wanted, line=line)
    assert report.faults == {"missed": 1, "not annotated": 1}
    assert report.scores[0].found == 1


def test_without_an_annotated_time_none_is_judged(tmp_path: Path):
    assert right(measured(tmp_path, annotated("营业收入", "3620.13亿元")))["value + indicator + period"] == 1


def test_the_sign_is_not_judged_since_the_annotation_writes_it_both_ways(tmp_path: Path):
    for value in ("下降9.70%", "9.70%"):
        assert right(measured(tmp_path, annotated("营业收入同比", value, "2024年")))["value"] == 1


def test_sentences_without_an_annotation_are_not_looked_at(tmp_path: Path):
    other = LINE + "宁德时代2023年实现净利润441.21亿元。"
    report = measured(tmp_path, annotated("营业收入", "3620.13亿元", "2024年", line=other), line=other)
    assert report.scores[0].found == 2  # level and change of the annotated sentence, not the next one's profit
