"""Resolve names in a document to issuers as of its publication day: linked, ambiguous or unknown."""

from __future__ import annotations

import re
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

import daachorse
from msgspec import Struct
from msgspec.structs import replace

from kg.securities.context import ScannedText
from kg.securities.features import CONSIDERED, LINKED, MARGIN, MARKED, Case, cuts_longer_word, inside_longer_name, weigh
from kg.securities.finder import Hit, NameFinder
from kg.securities.records import Name, name_key
from kg.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from kg.securities.derived_names import Derived
    from kg.securities.master import Master
    from kg.securities.records import Issuer

Status = Literal["linked", "ambiguous", "unknown"]

_MARK_BEFORE = re.compile(r"(?:[*＊]ST|S\*ST|SST|ST|XD|XR|DR|N|(?<![A-Za-z0-9一-鿿])C|退市)$")
_MARK_AFTER = re.compile(r"-(?:SW|UW|UR|W|S|U|B|P|R)(?![A-Za-z])|[ABH]股|[（(][ABH]股[)）]")
_MARKED = re.compile(r"(?<![A-Za-z0-9])(?:(?P<mark>[*＊]ST|S\*ST|SST|ST|XD|XR|DR|N|C) ?|退市)(?P<core>[一-鿿]{2,4})")
_MARK = re.compile("S|X|D|N|C|退市")  # every match of _MARKED contains one of these
_CORES = {"*ST": (2, 3), "ST": (3, 2), "XD": (3,), "XR": (3,), "DR": (3,), "N": (4, 3, 2), "C": (4, 3, 2)}
_RETRY_REACH = 16  # characters after a rejected name that are searched for another one
_RELIABLE_KINDS = (None, "mild")


class ScoredIssuer(Struct, frozen=True):
    """A candidate issuer of a mention, with the feature values of its score."""

    entity_id: str
    code: str
    name: str
    score: float
    features: dict[str, float] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """The sum of the feature values, not clipped to [0, 1]."""
        return round(sum(self.features.values()), 3)


class Resolution(Struct, frozen=True):
    """A mention at text[start:end] and its resolution."""

    start: int
    end: int
    text: str
    status: Status
    entity_id: str | None
    code: str | None
    score: float
    candidates: tuple[ScoredIssuer, ...] = ()


class Resolver:
    """Resolves mentions in documents against a master."""

    def __init__(self, master: Master, *, finder: NameFinder | None = None) -> None:
        self._master = master
        self._finder = finder or NameFinder(master)

    def resolve(self, text: str, day: date, *, subject_codes: Iterable[str] = ()) -> list[Resolution]:
        """Return all mentions of listed issuers in a document.

        Args:
            text: the whole document; mentions support each other, so single sentences resolve worse.
            day: publication day; names are resolved as used on it.
            subject_codes: codes of the issuers that the document is about, in any spelling.

        Returns:
            Non-overlapping mentions, left to right, including codes without a name.
        """
        document = ScannedText(simplified(text), self._master, subjects=subject_codes)
        hits = self._hits(document)
        taught = document.taught_names(hits)
        hits = _with_taught(document.text, hits, taught)
        hits, marked = self._with_marked(document.text, hits, day)
        context = _DocumentContext(self._master, document, day, hits, taught, marked)
        found = [context.resolve(place) for place in range(len(hits))]
        found = [
            each for place, each in enumerate(found) if not _repeats(document, each, found[max(0, place - 2) : place])
        ]
        found = sorted([*found, *self._codes_without_name(document, found)], key=lambda each: each.start)
        if document.text == text:
            return found
        return [replace(each, text=text[each.start : each.end]) for each in found]

    def issuer(self, entity_id: str) -> Issuer | None:
        """Return the issuer with this id."""
        return self._master.issuer(entity_id)

    def registered(self, name: str, day: date) -> Derived | None:
        """Return the issuers of a registered name as of a day; None if it has no legal form."""
        return self._master.derived.registered(name, day)

    def _with_marked(
        self, text: str, hits: list[Hit], day: date
    ) -> tuple[list[Hit], dict[str, list[tuple[Issuer, Name]]]]:
        """Add the names that an exchange shortened after a mark (*ST高鸿, XD贵州茅), with their issuers by key."""
        marked: dict[str, list[tuple[Issuer, Name]]] = {}
        if not _MARK.search(text):
            return hits, marked
        ends = {hit.start: hit.end for hit in hits}
        taken = {place for hit in hits for place in range(hit.start, hit.end)}
        added: list[Hit] = []
        for match in _MARKED.finditer(text):
            mark, core = (match["mark"] or "退市").replace("＊", "*"), match["core"]
            for size in _CORES.get(mark, (2,)):
                end = match.start("core") + size
                free = ends.get(match.start("core"), 0)  # a shorter name that begins the core: 海尔 in XR海尔智
                if len(core) < size or free >= end or not taken.isdisjoint((match.start(), end - 1)):
                    continue
                if issuers := self._master.derived.marked(mark, core[:size], day):
                    name = Name(text[match.start() : end], source=MARKED)
                    added.append(Hit(match.start(), end, name_key(name.text)))
                    marked[name_key(name.text)] = [(issuer, name) for issuer in issuers]
                    break
        spans = [(each.start, each.end) for each in added]
        kept = [hit for hit in hits if not any(start <= hit.start < end for start, end in spans)]
        return sorted([*kept, *added]), marked

    def _hits(self, document: ScannedText) -> list[Hit]:
        """Return the names found; one that cuts a longer word may be replaced by a name that starts inside it."""
        hits: list[Hit] = []
        end = 0
        for hit in self._finder.find(document.text):
            if hit.start < end:
                continue
            if document.cuts_word(hit.start, hit.end) and (better := self._begins_inside(document, hit)):
                hit = better  # noqa: PLW2901 - deliberate replacement
            hits.append(hit)
            end = hit.end
        return hits

    def _begins_inside(self, document: ScannedText, hit: Hit) -> Hit | None:
        offset = hit.start + 1
        for start, end, key in self._finder.find(document.text[offset : hit.end + _RETRY_REACH]):
            if start + offset < hit.end < end + offset and not document.cuts_word(start + offset, end + offset):
                return Hit(start + offset, end + offset, key)
        return None

    def _codes_without_name(self, document: ScannedText, found: Sequence[Resolution]) -> list[Resolution]:
        """Return codes that do not belong to a mention."""
        if not document.codes:
            return []
        taken: set[int] = set()
        for mention in found:
            bracket = document.bracket_behind(mention.end)
            taken.update(range(mention.start, bracket.end if bracket else mention.end))
        mentions = []
        for start, end, code in document.codes:
            if start in taken:
                continue
            issuer = self._master.by_code(str(code))
            if issuer is None:
                mentions.append(Resolution(start, end, document.text[start:end], "unknown", None, str(code), 0.0))
                continue
            candidate = ScoredIssuer(issuer.id, issuer.code, issuer.name, 1.0, {"code_stated": 1.0})
            mentions.append(
                Resolution(start, end, document.text[start:end], "linked", issuer.id, str(code), 1.0, (candidate,))
            )
        return mentions


class _DocumentContext:
    """All hits of a document, with the context they give each other."""

    def __init__(
        self,
        master: Master,
        document: ScannedText,
        day: date,
        hits: Sequence[Hit],
        taught: dict[str, Issuer],
        marked: dict[str, list[tuple[Issuer, Name]]],
    ) -> None:
        self._master = master
        self._marked = marked
        self._document = document
        self._day = day
        self._hits = hits
        self._defined = taught
        self._entries = [self._current_entries(hit) for hit in hits]
        ends = [_widen(document.text, hit)[1] for hit in hits]
        self._brackets = [
            document.bracket_behind(end) or document.cell_beside(hit.start, end)
            for hit, end in zip(hits, ends, strict=True)
        ]
        self._reliable = [self._is_reliable(place) for place in range(len(hits))]
        self._named: dict[str, set[str]] = {}
        for place, hit in enumerate(hits):
            if self._reliable[place]:
                for issuer, _ in self._entries[place]:
                    self._named.setdefault(issuer.id, set()).add(hit.name_key)
        for entity_id in document.issuers_by_code():
            self._named.setdefault(entity_id, set()).add("")

    def resolve(self, place: int) -> Resolution:
        """Score every candidate issuer of the mention."""
        hit = self._hits[place]
        best: dict[str, ScoredIssuer] = {}
        for issuer, name in self._options(place):
            score, values = weigh(self._case(place, issuer, name))
            candidate = ScoredIssuer(issuer.id, issuer.code, issuer.name, score, values)
            if issuer.id not in best or candidate.weight > best[issuer.id].weight:
                best[issuer.id] = candidate
        # Rank by the unclipped sum: candidates with a clipped score of 1 may still differ widely.
        ranked = tuple(sorted(best.values(), key=lambda each: (-each.weight, each.entity_id)))
        start, end = _widen(self._document.text, hit)
        surface = self._document.text[start:end]
        if not ranked or ranked[0].score < CONSIDERED:
            return Resolution(start, end, surface, "unknown", None, None, ranked[0].score if ranked else 0.0, ranked)
        first, tie = ranked[0], len(ranked) > 1 and ranked[0].weight - ranked[1].weight < MARGIN
        if first.score < LINKED or tie:
            return Resolution(start, end, surface, "ambiguous", None, None, first.score, ranked)
        return Resolution(start, end, surface, "linked", first.entity_id, first.code, first.score, ranked)

    def _current_entries(self, hit: Hit) -> list[tuple[Issuer, Name]]:
        """Return the issuers that use the name on the day, or all issuers of the name if none does."""
        entries = self._entries_of(hit)
        return [entry for entry in entries if entry[1].is_live(self._day)] or list(entries)

    def _entries_of(self, hit: Hit) -> list[tuple[Issuer, Name]]:
        return self._marked.get(hit.name_key) or self._master.entries(hit.name_key)

    def _is_reliable(self, place: int) -> bool:
        """Whether a mention can support others: one issuer, no future name, no common word, no longer name."""
        hit, entries = self._hits[place], self._entries[place]
        if len({issuer.id for issuer, _ in entries}) != 1 or entries[0][1].is_future(self._day):
            return False
        if self._master.word_kind(hit.name_key) not in _RELIABLE_KINDS:
            return False
        issuer, name = entries[0]
        case = self._case(place, issuer, name, alone=True)
        return min(cuts_longer_word(case), inside_longer_name(case)) > -LINKED / 2

    def _options(self, place: int) -> list[tuple[Issuer, Name | None]]:
        """Return the issuers of the name, of the following code and of a short form defined in the document."""
        hit, bracket = self._hits[place], self._brackets[place]
        options: list[tuple[Issuer, Name | None]] = list(self._entries_of(hit))
        known = {issuer.id for issuer, _ in options}
        # SK海力士（000660）: a bare number belongs to the preceding name, although it is also a mainland code.
        others: list[Issuer | None] = []
        if bracket and not any(self._case(place, issuer, name, alone=True).code_fits for issuer, name in options):
            others += [self._master.by_code(str(code)) for code in bracket.codes]
        others.append(self._defined.get(hit.name_key))
        options += [(issuer, None) for issuer in others if issuer is not None and issuer.id not in known]
        return options

    def _case(self, place: int, issuer: Issuer, name: Name | None, *, alone: bool = False) -> Case:
        hit = self._hits[place]
        taught = self._defined.get(hit.name_key)
        return Case(
            document=self._document,
            start=hit.start,
            end=hit.end,
            issuer=issuer,
            name=name,
            day=self._day,
            word_kind=self._master.word_kind(hit.name_key),
            bracket=self._brackets[place],
            taught=taught is not None and taught.id == issuer.id,
            elsewhere=not alone and bool(self._named.get(issuer.id, set()) - {hit.name_key}),
            company_neighbours=0 if alone else self._company_neighbours(place),
            shared_with_mainland=any(
                other.id != issuer.id and other.code.endswith((".SH", ".SZ", ".BJ"))
                for other, _ in self._entries[place]
            ),
        )

    def _company_neighbours(self, place: int) -> int:
        """Count the adjacent names (0 to 2) that are in the same list and clearly companies."""
        count = 0
        for left, right in ((place - 1, place), (place, place + 1)):
            other = left if right == place else right
            if left >= 0 and right < len(self._hits) and self._reliable[other]:
                count += self._document.are_enumerated(self._hits[left].end, self._hits[right].start)
        return count


def _repeats(document: ScannedText, mention: Resolution, others: Sequence[Resolution]) -> bool:
    """Whether the mention is the bracketed ticker of another mention of the same issuer (英伟达（NVDA）)."""
    for other in others:
        if other.entity_id is not None and other.entity_id == mention.entity_id and other.end < mention.start:
            bracket = document.bracket_behind(other.end)
            if bracket and mention.end < bracket.end and mention.text in bracket.bare:
                return True
    return False


def _with_taught(text: str, hits: list[Hit], taught: dict[str, Issuer]) -> list[Hit]:
    """Add short forms defined in the document where no name of the master was found."""
    if not taught:
        return hits
    taken = {place for hit in hits for place in range(hit.start, hit.end)}
    added = []
    shorts = list(taught)
    lower = text.lower()
    automaton = daachorse.CharwiseDoubleArrayAhoCorasick(shorts)  # a text may define thousands
    places = automaton.find_overlapping(lower if len(lower) == len(text) else text)
    for start, end, index in sorted(places, key=itemgetter(2, 0)):
        if start not in taken and end - 1 not in taken:
            added.append(Hit(start, end, name_key(shorts[index])))
            taken.update(range(start, end))
    return sorted([*hits, *added])


def _widen(text: str, hit: Hit) -> tuple[int, int]:
    """Return the span of the mention including trading marks (*ST, XD) and share class (-W)."""
    before = _MARK_BEFORE.search(text, max(0, hit.start - 4), hit.start)
    if text[hit.start : hit.start + 2] == "ST" and text[hit.start - 1 : hit.start] == "*":
        return hit.start - 1, hit.end
    behind = _MARK_AFTER.match(text, hit.end)
    return before.start() if before else hit.start, behind.end() if behind else hit.end
