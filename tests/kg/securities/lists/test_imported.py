"""A user's own list beside the base: in, shown, compared; what cannot be read is said and the rest is kept."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from kg.cli import root
from kg.errors import UnknownName
from kg.securities.errors import MasterFault
from kg.securities.lists.imported import add_to_base, master_for, place_beside
from kg.securities.lists.imports import read_csv, read_master
from kg.securities.master import Master

OWN = "code,name,kind,start,end,full,english,listed,delisted,issuer\n"
EXPORTS = {
    # 上海: tabs and GB18030; 深圳: numbers whose zeros a spreadsheet has eaten; 北京: commas
    "sse.csv": (
        "A股代码\t证券简称\t扩位证券简称\t公司英文全称\t上市日期\n688981\t中芯国际\t中芯国际集成\tSMIC\t20200716\n",
        "gb18030",
    ),
    "szse.csv": (
        "板块,公司全称,英文名称,A股代码,A股简称,A股上市日期\n主板,平安银行股份有限公司,Ping An,1,平安银行,1991-04-03\n",
        "utf-8-sig",
    ),
    "bse.csv": ("证券代码,证券简称,总股本,上市日期\n920185,贝特瑞,1,2021-11-15\n", "utf-8"),
}
WANTED = {"sse.csv": "688981.SH", "szse.csv": "000001.SZ", "bse.csv": "920185.BJ"}


@pytest.mark.parametrize("name", EXPORTS)
def test_an_exchange_export_is_read_as_it_is(tmp_path, name):
    text, encoding = EXPORTS[name]
    (tmp_path / name).write_bytes(text.encode(encoding))
    rows = read_csv(tmp_path / name)
    assert list(rows.listings) == [WANTED[name]]
    assert rows.listings[WANTED[name]].start is not None
    assert rows.faults == []


def test_a_workbook_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "list.xlsx"
    path.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(MasterFault, match="save the sheet as CSV"):
        read_master(path)


def test_a_name_history_alone_is_a_master(tmp_path):
    path = tmp_path / "namechange.json"
    table = {
        "ts_code": {"0": "601127.SH", "1": "601127.SH"},
        "name": {"0": "小康股份", "1": "赛力斯"},
        "start_date": {"0": "20160615", "1": "20220801"},
    }
    path.write_text(json.dumps(table, ensure_ascii=False), encoding="utf-8")
    names = {name.text: (str(name.start), str(name.end)) for name in read_master(path).names["601127.SH"]}
    assert names == {"小康股份": ("None", "2022-08-01"), "赛力斯": ("2022-08-01", "None")}
    path.write_text("{", encoding="utf-8")
    with pytest.raises(MasterFault, match="not valid JSON"):
        read_master(path)


def test_what_is_imported_reads_back_the_same(tmp_path):
    source = tmp_path / "own.csv"
    source.write_text(
        OWN
        + "601127.SH,小康股份,former,2016-06-15,2022-08-01,,,,,\n"
        + "601127.SH,赛力斯,short,2022-08-01,,赛力斯集团股份有限公司,Seres Group,2016-06-15,,\n"
        + "09927.HK,赛力斯,,,,,,,,601127.SH\n",
        encoding="utf-8",
    )
    kb = tmp_path / "kb.liantu"
    target = add_to_base(kb, read_master(source))
    first = target.read_bytes()
    assert target == place_beside(kb) == master_for(kb)
    assert add_to_base(kb, read_master(target)).read_bytes() == first
    master = Master.load(target)
    issuer = master.by_code("09927")
    assert issuer is not None
    assert issuer.id == "sec:601127.SH"
    assert {"Seres Group", "小康股份"} <= {name.text for name in issuer.names}


def test_the_asked_for_master_goes_before_the_imported_one(tmp_path):
    assert master_for(tmp_path / "kb.liantu") is None
    assert master_for(tmp_path / "kb.liantu", tmp_path / "own.csv") == tmp_path / "own.csv"


def run(tmp_path, *arguments: str):
    return CliRunner().invoke(root, ["securities", *arguments, "--kb", str(tmp_path / "kb.liantu")])


def test_import_then_show(tmp_path):
    (tmp_path / "own.csv").write_text(OWN + "603999.SH,甲乙丙,,,,,,,,\nnonsense,丁,,,,,,,,\n", encoding="utf-8")
    done = run(tmp_path, "import", str(tmp_path / "own.csv"))
    assert done.exit_code == 3
    assert "1 个代码" in done.output
    assert "own.csv:3: skipped" in done.output
    shown = run(tmp_path, "show", "甲乙丙", "--as-of", "2025-01-01", "--json")
    assert json.loads(shown.output)[0]["entity"] == "sec:603999.SH"


@pytest.mark.parametrize(
    ("name", "day", "entity"),
    [
        ("小康股份", "2021-06-01", "sec:601127.SH"),
        ("东风股份", "2020-06-01", "sec:601515.SH"),
        ("东风股份", "2025-06-01", "sec:600006.SH"),
        ("sh.600519", "2025-06-01", "sec:600519.SH"),
    ],
)
def test_show_answers_as_of_the_day(tmp_path, name, day, entity):
    shown = run(tmp_path, "show", name, "--as-of", day, "--json")
    assert [each["entity"] for each in json.loads(shown.output)] == [entity]


def test_show_proposes_what_is_near(tmp_path):
    failed = run(tmp_path, "show", "赛里斯", "--as-of", "2025-06-01")
    assert isinstance(failed.exception, UnknownName)
    assert any("601127.SH" in each for each in failed.exception.near)


def test_diff_tells_what_came_went_and_was_renamed(tmp_path):
    (tmp_path / "a.csv").write_text("code,name\n600001.SH,甲\n600002.SH,乙\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("code,name\n600002.SH,丙\n600003.SH,丁\n", encoding="utf-8")
    done = CliRunner().invoke(root, ["securities", "diff", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "--json"])
    kinds = {change["code"]: change["kind"] for change in map(json.loads, done.output.splitlines())}
    assert kinds == {"600001.SH": "removed", "600002.SH": "renamed", "600003.SH": "added"}
    assert done.exit_code == 0
