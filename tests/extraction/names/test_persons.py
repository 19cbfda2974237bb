"""People of one name at two companies are two people."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from extraction.pipeline import Extractor
from kg.model import Block, BlockKind, Document, Reading

EXTRACTOR = Extractor.default(edge_model="off")


def _read(text: str, number: int = 1) -> Reading:
    document = Document(
        f"doc:{number}", "快讯", date(2025, 6, 1), text, blocks=(Block(0, len(text), BlockKind.PARAGRAPH),)
    )
    return EXTRACTOR.extract(document, recorded_at=datetime(2025, 6, 2, tzinfo=UTC))


def _persons(text: str) -> set[str]:
    return {entity.id for entity in _read(text).entities if entity.id.startswith("person:")}


@pytest.mark.parametrize(
    ("text", "firm"),
    [
        ("宁德时代董事长张伟减持公司股份500万股。", "300750.SZ"),
        ("张伟减持比亚迪500万股，占总股本的1%。", "002594.SZ"),
        ("比亚迪副总裁张伟质押2000万股。", "002594.SZ"),
        ("隆基绿能实际控制人张伟增持公司股份100万股。", "601012.SH"),
    ],
)
def test_a_person_is_identified_within_the_company(text, firm):
    assert _persons(text) == {f"person:张伟@{firm}"}


def test_two_of_one_name_are_two_and_facts_name_them():
    one, other = _read("张伟减持宁德时代500万股。", 1), _read("张伟减持比亚迪500万股。", 2)
    subjects = {fact.subject for reading in (one, other) for fact in reading.facts if "张伟" in fact.subject}
    assert subjects == {"person:张伟@300750.SZ", "person:张伟@002594.SZ"}
    assert {entity.name for entity in one.entities if "张伟" in entity.name} == {"张伟（宁德时代）"}
    assert [alias.name for entity in one.entities if "张伟" in entity.name for alias in entity.aliases] == ["张伟"]
    assert {mention.entity for mention in one.mentions if mention.text == "张伟"} == {"person:张伟@300750.SZ"}
