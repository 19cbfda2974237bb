"""The table of commands in pyproject.toml is the pipeline's index: each is there, helps, and is documented."""

from __future__ import annotations

import re
from importlib.metadata import EntryPoint, entry_points

import click
import pytest
from click.testing import CliRunner

from kg.cli import GROUP, root
from tests.architecture.source import ROOT, project

COMMANDS: dict[str, str] = project()["project"]["entry-points"]["liantu.commands"]


def test_the_installed_table_is_the_written_one():
    """When this fails after an edit of pyproject.toml, `make setup-dev` installs the new table."""
    assert {point.name: point.value for point in entry_points(group=GROUP)} == COMMANDS


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_loads_and_helps(name: str):
    command = EntryPoint(name, COMMANDS[name], GROUP).load()
    assert isinstance(command, click.Command)
    assert command.help, f"{name} has no help text"
    shown = CliRunner().invoke(root, [name, "--help"])
    assert shown.exit_code == 0
    assert shown.output.startswith("Usage: ")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_an_option_says_what_it_is_for(name: str):
    command = EntryPoint(name, COMMANDS[name], GROUP).load()
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    silent = [
        f"{each.name} {option.opts[-1]}"
        for each in commands
        for option in each.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_readme_names_a_command(name: str):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"liantu {name}\b|`{name}`", readme), f"README.md does not tell of `liantu {name}`"


def test_the_readme_names_no_command_that_is_not_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    called = set(re.findall(r"(?:bin/|^\s*|`|\$ )liantu ([a-z]+)", readme, flags=re.MULTILINE))
    assert called - {*COMMANDS, "help"} == set()


@pytest.mark.parametrize("target", ["setup", "demo", "test", "bench", "clean"])
def test_the_makefile_has_the_documented_targets(target: str):
    assert re.search(rf"^{target}:.* ## ", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
