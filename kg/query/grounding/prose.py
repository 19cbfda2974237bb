"""Answers in prose by a language model, of which only sentences remain that what they cite supports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.errors import QuestionError
from kg.llm.port import Request
from kg.messages.words import word
from kg.query.grounding.checking import faults
from kg.query.plain import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.llm.port import Model
    from kg.messages.words import Lang
    from kg.query.grounding.checking import KnownNames
    from kg.query.grounding.context import ContextAnswer

_REPLY_TOKENS = 1200
_MOST_SENTENCES = 60
_HANDLE = re.compile(r"[\[［]([AFTP]\d{1,3}(?:\s*[,，、;；]\s*[AFTP]\d{1,3})*)[\]］]")
_SENTENCE = re.compile(
    r".+?(?:[。！？!?](?:\s*[\[［][^\]］]*[\]］])*|\n|(?<=\])\s*[.;；](?=\s|$)|\.(?=\s|$)|$)", re.DOTALL
)


class NoModel(QuestionError):
    """Prose was asked for without a model to write it."""

    def __init__(self) -> None:
        super().__init__("no language model; set llm_url and llm_model, or use ask")


@dataclass(frozen=True, slots=True)
class ProseSentence:
    """A sentence of the model and the ids it cites; one that is not `kept` has the reasons in `faults`."""

    text: str
    cites: tuple[str, ...]
    kept: bool
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProseAnswer(Answer):
    """An answer in prose: `text` holds the sentences that are kept, with their citations.

    Dropped sentences stay visible in `sentences`. Without a kept sentence `text` says that nothing was found.
    """

    question: str
    model: str
    text: str
    sentences: tuple[ProseSentence, ...]
    context: ContextAnswer


def prose(found: ContextAnswer, model: Model, names: KnownNames, *, lang: Lang = "zh") -> ProseAnswer:
    """Let a model answer from a context, and keep what the context supports.

    Raises:
        ModelError: when the model does not answer.
    """
    if not found.items:
        return ProseAnswer(found.question, model.name, word("nothing", lang), (), found)
    request = Request((("system", word("prose.rules", lang)), ("user", found.text)), most_tokens=_REPLY_TOKENS)
    reply = model.complete(request).text
    sentences = tuple(_checked(found, names, reply))
    kept = [f"{each.text}{''.join(f'[{cite}]' for cite in each.cites)}" for each in sentences if each.kept]
    return ProseAnswer(found.question, model.name, "".join(kept) or word("nothing", lang), sentences, found)


def _checked(found: ContextAnswer, names: KnownNames, reply: str) -> Iterator[ProseSentence]:
    items = {item.id: item for item in found.items}
    for written in [match.group() for match in _SENTENCE.finditer(reply)][:_MOST_SENTENCES]:
        handles = " ".join(_HANDLE.findall(written))
        cites = tuple(dict.fromkeys(re.findall(r"[AFTP]\d+", handles)))
        text = " ".join(_HANDLE.sub("", written).split()).strip("-•* ")
        if not text.strip("。.；;"):
            continue
        unknown = [f"no item {cite}" for cite in cites if cite not in items]
        wrong = unknown or faults(text, [items[cite] for cite in cites], names, question=found.question)
        yield ProseSentence(text, cites, kept=not wrong, faults=tuple(wrong))
