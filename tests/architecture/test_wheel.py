"""The wheel holds the four packages whole, data included, and nothing else; built without a network."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from tests.architecture.source import PACKAGES, ROOT, project

if TYPE_CHECKING:
    from pathlib import Path

DATA = (
    "kg/relations.yaml",
    "kg/securities/data/ashare.csv",
    "extraction/lexicon/products.yaml",
    "viz/static/network.html.j2",
    "viz/static/network.js",
    "viz/static/base.css",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
    assert built.returncode == 0, built.stderr
    return zipfile.ZipFile(next(folder.glob("liantu-*.whl")))


def test_top_folders_are_the_packages_and_the_metadata(wheel: zipfile.ZipFile):
    version = project()["project"]["version"]
    assert {name.split("/")[0] for name in wheel.namelist()} == {*PACKAGES, f"liantu-{version}.dist-info"}


def test_every_file_of_the_packages_is_inside(wheel: zipfile.ZipFile):
    files = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in _shipped(ROOT / package)}
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == files
    assert inside.issuperset(DATA)


def test_the_metadata_has_commands_license_and_python(wheel: zipfile.ZipFile):
    info = f"liantu-{project()['project']['version']}.dist-info"
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read_string(wheel.read(f"{info}/entry_points.txt").decode())
    assert dict(parser["console_scripts"]) == project()["project"]["scripts"]
    assert dict(parser["liantu.commands"]) == project()["project"]["entry-points"]["liantu.commands"]
    assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert f"Requires-Python: {project()['project']['requires-python']}" in wheel.read(f"{info}/METADATA").decode()


def _shipped(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
