"""Find issuers by names that are in no list but follow from a listed one: registered names and marked short names.

A registered name extends the short name by a place, trades and a legal form (立讯精密 → 立讯精密工业股份有限公司) or is
abbreviated by it (迈瑞医疗 ← 深圳迈瑞生物医疗电子股份有限公司). An exchange shortens a name to put a mark before it
(*ST高鸿, XD贵州茅, N影石).
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import rjieba
from msgspec import Struct

from kg.securities.likeness import is_subsequence, place_end, without_brackets
from kg.securities.phrases import phrases
from kg.securities.records import name_key, name_variants

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date

    from kg.securities.records import Issuer, Name

_PHRASES = phrases("derived_names")
_REGISTERED, _FORM = _PHRASES["registered"], _PHRASES["form"]
_TRADES, _NEUTRAL, _HOLDING = _PHRASES["trades"], _PHRASES["neutral"], _PHRASES["holding"]
_FINANCE, _SHARED = _PHRASES["finance"], _PHRASES["shared"]
_MAINLAND = frozenset({"SH", "SZ", "BJ"})
_SHORTEST, _DISTINCT = 2, 3  # characters of a name; two alone are shared by many companies
_DEBUT_DAYS = 7  # days from the first trading day on which a name is marked N or C
_CUT = 3  # characters that XD, XR and DR leave of a name


class Derived(Struct, frozen=True):
    """The issuers that a name may be derived from; not `sure` if the resemblance is too weak for a link."""

    issuers: tuple[Issuer, ...]
    sure: bool

    @property
    def issuer(self) -> Issuer | None:
        """The one issuer, if it is sure."""
        return self.issuers[0] if self.sure and len(self.issuers) == 1 else None


class DerivedNames:
    """Index of short names by what is left without legal forms, marks and share classes."""

    def __init__(self, issuers: Iterable[Issuer]) -> None:
        self._issuers = list(issuers)
        self._marked = lru_cache(maxsize=4096)(self._find_marked)

    def registered(self, text: str, day: date) -> Derived | None:
        """Return the issuers of a registered name (…股份有限公司, …有限公司), or None if it has another form.

        A joint-stock company (股份有限公司) may be any issuer; a limited company is the issuer itself only if it is
        listed abroad: those of the mainland are joint-stock companies, and 上海恒瑞医药有限公司 is a subsidiary.
        """
        form = _REGISTERED.search(text)
        if form is None:
            return None
        core = name_key(without_brackets(text[: form.start()]))
        if form["joint"]:
            found = self._extended(core, day) or self._abbreviated(core, day)
        else:
            found = None if form["liable"] or "(" in name_key(text) else self._holding(core, day)
        return found or Derived((), sure=False)

    def marked(self, mark: str, core: str, day: date) -> tuple[Issuer, ...]:
        """Return the mainland issuers whose name on the day the exchange may have cut to `core` after a mark.

        >>> from datetime import date
        >>> from kg.securities.master import Master
        >>> derived = Master.load().derived
        >>> [issuer.code for issuer in derived.marked("*ST", "高鸿", date(2025, 6, 1))]
        ['000851.SZ']
        """
        return self._marked(mark, core, day)

    def _find_marked(self, mark: str, core: str, day: date) -> tuple[Issuer, ...]:
        found: dict[str, Issuer] = {}
        word = len(tuple(rjieba.cut(core, hmm=False))) == 1  # ST公司 and 退市风险 are no names
        anchored = word or not mark.endswith("ST")
        for key, issuer, name in self._by_start.get(core[0], ()) if anchored else self._mainland:
            if not name.is_future(day) and _is_cut(mark, core, key, issuer, day=day, word=word):
                found.setdefault(issuer.id, issuer)
        return tuple(found.values())

    def _extended(self, core: str, day: date) -> Derived | None:
        """Return the issuers whose name begins the core, or begins it after a place, followed by trades only."""
        for offset in dict.fromkeys((0, place_end(core))):
            rest = core[offset:]
            for size in range(len(rest), _SHORTEST - 1, -1):
                key, tail = rest[:size], rest[size:]
                issuers = self._named(key, day)
                if not issuers or (offset and _trade_start(key, 0) == 0):
                    continue
                if tail and not _is_addition(key, tail):
                    break
                return Derived(issuers, sure=self._is_distinct(key))
        return None

    def _abbreviated(self, core: str, day: date) -> Derived | None:
        """Return the issuers of the same brand whose trades abbreviate those of the core."""
        for offset in dict.fromkeys((0, place_end(core))):
            at = offset + _trade_start(core[offset:])
            own, trades = core[offset:at], core[at:]
            keys = [key for key in self._by_brand.get(own, ()) if is_subsequence(key[_trade_start(key) :], trades)]
            issuers = {issuer.id: issuer for key in keys for issuer in self._named(key, day)}
            if issuers and not (offset and _trade_start(own, 0) == 0):
                return Derived(tuple(issuers.values()), sure=self._is_distinct(own))
        return None

    def _holding(self, core: str, day: date) -> Derived | None:
        """Return the issuers listed abroad whose name is the core, or is followed by 集团, 控股 or 国际."""
        for size in range(len(core), _SHORTEST - 1, -1):
            issuers = tuple(each for each in self._named(core[:size], day) if _listed_abroad(each))
            if issuers:
                return Derived(issuers, sure=True) if not core[size:] or _HOLDING.fullmatch(core[size:]) else None
        return None

    def _is_distinct(self, brand: str) -> bool:
        """Whether a company of this brand is likely the issuer: one of two characters must be no other issuer's."""
        if len(brand) >= _DISTINCT:
            return True
        return _SHARED.fullmatch(brand) is None and len(self._by_beginning.get(brand, ())) == 1

    def _named(self, key: str, day: date) -> tuple[Issuer, ...]:
        entries = [entry for entry in self._by_key.get(key, ()) if not entry[1].is_future(day)]
        live = [entry for entry in entries if entry[1].is_live(day)] or entries
        return tuple({issuer.id: issuer for issuer, _ in live}.values())

    @cached_property
    def _by_key(self) -> Mapping[str, list[tuple[Issuer, Name]]]:
        found: dict[str, list[tuple[Issuer, Name]]] = {}
        for issuer in self._issuers:
            for name in issuer.names:
                for key in _keys(name, abroad=not _listed_at_home(issuer)):
                    found.setdefault(key, []).append((issuer, name))
        return found

    @cached_property
    def _by_brand(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key in self._by_key:
            found.setdefault(key[: _trade_start(key)], []).append(key)
        return found

    @cached_property
    def _by_beginning(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        for key, entries in self._by_key.items():
            found.setdefault(key[:_SHORTEST], set()).update(issuer.id for issuer, _ in entries)
        return found

    @cached_property
    def _by_start(self) -> Mapping[str, list[tuple[str, Issuer, Name]]]:
        found: dict[str, list[tuple[str, Issuer, Name]]] = {}
        for entry in self._mainland:
            found.setdefault(entry[0][0], []).append(entry)
        return found

    @cached_property
    def _mainland(self) -> list[tuple[str, Issuer, Name]]:
        return [
            (name_key(name_variants(name.text)[-1]), issuer, name)
            for issuer in self._issuers
            if _listed_at_home(issuer)
            for name in issuer.names
            if name.kind in ("short", "former")
        ]


def _trade_start(name: str, shortest: int = _SHORTEST) -> int:
    """Return the start of the trades that a name ends in, its length if there are none."""
    match = _TRADES.search(name, shortest)
    return match.start() if match else len(name)


def _is_addition(key: str, tail: str) -> bool:
    """Whether a registered name adds only trades to a short one, and no other business if that has trades itself."""
    if _FINANCE.search(tail):
        return False
    trades = _trade_start(key + tail)
    if trades < len(key) == _trade_start(key):  # 振华新材 ends inside the trade 新材料
        return True
    return trades <= len(key) if _trade_start(key) == len(key) else _NEUTRAL.fullmatch(tail) is not None


def _keys(name: Name, *, abroad: bool) -> Iterator[str]:
    """Yield a name without brackets and marks, and also without legal forms: 美的集团, 美的.

    A holding abroad keeps its form: 中国光大 is not 中国光大控股.
    """
    if name.kind in ("english", "colloquial"):
        return
    for variant in name_variants(name.text):
        key = name_key(without_brackets(variant))
        bare = _FORM.sub("", key)
        if not key.isascii() and len(key) >= _SHORTEST:
            yield key
            if bare != key and len(bare) >= _SHORTEST and not abroad:
                yield bare


def _is_cut(mark: str, core: str, key: str, issuer: Issuer, *, day: date, word: bool) -> bool:
    if mark in ("N", "C"):
        starts = [listing.start for listing in issuer.listings if listing.start]
        return key.startswith(core) and any(0 <= (day - start).days <= _DEBUT_DAYS for start in starts)
    if mark in ("XD", "XR", "DR"):
        return len(core) == _CUT < len(key) and key.startswith(core)
    if word or not mark.endswith("ST"):
        return key.startswith(core) or (key[0] == core[0] and not word and is_subsequence(core, key))
    return is_subsequence(core, key)


def _listed_at_home(issuer: Issuer) -> bool:
    return any(listing.exchange in _MAINLAND for listing in issuer.listings)


def _listed_abroad(issuer: Issuer) -> bool:
    return any(listing.exchange not in _MAINLAND for listing in issuer.listings)
