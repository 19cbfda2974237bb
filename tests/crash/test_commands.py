"""Kill −9 between the statements of every writing command, and full disks; few here, commands.py has the long run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash.commands import COMMANDS, prepare, suffered

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("commands") / "begin"
    prepare(folder)
    return folder


@pytest.mark.extended
@pytest.mark.parametrize("name", COMMANDS)
def test_a_killed_command_and_a_full_disk_leave_a_whole_base(name: str, begin: Path, tmp_path: Path):
    toll = suffered(name, begin, tmp_path, kills=2, full=2, seed=2)
    assert toll.killed == 2
    assert toll.faults == []


def test_an_edit_that_is_killed_or_finds_no_room_can_be_given_again(begin: Path, tmp_path: Path):
    toll = suffered("merge", begin, tmp_path, kills=1, full=1)
    assert (toll.killed, toll.faults) == (1, [])
