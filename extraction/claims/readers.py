"""Rule-based claim readers for relations and events, measured figures and ratings, and tables."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from extraction.claims.events import reader as events
from extraction.claims.measures import ratings
from extraction.claims.measures.reader import MetricReader
from extraction.claims.relations import listed
from extraction.claims.relations.pattern import read, relation_patterns
from extraction.claims.tables.figures import TableReader
from extraction.claims.tables.labels import RowClaim
from extraction.claims.tables.relations import TableRelations
from extraction.facts.assemble import richest
from kg.model import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from extraction.names.gazetteer import Lexicon
    from extraction.names.linker import Linker
    from extraction.sentence import AnnotatedDocument, ClaimRow
    from kg.model import Problem


class PatternReader:
    """Read relations, lists and events, one sentence at a time."""

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow]:
        """Yield the relations of each sentence; of duplicate claims, keep the most detailed."""
        for sentence in document.sentences:
            found = richest([*read(relation_patterns(), sentence), *listed.sure(sentence), *events.read(sentence)])
            yield from ((claim, sentence) for claim in found)


class FigureReader:
    """Read measured figures and ratings; a sentence may continue the measurement of the previous one."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._metrics = MetricReader(lexicon)

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow]:
        """Yield the figures of a document in text order."""
        metrics, publisher = copy(self._metrics), document.document.publisher  # per-document state
        metrics.begin()
        for sentence in document.sentences:
            for claim in (*metrics.read(sentence), *ratings.read(sentence, publisher)):
                yield claim, sentence


class TableClaims:
    """Read measured cells and relations from tables, and report problems with unclear ones."""

    def __init__(self, linker: Linker, lexicon: Lexicon) -> None:
        self._cells = TableReader(linker, MetricReader(lexicon).subjects, lexicon)
        self._relations = TableRelations(linker)

    def read(self, document: AnnotatedDocument) -> Iterator[ClaimRow | Problem]:
        """Yield the claims and the problems of a document's tables."""
        source, company = document.document, document.company
        blocks = [block for block in source.blocks if block.kind == BlockKind.TABLE]
        for reader in (self._cells, self._relations):
            for each in (each for block in blocks for each in reader.read(source, block, company)):
                yield (each.claim, each.row) if isinstance(each, RowClaim) else each
