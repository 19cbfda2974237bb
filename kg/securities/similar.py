"""Propose issuers with similar names (typing errors, homophones, pinyin initials); never used for linking."""

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
_PRESELECTION = 200  # names kept by spelling and by sound before the combined score


class Proposal(NamedTuple):
    """A proposed issuer with the similar name, the similarity (0 to 1) and the reason."""

    issuer: Issuer
    name: str
    score: float
    reason: str = "spelling_or_sound"


class NearNames:
    """Index of all Chinese names of a master by spelling, pinyin and initials; pinyin is computed on first use."""

    def __init__(self, master: Master) -> None:
        self._master = master

    def propose(self, text: str, day: date, *, limit: int = 5, cutoff: float = 0.75) -> list[Proposal]:
        """Return issuers whose name on the day is similar to the text, best first.

        The score is the mean of character and pinyin similarity, both without legal forms (normalised indel
        similarity, computed by rapidfuzz). `gzmt` finds 贵州茅台 by its initials.

        Args:
            text: user input.
            day: only names in use on it are proposed.
            limit: proposals at most, one per issuer.
            cutoff: minimum score.
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
        """Return issuers that may be the same company as an unlisted one, or belong to the same group.

        Args:
            text: a company's name as written: `上海国际港务（集团）股份有限公司`.
            day: only names in use on it are proposed.
            limit: proposals at most, one per issuer.

        Returns:
            Proposals with the reasons of `kg.securities.likeness`, best first.
        """
        if marked := _MARKED.match(text):
            return self._marked(marked["core"], day, limit)
        bare = without_form(text)
        names = set(self._brands.get(brand(text), ())) | set(self._short_or_long_forms(bare))
        scored = sorted(((likeness(text, name), name) for name in names), key=lambda each: (-each[0].score, each[1]))
        best: dict[str, Proposal] = {}
        for (score, reason), name in scored:
            if score > 0:
                for issuer in self._master.by_name(name, day):
                    best.setdefault(issuer.id, Proposal(issuer, name, score, reason))
        return list(best.values())[:limit]

    def _marked(self, core: str, day: date, limit: int) -> list[Proposal]:
        """Return mainland issuers for a marked name, which the exchange truncates to two or three characters."""
        best: dict[str, Proposal] = {}
        for name in sorted(name for name in self._names if core in name):
            for issuer in self._master.by_name(name, day):
                if any(listing.exchange in _MAINLAND for listing in issuer.listings):
                    best.setdefault(issuer.id, Proposal(issuer, name, 0.7, "marked_name"))
        return list(best.values())[:limit]

    def compare(self, one: str, other: str, day: date) -> Likeness:
        """Compare two names directly and through the known names of their issuers.

        Returns:
            `same_issuer` if one issuer has both names; else the highest likeness, with score 0 if there is none.
        """
        issuers_of = [{issuer.id: issuer for issuer, _ in self._entries(name, day)} for name in (one, other)]
        if issuers_of[0].keys() & issuers_of[1].keys():
            return Likeness(1.0, "same_issuer")
        found = [likeness(one, other)]
        for name, issuers in ((one, issuers_of[1]), (other, issuers_of[0])):
            known = {each.text for issuer in issuers.values() for each in issuer.names}
            found += [likeness(name, text) for text in known]
        return max(found)

    def _entries(self, text: str, day: date) -> list[tuple[Issuer, Name]]:
        entries = self._master.entries(text)
        return [entry for entry in entries if not entry[1].is_future(day)] or entries

    def _short_or_long_forms(self, bare: str) -> Iterator[str]:
        for other in (bare, brand(bare)):
            for known, name in self._by_first_character.get(other[:1], ()):
                if is_short_form(bare, known) or is_short_form(known, other):
                    yield name

    @cached_property
    def _brands(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._names:
            found.setdefault(brand(name), []).append(name)
        return found

    @cached_property
    def _by_first_character(self) -> dict[str, list[tuple[str, str]]]:
        """Names without legal form by first character, both with and without a leading place."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name in self._names:
            for known in {without_form(name), brand(name)}:
                found.setdefault(known[:1], []).append((known, name))
        return found

    def _weigh(self, key: str) -> list[tuple[str, float]]:
        """Return names similar in characters or pinyin, with the mean of both similarities."""
        bare = _bare(key)
        if len(bare) < _SHORTEST:
            return []
        sound = _sound(bare)
        by_look = process.extract(bare, self._bare, scorer=fuzz.ratio, limit=_PRESELECTION)
        by_sound = process.extract(sound, self._sounds, scorer=fuzz.ratio, limit=_PRESELECTION)
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
    """Return the name without its legal form, or the whole name if nothing else remains."""
    bare = _FORMS.sub("", key)
    return bare if len(bare) >= _SHORTEST else key


def _sound(text: str) -> str:
    return " ".join(lazy_pinyin(text))
