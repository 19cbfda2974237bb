"""Answers in prose by a language model, of which only sentences remain that what they cite supports."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from kg.errors import QuestionError
from kg.llm.port import EmptyReply, ModelError, Request
from kg.messages.words import word
from kg.query.grounding.checking import SentenceCheck, SentenceVerdict
from kg.query.grounding.context import item_line
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kg.llm.port import Model
    from kg.messages.words import Lang
    from kg.query.answers import AskAnswer, Citation, ContextItem
    from kg.query.grounding.checking import KnownNames
    from kg.query.grounding.context import ContextAnswer

PROSE_TOKENS = 1500  # of the material
_REPLY_TOKENS = 1200
_MOST_SENTENCES = 60
_SHOWN = 40  # characters of a sentence that was removed
_HANDLE = re.compile(r"[\[［]([A-Z]\d{1,3}(?:\s*[,，、;；]\s*[A-Z]\d{1,3})*)[\]］]")
_SENTENCE = re.compile(
    r".+?(?:[。！？!?](?:\s*[\[［][^\]］]*[\]］])*|\n|(?<=\])\s*[.;；](?=\s|$)|\.(?:\s*[\[［][A-Z]\d[^\]］]*[\]］])+|\.(?=\s|$)|$)",
    re.DOTALL,
)
_REASONED_TOO_LONG = "the reply reached its length limit before an answer"

REFUSED = "refused by the second reading"
_TOKENS_EACH = 120  # of the reply, for each sentence
_LINE = re.compile(r"^\W*(\d{1,2})\W+(?:(不支持|no\b)|支持|yes\b)(.*)$", re.MULTILINE | re.IGNORECASE)
_QUOTED = re.compile(r"[「“\"『](.+)[」”\"』]")

_FAULTS = {
    "number": re.compile(r"number (?P<what>.+)"),
    "direction": re.compile(r"direction(?: of)? ?(?P<what>.*)"),
    "name": re.compile(r"name (?P<what>.+)"),
    "date": re.compile(r"date (?P<what>.+)"),
    "other": re.compile(r"(?P<what>.+) of another number"),
    "turned": re.compile(r"from and to"),
    "cause": re.compile(r"cause and effect"),
    "certain": re.compile(r"stated as certain, the source says (?P<what>.+)"),
    "affirmed": re.compile(r"affirmed, the source denies it"),
    "denied": re.compile(r"denied, the source affirms it"),
    "item": re.compile(r"no item (?P<what>.+)"),
    "citation": re.compile(r"no citation"),
    "second": re.compile(r"refused by the second reading"),
    "unsupported": re.compile(r"not in the source|nothing that can be (?:cited|checked)"),
}


class NoModel(QuestionError):
    """Prose was asked for without a model to write it."""

    def __init__(self) -> None:
        super().__init__("no language model; set llm_url and llm_model, or use ask")


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """A sentence of the model and the ids that support it; one that is not `kept` has the reasons in `faults`.

    `citations` are where the sources say it: house, day, page and the sentence there.
    """

    text: str
    cites: tuple[str, ...]
    kept: bool
    faults: tuple[str, ...]
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class ProseAnswer(Answer):
    """An answer in prose: `text` holds the sentences that are kept, with their citations, and notes in brackets.

    Removed sentences stay visible in `sentences`; `removed` counts them. Where none is kept, `text` has the lines of
    `ask` and `written` is False. `cut` is set where the reply ends at its length limit: such an answer is not kept.
    """

    question: str
    model: str
    text: str
    sentences: tuple[ProseSentence, ...]
    removed: int
    written: bool
    cut: bool
    context: ContextAnswer


def prose(
    found: ContextAnswer, model: Model, names: KnownNames, *, answer: AskAnswer, lang: Lang = "zh"
) -> ProseAnswer:
    """Let a model answer from a context, and keep what the context supports.

    Args:
        found: the material.
        model: writes the answer.
        names: the names of the base.
        answer: what `ask` answers, shown where no sentence of the model is kept.
        lang: the language of prompt and notes.

    Raises:
        ModelError: when the model does not answer, or its reply holds no answer.
    """
    if not found.items or answer.status == "ambiguous":
        return ProseAnswer(found.question, model.name, _plain(answer, lang), (), 0, False, False, found)  # noqa: FBT003
    request = Request((("system", word("prose.rules", lang)), ("user", found.text)), most_tokens=_REPLY_TOKENS)
    reply = model.complete(request)
    written = reply.answer
    if not written:
        raise EmptyReply(model.name, _REASONED_TOO_LONG if reply.cut else "the reply holds no answer")
    sentences = tuple(_checked(found, written, model, names=names, lang=lang, cut=reply.cut))
    kept = "".join(_shown(each, lang) for each in sentences if each.kept).strip("\n")
    lost = [each.text.strip() for each in sentences if not each.kept]
    notes = [word("prose.cut", lang)] if reply.cut else []
    if lost:
        texts = word("sentences", lang).join(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…" for text in lost)
        notes.append(
            word("prose.removed" if len(lost) > 1 else "prose.removed_one", lang, count=len(lost), texts=texts)
        )
    body = kept or f"{word('prose.plain', lang)}\n{_plain(answer, lang)}"
    return ProseAnswer(
        question=found.question,
        model=model.name,
        text="\n".join([body, *notes]),
        sentences=tuple(replace(each, text=each.text.strip()) for each in sentences),
        removed=len(lost),
        written=bool(kept),
        cut=reply.cut,
        context=found,
    )


def _checked(
    found: ContextAnswer, reply: str, model: Model, *, names: KnownNames, lang: Lang, cut: bool
) -> Iterator[ProseSentence]:
    items = {item.id: item for item in found.items}
    check = SentenceCheck(found.items, names, question=found.question)
    written = list(_written(reply, items, check, cut=cut))
    verdicts = read_again(model, [each for _, each in written], items=items, check=check, lang=lang)
    for (line, each), verdict in zip(written, verdicts, strict=True):
        cites = tuple(dict.fromkeys(cite for cite, _ in verdict.sources)) or each.cites  # those that support it
        yield ProseSentence(line + each.text, cites, not verdict.faults, verdict.faults, _citations(verdict, items))


def _written(
    reply: str, items: Mapping[str, ContextItem], check: SentenceCheck, *, cut: bool
) -> Iterator[tuple[str, CitedSentence]]:
    """Yield the sentences of a reply as the rules judge them, each with the line break before it, if there is one."""
    written = [match.group() for match in _SENTENCE.finditer(reply)][:_MOST_SENTENCES]
    broken = False  # whether a line break comes before the sentence
    for number, each in enumerate(written):
        handles = " ".join(_HANDLE.findall(each))
        cites = tuple(dict.fromkeys(re.findall(r"[A-Z]\d+", handles)))
        text = " ".join(_HANDLE.sub("", each).split()).strip("-•* ")
        before = each[: len(each) - len(each.lstrip())] + (written[number - 1][-1] if number else "")
        broken |= "\n" in before
        unfinished = cut and number == len(written) - 1 and not cites
        if not text.strip("。.；;#：:") or unfinished:
            continue
        unknown = tuple(f"no item {cite}" for cite in cites if cite not in items)
        verdict = SentenceVerdict(unknown) if unknown else check.verdict(text, cites)
        yield "\n" * broken, CitedSentence(text, cites, verdict)
        broken = False


class CitedSentence(NamedTuple):
    """A sentence of a reply without its citations, the items it cites, and what the rules say of it."""

    text: str
    cites: tuple[str, ...]
    verdict: SentenceVerdict


def read_again(
    model: Model,
    written: Sequence[CitedSentence],
    *,
    items: Mapping[str, ContextItem],
    check: SentenceCheck,
    lang: Lang,
) -> list[SentenceVerdict]:
    """Return the verdicts on sentences after the model has read them beside the items they cite.

    Args:
        model: gets one request; if it fails or its reply has another form, the verdicts stay.
        written: the sentences.
        items: the items of the context by their number.
        check: the check that made the verdicts.
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


def _citations(verdict: SentenceVerdict, items: dict[str, ContextItem]) -> tuple[Citation, ...]:
    """Return where the sources of a sentence that is supported say it."""
    out = []
    for cite, statement in () if verdict.faults else verdict.sources:
        citation = items[cite].citations[statement.cited]
        within = items[cite].text if items[cite].kind == "passage" else citation.quote
        if (at := within.find(statement.quote)) >= 0:
            start = citation.start + at
            citation = replace(citation, quote=statement.quote, start=start, end=start + len(statement.quote))
        out.append(citation)
    return tuple(dict.fromkeys(out))


def _shown(sentence: ProseSentence, lang: Lang) -> str:
    """Return a kept sentence with handles and sources: 通威股份生产硅料。[A1]（示例证券甲，2024-02-01，第 3 页）."""
    text = sentence.text
    sources = dict.fromkeys(
        word(
            "prose.source",
            lang,
            publisher=each.publisher or each.speaker or each.title,
            day=each.published_on,
            page=word("context.page", lang, page=each.page) if each.page else "",
        )
        for each in sentence.citations
    )
    where = word("brackets", lang, text=word("sentences", lang).join(sources)) if sources else ""
    return f"{text}{''.join(f'[{cite}]' for cite in sentence.cites)}{where}"


def fault_text(fault: str, lang: Lang) -> str:
    """Return a fault in the language of the reader."""
    for key, pattern in _FAULTS.items():
        if match := pattern.fullmatch(fault):
            return word(f"prose.fault.{key}", lang, what=match["what"] if pattern.groups else "")
    return fault


def _plain(answer: AskAnswer, lang: Lang) -> str:
    """Return the lines of `ask` as text."""
    lines: Sequence[str] = [f"{'  ' * line.indent}{line.text}" for line in (*answer.lines, *answer.passages)]
    return "\n".join(lines) or word("nothing", lang)
