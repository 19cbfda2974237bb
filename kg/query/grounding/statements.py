"""Take what may be cited apart: one statement for each sentence, with its clauses, names, dates and figures."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property
from typing import TYPE_CHECKING

import daachorse
import rjieba

from kg.kinds import kind_of
from kg.model import Kind, Modality, Polarity
from kg.query.grounding.quantities import dates_of, figures_of, folded, with_changes
from kg.query.grounding.words import claim_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg.query.answers import ContextItem
    from kg.query.grounding.quantities import DateSpan, FigureSpan

_NAMING = frozenset({Kind.COMPANY, Kind.INSTITUTION, Kind.PERSON, Kind.PRODUCT, Kind.REGION, Kind.INDUSTRY})
_PARTIES = frozenset({Kind.COMPANY, Kind.INSTITUTION, Kind.PERSON})
_COMMON = "vrdapcmtuq"  # first letters of tags of verbs, function words, numbers
_SHORTEST_NAME, _WHOLE = 2, 3  # a Chinese name of three characters is found inside words too
NO_DAY = date(2000, 1, 1)  # of an item without a citation
_MOST_STATEMENTS, _LONGEST = 200, 4000
_SHORT = 16  # characters of a sentence that goes on with what the one before it says
_SENTENCE_END = re.compile(r"[。！？!?；;|]+|(?<=[A-Za-z\d%)]{2})\.(?=\s|$)")
_CLAUSE = re.compile(r"但?(?:(?!但)[^,，:：→、]|(?<!\))、)+")
_PARAGRAPH = re.compile(r"[\n¶]+")
ABOVE = " ▸ "
_COLUMNS = 2
_MOST_LINES = 4  # under one header that are read as one sentence
_RULE = re.compile(r"[-: ]*")
_HEADER = re.compile(r"[\s\-•*#>\d.、()（）]{0,8}[^，。；：,;:|]{2,20}[：:]?")
_LABEL = re.compile(r"^[\s\-•*#>\d.、]{0,8}([^:,;。，；：|]{1,24})[:：]")


@dataclass(frozen=True)
class FoundName:
    """A name at `[start, end)`; a `party` is somebody who acts, other names are places or things and industries."""

    start: int
    end: int
    text: str
    ids: frozenset[str]
    party: bool

    @cached_property
    def group(self) -> str:
        """What may stand in its place: another party, place or thing."""
        if self.party:
            return "party"
        return "place" if any(kind_of(each) == Kind.REGION for each in self.ids) else "thing"


class KnownNames:
    """Finds names in folded sentences: those of companies, people, products, industries and regions.

    `names` are (name, entity id), usually all of a view.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        ids: dict[str, set[str]] = {}
        for name, entity in names:
            if len(name) >= _SHORTEST_NAME and kind_of(entity) in _NAMING and not name.isdecimal():
                ids.setdefault(folded(name) if " " in name else name.lower(), set()).add(entity)
        self._ids = {name: frozenset(found) for name, found in ids.items() if len(name) >= _SHORTEST_NAME}
        kind = daachorse.MATCH_KIND_LEFTMOST_LONGEST
        self._automaton = daachorse.CharwiseDoubleArrayAhoCorasick(list(self._ids), kind) if self._ids else None

    def within(self, text: str) -> tuple[FoundName, ...]:
        """Return the names of a folded text at word borders, the longest at each place."""
        if self._automaton is None:
            return ()
        borders: set[int] = set()
        found = []
        for start, end, _ in self._automaton.find(text):
            if not borders:
                borders = _borders(text)
            name = text[start:end]
            ids = self._ids[name]
            party = any(kind_of(each) in _PARTIES for each in ids)
            if not party and _is_common(name):
                continue
            if {start, end} <= borders or (party and len(name) >= _WHOLE and not name.isascii()):
                found.append(FoundName(start, end, name, ids, party))
        return tuple(found)


@cache
def _is_common(name: str) -> bool:
    """Whether a name is an ordinary verb or function word: 进口, 制造, 其他."""
    ((_, tag), *more) = rjieba.tag(name)
    return not more and tag[0] in _COMMON


def _borders(text: str) -> set[int]:
    borders, at = {0}, 0
    for word in rjieba.cut(text):
        at += len(word)
        borders.add(at)
    return borders


@dataclass(frozen=True)
class SourceStatement:
    """One sentence of a cited item.

    `subject` is what it inherits from its label or the sentence before it, `context` its title and headings, `house`
    who publishes it, `beside` the whole item. `modality` and `polarity` are those of the item's facts, "" where they
    do not agree or there are none. `before` is the sentence before a short one, whose words it leaves out. `quote` is
    the sentence as written, of the citation number `cited` of the item.
    """

    text: str
    context: str
    house: str
    subject: str
    beside: str
    day: date
    names_in: KnownNames
    modality: str = ""
    polarity: str = ""
    quote: str = ""
    cited: int = 0
    before: str = ""

    @cached_property
    def clauses(self) -> tuple[tuple[int, int], ...]:
        """Where its clauses begin and end."""
        return tuple(match.span() for match in _CLAUSE.finditer(self.text))

    @cached_property
    def names(self) -> tuple[FoundName, ...]:
        """The names in it."""
        return self.names_in.within(self.text)

    @cached_property
    def parties(self) -> tuple[FoundName, ...]:
        """Those who act in it, where they have Chinese names; Latin ones are words too often."""
        return tuple(name for name in self.names if name.party and not name.text.isascii())

    @cached_property
    def context_names(self) -> tuple[FoundName, ...]:
        """The names in its context."""
        return (*self.names_in.within(self.context), *self.names_in.within(self.subject))

    @cached_property
    def dates(self) -> tuple[DateSpan, ...]:
        """The dates in it."""
        return dates_of(self.text, self.day)

    @cached_property
    def context_dates(self) -> tuple[DateSpan, ...]:
        """The dates in its context."""
        return (*dates_of(self.context, self.day), *(() if self.dates else dates_of(self.subject, self.day)))

    @cached_property
    def owner(self) -> tuple[FoundName, ...]:
        """The parties that it is about where it does not name one: of its label, else of the sentence before."""
        return tuple(name for name in self.names_in.within(self.subject) if name.party)

    @cached_property
    def figures(self) -> tuple[FigureSpan, ...]:
        """The numbers in it."""
        return with_changes(self.text, figures_of(self.text, self.day))

    def clause_at(self, place: int) -> tuple[int, int]:
        """Return the clause around a place."""
        return next((span for span in self.clauses if span[0] <= place < span[1]), (0, len(self.text)))


def statements(item: ContextItem, names: KnownNames) -> tuple[SourceStatement, ...]:
    """Return the statements of an item: its sentences, and those of its quotes that it does not repeat."""
    found = dict.fromkeys(_of_item(item, names))
    return tuple(found)[:_MOST_STATEMENTS]


def _of_item(item: ContextItem, names: KnownNames) -> Iterator[SourceStatement]:
    first = item.citations[0] if item.citations else None
    house = f"{first.publisher} {first.speaker}" if first else ""
    day = first.published_on if first else NO_DAY
    modality = item.modality if item.modality != Modality.ASSERTED else ""
    titles = (*((first.title,) if first else ()), *filter(None, item.about.split(ABOVE)))
    plain = SourceStatement("", folded(" ".join(titles)), folded(house), "", folded(item.text[:_LONGEST]), day, names)
    for title in dict.fromkeys(titles):
        yield from _sentences(title, plain)
    yield from _sentences(item.text, replace(plain, modality=modality, polarity=item.polarity))
    for number, citation in enumerate(item.citations):
        if folded(citation.quote) not in plain.beside:
            title, house = folded(f"{citation.title} {item.about}"), folded(f"{citation.publisher} {citation.speaker}")
            denied = item.polarity if item.polarity == Polarity.NEGATIVE else ""
            above = replace(plain, context=title, house=house, day=citation.published_on, cited=number)
            yield from _sentences(citation.quote, replace(above, modality=modality, polarity=denied))


def _sentences(text: str, above: SourceStatement) -> Iterator[SourceStatement]:
    """Yield the statements of a text, each with what the ones before it in its paragraph are about."""
    title = above.context
    shown = list(_paragraphs(without_instructions(text[:_LONGEST])))
    for paragraph in (*shown, *_blocks(shown)):
        label = _LABEL.match(folded(paragraph))
        named = [label[1]] if label else []
        carried: dict[str, str] = {}
        before = ""
        for part in _SENTENCE_END.split(paragraph):
            sentence = folded(part).strip(" -*•#>")
            if not sentence or claim_words().instructs.search(sentence):
                continue
            starts = label is not None and not carried and sentence.startswith(label[1])
            short = before if len(sentence) <= _SHORT else ""
            statement = replace(above, text=sentence, quote=part.strip(" -*•#>"), before=short)
            before = sentence
            kept = [value for key, value in carried.items() if key != "thing" or not statement.names]
            statement = replace(statement, subject=" ".join([] if starts else [*named, *kept]))
            yield statement
            carried |= _carried(statement)
        if _HEADER.fullmatch(paragraph.strip()):
            above = replace(above, context=f"{title} {folded(paragraph)}")


def _blocks(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yield each header that ends in a colon with the short lines under it as one sentence: a purchase, its price."""
    header, lines = "", [""]
    for paragraph in (*paragraphs, ""):
        plain = paragraph.strip(" -*•#>\t")
        if not plain and paragraph:
            continue
        if _LABEL.match(folded(plain)) and not plain.endswith(("：", ":", "**")) and header:
            lines.append(plain)
            continue
        if 1 < len(lines) <= _MOST_LINES:
            yield f"{header}，" + "，".join(re.sub(r"[。；;]", "，", line) for line in lines).strip("，")
        header, lines = (plain.strip("：:* ") if plain.endswith(("：", ":", "**")) else ""), []


def _carried(statement: SourceStatement) -> dict[str, str]:
    """Return what the next sentence is about where it does not say so: party, thing and date of this one."""
    found = {"thing" if not name.party else "party": name.text for name in reversed(statement.names)}
    dates = [statement.text[each.start : each.end] for each in statement.dates if not each.base]
    return found | ({"date": dates[-1]} if dates else {})


def without_instructions(text: str) -> str:
    """Return a text without the sentences that instruct a model."""
    if not claim_words().instructs.search(text):
        return text
    parts = re.split(r"(?<=[。！？!?；;\n])", text)
    return "".join(part for part in parts if not claim_words().instructs.search(part))


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of a text; each row of a table with its heads, 2023A of the head becoming 2023A 4009.17."""
    heads: list[str] = []
    for line in _PARAGRAPH.split(text):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < _COLUMNS:
            heads = []
            yield line
        elif len(heads) != len(cells):
            heads = cells
            yield "，".join(cells)
        elif not _RULE.fullmatch("".join(cells)):
            named = "，".join(f"{head} {cell}" for head, cell in zip(heads[1:], cells[1:], strict=True))
            yield f"{cells[0]}（{heads[0]}）：{named}"
