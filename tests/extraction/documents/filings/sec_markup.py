"""Print pages of text as the SEC's HTML filings are: cells for signs and brackets, inline XBRL, page breaks."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from extraction.documents.filings.pages import is_row

if TYPE_CHECKING:
    from collections.abc import Iterable

_HEADER = (
    '<div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="dei:AmendmentFlag">false</ix:nonNumeric>'
    "</ix:hidden><ix:resources><xbrli:context>2022-12-31 98,765,432</xbrli:context></ix:resources></ix:header></div>"
)
_FIGURE = re.compile(r"(?:\$\s*)?\(?\d[\d,.]*\)?%?$|[—–-]$")
_BREAK = '<hr style="page-break-after:always"/>'
_SPACER = '<td colspan="3" style="padding:0 1pt"></td>'


def sec_markup(pages: Iterable[str]) -> str:
    """Return the markup of a filing whose pages have these lines."""
    printed = ("".join(_printed(page.split("\n"))) for page in pages)
    body = f"{_HEADER}{_BREAK.join(printed)}"
    return f"<?xml version='1.0'?><html><head><title>x-20221231</title></head><body>{body}</body></html>"


def _printed(lines: list[str]) -> Iterable[str]:
    rows: list[str] = []
    for line in [*lines, ""]:
        if line and (is_row(line) or (rows and len(line) < 60)):
            rows.append(_row(line))
            continue
        if rows:
            yield f"<div><table style='border-collapse:collapse;width:100%'>{''.join(rows)}</table></div>"
            rows = []
        if line:
            yield f'<div style="margin-bottom:6pt"><span style="color:#000000">{escape(line)}</span></div>'


def _row(line: str) -> str:
    words = re.sub(r"\$\s+", "$", line).split()
    place = len(words)
    while place and _FIGURE.match(words[place - 1]):
        place -= 1
    cells = "".join(_cells(word) for word in words[place:])
    return f'<tr><td style="vertical-align:bottom">{escape(" ".join(words[:place]))}</td>{_SPACER}{cells}</tr>'


def _cells(word: str) -> str:
    sign, figure = ("$", word[1:]) if word.startswith("$") else ("", word)
    opening, closing = ("(", ")") if figure.startswith("(") else ("", "")
    number = f'<ix:nonFraction name="x" scale="6">{figure.strip("()")}</ix:nonFraction>'
    return f"<td>{sign}</td><td>{opening}{number}</td><td>{closing}&#160;</td>{_SPACER}"
