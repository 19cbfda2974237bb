"""Near names are proposed."""

from datetime import date

import pytest

from kg.securities.master import Master
from kg.securities.similar import NearNames


@pytest.fixture(scope="module")
def near():
    return NearNames(Master.load())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("鼎盛新材", "603876.SH"),
        ("宁得时代", "300750.SZ"),
        ("贵洲茅台", "600519.SH"),
        ("兆易创心", "603986.SH"),
        ("gzmt", "600519.SH"),
        ("ndsd", "300750.SZ"),
        ("隆基绿能科技股份有限公司", "601012.SH"),
    ],
)
def test_typing_errors_homophones_and_initials(near, text, code):
    assert near.propose(text, date(2025, 6, 1))[0].issuer.code == code


def test_nothing_near_gives_nothing(near):
    assert near.propose("清晨的雨声滴答", date(2025, 6, 1)) == []
    assert near.propose("a", date(2025, 6, 1)) == []


def test_only_names_of_the_day(near):
    assert all(each.name != "赛力斯" for each in near.propose("赛里斯", date(2020, 1, 1)))
    assert near.propose("赛里斯", date(2025, 1, 1))[0].name == "赛力斯"
