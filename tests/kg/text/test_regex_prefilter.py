import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.certainty.modality import _CUE
from extraction.claims.relations.pattern import relation_patterns
from kg.dating.reader import _SCAN
from kg.text.pattern_set import Alternatives
from kg.text.regex_prefilter import ANY, Prefiltered, first_letters, needed_letters


@pytest.mark.parametrize(
    ("pattern", "letters"),
    [
        ("预计|有望", "预有"),
        ("(?<!模)拟(?!合)", "拟"),
        ("(?:市场)?传[言闻]", "市传"),
        ("(?:市场)+传", "市"),
        ("(?P<n>[二三])十", "二三"),
        ("据[^，]{0,12}?(?:报道|爆料)|消息", "据消"),
        (r"\(注|\d{1,3}年", "(0123456789"),
        ("一{0,2}二{1,2}三", "一二"),
        ("一*二|三", "一二三"),
        ("(?=一)(?:一|二)(?<=一)三", "一二"),
        (r"\b(?:a|[bc])d", "abc"),
    ],
)
def test_letters_that_a_match_can_begin_with(pattern: str, letters: str):
    first = re.compile(first_letters(pattern))
    assert {letter for letter in "(0123456789abcd一二三传据有市拟消言计预望" if first.match(letter)} == set(letters)


@pytest.mark.parametrize("pattern", ["", "一?", "一|", "[^，]一", ".一", "一{,2}", "(?:一|二?)三?"])
def test_any_letter_where_nothing_else_is_known(pattern: str):
    assert first_letters(pattern) == ANY


def test_more_syntax_than_it_reads_is_refused():
    with pytest.raises(ValueError, match="unsupported syntax"):
        first_letters("(?i:abc)")


@pytest.mark.parametrize("table", [_SCAN, _CUE], ids=["dates", "cues"])
@given(data=st.data())
def test_every_match_of_our_tables_begins_with_one_of_its_letters(table: Alternatives, data: st.DataObject):
    pattern = data.draw(st.sampled_from(sorted(table.patterns.values())))
    text = data.draw(st.from_regex(pattern))
    for match in re.finditer(pattern, text):
        assert re.match(first_letters(pattern), match[0], re.DOTALL)


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("预计|有望", ["预有"]),
        ("(?:向|给)[^，]{0,9}(?:供应|供货)(?!商)", ["供", "向给"]),
        ("(?<=一)二?三{0,2}四+[五六]{1,3}", ["四", "五六"]),
        (r"一|\d二|[三-五]六", ["一二六"]),
        ("一|[二-四]|五", []),
        (r"一|二?|三", []),
        (r"\.一\d|\(", ["(."]),
    ],
)
def test_letters_that_no_match_can_do_without(pattern: str, needed: list[str]):
    assert [set(letters) for letters in needed_letters(pattern)] == [set(letters) for letters in needed]


_TEMPLATES = relation_patterns()


@given(data=st.data())
def test_every_match_of_our_patterns_holds_one_of_each_needed_letters(data: st.DataObject):
    pattern = data.draw(st.sampled_from(_TEMPLATES))
    text = data.draw(st.from_regex(pattern.regex))
    for match in pattern.regex.finditer(text):
        assert all(not letters.isdisjoint(match[0]) for letters in needed_letters(pattern.regex.pattern))


@pytest.mark.parametrize(
    "pattern",
    ["(?<!新)(?:上涨|下跌)", r"，?(?:主要|核心)系|(?<=\d)年$", "[？?]$|吗[。？]?$"],
    ids=["behind", "maybe", "end"],
)
@given(text=st.text("，新上下涨跌主要核心系7年？?吗。其它"), start=st.integers(0, 9), end=st.integers(0, 20))
def test_prefiltered_patterns_find_what_the_pattern_finds(pattern: str, text: str, start: int, end: int):
    plain, quick = re.compile(pattern), Prefiltered(pattern)
    assert [each.span() for each in quick.finditer(text)] == [each.span() for each in plain.finditer(text)]
    assert [each.span() for each in quick.finditer(text, start, end)] == [
        each.span() for each in plain.finditer(text, start, end)
    ]
    first, found = plain.search(text, start, end), quick.search(text, start, end)
    assert (first and first.span()) == (found and found.span())
    assert quick.sub("", text) == plain.sub("", text)


def test_a_pattern_that_may_begin_with_any_letter_has_none_to_look_for():
    with pytest.raises(ValueError, match="any letter"):
        Prefiltered("[^，]一")
