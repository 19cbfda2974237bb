"""The commands of pyproject.toml and of the questions: each is there, helps, and is documented."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points
from inspect import cleandoc

import click
import pytest
from click.testing import CliRunner

from kg.cli import GROUP, SECTIONS, root
from kg.commands.language import worded
from kg.commands.questions import COMMANDS as QUESTIONS
from kg.commands.questions import question_command
from tests.architecture.source import ROOT, project

HAN = re.compile(r"[\u4e00-\u9fff]")
COMMANDS: dict[str, str] = project()["project"]["entry-points"]["liantu.commands"]
ALL = sorted({*COMMANDS, *(name for name in QUESTIONS if " " not in name)})


def loaded(name: str) -> click.Command:
    if name in QUESTIONS:
        return question_command(name)
    command = EntryPoint(name, COMMANDS[name], GROUP).load()
    assert isinstance(command, click.Command)
    return command


def test_the_installed_table_is_the_written_one():
    """When this fails after an edit of pyproject.toml, `make setup-dev` installs the new table."""
    assert {point.name: point.value for point in entry_points(group=GROUP)} == COMMANDS


@pytest.mark.parametrize("name", ALL)
def test_a_command_loads_and_helps(name: str):
    command = loaded(name)
    assert command.help, f"{name} has no help text"
    shown = CliRunner().invoke(root, [name, "--help"])
    assert shown.exit_code == 0
    assert shown.output.startswith("用法：")


@pytest.mark.parametrize("name", ALL)
def test_help_is_in_one_language(name: str):
    """Every text of help has its Chinese and its English."""
    for command in with_subcommands(loaded(name)):
        options = [option.help or "" for option in command.params if isinstance(option, click.Option)]
        for text in (cleandoc(command.help or ""), *options):
            assert not HAN.search(worded(text, "en"))
            assert HAN.search(worded(text, "zh")), text


def test_help_takes_the_language_of_the_command_line():
    for arguments in (["llm", "run", "--lang", "en", "-h"], ["llm", "run", "-h", "--lang=en"], ["--lang", "en", "-h"]):
        assert not HAN.search(CliRunner().invoke(root, arguments).output)
    chinese = CliRunner().invoke(root, ["llm", "run", "--help"]).output
    assert "选项：" in chinese
    assert "[默认：2.0; x>=0]" in chinese
    assert "显示本说明并退出。" in chinese
    assert "从这里开始：" in CliRunner().invoke(root, ["--help"]).output


def with_subcommands(command: click.Command) -> list[click.Command]:
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return [command, *(found for each in below for found in with_subcommands(each))]


@pytest.mark.parametrize("name", ALL)
def test_an_option_says_what_it_is_for(name: str):
    command = loaded(name)
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    silent = [
        f"{each.name} {option.opts[-1]}"
        for each in commands
        for option in each.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_page_of_commands_names_a_command(name: str):
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.search(rf"liantu {name}\b|`{name}`", page), f"docs/commands.md does not tell of `liantu {name}`"


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_a_page_names_no_command_that_is_not_there(page: str):
    readme = (ROOT / page).read_text(encoding="utf-8")
    called = set(re.findall(r"(?:bin/|^\s*|`|\$ )liantu ([a-z]+)", readme, flags=re.MULTILINE))
    assert called - {*ALL, "help"} == set()


@pytest.mark.parametrize("target", ["setup", "demo", "test", "bench", "clean"])
def test_the_makefile_has_the_documented_targets(target: str):
    assert re.search(rf"^{target}:.* ## ", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_a_command_has_at_most_one_section_of_the_help():
    placed = [name for names in SECTIONS.values() for name in names]
    assert len(placed) == len(set(placed))
    assert set(placed) <= set(ALL)
