import re

from hypothesis import given
from hypothesis import strategies as st

from extraction.certainty.modality import CUES
from kg.dating.reader import _SCAN
from kg.text.pattern_set import Alternatives

PATTERNS = {
    "behind": "(?<!模)拟(?!合)",
    "inner": "(?P<n>[二三])十(?<=二十)年",
    "long": "预计",
    "short": "预",
    "dated": r"(?<![\d.])\d{2}年",
}


def found(matches) -> list[tuple[tuple[int, int], str | None]]:
    return [(match.span(), match.lastgroup) for match in matches]


def named(patterns: dict[str, str]) -> re.Pattern[str]:
    plain = {name: re.sub(r"\(\?P<\w+>", "(?:", pattern) for name, pattern in patterns.items()}
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in plain.items()))


@given(text=st.text("模拟合二三十年预计123.，", max_size=40), ends=st.tuples(st.integers(0, 10), st.integers(0, 40)))
def test_it_finds_what_one_named_alternation_finds(text: str, ends: tuple[int, int]):
    alternatives, plain = Alternatives(PATTERNS), named(PATTERNS)
    assert found(alternatives.finditer(text, *ends)) == found(plain.finditer(text, *ends))


def test_cues_are_found_as_by_one_alternation():
    cues = {f"c{number}": cue.pattern for number, cue in enumerate(CUES)}
    text = "，".join(cue.example for cue in CUES)
    assert found(Alternatives(cues).finditer(text)) == found(named(cues).finditer(text))


def test_of_a_row_of_digits_only_the_first_begins_anything():
    years = Alternatives({"long": "20[0-9]{2}年", "short": "[0-9]{2}年"}, runs="[0-9]")
    assert found(years.finditer("2024年，24年，12024年")) == [((0, 5), "long"), ((6, 9), "short")]


@given(text=st.text("2024年月日季度上半三十一五Q3H-至/、EFY.前第周末今去截至同期", max_size=30))
def test_where_a_date_can_begin_misses_none(text: str):
    place, anywhere = 0, named(_SCAN.patterns)
    while match := anywhere.search(text, place):
        assert (match.span(), match.lastgroup) in found(_SCAN.finditer(text, match.start()))[:1] or (
            text[match.start() - 1 : match.start()].isdecimal()  # the middle of a number begins no date
        )
        place = match.start() + 1
