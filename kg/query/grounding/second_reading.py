"""Let the model read each sentence of an answer again beside what it cites, apart from the question.

It may refuse a sentence, and may restore one that the rules refuse by copying the words that say it, if what it cites
has each of its numbers and the parties it names (checking.py).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kg.llm.port import ModelError, Request
from kg.messages.words import word
from kg.query.grounding.context import item_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kg.llm.port import Model
    from kg.messages.words import Lang
    from kg.query.answers import ContextItem
    from kg.query.grounding.checking import SentenceCheck, SentenceVerdict

REFUSED = "refused by the second reading"
_TOKENS_EACH = 120  # of the reply, for each sentence
_LINE = re.compile(r"^\W*(\d{1,2})\W+(?:(不支持|no\b)|支持|yes\b)(.*)$", re.MULTILINE | re.IGNORECASE)
_QUOTED = re.compile(r"[「“\"『](.+)[」”\"』]")


class CitedSentence(NamedTuple):
    """A sentence of a reply without its citations, the items it cites, and what the rules say of it."""

    text: str
    cites: tuple[str, ...]
    verdict: SentenceVerdict


def read_again(
    model: Model, items: Mapping[str, ContextItem], check: SentenceCheck, written: Sequence[CitedSentence], lang: Lang
) -> list[SentenceVerdict]:
    """Return the verdicts on sentences after the model has read them beside the items they cite.

    Args:
        model: gets one request; if it fails or its reply has another form, the verdicts stay.
        items: the items of the context by their number.
        check: the check that made the verdicts.
        written: the sentences.
        lang: the language of the prompt.
    """
    verdicts = [each.verdict for each in written]
    undecided = [at for at, each in enumerate(written) if each.cites and items.keys() >= set(each.cites)]
    if not undecided:
        return verdicts
    try:
        reply = model.complete(second_request(items, [written[at] for at in undecided], lang))
    except ModelError:
        return verdicts
    for number, refused, rest in _LINE.findall(reply.answer):
        if not 0 < int(number) <= len(undecided):
            continue
        at = undecided[int(number) - 1]
        quote = _QUOTED.search(rest)
        if refused:
            verdicts[at] = replace(verdicts[at], faults=verdicts[at].faults or (REFUSED,), sources=())
        elif verdicts[at].faults and quote and check.has_parts(written[at].text, written[at].cites):
            sources = check.sources_of(quote[1], written[at].cites)
            verdicts[at] = replace(verdicts[at], faults=(), sources=sources) if sources else verdicts[at]
    return verdicts


def second_request(items: Mapping[str, ContextItem], written: Sequence[CitedSentence], lang: Lang) -> Request:
    """Return the request that asks whether the cited items say each of some sentences."""
    return Request(
        (("system", word("prose.second", lang)), ("user", "\n".join(_lines(items, written, lang)))),
        most_tokens=_TOKENS_EACH * len(written),
    )


def _lines(items: Mapping[str, ContextItem], written: Sequence[CitedSentence], lang: Lang) -> Iterator[str]:
    for cite in dict.fromkeys(cite for each in written for cite in each.cites):
        yield item_line(items[cite], lang)
    for number, each in enumerate(written, 1):
        yield word(
            "prose.sentence",
            lang,
            number=number,
            text=" ".join(each.text.split()),
            cites="".join(f"[{cite}]" for cite in each.cites),
        )
