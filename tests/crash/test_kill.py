"""Kill −9 at random moments: each time the base opens and passes the check, and going on gives the undisturbed result.

Few moments here; `python -m tests.crash.killing --moments 200` is the long run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.killing import NAMES, strike

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("work", NAMES)
@pytest.mark.extended
def test_a_killed_work_leaves_a_whole_base_and_can_be_gone_on_with(work: str, tmp_path: Path):
    toll = strike(work, 2, tmp_path)
    assert toll.killed == 2
    assert toll.faults == []
