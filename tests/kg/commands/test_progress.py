"""Progress goes to standard error: bars on a terminal, lines in a log."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from kg.commands.progress import progress_display

if TYPE_CHECKING:
    import pytest


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show():
    with progress_display() as progress:
        for stage, total in (("project", 1), ("write", 3), ("write", 3), ("summarise", 2)):
            progress(stage, 0, total)
            progress(stage, total, total)


def test_a_log_has_one_line_per_stage(capsys: pytest.CaptureFixture[str]):
    show()
    shown = capsys.readouterr()
    assert [line.split("秒")[1].strip() for line in shown.err.splitlines()] == ["投影", "模型撰写", "整理摘要"]
    assert shown.out == ""


def test_a_terminal_has_a_bar_per_stage(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show()
    shown = terminal.getvalue()
    assert [shown.count(f"{done}/3") > 0 for done in (0, 3)] == [True, True]
    assert "投影" in shown
    assert "2/2" in shown
