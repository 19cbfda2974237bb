"""Registered names and names shortened behind a mark, looked up among the listed ones."""

from __future__ import annotations

from datetime import date

import pytest

from kg.securities.master import Master
from kg.securities.resolver import Resolver

DAY = date(2025, 6, 11)


@pytest.fixture(scope="module")
def master() -> Master:
    return Master.load()


@pytest.mark.parametrize(
    ("name", "code"),
    {
        "立讯精密工业股份有限公司": "002475.SZ",  # a trade behind the short name
        "隆基绿能科技股份有限公司": "601012.SH",
        "京东方科技集团股份有限公司": "000725.SZ",  # the share class is no part of a name
        "泸州老窖股份有限公司": "000568.SZ",
        "贵州茅台酒股份有限公司": "600519.SH",
        "福耀玻璃工业集团股份有限公司": "600660.SH",
        "杭州海康威视数字技术股份有限公司": "002415.SZ",  # a place before it
        "中国长江电力股份有限公司": "600900.SH",
        "江苏恒瑞医药股份有限公司": "600276.SH",
        "重庆长安汽车股份有限公司": "000625.SZ",
        "深圳迈瑞生物医疗电子股份有限公司": "300760.SZ",  # the short name abbreviates the trades
        "云南沃森生物技术股份有限公司": "300142.SZ",
        "无锡奥特维科技股份有限公司": "688516.SH",
        "厦门吉比特网络技术股份有限公司": "603444.SH",
        "美瑞新材料股份有限公司": "300848.SZ",  # cut inside a word
        "建科机械（天津）股份有限公司": "300823.SZ",
        "阿里巴巴集团控股有限公司": "09988.HK",  # a limited company listed abroad
        "联想集团有限公司": "00992.HK",
        "吉利汽车控股有限公司": "00175.HK",
        "申洲国际集团控股有限公司": "02313.HK",
    }.items(),
)
def test_a_registered_name_is_that_of_the_issuer(master, name, code):
    found = master.derived.registered(name, DAY)
    assert found is not None
    assert found.issuer is not None
    assert code in {listing.code for listing in found.issuer.listings}


@pytest.mark.parametrize(
    "name",
    [
        "上海恒瑞医药有限公司",  # a subsidiary: issuers of the mainland are joint-stock companies
        "小米科技有限责任公司",
        "腾讯科技（深圳）有限公司",
        "中国光大实业股份有限公司",
        "平安证券股份有限公司",  # the broker of the insurer is a company of its own
        "江苏长江商业银行股份有限公司",  # 江苏银行 is not its short form
        "浙江出版传媒股份有限公司",  # trades alone are no name: 出版传媒
        "华为技术有限公司",
    ],
)
def test_another_company_of_the_group_or_place_is_not_the_issuer(master, name):
    found = master.derived.registered(name, DAY)
    assert found is not None
    assert found.issuer is None


def test_a_brand_of_two_characters_that_others_share_decides_nothing(master):
    found = master.derived.registered("浙江振华智能股份有限公司", DAY)
    assert found is not None
    assert len(found.issuers) > 0
    assert not found.sure
    assert master.derived.registered("振华新材", DAY) is None


@pytest.mark.parametrize(
    ("text", "code"),
    {
        "*ST高鸿停牌": "000851.SZ",
        "＊ST高鸿停牌": "000851.SZ",
        "*ST人乐停牌": "002336.SZ",  # the first and the last character are left
        "退市人乐停牌": "002336.SZ",
        "ST 泉为停牌": "300716.SZ",
        "XD贵州茅跌": "600519.SH",
        "XR海尔智涨": "600690.SH",
        "DR长江电跌": "600900.SH",
        "N影石上市": "688775.SH",  # on its first day
        "*ST东通公告": "300379.SZ",  # two names fit; the list has this one
    }.items(),
)
def test_a_name_cut_behind_a_mark_is_linked(master, text, code):
    (found,) = (each for each in Resolver(master).resolve(text, DAY) if each.status == "linked")
    assert found.code == code


@pytest.mark.parametrize(
    "text",
    [
        "ST公司较多",
        "*ST板块大跌",
        "退市公司增加",
        "退市风险加大",
        "退市新规出台",
        "N型电池",
        "维生素C供应",
        "DR钻戒",
        "*ST振华停牌",
    ],
)
def test_what_only_looks_marked_or_fits_several_is_not_linked(master, text):
    assert not [each for each in Resolver(master).resolve(text, DAY) if each.status == "linked"]


def test_a_debut_is_marked_for_its_first_days_only(master):
    assert [each.code for each in master.derived.marked("N", "影石", DAY)] == ["688775.SH"]
    assert master.derived.marked("N", "影石", date(2025, 8, 1)) == ()


@pytest.mark.parametrize(
    ("text", "surface"),
    [
        ("万科A2024年营业收入", "万科A"),
        ("京东方A24Q1净利润", "京东方A"),
        ("小米集团-W2024年营业收入", "小米集团-W"),
        ("寒武纪-U2025年一季度", "寒武纪-U"),
        ("中国平安H股上涨", "中国平安H股"),
        ("51信用卡2024年", "51信用卡"),
    ],
)
def test_marks_and_share_classes_belong_to_the_mention(master, text, surface):
    assert [each.text for each in Resolver(master).resolve(text, DAY) if each.status == "linked"] == [surface]
