"""How much of a note is about a topic, and whom it names there."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from communities.evidence import EvidenceReader, TopicEvidence
from kg.model import Chunk, Entity, Kind, Mention, MentionStatus
from kg.query.session import QuerySession
from tests.kg.query.world import LONGI, MODULE, PRICE, SILICON, TONGWEI, claim, moves, named, paper, seen

if TYPE_CHECKING:
    from kg.model import Reading

TITLE, HEADING = "硅料行业周报", "一、硅料：减产推升价格"


def note(text: str, *names: tuple[str, str], title: str = TITLE, heading: str = HEADING) -> Reading:
    """Return a note of one passage that mentions these names."""
    read = paper(1, "2024-01-10", extra=tuple(named(entity) for _, entity in names))
    mentions = tuple(
        Mention(text.index(name), text.index(name) + len(name), name, Kind.PRODUCT, MentionStatus.LINKED, entity)
        for name, entity in names
    )
    chunk = Chunk("chunk:1", "doc:1", 0, len(text), text, heading=(heading,))
    return replace(read, document=replace(read.document, title=title, text=text), chunks=(chunk,), mentions=mentions)


def evidence_of(*readings: Reading) -> TopicEvidence:
    return EvidenceReader(QuerySession(seen(*readings))).read()


def test_a_note_is_about_what_its_title_headings_and_text_name():
    found = evidence_of(note("通威股份扩产。组件随后。", ("通威股份", TONGWEI), ("组件", MODULE), ("扩产", SILICON)))
    assert found.focus[SILICON]["doc:1"] > found.focus[MODULE]["doc:1"]
    assert found.days == {"doc:1": date(2024, 1, 10)}


def test_a_company_under_a_heading_is_of_its_topic_more_than_one_named_in_a_sentence():
    found = evidence_of(note("通威股份扩产。组件随后。", ("通威股份", TONGWEI), ("组件", MODULE), ("扩产", SILICON)))
    assert found.companies[SILICON][TONGWEI]["doc:1"] == 0.8
    assert TONGWEI not in found.companies[MODULE]
    assert [section.heading for section in found.sections[SILICON]] == [HEADING]


def test_only_shown_facts_tie_topics_and_an_indicator_stands_for_what_it_measures():
    sure = paper(1, "2024-01-10", ("硅料价格涨，组件成本升。", moves(PRICE, "indicator:组件毛利率", 1, -1)))
    unsure = paper(2, "2024-01-10", ("甲用于乙。", claim("product:甲料", "upstream_of", "product:乙料")))
    facts = tuple(
        replace(fact, evidence=tuple(replace(item, confidence=0.05) for item in fact.evidence)) for fact in unsure.facts
    )
    found = evidence_of(sure, replace(unsure, facts=facts))
    assert set(found.ties) == {tuple(sorted((SILICON, MODULE)))}


def test_a_stated_maker_counts_and_general_words_are_no_topics():
    made = ("隆基绿能生产组件。", claim(LONGI, "produces", MODULE))
    general = ("隆基绿能生产设备。", claim(LONGI, "produces", "product:设备"))
    found = evidence_of(paper(1, "2024-01-10", made, general))
    assert found.stated[MODULE][LONGI] == {"doc:1"}
    assert "product:设备" not in found.focus


def test_a_part_of_a_latin_word_and_an_undecided_homonym_are_no_topics():
    extra = (Entity("product:PC", Kind.PRODUCT, "PC"), Entity("product:铜箔", Kind.PRODUCT, "铜箔"))
    text = "PC与铜箔。"
    read = note(text, ("铜箔", "product:铜箔"), ("PC", "product:PC"), title="PCB与铜箔", heading="PCB")
    found = evidence_of(replace(read, entities=(*read.entities, *extra)))
    assert found.focus["product:PC"]["doc:1"] <= 0.5 + 1e-9
    assert "product:铜箔" not in found.focus
