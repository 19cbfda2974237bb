"""Every notebook runs on the demo reports, and shows what the committed one shows."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.architecture.source import ROOT

NEEDED = "nbclient", "ipykernel", "matplotlib", "pandas", "pyarrow", "pyvis"
REASON = "no {}: pip install 'liantu[notebooks]'"
nbformat, *_ = (pytest.importorskip(name, reason=REASON.format(name)) for name in ("nbformat", *NEEDED))
execute = pytest.importorskip("notebooks.execute")

FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 300_000  # bytes of a committed notebook


@pytest.mark.extended
def test_all_notebooks_run_and_show_what_they_showed():
    """One after the other, since the first builds the base of the others."""
    command = [sys.executable, str(FOLDER / "execute.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok\n") == len(NOTEBOOKS) == 5


def _notebook(source: str) -> object:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])


def test_a_notebook_that_raises_is_a_fault(tmp_path):
    file = tmp_path / "fails.ipynb"
    nbformat.write(_notebook("print(1)\n{}['absent']"), file)
    assert execute.run(file) == ["fails.ipynb: KeyError: 'absent'"]


def test_outputs_of_another_kind_are_a_fault_and_write_accepts_them(tmp_path):
    file = tmp_path / "changes.ipynb"
    nbformat.write(_notebook("import pandas\npandas.DataFrame({'code': [1]})"), file)
    (fault,) = execute.run(file)
    assert fault.startswith("changes.ipynb: cell 1: was [], is [('execute_result', '', 'text/html', '', 'code')]")
    assert execute.run(file, write=True) == []
    written = file.read_bytes()
    assert execute.run(file) == []
    assert execute.run(file, write=True) == []
    assert file.read_bytes() == written


def test_another_value_is_the_same_kind_and_another_column_is_not():
    table = "<table><thead><tr><th>{0}</th></tr></thead><tr><td>{1}</td></tr></table>"
    shown = [{"output_type": "execute_result", "data": {"text/html": table.format(*each)}} for each in
             (("code", 1), ("code", 2), ("name", 1))]  # fmt: skip
    kinds = [execute.kind(output) for output in shown]
    assert kinds[0] == kinds[1] != kinds[2]


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_committed_notebook_is_normal_small_and_without_errors(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) <= LARGEST
    assert str(ROOT) not in text
    assert not re.search(r'"(?:stderr|error)"', text)
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    normal = nbformat.reads(text, as_version=4)
    execute.normalise(normal)
    assert normal == notebook
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(bool(cell.outputs) for cell in code) >= len(code) / 2


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_uses_the_public_door_alone(file):
    """`liantu` and the two modules beside the notebooks; the packages below are not for users."""
    assert not re.findall(r"(?:from|import) (?:kg|extraction|communities|viz)\b", file.read_text(encoding="utf-8"))
