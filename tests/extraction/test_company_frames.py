"""Every frame, slot, stage and share of the lexicon reads its own example, in the right direction."""

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from extraction.claims.relations.details import shares, stages
from extraction.claims.relations.frames import company_frames
from extraction.documents.jsonl import read_record
from extraction.documents.metadata import SourceFile
from extraction.pipeline import Extractor
from extraction.text.lexicon import table
from kg.relations import vocabulary

_SOURCE = SourceFile(Path("note"), b"", date(2025, 12, 1), None)


@pytest.fixture(scope="module")
def extractor():
    return Extractor.default(edge_model="off")


def _read(extractor, text, title="行业周报"):
    document = read_record({"title": title, "date": "2025-09-28", "text": text}, _SOURCE)
    return extractor.extract(document, recorded_at=datetime(2025, 12, 1, tzinfo=UTC))


def _pairs(reading, relation):
    names = {entity.id: {entity.name, *(alias.name for alias in entity.aliases)} for entity in reading.entities}
    return [(names[fact.subject], names[fact.object], fact) for fact in reading.facts if fact.relation == relation]


@pytest.mark.parametrize("frame", company_frames(), ids=lambda frame: frame.name)
def test_a_frame_reads_its_example(extractor, frame):
    found = _pairs(_read(extractor, frame.example), frame.relation)
    for pair in frame.reads:
        subject, object_ = pair.split(">")
        ways = [(subject, object_), (object_, subject)] if vocabulary()[frame.relation].symmetric else [(subject, object_)]
        assert any(one in left and other in right for left, right, _ in found for one, other in ways), (pair, found)
