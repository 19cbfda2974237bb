"""Records of the master: issuers, listings and names with their periods, and the difference of two lists."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from kg.simplified import simplified

if TYPE_CHECKING:
    from kg.securities.errors import MasterFault

NameKind = Literal["short", "full", "english", "former", "colloquial"]
NAME_KINDS: tuple[NameKind, ...] = ("short", "full", "english", "former", "colloquial")


@dataclass(frozen=True, slots=True)
class Listing:
    """A code of an issuer on an exchange, valid in [start, end); None means open or unknown."""

    code: str
    exchange: str
    start: date | None = None
    end: date | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A name of an issuer, in use in [start, end); None means open or unknown."""

    text: str
    kind: NameKind = "short"
    start: date | None = None
    end: date | None = None
    source: str = ""

    def is_live(self, day: date) -> bool:
        """Whether the name was in use on the day."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def is_future(self, day: date) -> bool:
        """Whether the name was introduced after the day."""
        return self.start is not None and day < self.start


@dataclass(frozen=True, slots=True)
class Issuer:
    """A company with all its codes and names; `id` is `sec:` plus the primary code."""

    id: str
    name: str
    kind: str = "company"
    names: tuple[Name, ...] = ()
    listings: tuple[Listing, ...] = ()

    @property
    def code(self) -> str:
        """The primary code, part of the id."""
        return self.id.removeprefix("sec:")

    def name_on(self, day: date) -> str:
        """Return the short name on the day, or the current one if no period is known."""
        live = [name for name in self.names if name.kind in ("short", "former") and name.is_live(day)]
        dated = [name for name in live if name.start or name.end]
        return max(dated, key=lambda name: name.start or date.min).text if dated else self.name


@dataclass(slots=True)
class MasterRows:
    """Rows of a source before codes are grouped by issuer; later sources override earlier ones."""

    names: dict[str, list[Name]] = field(default_factory=dict)
    listings: dict[str, Listing] = field(default_factory=dict)
    primaries: dict[str, str] = field(default_factory=dict)  # code of a secondary listing -> primary code of the issuer
    words: dict[str, str] = field(default_factory=dict)  # name that is also a common word -> kind of word
    faults: list[MasterFault] = field(default_factory=list)  # skipped rows with their positions

    def add_name(self, code: str, name: Name) -> None:
        """Add one name to a code."""
        self.names.setdefault(code, []).append(name)

    def lay_over(self, other: MasterRows) -> None:
        """Merge another source; its short names of a code replace the earlier ones.

        A name that was dropped before the source's lists begin is kept, because the lists could not contain it.
        """
        for code, names in other.names.items():
            kept = self.names.get(code, [])
            if any(name.kind == "short" for name in names):
                theirs = {name.text for name in names}
                # A marked name (*ST凯乐) is a truncated form of a name that stays in use.
                marked = all(_MARKS.match(name.text) for name in names if name.kind == "short" and name.end is None)
                kept = [name for name in kept if (marked and name.end is None) or _is_kept(name, theirs)]
            self.names[code] = kept + [name for name in names if name not in kept]
        self.listings.update(other.listings)
        self.primaries.update(other.primaries)
        self.words.update(other.words)
        self.faults.extend(other.faults)


def _is_kept(name: Name, theirs: set[str]) -> bool:
    """Whether a name is kept beside the dated names of a later source."""
    if name.kind not in ("short", "former") or name.source == "listing":
        return True
    if name.source == "user":  # dated by an earlier list of the same user
        return name.end is not None or name.text in theirs
    return name.kind == "former" and name.end is not None and name.text not in theirs


_MARKS = re.compile(r"^(?:\*ST|S\*ST|SST|ST|S(?=[一-鿿]{3})|PT|XD|XR|DR|N(?=[一-鿿]))")
_CLASS = re.compile(r"(?<=[一-鿿])(?:-(?:[SWUBPRDV]|SW|UW|UR|WD|SB)|A|退|\(退市\))$")
_SHORTEST_STRIPPED = 3


@lru_cache(maxsize=8192)  # names repeat within a document
def name_key(text: str) -> str:
    """Normalise a name for comparison: fold width, case and traditional characters; drop spaces in Chinese names.

    >>> name_key("万　科Ａ"), name_key("Eli  Lilly"), name_key("寧德時代")
    ('万科a', 'eli lilly', '宁德时代')
    """
    folded = simplified(unicodedata.normalize("NFKC", text).casefold().strip())
    if folded.isascii():
        return re.sub(r"\s+", " ", folded)
    return re.sub(r"\s+", "", folded)


def name_variants(text: str) -> tuple[str, ...]:
    """Return the name and its forms without share class and trading marks.

    >>> name_variants("阿里巴巴-W"), name_variants("*ST国华"), name_variants("ST星源A")
    (('阿里巴巴-W', '阿里巴巴'), ('*ST国华',), ('ST星源A', 'ST星源'))
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    found = [plain]
    bare = _CLASS.sub("", plain)
    if bare != plain and len(bare) >= (_SHORTEST_STRIPPED if plain.endswith("退") else 2):
        found.append(bare)
    unmarked = _MARKS.sub("", bare)
    # The two characters of a marked name (*ST国华) are not a name: the exchange truncated the real one.
    if unmarked != bare and len(unmarked) >= _SHORTEST_STRIPPED:
        found.append(unmarked)
    return tuple(found)


ChangeKind = Literal["added", "removed", "renamed"]


class CodeDifference(NamedTuple):
    """A code that is in only one list, or has different current names."""

    code: str
    kind: ChangeKind
    before: tuple[str, ...]
    after: tuple[str, ...]


def compare(before: MasterRows, after: MasterRows) -> list[CodeDifference]:
    """Return the changes between two lists, sorted by code; former names are ignored."""
    changes = []
    for code in sorted({*before.listings, *before.names, *after.listings, *after.names}):
        old, new = _current(before, code), _current(after, code)
        if code not in before.listings and code not in before.names:
            changes.append(CodeDifference(code, "added", old, new))
        elif code not in after.listings and code not in after.names:
            changes.append(CodeDifference(code, "removed", old, new))
        elif old != new:
            changes.append(CodeDifference(code, "renamed", old, new))
    return changes


def _current(rows: MasterRows, code: str) -> tuple[str, ...]:
    """Return the current short names of a code."""
    return tuple(
        dict.fromkeys(each.text for each in rows.names.get(code, ()) if each.kind == "short" and each.end is None)
    )
