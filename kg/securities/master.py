"""The securities master: which issuer bore which name and which code on which day."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from kg.securities.codes import parse_code
from kg.securities.lists.imports import read_master
from kg.securities.lists.shipped import read_shipped
from kg.securities.records import Issuer, Listing, MasterRows, Name, name_key, name_variants

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from kg.securities.errors import MasterFault


class Master:
    """Issuers by id, by code and by name; never changed after it is built."""

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
        """The shipped master, with the user's own laid over it where a path is given.

        Args:
            path: a CSV or JSONL file (see `kg.securities.lists.imports`).
            namechange: dated short-name history as JSON, as Tushare's `namechange` table is dumped by pandas.

        MasterRows of the user's file that cannot be read are skipped and listed in `faults`.

        Raises:
            MasterFault: the file as a whole is no master.
        """
        rows = read_shipped()
        if path is not None:
            rows.lay_over(read_master(path, namechange=namechange))
        return cls.from_rows(rows)

    @classmethod
    def from_rows(cls, rows: MasterRows) -> Master:
        """Join the codes of one issuer and build the master."""
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
        """The issuer with this id."""
        return self._issuers.get(entity_id)

    def by_code(self, code: str) -> Issuer | None:
        """The issuer of a code in any common spelling, whatever the day: codes are not reused within a market here."""
        found = self._by_code.get(code)
        if found is not None:
            return found
        parsed = parse_code(code)
        return self._by_code.get(str(parsed)) if parsed else None

    def by_name(self, text: str, day: date) -> list[Issuer]:
        """Issuers that bore the name on the day, whatever else it was called before or after."""
        found = [issuer for issuer, name in self.entries(text) if name.is_live(day)]
        return list({issuer.id: issuer for issuer in found}.values())

    def entries(self, text: str) -> list[tuple[Issuer, Name]]:
        """All issuers that ever bore the name, with the period they bore it."""
        return self._by_key.get(name_key(text), [])

    def names_live(self, day: date) -> Iterator[tuple[str, Issuer]]:
        """Every name in use on the day, in the form names are compared in, with its issuer."""
        for key, entries in self._by_key.items():
            for issuer in {issuer.id: issuer for issuer, name in entries if name.is_live(day)}.values():
                yield key, issuer

    def all_names(self) -> Iterator[str]:
        """Every name ever borne, as written, with its variants: what a finder looks for."""
        for issuer in self._issuers.values():
            for name in issuer.names:
                yield from name_variants(name.text)

    def word_kind(self, text: str) -> str | None:
        """What kind of common word a name is also (word, place, short, english, mild); None for most names."""
        return self._words.get(name_key(text))


def _primary(code: str, primaries: Mapping[str, str]) -> str:
    """Follow second listings to the primary code; a moved B share takes two steps."""
    seen = {code}
    while (owner := primaries.get(code)) is not None and owner not in seen:
        seen.add(owner)
        code = owner
    return code


def _issuer(primary: str, codes: list[str], rows: MasterRows) -> Issuer:
    """One issuer out of the rows of all its codes, the primary one first."""
    ordered = sorted(codes, key=lambda code: code != primary)
    names = [name for code in ordered for name in rows.names.get(code, ())]
    current = _current_name(rows.names.get(primary) or names, primary)
    unknown = (Listing(code, code.rpartition(".")[2]) for code in ordered)
    listings = tuple(rows.listings.get(listing.code, listing) for listing in unknown)
    return Issuer(f"sec:{primary}", current, "company", tuple(dict.fromkeys(names)), listings)


def _current_name(names: list[Name], primary: str) -> str:
    """The short name in use today: the latest that has not ended."""
    for kinds in (("short",), ("full", "english"), ("former", "colloquial")):
        current = [name for name in names if name.kind in kinds and name.end is None]
        if current:
            return max(current, key=lambda name: name.start or date.min).text
    return names[-1].text if names else primary
