"""The story on one screen: cut, find, link, relate, date, check, merge. Reading and writing are the callers'."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from extraction.annotated import Annotated, Ref
from extraction.arithmetic import contradictions
from extraction.checks import problem_of
from extraction.chunk_value import with_classes
from extraction.chunking import chunk_document
from extraction.context import (
    Surroundings,
    introduced,
    is_label,
    is_title,
    lead_in,
    names_another,
    place_of,
    read_title,
    region_of,
    unlisted_firm,
    with_bare_heads,
    with_pronouns,
)
from extraction.dating import find_periods, read_dates
from extraction.duplicates import signature
from extraction.facts import entities_of, merge, richest, to_fact
from extraction.fiscal import fiscal_year_end
from extraction.headings import Headings, read_heading
from extraction.linking import Linker
from extraction.ner import load_ner
from extraction.own_names import lexicon_with
from extraction.patterns import chain, dealings, events, listed, ownership, ratings, structure
from extraction.patterns.causal import CausalReader
from extraction.patterns.metrics import MetricReader
from extraction.patterns.pattern import read as read_patterns
from extraction.patterns.table_facts import TableReader
from extraction.patterns.table_labels import RowClaim
from extraction.patterns.table_relations import TableRelations
from extraction.quantities import find_quantities
from extraction.sentences import split
from extraction.standing_time import as_of, handed_on, is_estimate, named_week, told_weeks
from extraction.training.causal_claims import causal_beside, model_claims, unread
from extraction.training.rescoring import rescored
from extraction.training.role_reading import role_claims, roles_beside, unsaid
from kg.model import Alias, BlockKind, Entity, Kind, Mention, MentionStatus, Problem, Reading
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from kg.settings import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date, datetime
    from pathlib import Path

    from extraction.annotated import Claim
    from extraction.sentences import Sentence
    from extraction.training.causal_model import CausalModel
    from extraction.training.model import RelationModel
    from extraction.training.roles import RoleModel
    from kg.model import Block, Document, Fact
    from kg.period import Period

_OPENING_LINES = 20  # where a weekly names its days
_PATTERNS = (*chain.PATTERNS, *dealings.PATTERNS, *ownership.PATTERNS, *structure.PATTERNS)


class _Line(Struct, frozen=True):
    """A sentence, the block it stands in, and whether it opens that block."""

    sentence: Sentence
    block: Block
    first: bool


class Extractor:
    """Turns a document into a reading: chunks, mentions, entities and checked facts; needs no model and no network."""

    def __init__(
        self,
        master: Master,
        *,
        ner: bool = True,
        causal: CausalModel | None = None,
        relations: RelationModel | None = None,
        roles: RoleModel | None = None,
    ) -> None:
        self._master, self._lexicon = master, lexicon_with(load().names)
        self._resolver = Resolver(master)
        self._linker = Linker(self._resolver, self._lexicon, load_ner() if ner else None)
        self._metrics, self._causal = MetricReader(self._lexicon), CausalReader(self._lexicon)
        plain = Linker(self._resolver, self._lexicon, None)
        self._tables = TableReader(plain, self._metrics.subjects, self._lexicon)
        self._table_relations = TableRelations(plain)
        self._causal_model, self._relation_model, self._roles = causal, relations, roles  # off unless trained

    @classmethod
    def default(cls, *, master: Path | None = None, ner: bool = True, model: Path | None = None) -> Extractor:
        """Build it on the shipped securities master, or on the user's; `model` is where a trained one would lie."""
        return cls(Master.load(master), ner=ner, causal=_causal(model), relations=_trained(model), roles=_role(model))

    def extract(self, document: Document, *, recorded_at: datetime) -> Reading:
        """Read one document whole."""
        document = replace(document, signature=signature(_kept_text(document)))
        company = self._document_subject(document)
        annotated = self._annotated(document, company)
        self._metrics.begin()
        claims = [(claim, sentence) for sentence in annotated for claim in self._claims(sentence, document)]
        if self._roles:
            claims += unsaid(role_claims(self._roles, document, annotated), claims)
        cells, unclear = self._read_tables(document, company)
        claims += cells
        facts = merge(to_fact(claim, sentence, document, recorded_at=recorded_at) for claim, sentence in claims)
        used = [ref for sentence in annotated for ref in sentence.refs] + [
            end for claim, _ in claims for end in (claim.subject, claim.object)
        ]
        entities = entities_of(used, self._issuers(used, document), self._lexicon.anchors)
        good, problems = self._checked(facts, document, {entity.id: entity.kind for entity in entities})
        return Reading(
            document,
            tuple(with_classes(chunk_document(document), good)),
            _mentions(annotated, document),
            tuple(entities),
            good,
            (*problems, *unclear, *_impossible_dates(annotated)),
            recorded_at=recorded_at,
        )

    def annotate(self, document: Document) -> list[Annotated]:
        """Cut a document into sentences, each with its names, periods, quantities and surroundings."""
        return self._annotated(document, self._document_subject(document))

    def _annotated(self, document: Document, company: Ref | None) -> list[Annotated]:
        lines = list(_lines(document))
        refs = self._linker.link(document, [line.sentence for line in lines])
        return list(self._annotate(document, lines, refs, company))

    def _read_tables(
        self, document: Document, company: Ref | None
    ) -> tuple[list[tuple[Claim, Annotated]], list[Problem]]:
        """Read the measured cells and the relations of the tables, and what is unclear about others."""
        blocks = [block for block in document.blocks if block.kind == BlockKind.TABLE]
        found = [each for block in blocks for each in self._tables.read(document, block, company)]
        cells = [(each.claim, each.row) for each in found if isinstance(each, RowClaim)]
        for block in blocks:
            cells += [(each.claim, each.row) for each in self._table_relations.read(document, block, company)]
        return cells, [each for each in found if not isinstance(each, RowClaim)]

    def _claims(self, annotated: Annotated, document: Document) -> Iterator[Claim]:
        said = richest([*read_patterns(_PATTERNS, annotated), *listed.sure(annotated), *events.read(annotated)])
        yield from rescored(self._relation_model, annotated, said) if self._relation_model else said
        causes = list(self._causal.read(annotated))
        yield from causes
        if self._causal_model:
            yield from unread(model_claims(self._causal_model, annotated), causes)
        yield from self._metrics.read(annotated)
        yield from ratings.read(annotated, document.publisher)

    def _annotate(
        self, document: Document, lines: list[_Line], refs: list[list[Ref]], base: Ref | None
    ) -> Iterator[Annotated]:
        """Give each sentence its surroundings, walking down the document once; `base` is whom the report is about."""
        headings = Headings()
        around, company = Surroundings(base), base
        period: Period | None = None
        before: _Line | None = None
        above: set[str] = set()
        estimated = False
        year_end = fiscal_year_end(document.text)
        week = cache(partial(_named_week, lines[:_OPENING_LINES], document.published_on))
        for line, names in zip(lines, refs, strict=True):
            text = line.sentence.text
            if line.block.kind == BlockKind.HEADING:
                headings = headings.below(
                    read_heading(line.block.level, text, names, published_on=document.published_on)
                )
                around, before = Surroundings(base, headings.subject), None
                continue
            if line.first:
                if before:
                    label = is_label(before.sentence.text)
                    around = introduced(around, before.block, line.block, label=label, period=period)
                above, estimated = set(), False
                around = self._opened(line, names, around, document.published_on)
                period = around.period(headings.period)
            named = with_pronouns(text, names, around, last_company=company)
            about = around.subject
            subject = about if above <= {about.entity if about else ""} else None
            named = with_bare_heads(text, named, subject, lexicon=self._lexicon)
            past = period if period and period.start and period.start <= document.published_on else None
            dates, wrong = read_dates(text, document.published_on, context=past, fiscal_year_end=year_end)
            periods = as_of(told_weeks(dates, document.published_on, week), document.published_on, week)
            yield Annotated(
                sentence=line.sentence,
                refs=tuple(named),
                periods=tuple(periods),
                quantities=tuple(find_quantities(text)),
                subject=subject,
                region=region_of(text, names) or headings.region,
                place=_first_told(around.place, around.title.place if around.title else None, headings.place),
                firm=headings.firm or around.firm,
                stranger=around.stranger,
                opens=line.first,
                period=period,
                heading=headings.texts,
                risk=headings.risk,
                outlook=headings.outlook,
                estimated=estimated and not any(dated.role == "stated" for dated in periods),
                date_problems=tuple(wrong),
            )
            period, estimated, before = handed_on(text, periods, period), is_estimate(periods, estimated), line
            above |= {ref.entity for ref in names if ref.kind in (Kind.COMPANY, Kind.PRODUCT, Kind.INDUSTRY)}
            company = next((ref for ref in reversed(named) if ref.kind == Kind.COMPANY), company)

    def _opened(self, line: _Line, names: list[Ref], around: Surroundings, day: date) -> Surroundings:
        """Return the surroundings of a new block: its lead-in, or itself as the title of what follows."""
        text = line.sentence.text
        beside = around.lead_in or around.beside
        named = lead_in(text, names)
        closed = named is None and names_another(text, names, self._lexicon)
        around = structs.replace(
            around,
            lead_in=named,
            closed=closed,
            place=place_of(text, names),
            beside=beside,
            unlisted=closed and unlisted_firm(text, beside),
        )
        if is_title(text, whole=line.sentence.end == line.block.end, names=names):
            told = find_periods(text, day)
            title = read_title(text, names, around, periods=told, lexicon=self._lexicon)
            around = structs.replace(around, title=title, lead_in=None, closed=False, place=None, unlisted=False)
        return around

    def _document_subject(self, document: Document) -> Ref | None:
        """Return the one company the report is about: its code's, else the one of its title."""
        ids = {issuer.id for code in document.codes if (issuer := self._master.by_code(code))}
        if len(ids) != 1:  # of several codes the title says which is meant
            found = self._resolver.resolve(document.title, document.published_on)
            titled = {hit.entity_id for hit in found if hit.status == "linked" and hit.entity_id}
            ids = titled & ids if ids else titled
        if len(ids) != 1:
            return None
        issuer = self._master.issuer(ids.pop())
        assert issuer is not None  # the ids came from this master
        return Ref(issuer.id, Kind.COMPANY, issuer.name, score=0.9)

    def _issuers(self, refs: list[Ref], document: Document) -> dict[str, Entity]:
        """Return the entities of listed issuers with the name of the document's day and their codes."""
        names: dict[str, Entity] = {}
        spelled = [(ref.entity, ref.name) for ref in refs] + [(ref.about, ref.owner) for ref in refs if ref.owner]
        for entity, spelling in spelled:
            if entity.startswith("sec:") and entity not in names:
                issuer = self._master.issuer(entity)
                assert issuer is not None, entity  # the linker only gives ids of the master
                name = issuer.name_on(document.published_on)
                codes = tuple(listing.code for listing in issuer.listings)
                names[entity] = Entity(entity, Kind.COMPANY, name, _aliases(spelling, name, self._lexicon.never), codes)
        return names

    def _checked(
        self, facts: list[Fact], document: Document, kinds: dict[str, Kind]
    ) -> tuple[tuple[Fact, ...], tuple[Problem, ...]]:
        good, problems = [], []
        for fact in facts:
            problem = problem_of(fact, document, kinds)
            if problem is None:
                good.append(fact)
            else:
                problems.append(problem)
        wrong = contradictions(good)
        withheld = {fact for each in wrong for fact in each.withheld}
        return tuple(fact for fact in good if fact.id not in withheld), (*problems, *(each.problem for each in wrong))


def _named_week(lines: Sequence[_Line], published_on: date) -> Period | None:
    """Return the days that the top of a note names; only one that speaks of its week needs to be asked."""
    return named_week(
        [dated for line in lines for dated in find_periods(line.sentence.text, published_on)], published_on
    )


def sure(reading: Reading, least_confidence: float) -> Reading:
    """Return a reading without the facts that were read less surely than asked."""
    return replace(reading, facts=tuple(fact for fact in reading.facts if fact.confidence >= least_confidence))


def _trained(path: Path | None) -> RelationModel | None:
    """Load the relation model beside a knowledge base, where there is one; its libraries are an extra."""
    if path is None or not path.exists():
        return None
    from extraction.training.model import RelationModel  # noqa: PLC0415 -- an extra

    return RelationModel.load(path)


def _causal(path: Path | None) -> CausalModel | None:
    """Load the causal model that lies with the relation model's place, where there is one."""
    beside = causal_beside(path) if path else None
    if beside is None or not beside.exists():
        return None
    from extraction.training.causal_model import CausalModel  # noqa: PLC0415 -- an extra

    return CausalModel.load(beside)


def _first_told(*places: str | None) -> str:
    """Return the nearest place; "" is one as well: several are told, and none holds."""
    return next((place for place in places if place is not None), "")


def _role(path: Path | None) -> RoleModel | None:
    """Load the reader of roles that lies with the relation model's place, where there is one."""
    beside = roles_beside(path) if path else None
    if beside is None or not beside.exists():
        return None
    from extraction.training.roles import RoleModel  # noqa: PLC0415 -- an extra

    return RoleModel.load(beside)


def _kept_text(document: Document) -> str:
    """Return what facts are read from; a disclaimer that all reports of a house share would make them copies."""
    return "\n".join(document.text[block.start : block.end] for block in document.blocks)


def _impossible_dates(annotated: list[Annotated]) -> list[Problem]:
    """Return what looks like a date but cannot be one (2月30日), at its place in the document."""
    return [
        replace(problem, start=start, end=end)
        for each in annotated
        for problem in each.date_problems
        for start, end in [each.sentence.span(problem.start, problem.end)]
    ]


def _lines(document: Document) -> Iterator[_Line]:
    for block in document.blocks:
        if block.kind != BlockKind.TABLE:
            for index, sentence in enumerate(split(document.text, block.start, block.end)):
                yield _Line(sentence, block, index == 0)


def _aliases(spelling: str, name: str, never: frozenset[str]) -> tuple[Alias, ...]:
    """Return the spelling as an alias, unless it is the name or a word like 公司 that a report uses for short."""
    return () if spelling == name or spelling in never else (Alias(spelling),)


def _mentions(annotated: list[Annotated], document: Document) -> tuple[Mention, ...]:
    out = []
    for sentence in annotated:
        for ref in sentence.refs:
            start, end = sentence.sentence.span(ref.start, ref.end)
            out.append(
                Mention(start, end, document.text[start:end], ref.kind, MentionStatus.LINKED, ref.entity, ref.score)
            )
    return tuple(out)
