import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.alternatives import Alternatives
from extraction.chunk_value import _FORECAST
from extraction.dating import _SCAN
from extraction.first_letters import ANY, first_letters
from extraction.modality import _CUE


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
    with pytest.raises(ValueError, match="no syntax"):
        first_letters("(?i:abc)")


@pytest.mark.parametrize("table", [_SCAN, _CUE, _FORECAST], ids=["dates", "cues", "classes"])
@given(data=st.data())
def test_every_match_of_our_tables_begins_with_one_of_its_letters(table: Alternatives, data: st.DataObject):
    pattern = data.draw(st.sampled_from(sorted(table.patterns.values())))
    text = data.draw(st.from_regex(pattern))
    for match in re.finditer(pattern, text):
        assert re.match(first_letters(pattern), match[0], re.DOTALL)
