"""Read HTML pages: the main content as blocks, scripts dropped, menus and footers stored but hidden."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from extraction.documents.assembly import TextPiece, assemble, judge, table_piece, title_tables
from extraction.documents.cleaning import Reason
from extraction.documents.encoding import decode
from extraction.documents.filings.reader import cover_layers
from extraction.documents.metadata import Metadata, build, codes_of_title, from_head, from_mapping
from extraction.documents.tables import table_from_rows
from kg.errors import DocumentError
from kg.model import BlockKind, Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from extraction.documents.metadata import SourceFile


HIDDEN = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head"]


MAX_DEPTH = 1_000  # elements within one another; browsers stop at 512
MAX_ATTRIBUTES = 1_000  # of one element
# A comment or a script as a whole, or one tag with its attributes, whose quoted values may contain >.
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<raw>script|style)\b(?:.*?</(?P=raw)|.*)"
    r"|<(?P<end>/?)(?P<name>[a-z][^\s/>]*+)(?P<attributes>(?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
# Elements without an end tag, or whose end tag may be left out: they do not show how deep a page is.
_UNCLOSED = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "caption", "colgroup", "option", "optgroup"}
    | {"rt", "rp", "html", "head", "body"}
)


def parse(markup: str, source: str) -> LexborHTMLParser:
    """Parse HTML in linear time: the parser's is quadratic in the depth of elements and in their attributes.

    Raises:
        DocumentError: beyond MAX_DEPTH or MAX_ATTRIBUTES.
    """
    deepest = depth = 0
    advice = "open it in a browser and save its text"
    for tag in _TAG.finditer(markup):
        if len(tag["attributes"] or "") > MAX_ATTRIBUTES:
            count = len(_QUOTED.sub("", tag["attributes"]).split(maxsplit=MAX_ATTRIBUTES))
            if count > MAX_ATTRIBUTES:
                raise DocumentError(source, f"an element with more than {MAX_ATTRIBUTES:,} attributes", advice)
        if tag["name"] and tag["name"].lower() not in _UNCLOSED:
            depth = max(0, depth + (-1 if tag["end"] else 1))
            deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise DocumentError(source, f"elements nested more than {MAX_DEPTH:,} deep", advice)
    return LexborHTMLParser(markup)


def strip_tags(markup: str, source: str) -> str:
    """Return the visible text; scripts and styles are removed with their content.

    Raises:
        DocumentError: as `parse` does.
    """
    tree = parse(markup, source)
    tree.strip_tags(HIDDEN)
    return " ".join(tree.text(separator=" ").split())


_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    {
        *_HEADINGS,
        "p",
        "div",
        "li",
        "td",
        "th",
        "tr",
        "section",
        "article",
        "main",
        "body",
        "blockquote",
        "pre",
        "dd",
        "dt",
    }
    | {"figcaption", "caption", "header", "footer", "nav", "aside", "form", "table", "ul", "ol", "center", "br", "hr"}
)
_NAVIGATION_TAGS = frozenset({"nav", "footer", "aside", "form", "menu", "dialog"})
_MAIN = ("article", "main", "[role=main]")
_META = {
    "title": ("meta[property='og:title']", "meta[name='title']"),
    "date": (
        "meta[property='article:published_time']",
        "meta[name='pubdate']",
        "meta[name='publishdate']",
        "meta[name='date']",
    ),
    "publisher": ("meta[property='og:site_name']", "meta[name='source']"),
    "authors": ("meta[name='author']",),
    "url": ("meta[property='og:url']",),
    "tags": ("meta[name='keywords']",),
}


@dataclass(frozen=True, slots=True)
class _Place:
    """Context of a text node: its block kind, list depth, and the reason if it is hidden."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int = 0
    lists: int = 0
    reason: str = ""


def read_html(source: SourceFile) -> Document:
    """Read one HTML page.

    Raises:
        DocumentError: undecodable, empty, or without a publication day.
    """
    tree = parse(decode(source.data, source.name), source.name)
    declared = _metadata(tree, source)
    tree.strip_tags(HIDDEN)
    pieces = judge(list(title_tables(_pieces(tree))), headings_known=True)
    body = assemble(pieces)
    first = next((piece.text for piece in pieces if piece.kind is BlockKind.HEADING and piece.level == 1), "")
    head = from_head(body.text.split("\n"), source.today, title=first)
    filing = cover_layers(body.text)
    return build(source, body, [*filing, declared, head, Metadata(codes=codes_of_title(declared.title))])


def _metadata(tree: LexborHTMLParser, source: SourceFile) -> Metadata:
    values: dict[str, object] = {}
    for name, selectors in _META.items():
        found = next((node for selector in selectors if (node := tree.css_first(selector))), None)
        values[name] = (found.attributes.get("content") or "") if found else ""
    stamp = tree.css_first("time[datetime]")
    values["date"] = values["date"] or ((stamp.attributes.get("datetime") or "") if stamp else "")
    title = tree.css_first("title")
    values["title"] = values["title"] or (re.split(r"\s[|–—_-]\s", title.text().strip())[0] if title else "")
    return from_mapping(values, source.today)


def _pieces(tree: LexborHTMLParser) -> Iterator[TextPiece]:
    """Walk the tree in reading order with an explicit stack, so that deep nesting cannot exhaust Python's."""
    main = next((node for selector in _MAIN if (node := tree.css_first(selector))), None)
    words: list[str] = []
    start = _Place(reason=Reason.NAVIGATION if main else "")
    stack: list[tuple[LexborNode | None, _Place]] = [(tree.body, start)] if tree.body else []
    while stack:
        node, place = stack.pop()
        if node is not None and node.is_text_node:
            words.append(node.text_content or "")
            continue
        tag = (node.tag or "") if node is not None else ""
        if node is not None and tag not in _BLOCKS:
            stack += [(child, place) for child in reversed(list(node.iter(include_text=True)))]
            continue
        if text := " ".join("".join(words).split()):
            yield TextPiece(text, place.kind, place.level, reason=place.reason)
        words.clear()
        if node is None:
            continue
        inner = _enter(node, place, is_main=main is not None and node.mem_id == main.mem_id)
        if tag == "table" and (piece := _table(node, inner.reason)):
            yield piece
            continue
        stack.append((None, inner))  # closes the block and emits its text
        for child in reversed(list(node.iter(include_text=True))):
            stack.append((child, inner))
            if child.tag in _BLOCKS:
                stack.append((None, inner))  # loose text before a nested block is a separate piece


def _enter(node: LexborNode, place: _Place, *, is_main: bool) -> _Place:
    tag = node.tag or ""
    reason = "" if is_main else place.reason
    if tag in _NAVIGATION_TAGS:
        reason = Reason.NAVIGATION
    lists = place.lists + (tag in {"ul", "ol"})
    if tag in _HEADINGS:
        return _Place(BlockKind.HEADING, _HEADINGS[tag], lists, reason)
    if lists:
        return _Place(BlockKind.ITEM, lists, lists, reason)
    return _Place(reason=reason)


def _table(node: LexborNode, reason: str) -> TextPiece | None:
    """Read a data table; a table that contains another is page layout and is walked like any other block."""
    if (
        len(node.css("table")) > 1
        or node.css_first("h1, h2, h3, ul, ol")
        or len(node.css("td > p")) > len(node.css("tr")) * 8
    ):
        return None
    rows = [[" ".join(cell.text().split()) for cell in row.css("td, th")] for row in node.css("tr")]
    caption = node.css_first("caption")
    table = table_from_rows(rows, title=caption.text() if caption else "")
    return table_piece(table, reason=reason) if table else None
