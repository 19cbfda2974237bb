from __future__ import annotations

import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.quantities.reader import find_quantities
from extraction.sentence import (
    CONTEXT,
    LETTER,
    QUANTITY_LETTER,
    AnnotatedSentence,
    EntityMention,
    Masked,
    mask,
    nearest,
)
from extraction.text.sentences import split
from kg.dating.reader import find_periods
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import Kind

C, P, D, M, E, Y, R = (
    Kind.COMPANY,
    Kind.PRODUCT,
    Kind.INDUSTRY,
    Kind.INDICATOR,
    Kind.EVENT,
    Kind.POLICY,
    Kind.REGION,
)
NAMES = {
    "甲公司": C, "乙公司": C, "丙公司": C, "铜箔": P, "铝箔": P, "隔膜": P,
    "光伏": D, "毛利率": M, "减产": E, "降准": Y, "江苏": R,
}  # fmt: skip
_NAME = re.compile("|".join(NAMES))
SHORT = {LETTER[C]: "C", LETTER[P]: "P", LETTER[D]: "D", LETTER[R]: "R", QUANTITY_LETTER: "Q"}


def ref(name: str, start: int) -> EntityMention:
    return EntityMention(entity_id(NAMES[name], name), NAMES[name], name, start, start + len(name))


def annotate(text: str, *extra: EntityMention) -> AnnotatedSentence:
    """Annotate the names above, the periods and the quantities of one sentence."""
    (sentence,) = split(text, 0, len(text))
    found = [ref(match[0], match.start()) for match in _NAME.finditer(sentence.text)]
    free = [one for one in found if not any(other.start < one.end and one.start < other.end for other in extra)]
    return AnnotatedSentence(
        sentence,
        tuple(sorted((*free, *extra), key=lambda one: one.start)),
        tuple(find_periods(sentence.text, date(2025, 8, 20))),
        tuple(find_quantities(sentence.text)),
    )


def shown(masked: Masked) -> str:
    return "".join(SHORT.get(letter, letter) for letter in masked.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲公司向乙公司供应铜箔", "C向C供应P"),
        ("甲公司、乙公司和丙公司合作", "C合作"),
        ("甲公司、乙公司以及丙公司合作", "C合作"),
        ("甲公司和乙公司合作", "C合作"),
        ("甲公司等公司合作", "C合作"),
        ("甲公司、乙公司等合作", "C合作"),
        ("铜箔、铝箔和隔膜", "P"),
        ("铜箔，铝箔、隔膜", "P，P"),
        ("铜箔和甲公司", "P和C"),
        ("甲公司（600519.SH）供应铜箔", "C供应P"),
        ("甲公司（600519）、乙公司（0700.HK）供应铜箔", "C供应P"),
        ("甲公司（全球龙头）供应铜箔", "C（全球龙头）供应P"),
        ("甲公司2024年收购乙公司", "C收购C"),
        ("2024年甲公司收购乙公司", "C收购C"),
        ("甲公司持有乙公司30%股权", "C持有CQ股权"),
        ("甲公司投资10亿元建设铜箔项目", "C投资Q建设P项目"),
        ("甲公司位于江苏", "C位于R"),
        # what happens or is measured is a word that patterns look for, not a name
        ("甲公司毛利率提升", "C毛利率提升"),
        ("铜箔减产", "P减产"),
        ("降准利好甲公司", "降准利好C"),
        ("不含名字", "不含名字"),
    ],
)
def test_masking(text, expected):
    assert shown(mask(annotate(text))) == expected


@pytest.mark.parametrize(
    ("text", "expected", "denied"),
    [
        ("甲公司并未收购乙公司", "C收购C", True),
        ("甲公司没有收购乙公司", "C收购C", True),
        ("甲公司未向乙公司供货", "C向C供货", True),
        ("甲公司未来向乙公司供货", "C未来向C供货", False),
        ("甲公司收购乙公司", "C收购C", False),
    ],
)
def test_a_denial_is_left_out_and_remembered(text, expected, denied):
    masked = mask(annotate(text))
    assert shown(masked) == expected
    assert bool(masked.denials) is denied


def test_a_group_holds_its_members_in_order():
    masked = mask(annotate("甲公司、乙公司和丙公司供应铜箔"))
    assert [one.name for one in masked.groups[0]] == ["甲公司", "乙公司", "丙公司"]
    assert [one.name for one in masked.groups[masked.text.index(LETTER[P])]] == ["铜箔"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲公司与乙公司合作", "C与C合作"),
        ("甲公司和乙公司合作", "C和C合作"),
        ("甲公司、乙公司合作", "C合作"),
        ("甲公司、乙公司和丙公司合作", "C合作"),
    ],
)
def test_pairs_stay_two(text, expected):
    assert shown(mask(annotate(text), pairs=True)) == expected


def test_quantities_are_kept_under_their_letter():
    masked = mask(annotate("甲公司持有乙公司30%股权"))
    at = masked.text.index(QUANTITY_LETTER)
    assert (masked.quantities[at].number, masked.quantities[at].unit) == (30.0, "%")


def test_a_compound_indicator_shows_as_its_product():
    price = EntityMention("indicator:铜箔价格", M, "铜箔价格", 3, 7, "product:铜箔", 1.0, "铜箔", 5)
    masked = mask(annotate("甲公司铜箔价格上涨", price))
    assert shown(masked) == "CP价格上涨"
    assert [(one.entity, one.kind, one.start, one.end) for one in masked.groups[1]] == [("product:铜箔", P, 3, 5)]


def test_a_compound_that_hides_its_owner_is_no_name():
    price = EntityMention("indicator:铜价格", M, "铜价格", 3, 5, "product:铜", 1.0, "铜", CONTEXT)
    assert shown(mask(annotate("甲公司铜价上涨", price))) == "C铜价上涨"


def test_an_understood_name_is_not_in_the_text():
    understood = EntityMention("org:丁公司", C, "丁公司")
    assert shown(mask(annotate("供应铜箔", understood))) == "供应P"


def test_offsets_lead_back():
    annotated = annotate("2024年甲公司、乙公司（600519）持有丙公司30%股权")
    masked = mask(annotated)
    holds = masked.text.index("持")
    assert annotated.text[masked.origin(holds)] == "持"
    assert annotated.text[masked.origin(0) :].startswith("甲公司")
    assert masked.origin(len(masked.text)) == len(annotated.text)


_PIECES = st.lists(
    st.one_of(
        st.sampled_from(sorted(NAMES)),
        st.sampled_from(["、", "和", "与", "，", "等", "（600519.SH）", "（", "）", "供应", "收购", "上涨"]),
        st.sampled_from(["2024年", "三季度", "30%", "10亿元", "约5万吨", "去年同期"]),
    ),
    min_size=1,
    max_size=16,
).map("".join)


@given(_PIECES, st.booleans())
def test_every_masked_character_knows_its_origin(text, pairs):
    text = "句" + text
    sentences = split(text, 0, len(text))
    if len(sentences) != 1:
        return
    annotated = annotate(text)
    masked = mask(annotated, pairs=pairs)
    assert len(masked.starts) == len(masked.text) + 1
    assert list(masked.starts) == sorted(masked.starts)
    assert masked.starts[-1] == len(annotated.text)
    for at, letter in enumerate(masked.text):
        origin = masked.origin(at)
        if at in masked.groups:
            assert masked.groups[at][0].start == origin
            assert LETTER[masked.groups[at][0].kind] == letter
        elif at in masked.quantities:
            assert masked.quantities[at].start == origin
        else:
            assert annotated.text[origin] == letter


@given(_PIECES, st.booleans())
def test_no_name_is_lost_or_doubled_by_masking(text, pairs):
    text = "句" + text
    if len(split(text, 0, len(text))) != 1:
        return
    annotated = annotate(text)
    plain = {one for one in annotated.refs if one.kind not in (M, E, Y)}
    inside_quantity = {
        one
        for one in plain
        for other in (*annotated.quantities, *annotated.periods)
        if other.start < one.end and one.start < other.end
    }
    grouped = [one for group in mask(annotated, pairs=pairs).groups.values() for one in group]
    assert len(grouped) == len(set(grouped))
    assert plain - inside_quantity <= set(grouped) <= plain


def test_between_gives_whole_names_only():
    annotated = annotate("甲公司供应铜箔")
    assert [one.name for one in annotated.between(0, len(annotated.text))] == ["甲公司", "铜箔"]
    assert [one.name for one in annotated.between(1, len(annotated.text))] == ["铜箔"]
    assert annotated.between(0, 2) == ()


def test_nearest_is_the_last_that_ends_before():
    refs = annotate("甲公司供应铜箔").refs
    found = nearest(refs, 5)
    assert found is not None
    assert found.name == "甲公司"
    assert nearest(refs, 2) is None
    last = nearest(refs, 7)
    assert last is not None
    assert last.name == "铜箔"


@pytest.mark.parametrize(
    ("entity", "kind"),
    [("sec:600519.SH", C), ("org:甲公司", C), *((f"{kind.value}:某", kind) for kind in Kind)],
)
def test_the_kind_of_an_id(entity, kind):
    assert kind_of(entity) is kind
