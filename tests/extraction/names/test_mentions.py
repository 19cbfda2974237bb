from __future__ import annotations

import pytest

from extraction.names.gazetteer import (
    Gazetteer,
    IndicatorHead,
    Lexicon,
    Term,
    indicator_of,
    shipped_lexicon,
    word_edges,
)
from extraction.sentence import EntityMention
from kg.model import Kind

P, D, M, E = Kind.PRODUCT, Kind.INDUSTRY, Kind.INDICATOR, Kind.EVENT


@pytest.fixture(scope="session")
def shipped() -> Lexicon:
    return shipped_lexicon()


@pytest.fixture(scope="module")
def small() -> Lexicon:
    terms = {
        "碳酸锂": Term("碳酸锂", P, about="industry:锂", owner="锂"),
        "碳酸锂电池": Term("碳酸锂电池", P),
        "多晶硅": Term("硅料", P),
        "光伏玻璃": Term("光伏玻璃", P),
        "铜": Term("铜", P),
        "铁": Term("铁", P),
        "AI": Term("AI", Kind.THEME),
        "毛利率": Term("毛利率", M, ("percent",)),
    }
    heads = {
        "价格": IndicatorHead("价格", ("price",)),
        "均价": IndicatorHead("价格", ("price",)),
        "产能利用率": IndicatorHead("产能利用率", ("percent",)),
        "产能": IndicatorHead("产能", ("count",)),
        "需求": IndicatorHead("需求"),
    }
    return Lexicon(
        Gazetteer(
            terms,
            heads,
            {"铜价": ("铜", "价格"), "水价": ("水", "价格")},
            industries={"光伏玻璃": Term("光伏玻璃", D)},
            never=frozenset({"公司"}),
            weak=frozenset({"铁"}),
            industry_suffixes=("行业", "板块"),
        )
    )


def found(lexicon: Lexicon, text: str) -> list[tuple[str, str, bool]]:
    return [(text[hit.start : hit.end], hit.term.entity, hit.weak) for hit in lexicon.find(text)]


def test_the_longest_name_wins(small):
    assert found(small, "碳酸锂电池") == [("碳酸锂电池", "product:碳酸锂电池", False)]
    assert found(small, "碳酸锂的需求") == [("碳酸锂", "product:碳酸锂", False)]


def test_an_alias_means_the_same_thing(small):
    assert found(small, "多晶硅涨价") == [("多晶硅", "product:硅料", False)]


def test_a_short_name_falls_on_word_edges(small):
    assert found(small, "铜涨价了") == [("铜", "product:铜", False)]
    assert found(small, "紫铜色的灯") == []


def test_no_latin_name_inside_a_latin_word(small):
    assert found(small, "AIDS药物") == []
    assert [text for text, *_ in found(small, "生成式AI的应用")] == ["AI"]


def test_a_trade_s_suffix_chooses_the_trade(small):
    assert found(small, "光伏玻璃行业景气")[0][1] == "industry:光伏玻璃"
    assert found(small, "光伏玻璃涨价")[0][1] == "product:光伏玻璃"


@pytest.mark.parametrize(
    ("text", "weak"),
    [
        ("铁的需求", True),
        ("铁、铜", False),
        ("铜、铁", False),
        ("铁行业景气", False),
        ("铁价格上涨", False),
        ("铁：库存下降", False),
    ],
)
def test_a_doubtful_word_needs_support(small, text, weak):
    assert [hit for hit in found(small, text) if hit[1] == "product:铁"] == [("铁", "product:铁", weak)]


def base(name: str, kind: Kind = P, start: int = 0) -> EntityMention:
    return EntityMention(f"{kind.value}:{name}", kind, name, start, start + len(name))


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("碳酸锂价格上涨", "碳酸锂", "碳酸锂价格"),
        ("碳酸锂均价上涨", "碳酸锂", "碳酸锂价格"),
        ("碳酸锂的价格上涨", "碳酸锂", "碳酸锂价格"),
        ("碳酸锂市场的平均价格", "碳酸锂", "碳酸锂价格"),
        ("碳酸锂产能利用率", "碳酸锂", "碳酸锂产能利用率"),
        ("碳酸锂产能扩张", "碳酸锂", "碳酸锂产能"),
        ("碳酸锂需求侧改善", "碳酸锂", None),
        ("碳酸锂产能端", "碳酸锂", None),
        ("碳酸锂，价格上涨", "碳酸锂", None),
        ("碳酸锂上涨", "碳酸锂", None),
    ],
)
def test_compound_indicators(small, text, name, expected):
    made = small.compound(text, base(name))
    assert (made.name if made else None) == expected
    if made:
        assert made.kind is M
        assert (made.about, made.owner, made.owner_end) == (f"product:{name}", name, len(name))
        assert made.start == 0


def test_a_company_or_region_makes_no_compound_indicator(small):
    assert small.compound("甲公司产能", base("甲公司", Kind.COMPANY)) is None
    assert small.compound("江苏产能", base("江苏", Kind.REGION)) is None


def test_short_compounds(small):
    made = small.short_compounds("铜价上涨")
    assert [(ref.name, ref.about, ref.start, ref.end) for ref in made] == [("铜价格", "product:铜", 0, 2)]
    assert small.short_compounds("胶水价格上涨") == []


@pytest.mark.parametrize("text", ["铜价格上涨", "铜价差扩大"])
def test_a_short_form_is_not_cut_out_of_a_longer_word(small, text):
    assert small.short_compounds(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("均价上涨", ["价格"]),
        ("价格上涨", ["价格"]),
        ("整体需求旺盛，价格上涨", ["需求"]),
        ("短期：均价上涨", ["价格"]),
        ("宏观转弱，均价下跌", []),
        ("需求侧改善", []),
    ],
)
def test_bare_heads_open_the_first_clause(small, text, expected):
    assert [head for _, _, head in small.bare_heads(text)] == expected


def test_indicator_of():
    made = indicator_of(EntityMention("product:铜", P, "铜", 0, 1, score=0.8), "价格", start=0, end=2)
    assert (made.entity, made.name, made.about, made.owner, made.score) == (
        "indicator:铜价格",
        "铜价格",
        "product:铜",
        "铜",
        0.8,
    )


def test_word_edges_hold_both_ends():
    assert {0, 6} <= word_edges("碳酸锂涨价了")


# ── the gazetteer that ships ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("碳酸锂", "product:碳酸锂"),
        ("多晶硅", "product:硅料"),
        ("锂电池隔膜", "product:隔膜"),
        ("以旧换新政策", "policy:以旧换新"),
        ("电力设备行业", "industry:电力设备"),
        ("美国经济", "region:美国"),
        ("归母净利润", "indicator:归母净利润"),
        ("中汽协", "institution:中国汽车工业协会"),
    ],
)
def test_shipped_names(shipped, text, expected):
    assert expected in {hit.term.entity for hit in shipped.find(text)}


@pytest.mark.parametrize("text", ["公司", "该公司的管理层", "产业链", "市场", "客户", "股东大会"])
def test_words_that_are_never_a_name(shipped, text):
    assert shipped.find(text) == []


def test_a_product_knows_its_trade(shipped):
    (hit,) = shipped.find("碳酸锂")
    assert (hit.term.about, hit.term.owner) == ("industry:锂", "锂")


@pytest.mark.parametrize(
    ("text", "name"),
    [("铜价", "铜价格"), ("猪价", "生猪价格"), ("油价", "原油价格"), ("金价", "黄金价格"), ("煤价", "煤炭价格")],
)
def test_shipped_short_forms(shipped, text, name):
    assert [ref.name for ref in shipped.short_compounds(text + "上涨")] == [name]


def test_macro_indicators_are_marked(shipped):
    assert {term.macro for term in shipped.terms.values() if term.entity == "indicator:cpi"} == {True}
    assert {term.macro for term in shipped.terms.values() if term.entity == "indicator:毛利率"} == {False}


def test_the_gazetteer_is_built_once(shipped):
    assert shipped_lexicon() is shipped
