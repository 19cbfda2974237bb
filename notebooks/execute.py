"""Execute the notebooks and compare the kinds of their outputs with the committed ones (`make notebooks`).

    python notebooks/execute.py [--write] [NAME …]

A kind is what a reader expects below a cell: a printed text, a table with these columns, a picture. `--write` replaces
the committed outputs instead, without counters, times and versions, so that the same content gives the same bytes.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from traitlets.config import Config

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nbformat import NotebookNode

HERE = Path(__file__).resolve().parent
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
SECONDS = 300  # of one cell
_HEAD = re.compile(r"<thead>(.*?)</thead>", re.DOTALL)
_CELL = re.compile(r"<th[^>]*>(.*?)</th>", re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the notebooks in the order of their names; the exit code is 1 if one fails or is not what it was."""
    parser = argparse.ArgumentParser(description="Execute the notebooks.")
    parser.add_argument("names", nargs="*", help="beginnings of their names; all by default")
    parser.add_argument("--write", action="store_true", help="replace the committed outputs")
    wanted = parser.parse_args(arguments)
    files = [file for file in sorted(HERE.glob("*.ipynb")) if file.stem.startswith(tuple(wanted.names or [""]))]
    faults = []
    for file in files:
        began = time.perf_counter()
        found = run(file, write=wanted.write)
        faults += found
        print(f"{file.stem:<24}{time.perf_counter() - began:6.1f} s  {'failed' if found else 'ok'}", flush=True)
    print("\n".join(faults), file=sys.stderr)
    return int(bool(faults))


def run(file: Path, *, write: bool = False) -> list[str]:
    """Execute a notebook; return what is wrong with it, one line each."""
    committed = nbformat.read(file, as_version=4)
    fresh = nbformat.reads(nbformat.writes(committed), as_version=4)
    try:
        with TemporaryDirectory(prefix="kernel-") as sockets:  # files of this user, where TCP would be open to others
            private = Config({"ConnectionFileMixin": {"transport": "ipc", "ip": f"{sockets}/kernel"}})
            here = {"metadata": {"path": str(HERE)}}
            NotebookClient(fresh, config=private, timeout=SECONDS, resources=here, coalesce_streams=True).execute()
    except CellExecutionError as error:
        return [f"{file.name}: {error.ename}: {error.evalue}"]
    normalise(fresh)
    if write:
        nbformat.write(fresh, file)
        return []
    return [f"{file.name}: {change}" for change in changes_of_kind(committed, fresh)]


def normalise(notebook: NotebookNode) -> None:
    """Remove what differs between two runs of the same notebook."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells, start=1):
        cell.metadata, cell["id"] = nbformat.from_dict({}), f"cell-{number:02}"
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [_normal(output) for output in cell.outputs]


def _normal(output: NotebookNode) -> NotebookNode:
    if "execution_count" in output:
        output.execution_count = None
    if {"image/png", "text/html"} & set(output.get("data", {})):
        output.data.pop("text/plain", None)  # an object's address, or a table a second time
    return output


def changes_of_kind(committed: NotebookNode, fresh: NotebookNode) -> list[str]:
    """Return one line for each cell whose outputs are of another kind than the committed ones."""
    changes = []
    for number, (old, new) in enumerate(zip(committed.cells, fresh.cells, strict=True), start=1):
        before, after = ([kind(output) for output in cell.get("outputs", [])] for cell in (old, new))
        if before != after:
            changes.append(f"cell {number}: was {before}, is {after}; if intended, run notebooks/execute.py --write")
    return changes


def kind(output: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kind of an output: its type, its formats, and the columns of a table."""
    data = output.get("data", {})
    columns = [name.strip() for head in _HEAD.findall(data.get("text/html", "")) for name in _CELL.findall(head)]
    return (output["output_type"], output.get("name", ""), *sorted(set(data) - {"text/plain"}), *columns)


if __name__ == "__main__":
    sys.exit(main())
