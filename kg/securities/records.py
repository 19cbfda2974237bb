"""What the master holds: issuers, their listings, and their names, each with its period."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from kg.simplified import simplified

if TYPE_CHECKING:
    from kg.securities.errors import MasterFault

NameKind = Literal["short", "full", "english", "former", "colloquial"]
NAME_KINDS: tuple[NameKind, ...] = ("short", "full", "english", "former", "colloquial")


@dataclass(frozen=True, slots=True)
class Listing:
    """One code of an issuer, on one exchange, live in [start, end); None is open or unknown."""

    code: str
    exchange: str
    start: date | None = None
    end: date | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """One name of an issuer, in use in [start, end); None is open or unknown."""

    text: str
    kind: NameKind = "short"
    start: date | None = None
    end: date | None = None
    source: str = ""

    def is_live(self, day: date) -> bool:
        """Whether the name was in use on the day."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def is_future(self, day: date) -> bool:
        """Whether the name came into use only after the day, so that nobody could have meant the issuer by it."""
        return self.start is not None and day < self.start


@dataclass(frozen=True, slots=True)
class Issuer:
    """One company however many codes and names it has; `id` is `sec:` and its primary code."""

    id: str
    name: str
    kind: str = "company"
    names: tuple[Name, ...] = ()
    listings: tuple[Listing, ...] = ()

    @property
    def code(self) -> str:
        """The primary code, which decides the id."""
        return self.id.removeprefix("sec:")

    def name_on(self, day: date) -> str:
        """The short name of the primary code as it was on the day; today's where no period is known."""
        live = [name for name in self.names if name.kind in ("short", "former") and name.is_live(day)]
        dated = [name for name in live if name.start or name.end]
        return max(dated, key=lambda name: name.start or date.min).text if dated else self.name


@dataclass(slots=True)
class MasterRows:
    """What a source says before codes are joined to issuers; later sources are laid over earlier ones."""

    names: dict[str, list[Name]] = field(default_factory=dict)
    listings: dict[str, Listing] = field(default_factory=dict)
    primaries: dict[str, str] = field(default_factory=dict)  # code of a second listing -> the issuer's primary code
    words: dict[str, str] = field(default_factory=dict)  # a name that is also a word -> what kind of word
    faults: list[MasterFault] = field(default_factory=list)  # rows that were skipped, each with its place

    def add_name(self, code: str, name: Name) -> None:
        """Add one name to a code."""
        self.names.setdefault(code, []).append(name)

    def lay_over(self, other: MasterRows) -> None:
        """Take in another source; where it dates a code's short names, they stand instead of what was known before.

        A name given up before that source's lists begin stays: that they do not hold it says nothing against it.
        """
        for code, names in other.names.items():
            mine = self.names.get(code, [])
            if any(name.kind == "short" for name in names):
                theirs = {name.text for name in names}
                # A marked name (*ST凯乐) is what the exchange left of one that people go on using.
                marked = all(_MARKS.match(name.text) for name in names if name.kind == "short" and name.end is None)
                mine = [name for name in mine if (marked and name.end is None) or _outlasts(name, theirs)]
            self.names[code] = mine + [name for name in names if name not in mine]
        self.listings.update(other.listings)
        self.primaries.update(other.primaries)
        self.words.update(other.words)
        self.faults.extend(other.faults)


def _outlasts(name: Name, theirs: set[str]) -> bool:
    """Whether a name stays beside a later source's dated names: no short name, given up, or borne there too."""
    if name.kind not in ("short", "former") or name.source == "listing":
        return True
    if name.source == "user":  # of an earlier list by the same user, which dated it
        return name.end is not None or name.text in theirs
    return name.kind == "former" and name.end is not None and name.text not in theirs


_MARKS = re.compile(r"^(?:\*ST|S\*ST|SST|ST|S(?=[一-鿿]{3})|PT|XD|XR|DR|N(?=[一-鿿]))")
_CLASS = re.compile(r"(?<=[一-鿿])(?:-(?:[SWUBPRDV]|SW|UW|UR|WD|SB)|A|退|\(退市\))$")
_SHORTEST_STRIPPED = 3


@lru_cache(maxsize=8192)  # a document says the same names again and again
def name_key(text: str) -> str:
    """The form names are compared in: width and traditional characters folded, Latin small, no spaces by Chinese.

    >>> name_key("万　科Ａ"), name_key("Eli  Lilly"), name_key("寧德時代")
    ('万科a', 'eli lilly', '宁德时代')
    """
    folded = simplified(unicodedata.normalize("NFKC", text).casefold().strip())
    if folded.isascii():
        return re.sub(r"\s+", " ", folded)
    return re.sub(r"\s+", "", folded)


def name_variants(text: str) -> tuple[str, ...]:
    """The name and what is left of it without share class and trading marks.

    >>> name_variants("阿里巴巴-W"), name_variants("*ST国华"), name_variants("ST星源A")
    (('阿里巴巴-W', '阿里巴巴'), ('*ST国华',), ('ST星源A', 'ST星源'))
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    found = [plain]
    bare = _CLASS.sub("", plain)
    if bare != plain and len(bare) >= (_SHORTEST_STRIPPED if plain.endswith("退") else 2):
        found.append(bare)
    unmarked = _MARKS.sub("", bare)
    # Two characters left of a marked name (*ST国华) are nobody's name: the exchange cut the real one to make room.
    if unmarked != bare and len(unmarked) >= _SHORTEST_STRIPPED:
        found.append(unmarked)
    return tuple(found)
