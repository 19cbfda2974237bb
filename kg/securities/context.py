"""Context of names in a document: codes, brackets, defined short forms, word boundaries, enumerations."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import rjieba

from kg.securities.codes import Code, find_codes
from kg.securities.records import name_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.securities.finder import Hit
    from kg.securities.master import Master
    from kg.securities.records import Issuer

_BRACKET = re.compile(r"[*_\s”\"』」]*[（(\[【]([^（()）\[\]【】\n]{1,40})[)）\]】]")
_CELL_AFTER = re.compile(r"[*\s]*\|[*\s]*(\d{4,6}|[A-Z]{1,5})(?:\.[A-Z]{1,2})?[*\s]*\|")
_CELL_BEFORE = re.compile(r"(\d{4,6}|(?<![A-Za-z])[A-Z]{1,5})(?:\.[A-Z]{1,2})?[*\s]*\|[*\s]*$")
_CELL_REACH = 24
_DEFINED = re.compile(r"(?:以下简称|下称|简称)[:：为]?\s*[“\"「『‘]?([一-鿿A-Za-z0-9]{2,10})[”\"」』’)）]")
_BEFORE_BRACKET = re.compile(r"(?:^|[\s*、，,。；;：:|])([一-鿿A-Za-z][一-鿿A-Za-z0-9·-]{1,9})\**\s?[（(]$")
_LINE_END = re.compile("\n")
_TICKER = re.compile(r"[A-Z]{1,5}|\d{4,6}")
_LIST_MARK = re.compile(r"[*_”“\"\s]*(?:[（(][^（()）\n]{0,30}[)）])?[*_”“\"\s]*(?:、|/|和|与|及|以及|，|,)[*_”“\"\s]*")
_PRONOUNS = frozenset({"公司", "本公司", "集团", "本集团", "发行人", "上市公司", "标的公司", "甲方", "乙方"})
_COUNTRY_BEFORE = frozenset("我中全各美多外两三四五六七八九十")
_DEFINITION_REACH = 60  # characters between a name and the definition of its short form


@dataclass(frozen=True, slots=True)
class Bracket:
    """The bracket directly after a name: its codes and possible bare tickers or numbers."""

    codes: tuple[Code, ...]
    bare: frozenset[str]
    end: int


class ScannedText:
    """A text with everything the features need, computed once."""

    def __init__(self, text: str, master: Master, *, subjects: Iterable[str] = ()) -> None:
        self.text = text
        self.codes = find_codes(text)
        self._code_starts = [start for start, _, _ in self.codes]
        self.subjects = frozenset(issuer.id for code in subjects if (issuer := master.by_code(code)))
        self._master = master
        self._lines = [0, *(match.end() for match in _LINE_END.finditer(text)), len(text) + 1]
        self._edges: dict[int, frozenset[int]] = {}  # word boundaries by line number

    def _is_edge(self, place: int) -> bool:
        """Whether a word starts or ends at a position; lines are segmented on first use."""
        line = bisect_right(self._lines, place) - 1
        if line not in self._edges:
            words = rjieba.cut(self.text[slice(*self._lines[line : line + 2])], hmm=False)
            self._edges[line] = frozenset(accumulate(map(len, words), initial=self._lines[line]))
        return place in self._edges[line]

    def cuts_word(self, start: int, end: int) -> bool:
        """Whether a longer dictionary word crosses either end (国新能源 in 中国新能源)."""
        # The finder checks where a Latin name ends: a segmenter reads A2024 in 万科A2024年 as one word.
        return self.starts_inside_word(start) or not (self.text[end - 1].isascii() or self._is_edge(end))

    def starts_inside_word(self, start: int) -> bool:
        """Whether a longer word crosses the start of the mention."""
        # 我国航企: a segmenter finds the word 国航, but 国 belongs to the preceding character.
        return not self._is_edge(start) or (
            self.text.startswith("国", start) and self.text[start - 1 : start] in _COUNTRY_BEFORE
        )

    def bracket_behind(self, end: int) -> Bracket | None:
        """Return the bracket directly after a position, if any."""
        match = _BRACKET.match(self.text, end)
        if match is None:
            return None
        first, last = (bisect_left(self._code_starts, place) for place in match.span(1))
        codes = tuple(code for _, stop, code in self.codes[first:last] if stop <= match.end(1))
        return Bracket(codes, frozenset(_TICKER.findall(match[1])), match.end())

    def cell_beside(self, start: int, end: int) -> Bracket | None:
        """Return the adjacent table cell that may hold the code of a name; it can only support an issuer."""
        reach = max(0, start - _CELL_REACH)
        before = _CELL_BEFORE.search(self.text, reach, start) if self.text.find("|", reach, start) >= 0 else None
        match = before or _CELL_AFTER.match(self.text, end)
        return Bracket((), frozenset({match[1]}), end) if match else None

    def issuers_by_code(self) -> frozenset[str]:
        """Return the issuers whose codes occur anywhere in the text."""
        return frozenset(issuer.id for _, _, code in self.codes if (issuer := self._master.by_code(str(code))))

    def taught_names(self, hits: Sequence[Hit]) -> dict[str, Issuer]:
        """Return short forms defined in the document (下称“X”, X（300750.SZ）), with their issuers."""
        defined: dict[str, Issuer] = {}
        for start, _, code in self.codes:
            before = _BEFORE_BRACKET.search(self.text, max(0, start - 16), start)
            issuer = self._master.by_code(str(code))
            # Skip names in the master: they need no definition, and one code must not redefine a common word.
            if before and issuer and not self._master.entries(before[1]):
                defined[name_key(before[1])] = issuer
        ends = [hit.end for hit in hits]
        for match in _DEFINED.finditer(self.text):
            last = bisect_right(ends, match.start())
            nearest = [hit for hit in hits[max(0, last - 1) : last] if match.start() - hit.end < _DEFINITION_REACH]
            owners = {issuer.id: issuer for hit in nearest for issuer, _ in self._master.entries(hit.name_key)}
            if match[1] not in _PRONOUNS and len(owners) == 1:
                defined[name_key(match[1])] = next(iter(owners.values()))
        return defined

    def are_enumerated(self, end: int, start: int) -> bool:
        """Whether two names are separated only by a list mark (A、B; A（600519）和B)."""
        return _LIST_MARK.fullmatch(self.text, end, start) is not None
