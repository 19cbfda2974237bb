"""Rows of existing graphs: what is taken in, how, and what is said about the rest."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from kg.errors import DocumentError
from kg.ids import fact_id
from kg.interop.dumping import dump
from kg.interop.imports import rows as importing
from kg.interop.imports.rows import FieldReader, RowImport, parse_period
from kg.model import Modality, Polarity, Value
from kg.period import Period, day, half, month, quarter, year
from kg.relations import vocabulary
from kg.securities.master import Master
from kg.store.open import open_store
from tests.contracts.readings import READ
from tests.contracts.reference import MemoryStore

if TYPE_CHECKING:
    from kg.interop.imports.rows import RefusedRow, Tally

GOOD = {
    "subject": "宁德时代", "subject_kind": "company", "relation": "uses", "object": "碳酸锂", "object_kind": "product",
    "published_on": "2024-03-01",
}  # fmt: skip


def run(
    path: Path, layout: str = "jsonl", master: Master | None = None, day: str = ""
) -> tuple[MemoryStore, Tally, list[RefusedRow]]:
    store, reported = MemoryStore(), []
    tally = RowImport(layout, FieldReader(vocabulary(), master), READ, day).run(path, store, refuse=reported.append)
    return store, tally, reported


def written(path: Path, *rows: object) -> Path:
    path.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    )
    return path


def test_a_row_becomes_a_fact_whose_quote_is_the_row(tmp_path: Path):
    row = GOOD | {
        "relation": "reports", "object": "毛利率", "object_kind": "indicator", "valid": "2024Q1", "value": 22.5,
        "unit": "%", "modality": "forecast", "qualifiers": {"product": "电池"}, "speaker": "张三", "source": "甲证券",
        "confidence": 0.7, "sign": 0,
    }  # fmt: skip
    store, tally, reported = run(written(tmp_path / "a.jsonl", row, GOOD))
    assert (reported, tally.written, tally.documents) == ([], 2, 2)
    fact = next(store.view().facts(relation="reports"))
    assert fact.id == fact_id(fact)
    assert (fact.subject, fact.object) == ("org:宁德时代", "indicator:毛利率")
    assert (fact.valid, fact.value, fact.modality) == (quarter(2024, 1), Value(22.5, "%"), Modality.FORECAST)
    assert fact.qualifiers == (("product", "电池"),)
    (item,) = fact.evidence
    document = store.view().document(item.document)
    assert document is not None
    assert item.quote == document.text[item.start : item.end] == json.dumps(row, ensure_ascii=False)
    assert (item.speaker, item.confidence, item.published_on) == ("张三", 0.7, date(2024, 3, 1))
    assert (document.publisher, document.title, document.kind) == ("甲证券", "甲证券 2024-03-01", "graph")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"relation": "喜欢"}, "not in the vocabulary"),
        ({"subject": ""}, "subject is missing"),
        ({"object": 7}, "object is missing"),
        ({"object_kind": "fish"}, "object_kind 'fish' is not one of"),
        ({"object_kind": "region"}, "does not allow company and region"),
        ({"object": "宁德时代", "object_kind": "company", "relation": "supplies"}, "subject and object are both"),
        ({"published_on": "昨天"}, "is not a date like"),
        ({"published_on": None}, "is not a date like"),
        ({"valid": "2024Q5"}, "is not a period like"),
        ({"valid": "2024-02-30"}, "is not a period like"),
        ({"sign": 3}, "sign 3 is not"),
        ({"sign": "plus"}, "sign 'plus' is not 1"),
        ({"value": "NaN"}, "value 'NaN' is not valid"),
        ({"value": [1]}, "a field holds a list"),
        ({"modality": "sure"}, "modality 'sure' is not valid"),
        ({"confidence": 2}, "confidence 2 is not above 0"),
        ({"qualifiers": "rank"}, "not in the form name=value"),
        ({"qualifiers": [1]}, "must be an object"),
        ({"subject": "宁德时代", "subject_kind": ""}, "is not an id like"),
    ],
)
def test_a_bad_row_is_one_line_and_costs_nothing_else(tmp_path: Path, change: dict[str, object], said: str):
    path = written(tmp_path / "a.jsonl", GOOD, GOOD | change, "{", "[]", GOOD | {"object": "铜箔"})
    store, tally, reported = run(path)
    assert [item.where for item in reported] == [f"{path}:{line}" for line in (2, 3, 4)]
    assert said in reported[0].why
    assert "\n" not in reported[0].why
    assert (tally.written, tally.refused, store.stats()["facts"]) == (2, 3, 2)


def test_csv_has_the_same_fields(tmp_path: Path):
    text = (
        "subject,subject_kind,relation,object,object_kind,published_on,valid,polarity,qualifiers\r\n"
        "宁德时代,company,uses,碳酸锂,product,2024-03-01,2024,negative,product=电池;rank=1\r\n"
        '"甲,乙",company,uses,"两\n行",product,2024-03-01,,,\r\n'
        "少,了\r\n"
    )
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    store, tally, reported = run(path, "csv")
    assert [(item.where, item.why) for item in reported] == [(f"{path}:5", "2 cells, but the header has 9")]
    assert tally.written == 2
    denied, other = sorted(store.view().facts(), key=lambda item: item.polarity)
    assert (denied.polarity, denied.valid) == (Polarity.NEGATIVE, year(2024))
    assert denied.qualifiers == (("product", "电池"), ("rank", "1"))
    assert (other.subject, other.object) == ("org:甲,乙", "product:两行")
    assert other.evidence[0].quote.startswith('"甲,乙"')


def test_csv_without_its_columns_says_which(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("subject,object\n")
    with pytest.raises(DocumentError, match="no column relation, published_on"):
        run(path, "csv")
    path.write_text("subject,relation,object,published_on,value,value\n")
    with pytest.raises(DocumentError, match="duplicate columns value"):
        run(path, "csv")


def test_importing_again_adds_nothing(tmp_path: Path):
    path = written(tmp_path / "a.jsonl", GOOD, GOOD | {"published_on": "2024-03-02"})
    store, reported = MemoryStore(), []
    job = RowImport("jsonl", FieldReader(vocabulary()), READ)
    for expected in ((2, 0), (0, 2)):
        tally = job.run(path, store, refuse=reported.append)
        assert (tally.written, tally.known) == expected


def test_rows_of_a_day_lie_in_sheets_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importing, "ROWS", 3)
    monkeypatch.setattr(importing, "_WAITING", 5)
    days = ["2024-03-01", "2024-03-02"]
    rows = [GOOD | {"object": f"产品{number}", "published_on": days[number % 2]} for number in range(14)]
    store, tally, _ = run(written(tmp_path / "a.jsonl", *rows))
    assert tally.written == store.stats()["facts"] == 14
    assert (
        max(
            len(text.text.splitlines()) for head in store.view().documents() if (text := store.view().document(head.id))
        )
        <= 3
    )


def test_a_symmetric_relation_is_kept_once(tmp_path: Path):
    two = {"relation": "competes_with", "object": "比亚迪", "object_kind": "company"}
    turned = GOOD | two | {"subject": "比亚迪", "object": "宁德时代"}
    store, _, _ = run(written(tmp_path / "a.jsonl", GOOD | two, turned))
    (only,) = store.view().facts()
    assert only.subject < only.object


def test_a_company_goes_by_its_code_where_the_master_knows_exactly_one(tmp_path: Path):
    by_code = GOOD | {"subject": "300750.SZ", "object": "铜箔"}
    store, _, _ = run(written(tmp_path / "a.jsonl", GOOD, by_code), master=Master.load())
    assert {fact.subject for fact in store.view().facts()} == {"sec:300750.SZ"}
    assert store.view().named("宁德时代")[0].codes == ("300750.SZ",)


def test_ids_are_taken_as_they_are(tmp_path: Path):
    row = {"subject": "sec:300750.SZ", "relation": "uses", "object": "product:碳酸锂", "published_on": "2024-03-01"}
    store, _, reported = run(written(tmp_path / "a.jsonl", row))
    assert reported == []
    assert next(store.view().facts()).subject == "sec:300750.SZ"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", year(2024)),
        ("2024H2", half(2024, 2)),
        ("2024Q3", quarter(2024, 3)),
        ("2024-09", month(2024, 9)),
        ("2024-09-30", day(date(2024, 9, 30))),
        ("2024-01-01/2024-06-30", Period(date(2024, 1, 1), date(2024, 7, 1))),
        ("2024-01-01/", Period(date(2024, 1, 1), None)),
        ("/2024-06-30", Period(None, date(2024, 7, 1))),
    ],
)
def test_periods(text: str, expected: Period):
    assert parse_period(text) == expected


@pytest.mark.parametrize(
    "text", ["24", "2024-13", "2024Q0", "0000", "9999-12-31/9999-12-31", "2024-06-30/2024-01-01", "x"]
)
def test_what_is_no_period(text: str):
    with pytest.raises((ValueError, OverflowError)):
        parse_period(text)


def test_quadruples_of_ids(tmp_path: Path):
    (tmp_path / "entity2id.txt").write_text("甲集团\t0\n乙公司\t1\n丙行业\t2\n")
    (tmp_path / "relation2id.txt").write_text("母公司/控股\t0\n持有专利\t1\n归属于行业\t2\n")
    (tmp_path / "time2id.txt").write_text("0,2025-01-01\n1,2025-01-02\n")
    (tmp_path / "train.txt").write_text("0\t0\t1\t1\n0\t1\t2\t0\n1\t2\t2\t0\n9\t9\t9\t9\n")
    store, tally, reported = run(tmp_path, "ickg25")
    assert (tally.written, dict(tally.left_out), len(reported)) == (2, {"持有专利": 1}, 1)
    parent = next(store.view().facts(relation="subsidiary_of"))
    assert (parent.subject, parent.object, str(parent.published_on)) == ("org:乙公司", "org:甲集团", "2025-01-02")
    assert parent.evidence[0].quote == "甲集团\t母公司/控股\t乙公司\t2025-01-02"


def test_chain_edges_need_a_day(tmp_path: Path):
    edges = [{"from_entity": "电池", "to_entity": "碳酸锂", "rel": "上游材料"}, {"from_entity": "电池"}]
    written(tmp_path / "product_product.jsonl", *edges)
    with pytest.raises(DocumentError, match="--date"):
        run(tmp_path, "chainkg")
    store, tally, reported = run(tmp_path, "chainkg", day="2021-10-19")
    assert (tally.written, len(reported)) == (1, 1)
    (fact,) = store.view().facts()
    assert (fact.subject, fact.object) == ("product:碳酸锂", "product:电池")
    (tmp_path / "product_product.jsonl").unlink()
    with pytest.raises(DocumentError, match="--format"):
        run(tmp_path, "chainkg", day="2021-10-19")


def test_the_commands_end_to_end(tmp_path: Path):
    path = written(tmp_path / "a.jsonl", GOOD, "{")
    one, two, three, out = (str(tmp_path / name) for name in ("1.liantu", "2.liantu", "3.liantu", "dump.jsonl"))

    def liantu(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(root, arguments)
        assert result.exit_code == code, result.output
        return result.output

    assert "行 1" in liantu("import", str(path), "--kb", one, code=3)
    liantu("dump", "--kb", one, "-o", out)
    liantu("import", out, "--kb", two)
    assert liantu("dump", "--kb", two) == Path(out).read_text()
    assert "整库复制，文档 1，已检查" in liantu("copy", one, three)
    assert "已有 1" in liantu("copy", one, three)
    liantu("import", str(tmp_path), "--kb", one, code=2)


@pytest.mark.parametrize(
    "change", [{"subject": "甲\ud800"}, {"source": "\ud800"}, {"speaker": "\ud800"}, {"unit": "\ud800", "value": 1}]
)
def test_half_a_character_is_a_fault_of_its_row(tmp_path: Path, change: dict[str, object]):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (GOOD, GOOD | change)))
    _, tally, (fault,) = run(path)
    assert tally.written == 1
    assert "unpaired surrogate" in fault.why


def test_sqlite_keeps_the_rows_that_the_reference_keeps(tmp_path: Path):
    measured = {"relation": "reports", "object": "毛利率", "object_kind": "indicator", "unit": "%", "valid": "2024Q1"}
    changes = [
        {"object": f"产品{number}", "published_on": f"2024-03-{1 + number % 3:02}"}
        if number % 2
        else measured | {"value": n}
        for number in range(60)
        for n in (number % 7 / 3,)
    ]
    path = written(tmp_path / "a.jsonl", *(GOOD | change for change in changes))
    reference, _, _ = run(path)
    with closing(open_store(tmp_path / "kb.liantu", create=True)) as store:
        RowImport("jsonl", FieldReader(vocabulary()), READ).run(path, store, refuse=print)
        assert list(dump(store)) == list(dump(reference))
        assert store.stats()["facts"] == 37


def test_what_comes_before_a_fault_of_the_file_is_kept(tmp_path: Path):
    path = written(tmp_path / "a.jsonl", *(GOOD | {"object": f"产品{number}"} for number in range(12)))
    with path.open("ab") as file:
        file.write(b"\xff\xff\n")
    with closing(open_store(tmp_path / "kb.liantu", create=True)) as store:
        with pytest.raises(DocumentError, match="not UTF-8"):
            RowImport("jsonl", FieldReader(vocabulary()), READ).run(path, store, refuse=print)
        assert store.stats()["facts"] == 12
        assert not list(store.breaches())
