"""Read Markdown notes with front matter as plain text with a block for every paragraph, item and table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml
from markdown_it import MarkdownIt

from extraction.documents.assembly import TextPiece, assemble, judge, table_piece, title_tables
from extraction.documents.encoding import decode
from extraction.documents.html import RAISED, STRUCK_OUT, html_pieces
from extraction.documents.metadata import Metadata, build, codes_of_title, from_head, from_mapping, merge
from extraction.documents.table import cell_text, raised, table_from_rows
from kg.model import BlockKind, Document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from extraction.documents.metadata import SourceFile

_MAX_FRONT_MATTER = 65_536
_FRONT_MATTER = re.compile(r"\A-{3,}[ \t]*\n(.*?)\n-{3,}[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z_\u4e00-\u9fff][A-Za-z0-9_ \u4e00-\u9fff-]{0,39}?)[ \t]*[:：][ \t]*(.+)$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|~~")
_CJK = r"[\u3000-\u9fff\uff00-\uffef]"
_SOFT_BREAK = re.compile(rf"(?<={_CJK})\v(?={_CJK})")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TABLE_OPENS, _TABLE_CLOSES = re.compile(r"<table\b", re.IGNORECASE), re.compile(r"</table\s*>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n\s*\n")
_INLINE_TAG = re.compile(r"<(?P<end>/?)(?P<tag>[a-zA-Z]+)[^<>]*>")

# Setext headings and indented code are disabled: in Chinese notes a rule below a line is only a rule, and an indented
# paragraph only a paragraph.
_PARSER = MarkdownIt("commonmark", {"maxNesting": 50}).enable(["table", "strikethrough"]).disable(["lheading", "code"])
# Unclosed brackets take quadratic time within a paragraph: where there are too many, they are read as plain text.
_PLAIN_PARSER = (
    MarkdownIt("commonmark", {"maxNesting": 50})
    .enable(["table"])
    .disable(["lheading", "code", "reference", "link", "image", "autolink", "html_inline", "emphasis", "backticks"])
)
_MAX_BRACKETS = 5_000  # in one paragraph


def read_markdown(source: SourceFile) -> Document:
    """Read one Markdown note.

    Raises:
        DocumentError: undecodable, empty, or without a publication day.
    """
    fields, text = split_front_matter(decode(source.data, source.name))
    text = _with_whole_tables(text)
    pieces = judge(list(title_tables(_pieces(_parser_for(text).parse(text), source.name))), headings_known=True)
    body = assemble(pieces)
    declared = from_mapping(fields, source.today)
    title = next((piece.text for piece in pieces if piece.kind is BlockKind.HEADING and piece.level == 1), "")
    head = from_head(body.text.split("\n"), source.today, title=title)
    titled = Metadata(codes=codes_of_title(declared.title))
    return build(source, body, [merge([declared, titled]), head])


def _parser_for(text: str) -> MarkdownIt:
    brackets = max((paragraph.count("[") + paragraph.count("<") for paragraph in text.split("\n\n")), default=0)
    return _PLAIN_PARSER if brackets > _MAX_BRACKETS else _PARSER


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """Split front matter from the body.

    What is no YAML (a full-width colon, no blank after it, a stray colon) is read line by line, so that it costs no
    other field. A field that is given twice with different values has all of them.
    """
    text = text.lstrip("\ufeff")
    found = _FRONT_MATTER.match(text.lstrip())
    if not found or len(found[1]) > _MAX_FRONT_MATTER:
        return {}, text
    written: dict[str, list[str]] = {}
    for match in _FIELD.finditer(found[1]):
        values = written.setdefault(match[1], [])
        values += [value] if (value := match[2].strip().strip("\"'")) not in values else []
    if not written:  # a rule, not the end of front matter
        return {}, text
    try:
        read = yaml.load(found[1], Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        read = None
    fields: dict[str, object] = {key: values if len(values) > 1 else values[0] for key, values in written.items()}
    if isinstance(read, dict):
        fields |= {str(key): value for key, value in read.items() if len(written.get(str(key), ())) < 2}  # noqa: PLR2004
    return fields, text.lstrip()[found.end() :]


def _with_whole_tables(text: str) -> str:
    """Set HTML tables apart and close their blank lines, each of which would end a block of HTML."""
    parts: list[str] = []
    at = 0
    while opened := _TABLE_OPENS.search(text, at):
        closed = _TABLE_CLOSES.search(text, opened.end())
        if closed is None:
            break
        parts += [
            text[at : opened.start()],
            "\n\n",
            _BLANK_LINES.sub("\n", text[opened.start() : closed.end()]),
            "\n\n",
        ]
        at = closed.end()
    return "".join([*parts, text[at:]])


def _pieces(tokens: Sequence[Token], name: str) -> Iterator[TextPiece]:
    """Convert the block tokens of the file `name` to pieces."""
    lists = index = 0
    while index < len(tokens):
        token = tokens[index]
        lists += (token.type in _LISTS_OPEN) - (token.type in _LISTS_CLOSE)
        if token.type == "table_open":
            end = next(at for at in range(index, len(tokens)) if tokens[at].type == "table_close")
            yield _table(tokens[index:end])
            index = end
        elif token.type == "inline":
            yield _text_piece(token, tokens[index - 1], lists)
        elif token.type == "html_block":
            yield from html_pieces(token.content, name)
        elif token.type in {"fence", "code_block"}:
            yield TextPiece(token.content)
        index += 1


_LISTS_OPEN = frozenset({"bullet_list_open", "ordered_list_open"})
_LISTS_CLOSE = frozenset({"bullet_list_close", "ordered_list_close"})


def _text_piece(token: Token, opener: Token, lists: int) -> TextPiece:
    text = _inline_text(token)
    if opener.type == "heading_open":
        return TextPiece(text, BlockKind.HEADING, int(opener.tag[1:]))
    return TextPiece(text, BlockKind.ITEM, lists) if lists else TextPiece(text)


def _table(tokens: Sequence[Token]) -> TextPiece:
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(cell_text(_inline_lines(token), first=not rows[-1]))
    table = table_from_rows(rows)
    if table is None:
        return TextPiece("\n".join(" ".join(row) for row in rows))
    return table_piece(table)


def _inline_text(token: Token) -> str:
    """Return the plain text of a paragraph; wrapped Chinese lines are joined without a space."""
    return " ".join(_inline_lines(token).split())


def _inline_lines(token: Token) -> str:
    """Return the plain text with a line for each `<br>`, without what is struck out, and with notes' marks raised."""
    out: list[str] = []
    inside: list[tuple[str, list[str]]] = []  # open superscripts and struck-out texts, with their texts
    for child in token.children or ():
        tag, opens = _marked(child)
        if tag and opens:
            inside.append((tag, []))
        elif tag and inside and inside[-1][0] == tag:
            _, parts = inside.pop()
            text = raised("".join(parts)) if tag in RAISED else ""
            (inside[-1][1] if inside else out).append(text)
        else:
            text = "\n" if _BREAK.fullmatch(child.content) else _TEXT.get(child.type, child.content)
            (inside[-1][1] if inside else out).append(text)
    out += [text for _, parts in inside for text in parts]  # never closed
    joined = _EMPHASIS.sub("", "".join(out))
    lines = (" ".join(_SOFT_BREAK.sub("", line).split()) for line in joined.split("\n"))
    return "\n".join(line for line in lines if line)


def _marked(token: Token) -> tuple[str, bool]:
    """Return the tag of a superscript or of struck-out text, and whether the token opens it."""
    if token.type in {"s_open", "s_close"}:
        return "s", token.type == "s_open"
    found = _INLINE_TAG.fullmatch(token.content) if token.type == "html_inline" else None
    tag = found["tag"].lower() if found else ""
    return (tag, not found["end"]) if found and tag in RAISED | STRUCK_OUT else ("", False)


# Replacement text by token type; other tokens keep their content. CommonMark leaves the ** of **芯片：**寒武纪 in place
# (a mark between Chinese punctuation and a letter does not close), hence _EMPHASIS above.
_TEXT = {"softbreak": "\v", "hardbreak": "\v", "html_inline": "", "image": ""}
