"""Questions in words: `ask`, `context`, `prose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from kg.messages.words import listed, word
from kg.query.answers import AskAnswer
from kg.query.ask.answer import ask
from kg.query.grounding.checking import KnownNames
from kg.query.grounding.context import ContextAnswer, context
from kg.query.grounding.prose import PROSE_TOKENS, ProseAnswer, fault_text, prose
from kg.query.questions.parameters import SureQuestion, Words
from kg.query.text_output import citation_lines
from kg.query.wording import coded, flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.llm.port import Model
    from kg.query.session import QuerySession

_BUDGET = Field(ge=100, le=32_000, description="材料最多多少个词元（按上限估计） · most tokens, an upper estimate")


class AskQuestion(SureQuestion):
    """用一句话提问，回答附出处 · a question in words, answered with citations."""

    key = "ask"
    answers = AskAnswer

    question: Words

    def answer(self, session: QuerySession) -> AskAnswer:
        """Return the answer; one to an unanswerable question has the status `not_found`."""
        return ask(session, self.question)

    @staticmethod
    def is_found(answer: AskAnswer) -> bool:
        """Whether something was found."""
        return answer.status != "not_found"

    @staticmethod
    def text(session: QuerySession, answer: AskAnswer) -> Iterator[str]:
        """Yield what was understood, the lines with citations, or what the base has instead."""
        understood, lang = answer.understood, session.lang
        parts = [coded(entity, lang) for entity in understood.entities]
        parts += [str(understood.period)] if understood.period else []
        parts += [word("ask.as_of", lang, day=understood.as_of)] if understood.as_of else []
        parts += [word("ask.corrected", lang, written=old, meant=new) for old, new in understood.corrections]
        yield word("ask.question", lang) + answer.question
        if parts:
            yield word("ask.understood", lang) + " · ".join(parts)
        yield word(f"ask.{answer.status}", lang)
        printed: set[str] = set()  # a quote is printed once
        for line in (*answer.lines, *answer.passages):
            own = line.source == "text" and bool(line.citations)  # the line is the sentence itself
            quoted = own and line.text == line.citations[0].quote
            if not quoted:
                yield f"{'  ' * line.indent}{' '.join(line.text.split())}"
            sources: dict[str, None] = {}  # two sentences of one page that are printed above are one source
            for citation in line.citations:
                shown = "quote" if quoted else "place" if own or citation.quote in printed else "first"
                sources |= dict.fromkeys(citation_lines(session, [citation], 2 * line.indent + 4, shown=shown))
                printed.add(citation.quote)
            yield from sources
        if answer.near:
            yield word("ask.near", lang, names=listed(answer.near, lang))
        if answer.covered:
            yield word("ask.covered", lang, first=answer.covered[0], last=answer.covered[1])


class ContextQuestion(SureQuestion):
    """供模型作答的事实与原文，附出处 · facts and passages for a model, with citations."""

    key = "context"
    answers = ContextAnswer
    by_vectors = True

    question: Words
    budget_tokens: Annotated[int, _BUDGET] = 2000

    def answer(self, session: QuerySession) -> ContextAnswer:
        """Return what an answering model needs, within the budget."""
        return context(session, self.question, budget_tokens=self.budget_tokens)

    @staticmethod
    def text(session: QuerySession, answer: ContextAnswer) -> Iterator[str]:
        """Yield the context as a prompt has it."""
        yield answer.text or word("nothing", session.lang)


class ProseQuestion(SureQuestion):
    """语言模型作答，逐句核对出处 · an answer by a language model, each sentence checked against its source."""

    key = "prose"
    answers = ProseAnswer
    by_vectors = True
    by_model = True

    question: Words
    budget_tokens: Annotated[int, _BUDGET] = PROSE_TOKENS

    def answer(self, session: QuerySession) -> Callable[[Model], ProseAnswer]:
        """Return what lets a model answer, after the session is closed."""
        answer, lang = ask(session, self.question), session.lang
        found = context(session, self.question, budget_tokens=self.budget_tokens, answer=answer)
        names = session.kept(_known_names)
        return lambda model: prose(found, model, names, answer=answer, lang=lang)

    @staticmethod
    def text(session: QuerySession, answer: ProseAnswer) -> Iterator[str]:
        """Yield the answer, its sources, and the sentences that were left out with the reason."""
        lang = session.lang
        yield answer.text
        sources: dict[str, None] = {}
        dropped: list[str] = []
        for sentence in answer.sentences:
            cites = "".join(f"[{cite}]" for cite in sentence.cites)
            sources |= dict.fromkeys(
                f"  {cites} {line}" for line in citation_lines(session, sentence.citations, 0, shown="quote")
            )
            if not sentence.kept:
                faults = flow((fault_text(fault, lang) for fault in sentence.faults), lang)
                dropped.append(word("prose.dropped", lang, text=sentence.text, faults=faults))
        yield from sources
        yield from dropped


def _known_names(session: QuerySession) -> KnownNames:
    return KnownNames(session.view.names())
