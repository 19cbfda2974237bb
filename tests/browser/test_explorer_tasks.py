"""Ten tasks of a strategist on the bundled reports, each from the first page with at most four clicks."""

from __future__ import annotations

import shutil
from datetime import date
from typing import TYPE_CHECKING

import pytest

from benchmarks.explorer_tasks import SIZES, TASKS, Names, done, serving
from communities.weekly import run_week
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.browser, pytest.mark.extended]


@pytest.fixture(scope="module")
def weekly_demo(demo_base, tmp_path_factory) -> Iterator[str]:
    base = tmp_path_factory.mktemp("weekly") / "kb.liantu"
    shutil.copy(demo_base, base)
    with open_kb(base) as kb:
        for day in (date(2025, 12, 11), None):
            run_week(kb.store, day)
        with serving(kb) as home:
            yield home


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_strategist_needs_four_clicks_at_most(browser, weekly_demo, task, size):
    done(browser, weekly_demo, task, names=Names(), size=size)
