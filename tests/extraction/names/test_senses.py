"""Names of several chains get the entity that the words around them mean."""

from __future__ import annotations

import pytest

from extraction.names.senses import Senses
from extraction.sentence import EntityMention
from kg.ids import entity_id
from kg.model import Kind


def mention(text: str, name: str, kind: Kind = Kind.PRODUCT) -> EntityMention:
    start = text.index(name)
    return EntityMention(entity_id(kind, name), kind, name, start, start + len(name))


@pytest.mark.parametrize(
    ("text", "name", "headings", "title", "meant"),
    [
        ("甲公司的硅片用于存储芯片。", "硅片", [], "", "半导体硅片"),
        ("甲公司扩产硅片，硅料价格下跌。", "硅片", [], "", "硅片"),
        ("电池价格上涨，组件排产下降。", "电池", [], "", "电池片"),
        ("电池价格上涨，电解液跟涨。", "电池", [], "", "锂电池"),
        ("铜箔加工费上涨。", "铜箔", ["覆铜板", "PCB"], "", "PCB铜箔"),
        ("铜箔加工费上涨。", "铜箔", ["PCB", "负极"], "", "锂电铜箔"),
        ("铜箔加工费上涨。", "铜箔", [], "锂电周报", "锂电铜箔"),
        ("铜箔加工费上涨。", "铜箔", [], "", "铜箔"),
        ("铜箔用于锂电池和PCB。", "铜箔", [], "", "铜箔"),
    ],
)
def test_the_nearest_text_that_is_clear_decides(text: str, name: str, headings: list[str], title: str, meant: str):
    (told,) = Senses(title, text).tell_apart([mention(text, name)], text, headings)
    assert (told.name, told.entity) == (meant, entity_id(Kind.PRODUCT, meant))


def test_a_measure_follows_its_thing():
    text = "铜箔价格随覆铜板需求上涨。"
    price = EntityMention("indicator:铜箔价格", Kind.INDICATOR, "铜箔价格", 0, 4, "product:铜箔", 1.0, "铜箔", 2)
    told = Senses("", text).tell(price, text)
    assert (told.entity, told.about, told.owner) == ("indicator:pcb铜箔价格", "product:pcb铜箔", "PCB铜箔")


def test_the_whole_document_decides_where_it_is_clear():
    text = "铜箔加工费上涨。"
    assert Senses("", f"{text}锂盐涨价。正极涨价。负极涨价。").tell(mention(text, "铜箔"), text).name == "锂电铜箔"
    assert Senses("", f"{text}锂盐涨价。正极涨价。PCB涨价。").tell(mention(text, "铜箔"), text).name == "铜箔"
