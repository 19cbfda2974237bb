"""Split blocks into sentences with normalised text, each character mapped to its offset in the document.

Patterns are written against one spelling (half-width digits, no stray blanks, Chinese punctuation); evidence is quoted
in the source's spelling. Normalisation therefore maps a character to at most one, and `Sentence.offsets` maps back.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from kg import simplified
from kg.text.regex_prefilter import Prefiltered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〇"
_WIDE_MARKS = "\u3001-\u303f\uff01-\uff60“”‘’…"
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"

_WIDTH = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}
_WIDTH |= {ord(wide): ord(narrow) for wide, narrow in zip("％／＋﹢－﹣‐‑‒．～〜∼−", "%/++-----.~~~-", strict=True)}
_WIDTH |= {ord(blank): ord(" ") for blank in _BLANKS}
_WIDTH |= simplified.table()  # patterns and the gazetteer use simplified characters

_CLOSERS = {"（": "）", "(": ")", "【": "】", "[": "]", "「": "」", "『": "』", "《": "》", "“": "”", "‘": "’"}
_BRACKETS = re.compile(r"[（）()【】\[\]「」『』《》“”‘’\"]")
_MAX_OPEN_BRACKETS = 32  # open brackets; more are misprints, and all are scanned at every mark
_MAX_BRACKET = 160  # characters; an opening bracket whose mate is farther away is a misprint

# the caption of a flattened figure: 资料来源：甲乙，丙丁证券研究所从利润看…
_CAPTION_END = (
    r"(?:资料|数据)来源[:：][^。！？；!?;\n]{2,60}?(?:研究(?:所|院|部|中心|发展部)|研发中心|整理)"
    r"(?:整理)?(?![，、,和及])"
)
_ENDING = re.compile(_CAPTION_END + r"|[。！？；!?;\n]|\.(?=[\"”’)]?\s+[A-Z\"“(]|[\"”’)]?\s*$)")
_ABBREVIATION = re.compile(r"\b(?:[A-Za-z]|Inc|Co|Ltd|Corp|No|vs|Mr|Mrs|Ms|Dr|Fig|est|approx|St|cf|al)$")
_ENUMERATION = re.compile(r"[\s*(（]*[0-9]{1,3}$")
_ENTITY = re.compile(r"&#?\w{1,10}$")
_AFTER_ENDING = re.compile(r"[。！？；!?;]*[”’」』》）)】\]\"]*")
_WORD = re.compile(r"\w")
_LIST_LEAD = re.compile(r"\s*(?:[-*+•·●▪◆■□➢►]\s|[（(]?[0-9一二三四五六七八九十]{1,3}[)）.、．])")
_MAX_SENTENCE = 2000  # characters; no real sentence is longer, and sentence readers may be slow on longer text
_FULL_LINE = 20  # characters; a shorter line without an end mark is a label or a title, not a wrapped line

_MARKUP = re.compile(rf"[`{_INVISIBLE}]|\*(?:[`{_INVISIBLE}]*\*)+")
_REPEATED_BLANKS = re.compile(r"(?<= ) +")
_BULLETS = re.compile(r"^(?: *(?:[-*+•·●▪◆■□➢►>] ))+ *")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!\d)(?!,\d)")
# marks of notes after a number or word: 3620¹亿元, 营业收入[1], but not ×10⁸ and 平方米²
_NOTE_MARKS = re.compile(
    rf"(?<=[{_HAN}\d%)）])(?<![^\d.]10)(?<![米里寸尺]) ?"
    r"(?:[⁰¹²³⁴-⁹]|\[(?:\^\w{1,4}|\d{1,2})\]|(?<=\d)[①-⑳](?=[百千万亿元%]))+"
)
# one dash before an amount, after a word and not after a unit (5亿元—8亿元), is a minus sign
_MINUS_DASH = re.compile(
    rf"(?<=[{_HAN}：])(?<![年月日号时点分秒元吨辆台套只头件个家片颗万亿千百十倍度天周季])[–—―]"
    r"(?= ?\d[\d.,]*+ ?(?:[%％百千万亿元倍]|pct|个百分点))"
)
_RANGE_DASH = re.compile(r"(?<=[\d%])( ?)[–—](?= ?\d)")
_WIDE_OF = str.maketrans(",;:!?()", "，；：！？（）")
_MARKS = re.compile(rf"[,;:!?](?:(?<=[{_HAN}%)）”’》】」』].)|(?<=[{_HAN}%)）”’》】」』] .)|(?= ?[{_HAN}“‘《【「『]))")
_HAN_CHAR = re.compile(f"[{_HAN}]")
_PARENTHESIS = re.compile(r"[()（）]")
_TIGHT = rf"{_HAN}{_WIDE_MARKS}\u3040-\u30ff/<>=≤≥~"
_LOOSE = Prefiltered(
    rf"(?<=[{_TIGHT}(\[]) +| +(?=[{_TIGHT},.;:!?)\]%‰])"
    # a sign between blanks (同比 - 1.3%, 9 月 1 日 - 9 月 5 日) belongs to its number; A - B keeps its blanks
    rf"|(?<=[\w%)]) (?=[+-] [{_HAN}\d])|(?<= [+-]) (?=[{_HAN}\d])|(?<=[{_HAN}{_WIDE_MARKS}\d%][+-]) (?=[{_HAN}\d])",
)

_NEEDS_NORMALISING = re.compile(
    rf"[`*{_INVISIBLE} ,;:!?()–—―[⁰¹²³⁴-⁹①-⑳]"
)  # text without any of these is already normalised


class Sentence(Struct, frozen=True):
    """One sentence: `document_text[start:end]` is its source, `text` its normalised form.

    `offsets[i]` is the document offset of `text[i]`; the last of its `len(text) + 1` entries is `end`.
    """

    start: int
    end: int
    text: str
    offsets: Sequence[int]

    def span(self, a: int, b: int) -> tuple[int, int]:
        """Map `text[a:b]` to document offsets, ending right after its last character."""
        return self.offsets[a], self.offsets[b - 1] + 1 if b > a else self.offsets[a]


def split(document_text: str, start: int, end: int) -> list[Sentence]:
    """Split a block of a document into sentences at 。！？； and line ends.

    Marks inside brackets or quotes, a list number's point, and the break of a wrapped line do not end a sentence.
    Sentences are disjoint, in order, stripped, and cover all text; pure markup (`**`) joins its neighbour, and a block
    of nothing else has no sentences.

    Args:
        document_text: the stored text that offsets point into.
        start: the block's first character.
        end: the block's end, exclusive.
    """
    return list(_split(document_text, start, end))


@lru_cache(maxsize=2048)  # blocks of a few documents: facts and passages use the same ones
def _split(document_text: str, start: int, end: int) -> tuple[Sentence, ...]:
    block = document_text[start:end]
    spans: list[tuple[int, int]] = []
    for piece_start, piece_end in pairwise((0, *_sentence_ends(block), len(block))):
        tight = _strip(block, piece_start, piece_end)
        if tight is None:
            continue
        if spans and (_is_markup(block, tight) or _is_markup(block, spans[-1])):
            tight = (spans.pop()[0], tight[1])
        spans += _split_overlong(block, *tight)
    return tuple(_sentence(block, span, start) for span in spans if not _is_markup(block, span))


def _split_overlong(block: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Split an overlong sentence (a table without bars, text without marks) at a comma or blank."""
    while end - start > _MAX_SENTENCE:
        comma = max(block.rfind(mark, start + _MAX_SENTENCE // 2, start + _MAX_SENTENCE) for mark in "，、, |\t")
        stop = comma + 1 if comma > 0 else start + _MAX_SENTENCE
        if piece := _strip(block, start, stop):
            yield piece
        start = stop
    if piece := _strip(block, start, end):
        yield piece


def normalise(text: str) -> str:
    """Return the spelling that patterns are written against; idempotent.

    >>> normalise("营收 1,234.5 亿元,布油 70 – 75 美元 / 桶(Q1),买入 PD-L1/4-1BB **双抗**")
    '营收1234.5亿元，布油70-75美元/桶（Q1），买入PD-L1/4-1BB双抗'
    """
    return _normalise(text)[0]


def _strip(block: str, start: int, end: int) -> tuple[int, int] | None:
    behind = block[start:end].lstrip()
    tight = behind.rstrip()
    return (end - len(behind), end - len(behind) + len(tight)) if tight else None


def _is_markup(block: str, span: tuple[int, int]) -> bool:
    return _WORD.search(block, *span) is None and not normalise(block[span[0] : span[1]])


def _sentence_ends(block: str) -> Iterator[int]:
    """Yield the offsets in `block` where a sentence ends, in order."""
    closed = _bracketed(block)
    begin = at = nearest = 0
    while match := _ENDING.search(block, at):
        place, mark, at = match.start(), match[0], match.end()
        while nearest < len(closed) and closed[nearest][1] < place:
            nearest += 1
        inside = nearest < len(closed) and closed[nearest][0] < place
        cut: int | None
        if len(mark) > 1:
            cut = at  # a caption
        elif mark == "\n":
            cut = None if _is_wrapped(block, place) else at
        elif (inside and not (mark == "。" and closed[nearest][1] == place + 1)) or _is_false_end(block, begin, place):
            cut = None
        else:
            cut = _skip_closing_marks(block, begin, at)
        if cut is not None:
            yield cut
            begin = at = cut


def _skip_closing_marks(block: str, begin: int, at: int) -> int:
    """Return the offset after closing marks and after a ** that was opened in this sentence."""
    match = _AFTER_ENDING.match(block, at)
    at = match.end() if match else at
    if block.startswith("**", at) and block.count("**", begin, at) % 2:
        at += 2
    return at


def _is_false_end(block: str, begin: int, place: int) -> bool:
    mark = block[place]
    if mark == ".":
        word = block[max(begin, place - 8) : place]
        return _ABBREVIATION.search(word) is not None or _ENUMERATION.fullmatch(block, begin, place) is not None
    if mark == ";":
        return _ENTITY.search(block[max(begin, place - 12) : place]) is not None
    # inside a word: Yahoo!, ?id=5, 3!2
    return mark in "!?" and block[place + 1 : place + 2].isascii() and block[place + 1 : place + 2].isalnum()


def _bracketed(block: str) -> list[tuple[int, int]]:
    """Return the outermost bracketed spans as (opening, closing) offsets, ignoring misprinted brackets."""
    pairs: list[tuple[int, int]] = []
    open_at: list[tuple[str, int]] = []
    for match in _BRACKETS.finditer(block):
        mark, place = match[0], match.start()
        while open_at and place - open_at[-1][1] > _MAX_BRACKET:
            open_at.pop()
        waiting = [closer for closer, _ in open_at]
        if mark in waiting or (mark in ")）" and waiting and waiting[-1] in ")）"):
            while open_at:
                closer, opened = open_at.pop()
                if closer == mark or (closer in ")）" and mark in ")）"):
                    break
            _add_pair(pairs, opened, place)
        elif mark in _CLOSERS or mark == '"':
            open_at.append((_CLOSERS.get(mark, mark), place))
            del open_at[:-_MAX_OPEN_BRACKETS]
    return pairs


def _add_pair(pairs: list[tuple[int, int]], opened: int, closed: int) -> None:
    while pairs and pairs[-1][0] > opened:
        pairs.pop()
    pairs.append((opened, closed))


def _is_wrapped(block: str, place: int) -> bool:
    """Return whether the line that ends at `place` is wrapped, so that its sentence continues.

    A wrapped line is full and has no end mark, and the next line is not a list item and not clearly wider.
    """
    line = block[block.rfind("\n", 0, place) + 1 : place].strip()
    stop = block.find("\n", place + 1)
    following = block[place + 1 : stop if stop >= 0 else len(block)]
    if len(line) < _FULL_LINE or line[-1] in "。！？；!?;：:|" or not following.strip():
        return False
    wider = len(following.strip()) > len(line) * 1.2 + 2
    return not wider and _LIST_LEAD.match(following) is None


def _sentence(block: str, span: tuple[int, int], base: int) -> Sentence:
    text, kept = _normalise(block[span[0] : span[1]])
    start, end = base + span[0], base + span[1]
    same = len(text) == end - start  # nothing was deleted, so a range will do
    return Sentence(start, end, text, range(start, end + 1) if same else (*map(start.__add__, kept), end))


def _normalise(raw: str) -> tuple[str, Sequence[int]]:
    """Return the normalised text and, for each of its characters, the offset in `raw`.

    Deletions that can bring marks together come first, rules look past one blank, and blanks are deleted last: this
    order makes normalisation idempotent.
    """
    text = raw.translate(_WIDTH)
    if not _NEEDS_NORMALISING.search(text):
        return text, range(len(text))
    places: Sequence[int] = range(len(raw))
    text, places = _delete(text, places, _spans(_MARKUP, text))
    if "  " in text:
        text, places = _delete(text, places, _spans(_REPEATED_BLANKS, text))
    if marks := _spans(_NOTE_MARKS, text):
        text, places = _delete(text, places, marks)
    if bullets := _BULLETS.match(text):
        text, places = _delete(text, places, [bullets.span()])
    if "," in text:
        text, places = _delete(text, places, _thousands(text))
    if "–" in text or "—" in text or "―" in text:
        text = _MINUS_DASH.sub("-", text)
        text = _RANGE_DASH.sub(r"\1-", text)
    text = _MARKS.sub(lambda match: match[0].translate(_WIDE_OF), text)
    if "(" in text or ")" in text:
        text = _widen_parentheses(text)
    if " " in text:
        text, places = _delete(text, places, _spans(_LOOSE, text))
    left, width = len(text) - len(text.lstrip()), len(text.strip())
    return text[left : left + width], places[left : left + width]


def _spans(pattern: re.Pattern[str] | Prefiltered, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _thousands(text: str) -> list[tuple[int, int]]:
    commas = []
    for match in _THOUSANDS.finditer(text):
        commas += [(at, at + 1) for at in range(*match.span()) if text[at] == ","]
    return commas


def _widen_parentheses(text: str) -> str:
    """Make both parentheses of a pair full-width if one touches Chinese, so that pairs keep matching."""
    chars: list[str] = []
    open_at: list[int] = []
    for match in _PARENTHESIS.finditer(text):
        if match[0] in "(（":
            open_at.append(match.start())
        elif open_at:
            pair = (open_at.pop(), match.start())
            if any(text[at] in "（）" or _touches_han(text, at) for at in pair):
                chars = chars or list(text)
                chars[pair[0]], chars[pair[1]] = "（", "）"
    return "".join(chars) if chars else text


def _touches_han(text: str, at: int) -> bool:
    before, after = text[max(0, at - 2) : at].rstrip(" "), text[at + 1 : at + 3].lstrip(" ")
    return _HAN_CHAR.match(before[-1:]) is not None or _HAN_CHAR.match(after) is not None


def _delete(text: str, places: Sequence[int], spans: list[tuple[int, int]]) -> tuple[str, Sequence[int]]:
    if not spans:
        return text, places
    parts: list[str] = []
    kept: list[int] = []
    at = 0
    for start, end in spans:
        parts.append(text[at:start])
        kept += places[at:start]
        at = end
    parts.append(text[at:])
    kept += places[at:]
    return "".join(parts), kept
