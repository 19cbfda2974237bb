"""The formats of `liantu export`, and how an export takes its place whole or not at all."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.errors import EmptyBase, KgError, printable
from kg.interop.exports.content import ExportContent
from kg.interop.exports.graphrag import write_graphrag
from kg.interop.exports.lightrag import write_lightrag
from kg.interop.exports.neo4j_files import write_neo4j
from kg.interop.exports.networks import write_gexf, write_graphml
from kg.interop.exports.rdf import write_rdf
from kg.interop.exports.tables import write_csv, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from kg.store.port import View

MANIFEST = ".liantu-export"


class ExportRefused(KgError):
    """A place where an export cannot be written without losing something else."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__("{path}: {cause}; choose another place", path=printable(str(path)), cause=cause)


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """How one format is written: to a folder that exists and is empty, or to a file."""

    write: Callable[[ExportContent, Path], None]
    folder: bool


FORMATS: Mapping[str, ExportFormat] = {
    "csv": ExportFormat(write_csv, folder=True),
    "gexf": ExportFormat(write_gexf, folder=False),
    "graphml": ExportFormat(write_graphml, folder=False),
    "graphrag": ExportFormat(write_graphrag, folder=True),
    "lightrag": ExportFormat(write_lightrag, folder=False),
    "neo4j": ExportFormat(write_neo4j, folder=True),
    "parquet": ExportFormat(write_parquet, folder=True),
    "rdf": ExportFormat(write_rdf, folder=False),
}


def export(view: View, layout: str, target: Path, *, min_confidence: float = 0.0) -> None:
    """Write a view in one of `FORMATS`; equal views give equal bytes.

    A folder that an earlier export wrote is replaced; any other that holds something is refused, and so is a file
    that an export of another kind would overwrite.

    Raises:
        EmptyBase: when the view shows no document.
        ExportRefused: when something else stands at `target`, or it cannot be written; it is left as it was.
        PackageMissing: when the format needs an extra that is not installed.
    """
    kind = FORMATS[layout]
    if not any(True for _ in view.documents()):
        raise EmptyBase
    if kind.folder:
        _refuse_foreign(target)
    elif target.is_dir():
        raise ExportRefused(target, "is a folder, and this format is one file")
    fresh = target.with_name(f".{target.name}.new")
    try:
        _discard(fresh)
        if kind.folder:
            fresh.mkdir(parents=True)
            (fresh / MANIFEST).write_text(f"{layout}\n", encoding="utf-8")
        kind.write(ExportContent(view, min_confidence=min_confidence), fresh)
        if kind.folder:
            _discard(target)
        fresh.replace(target)
    except OSError as error:
        raise ExportRefused(target, f"cannot be written: {error.strerror or type(error).__name__}") from error
    finally:
        _discard(fresh)


def _refuse_foreign(target: Path) -> None:
    if target.is_dir():
        if any(target.iterdir()) and not (target / MANIFEST).is_file():
            raise ExportRefused(target, "holds files that no export wrote")
    elif target.exists():
        raise ExportRefused(target, "is a file, and this format is a folder")


def _discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
