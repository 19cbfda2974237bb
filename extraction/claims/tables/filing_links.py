"""Read what a long filing says of its customers, suppliers and subsidiaries, with percent and fiscal year.

English filings name a customer above ten per cent in a sentence; Chinese annual reports list five customers and
suppliers and all subsidiaries in rows. Nameless customers (客户一, Customer A) say nothing. A customer of an English
filing must be a listed issuer or carry a legal form.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    from extraction.sentence import AnnotatedDocument, ClaimRow
    from kg.filing import Filing
    from kg.model import Document

_PHRASES = phrases("tables/filing_links")
_CONFIDENCE = 0.85
_BELOW, _MOST_ROWS = 2_500, 40  # characters and lines below a heading that may be its rows
_HEADS = ("customers", "suppliers", "holdings")
_AFTER, _MAJORITY = 120, 50.0


class FilingLinkReader:
    """Reads annual reports; the linker knows listed issuers."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow]:
        """Yield the links of an annual report; an issuer that is in no list is known by its name."""
        if document.filing is None:
            return
        filing, source = document.filing
        if not filing.company or filing.form not in ANNUAL or not filing.year:
            return
        issuer = document.company or _unlisted(filing.company)
        read = self._listed if source.language == "zh" else self._customers
        for link in read(source, filing, issuer):
            yield link.claim(filing), as_sentence(source, PlacedRow(*link.span, ()))

    def _customers(self, document: Document, filing: Filing, issuer: EntityMention) -> Iterator[_Link]:
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
            shared = _shared(match["share"], "revenue_share")
            yield _Link("supplies", issuer, other, match.span(), number, qualifiers=shared)

    def _listed(self, document: Document, filing: Filing, issuer: EntityMention) -> Iterator[_Link]:
        for side in ("customers", "suppliers"):
            for row, span in _rows_below(document.text, side, "trade_row"):
                if _PHRASES["nameless"].search(row["name"]):
                    continue
                other = self._known(document, row["name"]) or _unlisted(row["name"])
                ends, part = (
                    ((issuer, other), "revenue_share") if side == "customers" else ((other, issuer), "cost_share")
                )
                yield _Link("supplies", *ends, span, filing.year, qualifiers=_shared(row["share"], part))
        for row, span in _rows_below(document.text, "holdings", "holding_row"):
            held = self._known(document, row["name"]) or _unlisted(row["name"])
            share = float(row["share"])
            if held.entity == issuer.entity:
                continue
            yield _Link("holds_stake_in", issuer, held, span, filing.year, Value(share, "%"))
            if share > _MAJORITY:
                yield _Link("subsidiary_of", held, issuer, span)

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


def _shared(share: str, part: str) -> tuple[tuple[str, str], ...]:
    by = "supplier" if part == "revenue_share" else "customer"
    return (("disclosed_by", by), (part, f"{float(share):g}"))


@dataclass(frozen=True, slots=True)
class _Link:
    """A relation, its ends, where it is stated, and its figure."""

    relation: str
    subject: EntityMention
    object: EntityMention
    span: tuple[int, int]
    year: int = 0
    value: Value | None = None
    qualifiers: tuple[tuple[str, str], ...] = ()

    def claim(self, filing: Filing) -> Claim:
        """Return it as a claim, dated by its fiscal year."""
        return Claim(
            relation=self.relation,
            subject=replace(self.subject, start=CONTEXT, end=CONTEXT),
            object=replace(self.object, start=CONTEXT, end=CONTEXT),
            start=0,
            end=self.span[1] - self.span[0],
            pattern="filing.link",
            value=self.value,
            valid=fiscal_year(filing, self.year) if self.year else None,
            qualifiers=self.qualifiers,
            confidence=_CONFIDENCE,
            polarity=Polarity.POSITIVE,
            modality=Modality.ASSERTED,
        )
