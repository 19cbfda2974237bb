"""Read files of every supported format, chosen by extension and checked against the first bytes."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from extraction.documents.html import read_html
from extraction.documents.jsonl import read_jsonl
from extraction.documents.markdown import read_markdown
from extraction.documents.metadata import SourceFile
from extraction.documents.office import read_csv, read_docx, read_pptx, read_xlsx
from extraction.documents.pdf.reader import PARTIAL, read_pdf
from extraction.documents.text import read_mail, read_text
from kg.errors import DocumentError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import date

    from kg.model import Document

MAX_BYTES = 200 * 1024 * 1024
MAX_TEXT_BYTES = 40 * 1024 * 1024  # one document of encoding.MAX_CHARACTERS, whatever its encoding
_READERS: Mapping[str, Callable[[SourceFile], Document]] = {
    ".pdf": read_pdf,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".txt": read_text,
    ".docx": read_docx,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".csv": read_csv,
}
MORE_TIME = "set KG_READ_SECONDS (setting read_seconds) to a higher number and read it again, or split it"
_SEVERAL: Mapping[str, Callable[[SourceFile], Iterator[Document | DocumentError]]] = {
    ".jsonl": read_jsonl,
    ".eml": read_mail,
}
ENDINGS = frozenset({*_READERS, *_SEVERAL})
_BASE = ".liantu"  # a knowledge base beside the reports, and its other files
_OFFICE = frozenset({".docx", ".pptx", ".xlsx"})
_LARGE = frozenset({".pdf", ".jsonl", *_OFFICE})
_PDF_HEADER = b"%PDF-"
_ZIP_HEADER = b"PK\x03\x04"
_MAGIC = (
    (_PDF_HEADER, "a PDF"),
    (_ZIP_HEADER, "a ZIP archive (docx, xlsx, epub …)"),
    (b"\xd0\xcf\x11\xe0", "a legacy or encrypted Office file (doc, xls)"),
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


def walk(paths: Iterable[Path], passed_over: Counter[str]) -> Iterator[Path]:
    """Yield the files to read in a stable order: known extensions in folders, recursively, and every named file.

    Hidden files and folders are skipped, links to folders are followed once. A path that is missing or a folder that
    cannot be listed is yielded, so that reading it reports the error.

    Args:
        paths: files and folders.
        passed_over: takes the number of files in folders by each other ending, "" for none.
    """
    seen: set[str] = set()
    for path in paths:
        for file in _files_under(path, seen, passed_over):
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                yield file


def read_file(path: Path, *, today: date, published_on: date | None = None) -> Iterator[Document | DocumentError]:
    """Read one file; errors are yielded as values, so that the run continues.

    Args:
        path: a PDF, Markdown, HTML, text, mail, CSV, Office or JSONL file.
        today: the latest possible publication day.
        published_on: the publication day given by the user, which overrides the file's own.
    """
    try:
        source = SourceFile(path, _content(path), today, published_on)
        ending = path.suffix.lower()
        if ending in _SEVERAL:
            yield from _SEVERAL[ending](source)
        else:
            document = _READERS[ending](source)
            yield document
            if PARTIAL in document.tags:
                cause = f"pages after {len(document.pages)} are not read: they take too much processor time"
                yield DocumentError(str(path), cause, MORE_TIME)
    except DocumentError as fault:
        yield fault


def check(path: Path) -> int:
    """Return the size of a file that can be read as a document, looking at nothing but its name and status.

    Raises:
        DocumentError: an undecodable name, a path that cannot be reached, not a file of a known format, or too large.
    """
    name = str(path)
    if any("\ud800" <= char <= "\udfff" for char in name):
        raise DocumentError(name, "the file name is not UTF-8", "rename it (convmv -f gbk -t utf-8)")
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            os.scandir(path).close()  # the folder itself is at fault if it cannot be listed
            raise DocumentError(name, "not a regular file", "pass a file or a folder")
    except OSError as fault:
        advice = "check the path and its permissions"
        raise DocumentError(name, fault.strerror or "cannot be opened", advice) from fault
    extension = path.suffix.lower()
    if extension not in ENDINGS:
        raise DocumentError(
            name, f"unknown extension {extension or '(none)'}", f"use one of {' '.join(sorted(ENDINGS))}"
        )
    if not stat.S_ISREG(status.st_mode):
        raise DocumentError(name, "not a regular file", "pass a file or a folder")
    most = MAX_BYTES if extension in _LARGE else MAX_TEXT_BYTES
    if status.st_size > most:
        size = f"{status.st_size / 1024 / 1024:,.0f} MB, more than {most // 1024 // 1024} MB"
        raise DocumentError(name, size, "split it into single documents")
    return status.st_size


def load(path: Path) -> bytes:
    """Return the bytes of a file that `check` accepts.

    Raises:
        DocumentError: as `check` does, or when reading fails.
    """
    size = check(path)
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as fault:
        raise DocumentError(
            str(path), fault.strerror or "cannot be opened", "check the path and its permissions"
        ) from fault


def _files_under(path: Path, seen: set[str], passed_over: Counter[str]) -> Iterator[Path]:
    """Yield a file itself and the documents under a folder; `seen` holds real paths."""
    try:
        if not stat.S_ISDIR(path.stat().st_mode):
            yield path
            return
        with os.scandir(path) as entries:
            names = sorted((entry.name, _is_folder(entry)) for entry in entries if not entry.name.startswith("."))
    except OSError:
        yield path
        return
    real = os.path.realpath(path)
    if real in seen:
        return
    seen.add(real)
    for name, folder in names:
        ending = Path(name).suffix.lower()
        if not folder and ending in ENDINGS:
            yield path / name
        elif not folder and not ending.startswith(_BASE):
            passed_over[ending] += 1
    for name, folder in names:
        if folder:
            yield from _files_under(path / name, seen, passed_over)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to what cannot be reached, which reading it reports if it looks like a document
        return False


def _content(path: Path) -> bytes:
    data, extension = load(path), path.suffix.lower()
    if not data:
        raise DocumentError(str(path), "the file is empty (0 bytes)", "remove it or download it again")
    found = next((name for mark, name in _MAGIC if data.startswith(mark)), "")
    if extension == ".pdf":
        if _PDF_HEADER not in data[:_MAGIC_REACH]:
            raise DocumentError(str(path), f"not a PDF but {found or 'something else'}", "correct its extension")
    elif extension in _OFFICE and data.startswith(_ZIP_HEADER):
        return data
    elif found or extension in _OFFICE:
        found = found or "something else"
        raise DocumentError(str(path), f"not {extension[1:]} but {found}", "correct its extension or convert it")
    return data
