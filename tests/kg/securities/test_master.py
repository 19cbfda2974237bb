"""Names by day, joined listings, the user's own lists, and what is shipped."""

import json
from collections import Counter
from datetime import date

import pytest

from benchmarks.tables.master import moved_number, normalise
from kg.securities.codes import parse_code
from kg.securities.errors import MasterFault
from kg.securities.lists.imports import date_names
from kg.securities.lists.shipped import DATA, parse_day, read_table
from kg.securities.master import Master
from kg.securities.records import Listing, MasterRows, Name, name_key, name_variants


@pytest.fixture(scope="module")
def shipped():
    return Master.load()


def ids(master, text, year):
    return [issuer.id for issuer in master.by_name(text, date(year, 6, 1))]


@pytest.mark.parametrize(
    ("name", "year", "expected"),
    [
        ("小康股份", 2021, ["sec:601127.SH"]),
        ("小康股份", 2025, []),
        ("赛力斯", 2021, []),
        ("赛力斯", 2025, ["sec:601127.SH"]),
        ("东风股份", 2020, ["sec:601515.SH"]),
        ("东风股份", 2025, ["sec:600006.SH"]),
        ("国泰君安", 2024, ["sec:601211.SH"]),
        ("国泰海通", 2025, ["sec:601211.SH"]),
        ("万　科Ａ", 2024, ["sec:000002.SZ"]),
        ("阿里巴巴", 2024, ["sec:09988.HK"]),
        ("nvidia", 2024, ["sec:NVDA.US"]),
        ("查无此名", 2024, []),
    ],
)
def test_a_name_means_whoever_bore_it_on_the_day(shipped, name, year, expected):
    assert ids(shipped, name, year) == expected


@pytest.mark.parametrize(
    ("code", "entity"),
    [
        ("01211.HK", "sec:002594.SZ"),
        ("sz002594", "sec:002594.SZ"),
        ("200002", "sec:000002.SZ"),
        ("BABA", "sec:09988.HK"),
        ("835185", "sec:920185.BJ"),
        ("920185.BJ", "sec:920185.BJ"),
        ("2330.TW", "sec:TSM.US"),
    ],
)
def test_every_listing_leads_to_the_one_issuer(shipped, code, entity):
    assert shipped.by_code(code).id == entity
    assert shipped.issuer(entity).code == entity.removeprefix("sec:")


def test_the_display_name_is_of_the_day(shipped):
    issuer = shipped.by_code("601127")
    assert issuer.name == "赛力斯"
    assert issuer.name_on(date(2021, 1, 1)) == "小康股份"
    assert shipped.by_code("002594").name_on(date(2021, 1, 1)) == "比亚迪"


def test_shipped_codes_are_valid(shipped):
    for issuer in shipped:
        for listing in issuer.listings:
            code = parse_code(listing.code)
            assert code is not None, listing
            assert str(code) == listing.code
            assert listing.exchange == code.exchange


def test_no_live_short_name_belongs_to_two_issuers_of_one_market(shipped):
    day = date(2025, 12, 31)
    owners = Counter()
    for issuer in shipped:
        market = "mainland" if issuer.code[-2:] in ("SH", "SZ", "BJ") else issuer.code.rpartition(".")[2]
        texts = {name_key(name.text) for name in issuer.names if name.kind == "short" and name.is_live(day)}
        owners.update((market, text) for text in texts)
    assert [key for key, count in owners.items() if count > 1] == []


def test_every_shipped_file_says_its_day_and_source():
    for path in DATA.glob("*.csv"):
        head = path.read_text(encoding="utf-8").partition("\n")[0]
        assert head.startswith("#"), path
        assert "Source:" in head, path
        assert "20" in head, path


def test_every_hand_written_name_has_an_issuer_and_every_word_is_a_name(shipped):
    for row in read_table(DATA / "names.csv"):
        assert shipped.by_code(row["code"]) is not None, row
    for row in read_table(DATA / "listings.csv"):
        assert shipped.by_code(row["primary"]).id == shipped.by_code(row["listing"]).id
    assert shipped.word_kind("机器人") == "word"
    assert shipped.word_kind("宁德时代") is None


def test_variants_drop_marks_but_never_leave_a_stump():
    assert name_variants("阿里巴巴-SW") == ("阿里巴巴-SW", "阿里巴巴")
    assert name_variants("万科A") == ("万科A", "万科")
    assert name_variants("*ST国华") == ("*ST国华",)
    assert name_variants("顺利退") == ("顺利退",)
    assert name_variants("云赛B股") == ("云赛B股",)


def test_the_script_knows_the_board_move_and_its_exceptions():
    assert moved_number("835185") == "920185"
    assert moved_number("833171") is None
    assert moved_number("600519") is None
    assert normalise("万  科Ａ") == "万科A"


@pytest.mark.parametrize(
    ("text", "day"),
    [("2022", date(2022, 1, 1)), ("2022-05", date(2022, 5, 1)), ("20220516", date(2022, 5, 16)), ("", None)],
)
def test_partial_days(text, day):
    assert parse_day(text) == day


def periods(events):
    return [(name.text, name.start, name.end) for name in date_names(events)]


def test_exact_changes_give_exact_periods():
    old, new = date(2016, 6, 15), date(2022, 8, 1)
    assert periods([(old, "小康股份", True), (new, "赛力斯", True)]) == [("小康股份", None, new), ("赛力斯", new, None)]


def test_a_change_only_seen_leaves_both_names_live_in_between():
    first, second = date(2021, 10, 1), date(2023, 10, 1)
    found = periods([(first, "国农科技", False), (second, "国华网安", False)])
    assert found == [("国农科技", None, second), ("国华网安", first, None)]


def test_a_name_runs_on_while_the_issuer_is_marked():
    days = [date(2019, 1, 1), date(2020, 1, 1), date(2021, 1, 1)]
    found = periods(list(zip(days, ["湘电股份", "*ST湘电", "湘电股份"], [True] * 3, strict=True)))
    assert ("湘电股份", None, days[2]) in found
    assert ("湘电股份", days[1], None) in found


def test_a_user_csv_lies_over_the_shipped_master(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(
        "code,name,kind,start,end,full,english,listed,delisted,issuer\n"
        "601127,赛力斯新名,short,2030-01-01,,,,,,\n"
        "601127,赛力斯,former,2022-08-01,2030-01-01,赛力斯集团股份有限公司,Seres,,,\n"
        "09927.HK,赛力斯,,,,,,,,601127.SH\n"
        "nonsense,甲,,,,,,,,\n"
        "600519,茅台,nickname,,,,,,,\n",
        encoding="utf-8-sig",
    )
    master = Master.load(path)
    assert ids(master, "赛力斯", 2025) == ["sec:601127.SH"]
    assert ids(master, "赛力斯新名", 2025) == []
    assert master.by_code("9927.HK").id == "sec:601127.SH"
    assert [(fault.source, fault.line) for fault in master.faults] == [("mine.csv", 5), ("mine.csv", 6)]


def test_an_exchange_list_export_works_as_it_is(tmp_path):
    path = tmp_path / "sse.csv"
    path.write_text(
        "证券代码,证券简称,公司全称,上市日期\n600519,贵州茅台,贵州茅台酒股份有限公司,2001-08-27\n", encoding="gb18030"
    )
    master = Master.load(path)
    assert ids(master, "贵州茅台酒股份有限公司", 2024) == ["sec:600519.SH"]
    assert Listing("600519.SH", "SH", date(2001, 8, 27)) in master.by_code("600519").listings


def test_a_file_without_names_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(MasterFault, match="no column for code or name"):
        Master.load(path)


def test_jsonl_with_history_joins_dual_listings_only_when_english_agrees(tmp_path):
    rows = [
        {
            "code": "600001.SH",
            "names": {"2021-10": "甲乙科技", "2023-10": "丙丁科技"},
            "en": {"2023-10": "Bingding Tech"},
        },
        {"code": "09001.HK", "names": {"2023-10": "丙丁科技"}, "en": {"2023-10": "BINGDING"}},
        {"code": "09002.HK", "names": {"2023-10": "丙丁科技"}, "en": {"2023-10": "Other Holdings"}},
        {"code": "706055.SH", "names": {"2023-10": "要约"}},
        {"code": "600003.SH", "names": {"2023-10": float("nan")}},
    ]
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    changes = tmp_path / "namechange.json"
    changes.write_text(
        json.dumps({"ts_code": {"0": "600001.SH"}, "name": {"0": "甲乙股份"}, "start_date": {"0": "20100101"}}),
        encoding="utf-8",
    )
    master = Master.load(path, namechange=changes)
    assert ids(master, "甲乙股份", 2015) == ["sec:600001.SH"]
    assert ids(master, "丙丁科技", 2024) == ["sec:600001.SH", "sec:09002.HK"]
    assert master.by_code("9001.HK").id == "sec:600001.SH"
    assert len(master.faults) == 1


def test_rows_without_names_still_make_an_issuer():
    rows = MasterRows(listings={"600001.SH": Listing("600001.SH", "SH")})
    rows.add_name("600002.SH", Name("甲", "colloquial"))
    master = Master.from_rows(rows)
    assert [issuer.name for issuer in master] == ["600001.SH", "甲"]
    assert len(master) == 2
