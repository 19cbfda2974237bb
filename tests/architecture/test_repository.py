"""What is committed: no registry's address, no machine's path; pins, licence, changelog and contracts in order."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source import PACKAGES, ROOT, project, tracked

# Written in pieces, so that this file may stand among the files it searches.
PLACES = (
    "pypi" + r"\.org",
    "pypi" + r"\.python\.org",
    "python" + "hosted",
    "npm" + r"js" + r"\.(?:org|com)",
    "crates" + r"\.io",
    "proxy" + r"\.golang",
    "repo1?" + r"\.maven",
    "deb" + r"\.debian\.org",
    r"\bmirrors?" + r"\.[a-z]+\.[a-z]",
    "--(?:extra-)?index" + "-url",
    "--find" + "-links",
    "--trusted" + "-host",
    "/root" + "/",
    "/home" + "/[a-z]",
    "/Users" + "/[A-Za-z]",
    "/work" + "/(?:main|shared)",
    "/opt" + "/wheels",
)
APACHE_2 = "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"  # sha256 of the full text


def test_no_address_and_no_path_of_a_machine():
    pattern = re.compile("|".join(PLACES))
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked()
        if b"\0" not in (content := path.read_bytes()) and path.suffix != ".pdf"  # no weights, images, archives
        for match in pattern.finditer(content.decode("utf-8", "ignore"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("place", ["see https://py" + "pi.org/simple", "--index" + "-url x", "cd /work" + "/main"])
def test_the_search_for_places_finds_one(place: str):
    assert re.search("|".join(PLACES), place)


def test_nothing_that_is_made_is_committed():
    made = [path for path in tracked() if path.suffix in {".liantu", ".whl", ".pyc"} or "__pycache__" in path.parts]
    assert made == []


def test_every_dependency_is_pinned():
    pins = _pins()
    declared = project()["project"]
    wanted = [*declared["dependencies"], *declared["optional-dependencies"]["dev"]]
    for requirement in map(Requirement, wanted):
        assert canonicalize_name(requirement.name) in pins, f"{requirement.name} has no line in constraints.txt"
        assert requirement.specifier.contains(pins[canonicalize_name(requirement.name)]), str(requirement)


def test_a_pin_is_a_name_and_a_version():
    assert [line for line in _constraints() if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []


def test_the_licence_is_the_full_text():
    assert hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest() == APACHE_2


def test_the_changelog_keeps_a_changelog():
    """https://keepachangelog.com: unreleased changes come first, and every version has sections of the known kinds."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", changelog, flags=re.MULTILINE)[0] == "[Unreleased]"
    sections = set(re.findall(r"^### (.*)", changelog, flags=re.MULTILINE))
    assert sections <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert project()["project"]["version"] in changelog


def test_import_contracts_hold():
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    linted = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_every_part_of_kg_has_a_layer():
    """A module that no layer names could import whatever it likes."""
    contracts = project()["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    named = {name.strip() for layer in layers for name in layer.split("|")}
    parts = {
        f"kg.{path.stem}"
        for path in (ROOT / "kg").iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
    }
    assert parts == named


def test_top_folders_are_the_fixed_ones():
    folders = {path.relative_to(ROOT).parts[0] for path in tracked() if len(path.relative_to(ROOT).parts) > 1}
    assert folders <= {*PACKAGES, "notebooks", "tests", "benchmarks", "docs", ".ci"}


def _constraints() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def _pins() -> dict[str, str]:
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in _constraints())}
