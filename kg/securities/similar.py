"""Names that are nearly a name of the master: typing errors, homophones, pinyin initials. Proposed, never linked."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pypinyin import Style, lazy_pinyin
from rapidfuzz import fuzz, process

from kg.securities.records import name_key

if TYPE_CHECKING:
    from datetime import date

    from kg.securities.master import Master
    from kg.securities.records import Issuer

_FORMS = re.compile(r"(?:股份|集团|控股|科技|有限公司|股份有限公司|公司)+$")
_INITIALS = re.compile(r"[a-z]{3,8}")
_INITIALS_SCORE = 0.9
_SHORTEST = 2
_FIRST_SIEVE = 200  # names kept by spelling and by sound before the two are weighed together


class Proposal(NamedTuple):
    """An issuer somebody may have meant, with the name that is near and how near it is (0 to 1)."""

    issuer: Issuer
    name: str
    score: float


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
