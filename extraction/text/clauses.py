"""The clause grammar: where statements and clauses start and end, and what is in brackets.

A statement ends at a full stop, semicolon, or mark of exclamation or question; a clause also at a comma or colon.
Offsets refer to one normalised sentence.
"""

from __future__ import annotations

import re

from extraction.text.lexicon import phrases

# A bracket after a company's name that only identifies it: （300750.SZ，买入）.
IDENTIFYING = phrases("names/brackets")["identifying"]
_STOP = re.compile("[。；;！!？?\n]")
_MARK = re.compile(r"[，：。；;！!？?\n]|[,:](?!\d)")  # 1,234 and 9:30 are one word
_COMMA = re.compile(r"[，。；;！!？?\n]|,(?!\d)")
_EXPECTED, _DIGIT = re.compile("预计|预期|有望"), re.compile("[0-9]")


def statement_start(text: str, before: int, floor: int = 0) -> int:
    """Return the start, at or after `floor`, of the statement that contains the offset `before`."""
    return _behind_last(_STOP, text, before, floor)


def statement_end(text: str, after: int, limit: int | None = None) -> int:
    """Return the end, at most `limit`, of the statement that contains the offset `after`."""
    return _first(_STOP, text, after, limit)


def clause_start(text: str, before: int, floor: int = 0) -> int:
    """Return the start, at or after `floor`, of the clause that contains the offset `before`.

    >>> clause_start("营收增长，净利润下降", 7), clause_start("甲公司（600000.SH，买入）营收增长", 18)
    (5, 0)
    """
    start = _behind_last(_MARK, text, before, floor)
    opened = text.rfind("（", floor, start)
    if opened >= 0 and (aside := IDENTIFYING.match(text, opened)) and start < aside.end() <= before:
        return clause_start(text, opened, floor)
    return start


def clause_end(text: str, after: int, limit: int | None = None) -> int:
    """Return the end, at most `limit`, of the clause that contains the offset `after`."""
    return _first(_MARK, text, after, limit)


def labelled_clause(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span of the clauses that text[start:end] touches, with their labels: 「甲公司：营收增长」."""
    return _behind_last(_COMMA, text, start, 0), _first(_COMMA, text, end, None)


def clause_starts(text: str, start: int, end: int) -> list[int]:
    """Return the starts of the clauses that begin in text[start:end], after the first one."""
    return [mark.end() for mark in _MARK.finditer(text, start, end)]


def crosses_statement(text: str, start: int, end: int) -> bool:
    """Whether a statement ends in text[start:end]."""
    return _STOP.search(text, start, end) is not None


def in_brackets(text: str, at: int, start: int = 0) -> bool:
    """Whether offset `at` is inside brackets opened after `start`."""
    return text.count("（", start, at) > text.count("）", start, at)


def looks_ahead(text: str, start: int, end: int) -> bool:
    """Whether the clause around text[start:end] is an outlook without a figure: 「预计Q3持平」.

    >>> looks_ahead("收入增长，预计Q3持平", 7, 9), looks_ahead("预计Q3收入3亿元", 2, 4)
    (True, False)
    """
    rest = text[clause_start(text, start) : start], text[end : clause_end(text, end)]
    return any(map(_EXPECTED.search, rest)) and not any(map(_DIGIT.search, rest))


def bracket_around(text: str, start: int, end: int, *, before: int) -> str | None:
    """Return the content of the bracket around text[start:end] that closes before an offset, or None."""
    opened, closed = text.rfind("（", 0, start), text.find("）", end, before)
    return text[opened + 1 : closed] if opened >= 0 and closed >= 0 and "）" not in text[opened:start] else None


def _behind_last(mark: re.Pattern[str], text: str, before: int, floor: int) -> int:
    return max((found.end() for found in mark.finditer(text, floor, before)), default=floor)


def _first(mark: re.Pattern[str], text: str, after: int, limit: int | None) -> int:
    stop = len(text) if limit is None else limit
    found = mark.search(text, after, stop)
    return found.start() if found else stop
