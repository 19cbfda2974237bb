"""Decode bytes to text; only UTF-8, UTF-16 and GB18030 are accepted."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from charset_normalizer import from_bytes

from kg.errors import DocumentError
from kg.simplified import radicals

if TYPE_CHECKING:
    from collections.abc import Sequence

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DETECTABLE = ("gb18030", "utf_16_le", "utf_16_be")
MAX_CHARACTERS = 10_000_000  # of one document
MAX_LINES_CHARACTERS = 50_000_000  # of a JSONL file


def decode(data: bytes, source: str, most: int = MAX_CHARACTERS) -> str:
    """Decode a file and normalise its newlines.

    Args:
        data: the file's bytes.
        source: the name used in error messages.
        most: characters.

    Raises:
        DocumentError: the file is too long, empty, binary, or in an unsupported encoding.
    """
    text = normalise(_decode(data, source))
    if not text.strip():
        raise DocumentError(source, "the file is empty", "remove it or save it again")
    if "\0" in text:
        raise DocumentError(source, "contains NUL bytes, so it is not text", "convert it to UTF-8 text or PDF")
    if len(text) > most:
        raise DocumentError(source, f"more than {most:,} characters", "split it into single documents")
    return text


_UNSEEN = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_INVISIBLE = re.compile(f"[{_UNSEEN}]+")
_ODD = re.compile(f"[{_UNSEEN}\u2e80-\u2fd5\ud800-\udfff\uf900-\ufaff]")
_LINE = re.compile("[^\n]+")
_HAN = re.compile("[一-鿿]")
_LIST_MARK = re.compile(r"\s*(?:[-*+•·>] +|#{1,6} +|\d{1,2}[.、)] ?)?")
_LETTER_SPACE = re.compile(r"(?<=\S) (?=\S)")
_SPACED_WORDS, _SINGLE = 12, 0.8  # words of a line, and the share of them that are one character


def normalise(text: str) -> str:
    """Convert newlines to LF, and leave out or replace what only looks like text or hides in it.

    Radicals become characters (⾦ 金), invisible characters are left out, and so are the blanks of a letter-spaced line
    (宁 德 时 代 2 0 2 4 年). Lone surrogates, which stores cannot write, become question marks.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if _ODD.search(plain):
        plain = plain.translate(radicals())
        plain = "".join("?" if "\ud800" <= char <= "\udfff" else char for char in plain)
    parts: list[str] = []
    at = 0
    for start, end in _left_out(plain):
        parts.append(plain[at:start])
        at = end
    return "".join((*parts, plain[at:])) if parts else plain


def kept_places(text: str) -> Sequence[int]:
    """Return the offset in a text with LF newlines of each character that `normalise` keeps, and the text's length."""
    places: list[int] = []
    at = 0
    for start, end in _left_out(text.translate(radicals())):
        places += range(at, start)
        at = end
    return [*places, *range(at, len(text) + 1)] if at else range(len(text) + 1)


def _left_out(text: str) -> list[tuple[int, int]]:
    """Return the spans that `normalise` leaves out, in order."""
    spans = [match.span() for match in _INVISIBLE.finditer(text)] if _ODD.search(text) else []
    for line in _LINE.finditer(text):
        if line[0].count(" ") * 2 >= len(line[0]) * _SINGLE - 1:
            spans += _letter_spaces(text, *line.span())
    return sorted(spans)


def _letter_spaces(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the single blanks of a line that has one between all its characters."""
    mark = _LIST_MARK.match(text, start, end)
    start = mark.end() if mark else start
    words = text[start:end].split()
    single = [word for word in words if len(word.strip("\u200b\xad")) == 1]
    if len(words) < _SPACED_WORDS or len(single) < _SINGLE * len(words):
        return []
    if sum(_HAN.match(word) is not None for word in single) * 2 < len(single):
        return []
    return [match.span() for match in _LETTER_SPACE.finditer(text, start, end)]


def _decode(data: bytes, source: str) -> str:
    encoding = next((name for mark, name in _BOMS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as fault:
        guess = from_bytes(data, cp_isolation=list(_DETECTABLE)).best() if encoding == "utf-8" else None
        if guess is not None:
            try:
                return data.decode(guess.encoding)
            except UnicodeDecodeError:  # detection uses samples; the rest of the file may not decode
                pass
        cause = f"undecodable text ({encoding}, byte {fault.start})"
        raise DocumentError(source, cause, "save it as UTF-8, UTF-16 or GB18030") from fault
