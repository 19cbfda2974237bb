"""The READMEs and pages of commands in both languages: same headings, commands and tables, and examples that run."""

from __future__ import annotations

import doctest
import re
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path

ENGLISH, CHINESE = ROOT / "README.md", ROOT / "docs" / "README.zh-CN.md"
PAIRS = [(ENGLISH, CHINESE), (ROOT / "docs" / "commands.md", ROOT / "docs" / "commands.zh-CN.md")]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _headings(path: Path) -> list[int]:
    return [len(line) - len(line.lstrip("#")) for line in _lines(path) if re.match(r"#+ ", line)]


def _commands(path: Path) -> list[str]:
    """The commands in code blocks, without comments, and those that begin a row of a table."""
    blocks = [line.split(" #")[0].strip() for line in _lines(path) if re.match(r" {4}(?:\$|make|\.venv)", line)]
    return blocks + [line.split(" | ")[0] for line in _lines(path) if line.startswith("| `liantu")]


def _rows(path: Path) -> int:
    return sum(line.startswith("|") for line in _lines(path))


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=["readme", "commands"])
def test_the_chinese_page_has_the_same_headings_commands_and_tables(english: Path, chinese: Path):
    assert _headings(chinese) == _headings(english)
    assert _commands(chinese) == _commands(english)
    assert _rows(chinese) == _rows(english)


@pytest.mark.parametrize("readme", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_python_example_runs(readme: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(readme), module_relative=False, encoding="utf-8")
    assert tried > 5
    assert not failed


@pytest.mark.parametrize("page", [ENGLISH, *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name)
def test_links_and_named_files_exist(page: Path):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", ["architecture.md", "glossary.md"])
def test_files_that_the_architecture_names_exist(page: str):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.(?:py|yaml|toml)|(?:[a-z_]+/)+)`", text)
    named = [name for name in named if not name.startswith("liantu/")]  # the layout of the wheel
    homes = (ROOT, ROOT / "kg", ROOT / "extraction", ROOT / "viz", ROOT / "tests", ROOT / "kg" / "store")
    lost = [name for name in named if not any((home / name).exists() for home in (*homes, ROOT / "kg/store/sqlite"))]
    assert named
    assert lost == []
