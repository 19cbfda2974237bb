"""Collect metadata from front matter, PDF fields, first page and file name, in that order of precedence."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import date
from itertools import pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.documents.encoding import normalise
from extraction.documents.publication_day import day_of_head, day_of_name, day_of_opening, read_day, usable
from extraction.text.lexicon import phrases
from kg.errors import DocumentError
from kg.ids import document_id
from kg.model import Document
from kg.securities.codes import find_codes, parse_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from extraction.documents.assembly import Body


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One input. `published_on` is the user's `--date` and overrides other dates; `today` is the latest valid day."""

    path: Path
    data: bytes
    today: date
    published_on: date | None = None

    @property
    def name(self) -> str:
        """Name used in messages."""
        return str(self.path)


@dataclass(frozen=True, slots=True)
class Metadata:
    """Metadata of a document; an empty field is unknown."""

    title: str = ""
    published_on: date | None = None
    publisher: str = ""
    authors: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    url: str = ""
    language: str = ""
    kind: str = ""
    unusable_date: str = ""  # a declared date that is none, or none of publication: field and value


# Keys without blanks, hyphens and underscores; of several dates the first of this order is the publication day.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "标题"),
    "published_on": (
        *("publishedon", "publishedat", "publishdate", "publicationdate", "publishtime", "published", "pubdate"),
        *("datepublished", "发布日期", "发布时间", "发表日期", "发布日", "报告日期", "date", "日期", "时间"),
        *("created", "createdat", "createddate", "datecreated", "creationdate", "创建日期", "创建时间"),
    ),
    "publisher": ("publisher", "broker", "institution", "source", "机构", "发布机构"),
    "authors": ("authors", "author", "analysts", "analyst", "分析师", "作者"),
    "codes": ("codes", "code", "symbols", "tickers", "ticker", "证券代码", "股票代码"),
    "tags": ("tags", "keywords", "category", "categories", "标签"),
    "url": ("url", "sourceurl", "link", "网址"),
    "language": ("language", "lang"),
    "kind": ("kind", "type"),
}
_KEY_MARKS = re.compile(r"[\s_-]+")
_PHRASES = phrases("documents/metadata")
_LEGAL = _PHRASES["legal"]
_LEAD_IN = _PHRASES["lead_in"]
_COMPANY = re.compile(r"([\u4e00-\u9fff]{2,10}证券)股份有限公司[（(](?:以下|下称|已)")
_BROKER_LINE = _PHRASES["broker_line"]
_DATE_CHARS = re.compile(r"[\s\d年月日.|/-]+")
_TITLE_PARTS = _PHRASES["title_parts"]
_DATED_NAME = _PHRASES["dated_name"]
_TEMPLATE_TITLE = _PHRASES["template_title"]
_SUBJECT = re.compile(r"^[\u4e00-\u9fffA-Za-z]{2,10}[（(]\d{5,6}(?:\.[A-Z]{2})?[)）]$|公司[（(]\d{5,6}\.[A-Z]{2}[)）]")
_ANALYST = re.compile(r"(?:(?:首席|证券)?分析师|研究员|作者|analysts?)\s*[:：]\s*(.{2,60})", re.IGNORECASE)
_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}(?:·[\u4e00-\u9fff]{1,8})?|示例分析师[\u4e00-\u9fff]{1,4}")
_NOT_NAMES = _PHRASES["not_names"]
_CREDENTIAL = re.compile(r"[\w.+-]+[@＠][\w.-]+|SAC|执业证书|登记编码", re.IGNORECASE)
_ABSENT = (None, "")
_HEAD = 60
_MAX_TITLE = 120
_MAX_NAME = 80
_CJK_SHARE = 0.1


def from_mapping(values: Mapping[str, object], today: date) -> Metadata:
    """Read front matter or a JSON record, accepting the usual names of each field."""
    names = {_KEY_MARKS.sub("", str(key).casefold()): str(key) for key in values}
    known = {key: values[name] for key, name in names.items() if name in values}
    found = {name: [known[key] for key in keys if known.get(key)] for name, keys in _KEYS.items()}
    first = {name: next((text for value in found[name] if (text := _scalar(value))), "") for name in found}
    dates = [(names[key], known[key]) for key in _KEYS["published_on"] if known.get(key) not in _ABSENT][:1]
    days = [day for _, value in dates if (day := read_day(value)) and usable(day, today)]
    return Metadata(
        title=first["title"][:_MAX_TITLE],
        published_on=next(iter(days), None),
        publisher=first["publisher"][:_MAX_NAME],
        authors=next(iter(map(_listed, found["authors"])), ()),
        codes=_codes(next(iter(map(_listed, found["codes"])), ())),
        tags=tuple(dict.fromkeys(tag for value in found["tags"] for tag in _listed(value))),
        url=first["url"],
        language=first["language"][:2].casefold(),
        kind=first["kind"][:_MAX_NAME],
        unusable_date="" if days or not dates else f"{dates[0][0]}: {_shown(dates[0][1])}"[:_MAX_NAME],
    )


def from_head(lines: Sequence[str], today: date, *, title: str = "") -> Metadata:
    """Read metadata from a first page: its lines before cleaning, and the title found by layout."""
    head = [line.strip() for line in lines[:_HEAD]]
    return Metadata(
        title=title,
        published_on=day_of_head(head, today),
        publisher=_publisher(lines),
        authors=_analysts(head),
        codes=codes_of_title(title) or _subject(head),
    )


def from_title(title: str, today: date) -> Metadata:
    """Read metadata from a PDF's title field or a file name: 示例证券-比亚迪(002594)深度报告-230203.

    Default names left by word processors (行业深度模板) are ignored.
    """
    plain = re.sub(r"\.(?:pdf|md|markdown|html?|txt|jsonl|docx|pptx|xlsx)$", "", title.strip(), flags=re.IGNORECASE)
    if not plain or _TEMPLATE_TITLE.search(plain):
        return Metadata()
    parts = _TITLE_PARTS.match(plain) or _DATED_NAME.match(plain)
    broker_name = (parts["broker_name"] or "") if parts else ""
    name = parts["title"] if parts else plain
    return Metadata(
        title=name[:_MAX_TITLE],
        published_on=day_of_name(plain, today),
        publisher=broker_name,
        codes=codes_of_title(plain),
    )


def merge(layers: Sequence[Metadata]) -> Metadata:
    """Take each field from the first layer that has it."""
    values: dict[str, Any] = {
        item.name: next((value for layer in layers if (value := getattr(layer, item.name))), item.default)
        for item in fields(Metadata)
    }
    return Metadata(**values)


def build(source: SourceFile, body: Body, layers: Sequence[Metadata], *, content: bytes | None = None) -> Document:
    """Build a document from a body and its metadata layers, most trusted first; the file name is added last.

    Args:
        source: the input; its `published_on` overrides every layer.
        body: the stored text.
        layers: metadata found by the format's reader.
        content: the bytes to hash for the id, if not the whole file (one line of JSONL).

    Raises:
        DocumentError: no publication day is found, the declared one is unusable, or no text is left after cleaning.
    """
    name = from_title(source.path.stem, source.today)
    opening = Metadata(published_on=day_of_opening(body.text, source.today))
    known = merge([*layers, name, opening])
    day = source.published_on or known.published_on
    if source.published_on is None and known.unusable_date:
        cause = f"unusable publication date ({known.unusable_date})"
        raise DocumentError(source.name, cause, "correct it, or pass --date YYYY-MM-DD")
    if day is None:
        raise DocumentError(
            source.name, "no publication date in its metadata, first page or file name", "pass --date YYYY-MM-DD"
        )
    if not body.blocks:
        raise DocumentError(source.name, "no readable text", "check that the file contains a report")
    return Document(
        id=document_id(source.data if content is None else content),
        title=known.title or source.path.stem,
        published_on=day,
        text=body.text,
        kind=known.kind or "report",
        publisher=known.publisher,
        authors=known.authors,
        url=known.url,
        language=known.language or _language(body.text),
        codes=known.codes,
        tags=known.tags,
        path=source.name,
        pages=body.pages,
        blocks=body.blocks,
        removed=body.removed,
        legibility=body.legibility,
    )


def stated_title(document: Document) -> str:
    """Return the title that the document states, "" if its title is only the name of its file or of the input stream.

    >>> note = Document("doc:1", "export", date(2025, 4, 28), "…", path="out/export.jsonl:3")
    >>> stated_title(note), stated_title(Document("doc:1", "电池周报", date(2025, 4, 28), "…", path="out/export.md"))
    ('', '电池周报')
    """
    stem = Path(document.path).stem
    return "" if document.title in (stem, from_title(stem, date.max).title) else document.title


def codes_of_title(title: str) -> tuple[str, ...]:
    """Return the security codes in a title, such as 比亚迪(002594)."""
    return tuple(dict.fromkeys(str(code) for _, _, code in find_codes(title)))


def _scalar(value: object) -> str:
    """Return the text of a plain value; nested values are ignored, so that no YAML alias can expand."""
    return normalise(" ".join(str(value).split())) if isinstance(value, str | int | float) else ""


def _shown(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return ", ".join(map(_scalar, value)) if isinstance(value, list) else _scalar(value) or type(value).__name__


def _listed(value: object) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        return tuple(dict.fromkeys(text for item in value[:_HEAD] if (text := _scalar(item))))
    return tuple(text for part in re.split(r"[,，、;；/|]", _scalar(value)) if (text := part.strip()))


def _codes(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(code) for value in values if (code := parse_code(value))))


def _subject(head: Sequence[str]) -> tuple[str, ...]:
    """Return the subject's code on a first page: a line 比亚迪(002594), or 公司（300750.SZ）主营 in its text."""
    found = next((match for line in head if (match := _SUBJECT.search(line))), None)
    return codes_of_title(found[0]) if found else ()


def _publisher(lines: Sequence[str]) -> str:
    for line in (line.strip() for line in lines[:_HEAD]):
        if (found := _BROKER_LINE.match(line)) and not _DATE_CHARS.sub("", line[found.end() :]):
            return found[1]
    text = "".join(lines)
    named = _LEGAL.search(text) or _COMPANY.search(text)
    return _LEAD_IN.sub("", re.sub(r"[（(].*", "", named[1])) if named else ""


def _analysts(head: Sequence[str]) -> tuple[str, ...]:
    names: list[str] = []
    for line, following in pairwise([*head, ""]):
        if label := _ANALYST.search(line):
            parts = re.split(r"[\s,，、/|()（）]+", label[1].strip())
            names += takewhile(lambda part: bool(_NAME.fullmatch(part)) and not _NOT_NAMES.search(part), parts)
        elif _NAME.fullmatch(line) and not _NOT_NAMES.search(line) and _CREDENTIAL.match(following):
            names.append(line)
    return tuple(dict.fromkeys(names))


def _language(text: str) -> str:
    sample = text[:5000]
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in sample)
    return "zh" if chinese >= _CJK_SHARE * max(1, len(sample)) else "en"
