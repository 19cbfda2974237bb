from __future__ import annotations

import json
from datetime import date

import pytest

from kg.errors import DocumentError
from kg.model import Document


def _line(**fields: object) -> str:
    return json.dumps({"title": "快讯", "date": "2025-01-02", "text": "碳酸锂价格下跌。", **fields}, ensure_ascii=False)


def test_each_line_is_a_document(read):
    text = "\n".join(
        [_line(publisher="示例财讯", codes=["002466"], url="http://x"), "", _line(content="", text="第二条。")]
    )
    first, second = read("x.jsonl", text)
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.publisher, first.codes, first.url) == ("示例财讯", ("002466.SZ",), "http://x")
    assert first.path.endswith("x.jsonl:1")
    assert second.path.endswith("x.jsonl:3")
    assert first.id != second.id


def test_the_id_hashes_the_record_not_its_spelling(read):
    (one,) = read("x.jsonl", '{"date":"2025-01-02","text":"甲。"}')
    (two,) = read("y.jsonl", '{ "text": "\\u7532。", "date": "2025-01-02" }\n')
    assert one.id == two.id


@pytest.mark.parametrize("field", ["date", "published_on", "publishedAt"])
def test_spellings_of_the_date(read, field):
    (found,) = read("x.jsonl", json.dumps({field: "2025-03-04T08:00:00+08:00", "content": "甲。"}))
    assert found.published_on == date(2025, 3, 4)


@pytest.mark.parametrize(
    "bad",
    ["{", "[1]", "null", "{}", '{"text": 5}', "[" * 100000, _line(text="a\0b"), _line(date="soon"), "1" * 5000],
)
def test_a_bad_line_is_one_fault_that_names_it(read, bad):
    good, fault, other = read("x.jsonl", "\n".join([_line(), bad, _line(text="乙。")]))
    assert isinstance(good, Document)
    assert isinstance(other, Document)
    assert isinstance(fault, DocumentError)
    assert "x.jsonl:2" in str(fault)
    assert "\n" not in str(fault)


def test_lone_surrogates_do_not_reach_the_store(read_one):
    document = read_one("x.jsonl", '{"date": "2025-01-02", "title": "\\ud800", "text": "甲\\ud800乙。"}')
    assert document.text.encode()
    assert document.title.encode()


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("2025-01-04T16:00:00Z", date(2025, 1, 5)),  # midnight in Beijing
        ("2025-01-04T15:59:59Z", date(2025, 1, 4)),
        ("2025-01-05T01:00:00+09:00", date(2025, 1, 5)),
        ("Sat, 04 Jan 2025 16:30:00 GMT", date(2025, 1, 5)),
        ("2025-01-04T16:00:00", date(2025, 1, 4)),
    ],
)
def test_an_instant_counts_as_the_day_in_the_market(read, stated: str, day: date):
    (document,) = read("x.jsonl", _line(date=stated))
    assert document.published_on == day
