"""Companies that no list knows, found by their form: a legal form, a trading mark, a brand before a trade word.

What the NER model calls an organisation is a hint, not a verdict: `国内龙头企业` is one to it. A name is kept when a
part of it is proper, that is, no dictionary word of a trade or a function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

import rjieba
import yaml

from extraction.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.names.ner import Span

    _Token = tuple[str, int, int]  # a word with its place

_LONGEST = 36  # characters of a full legal name; Chinese registrars allow more, texts shorten before
_LEGAL = Prefiltered(
    r"(?:股份)?有限(?:责任)?公司|[（(]有限合伙[）)]|合伙企业(?:[（(]有限合伙[）)])?|(?:控股)?集团(?:公司)?|总公司|公司"
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
_MARK = re.compile("S|PT|退")  # one of these is in every match
_ENGLISH_FORM = re.compile(r"LTD|CORPORATION|COMPANY|LIMITED|INC|PLC|GMBH|LLC|HOLDINGS|GROUP|AG|S\.A")  # so is of these
_NAME_CHAR = re.compile(r"[一-鿿A-Za-z0-9·&（）()-]")
_FORM = re.compile(
    r"(?:公司|集团|银行|证券|基金|科技|股份|实业|控股|药业|制药|生物|医药|汽车|电子|半导体|能源|材料|智能|电池|机器人|光电|微电|通信|软件|技术|航空|航天|化工|钢铁|矿业|食品|乳业|酒业|置业|地产|重工|电气|精密)$"
)
_NO_NAME = re.compile(r"[A-Z0-9&/-]{1,5}|\d.*|.*(?:[一-鿿] [A-Za-z0-9]|[A-Za-z0-9/] [一-鿿]).*")
_LATIN = re.compile(r"[A-Za-z0-9]")
_BRACKETED = re.compile(r"[（(][^（()）]{1,12}[）)]")
_PART = re.compile(
    r"^(?P<whole>.{2,}?(?:公司|集团|股份)?)(?:之|的|及其|等)?(?:\d+家|[一二三四五六七八九十两多]+家)?"
    r"(?:(?:全资|控股|下属|所属|核心|参股|境外|海外|保理)*(?:子公司|孙公司|分公司|企业)|(?:控股|大|第一大)?股东|(?:新任)?董事会|监事会"
    r"|所属|投资银行|投资者|管理层|管理团队|股东大会|技术中心|研发中心|研究院|实验室|分行|支行|营业部|事业部|项目部|生产厂区|控股(?=$))$"
)


@dataclass(frozen=True, slots=True)
class Firm:
    """A company's name at text[start:end]; `sure` where its form alone says so."""

    start: int
    end: int
    sure: bool = False


@dataclass(frozen=True, slots=True)
class _Words:
    """The tables of lexicon/firms.yaml."""

    stops: frozenset[str]
    generic: frozenset[str]
    never_ends: tuple[str, ...]


def find_firms(text: str, spans: Sequence[Span] = ()) -> list[Firm]:
    """Return company names of a sentence, left to right without overlap, the longer where two overlap.

    Args:
        text: one sentence.
        spans: what the NER model found in it.
    """
    bodies = [(span.start, span.end) for span in spans if span.label == "ORG"]
    found = [*_marked(text), *_english(text), *_legal(text, bodies), *_named(text, bodies)]
    if not found:
        return []
    kept: list[Firm] = []
    for firm in sorted(found, key=lambda each: (not each.sure, each.start - each.end, each.start)):
        if not any(firm.start < other.end and other.start < firm.end for other in kept):
            kept.append(firm)
    return sorted(kept, key=lambda each: each.start)


def _marked(text: str) -> Iterator[Firm]:
    """Names with a trading mark; the exchange leaves two characters of most, three where they are one word."""
    if not _MARK.search(text):
        return
    for match in _MARKED.finditer(text):
        start, end = match.span()
        at = match.start("marked")
        if at >= 0 and match.end("marked") - at == 3:  # noqa: PLR2004 - a third character that may belong to the text
            edges = {end for _, _, end in _tokens(text)}
            end = at + 2 if at + 2 in edges or at + 3 not in edges else at + 3
        yield Firm(start, end, sure=True)


def _english(text: str) -> Iterator[Firm]:
    """Latin names with a legal form; at least one word stands before it."""
    if not _ENGLISH_FORM.search(text.upper()):
        return
    for match in _ENGLISH.finditer(text):
        yield Firm(match.start(), match.end(), sure=True)


def _legal(text: str, bodies: Sequence[tuple[int, int]]) -> Iterator[Firm]:
    """Names that end in a legal form, read back to where they begin.

    有限公司 stands only in names; before 公司 alone there may be anything, so there the model has to agree.
    """
    begins = {end: start for start, end in bodies}
    for match in _LEGAL.finditer(text):
        limited = "有限" in match[0]
        if not limited and match.end() not in begins:
            continue
        tokens = _tokens(text)
        if any(start < match.start() and end == match.end() and word in _words().stops for word, start, end in tokens):
            continue  # 子公司, 分公司: no form but a word
        start = max(_begin(text, tokens, match.start()), begins.get(match.end(), 0))
        if start < match.start() and is_proper(text[start : match.start()]):
            yield Firm(start, match.end(), sure=limited)


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[_Token, ...]:
    """Cut a sentence into words; asked for only where one holds a mark or a form of a firm, which most do not."""
    return tuple((word, start, end) for word, start, end in rjieba.tokenize(text, "default", hmm=False))


def _begin(text: str, tokens: Sequence[_Token], at: int) -> int:
    """Where the name that goes on at `at` begins: behind a mark, a function word or a verb."""
    begin = at
    words = _words()
    for word, start, end in reversed(tokens):
        if start >= at:
            continue
        if end < begin or word in words.stops or at - start > _LONGEST or not all(map(_NAME_CHAR.match, word)):
            break
        begin = start
    while begin < at and text[begin] in "）)·-&":
        begin += 1
    return _balanced(text, begin, at)


def _balanced(text: str, begin: int, at: int) -> int:
    """Move the beginning behind a bracket that is closed before or not at all within the name."""
    rest = _BRACKETED.sub(lambda match: "\0" * len(match[0]), text[begin:at])
    place = max(rest.rfind(mark) for mark in "（）()")
    return begin + place + 1


def _named(text: str, bodies: Sequence[tuple[int, int]]) -> Iterator[Firm]:
    """Names the model found, without what belongs to the company (子公司, 董事会) and without mere words."""
    if not bodies:
        return
    tokens = _tokens(text)
    known = {(start, end) for _, start, end in tokens}
    for begin, stop in bodies:
        part = _PART.match(text[begin:stop])
        end = begin + part.end("whole") if part else stop
        start = _behind_stop(text, tokens, begin, end)
        if (start, end) in known and not _is_unknown_word(text[start:end]):
            continue
        if _NO_NAME.fullmatch(text, start, end):  # an abbreviation is a thing more often than a company
            continue
        if end - start > 2 and is_proper(text[start:end]):  # noqa: PLR2004 - two characters are a word more often
            yield Firm(start, end)


def _behind_stop(text: str, tokens: Sequence[_Token], start: int, end: int) -> int:
    """Where a name begins that the model has run into the words before it: 受理债权人国厚资产, 力 雅戈尔."""
    stops = _words().stops
    for word, first, last in tokens:
        if start <= first < end and last < end - 1 and len(word) > 1 and word in stops:
            start = last
    blank = text.rfind(" ", start, end)
    return blank + 1 if blank > start and not text[start:end].isascii() and not _MARKED.match(text, start) else start


def has_form(name: str) -> bool:
    """Whether a name's end says that it is a company's: facts are told of 瑞阳化工, not of 赤峰瑞阳."""
    return bool(_FORM.search(name) or _MARKED.match(name) or name.isascii())


def is_proper(name: str) -> bool:
    """Whether some part of a name is a name: 华辉环保 is, 龙头企业 and 房地产公司 are not."""
    words = _words()
    if name.endswith(words.never_ends) or name in words.generic:
        return False
    rest = [word for word in rjieba.cut(name, hmm=False) if word not in words.generic]
    return sum(len(word) for word in rest) > 1


def _is_unknown_word(word: str) -> bool:
    return bool(_LATIN.match(word)) or len(word) > 4  # noqa: PLR2004 - long dictionary words are names of bodies


@cache
def _words() -> _Words:
    text = (resources.files("extraction") / "lexicon" / "firms.yaml").read_text(encoding="utf-8")
    table = yaml.load(text, Loader=yaml.CSafeLoader)
    flat = {name: [word for line in table[name] for word in line.split()] for name in table}
    return _Words(frozenset(flat["stops"]), frozenset(flat["generic"]), tuple(flat["never_ends"]))
