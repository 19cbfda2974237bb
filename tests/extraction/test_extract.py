from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from extraction import streams as extracting
from extraction.cli import extract
from tests.goldens import reports

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXT = "宁德时代（300750.SZ）2024年三季度归母净利润131.36亿元，同比增长26%。\r\n恩捷股份向宁德时代供应隔膜。"


@pytest.fixture(autouse=True)
def one_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extracting.Extractor, "default", lambda **given: reports.extractor(given["min_confidence"]))


def call(lines: Sequence[str | bytes], *options: str) -> tuple[list[dict[str, Any]], list[str], int]:
    given = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    result = CliRunner().invoke(extract, ["-", "--workers", "1", "--no-ner", *options], input=given)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return [json.loads(line) for line in result.stdout.splitlines()], result.stderr.splitlines(), result.exit_code


def record(name: Any, text: str, day: str = "2024-10-20") -> str:
    return json.dumps({"id": name, "text": text, "date": day}, ensure_ascii=False)


def test_facts_come_with_codes_periods_values_and_the_givers_own_characters():
    (answer,), refusals, code = call([record("a", TEXT)])
    assert (answer["id"], refusals, code) == ("a", [], 0)
    profit = next(fact for fact in answer["facts"] if fact["relation"] == "reports" and fact["value"]["unit"] == "元")
    assert profit["subject"] == {
        "id": "sec:300750.SZ",
        "name": "宁德时代",
        "kind": "company",
        "code": "300750.SZ",
    }
    assert profit["valid"] == {"start": "2024-07-01", "end": "2024-10-01", "precision": "quarter"}
    assert profit["value"]["number"] == pytest.approx(13_136_000_000)
    for fact in answer["facts"]:
        assert TEXT[fact["evidence"]["start"] : fact["evidence"]["end"]] == fact["evidence"]["quote"]
    for mention in answer["mentions"]:
        assert TEXT[mention["start"] : mention["end"]] == mention["text"]


def test_each_bad_line_is_said_with_its_number_and_the_rest_is_answered_in_order():
    answers, refusals, code = call(
        [
            record("first", TEXT),
            "{not json",
            b'{"id": "\xff"}',
            "[1, 2]",
            "",
            json.dumps({"text": TEXT, "date": "2024-10-20"}),
            json.dumps({"id": "undated", "text": TEXT}),
            record("empty", "   "),
            record("last", TEXT),
        ]
    )
    assert [answer["id"] for answer in answers] == ["first", "last"]
    assert [line.split(":")[2] for line in refusals] == ["2", "3", "4", "6", "7", "8"]
    assert code == 3


def test_explain_names_the_pattern():
    (answer,), _, _ = call([record("a", TEXT)], "--explain")
    patterns = {fact["explanation"]["pattern"] for fact in answer["facts"]}
    assert all(pattern.startswith("patterns/") for pattern in patterns)
    assert len(patterns) > 1


def test_what_is_not_stored_is_written_only_when_asked_for():
    text = "安防领域重点公司2020年整体收入为1213亿元。"
    (sure,), _, _ = call([record("a", text, day="2021-01-20")])
    (all_of_it,), _, _ = call([record("a", text, day="2021-01-20")], "--min-confidence", "0")
    assert sure["facts"] == []
    assert [fact["value"]["number"] for fact in all_of_it["facts"]] == [121_300_000_000]


def test_the_same_lines_give_the_same_bytes():
    lines = [record(number, TEXT) for number in range(3)]
    assert call(lines) == call(lines)


def test_a_record_that_is_one_stock_phrase_is_read_all_the_same():
    (answer,), refusals, code = call([record("a", "风险提示：市场有风险，投资需谨慎。")])
    assert (answer["facts"], refusals, code) == ([], [], 0)
