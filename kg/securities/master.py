"""The securities master: issuers with their dated names and codes."""

from __future__ import annotations

from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from kg.securities.codes import parse_code
from kg.securities.derived_names import DerivedNames
from kg.securities.lists.imports import read_master
from kg.securities.lists.shipped import read_shipped
from kg.securities.records import Issuer, Listing, MasterRows, Name, name_key, name_variants

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from kg.securities.errors import MasterFault


class Master:
    """Immutable index of issuers by id, code and name."""

    def __init__(self, issuers: Iterable[Issuer], words: Mapping[str, str] | None = None) -> None:
        self.faults: tuple[MasterFault, ...] = ()
        self._issuers = {issuer.id: issuer for issuer in issuers}
        self._by_code: dict[str, Issuer] = {}
        self._by_key: dict[str, list[tuple[Issuer, Name]]] = {}
        self._words = {name_key(text): kind for text, kind in (words or {}).items()}
        for issuer in self._issuers.values():
            for listing in issuer.listings:
                self._by_code[listing.code] = issuer
            for name in issuer.names:
                for variant in name_variants(name.text):
                    self._by_key.setdefault(name_key(variant), []).append((issuer, name))

    @classmethod
    def load(cls, path: Path | None = None, *, namechange: Path | None = None) -> Master:
        """Load the shipped master, overlaid with the user's own if a path is given.

        Args:
            path: a CSV or JSONL file (see `kg.securities.lists.imports`).
            namechange: dated short-name history as JSON, in the format of a pandas dump of Tushare's `namechange`.

        Unreadable rows of the user's file are skipped and listed in `faults`.

        Raises:
            MasterFault: the file as a whole is not a master.
        """
        rows = read_shipped()
        if path is not None:
            rows.lay_over(read_master(path, namechange=namechange))
        return cls.from_rows(rows)

    @classmethod
    def from_rows(cls, rows: MasterRows) -> Master:
        """Group codes by issuer and build the master."""
        members: dict[str, list[str]] = {}
        for code in dict.fromkeys([*rows.listings, *rows.names]):
            members.setdefault(_primary(code, rows.primaries), []).append(code)
        master = cls((_issuer(primary, codes, rows) for primary, codes in members.items()), rows.words)
        master.faults = tuple(rows.faults)
        return master

    def __len__(self) -> int:
        return len(self._issuers)

    def __iter__(self) -> Iterator[Issuer]:
        return iter(self._issuers.values())

    def issuer(self, entity_id: str) -> Issuer | None:
        """Return the issuer with this id."""
        return self._issuers.get(entity_id)

    def by_code(self, code: str) -> Issuer | None:
        """Return the issuer of a code in any common spelling; needs no day, because codes are not reused."""
        found = self._by_code.get(code)
        if found is not None:
            return found
        parsed = parse_code(code)
        return self._by_code.get(str(parsed)) if parsed else None

    @cached_property
    def derived(self) -> DerivedNames:
        """Find issuers by registered names and marked short names that are in no list; compiled on first use."""
        return DerivedNames(self._issuers.values())

    def by_name(self, text: str, day: date) -> list[Issuer]:
        """Return the issuers that used the name on the day."""
        found = [issuer for issuer, name in self.entries(text) if name.is_live(day)]
        return list({issuer.id: issuer for issuer in found}.values())

    def entries(self, text: str) -> list[tuple[Issuer, Name]]:
        """Return all issuers that ever used the name, with the dated name."""
        return self._by_key.get(name_key(text), [])

    def all_names(self) -> Iterator[str]:
        """Yield every past and present name as written, with its variants."""
        for issuer in self._issuers.values():
            for name in issuer.names:
                yield from name_variants(name.text)

    def word_kind(self, text: str) -> str | None:
        """Return the kind of common word that a name also is (word, place, short, english, mild), else None."""
        return self._words.get(name_key(text))


def _primary(code: str, primaries: Mapping[str, str]) -> str:
    """Follow secondary listings to the primary code; a moved B share takes two steps."""
    seen = {code}
    while (owner := primaries.get(code)) is not None and owner not in seen:
        seen.add(owner)
        code = owner
    return code


def _issuer(primary: str, codes: list[str], rows: MasterRows) -> Issuer:
    """Build an issuer from the rows of all its codes, the primary code first."""
    ordered = sorted(codes, key=lambda code: code != primary)
    names = [name for code in ordered for name in rows.names.get(code, ())]
    current = _current_name(rows.names.get(primary) or names, primary)
    defaults = (Listing(code, code.rpartition(".")[2]) for code in ordered)
    listings = tuple(rows.listings.get(listing.code, listing) for listing in defaults)
    return Issuer(f"sec:{primary}", current, "company", tuple(dict.fromkeys(names)), listings)


def _current_name(names: list[Name], primary: str) -> str:
    """Return the current short name: the latest that has not ended."""
    for kinds in (("short",), ("full", "english"), ("former", "colloquial")):
        current = [name for name in names if name.kind in kinds and name.end is None]
        if current:
            return max(current, key=lambda name: name.start or date.min).text
    return names[-1].text if names else primary
