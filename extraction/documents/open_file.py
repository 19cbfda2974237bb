"""Read files of every supported format, chosen by extension and checked against the first bytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.documents.html import read_html
from extraction.documents.jsonl import read_jsonl
from extraction.documents.markdown import read_markdown
from extraction.documents.pdf.reader import read_pdf
from extraction.documents.source import SourceFile
from extraction.documents.text import read_text
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import date

    from kg.model import Document

MAX_BYTES = 200 * 1024 * 1024
_READERS: Mapping[str, Callable[[SourceFile], Document]] = {
    ".pdf": read_pdf,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".txt": read_text,
}
ENDINGS = frozenset({*_READERS, ".jsonl"})
_PDF_HEADER = b"%PDF-"
_MAGIC = (
    (_PDF_HEADER, "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (docx, xlsx, epub …)"),
    (b"\xd0\xcf\x11\xe0", "a legacy Office file (doc, xls)"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"{\\rtf", "an RTF file"),
    (b"SQLite format 3", "an SQLite database"),
)
_MAGIC_REACH = 1024  # readers accept a PDF header that is not at the very start


def walk(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files to read in a stable order: known extensions in folders, recursively, and every named file.

    Hidden files and folders are skipped; a missing path is yielded, so that reading it reports the error.
    """
    seen: set[Path] = set()
    for path in paths:
        for file in _files_under(path) if path.is_dir() else (path,):
            real = Path(os.path.realpath(file))
            if real not in seen:
                seen.add(real)
                yield file


def read_file(path: Path, *, today: date, published_on: date | None = None) -> Iterator[Document | DocumentError]:
    """Read one file; errors are yielded as values, so that the run continues.

    Args:
        path: a PDF, Markdown, HTML, text or JSONL file.
        today: the latest possible publication day.
        published_on: the publication day given by the user, which overrides the file's own.
    """
    try:
        source = SourceFile(path, _load(path), today, published_on)
        if path.suffix.lower() == ".jsonl":
            yield from read_jsonl(source)
        else:
            yield _READERS[path.suffix.lower()](source)
    except DocumentError as fault:
        yield fault


def _files_under(folder: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in ENDINGS:
                yield Path(here) / name


def _load(path: Path) -> bytes:
    extension = path.suffix.lower()
    if not path.exists():
        raise DocumentError(str(path), "No such file or folder", "check the path")
    if extension not in ENDINGS:
        raise DocumentError(
            str(path), f"unknown extension {extension or '(none)'}", f"use one of {' '.join(sorted(ENDINGS))}"
        )
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(str(path), "not a regular file", "pass a file or a folder")
        if status.st_size > MAX_BYTES:
            size = f"{status.st_size / 1024 / 1024:,.0f} MB, more than {MAX_BYTES // 1024 // 1024} MB"
            raise DocumentError(str(path), size, "split it into single documents")
        data = path.read_bytes()
    except OSError as fault:
        raise DocumentError(
            str(path), fault.strerror or "cannot be opened", "check the path and its permissions"
        ) from fault
    _check_content(path, extension, data)
    return data


def _check_content(path: Path, extension: str, data: bytes) -> None:
    if not data:
        raise DocumentError(str(path), "the file is empty (0 bytes)", "remove it or download it again")
    found = next((name for mark, name in _MAGIC if data.startswith(mark)), "")
    if extension == ".pdf":
        if _PDF_HEADER not in data[:_MAGIC_REACH]:
            raise DocumentError(str(path), f"not a PDF but {found or 'something else'}", "correct its extension")
    elif found:
        raise DocumentError(str(path), f"not {extension[1:]} but {found}", "correct its extension or convert it")
