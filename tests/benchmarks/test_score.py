"""Counts, rates and what is printed of them."""

from __future__ import annotations

import json

import pytest

from benchmarks.quality.score import Report, Score, as_json, as_table


def test_items_of_a_text_count_once_and_rates_follow():
    score = Score("pairs", at_least=0.5)
    score.add(["a", "b", "b"], ["b", "c", "d"])
    score.add(["e"], ["e"])
    assert (score.gold, score.found, score.right) == (3, 4, 2)
    assert (score.precision, score.recall) == (0.5, pytest.approx(2 / 3))
    assert score.f1 == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3)) == score.figure


def test_nothing_is_no_division_by_nothing():
    empty = Score("none")
    assert (empty.precision, empty.recall, empty.f1) == (0.0, 0.0, 0.0)


def test_a_measure_of_recall_alone_is_held_against_recall():
    score = Score("codes", gold=4, found=40, right=3, recall_only=True)
    assert score.figure == score.recall == 0.75
    assert set(score.as_dict()) & {"precision", "recall", "f1"} == {"recall"}
    assert "**0.7500**" in as_table("codes", Report((score,)))


def test_a_report_prints_its_faults_the_most_frequent_first():
    report = Report((Score("pairs", 2, 2, 1),), texts=1)
    for kind, example in (("wrong date", "甲"), ("missed", "乙"), ("missed", "丙")):
        report.fault(kind, example)
    table = as_table("made up", report, shown=1)
    assert table.index("| missed | 2 |") < table.index("| wrong date | 1 |")
    assert "- 乙" in table
    assert "- 丙" not in table
    body = json.loads(as_json("made up", report))
    assert (body["set"], body["texts"], body["faults"]) == ("made up", 1, {"missed": 2, "wrong date": 1})
    assert body["scores"][0]["f1"] == 0.5
