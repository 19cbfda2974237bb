"""Read plain text, which is stored verbatim and only divided into blocks, and the text of e-mails."""

from __future__ import annotations

import email
import email.policy
import re
import unicodedata
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from extraction.documents.assembly import Body, TextPiece, carve, judge
from extraction.documents.cleaning import Reason, is_figure_label, line_reason
from extraction.documents.encoding import decode
from extraction.documents.html import visible_text
from extraction.documents.metadata import Metadata, build, from_head, from_mapping
from extraction.documents.publication_day import find_days
from extraction.documents.table import table_from_text
from kg.errors import DocumentError
from kg.model import BlockKind, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from email.message import EmailMessage, MIMEPart

    from extraction.documents.metadata import SourceFile

_HEADING = re.compile(
    r"(?P<top>[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十\d]{1,3}[章节部]|#\s)|(?P<second>[（(][一二三四五六七八九十]{1,3}[)）]|##\s)"
    r"|(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})(?:[、\s]|\.\s)"
)
_ITEM = re.compile(r"\s*(?:[-*]\s+|[•●◆■□▪❑➢⚫·\uf06c-\uf0fe]\s*|[（(]\d{1,2}[)）]|\d{1,2}[)）]|[①-⑳])")
_SENTENCE_END = ("。", "！", "？", "；", "!", "?", ";", ".", "：", ":", "，", "、")
# entries of a table of contents whose line breaks were lost: from the first leader to the page number of the last
_FLAT_CONTENTS = re.compile(
    r"(?<![.．…·])[.．…·]{6,}+\s*\d{1,3}(?:(?:(?![.．…·]{6})[^\n]){1,200}[.．…·]{6,}+\s*\d{1,3})*"
)
_MAX_HEADING = 40
_MAX_WRAP_WIDTH = 130  # columns; a wider line is an unwrapped paragraph
_WRAP_FULL = 0.85
_TITLE_LINES = 8
_NAMED_ATTACHMENTS = 5


def read_text(source: SourceFile) -> Document:
    """Read one plain-text document.

    Raises:
        DocumentError: undecodable, empty, or without a publication day.
    """
    text = decode(source.data, source.name)
    lines = text.split("\n")
    return build(source, carve_plain(text), [from_head(lines, source.today, title=_title(lines))])


def read_mail(source: SourceFile) -> Iterator[Document | DocumentError]:
    """Read the text of an e-mail; its subject is the title, and its attachments are reported, not read.

    Raises:
        DocumentError: no readable text, or no day of sending.
    """
    message: EmailMessage = email.message_from_bytes(source.data, policy=email.policy.default)
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        raise DocumentError(source.name, "no readable text", "check that the file contains a report")
    text = _decoded(part, source)
    if part.get_content_subtype() == "html":
        text = visible_text(text, source.name)
    declared = from_mapping({"title": _header(message, "subject"), "date": _sent(message)}, source.today)
    head = from_head(text.split("\n"), source.today)
    yield build(source, carve_plain(text), [declared, Metadata(publisher=head.publisher, codes=head.codes)])
    attached = [each.get_filename() or each.get_content_type() for each in message.iter_attachments()]
    if attached:
        names = ", ".join(attached[:_NAMED_ATTACHMENTS])
        yield DocumentError(source.name, f"attachments not read: {names}", "save them and read them as files")


def _decoded(part: MIMEPart, source: SourceFile) -> str:
    """Decode a part as its header states, or by its bytes where that fails."""
    data = part.get_payload(decode=True)
    assert isinstance(data, bytes)  # a part that is no multipart
    stated = part.get_content_charset() or "utf-8"
    try:
        text = data.decode("gb18030" if stated.startswith("gb") else stated)
    except (LookupError, UnicodeDecodeError):
        return decode(data, source.name)
    return decode(text.encode("utf-8", "replace"), source.name)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name) or "")
    except (ValueError, IndexError, AttributeError):  # the parser of the standard library stumbles over odd headers
        return ""


def _sent(message: EmailMessage) -> datetime | str:
    stated = _header(message, "date")
    try:
        return parsedate_to_datetime(stated) if stated else ""
    except (ValueError, TypeError):
        return stated


def carve_plain(text: str, *, cleaned: bool = True) -> Body:
    """Find headings, paragraphs, items and removed lines in plain text, which is kept unchanged."""
    pieces = [part for lines in _paragraphs(text.split("\n")) for part in _contents_apart(_piece(lines))]
    return carve(text, judge(pieces) if cleaned else pieces)


def heading_level(line: str) -> int:
    """Return the depth of a line that reads like a numbered heading (一、… is 1, 2.3 … is 2), else 0.

    >>> heading_level("一、行业概况"), heading_level("2.1 锂电池"), heading_level("2023年净利润增长。")
    (1, 2, 0)
    """
    plain = line.strip()
    found = _HEADING.match(plain)
    if not found or len(plain) > _MAX_HEADING or plain.endswith(_SENTENCE_END):
        return 0
    if found["number"]:
        return found["number"].count(".") + 1
    return 1 if found["top"] else 2


def is_item(line: str) -> bool:
    """Return whether a line begins with a bullet or an item number."""
    return bool(_ITEM.match(line))


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Group wrapped lines into paragraphs; blank lines, headings and items start a new one."""
    group: list[str] = []
    widest = 0
    for line in lines:
        if group and (not line.strip() or not _continues(group[-1], line, widest)):
            yield group
            group = []
        if line.strip():
            group.append(line)
            widest = max(_width(line), widest if len(group) > 1 else 0)
    if group:
        yield group


def _continues(previous: str, line: str, widest: int) -> bool:
    if "|" in previous and "|" in line:
        return True  # the rows of one table
    if line_reason(previous) or line_reason(line):
        return False
    width = _width(previous)
    full = _WRAP_FULL * widest <= width <= _MAX_WRAP_WIDTH and width >= _MAX_HEADING
    starts = heading_level(line) or is_item(line) or line.startswith(("\u3000", "    ", "\t")) or is_figure_label(line)
    return full and not starts and not heading_level(previous) and not previous.rstrip().endswith(_SENTENCE_END[:6])


def _piece(lines: Sequence[str]) -> TextPiece:
    text = "\n".join(lines).strip()
    if len(lines) > 1 and all("|" in line for line in lines) and (table := table_from_text(text)):
        return TextPiece(text, BlockKind.TABLE, html=table.to_html())
    if len(lines) == 1 and (level := heading_level(text)):
        return TextPiece(text, BlockKind.HEADING, level)
    return TextPiece(text, BlockKind.ITEM, 1) if is_item(text) else TextPiece(text)


def _contents_apart(piece: TextPiece) -> Iterator[TextPiece]:
    """Split the entries of a table of contents from a flattened text; a piece that is one entry is judged as a line."""
    at = 0
    if piece.kind is BlockKind.PARAGRAPH and _FLAT_CONTENTS.search(piece.text):
        for found in _FLAT_CONTENTS.finditer(piece.text):
            begin = max(at, *(piece.text.rfind(mark, at, found.start()) + 1 for mark in "。！？；"))
            if found.end() == len(piece.text) and begin == at:
                break
            if piece.text[at:begin].strip():
                yield TextPiece(piece.text[at:begin])
            yield TextPiece(piece.text[begin : found.end()], reason=Reason.CONTENTS)
            at = found.end()
    if piece.text[at:].strip():
        yield replace(piece, text=piece.text[at:])


def _width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line.rstrip())


def _title(lines: Sequence[str]) -> str:
    """Return the first short line that is not a sentence, a date or a 研究报告 label."""
    head = [line.strip() for line in lines if line.strip()][:_TITLE_LINES]
    for line in head:
        if len(line) <= 2 * _MAX_HEADING and "。" not in line and not any(find_days(line)) and "研究报告" not in line:
            return line.lstrip("# ")
    return ""
