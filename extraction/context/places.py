"""Find the places where figures are measured, as headings, labels and sentences word them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from extraction.text.lexicon import phrases
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from extraction.sentence import EntityMention

# The default of a Chinese note: a figure may inherit these from the words before it.
HOME = frozenset({"国内", "我国", "全国", "中国", "中国大陆", "大陆", "境内", "中国境内"})
ABROAD = re.compile("LME|COMEX|NYMEX|CBOT|ICE|WTI|布伦特|伦敦|伦(?=[铜铝锌铅镍锡金银])")  # foreign exchanges
_PHRASES = phrases("context/places")
_WIDE = _PHRASES["wide"]
ORDINAL = re.compile(r"^[\s（(]*(?:[一二三四五六七八九十]+|\d+(?:\.\d+)*)[）)、.．\s]*")
_ENTRY = re.compile(r"[^，。；：\d]{2,6}[：:]\s*")
_JOINED = re.compile(r"(?:和|与|及|以及|、|/|-|vs)")
_CLAUSES = re.compile("[，。；：:]")
_MARKET = re.compile("市场|地区|区域")
# A country's actions do not say where figures below are measured; nor does a headline that is a full sentence.
_ACTS = _PHRASES["acts"]
_LONGEST = 24


def places_in(
    text: str, refs: Sequence[EntityMention], *, start: int = 0, end: int | None = None
) -> list[tuple[int, str]]:
    """Return offset and wording of each place named in text[start:end], except inside other names."""
    wide = _wide(text)
    found = [(ref.start, text[ref.start : ref.end]) for ref in refs if ref.kind == Kind.REGION and ref.start >= 0]
    if not (wide or found):
        return []
    stop = len(text) if end is None else end
    found += [
        (at, name)
        for at, name in wide
        if not any(ref.start <= at < ref.end and ref.kind != Kind.INDICATOR for ref in refs)
    ]
    return sorted((at, name) for at, name in set(found) if start <= at and at + len(name) <= stop)


@lru_cache(maxsize=64)  # called for each figure of a sentence
def _wide(text: str) -> tuple[tuple[int, str], ...]:
    return tuple((match.start(), match[0]) for match in _WIDE.finditer(text))


def heading_place(text: str, refs: Sequence[EntityMention]) -> str | None:
    """Return the place that a heading is about, "" for several, None for none.

    It is the place at the start of the heading or before 市场: 「（二）美国市场」, 「手机的海外市场」.
    """
    begin = match.end() if (match := ORDINAL.match(text)) else 0
    short = len(text) - begin <= _LONGEST and not _ACTS.search(text) and not _CLAUSES.search(text, 0, len(text) - 1)
    about: list[str] = []
    for at, name in places_in(text, refs):
        after = at + len(name)
        leads = at <= begin or (about and _JOINED.fullmatch(text[at - 1]))
        named = _MARKET.match(text, after) and not _CLAUSES.search(text, 0, len(text) - 1)
        if named or (leads and (short or text[after : after + 1] in ("：", ":"))):
            about.append(name)
    if about:
        return about[0] if len(set(about)) == 1 else ""
    return "" if _ENTRY.fullmatch(text) else None


def label_place(label: str, refs: Sequence[EntityMention]) -> str | None:
    """Return the one place that a label of a line names (「美国：…」), "" for several, None for none."""
    places = {name for _, name in places_in(label, refs)}
    return None if not places else places.pop() if len(places) == 1 else ""


def narrowed(place: str, scope: str, *, longest: int) -> str:
    """Return a figure's scope with the place of its label or heading in front: 美国商业 for 商业 under 美国."""
    own = scope.isascii() or scope.startswith("占") or ABROAD.search(scope) or len(place + scope) > longest
    if scope and (place in HOME or own):
        return scope
    return place + scope
