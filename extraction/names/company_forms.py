"""Find unlisted companies by the form of their name: legal form, trading mark, or brand plus industry word.

ORG spans of the NER model are only hints, since it also tags phrases such as `国内龙头企业`. A name is kept if part
of it is a proper name, i.e. not a generic dictionary word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import rjieba

from extraction.text.lexicon import phrases, table
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.names.ner import Span

    _Token = tuple[str, int, int]  # word, start, end

_MAX_LENGTH = 36  # characters of a full legal name; registrars allow more, but texts use shorter forms
_LEGAL = Prefiltered(
    r"(?:控股|集团|股份|[（(]集团[）)])*有限(?:责任)?公司|[（(]有限合伙[）)]|合伙企业(?:[（(]有限合伙[）)])?|(?:控股)?集团(?:公司)?|总公司|公司"
)
_MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:\*ST|S\*ST|SST|ST|PT) ?|S(?=[一-鿿]{2}))(?P<marked>[一-鿿]{2,3})[AB]?"
    r"|退[一-鿿]{2,3}[（(]退[）)]"
)
_ENGLISH = re.compile(
    r"(?<![A-Za-z0-9])(?:PT\.? ?)?[A-Z][A-Za-z0-9&'-]{0,40}(?:[ .][A-Za-z0-9&'()-]{1,40}){0,7}?[ .,]{0,4}"
    r"\b(?i:CO\.?,? ?LTD|(?:PTE|PTY|PVT)\.? ?LTD|CORPORATION|COMPANY|LIMITED|LTD|INC|PLC|GMBH|LLC|HOLDINGS|GROUP|AG"
    r"|S\.A)(?![A-Za-z0-9])\.?"
)
_MARK = re.compile("S|PT|退")  # every match contains one of these
_ENGLISH_FORM = re.compile(r"LTD|CORPORATION|COMPANY|LIMITED|INC|PLC|GMBH|LLC|HOLDINGS|GROUP|AG|S\.A")  # likewise
_NAME_CHAR = re.compile(r"[一-鿿A-Za-z0-9·&（）()-]")
_PHRASES = phrases("names/company_forms")
_FORM = _PHRASES["form"]
_NOT_A_NAME = re.compile(r"[A-Z0-9&/-]{1,5}|\d.*|.*(?:[一-鿿] [A-Za-z0-9]|[A-Za-z0-9/] [一-鿿]).*")
_LATIN = re.compile(r"[A-Za-z0-9]")
_BRACKETED = re.compile(r"[（(][^（()）]{1,12}[）)]")
_PART = _PHRASES["part"]
_GLUED = re.compile(r"(?:[A-Za-z]*[a-z][A-Za-z]*|[\d()（）-]{5,})(?=[一-鿿])")
_COUNTED = re.compile(
    r"[\d一二三四五六七八九十两] ?[家只](?:代表性?|重点|核心|主要|样本|可比|龙头)?[A-Z+]{0,4}$"
)  # 20家A+H银行公司
_COUNT = re.compile(r"[\d一二三四五六七八九十两]家.")
_INDEX = re.compile(
    "^(?:(?:申万|中信|SW|CS|CI)(?=..)|[Qq][1-4](?=..|$)|[Hh][12]$)"
)  # whose sector it is, or a quarter run into the name


@dataclass(frozen=True, slots=True)
class Firm:
    """A company name at text[start:end]; `sure` if its form alone identifies it."""

    start: int
    end: int
    sure: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    """Word lists of lexicon/firms.yaml."""

    stops: frozenset[str]
    generic: frozenset[str]
    never_ends: tuple[str, ...]


def find_firms(text: str, spans: Sequence[Span] = ()) -> list[Firm]:
    """Return the company names of a sentence in text order; of overlapping names, keep sure ones, then the longest.

    Args:
        text: one sentence.
        spans: NER spans of the sentence.
    """
    organisations = [(span.start, span.end) for span in spans if span.label == "ORG"]
    found = [
        *_find_marked(text),
        *_find_english(text),
        *_find_legal(text, organisations),
        *_find_tagged(text, organisations),
    ]
    if not found:
        return []
    kept: list[Firm] = []
    found = [firm for firm in found if firm.sure or not _is_group(text, firm)]
    for firm in sorted(found, key=lambda each: (not each.sure, each.start - each.end, each.start)):
        if not any(firm.start < other.end and other.start < firm.end for other in kept):
            kept.append(firm)
    return sorted(kept, key=lambda each: each.start)


def _is_group(text: str, firm: Firm) -> bool:
    """Whether a name is that of counted firms: 20家代表性家电公司, 港股三家水泥上市公司."""
    return bool(_COUNTED.search(text, 0, firm.start) or _COUNT.search(text, firm.start, firm.end))


def _find_marked(text: str) -> Iterator[Firm]:
    """Yield names with a trading mark; most keep two characters, three if those are one word."""
    if not _MARK.search(text):
        return
    for match in _MARKED.finditer(text):
        start, end = match.span()
        at = match.start("marked")
        if at >= 0 and match.end("marked") - at == 3:  # noqa: PLR2004 - the third character may not be part of the name
            edges = {end for _, _, end in _tokens(text)}
            end = at + 2 if at + 2 in edges or at + 3 not in edges else at + 3
        yield Firm(start, end, sure=True)


def _find_english(text: str) -> Iterator[Firm]:
    """Yield Latin names of at least one word plus a legal form."""
    if not _ENGLISH_FORM.search(text.upper()):
        return
    for match in _ENGLISH.finditer(text):
        yield Firm(match.start(), match.end(), sure=True)


def _find_legal(text: str, organisations: Sequence[tuple[int, int]]) -> Iterator[Firm]:
    """Yield names that end in a legal form, searching backwards for their start.

    有限公司 occurs only in names; 公司 alone also follows other words, so it requires a matching NER span.
    """
    begins = {end: start for start, end in organisations}
    for match in _LEGAL.finditer(text):
        limited = "有限" in match[0]
        if not limited and match.end() not in begins:
            continue
        tokens = _tokens(text)
        if any(start < match.start() and end == match.end() and word in _words().stops for word, start, end in tokens):
            continue  # 子公司, 分公司: a common noun, not a legal form
        start = max(_name_start(text, tokens, match.start()), begins.get(match.end(), 0))
        if (glued := _GLUED.match(text, start, match.start())) and is_proper(text[glued.end() : match.start()]):
            start = glued.end()  # flattened columns: 「IIIa甲乙药业股份有限公司」
        if start < match.start() and is_proper(text[start : match.start()]):
            yield Firm(start, match.end(), sure=limited)


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[_Token, ...]:
    """Segment a sentence into words; called only for sentences with a trading mark, legal form or ORG span."""
    return tuple((word, start, end) for word, start, end in rjieba.tokenize(text, "default", hmm=False))


def _name_start(text: str, tokens: Sequence[_Token], at: int) -> int:
    """Return the start of the name that continues at `at`: after punctuation, a function word or a verb."""
    begin = at
    words = _words()
    for word, start, end in reversed(tokens):
        if start >= at:
            continue
        if end < begin or word in words.stops or at - start > _MAX_LENGTH or not all(map(_NAME_CHAR.match, word)):
            break
        begin = start
    while begin < at and text[begin] in "）)·-&":
        begin += 1
    return _skip_open_bracket(text, begin, at)


def _skip_open_bracket(text: str, begin: int, at: int) -> int:
    """Return the start of a name moved past any unbalanced bracket."""
    rest = _BRACKETED.sub(lambda match: "\0" * len(match[0]), text[begin:at])
    place = max(rest.rfind(mark) for mark in "（）()")
    return begin + place + 1


def _find_tagged(text: str, organisations: Sequence[tuple[int, int]]) -> Iterator[Firm]:
    """Yield ORG names without dependent parts (子公司, 董事会), skipping common words."""
    if not organisations:
        return
    tokens = _tokens(text)
    known = {(start, end) for _, start, end in tokens}
    for begin, stop in organisations:
        part = _PART.match(text[begin:stop])
        end = begin + part.end("whole") if part else stop
        start = _start_after_stop(text, tokens, begin, end)
        if (start, end) in known and not _is_unknown_word(text[start:end]):
            continue
        if _NOT_A_NAME.fullmatch(text, start, end):  # abbreviations are rarely companies
            continue
        if end - start > 2 and is_proper(text[start:end]):  # noqa: PLR2004 - two characters are usually a common word
            yield Firm(start, end)


def _start_after_stop(text: str, tokens: Sequence[_Token], start: int, end: int) -> int:
    """Return the start of a name whose span includes preceding words: 受理债权人国厚资产, 力 雅戈尔."""
    stops = _words().stops
    for word, first, last in tokens:
        if start <= first < end and last < end - 1 and len(word) > 1 and word in stops:
            start = last
    blank = text.rfind(" ", start, end)
    return blank + 1 if blank > start and not text[start:end].isascii() and not _MARKED.match(text, start) else start


def has_form(name: str) -> bool:
    """Whether the form of a name marks a company: 瑞阳化工 does, 赤峰瑞阳 does not."""
    return bool(_FORM.search(name) or name.isascii()) and not is_marked(name)


def is_marked(name: str) -> bool:
    """Whether a name has a trading mark, which only listed companies have: *ST甲乙."""
    return _MARKED.match(name) is not None


def is_proper(name: str) -> bool:
    """Whether a name has a proper-name part: 华辉环保 does, 龙头企业, 房地产公司 and 申万钢铁 do not."""
    words, name = _words(), _INDEX.sub("", name)
    if name.endswith(words.never_ends) or name in words.generic:
        return False
    rest = [word for word in rjieba.cut(name, hmm=False) if word not in words.generic and word[0].isalnum()]
    return sum(len(word) for word in rest) > 1


def is_one_word(name: str) -> bool:
    """Whether a name is one ordinary word of the dictionary: 核心技术."""
    return len(rjieba.cut(name, hmm=False)) == 1


def _is_unknown_word(word: str) -> bool:
    return bool(_LATIN.match(word)) or len(word) > 4  # noqa: PLR2004 - long dictionary words are organisation names


@cache
def _words() -> _Words:
    flat = {name: [word for line in lines for word in line.split()] for name, lines in table("firms").items()}
    return _Words(frozenset(flat["stops"]), frozenset(flat["generic"]), tuple(flat["never_ends"]))
