"""The question `chain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from kg.messages.words import listed, word
from kg.query.answers import ChainAnswer
from kg.query.pictures import chain_picture
from kg.query.questions.parameters import Name, SureQuestion
from kg.query.text_output import evidence_lines, head, weak_mark
from kg.query.walks.chain import chain
from kg.query.wording import coded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.pictures import Picture
    from kg.query.session import QuerySession


class ChainQuestion(SureQuestion):
    """产业链上中下游与公司 · upstream, midstream and downstream of a topic, with companies."""

    key = "chain"
    answers = ChainAnswer

    topic: Name
    depth: Annotated[int, Field(ge=1, le=4, description="上下游各走几级 · steps up and down the chain")] = 2

    def answer(self, session: QuerySession) -> ChainAnswer:
        """Return the chain."""
        return chain(session, self.topic, depth=self.depth)

    def picture(self, session: QuerySession) -> Picture:
        """Return stages from left to right, each with its companies."""
        return chain_picture(self.answer(session))

    @staticmethod
    def text(session: QuerySession, answer: ChainAnswer) -> Iterator[str]:
        """Yield the layers, then the links with their evidence."""
        lang = session.lang
        yield word("print.chain", lang, topic=coded(answer.topic, lang))
        if not answer.layers:
            yield word("print.no_chain", lang)
        for layer in answer.layers:
            yield head(session, layer.name)
            for stage in layer.stages:
                names = listed((coded(node.entity, lang) + weak_mark(session, node) for node in stage.companies), lang)
                yield f"  {stage.node.entity.name}{word('colon', lang) if names else ''}{names}"
        yield from evidence_lines(session, answer.graph.links)
