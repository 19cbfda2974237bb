import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.alternatives import Alternatives
from extraction.dating import _SCAN
from extraction.modality_cues import CUES

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


@pytest.mark.parametrize("first", ["", "(?=[拟二三预0-9])"])
@given(text=st.text("模拟合二三十年预计123.，", max_size=40), ends=st.tuples(st.integers(0, 10), st.integers(0, 40)))
def test_it_finds_what_one_named_alternation_finds(first: str, text: str, ends: tuple[int, int]):
    alternatives, plain = Alternatives(PATTERNS, first=first), named(PATTERNS)
    assert found(alternatives.finditer(text, *ends)) == found(plain.finditer(text, *ends))


def test_cues_are_found_as_by_one_alternation():
    cues = {f"c{number}": cue.pattern for number, cue in enumerate(CUES)}
    text = "，".join(cue.example for cue in CUES)
    assert found(Alternatives(cues).finditer(text)) == found(named(cues).finditer(text))


@given(text=st.text("2024年月日季度上半三十一五Q3H-至/、EFY.前第周末今去截至同期", max_size=30))
def test_where_a_date_can_begin_misses_none(text: str):
    place = 0
    while match := _SCAN._exact.search(text, place):
        assert (match.span(), match.lastgroup) in found(_SCAN.finditer(text, match.start()))[:1] or (
            text[match.start() - 1 : match.start()].isdecimal()  # the middle of a number begins no date
        )
        place = match.start() + 1
