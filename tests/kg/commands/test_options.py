from __future__ import annotations

from datetime import date

import click
import pytest

from kg.commands.options import Day


@pytest.mark.parametrize(
    "spelled", ["2025-06-30", "2025/06/30", "2025/6/30", "2025.6.30", "20250630", "2025年6月30日", " 2025-6-30 "]
)
def test_a_day_is_read_in_any_usual_spelling(spelled: str):
    assert Day().convert(spelled, None, None) == date(2025, 6, 30)


@pytest.mark.parametrize(
    "spelled", ["2025-02-30", "2025-13-01", "30/06/2025", "2025", "2025-06", "2025-06/30", "250630", "昨天", ""]
)
def test_what_is_no_day_is_refused_with_an_example(spelled: str):
    with pytest.raises(click.BadParameter, match="is not a day like 2025-12-31"):
        Day().convert(spelled, None, None)
