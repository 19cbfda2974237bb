"""Relations in annotated notes: ingest the notes, dump the base, score with `tools/score_edges.py` next to the data.

The metric is external, so that it cannot be tuned: it ships with the annotations and runs as a separate program.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(data: Path, sets: Sequence[Path], *, folds: int, since: str, edge_model: str, epochs: int) -> None:
    """Print a table for each set of annotated notes.

    Args:
        data: folder of the notes (gator/, broker_edges/notes/), with tools/score_edges.py next to it.
        sets: annotation files or folders of them.
        folds: 0 scores `edge_model`; otherwise the number of cross-validation folds, with a model trained for each.
        epochs: of each fold's training.
        since: ISO date; earlier notes are skipped.
        edge_model: as in the setting of that name.
    """
    texts = [folder for folder in (data / "gator", data / "broker_edges/notes") if folder.exists()]
    files = [
        (each.name, file) for each in sets for file in ([each] if each.is_file() else sorted(each.glob("*.jsonl")))
    ]
    notes = [(name, row) for name, file in files for row in _rows(file)]
    notes = [(name, row) for name, row in notes if row["day"] >= since]
    with tempfile.TemporaryDirectory() as scratch:
        for name in dict.fromkeys(name for name, _ in notes):
            own = [row for each, row in notes if each == name]
            parts = [own] if not folds else [[row for row in own if _fold(row, folds) == at] for at in range(folds)]
            for at, part in enumerate(parts):
                others = [row for _, row in notes if _fold(row, folds or 1) != at]
                model = _train(others, texts, Path(scratch) / f"model{at}", epochs) if folds else edge_model
                print(f"{name}{f', fold {at + 1} of {folds}' if folds else ''}: {len(part)} notes")
                print(_score(part, texts, Path(scratch), data.parent / "tools/score_edges.py", model))


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _fold(row: dict[str, Any], folds: int) -> int:
    return int(sha256(row["id"].encode()).hexdigest(), 16) % folds


def _write(rows: Sequence[dict[str, Any]], file: Path) -> Path:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def _train(rows: Sequence[dict[str, Any]], texts: Sequence[Path], out: Path, epochs: int) -> str:
    """Train a model, calibrated on the latest sixth of the notes, unless `out` exists."""
    if not out.exists():
        rows = sorted(rows, key=lambda row: (row["day"], row["id"]))
        late = len(rows) * 5 // 6
        earlier, later = _write(rows[:late], out.with_suffix(".jsonl")), _write(rows[late:], out.with_suffix(".late"))
        options = [word for folder in texts for word in ("--texts", str(folder))]
        options += ["--calibrate", str(later), "--epochs", str(epochs), "--out", str(out)]
        _run("-m", "benchmarks.training", "edges", str(earlier), *options)
    return str(out)


def _score(rows: Sequence[dict[str, Any]], texts: Sequence[Path], scratch: Path, metric: Path, model: str) -> str:
    files = [
        next(folder / f"{row['id']}.md" for folder in texts if (folder / f"{row['id']}.md").exists()) for row in rows
    ]
    base, dump, gold = scratch / "kb.liantu", scratch / "dump.jsonl", _write(rows, scratch / "gold.jsonl")
    for leftover in scratch.glob("kb.liantu*"):
        leftover.unlink()
    _liantu("ingest", *map(str, files), "--kb", str(base), "--edge-model", model)
    _liantu("dump", "--kb", str(base), "-o", str(dump))
    command = [sys.executable, str(metric), str(gold), str(dump)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _liantu(*arguments: str) -> None:
    _run("-c", "from kg.cli import main; main()", *arguments)


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True)
