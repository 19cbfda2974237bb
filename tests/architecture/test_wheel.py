"""The wheel has everything below `liantu/`, data included, refers to nothing outside, and works; no network needed."""

from __future__ import annotations

import ast
import configparser
import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

import liantu
from hatch_build import rewritten
from kg.service.base import open_kb
from tests.architecture.source import PACKAGES, ROOT, project
from tests.kg.query.world import filled, solar

if TYPE_CHECKING:
    from pathlib import Path

DATA = (
    "liantu/kg/relations.yaml",
    "liantu/kg/securities/data/ashare.csv",
    "liantu/extraction/lexicon/products.yaml",
    "liantu/viz/static/explorer/explorer.js",
)
REPORT = ROOT / "notebooks" / "demo" / "reports" / "2024-05-27_示例证券乙_光伏行业深度.md"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
    assert built.returncode == 0, built.stderr
    return zipfile.ZipFile(next(folder.glob("liantu-*.whl")))


def test_top_folders_are_liantu_and_the_metadata(wheel: zipfile.ZipFile):
    version = project()["project"]["version"]
    assert {name.split("/")[0] for name in wheel.namelist()} == {"liantu", f"liantu-{version}.dist-info"}


def test_every_file_of_the_packages_is_inside(wheel: zipfile.ZipFile):
    files = {f"liantu/{path.relative_to(ROOT).as_posix()}" for package in PACKAGES for path in _shipped(ROOT / package)}
    inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert inside == {*files, "liantu/__init__.py", "liantu/py.typed"}
    assert inside.issuperset(DATA)


def test_no_import_leads_out_of_the_wheel(wheel: zipfile.ZipFile):
    leading_out = [
        f"{name}:{node.lineno}"
        for name in wheel.namelist()
        if name.endswith(".py")
        for node in ast.walk(ast.parse(wheel.read(name)))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for module in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        if module.split(".")[0] in PACKAGES
    ]
    assert leading_out == []


@pytest.mark.parametrize(
    ("source", "becomes"),
    [
        ("from kg.model import Fact\n", "from liantu.kg.model import Fact\n"),
        ("import kg.model as model\n", "import liantu.kg.model as model\n"),
        ("import os, kg.ids as ids\n", "import os, liantu.kg.ids as ids\n"),
        (
            "if x:\n    from  viz import (\n        pages,\n    )\n",
            "if x:\n    from  liantu.viz import (\n        pages,\n    )\n",
        ),
        ("价 = 1; from kg.ids import x  # kg\n", "价 = 1; from liantu.kg.ids import x  # kg\n"),
        ('"""from kg import x"""\nunit = {"公斤": "kg"}\n', '"""from kg import x"""\nunit = {"公斤": "kg"}\n'),
        ("from kgx import y\nfrom . import kg\n", "from kgx import y\nfrom . import kg\n"),
    ],
)
def test_imports_are_rewritten_on_the_syntax_tree(source: str, becomes: str):
    assert rewritten(source, ROOT) == becomes


@pytest.mark.parametrize(
    "source",
    [
        "import kg.model",
        "import kg",
        'resources("viz").joinpath("static")',
        'from importlib.resources import files as f; f("kg")',
        'PackageLoader("communities", "prompts")',
        'HOME = "kg.query.answers"',
        'entry = "viz.notebook:html_of"',
        'import_module("extraction")',
    ],
)
def test_what_the_wheel_would_not_have_fails_the_build(source: str):
    with pytest.raises(ValueError, match=r"^1: "):
        rewritten(source, ROOT)


USER_SCRIPT = ROOT / "tests" / "wheel" / "quant.py"
_STRICT = ("--strict", "--ignore-missing-imports", "--warn-unused-ignores", "--cache-dir", ".mypy")  # pandas has none
MISTAKES = {
    'kb.chain("光伏", as_off="2025-06-30")': "call-arg",
    'kb.impact("硅料价格", direction="donw")': "arg-type",
    'kb.facts(nam="x")': "call-arg",
    'kb.chain("光伏").layer': "attr-defined",
    "kb.facts(limit='5')": "arg-type",
    "from liantu import Unknown": "attr-defined",
}


@pytest.mark.extended
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_users_script_is_type_checked(site: Path, checker: str):
    """The installed package is typed: a right script passes, and each mistake is found where it is."""
    pyright = ROOT / "build" / "pyright" / "node_modules" / ".bin" / "pyright"
    if checker == "pyright" and not pyright.exists():
        pytest.skip("no pyright here; `make pyright` installs it in build/pyright (it needs npm)")
    script = site.parent / "user.py"
    ignored = "  # type: ignore[{}]" if checker == "mypy" else "  # pyright: ignore"
    wrong = "".join(f"\n{line}{ignored.format(code)}" for line, code in MISTAKES.items())
    opened = '\nfrom liantu import open_kb\nkb = open_kb("kb.liantu")'
    commands = {
        "mypy": (sys.executable, "-m", "mypy", *_STRICT, "user.py"),
        "pyright": (str(pyright), "--pythonpath", sys.executable, "-p", "."),
    }
    (site.parent / "pyrightconfig.json").write_text(
        json.dumps({"include": ["user.py"], "extraPaths": [str(site)], "reportUnnecessaryTypeIgnoreComment": "error"}),
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    for text in (USER_SCRIPT.read_text(encoding="utf-8"), f"{opened}{wrong}\n"):
        script.write_text(text, encoding="utf-8")
        done = subprocess.run(
            commands[checker], cwd=site.parent, env=environment, capture_output=True, check=False, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_users_script_runs(site: Path, tmp_path: Path):
    """Suppliers as of days, facts between two days, themes, a walk along a chain, and a picture."""
    with open_kb(tmp_path / "kb.liantu", create=True) as kb:
        filled(solar(), kb.store)
    arguments = [str(USER_SCRIPT), str(tmp_path / "kb.liantu"), str(tmp_path), "隆基绿能", "光伏"]
    done = _outside(
        site, f"sys.argv = {arguments!r}; import runpy; runpy.run_path({arguments[0]!r}, run_name='__main__')"
    )
    assert done.returncode == 0, done.stderr
    suppliers, facts, *_, chain, near = done.stdout.splitlines()
    assert suppliers.count("通威股份") == 1  # the earlier day knows none
    assert facts.endswith("facts, 1 with a period")
    assert "('中游', '组件', ('601012.SH',))" in chain
    assert near.startswith("did you mean (")
    assert r"\u9686\u57fa" in (tmp_path / "chain.html").read_text(encoding="utf-8")  # 隆基


@pytest.fixture
def site(wheel: zipfile.ZipFile, tmp_path: Path) -> Path:
    wheel.extractall(tmp_path / "site")
    return tmp_path / "site"


def _outside(site: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the unpacked wheel on the path and the checkout off it."""
    off = f"import sys; sys.path[:] = [p for p in sys.path if p not in ({str(ROOT)!r}, '')]; "
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-P", "-c", off + code]
    return subprocess.run(command, cwd=site, env=environment, capture_output=True, check=False, encoding="utf-8")


@pytest.mark.extended
def test_the_wheel_works_without_the_checkout(site: Path):
    """Commands, worker processes, templates and data files; every command that README and docs show."""
    script = ROOT / "tests" / "wheel" / "smoke.py"
    arguments = ["smoke.py", *map(str, (REPORT, ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))))]
    code = f"sys.argv = {arguments!r}; import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    done = _outside(site, code)
    assert done.returncode == 0, done.stderr
    assert str(site) in done.stdout


def test_doctor_finds_a_file_that_another_distribution_overwrote(site: Path):
    doctor = "sys.argv = ['liantu', 'doctor']; import liantu; liantu.main()"
    assert "✓ 一切就绪" in _outside(site, doctor).stdout
    (site / "liantu" / "viz" / "cli.py").write_text("COMMANDS = []\n", encoding="utf-8")
    (site / "liantu" / "viz" / "notebook.py").unlink()
    done = _outside(site, doctor)
    assert done.returncode == 1, done.stderr
    assert [line.split("liantu/")[1].split(" ")[0] for line in done.stdout.splitlines() if line.startswith("✗")] == [
        "viz/cli.py",
        "viz/notebook.py；请重新安装",
    ]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_of_another_distribution_is_one_line(name: str, tmp_path: Path):
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemError('not ours')", encoding="utf-8")
    code = "import liantu; liantu.main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "doctor"], env=environment, capture_output=True, check=False, text=True
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"liantu: package {name} comes from {tmp_path}")
    assert done.stderr.count("\n") == 1


def test_nothing_shadows_this_checkout():
    assert liantu.shadowed() == []


def test_the_metadata_has_commands_license_and_python(wheel: zipfile.ZipFile):
    info = f"liantu-{project()['project']['version']}.dist-info"
    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read_string(wheel.read(f"{info}/entry_points.txt").decode())
    assert dict(parser["console_scripts"]) == project()["project"]["scripts"]
    commands = project()["project"]["entry-points"]["liantu.commands"]
    assert dict(parser["liantu.commands"]) == {name: f"liantu.{place}" for name, place in commands.items()}
    assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert f"Requires-Python: {project()['project']['requires-python']}" in wheel.read(f"{info}/METADATA").decode()


def _shipped(folder: Path) -> list[Path]:
    """The TypeScript source of the explorer stays out; what is built of it is inside."""
    unwanted = {"__pycache__", "explorer"}
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if "static" in path.parts or unwanted.isdisjoint(path.parts)]
