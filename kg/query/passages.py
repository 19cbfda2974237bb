"""Passages that answer a query by their words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kg.model import ValueClass
from kg.query.answers import Citation, Passage
from kg.securities.codes import find_codes, parse_code
from kg.store.word_search import terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.store.port import View

_BARE_CODE = re.compile(r"(?<![0-9A-Za-z.])\d{5,6}(?![0-9A-Za-z.%％亿万千吨元股台辆个家户套])")  # no amount
_MOST_CODES, _MOST_NAMES = 5, 3
_QUOTE = 160
_QUERY = 1000  # characters of a query that are looked for
_LOOKED_AT = 3  # times as many by words as are wanted, for the class to choose from
# What a passage's fit is multiplied with: close enough for words to decide, far enough to part those that fit alike.
WORTH = {
    ValueClass.CAUSAL: 1.15,
    ValueClass.FORECAST: 1.1,
    ValueClass.MEASURED: 1.05,
    ValueClass.PLAIN: 1.0,
    ValueClass.BARE_NUMBERS: 0.8,
    ValueClass.REPEATED: 0.7,
    ValueClass.BOILERPLATE: 0.5,
}
_EMPTY = frozenset(
    """
    的 了 吗 呢 吧 啊 呀 嘛 是 有 在 和 与 或 及 对 被 把 给 从 到 于 为 以 之 其 这 那 这些 那些 个 不 也 都
    还 就 又 而 但 很 将 哪 哪些 哪个 哪里 什么 为什么 为何 怎么 怎样 怎么样 如何 多少 几 谁 会 能 可以 请 请问
    问 一 一个 我 你 他 她 它 a an the of is are was be do does did to in on at for by and or what why how
    which who when it its this that
    """.split()  # noqa: SIM905 -- words read best as words
)


def passages(view: View, query: str, *, limit: int = 10) -> list[Passage]:
    """Return up to `limit` passages, best first: BM25 over words, times the worth of a passage's class.

    Words that only make a sentence do not count: a text is not about 「火星的天气」 because it holds a 「的」. A
    securities code stands for the names of its entity too.
    """
    wanted = informative_words(" ".join((query[:_QUERY], *_names_of_codes(view, query[:_QUERY]))))
    by_words = view.search(" ".join(wanted), _LOOKED_AT * limit) if wanted else []
    weighed = [(chunk, score * WORTH[chunk.value_class]) for chunk, score in by_words]
    found = sorted(weighed, key=lambda each: -each[1])[: max(limit, 0)]  # stable: equals stay as the store ranks them
    documents = {head.id: head for head in view.documents({chunk.document for chunk, _ in found})}
    return [
        Passage(chunk, document.title, document.publisher, document.published_on, round(score, 4))
        for chunk, score in found
        if (document := documents.get(chunk.document))
    ]


def _names_of_codes(view: View, query: str) -> Iterator[str]:
    """Yield the names of the entities whose securities codes a query contains: 600519, SH600519, 700 HK, NVDA.O."""
    spans = {(start, end): code for start, end, code in find_codes(query)}
    for match in _BARE_CODE.finditer(query):
        code = parse_code(match[0])
        if code and not any(start <= match.start() and match.end() <= end for start, end in spans):
            spans[match.span()] = code
    for code in list(dict.fromkeys(spans.values()))[:_MOST_CODES]:
        for entity in view.named(str(code)):
            yield from dict.fromkeys((entity.name, *(alias.name for alias in entity.aliases[:_MOST_NAMES])))


def informative_words(text: str) -> list[str]:
    """Return the index words of a text without those that only make a sentence."""
    return [term for term in terms(text) if term not in _EMPTY]


def citation_of(passage: Passage) -> Citation:
    """Return a passage's first lines as a citation; the quote is the stored text."""
    chunk = passage.chunk
    quote = chunk.text[:_QUOTE]
    return Citation(
        fact="",
        document=chunk.document,
        title=passage.title,
        publisher=passage.publisher,
        speaker=passage.publisher,
        published_on=passage.published_on,
        page=chunk.page,
        start=chunk.start,
        end=chunk.start + len(quote),
        quote=quote,
    )
