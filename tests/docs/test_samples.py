"""What a page prints below a command is what the command prints on the bundled reports."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SAMPLES = [
    (page.name, *found.groups())
    for page in PAGES
    for found in re.finditer(r"^ {4}\$ liantu (.+)\n((?: {4}.*\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE)
]


def test_there_are_samples_in_both_languages():
    assert {"commands.md", "commands.zh-CN.md"} <= {name for name, *_ in SAMPLES}


@pytest.mark.parametrize(("command", "shown"), [sample[1:] for sample in SAMPLES], ids=[name for name, *_ in SAMPLES])
def test_a_command_prints_what_the_page_shows(demo_base: Path, command: str, shown: str):
    """Notes after an arrow are the page's own; what follows a dash is said there in words."""
    printed = CliRunner().invoke(root, [*shlex.split(command), "--kb", str(demo_base)]).output
    lines = [re.split(r"\s+←|——", line)[0].strip() for line in shown.splitlines()]
    assert [line for line in lines if line not in printed] == []
