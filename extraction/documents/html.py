"""Read HTML pages: the main content as blocks, scripts dropped, menus and footers stored but hidden."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from extraction.documents.assembly import TextPiece, assemble, judge, table_piece, title_tables
from extraction.documents.cleaning import Reason
from extraction.documents.encoding import decode
from extraction.documents.filings.reader import FilingReader
from extraction.documents.metadata import Metadata, build, codes_of_title, from_head, from_mapping
from extraction.documents.publication_day import read_day
from extraction.documents.table import Cell, cell_text, raised, spread, table_from_grid
from kg.errors import DocumentError
from kg.model import BlockKind, Document

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from selectolax.lexbor import LexborNode

    from extraction.documents.metadata import SourceFile

    _Styles = dict[int, tuple[LexborNode, dict[str, str]]]  # elements and their declarations

HIDDEN = ["script", "style", "noscript", "template", "svg", "iframe", "object", "head"]


MAX_DEPTH = 1_000  # elements within one another; browsers stop at 512
MAX_ATTRIBUTES = 1_000  # of one element
# Tags of a page. The longest annual reports have some 300,000, among them 60,000 cells in 500 tables.
MOST = {"": 1_500_000, "td": 300_000, "th": 300_000, "table": 20_000}
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


_RULE = re.compile(r"([^{}]{1,200})\{([^{}]{1,2000})\}")
_AT_RULE = re.compile(r"@[^{};]{0,200}\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\}|/\*.*?\*/", re.DOTALL)  # @media print {…}
_SELECTOR = re.compile(r"[\w\s.#>*-]+")
_DECLARATION = re.compile(r"([a-z-]+)\s*:\s*([^;]+)")
_SHOWING = frozenset({"color", "background", "background-color", "display", "visibility", "opacity", "font-size"}) | {
    "text-indent",
    "left",
}
_HIDING = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|opacity:0?(?:\.0\d*)?(?=;|$)|font-size:[01]?(?:\.\d+)?(?:px|pt)?(?=;|$)"
    r"|(?:text-indent|left):-\d{3,}|color:(?:transparent|rgba\([^)]*,0?(?:\.0*)?\)))"
)
_MAX_RULES, _MAX_STYLED = 500, 20_000  # rules of a page's sheets, and elements that they match
_COLOURS = {"white": "ffffff", "black": "000000"}


def _declarations(text: str) -> dict[str, str]:
    return {name: value.strip() for name, value in _DECLARATION.findall(text.lower()) if name in _SHOWING}


def _colour(value: str) -> str:
    """Return a colour as six hexadecimal digits, "" if it is none of the plain notations.

    >>> _colour("#FFF"), _colour("rgb(255, 255, 255)"), _colour("white url(a.png)")
    ('ffffff', 'ffffff', '')
    """
    plain = value.lower().replace("!important", "").strip().replace(" ", "")
    if numbers := re.fullmatch(r"rgba?\((\d{1,3}),(\d{1,3}),(\d{1,3})(?:,1(?:\.0*)?)?\)", plain):
        return "".join(f"{int(number):02x}" for number in numbers.groups())
    if shades := re.fullmatch(r"#?([0-9a-f]{3}|[0-9a-f]{6})", plain):
        return shades[1] if len(shades[1]) > 3 else "".join(2 * shade for shade in shades[1])  # noqa: PLR2004
    return _COLOURS.get(plain, "")


def drop_unseen(tree: LexborHTMLParser) -> list[str]:
    """Remove the elements that a reader of the page does not see, by their attributes or style; return their texts."""
    styles = _styles(tree)
    behind: dict[int, str] = {}
    hidden = {node.mem_id: node for node, style in styles.values() if _is_unseen(node, style, styles, behind)}
    hidden |= {node.mem_id: node for node in tree.css("[hidden]")}
    within: dict[int, bool] = {}
    outer = [node for node in hidden.values() if not _is_within(node.parent, hidden, within)]
    texts = [" ".join(node.text(separator=" ").split()) for node in outer if node.tag not in HIDDEN]
    for node in outer:
        node.decompose()
    return [text for text in texts if text]


def _styles(tree: LexborHTMLParser) -> _Styles:
    """Return the elements whose style affects how they are shown, each with its declarations."""
    found: _Styles = {}
    sheets = "\n".join(node.text() for node in tree.css("style"))
    rules = [rule for rule in _RULE.findall(_AT_RULE.sub("", sheets)) if _SELECTOR.fullmatch(rule[0])]
    matched = 0
    for selectors, body in rules[:_MAX_RULES]:
        declared = _declarations(body)
        for node in _selected(tree, selectors) if declared and matched < _MAX_STYLED else ():
            matched += 1
            found.setdefault(node.mem_id, (node, {}))[1].update(declared)
    for node in tree.css("[style], [bgcolor], font[color]"):
        attributes = node.attributes
        declared = _declarations(attributes.get("style") or "")
        declared |= {"background": colour} if (colour := attributes.get("bgcolor")) else {}
        declared |= {"color": colour} if node.tag == "font" and (colour := attributes.get("color")) else {}
        found.setdefault(node.mem_id, (node, {}))[1].update(declared)
    return found


def _selected(tree: LexborHTMLParser, selectors: str) -> list[LexborNode]:
    try:
        return tree.css(selectors)
    except SelectolaxError:  # a browser ignores a rule that it cannot read, too
        return []


def _is_unseen(node: LexborNode, style: dict[str, str], styles: _Styles, behind: dict[int, str]) -> bool:
    if node.tag in {"html", "body"}:
        return False
    written = ";".join(f"{name}:{value}" for name, value in style.items())
    if _HIDING.search(re.sub(r"\s|!important", "", written)):
        return True
    colour = _colour(style.get("color", ""))
    return bool(colour) and _background(node, styles, behind) == colour


def _background(node: LexborNode | None, styles: _Styles, behind: dict[int, str]) -> str:
    """Return the colour behind an element: its own, its parents', else a page's white; "" if it is a picture."""
    path: list[int] = []
    colour = _COLOURS["white"]
    while node is not None:
        if node.mem_id in behind:
            colour = behind[node.mem_id]
            break
        path.append(node.mem_id)
        declared = styles[node.mem_id][1] if node.mem_id in styles else {}
        if written := declared.get("background-color") or declared.get("background"):
            colour = _colour(written)
            break
        node = node.parent
    behind |= dict.fromkeys(path, colour)
    return colour


def _is_within(node: LexborNode | None, hidden: Container[int], known: dict[int, bool]) -> bool:
    """Return whether an element is one of the hidden, or within one."""
    path: list[int] = []
    inside = False
    while node is not None:
        if node.mem_id in known or node.mem_id in hidden:
            inside = known.get(node.mem_id, True)
            break
        path.append(node.mem_id)
        node = node.parent
    known |= dict.fromkeys(path, inside)
    return inside


def parse(markup: str, source: str, unseen: list[str] | None = None) -> LexborHTMLParser:
    """Parse HTML in linear time: the parser's is quadratic in the depth of elements and in their attributes.

    Args:
        markup: a page or a part of one.
        source: the name used in error messages.
        unseen: takes the texts that were removed because a reader of the page does not see them.

    Raises:
        DocumentError: beyond MAX_DEPTH, MAX_ATTRIBUTES or MOST.
    """
    deepest = depth = 0
    advice = "open it in a browser and save its text"
    counts = dict.fromkeys(MOST, 0)
    for tag in _TAG.finditer(markup):
        if len(tag["attributes"] or "") > MAX_ATTRIBUTES:
            count = len(_QUOTED.sub("", tag["attributes"]).split(maxsplit=MAX_ATTRIBUTES))
            if count > MAX_ATTRIBUTES:
                raise DocumentError(source, f"an element with more than {MAX_ATTRIBUTES:,} attributes", advice)
        name = (tag["name"] or "").lower()
        for counted in ("", name) if name in MOST else ("",):
            counts[counted] += 1
            if counts[counted] > MOST[counted]:
                raise DocumentError(source, f"more than {MOST[counted]:,} {counted or 'HTML'} tags", advice)
        if name and name not in _UNCLOSED:
            depth = max(0, depth + (-1 if tag["end"] else 1))
            deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise DocumentError(source, f"elements nested more than {MAX_DEPTH:,} deep", advice)
    tree = LexborHTMLParser(markup)
    texts = drop_unseen(tree)
    if unseen is not None:
        unseen += texts
    return tree


def visible_text(markup: str, source: str) -> str:
    """Return the visible text of a page, a line for each block.

    Raises:
        DocumentError: as `parse` does.
    """
    tree = parse(markup, source)
    tree.strip_tags(HIDDEN)
    return "\n".join(piece.text for piece in _pieces(tree))


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
STRUCK_OUT = frozenset({"del", "s", "strike"})  # not stated any more
RAISED = frozenset({"sup"})  # a mark of a note, apart from the number before it
_PRINTED, _PRINTED_LINES = 110, 60  # characters of a printed line, lines of a page
_PAGE_BREAK = re.compile(r"(?i)\b(?:page-)?break-(before|after)\s*:\s*(?:always|page|left|right)")
_END, _BREAK = "end", "break"
_MOST_ROWS, _MOST_COLUMNS, _SPAN_DIGITS = 20_000, 100, 5
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
    unseen: list[str] = []
    tree = parse(decode(source.data, source.name), source.name, unseen)
    declared = _metadata(tree, source)
    tree.strip_tags(HIDDEN)
    pages, numbered = printed_pages(tree)
    filing = FilingReader(source, pages.__getitem__, len(pages), numbered=numbered)
    if filing.plain:
        return filing.read(declared.published_on)
    pieces = judge(list(title_tables(_pieces(tree))), headings_known=True)
    body = assemble([*pieces, *(TextPiece(text, reason=Reason.UNSEEN) for text in unseen)])
    first = next((piece.text for piece in pieces if piece.kind is BlockKind.HEADING and piece.level == 1), "")
    head = from_head(body.text.split("\n"), source.today, title=first)
    return build(source, body, [*filing.layers(), declared, head, Metadata(codes=codes_of_title(declared.title))])


def printed_pages(tree: LexborHTMLParser) -> tuple[list[str], bool]:
    """Return the text of a page's printed pages, and whether it has page breaks; without, pages are stretches of text.

    A row of a table is one line, a paragraph is lines of about equal length, as in the text of a PDF.
    """
    pages: list[list[str]] = [[]]
    words: list[str] = []
    stack: list[LexborNode | str] = [tree.body] if tree.body else []
    while stack:
        item = stack.pop()
        if not isinstance(item, str) and item.is_text_node:
            words.append(item.text_content or "")
            continue
        tag = "" if isinstance(item, str) else item.tag or ""
        breaks = set() if isinstance(item, str) else set(_PAGE_BREAK.findall(item.attributes.get("style") or ""))
        if isinstance(item, str) or tag in _BLOCKS or breaks:
            pages[-1] += textwrap.wrap("".join(words), _PRINTED, break_long_words=False, break_on_hyphens=False)
            words.clear()
        if (item == _BREAK or "before" in breaks) and pages[-1]:
            pages.append([])
        if isinstance(item, str):
            continue
        stack += [_BREAK] if "after" in breaks else []
        if tag == "table" and len(item.css("table")) == 1:
            rows = (" ".join(map(inline_text, row.css("td, th"))) for row in item.css("tr"))
            pages[-1] += [line for row in rows if (line := " ".join(row.split()))]
        elif tag in RAISED | STRUCK_OUT:
            words.append(raised(item.text()) if tag in RAISED else "")
        else:
            stack += [_END] if tag in _BLOCKS else []
            stack += reversed(list(item.iter(include_text=True)))
    lines = [line for page in pages for line in page]
    numbered = len(pages) > 1
    if not numbered:
        pages = [lines[at : at + _PRINTED_LINES] for at in range(0, len(lines), _PRINTED_LINES)]
    return ["\n".join(page) for page in pages], numbered


def html_pieces(markup: str, source: str) -> list[TextPiece]:
    """Return the pieces of a fragment of HTML, such as a table within Markdown.

    Raises:
        DocumentError: as `parse` does.
    """
    tree = parse(markup, source)
    tree.strip_tags(HIDDEN)
    return list(_pieces(tree))


def _metadata(tree: LexborHTMLParser, source: SourceFile) -> Metadata:
    values: dict[str, object] = {}
    for name, selectors in _META.items():
        found = next((node for selector in selectors if (node := tree.css_first(selector))), None)
        values[name] = (found.attributes.get("content") or "") if found else ""
    stamp = tree.css_first("time[datetime]")
    stamped = (stamp.attributes.get("datetime") or "") if stamp else ""
    values["date"] = values["date"] or (stamped if read_day(stamped) else "")  # it may be a duration
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
        if node is not None and tag in RAISED | STRUCK_OUT:
            words.append(raised(node.text()) if tag in RAISED else "")
            continue
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
    caption = node.css_first("caption")
    table = table_from_grid(_grid(node), title=inline_text(caption) if caption else "")
    return table_piece(table, reason=reason) if table else None


def _grid(table: LexborNode) -> list[list[Cell | None]]:
    """Lay out the cells of a table, each at all places that its spans cover."""
    rows = table.css("tr")[:_MOST_ROWS]
    grid: list[list[Cell | None]] = [[] for _ in rows]
    for number, row in enumerate(rows):
        column = 0
        for node in row.css("td, th"):
            while column < len(grid[number]) and grid[number][column] is not None:
                column += 1
            if column >= _MOST_COLUMNS:
                break
            wide, high = _span(node, "colspan", _MOST_COLUMNS - column), _span(node, "rowspan", len(rows) - number)
            cell = Cell(cell_text(inline_text(node), first=column == 0), head=node.tag == "th")
            spread(grid, cell, (number, column, number + high, column + wide))
            column += wide
    return grid


def _span(node: LexborNode, name: str, most: int) -> int:
    """Return how many columns or rows a cell covers; a span of 0 rows extends to the end of the table."""
    stated = (node.attributes.get(name) or "1").strip()
    count = int(stated) if stated.isascii() and stated.isdecimal() and len(stated) <= _SPAN_DIGITS else 1
    return min(count or (most if name == "rowspan" else 1), most)


def inline_text(node: LexborNode) -> str:
    """Return the text of an element on lines: breaks and blocks end one, struck-out text is left out, notes raised."""
    parts: list[str] = []
    stack: list[LexborNode | str] = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
        elif item.is_text_node:
            parts.append(" ".join((item.text_content or "").split("\n")))
        elif item.tag in RAISED:
            parts.append(raised(item.text()))
        elif item.tag not in STRUCK_OUT:
            ends = "\n" if item.tag in _BLOCKS else ""
            stack += [ends, *reversed(list(item.iter(include_text=True))), ends]
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)
