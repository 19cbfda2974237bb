"""Read what a long filing says of its customers, suppliers and subsidiaries, with percent and fiscal year.

English filings name a customer above ten per cent in a sentence; Chinese annual reports list five customers and
suppliers and all subsidiaries in rows. Nameless customers (客户一, Customer A) say nothing. A customer of an English
filing must be a listed issuer or carry a legal form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.tables.labels import as_sentence, link_texts, whole_name
from extraction.claims.tables.statements import fiscal_year
from extraction.sentence import CONTEXT, Claim, EntityMention
from extraction.text.lexicon import phrases
from kg.filing import ANNUAL
from kg.ids import entity_id
from kg.model import Kind, Modality, Polarity, Value
from kg.text.table_rows import PlacedRow

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from extraction.names.linker import Linker
    from extraction.sentence import AnnotatedSentence
    from kg.filing import Filing
    from kg.model import Document

_PHRASES = phrases("tables/filing_links")
_CONFIDENCE = 0.85
_BELOW, _MOST_ROWS = 2_500, 40  # characters and lines below a heading that may be its rows
_HEADS = ("customers", "suppliers", "holdings")
_AFTER, _MAJORITY = 120, 50.0
_Found = tuple[Claim, "AnnotatedSentence"]


class FilingLinkReader:
    """Reads annual reports; the linker knows listed issuers."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker

    def read(self, document: Document, filing: Filing, issuer: EntityMention | None) -> Iterator[_Found]:
        """Yield the links of an annual report; an issuer that is in no list is known by its name."""
        if not filing.company or filing.form not in ANNUAL or not filing.year:
            return
        issuer = issuer or _unlisted(filing.company)
        if document.language == "zh":
            yield from self._listed(document, filing, issuer)
        else:
            yield from self._customers(document, filing, issuer)

    def _customers(self, document: Document, filing: Filing, issuer: EntityMention) -> Iterator[_Found]:
        text = document.text.replace("\n", " ")
        for match in _PHRASES["customer"].finditer(text):
            name = match["name"].strip(" ,")
            other = None if _PHRASES["no_name"].search(name) else self._known(document, name)
            if other is None and _PHRASES["formed"].search(name) and not _PHRASES["no_name"].search(name):
                other = _unlisted(name)
            if other is None or other.entity == issuer.entity:
                continue
            dated = _PHRASES["fiscal"].search(text, match.end(), match.end() + _AFTER)
            number = int(dated[1]) if dated else filing.year
            yield _supply(document, filing, issuer, other, match.span(), share=match["share"], number=number)

    def _listed(self, document: Document, filing: Filing, issuer: EntityMention) -> Iterator[_Found]:
        for side in ("customers", "suppliers"):
            for row, span in _rows_below(document.text, side, "trade_row"):
                if _PHRASES["nameless"].search(row["name"]):
                    continue
                other = self._known(document, row["name"]) or _unlisted(row["name"])
                ends = (issuer, other) if side == "customers" else (other, issuer)
                share, own = row["share"], side == "customers"
                yield _supply(document, filing, *ends, span, share=share, number=filing.year, own=own)
        for row, span in _rows_below(document.text, "holdings", "holding_row"):
            held = self._known(document, row["name"]) or _unlisted(row["name"])
            share = float(row["share"])
            if held.entity == issuer.entity:
                continue
            yield _claim(document, filing, "holds_stake_in", (issuer, held), span, value=Value(share, "%"))
            if share > _MAJORITY:
                yield _claim(document, filing, "subsidiary_of", (held, issuer), span)

    def _known(self, document: Document, name: str) -> EntityMention | None:
        """Return the listed issuer that a name is, without its legal form if need be."""
        bare = _PHRASES["formed"].sub("", name).strip(" ,.")
        lines, refs = link_texts(self._linker, [name, bare], document)
        found = (whole_name(line, own) for line, own in zip(lines, refs, strict=True))
        return next((ref for ref in found if ref and ref.entity.startswith("sec:")), None)


def _rows_below(text: str, head: str, row: str) -> Iterator[tuple[re.Match[str], tuple[int, int]]]:
    """Yield the rows below headings, each once."""
    seen: set[int] = set()
    for heading in _PHRASES[head].finditer(text):
        at = heading.end()
        for line in text[at : at + _BELOW].split("\n")[:_MOST_ROWS]:
            if any(_PHRASES[other].search(line) for other in _HEADS if other != head):
                break
            match = _PHRASES[row].match(line)
            if match and at not in seen:
                seen.add(at)
                yield match, (at, at + len(line))
            at += len(line) + 1


def _unlisted(name: str) -> EntityMention:
    return EntityMention(entity_id(Kind.COMPANY, name), Kind.COMPANY, name)


def _supply(  # noqa: PLR0913 -- ends, place and figure of one link
    document: Document,
    filing: Filing,
    seller: EntityMention,
    buyer: EntityMention,
    span: tuple[int, int],
    *,
    share: str,
    number: int,
    own: bool = True,
) -> _Found:
    part, by = ("revenue_share", "supplier") if own else ("cost_share", "customer")
    qualifiers = (("disclosed_by", by), (part, f"{float(share):g}"))
    return _claim(document, filing, "supplies", (seller, buyer), span, qualifiers=qualifiers, number=number)


def _claim(  # noqa: PLR0913 -- ends, place and figure of one link
    document: Document,
    filing: Filing,
    relation: str,
    ends: tuple[EntityMention, EntityMention],
    span: tuple[int, int],
    *,
    value: Value | None = None,
    qualifiers: tuple[tuple[str, str], ...] = (),
    number: int = 0,
) -> _Found:
    subject, object_ = (replace(end, start=CONTEXT, end=CONTEXT) for end in ends)
    claim = Claim(
        relation=relation,
        subject=subject,
        object=object_,
        start=0,
        end=span[1] - span[0],
        pattern="filing.link",
        value=value,
        valid=None if relation == "subsidiary_of" else fiscal_year(filing, number or filing.year),
        qualifiers=qualifiers,
        confidence=_CONFIDENCE,
        polarity=Polarity.POSITIVE,
        modality=Modality.ASSERTED,
    )
    return claim, as_sentence(document, PlacedRow(*span, ()))
