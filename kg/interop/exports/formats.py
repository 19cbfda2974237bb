"""The formats of `liantu export`, and how an export takes its place whole or not at all."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kg.errors import EmptyBase, KgError, printable
from kg.interop.exports.content import ExportContent
from kg.interop.exports.graphrag import write_graphrag
from kg.interop.exports.lightrag import write_lightrag
from kg.interop.exports.neo4j_files import write_neo4j
from kg.interop.exports.networks import write_gexf, write_graphml
from kg.interop.exports.rdf import write_rdf
from kg.interop.exports.tables import write_csv, write_parquet
from kg.query.session import ANSWERED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from kg.messages.words import Lang
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


def export(
    view: View,
    layout: str,
    target: Path,
    *,
    min_confidence: float = ANSWERED,
    plain_csv: bool = False,
    lang: Lang = "zh",
) -> Mapping[str, int]:
    """Write a view in one of `FORMATS` and return what was written; equal views give equal bytes.

    Facts below `min_confidence` support no answer, and are left out; at 0 everything is written.

    A folder keeps a list of what was written to it, with hashes. It is replaced when it holds these files and nothing
    else; a file that was changed or added since is never lost: the export stops.

    Raises:
        EmptyBase: when the view shows no document.
        ExportRefused: when `target` is something else, or cannot be written; it is left as it was.
        ExtraMissing: when the format needs an extra that is not installed.
    """
    kind = FORMATS[layout]
    if not any(True for _ in view.documents()):
        raise EmptyBase
    if kind.folder and target.exists() and not target.is_dir():
        raise ExportRefused(target, "is a file, and this format is a folder")
    if not kind.folder and target.is_dir():
        raise ExportRefused(target, "is a folder, and this format is one file")
    fresh = target.with_name(f".{target.name}.new")
    try:
        earlier = _written(target) if kind.folder else ()
        _discard(fresh)
        if kind.folder:
            fresh.mkdir(parents=True)
        content = ExportContent(view, min_confidence=min_confidence, lang=lang)
        write = partial(write_csv, plain_text=True) if plain_csv and layout == "csv" else kind.write
        write(content, fresh)
        counts = content.counts()
        files = _files(fresh) if kind.folder else ()
        if kind.folder:
            lines = (f"{_hash(fresh / name)}  {name}\n" for name in files)
            (fresh / MANIFEST).write_text(f"{layout}\n{''.join(lines)}", encoding="utf-8")
            _remove(target, earlier)
        fresh.replace(target)
    except OSError as error:
        raise ExportRefused(target, f"cannot be written: {error.strerror or type(error).__name__}") from error
    finally:
        _discard(fresh)
    return {**counts, "files": len(files) or 1}


def _files(folder: Path) -> tuple[str, ...]:
    """Return everything in a folder that is no folder, by its path inside, sorted."""
    found = (
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    )
    return tuple(sorted(name for name in found if name != MANIFEST))


def _written(folder: Path) -> tuple[str, ...]:
    """Return the files of an earlier export.

    Raises:
        ExportRefused: when the folder holds anything else.
    """
    files = _files(folder)
    manifest = folder / MANIFEST
    lines = manifest.read_text(encoding="utf-8", errors="replace").splitlines() if manifest.is_file() else []
    hashes = {name: hashed for hashed, _, name in (line.partition("  ") for line in lines[1:])}
    for name in files:
        if name not in hashes:
            raise ExportRefused(folder, f"holds {printable(name)}, which no export wrote")
        if (folder / name).is_symlink() or _hash(folder / name) != hashes[name]:
            raise ExportRefused(folder, f"{printable(name)} was changed after it was exported")
    return files


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(folder: Path, files: Iterable[str]) -> None:
    """Remove these files and the folders that they leave empty; a folder that holds more raises an OSError."""
    if not folder.exists():
        return
    for name in (*files, MANIFEST):
        (folder / name).unlink(missing_ok=True)
    for inner in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
        inner.rmdir()
    folder.rmdir()


def _discard(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
