"""Names that are nearly a name of the master: typing errors, homophones, pinyin initials. Proposed, never linked."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pypinyin import Style, lazy_pinyin
from rapidfuzz import fuzz, process

from kg.securities.likeness import Likeness, brand, is_short_form, likeness, without_form
from kg.securities.records import name_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

    from kg.securities.master import Master
    from kg.securities.records import Issuer, Name

_FORMS = re.compile(r"(?:股份|集团|控股|科技|有限公司|公司)+$")
_MARKED = re.compile(r"(?:\*ST|S\*ST|SST|ST|PT|S|退) ?(?P<core>[一-鿿]{2,3})")
_MAINLAND = frozenset({"SH", "SZ", "BJ"})
_INITIALS = re.compile(r"[a-z]{3,8}")
_INITIALS_SCORE = 0.9
_SHORTEST = 2
_FIRST_SIEVE = 200  # names kept by spelling and by sound before the two are weighed together


class Proposal(NamedTuple):
    """An issuer somebody may have meant, with the name that is near, how near it is (0 to 1) and in what way."""

    issuer: Issuer
    name: str
    score: float
    reason: str = "spelling_or_sound"


class NearNames:
    """All Chinese names of a master by spelling, sound and initials; the sounds are spelt out at the first question."""

    def __init__(self, master: Master) -> None:
        self._master = master

    def propose(self, text: str, day: date, *, limit: int = 5, cutoff: float = 0.75) -> list[Proposal]:
        """Issuers whose name on the day is near the text, the nearest first.

        Half of the score is the likeness of the characters, half that of the pinyin, both without legal forms
        (normalised indel similarity, as rapidfuzz computes it). `gzmt` finds 贵州茅台 by its initials.

        Args:
            text: what somebody wrote.
            day: only names in use on it are proposed.
            limit: proposals at most, one per issuer.
            cutoff: least score.
        """
        key = name_key(text)
        if _INITIALS.fullmatch(key):
            scored = [(name, _INITIALS_SCORE) for name in self._names if self._initials[name] == key]
        else:
            scored = self._weigh(key)
        best: dict[str, Proposal] = {}
        for name, score in sorted(scored, key=lambda each: (-each[1], each[0])):
            if score >= cutoff:
                for issuer in self._master.by_name(name, day):
                    best.setdefault(issuer.id, Proposal(issuer, name, round(score, 3)))
        return list(best.values())[:limit]

    def related(self, text: str, day: date, *, limit: int = 5) -> list[Proposal]:
        """Issuers that an unlisted company's name may be another name of, or of whose group it may be.

        Args:
            text: a company's name as written: `上海国际港务（集团）股份有限公司`.
            day: only names in use on it are proposed.
            limit: proposals at most, one per issuer.

        Returns:
            Proposals with the reasons of `kg.securities.likeness`, the likest first.
        """
        if marked := _MARKED.match(text):
            return self._marked(marked["core"], day, limit)
        bare = without_form(text)
        names = set(self._brands.get(brand(text), ())) | set(self._shortened(bare))
        scored = sorted(((likeness(text, name), name) for name in names), key=lambda each: (-each[0].score, each[1]))
        best: dict[str, Proposal] = {}
        for (score, reason), name in scored:
            if score > 0:
                for issuer in self._master.by_name(name, day):
                    best.setdefault(issuer.id, Proposal(issuer, name, score, reason))
        return list(best.values())[:limit]

    def _marked(self, core: str, day: date, limit: int) -> list[Proposal]:
        """Issuers a trading mark may stand for: of a marked name the exchange leaves two or three characters."""
        best: dict[str, Proposal] = {}
        for name in sorted(name for name in self._names if core in name):
            for issuer in self._master.by_name(name, day):
                if any(listing.exchange in _MAINLAND for listing in issuer.listings):
                    best.setdefault(issuer.id, Proposal(issuer, name, 0.7, "marked_name"))
        return list(best.values())[:limit]

    def compare(self, one: str, other: str, day: date) -> Likeness:
        """Whether two names are one issuer's, or may be one company's, by themselves or through an issuer's names.

        Returns:
            `same_issuer` where one issuer bears both; else the likeness of the nearest pair, score 0 where none is.
        """
        borne = [{issuer.id: issuer for issuer, _ in self._entries(name, day)} for name in (one, other)]
        if borne[0].keys() & borne[1].keys():
            return Likeness(1.0, "same_issuer")
        found = [likeness(one, other)]
        for name, issuers in ((one, borne[1]), (other, borne[0])):
            known = {each.text for issuer in issuers.values() for each in issuer.names}
            found += [likeness(name, text) for text in known]
        return max(found)

    def _entries(self, text: str, day: date) -> list[tuple[Issuer, Name]]:
        entries = self._master.entries(text)
        return [entry for entry in entries if not entry[1].is_future(day)] or entries

    def _shortened(self, bare: str) -> Iterator[str]:
        for other in (bare, brand(bare)):
            for known, name in self._openings.get(other[:1], ()):
                if is_short_form(bare, known) or is_short_form(known, other):
                    yield name

    @cached_property
    def _brands(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._names:
            found.setdefault(brand(name), []).append(name)
        return found

    @cached_property
    def _openings(self) -> dict[str, list[tuple[str, str]]]:
        """Names without their form by first character, the place in front counted and not."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name in self._names:
            for known in {without_form(name), brand(name)}:
                found.setdefault(known[:1], []).append((known, name))
        return found

    def _weigh(self, key: str) -> list[tuple[str, float]]:
        """Names near by characters or by sound, each with the mean of the two likenesses."""
        bare = _bare(key)
        if len(bare) < _SHORTEST:
            return []
        sound = _sound(bare)
        by_look = process.extract(bare, self._bare, scorer=fuzz.ratio, limit=_FIRST_SIEVE)
        by_sound = process.extract(sound, self._sounds, scorer=fuzz.ratio, limit=_FIRST_SIEVE)
        near = {name for _, _, name in (*by_look, *by_sound)}
        return [
            (name, (fuzz.ratio(bare, self._bare[name]) + fuzz.ratio(sound, self._sounds[name])) / 200) for name in near
        ]

    @cached_property
    def _names(self) -> list[str]:
        return list({key for text in self._master.all_names() if not (key := name_key(text)).isascii()})

    @cached_property
    def _bare(self) -> dict[str, str]:
        return {name: _bare(name) for name in self._names}

    @cached_property
    def _sounds(self) -> dict[str, str]:
        return {name: _sound(bare) for name, bare in self._bare.items()}

    @cached_property
    def _initials(self) -> dict[str, str]:
        return {name: "".join(lazy_pinyin(name, style=Style.FIRST_LETTER)) for name in self._names}


def _bare(key: str) -> str:
    """The name without its legal form, unless that is all there is."""
    bare = _FORMS.sub("", key)
    return bare if len(bare) >= _SHORTEST else key


def _sound(text: str) -> str:
    return " ".join(lazy_pinyin(text))
