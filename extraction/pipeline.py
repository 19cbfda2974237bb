"""Extract facts from a document: split it into sentences, annotate them, read claims, check and merge facts."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from msgspec import structs

from extraction.certainty.signs import one_sign
from extraction.claims.effects.reader import EffectReader
from extraction.claims.readers import FigureReader, PatternReader, TableClaims
from extraction.claims.relations.frames import FrameReader
from extraction.claims.relations.precedence import settled
from extraction.claims.relations.stages import StageReader
from extraction.claims.tables.filing_links import FilingLinkReader
from extraction.claims.tables.statements import StatementReader
from extraction.context.coreference import Discourse
from extraction.context.headings import Headings, read_heading
from extraction.context.surroundings import (
    Surroundings,
    introduced,
    is_label,
    is_title,
    lead_in,
    names_another,
    place_of,
    read_title,
    region_of,
)
from extraction.dating.policy import (
    FiscalYears,
    carry_period,
    is_estimate,
    read_periods,
    reported_week,
    title_period,
)
from extraction.documents.filings.pages import is_plain, prose_of
from extraction.documents.metadata import stated_title
from extraction.facts.assemble import entities_of, merge, to_fact
from extraction.facts.checks import problem_of
from extraction.facts.chunking import chunk_document, chunk_pages
from extraction.facts.near_duplicates import signature
from extraction.facts.passage_class import with_classes
from extraction.llm.reader import MODEL_READER, ModelReader
from extraction.models.edge_reader import EdgeReader
from extraction.models.edges import EdgeModel
from extraction.models.linking import NameLinker
from extraction.models.units import lines_of
from extraction.names.linker import Linker
from extraction.names.ner import load_ner
from extraction.names.persons import claim_within_firms, entities_of_persons, firms_of_persons, within_firm
from extraction.names.senses import Senses
from extraction.names.user_names import lexicon_with
from extraction.quantities.reader import find_quantities
from extraction.sentence import AnnotatedDocument, AnnotatedSentence, Claims, EntityMention, WholeFiling
from extraction.text.sentences import normalise, split
from kg.filing import Filing, company_key
from kg.model import Alias, BlockKind, Entity, Kind, Mention, MentionStatus, Problem, Reading
from kg.securities.master import Master
from kg.securities.resolver import Resolver
from kg.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from extraction.llm.reader import PackReply
    from extraction.models.units import TextLine
    from extraction.sentence import Claim, ClaimReader
    from kg.model import Chunk, Document, Fact
    from kg.period import Period

_FOREIGN_CONFIDENCE = Settings().answer_confidence
_JSON_LINE = re.compile(r":\d+$")
_OPENING_LINES = 20  # where a weekly report names its dates


class Extractor:
    """Turns a document into a reading: chunks, mentions, entities and checked facts.

    Keeps no state between documents and is thread-safe.
    """

    def __init__(
        self,
        master: Master,
        *,
        ner: bool = True,
        edges: EdgeModel | None = None,
        names: Path | None = None,
        min_confidence: float = 0.0,
        filing_pages: int = Settings().filing_pages,
    ) -> None:
        self._master, self._lexicon, self._min_confidence = master, lexicon_with(names), min_confidence
        self._filing_pages = filing_pages
        self._resolver = Resolver(master)
        self._linker = Linker(self._resolver, self._lexicon, load_ner() if ner else None)
        by_lists = Linker(self._resolver, self._lexicon, None)
        self._readers: list[ClaimReader] = [
            FrameReader(),
            PatternReader(),
            FigureReader(self._lexicon),
            EffectReader(),
            StageReader(),
        ]
        linker = NameLinker(self._lexicon, master, partial(_kinds_of, edges))
        tables: list[ClaimReader] = [
            TableClaims(by_lists, self._lexicon),
            StatementReader(self._lexicon),
            FilingLinkReader(by_lists),
        ]
        self._foreign_readers = [*self._readers, *tables]
        if edges is not None:  # it knows Chinese
            self._readers.append(EdgeReader(edges, linker, min_confidence=min_confidence))
        self._readers += tables
        self._model_reader = ModelReader(linker)

    @classmethod
    def default(
        cls,
        *,
        master: Path | None = None,
        ner: bool = True,
        edge_model: str = "shipped",
        names: Path | None = None,
        min_confidence: float = 0.0,
        filing_pages: int = Settings().filing_pages,
    ) -> Extractor:
        """Build an extractor on the shipped securities master or the user's.

        Args:
            master: a securities master instead of the shipped one.
            ner: whether to recognise names that are in no list.
            edge_model: the relation model: `shipped`, `off`, or the folder of a trained model.
            names: the user's own names and synonyms.
            min_confidence: claims below it yield neither facts nor entities.
            filing_pages: how many pages of prose of a filing are read for relations.
        """
        edges = EdgeModel.named(edge_model)
        return cls(
            Master.load(master),
            ner=ner,
            edges=edges,
            names=names,
            min_confidence=min_confidence,
            filing_pages=filing_pages,
        )

    def extract(self, document: Document, *, recorded_at: datetime, replies: Sequence[PackReply] = ()) -> Reading:
        """Extract one document.

        Args:
            document: with its blocks.
            recorded_at: transaction time of the facts.
            replies: what language models answered about parts of this document.
        """
        document = replace(document, signature=signature(_kept_text(document)))
        filing = Filing.of(document)
        if filing and not document.codes:  # covers before 2019 name no ticker
            document = replace(document, codes=self._codes_of(document))
        plain = is_plain(filing, len(document.pages))
        read_blocks = prose_of(document, self._filing_pages) if plain else document.blocks
        annotated = self.annotate(replace(document, blocks=read_blocks))
        if filing and plain:
            annotated = structs.replace(annotated, filing=WholeFiling(filing, document))
        foreign = plain and document.language != "zh"  # the readers know Chinese notes; what they doubt is not kept
        found, unclear = Claims.of(annotated, self._foreign_readers if foreign else self._readers)
        senses = Senses(annotated.title, document.text)
        local = settled([(senses.of_claim(claim, sentence), sentence) for claim, sentence in found])
        claims, refused = self._model_reader.combine(annotated, local, replies)
        firms = firms_of_persons(annotated.sentences, claims)
        least = max(self._min_confidence, _FOREIGN_CONFIDENCE) if foreign else self._min_confidence
        claims = [
            (claim_within_firms(claim, firms), sentence)
            for claim, sentence in one_sign(claims)
            if claim.confidence >= least
        ]
        replied_at = max((reply.at for reply in replies), default=recorded_at)
        times = {True: max(replied_at, recorded_at), False: recorded_at}
        read = [
            (claim, to_fact(claim, sentence, document, recorded_at=times[claim.reader.startswith(MODEL_READER)]))
            for claim, sentence in claims
        ]
        facts = merge(fact for _, fact in read if fact.confidence >= least)
        good, problems = self._checked(facts, document, {end.entity: end.kind for end in _ends(claims)})
        used = {end for fact in good for end in (fact.subject, fact.object)}
        ends = [end for end in _ends(claims) if end.entity in used]
        if foreign:
            annotated = _keep_listed(annotated, used)
        refs = [within_firm(ref, firms) for sentence in annotated.sentences for ref in sentence.refs] + ends
        named = self._issuers(refs, document) | self._spelling_variants(annotated, used) | entities_of_persons(refs)
        entities = entities_of(refs, named, self._lexicon.anchors)
        return Reading(
            replace(document, legibility=()),
            _passages(document, good, by_page=plain),
            _mentions(annotated, claims, used, firms),
            tuple(entities),
            good,
            (*problems, *unclear, *refused, *_impossible_dates(annotated.sentences), *_doubts(document, filing)),
            recorded_at=recorded_at,
        )

    def annotate(self, document: Document) -> AnnotatedDocument:
        """Split a document into lines and sentences, each with its names, periods, quantities and surroundings."""
        company = self._document_subject(document)
        lines = lines_of(document)
        names = self._linker.link(document, [line.sentence for line in lines])
        stated = stated_title(document)
        titles = split(stated, 0, len(stated))
        title_names = self._linker.read(stated, document.published_on, titles[:1])[1] if len(titles) == 1 else [[]]
        title = titles[0].text if len(titles) == 1 else normalise(stated)
        senses = Senses(title, document.text)
        by_line = self._annotate(document, lines, names, company)
        by_line = {
            line: structs.replace(each, refs=tuple(senses.tell_apart(each.refs, each.text, each.heading)))
            for line, each in by_line.items()
        }
        names = [
            list(by_line[at].refs) if at in by_line else senses.tell_apart(refs, line.sentence.text)
            for at, (line, refs) in enumerate(zip(lines, names, strict=True))
        ]
        return AnnotatedDocument(
            document, lines, names, tuple(by_line.values()), by_line, title, title_names[0], company
        )

    def _annotate(
        self,
        document: Document,
        lines: Sequence[TextLine],
        refs: Sequence[list[EntityMention]],
        base: EntityMention | None,
    ) -> dict[int, AnnotatedSentence]:
        """Annotate each sentence in one pass over the lines; `base` is the company that the report is about."""
        headings = Headings()
        around, discourse = Surroundings(base), Discourse(base, self._lexicon)
        day, opening = document.published_on, [line.sentence.text for line in lines[:_OPENING_LINES]]
        period: Period | None = None
        before: TextLine | None = None
        estimated = False
        fiscal = FiscalYears(base, ((line.sentence.text, names) for line, names in zip(lines, refs, strict=True)))
        week = cache(partial(reported_week, opening, day))
        titled = partial(title_period, published_on=day, week=week)
        out: dict[int, AnnotatedSentence] = {}
        for number, (line, names) in enumerate(zip(lines, refs, strict=True)):
            text = line.sentence.text
            if line.block.kind == BlockKind.TABLE:
                continue
            if line.block.kind == BlockKind.HEADING:
                heading = read_heading(line.block.level, text, names, published_on=day, week=week)
                headings = headings.below(heading)
                around, before = Surroundings(base, headings.subject), None
                continue
            if line.first:
                if before:
                    label = is_label(before.sentence.text)
                    around = introduced(around, before.block, line.block, label=label, period=period)
                discourse.begin_block()
                estimated = False
                around = self._block_surroundings(line, names, around, titled)
                period = around.period(headings.period)
            named, subject = discourse.resolve(text, names, around)
            year_end = fiscal.of(named, subject)
            periods, impossible = read_periods(text, day, period, fiscal_year_end=year_end or 12, week=week)
            out[number] = AnnotatedSentence(
                sentence=line.sentence,
                refs=tuple(named),
                periods=tuple(periods),
                quantities=tuple(find_quantities(text)),
                subject=subject,
                region=region_of(text, names) or headings.region,
                place=_nearest_place(around.place, around.title.place if around.title else None, headings.place),
                company_scope=headings.company_scope or around.company_scope,
                starts_block=line.first,
                period=period,
                heading=headings.texts,
                risk=headings.risk,
                outlook=headings.outlook,
                fiscal=year_end is not None,
                estimated=estimated and not any(dated.role == "stated" for dated in periods),
                date_problems=tuple(impossible),
            )
            period = carry_period(text, periods, period, fiscal=year_end is not None)
            estimated, before = is_estimate(periods, estimated), line
        return out

    def _block_surroundings(
        self,
        line: TextLine,
        names: list[EntityMention],
        around: Surroundings,
        period_of: Callable[[str], Period | None],
    ) -> Surroundings:
        """Return the surroundings of a new block: its lead-in, or the block itself as title of the following ones."""
        text = line.sentence.text
        named = lead_in(text, names)
        closed = named is None and names_another(text, names, self._lexicon)
        around = structs.replace(
            around,
            lead_in=named,
            closed=closed,
            place=place_of(text, names),
        )
        if is_title(text, whole=line.sentence.end == line.block.end, names=names):
            title = read_title(text, names, around, period=period_of(text), lexicon=self._lexicon)
            around = structs.replace(around, title=title, lead_in=None, closed=False, place=None)
        return around

    def _document_subject(self, document: Document) -> EntityMention | None:
        """Return the one company that the report is about: by its codes, else by its title."""
        ids = {issuer.id for code in document.codes if (issuer := self._master.by_code(code))}
        if len(ids) != 1:  # with several codes, the title decides; the name of a file of many records names none
            title = stated_title(document) if _JSON_LINE.search(document.path) else document.title
            found = self._resolver.resolve(title, document.published_on)
            named = [hit for hit in found if hit.status == "linked" and hit.entity_id]
            if document.publisher and Filing.of(
                document
            ):  # the name has to begin as the issuer's does: 「Inc」 is nobody
                issuer_key = company_key(document.publisher)
                named = [hit for hit in named if issuer_key.startswith(company_key(hit.text))]
            titled = {hit.entity_id for hit in named if hit.entity_id}
            ids = titled & ids if ids else titled
        if len(ids) != 1:
            return None
        issuer = self._master.issuer(ids.pop())
        assert issuer is not None  # the ids came from this master
        return EntityMention(issuer.id, Kind.COMPANY, issuer.name, score=0.9)

    def _codes_of(self, document: Document) -> tuple[str, ...]:
        """Return the primary code of the issuer that a document's title names."""
        subject = self._document_subject(document)
        issuer = self._master.issuer(subject.entity) if subject else None
        return tuple(listing.code for listing in issuer.listings[:1]) if issuer else ()

    def _issuers(self, refs: list[EntityMention], document: Document) -> dict[str, Entity]:
        """Return the entities of listed issuers, with their name on the document's day and their codes."""
        names: dict[str, Entity] = {}
        spelled = [(ref.entity, ref.name) for ref in refs] + [(ref.about, ref.owner) for ref in refs if ref.owner]
        for entity, spelling in spelled:
            if entity.startswith("sec:") and entity not in names:
                issuer = self._master.issuer(entity)
                assert issuer is not None, entity  # the linker only returns ids of the master
                name = issuer.name_on(document.published_on)
                codes = tuple(listing.code for listing in issuer.listings)
                names[entity] = Entity(entity, Kind.COMPANY, name, _aliases(spelling, name, self._lexicon.never), codes)
        return names

    def _spelling_variants(self, annotated: AnnotatedDocument, used: set[str]) -> dict[str, Entity]:
        """Return gazetteer entities of facts that the document spells differently, with those aliases: 券商, 证券."""
        found: dict[str, tuple[EntityMention, set[str]]] = {}
        for sentence in annotated.sentences:
            for ref in sentence.refs:
                spelling = sentence.text[ref.start : ref.end] if ref.start >= 0 else ref.name
                term = self._lexicon.terms.get(spelling)
                other = spelling != ref.name and term is not None and term.entity == ref.entity
                if other and ref.entity in used:
                    found.setdefault(ref.entity, (ref, set()))[1].add(spelling)
        return {
            entity: Entity(entity, ref.kind, ref.name, tuple(map(Alias, sorted(spellings))), about=ref.about)
            for entity, (ref, spellings) in found.items()
        }

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
        return tuple(good), tuple(problems)


def _kinds_of(edges: EdgeModel | None, name: str, proposed: Mapping[Kind, float]) -> list[Kind]:
    """Return the kinds of a name; the shipped model's table serves where no edge model reads."""
    model = edges or EdgeModel.named("shipped")
    assert model is not None  # it ships with Liantu
    return model.kind_of(name, proposed)


def _nearest_place(*places: str | None) -> str:
    """Return the first place that is not None; "" means several places."""
    return next((place for place in places if place is not None), "")


def _kept_text(document: Document) -> str:
    """Return the text of the blocks: a publisher's shared disclaimer would make its reports near-duplicates."""
    return "\n".join(document.text[block.start : block.end] for block in document.blocks)


def _passages(document: Document, facts: Sequence[Fact], *, by_page: bool) -> tuple[Chunk, ...]:
    chunks = chunk_pages(document) if by_page else chunk_document(document)
    return tuple(with_classes(chunks, facts, find_repeated=not by_page))


def _keep_listed(annotated: AnnotatedDocument, used: set[str]) -> AnnotatedDocument:
    """Drop the names of sentences that are neither listed issuers nor ends of facts (The Company, 17B)."""

    def kept(sentence: AnnotatedSentence) -> AnnotatedSentence:
        refs = (ref for ref in sentence.refs if ref.entity in used or ref.entity.startswith("sec:"))
        return structs.replace(sentence, refs=tuple(refs))

    return structs.replace(annotated, sentences=tuple(map(kept, annotated.sentences)))


def _doubts(document: Document, filing: Filing | None) -> Iterator[Problem]:
    """Yield what a reader should know of a document: pages read by OCR, a cover that is incomplete."""
    read = [each for each in document.legibility if each < 1]
    if read:
        mean = sum(read) / len(read)
        yield Problem("ocr", f"{len(read)} of {len(document.pages)} pages read by OCR, confidence {mean:.2f}")
    if filing and filing.missing:
        yield Problem("cover", f"the cover of this {filing.form} does not state its {' and '.join(filing.missing)}")


def _impossible_dates(annotated: Sequence[AnnotatedSentence]) -> list[Problem]:
    """Return the impossible dates (2月30日) with their offsets in the document."""
    return [
        replace(problem, start=start, end=end)
        for each in annotated
        for problem in each.date_problems
        for start, end in [each.sentence.span(problem.start, problem.end)]
    ]


def _aliases(spelling: str, name: str, never: frozenset[str]) -> tuple[Alias, ...]:
    """Return the spelling as an alias, unless it is the name itself or a generic word such as 公司."""
    return () if spelling == name or spelling in never else (Alias(spelling),)


def _ends(claims: Iterable[tuple[Claim, AnnotatedSentence]]) -> list[EntityMention]:
    return [end for claim, _ in claims for end in (claim.subject, claim.object)]


def _mentions(
    annotated: AnnotatedDocument,
    claims: Sequence[tuple[Claim, AnnotatedSentence]],
    used: set[str],
    firms: Mapping[str, EntityMention],
) -> tuple[Mention, ...]:
    """Return the mentions of a document: names found by the linker, and ends of facts found only by a reader."""
    text = annotated.document.text
    places = {
        (*sentence.sentence.span(ref.start, ref.end), ref.entity): ref
        for sentence in annotated.sentences
        for ref in (within_firm(each, firms) for each in sentence.refs)
    }
    for claim, _ in claims:
        for start, end, ref in claim.named:
            if ref.entity in used:
                places.setdefault((start, end, ref.entity), ref)
    return tuple(
        Mention(start, end, text[start:end], ref.kind, MentionStatus.LINKED, entity, ref.score)
        for (start, end, entity), ref in sorted(places.items(), key=lambda row: row[0])
    )
