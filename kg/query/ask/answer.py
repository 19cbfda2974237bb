"""Answer a question in words: facts of the graph, then sentences of the documents, or an honest "not found".

An answer is `answered` only where a fact or a sentence meets what was asked; related passages make it `partial`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from kg import period as periods
from kg.messages.words import noted, word
from kg.query.answers import AnswerLine, AskAnswer, Subgraph
from kg.query.ask.composed import composed, today
from kg.query.ask.dated import AskedPeriod
from kg.query.ask.evidence import ANSWERS, Retriever, label_of, passage
from kg.query.ask.figures import LEAST
from kg.query.ask.lexicon import lexicon
from kg.query.ask.understand import understand
from kg.query.filings.pages import is_about_filings
from kg.query.filings.values.lines import filing_lines
from kg.query.grounding.causes import causal_pairs
from kg.query.grounding.checking import KnownNames, states
from kg.query.resolve import near_names
from kg.query.session import QuerySession
from kg.query.wording import coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.query.ask.evidence import ScoredSentence
    from kg.query.ask.understand import QuestionTerm, Understood
    from kg.store.port import View

_SHOWN, _SHOWN_OF_A_LIST, _SHOWN_BESIDE = 3, 7, 2
_BESIDE = 0.6  # the share of the decision of an answer that a further line needs
_RELATED, _SIMILAR = 0.17, 0.2  # probability of a sentence shown beside an answer or as related, decision of the latter
_SHARED, _ALL_SHARED = 0.2, 1.0  # score by words that a related sentence has at least, and one with all of them
_WIDE = frozenset({"path", "views", "causes", "impact", "chain", "themes", "compare", "rank", "history"})
_COMPARED = 6  # sentences about each side of a comparison
_SPELLINGS = 12  # of a name that are looked for
_LONGEST = 600  # characters of an answer that is no list
_LONG = 120  # characters from which only the clauses of a sentence are shown that hold words of the question
_REPEATED = 0.7  # share of the pairs of characters of a line that are shown already
_BUYS = "{0}的?(?:主要|核心|上游)?供应商|(?:向|给|客户(?:包括|为|是)?)[^，。；]{{0,16}}{0}"
_SELLS = "{0}(?:的(?:主要|下游)?客户|(?:已|正|主要)?(?:向|为|给)[^，。；]{{1,16}}(?:供应|供货|配套))"
_WHETHER = re.compile(r"(?P<verb>[是有会能])(?:不(?P=verb)|没(?P=verb))|是否")
_OPEN = re.compile(r"[什怎]么|多少|谁|哪|几[个家]|为何|还是")  # asks for more than yes or no
_NUMBERING = re.compile(r"^(?:[（(]?[一二三四五六七八九十\d.]+[)）、.．]\s*|\d+(?:\.\d+)*\s*(?=\D))+")
_CHANGED = re.compile(r"[增降跌涨升]|[同环]比|[（(＋+-]\s*$|[^\d]{12}")  # before a number that is no level
_JOINED = re.compile(r"\s*(?:和|与|跟|、|还是|相比|比|vs\.?|and|or)\s*")
_CLAUSE = re.compile(r"[^，,；;。]+[，,；;。]?")
_NUMBER = re.compile(r"\d[\d,.]*%?")
_VALUE = re.compile(
    r"(?<![\d.A-Za-z])(?P<number>-?\d[\d,]*(?:\.\d+)?)(?P<to>\s*[-~—–至]\s*\d)?"
    r"(?P<unit>\s*[^\d\s，,。；;（）()：:、|/＋+-]{0,5})"
)
_DIRECT = re.compile(rf"[\s（(:：约为达是]*{_VALUE.pattern}")


def ask(view: View | QuerySession, question: str) -> AskAnswer:
    """Answer a question; every line that claims something cites its evidence.

    A day set by the question (截至2025年8月) hides what was published later.
    """
    session = view if isinstance(view, QuerySession) else QuerySession(view)
    asked = understand(session, question, today(session))
    if is_about_filings(session, question):
        status, lines, passages = filing_lines(session, question)
        return _answer(session, asked, status, lines, passages=passages)
    if lexicon().elsewhere.search(question):
        return _answer(session, asked, "not_found", [])
    seen = session.view.as_of
    if asked.as_of is None or (seen is not None and seen <= asked.as_of):
        return _found(session, asked)
    earlier = replace(understand(session, question, asked.as_of), as_of=asked.as_of)
    answer = _found(session.earlier(asked.as_of), earlier)
    return answer if answer.status == "answered" or not asked.wants_value else _stated_later(session, asked) or answer


def _found(session: QuerySession, asked: Understood) -> AskAnswer:
    if asked.choices:
        return _answer(session, asked, "ambiguous", [AnswerLine(coded(each, session.lang)) for each in asked.choices])
    found = Retriever(session, asked).find()
    told, graph = composed(session, asked)
    lines = [line for line in told if line.citations or not line.indent]
    chosen = _chosen(session, asked, [each for each in found if each.may_answer])
    sides = _sides(session, asked) if asked.operation == "compare" else []
    if sides and len(lines[0].citations if lines else ()) < len(sides):  # the graph has no verdict
        verdict = _verdict(session, asked, sides)
        lines, chosen = verdict, [] if verdict else [*sides, *(each for each in chosen if each not in sides)]
    if any(line.citations for line in lines):
        plain = [each for each in chosen if each.decision >= ANSWERS]
        is_verdict = asked.operation == "compare" and len(lines[0].citations) > 1
        quoted = [] if is_verdict else list(_quoted(session, asked, plain, lines))
        shown = quoted[: max(_SHOWN_BESIDE if asked.wants_value else 0, _SHOWN - len(lines))]
        return _answer(session, asked, "answered", [*lines, *shown], graph=graph)
    if chosen:
        return _answer(session, asked, "answered", _judged(session, asked, list(_quoted(session, asked, chosen))))
    related = list(_quoted(session, asked, [each for each in found if each.fits and _is_related(each)]))
    return _answer(session, asked, "partial" if related else "not_found", [], passages=related)


def _chosen(session: QuerySession, asked: Understood, found: list[ScoredSentence]) -> list[ScoredSentence]:
    """Return the best sentence that answers and those hardly worse.

    One that states a cause comes first; a comparison of a measure needs numbers.
    """
    if asked.operation == "causes":
        found = [each for each in found if not _is_cause_only(asked, each)]
        found.sort(key=lambda each: each.decision < ANSWERS or not _states_a_cause(asked, each))
    elif asked.operation == "compare" and any(term.measure for term in asked.terms):
        found = [each for each in found if _NUMBER.search(each.text)]
    else:
        found = [each for each in found if not _is_turned(session, asked, each)]
    return _beside(found) if found and found[0].decision >= ANSWERS else []


def _judged(session: QuerySession, asked: Understood, lines: list[AnswerLine]) -> list[AnswerLine]:
    """Begin the answer to a question for yes or no with it, where a sentence states the one or the other."""
    claim = _claim(asked.question)
    if not claim:
        return lines
    spelled = {(name, term.entity) for term in asked.terms if term.entity for name in term.spellings}
    for line in lines:
        cited = line.citations[0]
        mentioned = {(each.text, each.entity) for each in session.view.mentions(cited.document) if each.entity}
        stated = states(claim, line.text, cited, names=KnownNames(spelled | mentioned))
        if stated is not None:
            text = word("ask.yes" if stated else "ask.no", session.lang) + word("colon", session.lang) + line.text
            return [replace(line, text=text), *(each for each in lines if each is not line)]
    return lines


def _claim(question: str) -> str:
    """Return what a question for yes or no asserts; nothing of any other question."""
    text = question.strip().rstrip("？?")
    if _OPEN.search(text) or not (_WHETHER.search(text) or text.endswith(("吗", "么"))):
        return ""
    return _WHETHER.sub(lambda match: match["verb"] or "", text.rstrip("吗么"))


def _stated_later(session: QuerySession, asked: Understood) -> AskAnswer | None:
    """Return the value of a day from what was published after it, where a sentence names that very day."""
    assert asked.as_of is not None
    period = asked.period or periods.day(asked.as_of)
    later = replace(asked, period=period, as_of=None)
    states = AskedPeriod(period, value=True).states
    found = Retriever(session, later).find()
    named = [each for each in found if each.may_answer and states(each.text, each.document.published_on)]
    if not named or named[0].decision < ANSWERS:
        return None
    return _answer(session, asked, "answered", list(_quoted(session, asked, named[:1])))


def _answer(
    session: QuerySession,
    asked: Understood,
    status: str,
    lines: Sequence[AnswerLine],
    *,
    graph: Subgraph | None = None,
    passages: Sequence[AnswerLine] = (),
) -> AskAnswer:
    lost = status == "not_found"
    days = [head.published_on for head in session.view.documents()] if lost else []
    named = "".join(term.word for term in asked.terms if term.name) or asked.question
    return AskAnswer(
        question=asked.question,
        status=status,
        understood=asked,
        topic="、".join(entity.name for entity in asked.entities[:3]),
        lines=tuple(lines),
        passages=tuple(passages),
        graph=graph or Subgraph(),
        as_of=session.view.as_of,
        near=tuple(near_names(session, named)) if lost else (),
        covered=(min(days), max(days)) if days else None,
    )


# ── sentences ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _beside(found: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """Return the best sentence and those hardly worse."""
    least = _BESIDE * found[0].decision
    return [found[0], *(each for each in found[1:] if each.probability >= _RELATED and each.decision >= least)]


def _is_turned(session: QuerySession, asked: Understood, sentence: ScoredSentence) -> bool:
    """Whether a sentence is about the other end of a supply: who sells to X where X's customers are asked for."""
    if asked.aspect is None or asked.aspect.relation not in session.words.of_role("supply") or len(asked.entities) != 1:
        return False
    spellings = next((term.spellings for term in asked.terms if term.entity == asked.entities[0].id), ())
    pattern = _BUYS if asked.aspect.subject else _SELLS
    text = f"{label_of(sentence)}：{sentence.text}"
    return any(re.search(pattern.format(re.escape(name)), text) for name in spellings)


def _is_related(sentence: ScoredSentence) -> bool:
    alike = sentence.probability >= _RELATED or sentence.decision >= _SIMILAR
    return sentence.score >= (_SHARED if alike else _ALL_SHARED)


def _states_a_cause(asked: Understood, sentence: ScoredSentence) -> bool:
    text = f"{label_of(sentence)}：{sentence.text}"
    return bool(causal_pairs(text)) or any(each in text for each in asked.states if len(each) > 1)


def _is_cause_only(asked: Understood, sentence: ScoredSentence) -> bool:
    """Whether a sentence states only what follows from the thing whose causes are asked for."""
    topic = [term for term in asked.terms if term.name or term.measure]
    pairs = causal_pairs(sentence.text) if topic else []
    causes = any(all(_holds(term, pair.cause) for term in topic) for pair in pairs)
    return causes and not any(all(_holds(term, pair.effect) for term in topic) for pair in pairs)


def _sides(session: QuerySession, asked: Understood) -> list[ScoredSentence]:
    """Return a sentence about each thing compared, each looked for by itself; nothing where one has none.

    Two values in one unit from one passage come first, then from one document, then of one period.
    """
    names = _named_together(asked)
    measures = [term for term in asked.terms if term.measure]
    if not names:
        return []
    first, second = (list(_about(session, asked, name, measures))[:_COMPARED] for name in names)
    pairs = [[one, other] for one in first for other in second]
    return min(pairs, key=lambda pair: _apart(asked, names, pair), default=[])


def _named_together(asked: Understood) -> tuple[QuestionTerm, ...]:
    """Return the two things that a question joins by a word: 比亚迪和吉利, 美国与中国."""
    text = asked.question.lower()
    placed = [
        (place, place + len(each), term)
        for term in asked.terms
        if not term.measure
        for each in sorted(term.spellings, key=len, reverse=True)[:_SPELLINGS]
        if (place := text.find(each.lower())) >= 0
    ]
    joined = ((one[2], other[2]) for one in placed for other in placed if _JOINED.fullmatch(text[one[1] : other[0]]))
    return next((pair for pair in joined if pair[0] != pair[1]), ())


def _apart(asked: Understood, names: Sequence[QuestionTerm], pair: Sequence[ScoredSentence]) -> tuple[bool, int]:
    """Return how little two sentences lend themselves to a comparison: no common unit, no common place."""
    one, other = pair
    far = 0 if one.chunk.id == other.chunk.id else 1 if one.document.id == other.document.id else 2
    return not _compared(asked, names, pair), far


def _verdict(session: QuerySession, asked: Understood, sides: Sequence[ScoredSentence]) -> list[AnswerLine]:
    """Say which of two sentences gives the higher value, or the lower one; nothing where they are not comparable."""
    names = _named_together(asked)
    values = _compared(asked, names, sides)
    if not values or (not asked.period and len({each.document.id for each in sides}) > 1):
        return []
    numbers = {name.word: number for name, (number, _) in zip(names, values, strict=True)}
    kind, best = ("less", min) if LEAST.search(asked.question) else ("more", max)
    values_text = word("comma", session.lang).join(
        f"{name} {number:.12g}{values[0][1]}" for name, number in numbers.items()
    )
    text = word(f"ask.{kind}", session.lang, more=best(numbers, key=lambda name: numbers[name]), values=values_text)
    cited = dict.fromkeys(each.citation(*passage(each, wide=False)) for each in sides)
    return [AnswerLine(text, tuple(cited), 1, source="text")]


def _compared(
    asked: Understood, names: Sequence[QuestionTerm], sides: Sequence[ScoredSentence]
) -> list[tuple[float, str]]:
    """Return the value of each name in its sentence, where all are in one unit and differ."""
    values = [_value_of(asked, name, names, side.text) for name, side in zip(names, sides, strict=True)]
    found = [value for value in values if value]
    apart = len({number for number, _ in found}) == len({unit for _, unit in found}) * len(names)
    return found if len(found) == len(names) and apart else []


def _value_of(
    asked: Understood, name: QuestionTerm, names: Sequence[QuestionTerm], text: str
) -> tuple[float, str] | None:
    """Return the value that a sentence gives of one name, with its unit: the first behind the measure and the year."""
    start = max((place + len(each) for each in name.spellings if (place := text.find(each)) >= 0), default=-1)
    if start < 0 or "分别" in text:
        return None
    others = [text.find(each, start) for other in names if other != name for each in other.spellings]
    said = _up_to_the_bracket(text[start : min((place for place in others if place >= 0), default=None)])
    measure = "|".join(re.escape(each) for term in asked.terms if term.measure for each in term.spellings)
    if not measure:
        return None
    stated = re.compile(rf"(?:{measure})(?![率比])")
    found = _DIRECT.match(said) if stated.search(text[:start]) else None  # 股息率：洋河股份 7.0%，泸州老窖 5.7%
    if found is None and (match := stated.search(said)):
        year = re.search("|".join(str(each.start.year) for each in asked.periods if each.start) or "$", said)
        behind = max(match.end(), year.end() if year and asked.periods else 0)
        found = _VALUE.search(said, behind)
        found = None if found and _CHANGED.search(said[behind : found.start()]) else found
    if found is None or found["to"]:
        return None
    return float(found["number"].replace(",", "")), "".join(found["unit"].split())


def _up_to_the_bracket(said: str) -> str:
    """Return what is said up to the end of the bracket that a name stands in."""
    depth = 0
    for place, letter in enumerate(said):
        depth += (letter in "（(") - (letter in "）)")
        if depth < 0:
            return said[:place]
    return said


def _about(
    session: QuerySession, asked: Understood, name: QuestionTerm, measures: Sequence[QuestionTerm]
) -> Iterator[ScoredSentence]:
    """Yield the sentences with a number, the measures and one name, best first."""
    others = {term for term in _named_together(asked) if term != name}
    kept = tuple(term for term in asked.terms if term not in others)
    for each in Retriever(session, replace(asked, terms=kept, wants_value=True)).best_by_words():
        held = all(_holds(term, each.text) for term in (name, *measures))
        if each.may_answer and held and _NUMBER.search(each.text):
            yield each


def _holds(term: QuestionTerm, text: str) -> bool:
    return any(spelling.lower() in text.lower() for spelling in term.spellings)


def _quoted(
    session: QuerySession, asked: Understood, found: Sequence[ScoredSentence], before: Sequence[AnswerLine] = ()
) -> Iterator[AnswerLine]:
    """Yield the sentences as lines, each only if it adds to those before it; the citation has what stands around it."""
    wide = asked.wants_list or asked.operation in _WIDE
    shown = "".join(citation.quote for line in before for citation in line.citations)
    houses: set[str] = set()
    left, rows = _LONGEST, _SHOWN_OF_A_LIST if wide else _SHOWN
    for sentence in found:
        start, end, quote = passage(sentence, wide=wide)
        own = sentence.text if sentence.is_row else passage(sentence, wide=False)[2]
        text = " ".join((_label(asked, sentence, own) + (own if asked.wants_list else _span(asked, own))).split())
        another = asked.operation == "views" and sentence.document.publisher not in houses
        if (_is_repeated(own, shown) and not another) or rows == 0 or (len(text) > left and not asked.wants_list):
            continue
        shown, left, rows = shown + own, left - len(text), rows - 1
        houses.add(sentence.document.publisher)
        if asked.operation == "views":
            day = noted(sentence.document.published_on, session.lang)
            text = f"{sentence.document.publisher}{day}{word('colon', session.lang)}{text}"
        yield AnswerLine(text, (sentence.citation(start, end, quote),), 1, source="text")


def _label(asked: Understood, sentence: ScoredSentence, own: str) -> str:
    """Return what a sentence stands under where it says what the sentence leaves open."""
    label = _NUMBERING.sub("", label_of(sentence))
    adds = any(_holds(term, label) and not _holds(term, own) for term in asked.terms)
    return f"{label}：" if label and (adds or sentence.is_row) and label not in own else ""


def _span(asked: Understood, text: str) -> str:
    """Return the clauses of a long sentence from the first to the last that hold words of the question or its value."""
    if len(text) <= _LONG:
        return text
    clauses = _CLAUSE.findall(text)
    held = [place for place, clause in enumerate(clauses) if any(_holds(term, clause) for term in asked.terms)]
    if not held:
        return text
    first, last = held[0], min(held[-1] + 1, len(clauses) - 1)  # what follows the last word may be its value
    return ("…" if first else "") + "".join(clauses[first : last + 1]) + ("…" if last + 1 < len(clauses) else "")


def _is_repeated(text: str, shown: str) -> bool:
    """Whether a text has neither a number nor much else that is not shown yet."""
    if any(number not in shown for number in _NUMBER.findall(text)):
        return False
    pairs = {text[at : at + 2] for at in range(len(text) - 1)}
    return bool(shown) and sum(pair in shown for pair in pairs) >= _REPEATED * len(pairs)
