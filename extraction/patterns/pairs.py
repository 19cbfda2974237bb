"""The relation of two given names in a sentence: the surest of what patterns and cues say of just these two."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.annotated import LETTER, Annotated, Claim, Ref
from extraction.patterns import chain, dealings, ownership, structure
from extraction.patterns.cues import CUES
from extraction.patterns.pattern import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.patterns.pattern import Pattern

_STRICT = (*chain.PATTERNS, *dealings.PATTERNS, *ownership.PATTERNS, *structure.PATTERNS)
_NEAR = 20  # characters between two names that one phrase still joins
_PER_CHARACTER = 0.004  # what a cue loses for each character it reaches over


def claims_between(annotated: Annotated) -> Iterator[Claim]:
    """Yield all that is said between the names of a sentence, strict patterns first.

    Args:
        annotated: a sentence that holds only the names asked about, every occurrence of each.
    """
    yield from read(_STRICT, annotated)
    masked, places = _masked(annotated)
    for cue in CUES:
        yield from _cued(cue, masked, places)


def relation_of(annotated: Annotated) -> Claim | None:
    """Return the surest claim between the names of a sentence, the earliest of equals; None, nothing is said."""
    return max(claims_between(annotated), key=lambda claim: claim.confidence, default=None)


def _masked(annotated: Annotated) -> tuple[str, dict[int, Ref]]:
    """Write one letter for each name, with no name drawn together with another; return what stands where."""
    out: list[str] = []
    places: dict[int, Ref] = {}
    at = 0
    for ref in annotated.refs:
        out.extend(annotated.text[at : ref.start])
        places[len(out)] = ref
        out.append(LETTER[ref.kind])
        at = ref.end
    out.extend(annotated.text[at:])
    return "".join(out), places


def _cued(cue: Pattern, masked: str, places: dict[int, Ref]) -> Iterator[Claim]:
    """Yield the cue's claims; a match may begin inside another, for the next name may be the better end."""
    at = 0
    while match := cue.regex.search(masked, at):
        subject, object_ = places[match.start("s")], places[match.start("o")]
        at = match.start() + 1
        if subject.entity == object_.entity:
            continue
        reach = match.end() - match.start()
        yield Claim(
            relation=cue.relation,
            subject=subject,
            object=object_,
            start=min(subject.start, object_.start),
            end=max(subject.end, object_.end),
            pattern=cue.name,
            qualifiers=cue.qualifiers,
            confidence=round(max(cue.confidence - _PER_CHARACTER * reach, 0.01), 3),
        )


def only(annotated: Annotated, *entities: str) -> Annotated:
    """Return the sentence as if it held no other names than these entities'."""
    return replace(annotated, refs=tuple(ref for ref in annotated.refs if ref.entity in entities))


def occurrences(text: str, *names: str) -> list[tuple[str, int, int]]:
    """Return where the names stand, in order and without overlap: the longer name has the place."""
    found: list[tuple[str, int, int]] = []
    for name in sorted(set(names), key=lambda name: (-len(name), name)):
        at = text.find(name) if name else -1
        while at >= 0:
            if all(at + len(name) <= start or end <= at for _, start, end in found):
                found.append((name, at, at + len(name)))
            at = text.find(name, at + 1)
    return sorted(found, key=lambda place: place[1])


_FORMS = re.compile(r"(?:股份有限公司|有限责任公司|有限公司|集团公司|股份公司|控股集团|集团|公司|股份|控股)$")
_OTHER_NAME = re.compile(
    r"[”）)]?[（(，“]*(?:以下)?(?:简称|下称|又称|全称|原名|现名|前身(?:为|是)?|更名为|改名为?)[为：“”‘]*"
)
_OWN_PART = re.compile(r"旗下|子公司|控股的|所属|下属|分公司|品牌")


def same_name(text: str, first: str, second: str) -> bool:
    """Whether two names of a sentence name one firm: told so (以下简称), or one is the other's short form."""
    short, long = sorted((first, second), key=lambda name: (len(name), name))
    places = occurrences(text, short, long)
    for (one, _, end), (other, start, _) in pairwise(places):
        between = text[end:start]
        if one != other and _OTHER_NAME.fullmatch(between):
            return True
    return short == long or (_is_short_form(short, long) and not _parted(text, places))


def _is_short_form(short: str, long: str) -> bool:
    core = _FORMS.sub("", long)
    return short in (core, long) or long.startswith(short) or (len(short) > 1 and core.endswith(short))


def _parted(text: str, places: list[tuple[str, int, int]]) -> bool:
    """Whether the text sets the two names apart as owner and owned."""
    return any(
        one != other and end < start and _OWN_PART.search(text, end, start) and start - end < _NEAR
        for (one, _, end), (other, start, _) in pairwise(places)
    )
