"""Merge companies found by name form with resolved securities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.text.clauses import IDENTIFYING
from kg.ids import entity_id
from kg.model import Kind
from kg.securities.codes import is_bare, parse_code
from kg.securities.likeness import likeness
from kg.securities.resolver import Resolution, ScoredIssuer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from extraction.names.company_forms import Firm
    from kg.securities.records import Issuer
    from kg.securities.resolver import Resolver

_FORM_SCORE = {True: 0.9, False: 0.8}  # by `Firm.sure`: legal form or trading mark, else an ORG span of the NER model
_REGISTERED_SCORE = 0.9
_MAX_TAIL = 4
_MIN_LIKENESS = 0.8  # minimum likeness for a longer name to be a variant of the listed name it contains


def with_firms(
    text: str,
    resolutions: Sequence[Resolution],
    firms: Iterable[tuple[int, int, Firm]],
    *,
    day: date,
    resolver: Resolver,
) -> list[Resolution]:
    """Return the resolutions extended with unlisted companies, in text order without overlap.

    A registered name is first looked up among the issuers: it makes no new company where it may be one of theirs. A
    code, and what identifies a listed company in the bracket after its name (NVDA.O, CATL), is no company. A company
    name that contains a listed one either belongs to that issuer (江苏恒瑞医药 is a prefix of its full name) or, being
    longer, to a subsidiary (厦门中毅达 is not 贵州中毅达), which keeps the issuer as a candidate.

    Args:
        text: the document.
        resolutions: the resolver's results, in text order without overlap.
        firms: names found by form with document offsets, in the same order.
        day: publication day; names are looked up as used on it.
        resolver: source of the issuers' names.
    """
    found: list[Resolution] = []
    at = 0
    for start, end, firm in _trim_to_known(text, list(firms)):
        while at < len(resolutions) and resolutions[at].end <= start:
            found.append(resolutions[at])
            at += 1
        last = at
        while last < len(resolutions) and resolutions[last].start < end:
            last += 1
        inside = resolutions[at:last]
        if _identifies(text, start, end, found[-1] if found else None):
            continue
        if registered := _registered(text[start:end], day, start, inside, resolver):
            found.append(registered)
            at = last
        elif not inside:
            found.append(_unlisted_resolution(text, start, end, firm))
        elif start <= inside[0].start and inside[-1].end <= end and (start, end) != (inside[0].start, inside[-1].end):
            merged = _resolve_containing(text, (start, end, firm), inside, resolver)
            if merged is not None:
                found.append(merged)
                at = last
    return [*found, *resolutions[at:]]


def _identifies(text: str, start: int, end: int, before: Resolution | None) -> bool:
    """Whether a name is a securities code, or only identifies the company before it in a bracket."""
    name = text[start:end]
    if name.isascii() and parse_code(name) is not None and not is_bare(name):
        return True
    bracket = IDENTIFYING.match(text, before.end) if before is not None and before.status == "linked" else None
    return bracket is not None and end < bracket.end()


def _registered(
    name: str, day: date, start: int, inside: Sequence[Resolution], resolver: Resolver
) -> Resolution | None:
    """Return the resolution of a registered name that is, or may be, that of an issuer; None for any other name."""
    derived = resolver.registered(name, day)
    if derived is None or not derived.issuers or any(each.end - each.start == len(name) for each in inside):
        return None
    candidates = tuple(
        ScoredIssuer(each.id, each.code, each.name, _REGISTERED_SCORE, {"registered_name": _REGISTERED_SCORE})
        for each in derived.issuers
    )
    if (issuer := derived.issuer) is None:
        return Resolution(start, start + len(name), name, "ambiguous", None, None, _REGISTERED_SCORE, candidates)
    end = start + len(name)
    return Resolution(start, end, name, "linked", issuer.id, issuer.code, _REGISTERED_SCORE, candidates)


def _trim_to_known(text: str, firms: Sequence[tuple[int, int, Firm]]) -> Iterator[tuple[int, int, Firm]]:
    """Trim trailing words from a name that also occurs alone in the document: 富兴贸易应."""
    alone = {text[start:end] for start, end, _ in firms}
    for start, end, firm in firms:
        shorter = [end - cut for cut in range(1, _MAX_TAIL + 1) if text[start : end - cut] in alone]
        yield (start, shorter[-1] if shorter and not firm.sure else end, firm)


def _unlisted_resolution(
    text: str, start: int, end: int, firm: Firm, candidates: tuple[ScoredIssuer, ...] = ()
) -> Resolution:
    name = text[start:end]
    identity = entity_id(Kind.COMPANY, name)
    return Resolution(start, end, name, "unknown", identity, None, _FORM_SCORE[firm.sure], candidates)


def _resolve_containing(
    text: str, place: tuple[int, int, Firm], inside: Sequence[Resolution], resolver: Resolver
) -> Resolution | None:
    """Return the resolution of a name that contains listed names, or None to keep those."""
    start, end, firm = place
    name = text[start:end]
    linked = [each for each in inside if each.status == "linked"]
    candidates = tuple(candidate for each in inside for candidate in each.candidates)
    if not linked:
        return _unlisted_resolution(text, start, end, firm, candidates)
    issuer = resolver.issuer(linked[0].entity_id or "")
    if len(linked) > 1 or issuer is None:
        return None
    if _is_own_name(name, issuer):
        return replace(linked[0], start=start, end=end, text=name)
    if firm.sure or (linked[0].start > start and any(each.kind == "full" for each in issuer.names)):
        return _unlisted_resolution(text, start, end, firm, candidates)
    return None


def _is_own_name(name: str, issuer: Issuer) -> bool:
    """Whether the name is a prefix of an issuer's full name, or equals one of its names up to the legal form."""
    full = [each.text for each in issuer.names if each.kind == "full"]
    if any(text.startswith(name) for text in full):
        return True
    return any(
        alike.score >= _MIN_LIKENESS and alike.reason != "place"
        for each in issuer.names
        for alike in [likeness(name, each.text)]
    )
