"""One door for every format: by the file's ending, checked against its first bytes."""

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
_PDF_MARK = b"%PDF-"
_MAGIC = (
    (_PDF_MARK, "a PDF"),
    (b"PK\x03\x04", "a ZIP archive (docx, xlsx, epub …)"),
    (b"\xd0\xcf\x11\xe0", "an old Office file (doc, xls)"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"{\\rtf", "an RTF file"),
    (b"SQLite format 3", "an SQLite database"),
)
_MAGIC_REACH = 1024  # readers accept a PDF whose mark stands a little way in


def walk(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files to read, in a stable order: folders recursively and only known endings, named files always.

    Hidden files and folders are skipped; a path that does not exist is yielded, so that reading it says so.
    """
    seen: set[Path] = set()
    for path in paths:
        for file in _files_under(path) if path.is_dir() else (path,):
            real = Path(os.path.realpath(file))
            if real not in seen:
                seen.add(real)
                yield file


def read_file(path: Path, *, today: date, published_on: date | None = None) -> Iterator[Document | DocumentError]:
    """Read one file; a fault in it is a value, so that the run goes on.

    Args:
        path: a PDF, Markdown, HTML, text or JSONL file.
        today: the latest day that a document can be dated.
        published_on: the day to take when the user gives one; it outranks what the file says.
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
    ending = path.suffix.lower()
    if not path.exists():
        raise DocumentError(str(path), "No such file or folder", "check the path")
    if ending not in ENDINGS:
        raise DocumentError(
            str(path), f"unknown ending {ending or '(none)'}", f"use one of {' '.join(sorted(ENDINGS))}"
        )
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DocumentError(str(path), "not a regular file", "name a file or a folder")
        if status.st_size > MAX_BYTES:
            size = f"{status.st_size / 1024 / 1024:,.0f} MB, more than {MAX_BYTES // 1024 // 1024} MB"
            raise DocumentError(str(path), size, "split it into single documents")
        data = path.read_bytes()
    except OSError as fault:
        raise DocumentError(
            str(path), fault.strerror or "it cannot be opened", "check the path and its rights"
        ) from fault
    _check_content(path, ending, data)
    return data


def _check_content(path: Path, ending: str, data: bytes) -> None:
    if not data:
        raise DocumentError(str(path), "the file is empty (0 bytes)", "remove it or fetch it again")
    found = next((name for mark, name in _MAGIC if data.startswith(mark)), "")
    if ending == ".pdf":
        if _PDF_MARK not in data[:_MAGIC_REACH]:
            raise DocumentError(str(path), f"not a PDF but {found or 'something else'}", "give it its right ending")
    elif found:
        raise DocumentError(str(path), f"not {ending[1:]} but {found}", "give it its right ending or convert it")
