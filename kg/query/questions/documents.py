"""Questions on documents: `passages`, `document`, `filing_pages`, `filing_value`, `filing_outline`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from kg.messages.words import word
from kg.query.answers import Passage
from kg.query.browse.pages import DocumentPart, part_of
from kg.query.filings.outline import OutlineAnswer, stored_outline
from kg.query.filings.pages import FilingPagesAnswer, filing_pages
from kg.query.filings.values.answer import FilingValueAnswer, filing_value
from kg.query.filings.values.lines import value_text
from kg.query.grounding.dual_level import Mode, dual_level
from kg.query.questions.parameters import DatedQuestion, FactIds, Identifier, Words
from kg.query.text_output import page_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.messages.words import Lang
    from kg.query.session import QuerySession


class PassagesQuestion(DatedQuestion):
    """最匹配的原文段落 · the passages that match best, by words, vectors or the graph."""

    key = "passages"
    answers = list[Passage]
    by_vectors = True

    query: Words
    limit: Annotated[int, Field(ge=1, le=100, description="最多几段 · most passages")] = 10
    mode: Annotated[
        Mode,
        Field(
            description="按词（words）、向量（vectors，须先 liantu index）、词与向量（fused），或经图谱：local 按实体，"
            "global 按关系，hybrid 两者，mix 再加词 · words; vectors (after liantu index); fused: words and vectors; "
            "graph: local by entities, global by relations, hybrid both, mix with words"
        ),
    ] = "words"

    def answer(self, session: QuerySession) -> list[Passage]:
        """Return the passages, best first."""
        return dual_level(session, self.query, mode=self.mode, limit=self.limit)

    @staticmethod
    def text(session: QuerySession, answer: list[Passage]) -> Iterator[str]:
        """Yield passages with their documents."""
        lang = session.lang
        if not answer:
            yield word("nothing", lang)
        for passage in answer:
            publisher = passage.publisher or word("print.no_publisher", lang)
            row = {"publisher": publisher, "day": passage.published_on, "page": page_text(session, passage.chunk.page)}
            yield "\n" + word("print.passage", lang, title=passage.title, score=f"{passage.score:.2f}", **row)
            if passage.chunk.heading:
                yield f"  {' › '.join(passage.chunk.heading)}"
            yield f"  {passage.chunk.text}"


class DocumentQuestion(DatedQuestion):
    """文档原文，附其中的名称 · the text of a document, with names."""

    key = "document"
    answers = DocumentPart

    document_id: Identifier
    page: Annotated[int | None, Field(ge=1, le=1_000_000, description="第几页，从 1 起 · page, from 1")] = None
    start: Annotated[int, Field(ge=0, le=100_000_000, description="从第几个字符起 · first character")] = 0
    fact: Annotated[FactIds, Field(max_length=50, description="标出这些事实的原句 · highlights their sentences")] = (
        Field(default=[])
    )

    def answer(self, session: QuerySession) -> DocumentPart:
        """Return a page, or the text from `start` on."""
        return part_of(session.view, self.document_id, page=self.page, start=self.start, facts=self.fact)

    @staticmethod
    def text(session: QuerySession, answer: DocumentPart) -> Iterator[str]:
        """Yield the head of the document, and the text."""
        row = {"publisher": answer.publisher, "day": answer.published_on, "page": page_text(session, answer.page)}
        yield word("print.document", session.lang, title=answer.title, **row)
        yield f"\n{answer.text}"
        if answer.next_start is not None:
            yield "\n" + word("print.next_start", session.lang, start=answer.next_start)


class FilingPagesQuestion(DatedQuestion):
    """年报、季报、公告中能回答问题的页 · the pages of filings that answer a question, best first."""

    key = "filing_pages"
    answers = FilingPagesAnswer

    question: Words
    limit: Annotated[int, Field(ge=1, le=50, description="最多几页 · most pages")] = 5

    def answer(self, session: QuerySession) -> FilingPagesAnswer:
        """Return the pages."""
        return filing_pages(session, self.question, limit=self.limit)

    @staticmethod
    def text(session: QuerySession, answer: FilingPagesAnswer) -> Iterator[str]:
        """Yield what was understood, and the pages with the lines that answer."""
        lang = session.lang
        years = [f"FY{year}" for year in answer.fiscal_years] + [f"Q{quarter}" for quarter in answer.quarters]
        understood = [*answer.companies, *([answer.form] if answer.form else []), *years]
        if understood:
            yield word("ask.understood", lang) + " · ".join(understood)
        yield from (word(f"filing.no_{name}", lang) for name in answer.missing)
        if not answer.pages:
            yield word("nothing", lang)
        for page in answer.pages:
            row = {"title": page.title, "day": page.published_on, "score": f"{page.score:.2f}"}
            yield "\n" + word("filing.page", lang, page=page_text(session, page.page), **row)
            if page.section:
                yield f"  {' · '.join(page.section)}"
            yield "\n".join(f"  {line}" for line in page.quote.split("\n"))


class FilingValueQuestion(DatedQuestion):
    """年报问题的数值，附公式与所据各行 · a value from annual reports, with its formula and the rows it comes from."""

    key = "filing_value"
    answers = FilingValueAnswer

    question: Words
    trace: Annotated[
        bool, Field(description="列出每一步：打算、各轮、留下与舍去的页、公式 · also lists each step taken")
    ] = False

    def answer(self, session: QuerySession) -> FilingValueAnswer:
        """Return the value, or why there is none with the best pages."""
        found = filing_value(session, self.question)
        return found if self.trace else replace(found, trace=())

    @staticmethod
    def text(session: QuerySession, answer: FilingValueAnswer) -> Iterator[str]:
        """Yield the value with its formula and rows, or the pages to look at."""
        return value_text(session, answer)


class FilingOutlineQuestion(DatedQuestion):
    """一份文档的章节与页码 · the sections of a document with their pages."""

    key = "filing_outline"
    answers = OutlineAnswer

    document_id: Identifier

    def answer(self, session: QuerySession) -> OutlineAnswer:
        """Return the sections."""
        return stored_outline(session.view, self.document_id)

    @staticmethod
    def text(session: QuerySession, answer: OutlineAnswer) -> Iterator[str]:
        """Yield the sections."""
        return outline_lines(answer, session.lang)


def outline_lines(answer: OutlineAnswer, lang: Lang) -> Iterator[str]:
    """Yield the sections of a document, one a line, with their pages."""
    yield f"{answer.title}{word('filing.pages', lang, count=answer.pages) if answer.pages else ''}"
    if not answer.sections:
        yield word("filing.no_sections", lang)
    for section in answer.sections:
        pages = f"{section.page}–{section.last_page}" if section.page != section.last_page else section.page or ""
        yield f"{'  ' * section.level}{section.title}  {pages}".rstrip()
