"""Check that a sentence says only what its sources say, clause by clause.

A clause needs one statement, which is a sentence of one cited item, that supports all of it (support.py). Words of the
question are no support, and several cited items are not read as one text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rjieba

from kg.query.answers import ContextItem
from kg.query.ask.lexicon import lexicon
from kg.query.grounding.causes import exchanged
from kg.query.grounding.claims import ClauseClaim, denies, named_in, words_of
from kg.query.grounding.placing import fits
from kg.query.grounding.quantities import dates_of, figures_of, folded
from kg.query.grounding.statements import NO_DAY, KnownNames, statements
from kg.query.grounding.support import best_support
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from kg.query.answers import Citation
    from kg.query.grounding.quantities import DateSpan
    from kg.query.grounding.statements import FoundName, SourceStatement

__all__ = ["KnownNames", "SentenceCheck", "SentenceVerdict", "faults"]

_CLAUSE = re.compile(r"(?:[^,，;；:：。]|(?<=\d)[,，](?=\d{3}))+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_CAPITAL = re.compile(r"\b[A-Za-z]*[A-Z][A-Za-z]*[A-Z][A-Za-z]*\b")
_LISTED = re.compile(r"[、和及与]|以及")
_MEASURE = re.compile(
    r"[率量额价比数金]$|收入|营收|利润|净利|成本|费用|规模|增速|市值|估值|产能|业绩|毛利|订单|装机|库存|排名|份额|涨幅|跌幅|同比|环比"
)
_THEN = re.compile(r"(?<![原规准否细法守])则(?=[以在计拟将为是已被由从])")  # 高通则以24亿美元
_LETTER = re.compile(r"[A-Za-z]")
_SHORTEST = 2
_COPIED = 4  # characters of a quote


@dataclass(frozen=True, slots=True)
class SentenceVerdict:
    """Why a sentence is not supported (nothing if it is), and by which (item id, statement) its clauses are."""

    faults: tuple[str, ...]
    sources: tuple[tuple[str, SourceStatement], ...] = ()


def faults(sentence: str, cited: Sequence[ContextItem], names: KnownNames, *, question: str = "") -> list[str]:
    """Return why the cited items do not support a sentence; none if they do.

    Args:
        sentence: without its citations.
        cited: the items it cites.
        names: the names of the base.
        question: a sentence may deny what it asserts.
    """
    check = SentenceCheck(cited, names, question=question)
    return list(check.verdict(sentence, list(dict.fromkeys(item.id for item in cited))).faults)


def states(claim: str, sentence: str, above: Citation, *, names: KnownNames) -> bool | None:
    """Return whether a sentence states a claim in its words; None where it does neither that nor denies one of them.

    Args:
        claim: without a mark at its end.
        sentence: the sentence.
        above: where it stands; its title is read with it.
        names: the names of claim and sentence.
    """
    said, own = folded(sentence), folded(claim)
    asserted = [word for word in rjieba.cut(own) if len(word) > 1 and word not in lexicon().empty]
    undated = [word for word in asserted if not any(letter.isdecimal() for letter in word)]
    if not undated or not all(word in said for word in undated):
        return None
    if any(re.search(rf"(?:不|未|没有?|并非|无需?){re.escape(word)}", said) for word in undated if word in own):
        return False
    if denies(said) or any(pattern.search(said) for pattern in claim_words().certainty.values()):
        return None
    item = ContextItem("S1", "passage", sentence, (above,), (), "", "", 1.0, 0)
    return None if SentenceCheck([item], names).verdict(claim, [item.id]).faults else True


class SentenceCheck:
    """Checks the sentences of one reply against the items that it was written from."""

    def __init__(self, items: Iterable[ContextItem], names: KnownNames, *, question: str = "") -> None:
        self._names, self._question = names, folded(question)
        self._items: dict[str, tuple[SourceStatement, ...]] = {}
        for item in items:
            self._items[item.id] = (*self._items.get(item.id, ()), *statements(item, names))

    def verdict(self, sentence: str, cites: Sequence[str]) -> SentenceVerdict:
        """Judge a sentence by the items it cites; one that says that something is absent needs none."""
        plain = _THEN.sub("", folded(sentence))
        cited = [(cite, each) for cite in cites for each in self._items.get(cite, ())]
        everything = [(cite, each) for cite, found in self._items.items() for each in found]
        day = next((each.day for _, each in (*cited, *everything)), NO_DAY)
        claims = list(self._claims(sentence, plain, day))
        if claim_words().absent.search(plain) and not claims:
            return SentenceVerdict(tuple(self._absent(plain, everything, day)))
        if not cites:
            return SentenceVerdict(("no citation",))
        wrong: list[str] = []
        sources: list[tuple[str, SourceStatement]] = []
        for claim in claims:
            found, source = best_support(claim, plain, cited)
            if found and self._corrects(claim, day):
                continue
            wrong += found
            sources += [source] if source else []
        wrong += ["cause and effect"] if exchanged(plain, [each for _, each in cited]) else []
        checkable = any(
            claim.figures or claim.names or (claim.words if claim.chinese else claim_words().same.keys() & claim.words)
            for claim in claims
        )
        latin = {word.lower() for word in _CAPITAL.findall(sentence)}  # TSMC and GaN in a Chinese source
        checkable = checkable or any(word in statement.text for _, statement in sources for word in latin)
        if not wrong and not (checkable and sources):
            wrong = ["nothing that can be checked"]
        return SentenceVerdict(tuple(dict.fromkeys(wrong)), tuple(dict.fromkeys(sources)))

    def sources_of(self, quote: str, cites: Sequence[str]) -> tuple[tuple[str, SourceStatement], ...]:
        """Return the statements of cited items that words were copied from, with their items; none if one lacks."""
        parts = [part for part in re.split(r"[。！？!?；;]", folded(quote)) if len(part) >= _COPIED]
        cited = [(cite, each) for cite in cites for each in self._items.get(cite, ())]
        found = [next(((cite, each) for cite, each in cited if part in each.text), None) for part in parts]
        return tuple(each for each in found if each) if all(found) else ()

    def has_parts(self, sentence: str, cites: Sequence[str]) -> bool:
        """Whether the cited items have each number of a sentence, moving the same way, and each party it names."""
        cited = [each for cite in cites for each in self._items.get(cite, ())]
        day = next((each.day for each in cited), NO_DAY)
        claims = list(self._claims(sentence, folded(sentence), day))
        figures = {figure for claim in claims for figure in claim.figures if figure.unit or figure.factor != 1}
        parties = {name for claim in claims for name in claim.names if name.party}
        return all(any(fits(each, other, one) for one in cited for other in one.figures) for each in figures) and all(
            any(named_in(f"{one.context} {one.house} {one.beside}", each, one) for one in cited) for each in parties
        )

    def _claims(self, sentence: str, plain: str, day: date) -> Iterator[ClauseClaim]:
        """Yield the clauses that claim something; each takes over what the one before it is about."""
        chinese = is_chinese(sentence)
        names: tuple[FoundName, ...] = ()
        dates: tuple[DateSpan, ...] = ()
        words: tuple[str, ...] = ()
        for clause, end in _clauses(plain, self._names, day):
            if len(clause) < _SHORTEST or claim_words().absent.search(clause):
                continue
            own_names = tuple(
                name for name in self._names.within(clause) if chinese or _is_capital(name.text, sentence)
            )
            within = [range(name.start, name.end) for name in own_names]  # 300 of 沪深300 is no figure
            figures = tuple(each for each in figures_of(clause, day) if not any(each.start in name for name in within))
            own_dates = dates_of(clause, day)
            own_words = words_of(clause, (*own_names, *own_dates, *figures))
            if not (figures or own_dates or own_names or own_words):
                continue
            found = {"names": own_names, "dates": own_dates, "words": own_words}
            inherited = frozenset(name for name, own in found.items() if not own)
            if own_words and _has_own_subject(clause, own_words[0]):
                names, dates = (), ()
            names, dates, words = own_names or names, own_dates or dates, own_words or words
            yield ClauseClaim(clause, plain[:end], names, dates, figures, words, inherited, chinese)

    def _absent(self, plain: str, everything: Sequence[tuple[str, SourceStatement]], day: date) -> list[str]:
        """Return the figures of a sentence on something absent that neither question nor material has."""
        known = {figure.value for figure in figures_of(self._question, day)}
        known |= {figure.value for _, each in everything for figure in each.figures}
        own = [each for each in figures_of(plain, day) if each.value not in known]
        return [f"number {plain[each.start : each.end]}" for each in own]

    def _corrects(self, claim: ClauseClaim, day: date) -> bool:
        """Whether a clause denies what the question asserts: 不是120亿元."""
        asked = {figure.value for figure in figures_of(self._question, day)}
        return denies(claim.text) and bool(claim.figures) and asked.issuperset(each.value for each in claim.figures)


def _clauses(plain: str, names: KnownNames, day: date) -> Iterator[tuple[str, int]]:
    """Yield clauses with where they end; 甲和乙分别增长1%和2% as 甲增长1% and 乙增长2%."""
    for match in _CLAUSE.finditer(plain):
        clause = match[0].strip()
        for each in _each_of(clause, names, day) or [clause]:
            yield each, match.end()


def _each_of(clause: str, names: KnownNames, day: date) -> list[str]:
    """Return the clauses that 分别 or 、 joins, none where none does."""
    marked = clause.find("分别")
    if marked < 0:
        parts = clause.split("、")
        return parts if len(parts) > 1 and all(_is_measured(part, day) for part in parts) else []
    figures = [each for each in figures_of(clause, day) if each.start > marked > 0]
    heads = [(each.start, each.end) for each in names.within(clause[: max(marked, 0)])]
    run = [heads[0]] if heads else []
    for head in heads[1:]:
        if not _LISTED.fullmatch(clause[run[-1][1] : head[0]]):
            break
        run.append(head)
    if not 1 < len(run) == len(figures):
        return []
    before, between = clause[: run[0][0]], clause[run[-1][1] : marked]
    verb = clause[marked + len("分别") : figures[0].start]
    written = [clause[figure.start : figure.end] for figure in figures]
    return [f"{before}{clause[slice(*head)]}{between}{verb}{own}" for head, own in zip(run, written, strict=True)]


def _is_measured(part: str, day: date) -> bool:
    """Whether a part of a clause has a number in its unit and words of its own: 上证指数涨2.9%."""
    figures = figures_of(part, day)
    return any(each.unit for each in figures) and bool(words_of(part, (*figures, *dates_of(part, day))))


def _has_own_subject(clause: str, word: str) -> bool:
    """Whether a clause begins with something that is no measure: 口岸进口1185万吨, not 毛利率提升."""
    return clause.startswith(word) and not _MEASURE.search(word) and rjieba.tag(word)[0][1][0] == "n"


def is_chinese(sentence: str) -> bool:
    """Whether a sentence is Chinese; an English one may have Chinese names."""
    return 2 * len(_CHINESE.findall(sentence)) >= len(_LETTER.findall(sentence))


def _is_capital(name: str, sentence: str) -> bool:
    """Whether an English sentence writes a name with a capital: no margin is the company Margin."""
    found = re.search(re.escape(name), sentence, re.IGNORECASE)
    return found is None or found[0][:1].isupper() or found[0][:1].isdigit()
