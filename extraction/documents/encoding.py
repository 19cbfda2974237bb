"""Decode bytes to text; only UTF-8, UTF-16 and GB18030 are accepted."""

from __future__ import annotations

import codecs

from charset_normalizer import from_bytes

from kg.errors import DocumentError

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


def normalise(text: str) -> str:
    """Convert newlines to LF and replace lone surrogates, which stores cannot write."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain.encode("utf-8", "replace").decode() if any("\ud800" <= char <= "\udfff" for char in plain) else plain


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
