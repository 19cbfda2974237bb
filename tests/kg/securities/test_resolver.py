"""Names in text, and whom they mean on the day."""

from datetime import date

import pytest

from kg.securities.finder import NameFinder
from kg.securities.master import Master
from kg.securities.records import MasterRows, Name
from kg.securities.resolver import Resolver


@pytest.fixture(scope="module")
def master():
    return Master.load()


@pytest.fixture(scope="module")
def resolver(master):
    return Resolver(master)


def linked(resolver, text, year=2025, subject_codes=()):
    found = resolver.resolve(text, date(year, 6, 1), subject_codes=subject_codes)
    for each in found:
        assert text[each.start : each.end] == each.text
    return [(each.text, each.code) for each in found if each.status == "linked"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("贵州茅台与五 粮 液", ["贵州茅台", "五 粮 液"]),
        ("ＴＣＬ科技、TCL科技", ["ＴＣＬ科技", "TCL科技"]),
        ("三星 SDI 与 LG新能源", ["三星 SDI", "LG新能源"]),
        ("NVIDIA、nvidia和Nvidia", ["NVIDIA", "nvidia", "Nvidia"]),
        ("DAMDX的AMD芯片", ["AMD"]),
        ("𠮷野家旁的宁德时代", ["宁德时代"]),
    ],
)
def test_names_are_found_where_they_stand(master, text, names):
    hits = NameFinder(master).find(text)
    assert [text[hit.start : hit.end] for hit in hits] == names


def test_extra_names_are_found(master):
    assert [hit.name_key for hit in NameFinder(master, ["某某不上市公司"]).find("某某不上市公司中标")] == [
        "某某不上市公司"
    ]


LINKS = {
    "宁德时代（300750.SZ）发布半年报": ["300750.SZ"],
    "机器人（300024）与工业机器人": ["300024.SZ"],
    "绿的谐波、机器人、汇川技术涨幅居前": ["688017.SH", "300024.SZ", "300124.SZ"],
    "机器人公告，收到监管函": ["300024.SZ"],
    "近日木林森预计上半年净利润增长，陆家嘴发布半年度报告": ["002745.SZ", "600663.SH"],
    "太阳能预计上半年新增装机，陆家嘴发布政策，机器人发布新品": [],
    "人形机器人板块大涨，机器人产业加速": [],
    "太阳能发电与太阳能电池": [],
    "中国新能源汽车销量": [],
    "完美的产品、精美的包装": [],
    "我国航企加速出海": [],
    "全国日产量 20 万吨": [],
    "小米汽车交付破万": [],
    "小米集团-W涨停": ["01810.HK"],
    "海尔集团": [],
    "中国平安银行与中国平安": ["000001.SZ", "601318.SH"],
    "比亚迪股份有限公司": ["002594.SZ"],
    "宁德时代（上海）智能科技有限公司": [],
    "郑州银行向关联方郑州某某建设有限公司放款": ["002936.SZ"],
    "平安预计增长": [],
    "中国平安昨日披露年报，平安表示": ["601318.SH", "601318.SH"],
    "SK海力士（000660）扩产": ["000660.KS"],
    "英伟达（NVDA）": ["NVDA.US"],
    "*ST康美、ST华通": ["600518.SH", "002602.SZ"],
    "| 601088 | 中国神华 | 2.95 |": ["601088.SH"],
    "关注 600519.SH 的走势": ["600519.SH"],
    "中铁路投资": [],
    "上汽通用五菱交付": [],
    "中国建材工程中标": [],
    "蚂蚁集团与阿里云": [],
    "中国石油天然气集团有限公司": [],
    "中国石油天然气股份有限公司": ["601857.SH"],
    "美的集团股份有限公司": ["000333.SZ"],
    "同比增长，新动力不足": [],
}


@pytest.mark.parametrize(("text", "codes"), LINKS.items())
def test_links(resolver, text, codes):
    found = [code for _, code in linked(resolver, text)]
    assert [code for code in found if code] == codes


def test_trading_marks_belong_to_the_mention(resolver):
    assert linked(resolver, "*ST康美停牌") == [("*ST康美", "600518.SH")]
    assert linked(resolver, "XD贵州茅台") == [("XD贵州茅台", "600519.SH")]


@pytest.mark.parametrize(
    ("text", "year", "code"),
    [
        ("东风股份公告", 2020, "601515.SH"),
        ("东风股份公告", 2025, "600006.SH"),
        ("小康股份销量", 2021, "601127.SH"),
        ("小康股份销量", 2025, "601127.SH"),
        ("赛力斯销量", 2025, "601127.SH"),
    ],
)
def test_the_day_decides(resolver, text, year, code):
    assert linked(resolver, text, year)[0][1] == code


def test_a_name_to_come_is_not_linked(resolver):
    assert linked(resolver, "赛力斯销量", 2019) == []


def test_the_document_teaches_its_own_short_forms(resolver):
    text = "贵州茅台酒股份有限公司（以下简称“黔茅”）昨日公告。黔茅称产能不变。"
    assert linked(resolver, text)[1:] == [("黔茅", "600519.SH"), ("黔茅", "600519.SH")]
    text = "甲乙丙丁（600519.SH）涨停。随后甲乙丙丁回落。"
    assert [code for _, code in linked(resolver, text)] == ["600519.SH", "600519.SH"]


def test_company_is_no_taught_name(resolver):
    text = "贵州茅台（600519.SH，以下简称“公司”）昨日公告。公司称产能不变。"
    assert [name for name, _ in linked(resolver, text)] == ["贵州茅台"]


def test_a_code_of_somebody_else_overrules_the_name(resolver):
    assert linked(resolver, "平安（000001.SZ）") == [("平安", "000001.SZ")]


def test_the_subject_supports_a_short_name(resolver):
    assert linked(resolver, "平安表示将加大分红") == []
    assert linked(resolver, "平安宣布将加大分红", subject_codes=["601318"]) == [("平安", "601318.SH")]


def test_unknown_codes_are_reported_as_such(resolver):
    found = resolver.resolve("某公司（09991.HK）", date(2025, 6, 1))
    assert [(each.text, each.status, each.code) for each in found] == [("09991.HK", "unknown", "09991.HK")]


def test_two_owners_of_one_name_are_never_guessed():
    rows = MasterRows()
    rows.add_name("600001.SH", Name("同名股份"))
    rows.add_name("600002.SH", Name("同名股份"))
    found = Resolver(Master.from_rows(rows)).resolve("同名股份上涨", date(2025, 6, 1))
    assert found[0].status == "ambiguous"
    assert found[0].entity_id is None
    assert [each.entity_id for each in found[0].candidates] == ["sec:600001.SH", "sec:600002.SH"]


def test_of_one_name_in_two_markets_the_mainland_one_is_meant_unless_the_text_says_hong_kong():
    rows = MasterRows()
    rows.add_name("600001.SH", Name("同名股份"))
    rows.add_name("09001.HK", Name("同名股份"))
    resolver = Resolver(Master.from_rows(rows))
    assert linked(resolver, "同名股份上涨") == [("同名股份", "600001.SH")]
    assert linked(resolver, "港股同名股份上涨") == [("同名股份", "09001.HK")]


def test_every_score_explains_itself(resolver):
    found = resolver.resolve("绿的谐波、机器人、汇川技术", date(2025, 6, 1))
    for each in found:
        for candidate in each.candidates:
            assert candidate.score == pytest.approx(min(1.0, max(0.0, sum(candidate.features.values()))))
    shares = found[1].candidates[0].features
    assert shares == {"name_by_day": 0.75, "company_enumeration": 0.4, "common_word": -0.5}


def test_nothing_in_nothing_out(resolver):
    assert resolver.resolve("", date(2025, 1, 1)) == []
