"""Names found by form beside names found by list: which of the two says more, and whom an unlisted one is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kg.ids import entity_id
from kg.model import Kind
from kg.securities.likeness import likeness
from kg.securities.resolver import Resolution, ScoredIssuer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from extraction.names.company_forms import Firm
    from kg.securities.records import Issuer
    from kg.securities.resolver import Resolver

_FORM_SCORE = {True: 0.9, False: 0.8}  # a legal form or a trading mark; what the model takes for a body
_LONGEST_TAIL = 4
_SAME = 0.8  # likeness from which a longer name is another spelling of the listed one within it


def with_firms(
    text: str, resolutions: Sequence[Resolution], firms: Iterable[tuple[int, int, Firm]], *, resolver: Resolver
) -> list[Resolution]:
    """Return the resolutions with the firms no list knows, left to right without overlap.

    Where a firm's name holds a listed one, it is that issuer's (江苏恒瑞医药 begins its full name) or, being longer, a
    subsidiary's (厦门中毅达 is not 贵州中毅达): then the issuer stays as a candidate.

    Args:
        text: the document.
        resolutions: what the resolver made of it, left to right without overlap.
        firms: document offsets of names found by their form, as the resolutions.
        resolver: knows the issuers' names.
    """
    found: list[Resolution] = []
    at = 0
    for start, end, firm in _cut_to_known(text, list(firms)):
        while at < len(resolutions) and resolutions[at].end <= start:
            found.append(resolutions[at])
            at += 1
        last = at
        while last < len(resolutions) and resolutions[last].start < end:
            last += 1
        inside = resolutions[at:last]
        if not inside:
            found.append(_unlisted(text, start, end, firm))
        elif start <= inside[0].start and inside[-1].end <= end and (start, end) != (inside[0].start, inside[-1].end):
            better = _settled(text, (start, end, firm), inside, resolver)
            if better is not None:
                found.append(better)
                at = last
    return [*found, *resolutions[at:]]


def _cut_to_known(text: str, firms: Sequence[tuple[int, int, Firm]]) -> Iterator[tuple[int, int, Firm]]:
    """Cut a name the model has run into the words behind it, where the document also has it alone: 富兴贸易应."""
    alone = {text[start:end] for start, end, _ in firms}
    for start, end, firm in firms:
        shorter = [end - cut for cut in range(1, _LONGEST_TAIL + 1) if text[start : end - cut] in alone]
        yield (start, shorter[-1] if shorter and not firm.sure else end, firm)


def _unlisted(text: str, start: int, end: int, firm: Firm, candidates: tuple[ScoredIssuer, ...] = ()) -> Resolution:
    name = text[start:end]
    identity = entity_id(Kind.COMPANY, name)
    return Resolution(start, end, name, "unknown", identity, None, _FORM_SCORE[firm.sure], candidates)


def _settled(
    text: str, place: tuple[int, int, Firm], inside: Sequence[Resolution], resolver: Resolver
) -> Resolution | None:
    """What a longer name makes of the listed ones within it; None leaves them as they are."""
    start, end, firm = place
    name = text[start:end]
    linked = [each for each in inside if each.status == "linked"]
    candidates = tuple(candidate for each in inside for candidate in each.candidates)
    if not linked:
        return _unlisted(text, start, end, firm, candidates)
    issuer = resolver.issuer(linked[0].entity_id or "")
    if len(linked) > 1 or issuer is None:
        return None
    if _is_own_name(name, issuer):
        return replace(linked[0], start=start, end=end, text=name)
    if firm.sure or (linked[0].start > start and any(each.kind == "full" for each in issuer.names)):
        return _unlisted(text, start, end, firm, candidates)
    return None


def _is_own_name(name: str, issuer: Issuer) -> bool:
    """Whether the name is the beginning of a full name of the issuer, or one of its names but for the legal form."""
    full = [each.text for each in issuer.names if each.kind == "full"]
    if any(text.startswith(name) for text in full):
        return True
    return any(
        alike.score >= _SAME and alike.reason != "place"
        for each in issuer.names
        for alike in [likeness(name, each.text)]
    )
