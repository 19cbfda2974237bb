"""Detect boilerplate in a report and hide it, with a reason for each line.

Hidden lines stay in the stored text and are only skipped by fact extraction, so a wrong rule costs facts but never
evidence. Rules are deliberately narrow: a line that might be content is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from extraction.text.lexicon import phrases
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Reason(StrEnum):
    """Why a line is hidden; printed by `liantu read --show-removed`."""

    CONTENTS = "contents"
    RUNNING_HEADER = "running-header"
    RUNNING_FOOTER = "running-footer"
    PAGE_NUMBER = "page-number"
    DISCLAIMER = "disclaimer"
    CERTIFICATE = "analyst-certificate"
    RATING = "rating-definition"
    CONTACT = "contact"
    FIGURE_LABEL = "figure-label"
    FIGURE_TEXT = "figure-text"
    SOURCE_LINE = "source-line"
    SYMBOLS = "symbols"
    WATERMARK = "watermark"
    NAVIGATION = "navigation"
    UNSEEN = "unseen"  # a reader of the page does not see it: white on white, one point, display: none


@dataclass(frozen=True, slots=True)
class CandidateLine:
    """A line or block to classify; `level` is the heading depth, 0 for other text."""

    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line of a page; `top` is its distance from the upper edge as a fraction of the page height."""

    text: str
    top: float


_SHORT = 40
_LABEL = 80
_MAX_LINE = 400
_MAX_NOTICE = 700  # a longer text is a whole report that lost its line breaks
_SENTENCE_END = re.compile(r"[。！？；]")
_PHRASES = phrases("documents/cleaning")
_FIGURE_LABEL = _PHRASES["figure_label"]
_TABLE_LABEL = re.compile(r"(?:图表|表|表格|Table|Exhibit)\s*[A-Z]?\d+", re.IGNORECASE)
_SOURCE_LINE = re.compile(r"[（(]?(?:资料|数据|信息|图表)?来源\s*[:：]|(?:data )?sources?\s*[:：]", re.IGNORECASE)
_SOURCE_LABEL = re.compile(r"[（(]?(?:资料|图表)来源\s*[:：]|(?:data )?sources?\s*[:：]", re.IGNORECASE)
_SOURCE_NAMES = _PHRASES["source_names"]
_LEADER = Prefiltered(r"(?:(?:[.．] ?){4,}|…{2,}|[·•]{4,}|_{4,})\s*[-–]?\s*\d{0,4}\s*[-–]?$")
_CONTENTS_ENTRY = re.compile(r"(?:[.．…·]{2,}|\s)\s*[-–]?\s*\d{1,4}\s*[-–]?$")
_PAGE_NUMBER = _PHRASES["page_number"]
_BARE_NUMBER = re.compile(r"\d{1,4}")
_CONTACT = _PHRASES["contact"]
_ADDRESS = re.compile(r".{0,8}地址\s*[:：][^。]{4,60}")
_ANALYST = _PHRASES["analyst"]
_BARE_CONTACT = _PHRASES["bare_contact"]
_BOILERPLATE = _PHRASES["boilerplate"]
_NO_ADVICE = re.compile(r"不构成(?:对任何人的)?(?:任何|具体)?的?投资(?:建议|意见|操作)")
_MAX_NO_ADVICE = 120

_SECTIONS = {Reason(name): pattern for name, pattern in phrases("documents/end_matter").items()}
_LAST_PART = 0.6  # a disclaimer that begins after this fraction of the lines runs to the end of the document


def line_reason(text: str) -> Reason | None:
    """Classify one line or short block by its own text; None means that it is kept.

    >>> line_reason("资料来源：Wind，示例证券研究所"), line_reason("- 12 -"), line_reason("碳酸锂价格下跌。")
    (<Reason.SOURCE_LINE: 'source-line'>, <Reason.PAGE_NUMBER: 'page-number'>, None)
    """
    plain = text.strip()
    if len(plain) > _MAX_LINE:  # a paragraph: line patterns would be slow on hostile input
        return Reason.DISCLAIMER if len(plain) <= _MAX_NOTICE and _BOILERPLATE.match(plain) else None
    return next((reason for test, reason in _LINE_RULES if test(plain)), None)


def section_reason(text: str) -> Reason | None:
    """Return the kind of end matter (or contents) that a heading opens, None for other headings.

    >>> section_reason("免责声明："), section_reason("风险提示")
    (<Reason.DISCLAIMER: 'disclaimer'>, None)
    """
    if len(text) > _LABEL:
        return None
    plain = re.sub(r"^(?:[\s【\[]|[一二三四五六七八九十\d]{1,3}[、.])+|[\s】\]:：]+$", "", text)
    if len(plain) > _SHORT:
        return None
    return next((reason for reason, pattern in _SECTIONS.items() if pattern.fullmatch(plain)), None)


def clean(lines: Sequence[CandidateLine], *, headings_known: bool = False) -> list[Reason | None]:
    """Return each line's reason for removal, None where it is kept.

    Args:
        lines: in reading order, without running headers and footers.
        headings_known: the source marks its headings (Markdown, HTML), so a section ends at the next heading of its
            level or above. Otherwise (PDF, text) end matter in the last part of a document runs to the end.
    """
    reasons: list[Reason | None] = []
    section, depth = None, 0
    for index, line in enumerate(lines):
        opened = section_reason(line.text)
        if opened:
            section, depth = opened, line.level
        elif section and _ends_section(
            section, depth, line, late=not headings_known and index > _LAST_PART * len(lines)
        ):
            section = None
        reasons.append(section or line_reason(line.text))
    return reasons


def _ends_section(section: Reason, depth: int, line: CandidateLine, *, late: bool) -> bool:
    if section is Reason.CONTENTS:
        return not (_CONTENTS_ENTRY.search(line.text.strip()) or _FIGURE_LABEL.match(line.text))
    if late:
        return False
    return bool(line.level) and (not depth or line.level <= depth)


def running_lines(pages: Sequence[Sequence[PlacedLine]]) -> list[dict[int, Reason]]:
    """Find headers, footers and page numbers; return line index → reason for each page.

    A line in the top or bottom band is a running line if it recurs, with digits masked, at the same height on three
    pages, or on half of them if that is fewer (at least two). A bare number there is a page number.
    """
    keys = [[_running_key(line) for line in page] for page in pages]
    seen = Counter(key for page in keys for key in set(page) if key)
    needed = min(3, max(2, (len(pages) + 1) // 2))
    found: list[dict[int, Reason]] = []
    for page, page_keys in zip(pages, keys, strict=True):
        reasons: dict[int, Reason] = {}
        for index, (line, key) in enumerate(zip(page, page_keys, strict=True)):
            if not key:
                continue
            bare = _BARE_NUMBER.fullmatch(line.text.strip()) and not _NUMBER_BAND < line.top < 1 - _NUMBER_BAND
            if bare or _PAGE_NUMBER.fullmatch(line.text.strip()):
                reasons[index] = Reason.PAGE_NUMBER
            elif seen[key] >= needed:
                reasons[index] = Reason.RUNNING_HEADER if line.top < _HEADER_BAND else Reason.RUNNING_FOOTER
        found.append(reasons)
    return found


_HEADER_BAND = 0.13
_FOOTER_BAND = 0.90
_NUMBER_BAND = 0.08  # closer to the middle, a bare number may be an axis label or a table cell
_BUCKETS = 100


def _running_key(line: PlacedLine) -> tuple[str, int] | None:
    if _HEADER_BAND <= line.top <= _FOOTER_BAND or not line.text.strip():
        return None
    return re.sub(r"\d+", "#", "".join(line.text.split())), round(line.top * _BUCKETS)


def is_figure_label(text: str) -> bool:
    """Return whether the line is a figure or table label (图表 12：…)."""
    plain = text.strip()
    if _LEADER.search(plain[-2 * _LABEL :]):
        return False  # an entry in the list of figures
    return len(plain) <= _LABEL and not _SENTENCE_END.search(plain) and bool(_FIGURE_LABEL.match(plain))


def is_table_label(text: str) -> bool:
    """Return whether the label may belong to a table; 图 alone never does."""
    return is_figure_label(text) and bool(_TABLE_LABEL.match(text.strip()))


def is_source_line(text: str, *, below_figure: bool = False) -> bool:
    """Return whether the line states the source of a figure's data.

    资料来源 is always such a label; 数据来源 may begin a sentence about data (数据来源：遥操作与仿真), so it needs the
    name of a source unless the line is known to be below a figure.
    """
    plain = text.strip()
    found = _SOURCE_LINE.match(plain)
    if not found or len(plain) > 3 * _LABEL:
        return False
    return below_figure or bool(_SOURCE_LABEL.match(plain)) or bool(_SOURCE_NAMES.search(plain[found.end() :]))


def _is_symbols(plain: str) -> bool:
    return not any(char.isalnum() for char in plain)


def _is_contact(plain: str) -> bool:
    if len(plain) > 2 * _LABEL or "。" in plain:
        return False
    rules = (_CONTACT, _ADDRESS, _ANALYST, _BARE_CONTACT)
    return any(rule.fullmatch(plain) for rule in rules)


def _is_boilerplate(plain: str) -> bool:
    return bool(_BOILERPLATE.match(plain)) or (len(plain) <= _MAX_NO_ADVICE and bool(_NO_ADVICE.search(plain)))


_LINE_RULES: tuple[tuple[Callable[[str], bool], Reason], ...] = (
    (_is_symbols, Reason.SYMBOLS),
    (lambda plain: bool(_LEADER.search(plain)), Reason.CONTENTS),
    (lambda plain: bool(_PAGE_NUMBER.fullmatch(plain)), Reason.PAGE_NUMBER),
    (is_source_line, Reason.SOURCE_LINE),
    (is_figure_label, Reason.FIGURE_LABEL),
    (_is_contact, Reason.CONTACT),
    (_is_boilerplate, Reason.DISCLAIMER),
)
