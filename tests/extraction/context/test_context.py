from __future__ import annotations

import pytest
from msgspec import structs

from extraction.context.coreference import Discourse
from extraction.context.surroundings import (
    Surroundings,
    heading_subject,
    lead_in,
)
from extraction.names.gazetteer import shipped_lexicon
from extraction.sentence import CONTEXT, EntityMention
from kg.ids import entity_id
from kg.model import Kind
from tests.goldens.reports import stated

C, P, D, M = Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY, Kind.INDICATOR
NAMES = {"三生制药": C, "甲公司": C, "乙公司": C, "碳酸锂": P, "隔膜": P, "铜箔": P, "光伏": D, "毛利率": M}
CATL = "300750.SZ"


def refs(text: str) -> list[EntityMention]:
    """Name whatever of the above stands in a text."""
    return sorted(
        (
            EntityMention(entity_id(kind, name), kind, name, text.index(name), text.index(name) + len(name))
            for name, kind in NAMES.items()
            if name in text
        ),
        key=lambda ref: ref.start,
    )


def understood(name: str) -> EntityMention:
    return EntityMention(entity_id(NAMES[name], name), NAMES[name], name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三生制药：核心产品进入三期。", "三生制药"),
        ("1）三生制药：核心产品进入三期。", "三生制药"),
        ("一、碳酸锂：价格回落。", "碳酸锂"),
        ("光伏行业：装机超预期。", "光伏"),
        ("（2）隔膜：供给偏紧。", "隔膜"),
        ("甲公司（600000.SH）：产能扩张。", "甲公司"),
        # two subjects, a name lost in other words, no lead-in, none named
        ("甲公司与乙公司：合作在即。", None),
        ("关于公司在未来三年的发展规划与碳酸锂：详见下文。", None),
        ("三生制药核心产品进入三期。", None),
        ("三生制药发布公告，称：核心产品进入三期。", None),
        ("投资建议：关注碳酸锂。", None),
        ("毛利率：持续改善。", None),
        # 碳酸锂A is another thing
        ("碳酸锂A：价格回落。", None),
        ("碳酸锂 B2（80%，国产）：价格回落。", None),
    ],
)
def test_lead_ins(text, expected):
    found = lead_in(text, refs(text))
    assert (found.name if found else None) == expected
    if found:
        assert (found.start, found.end) == (CONTEXT, CONTEXT)
        assert found.score < 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三生制药", "三生制药"),
        ("一、碳酸锂", "碳酸锂"),
        ("2.1 光伏行业", "光伏"),
        ("三生制药：业绩符合预期", "三生制药"),
        ("三生制药的碳酸锂业务", "三生制药"),
        # two of one kind, a name lost in other words, nothing named
        ("甲公司与乙公司", None),
        ("碳酸锂和隔膜", None),
        ("本周市场整体回顾与后续投资策略展望及碳酸锂相关跟踪", None),
        ("投资建议", None),
        ("毛利率", None),
        # somebody's thing
        ("XYZCoin（甲公司）", None),
        ("产品（甲公司）", "甲公司"),
        # neither codes nor a bracket's date make it a smaller part
        ("甲公司（600000.SH/00999.HK）", "甲公司"),
        ("3. 光伏行业跟踪（2024 年 8 月）", "光伏"),
    ],
)
def test_headings(text, expected):
    found = heading_subject(text, refs(text))
    assert (found.name if found else None) == expected


def test_the_nearest_subject_counts():
    document, heading, bullet = understood("甲公司"), understood("碳酸锂"), understood("光伏")
    assert Surroundings().subject is None
    assert Surroundings(document).subject is document
    assert Surroundings(document, heading).subject is heading
    assert Surroundings(document, heading, lead_in=bullet).subject is bullet


def test_the_nearest_company_is_none_under_another_subject():
    document, heading = understood("甲公司"), understood("碳酸锂")
    assert Surroundings(document).company is document
    assert Surroundings(document, heading).company is None


def resolved(
    text: str, named: list[EntityMention], around: Surroundings, last: EntityMention | None = None
) -> list[EntityMention]:
    return Discourse(last, shipped_lexicon()).resolve(text, named, around)[0]


def pronouns(text: str, around: Surroundings, last: EntityMention | None = None) -> list[tuple[str, str]]:
    named = refs(text)
    return [(text[ref.start : ref.end], ref.name) for ref in resolved(text, named, around, last) if ref not in named]


OWN = Surroundings(understood("甲公司"))
NOBODY = Surroundings()


@pytest.mark.parametrize(
    ("text", "around", "last", "expected"),
    [
        ("公司主营铜箔。", OWN, None, [("公司", "甲公司")]),
        ("本公司主营铜箔。", OWN, None, [("本公司", "甲公司")]),
        ("该公司主营铜箔。", OWN, None, [("该公司", "甲公司")]),
        ("2024年，公司主营铜箔。", OWN, None, [("公司", "甲公司")]),
        ("公司的铜箔业务。", OWN, None, [("公司", "甲公司")]),
        ("公司主营铜箔，公司扩产。", OWN, None, [("公司", "甲公司"), ("公司", "甲公司")]),
        # the one company named before in the sentence, where the report has no subject
        ("乙公司业绩稳健，公司主营铜箔。", NOBODY, None, [("公司", "乙公司")]),
        # another company opens a sentence that names the report's own
        ("乙公司第一大客户为甲公司，公司主营铜箔。", OWN, None, [("公司", "乙公司")]),
        ("乙公司业绩稳健，公司主营铜箔。", OWN, None, [("公司", "甲公司")]),
        # 该公司 is the last company, 公司 alone is not
        ("该公司主营铜箔。", NOBODY, "乙公司", [("该公司", "乙公司")]),
        ("公司主营铜箔。", NOBODY, "乙公司", []),
        # nobody, two, another kind of subject, inside a word
        ("公司主营铜箔。", NOBODY, None, []),
        ("甲公司与乙公司竞争，公司主营铜箔。", NOBODY, None, []),
        ("公司主营铜箔。", Surroundings(understood("甲公司"), understood("碳酸锂")), None, []),
        ("上市公司主营铜箔。", OWN, None, []),
        ("公司债发行利率下行。", OWN, None, []),
        ("公司治理改善。", OWN, None, []),
        ("公司法修订。", OWN, None, []),
        ("子公司主营铜箔。", OWN, None, []),
    ],
)
def test_whom_the_word_company_means(text, around, last, expected):
    assert pronouns(text, around, understood(last) if last else None) == expected


def test_a_company_that_opens_the_sentence_comes_before_what_the_document_defines_as_the_company():
    text = "乙公司第一大客户为甲公司，公司主营铜箔。"
    at = text.index("，公司") + 1
    defined = structs.replace(understood("甲公司"), start=at, end=at + 2)
    (meant,) = [ref for ref in resolved(text, [*refs(text), defined], OWN) if ref.start == at]
    assert meant.name == "乙公司"


def test_an_understood_company_is_less_sure_than_a_written_one():
    (ref,) = [one for one in resolved("公司主营铜箔。", [], OWN) if one.kind is C]
    assert ref.score == pytest.approx(0.9)
    assert (ref.start, ref.end) == (0, 2)


def test_names_stay_in_order_with_pronouns_among_them():
    text = "乙公司扩产，公司主营铜箔。"
    out = resolved(text, refs(text), OWN)
    assert [ref.start for ref in out] == sorted(ref.start for ref in out)


def bare(text: str, subject: EntityMention | None) -> list[str]:
    named = refs(text)
    return [ref.name for ref in resolved(text, named, Surroundings(subject)) if ref not in named]


@pytest.mark.parametrize(
    ("text", "subject", "expected"),
    [
        ("均价继续走低。", "碳酸锂", ["碳酸锂价格"]),
        ("库存持续下降。", "碳酸锂", ["碳酸锂库存"]),
        ("碳酸锂：均价走低。", "碳酸锂", ["碳酸锂价格"]),
        ("均价继续走低。", None, []),
        ("均价继续走低。", "甲公司", []),
        ("宏观转弱，均价走低。", "碳酸锂", []),
    ],
)
def test_bare_heads_belong_to_the_heading(text, subject, expected):
    assert bare(text, understood(subject) if subject else None) == expected


# ── down a whole report ──────────────────────────────────────────────────────────────────────────────────────────────


def makers(*lines: str, **about: object) -> set[str]:
    return {subject for subject, _ in stated(*lines, relation="produces", **about)}


def test_a_heading_of_the_same_depth_ends_the_one_before():
    assert makers("# 恩捷股份", "公司主营隔膜。", "# 天赐材料", "公司主营电解液。") == {"恩捷股份", "天赐材料"}


def test_a_deeper_heading_without_a_name_keeps_the_one_above():
    assert makers("# 恩捷股份", "## 主营业务", "公司主营隔膜。") == {"恩捷股份"}


def test_a_heading_of_a_product_hides_the_report_s_company():
    assert makers("# 碳酸锂", "公司主营隔膜。", codes=(CATL,)) == set()


def test_a_higher_heading_without_a_name_goes_back_to_the_report():
    assert makers("# 公司篇", "## 恩捷股份", "介绍如下文所示。", "# 总结", "公司主营隔膜。", codes=(CATL,)) == {
        "宁德时代"
    }


def test_a_lead_in_holds_for_its_own_block_only():
    assert makers("- 恩捷股份：公司主营隔膜。", "- 公司主营电解液。", codes=(CATL,)) == {"恩捷股份", "宁德时代"}


def test_the_title_gives_the_subject_when_it_names_one_company():
    assert makers("公司主营隔膜。", title="恩捷股份深度报告") == {"恩捷股份"}
    assert makers("公司主营隔膜。", title="恩捷股份与星源材质对比") == set()
    assert makers("公司主营隔膜。", title="隔膜行业深度") == set()


def test_the_codes_of_a_report_go_before_its_title():
    assert makers("公司主营隔膜。", title="恩捷股份深度报告", codes=(CATL,)) == {"宁德时代"}


def test_two_codes_give_no_subject():
    assert makers("公司主营隔膜。", codes=(CATL, "002812.SZ")) == set()


def test_an_unknown_code_is_no_subject():
    assert makers("公司主营隔膜。", codes=("999999.SZ",)) == set()


def test_two_codes_of_one_issuer_are_one_subject():
    assert makers("公司主营隔膜。", codes=("002594.SZ", "01211.HK")) == {"比亚迪"}
