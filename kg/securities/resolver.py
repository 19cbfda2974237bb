"""From names in a document to issuers, as of the document's day: linked, ambiguous or unknown, never guessed."""

from __future__ import annotations

import re
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

import daachorse
from msgspec import Struct
from msgspec.structs import replace

from kg.securities.context import ScannedText
from kg.securities.features import CONSIDERED, LINKED, MARGIN, Case, cuts_longer_word, inside_longer_name, weigh
from kg.securities.finder import Hit, NameFinder
from kg.securities.records import name_key
from kg.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from kg.securities.master import Master
    from kg.securities.records import Issuer, Name

Status = Literal["linked", "ambiguous", "unknown"]

_MARK_BEFORE = re.compile(r"(?:\*ST|S\*ST|SST|ST|XD|XR|DR|N)$")
_MARK_BEHIND = re.compile(r"-(?:SW|UW|UR|W|S|U|B|P|R)(?![A-Za-z])")
_RETRY_REACH = 16  # characters behind a refused name in which another one may begin
_SURE_KINDS = (None, "mild")


class ScoredIssuer(Struct, frozen=True):
    """An issuer a mention may be, with the shares its score is made of."""

    entity_id: str
    code: str
    name: str
    score: float
    features: dict[str, float] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """The sum of the shares, not cut to [0, 1]."""
        return round(sum(self.features.values()), 3)


class Resolution(Struct, frozen=True):
    """A mention at text[start:end] and what was made of it."""

    start: int
    end: int
    text: str
    status: Status
    entity_id: str | None
    code: str | None
    score: float
    candidates: tuple[ScoredIssuer, ...] = ()


class Resolver:
    """Resolves documents against one master."""

    def __init__(self, master: Master, *, finder: NameFinder | None = None) -> None:
        self._master = master
        self._finder = finder or NameFinder(master)

    def resolve(self, text: str, day: date, *, subject_codes: Iterable[str] = ()) -> list[Resolution]:
        """All mentions of listed issuers in a document.

        Args:
            text: the whole document; mentions help each other, so a sentence alone resolves worse.
            day: publication day; names are read as they were borne on it.
            subject_codes: codes of the issuers the document is about, in any spelling.

        Returns:
            Mentions left to right, without overlaps. Codes that stand alone are mentions too.
        """
        document = ScannedText(simplified(text), self._master, subjects=subject_codes)
        hits = self._hits(document)
        taught = document.taught_names(hits)
        hits = _with_taught(document.text, hits, taught)
        reading = _Reading(self._master, document, day, hits, taught)
        found = [reading.resolve(place) for place in range(len(hits))]
        found = [
            each for place, each in enumerate(found) if not _repeats(document, each, found[max(0, place - 2) : place])
        ]
        found = sorted([*found, *self._lone_codes(document, found)], key=lambda each: each.start)
        if document.text == text:
            return found
        return [replace(each, text=text[each.start : each.end]) for each in found]

    def issuer(self, entity_id: str) -> Issuer | None:
        """The issuer with this id."""
        return self._master.issuer(entity_id)

    def _hits(self, document: ScannedText) -> list[Hit]:
        """Names as found; where one cuts a longer word, a name that begins inside it gets its chance."""
        hits: list[Hit] = []
        end = 0
        for hit in self._finder.find(document.text):
            if hit.start < end:
                continue
            if document.cuts_word(hit.start, hit.end) and (better := self._begins_inside(document, hit)):
                hit = better  # noqa: PLW2901 - the one place where the found name is exchanged
            hits.append(hit)
            end = hit.end
        return hits

    def _begins_inside(self, document: ScannedText, hit: Hit) -> Hit | None:
        offset = hit.start + 1
        for start, end, key in self._finder.find(document.text[offset : hit.end + _RETRY_REACH]):
            if start + offset < hit.end < end + offset and not document.cuts_word(start + offset, end + offset):
                return Hit(start + offset, end + offset, key)
        return None

    def _lone_codes(self, document: ScannedText, found: Sequence[Resolution]) -> list[Resolution]:
        """Codes that no mention stands in front of or holds."""
        if not document.codes:
            return []
        taken: set[int] = set()
        for mention in found:
            bracket = document.bracket_behind(mention.end)
            taken.update(range(mention.start, bracket.end if bracket else mention.end))
        lone = []
        for start, end, code in document.codes:
            if start in taken:
                continue
            issuer = self._master.by_code(str(code))
            if issuer is None:
                lone.append(Resolution(start, end, document.text[start:end], "unknown", None, str(code), 0.0))
                continue
            candidate = ScoredIssuer(issuer.id, issuer.code, issuer.name, 1.0, {"code_stated": 1.0})
            lone.append(
                Resolution(start, end, document.text[start:end], "linked", issuer.id, str(code), 1.0, (candidate,))
            )
        return lone


class _Reading:
    """One document's hits seen together: who is surely named, who stands in a row with whom."""

    def __init__(
        self, master: Master, document: ScannedText, day: date, hits: Sequence[Hit], taught: dict[str, Issuer]
    ) -> None:
        self._master = master
        self._document = document
        self._day = day
        self._hits = hits
        self._taught = taught
        self._entries = [self._borne(hit) for hit in hits]
        self._brackets = [document.bracket_behind(hit.end) or document.cell_beside(hit.start, hit.end) for hit in hits]
        self._sure = [self._is_sure(place) for place in range(len(hits))]
        self._named: dict[str, set[str]] = {}
        for place, hit in enumerate(hits):
            if self._sure[place]:
                for issuer, _ in self._entries[place]:
                    self._named.setdefault(issuer.id, set()).add(hit.name_key)
        for entity_id in document.issuers_by_code():
            self._named.setdefault(entity_id, set()).add("")

    def resolve(self, place: int) -> Resolution:
        """Weigh every issuer the mention may be."""
        hit = self._hits[place]
        best: dict[str, ScoredIssuer] = {}
        for issuer, name in self._options(place):
            score, shares = weigh(self._case(place, issuer, name))
            candidate = ScoredIssuer(issuer.id, issuer.code, issuer.name, score, shares)
            if issuer.id not in best or candidate.weight > best[issuer.id].weight:
                best[issuer.id] = candidate
        # Ranked by the uncut sum: two candidates that both reach 1 may still lie far apart.
        ranked = tuple(sorted(best.values(), key=lambda each: (-each.weight, each.entity_id)))
        start, end = _widen(self._document.text, hit)
        surface = self._document.text[start:end]
        if not ranked or ranked[0].score < CONSIDERED:
            return Resolution(start, end, surface, "unknown", None, None, ranked[0].score if ranked else 0.0, ranked)
        first, tie = ranked[0], len(ranked) > 1 and ranked[0].weight - ranked[1].weight < MARGIN
        if first.score < LINKED or tie:
            return Resolution(start, end, surface, "ambiguous", None, None, first.score, ranked)
        return Resolution(start, end, surface, "linked", first.entity_id, first.code, first.score, ranked)

    def _borne(self, hit: Hit) -> list[tuple[Issuer, Name]]:
        """Issuers of the name; those whose name is yet to come count only where nobody bears it on the day."""
        entries = self._master.entries(hit.name_key)
        return [entry for entry in entries if entry[1].is_live(self._day)] or list(entries)

    def _is_sure(self, place: int) -> bool:
        """A mention fit to speak for others: one issuer, a live name that is no word, no longer name around it."""
        hit, entries = self._hits[place], self._entries[place]
        if len({issuer.id for issuer, _ in entries}) != 1 or entries[0][1].is_future(self._day):
            return False
        if self._master.word_kind(hit.name_key) not in _SURE_KINDS:
            return False
        issuer, name = entries[0]
        case = self._case(place, issuer, name, alone=True)
        return min(cuts_longer_word(case), inside_longer_name(case)) > -LINKED / 2

    def _options(self, place: int) -> list[tuple[Issuer, Name | None]]:
        """The issuers of the name, of the code behind it and of the document's own short form."""
        hit, bracket = self._hits[place], self._brackets[place]
        options: list[tuple[Issuer, Name | None]] = list(self._master.entries(hit.name_key))
        known = {issuer.id for issuer, _ in options}
        # SK海力士（000660）: a bare number is read with the name before it, not as the mainland code it also is.
        others: list[Issuer | None] = []
        if bracket and not any(self._case(place, issuer, name, alone=True).code_fits for issuer, name in options):
            others += [self._master.by_code(str(code)) for code in bracket.codes]
        others.append(self._taught.get(hit.name_key))
        options += [(issuer, None) for issuer in others if issuer is not None and issuer.id not in known]
        return options

    def _case(self, place: int, issuer: Issuer, name: Name | None, *, alone: bool = False) -> Case:
        hit = self._hits[place]
        taught = self._taught.get(hit.name_key)
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
        """How many of the two names beside it stand in one list with it and are surely companies."""
        count = 0
        for left, right in ((place - 1, place), (place, place + 1)):
            other = left if right == place else right
            if left >= 0 and right < len(self._hits) and self._sure[other]:
                count += self._document.are_enumerated(self._hits[left].end, self._hits[right].start)
        return count


def _repeats(document: ScannedText, mention: Resolution, others: Sequence[Resolution]) -> bool:
    """Whether the mention is only the ticker in the bracket of another mention of the same issuer (英伟达（NVDA）)."""
    for other in others:
        if other.entity_id is not None and other.entity_id == mention.entity_id and other.end < mention.start:
            bracket = document.bracket_behind(other.end)
            if bracket and mention.end < bracket.end and mention.text in bracket.bare:
                return True
    return False


def _with_taught(text: str, hits: list[Hit], taught: dict[str, Issuer]) -> list[Hit]:
    """Add the document's own short forms where no name of the master was found."""
    if not taught:
        return hits
    taken = {place for hit in hits for place in range(hit.start, hit.end)}
    added = []
    shorts = list(taught)
    small = text.lower()
    automaton = daachorse.CharwiseDoubleArrayAhoCorasick(shorts)  # a text may teach thousands
    places = automaton.find_overlapping(small if len(small) == len(text) else text)
    for start, end, index in sorted(places, key=itemgetter(2, 0)):
        if start not in taken and end - 1 not in taken:
            added.append(Hit(start, end, name_key(shorts[index])))
            taken.update(range(start, end))
    return sorted([*hits, *added])


def _widen(text: str, hit: Hit) -> tuple[int, int]:
    """The mention with its trading marks (*ST, XD) and share class (-W)."""
    before = _MARK_BEFORE.search(text, max(0, hit.start - 4), hit.start)
    if text[hit.start : hit.start + 2] == "ST" and text[hit.start - 1 : hit.start] == "*":
        return hit.start - 1, hit.end
    behind = _MARK_BEHIND.match(text, hit.end)
    return before.start() if before else hit.start, behind.end() if behind else hit.end
