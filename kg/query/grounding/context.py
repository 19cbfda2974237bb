"""What a model needs to answer a question: facts, paths, themes and passages within a budget, with their sources."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from kg.errors import QuestionError
from kg.llm.embeddings import EncoderMissing
from kg.llm.port import ModelError, tokens
from kg.messages.words import word
from kg.model import Kind
from kg.query.answers import ContextItem, ItemKind
from kg.query.ask.answer import ask
from kg.query.grounding.dual_level import dual_level
from kg.query.grounding.quantities import folded
from kg.query.grounding.statements import ABOVE, without_instructions
from kg.query.grounding.vectors import OtherModel
from kg.query.passages import citation_of
from kg.query.plain import Answer
from kg.query.session import spoken
from kg.query.themes.listing import themes
from kg.query.wording import claim_text, flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from kg.messages.words import Lang
    from kg.model import Fact, SummaryLine
    from kg.query.answers import AskAnswer, Citation, Passage
    from kg.query.session import QuerySession

Route = Literal["graph", "text", "related", "fused", "words", "none"]
_SHARES: tuple[tuple[ItemKind, float], ...] = (("answer", 0.4), ("fact", 0.25), ("theme", 0.1), ("passage", 0.25))
"""What each kind may use of the budget; what one leaves goes to the next, and the rest to the first again."""
_LETTERS = {"answer": "A", "fact": "F", "theme": "T", "passage": "P"}
_CITED = 2
_PASSAGES, _THEMES, _THEME_LINES = 20, 3, 4
_QUOTED = 160  # characters of a quote
_REPEATED = 0.7  # share of the pairs of characters of a quote
CONFIDENCE: dict[Route, float] = {
    "graph": 0.91,
    "text": 0.91,
    "related": 0.77,
    "fused": 0.32,
    "words": 0.32,
    "none": 0.0,
}
"""Share of questions whose context held what was expected, by route; docs/service.md says of which questions.

`fused` has that of `words`: no more unseen questions find their answer with vectors than without.
"""


@dataclass(frozen=True, slots=True)
class ContextAnswer(Answer):
    """What is known for a question; `text` is all items as a prompt of at most `budget_tokens` (an upper estimate).

    `route` says where it comes from: facts of the `graph`, sentences that answer (`text`), `related` ones, passages
    by words and vectors (`fused`, where there is an index of vectors), by `words` alone, or `none`.
    `confidence` is the measured share of such contexts that held the answer; `omitted` counts items that did not fit.
    """

    question: str
    route: Route
    confidence: float
    as_of: date | None
    budget_tokens: int
    used_tokens: int
    items: tuple[ContextItem, ...]
    omitted: dict[str, int]
    text: str


def context(
    session: QuerySession, question: str, *, budget_tokens: int = 2000, answer: AskAnswer | None = None
) -> ContextAnswer:
    """Gather what answers a question, most useful first, until the budget is used.

    Passages are found by words, and by vectors too where nothing in the graph or the text answers and an encoder works.
    Lines of themes are only in the context of a question about a theme.

    Args:
        session: what may be seen.
        question: in words.
        budget_tokens: the most tokens of the text, an upper estimate.
        answer: what `ask` answers, where it is known.
    """
    answer = answer or ask(session, question)
    day = answer.understood.as_of
    later = (day and cited.published_on > day for line in answer.lines for cited in line.citations)
    if day and not any(later):  # the value of a day may be published after it
        session = session.earlier(day)
    mode, passages = _passages(session, answer)
    found: dict[ItemKind, list[ContextItem]] = {
        "answer": list(_answers(session, answer)),
        "fact": list(_facts(session, answer)),
        "theme": list(_themes(session, answer)),
        "passage": [passage_item(session, passage) for passage in passages],
    }
    lang = session.lang
    head = [word("context.question", lang, question=_flat(question)), _days(session)]
    kept = _within(found, max(budget_tokens - tokens("\n".join(head)) - 1, 0), lang)
    route = _route(answer, kept, mode)
    text = "\n".join([*head, *(_rows(kept, lang) or [word("nothing", lang)])])
    return ContextAnswer(
        question=question,
        route=route,
        confidence=CONFIDENCE[route],
        as_of=session.view.as_of,
        budget_tokens=budget_tokens,
        used_tokens=tokens(text),
        items=tuple(kept),
        omitted={kind: len(items) - sum(item.kind == kind for item in kept) for kind, items in found.items()},
        text=text,
    )


def _days(session: QuerySession) -> str:
    """Return the line that says what day it is: that of the view, else that of the newest document."""
    day = session.view.as_of
    if day:
        return word("context.as_of", session.lang, day=day)
    newest = max((head.published_on for head in session.view.documents()), default=None)
    return word("context.newest", session.lang, day=newest) if newest else ""


def _route(answer: AskAnswer, kept: Sequence[ContextItem], mode: Literal["fused", "words"]) -> Route:
    if answer.status == "answered" and kept:
        return "graph" if any(line.source == "graph" and line.citations for line in answer.lines) else "text"
    return "none" if not kept else "related" if answer.passages else mode


def _answers(session: QuerySession, answer: AskAnswer) -> Iterator[ContextItem]:
    for line in (*answer.lines, *answer.passages):
        if line.citations:
            stated = {citation.fact for citation in line.citations if citation.fact}
            facts = list(session.view.facts(ids=stated)) if stated else []
            yield context_item("answer", line.text, line.citations[:_CITED], facts=facts, session=session)


def _facts(session: QuerySession, answer: AskAnswer) -> Iterator[ContextItem]:
    """Yield the facts of the answer's graph, the heaviest links first."""
    links = sorted(answer.graph.links, key=lambda link: (-link.weight, link.source, link.relation, link.target))
    for link in links:
        fact = min(link.facts, key=spoken)
        yield context_item("fact", claim_text(session, fact), link.citations[:_CITED], facts=[fact], session=session)


def _themes(session: QuerySession, answer: AskAnswer) -> Iterator[ContextItem]:
    """Yield lines of the themes that hold an entity of a question about themes."""
    asked = answer.understood
    wanted = {entity.id for entity in asked.entities}
    if asked.operation != "themes" and not any(entity.kind == Kind.THEME for entity in asked.entities):
        return
    try:
        near = [each for each in themes(session.view) if each.summary and wanted.intersection(each.members)]
    except QuestionError:  # no weekly run yet
        return
    for community in near[:_THEMES]:
        lines: Sequence[SummaryLine] = community.summary.lines if community.summary else ()
        for line in [line for line in lines if line.facts][:_THEME_LINES]:
            facts = list(session.view.facts(ids=line.facts))
            yield context_item("theme", line.text, session.citations(facts, _CITED), facts=facts, session=session)


def _passages(session: QuerySession, answer: AskAnswer) -> tuple[Literal["fused", "words"], list[Passage]]:
    """Return how passages were found, and the passages."""
    found = dual_level(session, answer.question, mode="words", limit=_PASSAGES)
    # Without a word in common the nearest passage is about something else.
    if found and session.vectors and not answer.lines and not answer.passages:
        with suppress(OtherModel, EncoderMissing, ModelError):
            return "fused", dual_level(session, answer.question, mode="fused", limit=_PASSAGES)
    return "words", found


def passage_item(session: QuerySession, passage: Passage) -> ContextItem:
    """Return a passage as an item, with its lines as they are and the headings above it."""
    heading = [part for part in passage.chunk.heading if part not in passage.title]
    item = context_item("passage", "", [citation_of(passage)], facts=[], session=session)
    return replace(item, text=passage.chunk.text.strip(), about=ABOVE.join(heading))


def context_item(
    kind: ItemKind, text: str, citations: Iterable[Citation], *, facts: Sequence[Fact], session: QuerySession
) -> ContextItem:
    """Return what may be cited, without its number: a text with the sentences and facts that it rests on."""
    cited = tuple(citations)
    modalities, polarities = {fact.modality.value for fact in facts}, {fact.polarity.value for fact in facts}
    return ContextItem(
        id="",
        kind=kind,
        text=" ".join(text.split()),
        citations=cited,
        facts=tuple(fact.id for fact in facts),
        modality=modalities.pop() if len(modalities) == 1 else "",
        polarity=polarities.pop() if len(polarities) == 1 else "",
        confidence=min((session.certainty([fact]) for fact in facts), default=0.0),
        tokens=0,
    )


def _within(found: dict[ItemKind, list[ContextItem]], budget: int, lang: Lang) -> list[ContextItem]:
    """Return the items that fit, numbered: each kind within its share first, then whatever still fits."""
    chosen: dict[ItemKind, list[ContextItem]] = {kind: [] for kind in found}
    texts: set[str] = set()
    left, carried = budget, 0.0
    for shares in (dict(_SHARES), dict.fromkeys(found, 1.0)):
        for kind, share in shares.items():
            allowance = budget * share + carried
            for item in found[kind]:
                numbered = _numbered(item, len(chosen[kind]) + 1, lang)
                if item.text not in texts and numbered.tokens <= min(allowance, left):
                    texts.add(item.text)
                    chosen[kind].append(numbered)
                    allowance -= numbered.tokens
                    left -= numbered.tokens
            carried = allowance
    return [item for kind, _ in _SHARES for item in chosen[kind]]


def _numbered(item: ContextItem, number: int, lang: Lang) -> ContextItem:
    named = replace(item, id=f"{_LETTERS[item.kind]}{number}")
    return replace(named, tokens=tokens(item_line(named, lang)) + 1)


def _rows(items: Sequence[ContextItem], lang: Lang) -> list[str]:
    """Return the items as lines of the prompt, without quotes that a line before them has."""
    rows: list[str] = []
    for item in items:
        rows.append(item_line(item, lang, shown=folded("".join(rows))))
    return rows


def item_line(item: ContextItem, lang: Lang, *, shown: str = "") -> str:
    """Return an item as a line of a prompt; documents are data, so line breaks and handles in them are flattened."""
    text = _flat(without_instructions(item.text).replace("\n", word("context.line", lang)))
    about = f"{_flat(item.about)}{word('colon', lang)}" if item.about else ""
    rows = []
    for citation in item.citations:
        page = word("context.page", lang, page=citation.page) if citation.page else ""
        cut = _flat(without_instructions(citation.quote))[:_QUOTED]
        repeated = item.kind == "passage" or not cut or _repeats(folded(cut), folded(item.text), shown)
        where = dict.fromkeys((_flat(citation.title), _flat(citation.speaker), str(citation.published_on)))
        source = word("comma", lang).join(where)
        rows.append(f"{'' if repeated else word('quoted', lang, text=cut)}——{source}{page}")
    return f"[{item.id}] {about}{text} {flow(dict.fromkeys(rows), lang)}".rstrip()


def _repeats(quote: str, text: str, shown: str) -> bool:
    """Whether a quote says nothing that the line or one before it does not: its pairs of characters are there."""
    pairs = {quote[at : at + 2] for at in range(len(quote) - 1)}
    return quote in shown or sum(pair in text for pair in pairs) >= _REPEATED * len(pairs)


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("[", "［").replace("]", "］")
