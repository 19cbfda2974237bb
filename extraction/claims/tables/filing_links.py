"""Read what a long filing says of its customers, suppliers and subsidiaries, with percent and fiscal year.

English filings name customers above ten per cent, large suppliers and stakes in sentences; Chinese annual reports list
five customers and suppliers and all subsidiaries in rows. Nameless customers (客户一, Customer A) say nothing. A
customer of an English filing must be a listed issuer or carry a legal form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace

from extraction.claims.tables.labels import as_sentence, link_texts, whole_name
from extraction.claims.tables.statements import fiscal_year
from extraction.sentence import CONTEXT, Claim, EntityMention
from extraction.text.lexicon import phrases
from kg.filing import ANNUAL, company_key
from kg.ids import entity_id
from kg.model import Kind, Modality, Polarity, Value
from kg.query.filings.names import in_use
from kg.text.table_rows import PlacedRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from extraction.names.linker import Linker
    from extraction.sentence import AnnotatedDocument, ClaimRow
    from kg.filing import Filing
    from kg.model import Document

_PHRASES = phrases("tables/filing_links")
_CONFIDENCE = 0.85
_BELOW, _MOST_ROWS = 2_500, 40  # characters and lines below a heading that may be its rows
_HEADS = ("customers", "suppliers", "holdings")
_AFTER, _SENTENCE, _MAJORITY = 120, 250, 50.0
_LEAST_NAME = 5  # letters of a company held; a shorter one is an abbreviation
_LIST, _LIST_GAP, _LEAST_ROWS = 60_000, 12, 2  # characters of a list of subsidiaries, lines between rows, rows
_FOOTNOTE = re.compile(r"\s*(?:\(\d{1,2}\)|[%#*†+])\W*$")
_SENTENCE_END = re.compile(r"(?<!Inc)(?<!Co)(?<!Ltd)(?<!Corp)\. ")
_BY_CUSTOMER = (("disclosed_by", "customer"),)


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
        read = self._listed if source.language == "zh" else self._told
        for link in read(source, filing, issuer):
            yield link.claim(filing), as_sentence(source, PlacedRow(*link.span, ()))

    def _told(self, document: Document, filing: Filing, issuer: EntityMention) -> Iterator[_Link]:
        """Yield the customers, suppliers and stakes that sentences of an English filing name."""
        text = document.text.replace("\n", " ")
        for match in _PHRASES["customer"].finditer(text):
            if other := self._party(document, match["name"], issuer):
                shared = _shared(match["share"], "revenue_share")
                year = _year_of(text, match, filing)
                yield _Link("supplies", issuer, other, match.span(), year, qualifiers=shared)
        for match in _PHRASES["named_suppliers"].finditer(text):
            others = (self._party(document, name, issuer) for name in re.split(r",? and |, ", match["names"]))
            for other in filter(None, others):
                year = _year_of(text, match, filing)
                yield _Link("supplies", other, issuer, match.span(), year, qualifiers=_BY_CUSTOMER)
        for name, share, span in _stakes(text, filing.company):
            held = self._known(document, name) or _unlisted(name)
            if held.entity != issuer.entity:
                yield from _held(issuer, held, share, span, filing.year)
        own = company_key(filing.company)
        rows = [row for row in _subsidiaries(document.text) if company_key(row[0]) != own]
        holdings = self._known_all(document, [name for name, *_ in rows])
        for (_, listed_share, span), held in zip(rows, holdings, strict=True):
            if held.entity != issuer.entity:
                yield _Link("subsidiary_of", held, issuer, span)
                if listed_share:
                    yield _Link("holds_stake_in", issuer, held, span, filing.year, Value(float(listed_share), "%"))

    def _party(self, document: Document, text: str, issuer: EntityMention) -> EntityMention | None:
        """Return the company that a name is, None for one that is neither listed nor has a legal form."""
        name = text.strip(" ,")
        if _PHRASES["no_name"].search(name):
            return None
        other = self._known(document, name) or (_unlisted(name) if _PHRASES["formed"].search(name) else None)
        return other if other and other.entity != issuer.entity else None

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
            if held.entity != issuer.entity:
                yield from _held(issuer, held, float(row["share"]), span, filing.year)

    def _known(self, document: Document, name: str) -> EntityMention | None:
        """Return the listed issuer that a name is, without its legal form if need be."""
        bare = _PHRASES["formed"].sub("", name).strip(" ,.")
        spellings = [name, bare, *map(str.title, in_use(company_key(name)))]
        return next((ref for ref in self._read(document, spellings) if ref and ref.entity.startswith("sec:")), None)

    def _known_all(self, document: Document, names: Sequence[str]) -> list[EntityMention]:
        """Return the listed issuers that names are word for word, and companies of their own for the others."""
        found = self._read(document, names)
        return [
            ref if ref and ref.entity.startswith("sec:") else _unlisted(name)
            for name, ref in zip(names, found, strict=True)
        ]

    def _read(self, document: Document, names: Sequence[str]) -> list[EntityMention | None]:
        lines, refs = link_texts(self._linker, list(names), document)
        return [whole_name(line, own) for line, own in zip(lines, refs, strict=True)]


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


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a list of subsidiaries: whether its share has a percent sign, and the row a legal form."""

    name: str
    share: str | None
    percent: bool
    formed: bool
    span: tuple[int, int]


def _subsidiaries(text: str) -> Iterator[tuple[str, str | None, tuple[int, int]]]:
    """Yield the rows of lists of subsidiaries, each name once, with the share where the list has one.

    Half of the rows of a list have a legal form; a number is a share where the row or the head of the list has a
    percent sign.
    """
    seen: set[str] = set()
    for rows, percent in _lists(text):
        if len(rows) < _LEAST_ROWS or 2 * sum(row.formed for row in rows) < len(rows):
            continue
        for row in rows:
            if row.name not in seen:
                seen.add(row.name)
                yield row.name, row.share if percent or row.percent else None, row.span


def _lists(text: str) -> Iterator[tuple[list[_Row], bool]]:
    """Yield the rows below each heading of subsidiaries, and whether its head has a percent sign."""
    rows, percent, gap, start, at = list[_Row](), False, 0, -1, 0
    for line in text.split("\n"):
        if start >= 0 and (gap > _LIST_GAP or at - start > _LIST or _PHRASES["no_list"].search(line)):
            yield rows, percent
            rows, percent, start = [], False, -1
        is_heading = bool(_PHRASES["exhibit"].match(line) and not _PHRASES["no_heading"].search(line))
        if is_heading and start < 0:
            start = at
        if start >= 0:
            own = list(_rows_of(line, at))
            percent = percent or (not (rows or own) and bool(_PHRASES["head_share"].search(line)))
            gap = 0 if own or is_heading else gap + 1
            rows += own
        at += len(line) + 1
    yield rows, percent


def _rows_of(line: str, at: int) -> Iterator[_Row]:
    """Yield the rows that a line of a list of subsidiaries has; the text of some PDFs glues them."""
    cuts = [0, *(match.end() for match in _PHRASES["next_subsidiary"].finditer(line)), len(line)]
    for start, end in pairwise(cuts):
        match = _PHRASES["subsidiary"].match(line[start:end].rstrip())
        if match is None or _PHRASES["no_subsidiary"].search(match["name"]):
            continue
        name = _FOOTNOTE.sub("", match["name"]).rstrip(" ,")
        city = match[0][match.end("name") : match.end("name") + 1] == "," and not _PHRASES["formed"].search(name)
        if not city:
            formed = bool(_PHRASES["legal"].search(match[0]))
            yield _Row(name, match["share"], bool(match["percent"]), formed, (at + start, at + start + match.end()))


def _year_of(text: str, match: re.Match[str], filing: Filing) -> int:
    """Return the fiscal year of a statement: the first one that its sentence names before it, else after it."""
    before = text[max(0, match.start() - _SENTENCE) : match.start()].rsplit(". ", 1)[-1]
    dated = _PHRASES["fiscal"].search(before) or _PHRASES["fiscal"].search(text, match.end(), match.end() + _AFTER)
    return int(dated[1]) if dated else filing.year


def _stakes(text: str, company: str) -> Iterator[tuple[str, float, tuple[int, int]]]:
    """Yield whom the issuer says it holds a share of, an abbreviation in full where the text introduces it."""
    full: dict[str, str] = {}
    for match, named in _held_names(text, company):
        name = _SENTENCE_END.split(named + " ")[0].strip()
        if len(name) < _LEAST_NAME:
            full = full or {each["short"]: each["name"] for each in _PHRASES["abbreviation"].finditer(text)}
            name = full.get(name, "").strip(" ,")
        if len(name) >= _LEAST_NAME and not _PHRASES["no_name"].search(name):
            yield name, float(match["share"]), match.span()


def _held_names(text: str, company: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield statements of a share with the name of each holding; joined by and, it belongs to the stake before it."""
    last = 0
    for match in _PHRASES["stake"].finditer(text):
        of_other = match[0].startswith(" and") and match.start() != last
        last = last if of_other else match.end()
        if not of_other:
            yield from ((match, name) for name in match.group("name", "also") if name)
    yield from ((match, match["name"]) for match in _PHRASES["shared"].finditer(text))
    for match in _PHRASES["held"].finditer(text):
        owner = (match["owner"] or "").casefold().removesuffix("s").rstrip("’'")
        if match["by"] or owner in {"our", "the company"} or (owner and company.casefold().startswith(owner)):
            yield match, match["name"]


def _held(
    issuer: EntityMention, held: EntityMention, share: float, span: tuple[int, int], year: int
) -> Iterator[_Link]:
    yield _Link("holds_stake_in", issuer, held, span, year, Value(share, "%"))
    if share > _MAJORITY:
        yield _Link("subsidiary_of", held, issuer, span)


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
