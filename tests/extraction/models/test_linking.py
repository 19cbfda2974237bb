"""How names that the edge model found become entities; a stand-in says what the network would."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from extraction.certainty.policy import certainty_of
from extraction.models.edge_reader import EdgeReader
from extraction.models.edges import Edge
from extraction.models.linking import NameLinker
from extraction.names.gazetteer import shipped_lexicon
from extraction.pipeline import Extractor
from kg.model import Kind, Polarity
from kg.securities.master import Master
from tests.goldens.reports import READ, report

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from extraction.models.units import Unit


@cache
def extractor() -> Extractor:
    return Extractor.default(ner=False, edge_model="off")


@cache
def master() -> Master:
    return Master.load()


class Spoken:
    """Reads the edges that a test states by name, with the kinds of the names; a kind is what most contexts propose."""

    version = "test"

    def __init__(self, *stated: tuple[str, Kind, str, str, Kind]) -> None:
        self._stated = stated

    def read(self, units: Sequence[Unit], *, min_confidence: float) -> list[list[Edge]]:  # noqa: ARG002 -- as `EdgeModel`
        return [list(self._edges(unit)) for unit in units]

    def _edges(self, unit: Unit) -> Iterator[Edge]:
        for subject, subject_kind, relation, object_, object_kind in self._stated:
            at, to = unit.text.find(subject), unit.text.find(object_)
            if min(at, to) >= 0:
                spans = (at, at + len(subject)), (to, to + len(object_))
                yield Edge(*spans, relation, 0.9, subject_kind=subject_kind, object_kind=object_kind)

    def kind_of(self, name: str, proposed: Mapping[Kind, float]) -> list[Kind]:  # noqa: ARG002 -- as `EdgeModel`
        first = max(proposed, key=lambda kind: proposed[kind], default=Kind.PRODUCT)
        return [first, *(kind for kind in Kind if kind != first)]


def claims(model: Spoken, *lines: str) -> list[tuple[str, str, str]]:
    linker = NameLinker(shipped_lexicon(), master(), model.kind_of)
    found = EdgeReader(model, linker, min_confidence=0.2).read(extractor().annotate(report(*lines)))
    return [(claim.subject.entity, claim.relation, claim.object.entity) for claim, _ in found]


@pytest.mark.parametrize(
    ("name", "kind", "entity"),
    [
        ("上海医药", Kind.COMPANY, "sec:601607.SH"),  # the resolver alone leaves it open
        ("上海医药", Kind.INDUSTRY, "industry:上海医药"),
        ("三一", Kind.COMPANY, "org:三一"),  # abbreviates several organisations
    ],
)
def test_what_is_read_as_a_company_is_the_issuer_of_that_name(name: str, kind: Kind, entity: str):
    model = Spoken((name, kind, "belongs_to", "某某药品流通", Kind.INDUSTRY))
    assert claims(model, f"数据来自{name}某某药品流通。") == [(entity, "belongs_to", "industry:某某药品流通")]


@pytest.mark.parametrize(
    ("text", "read", "entity"),
    [
        ("上游：合盛硅业主营某某原料。", "合盛硅", "sec:603260.SH"),
        ("拖累拓荆科技某某原料。", "荆科技", "sec:688072.SH"),
        ("关联方包钢股份某某原料。", "方包钢股份", "sec:600010.SH"),
        ("新华保险H某某原料。", "新华保险H", "sec:601336.SH"),
        ("合盛某某原料。", "合盛", "org:合盛"),  # what follows makes no issuer's name
    ],
)
def test_a_company_whose_name_is_cut_wrongly_is_the_issuer_around_it(text: str, read: str, entity: str):
    model = Spoken((read, Kind.COMPANY, "produces", "某某原料", Kind.PRODUCT))
    assert claims(model, text) == [(entity, "produces", "product:某某原料")]


def test_a_measure_of_an_issuer_is_anchored_to_the_issuer():
    model = Spoken(("某某原料", Kind.PRODUCT, "affects", "合盛硅业毛利率", Kind.INDICATOR))
    linker = NameLinker(shipped_lexicon(), master(), lambda _name, _kinds: [Kind.COMPANY])
    found = EdgeReader(model, linker, min_confidence=0.2).read(
        extractor().annotate(report("某某原料影响合盛硅业毛利率。"))
    )
    assert [claim.object.about for claim, _ in found] == ["sec:603260.SH"]


def test_a_measure_is_of_what_the_document_names_by_itself():
    model = Spoken(
        ("某某原料", Kind.PRODUCT, "affects", "某某新材价格", Kind.INDICATOR),
        ("某某原料", Kind.PRODUCT, "affects", "某某补库需求", Kind.INDICATOR),
        ("某某原料", Kind.PRODUCT, "upstream_of", "某某新材", Kind.INDUSTRY),
    )
    reader = Extractor(master(), ner=False, edges=model)
    text = "某某原料影响某某新材价格。", "某某原料影响某某补库需求。", "某某原料用于某某新材。"
    about = {entity.id: entity.about for entity in reader.extract(report(*text), recorded_at=READ).entities}
    assert about["indicator:某某新材价格"] == "industry:某某新材"
    assert about["indicator:某某补库需求"] == ""
    assert not any(entity.endswith("某某补库") for entity in about)


def test_of_a_triple_and_its_reverse_one_is_kept():
    model = Spoken(
        ("甲公司", Kind.COMPANY, "subsidiary_of", "乙公司", Kind.COMPANY),
        ("乙公司", Kind.COMPANY, "subsidiary_of", "甲公司", Kind.COMPANY),
    )
    assert claims(model, "甲公司是乙公司的子公司。") == [("org:甲公司", "subsidiary_of", "org:乙公司")]


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("猪价", "indicator:生猪价格"),
        ("铝价", "indicator:铝价格"),
        ("碳酸锂价", "indicator:碳酸锂价格"),
        ("碳酸锂均价", "indicator:碳酸锂价格"),
        ("人民币中间价", "indicator:人民币中间价"),
    ],
)
def test_a_price_has_one_name(name: str, entity: str):
    linker = NameLinker(shipped_lexicon(), master(), lambda _name, _kinds: [Kind.INDICATOR])
    found = linker.link_name(name)
    assert found is not None
    assert found.entity == entity


def test_a_name_has_one_kind_in_a_document():
    model = Spoken(
        ("甲元件", Kind.PRODUCT, "part_of", "乙装置", Kind.PRODUCT),
        ("丙材料", Kind.PRODUCT, "upstream_of", "乙装置", Kind.INDUSTRY),
        ("丁材料", Kind.PRODUCT, "upstream_of", "乙装置", Kind.PRODUCT),
    )
    found = claims(model, "甲元件用在乙装置里。", "丙材料用在乙装置里。", "丁材料用在乙装置里。")
    assert {object_ for _, _, object_ in found} == {"product:乙装置"}


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("天齐锂业不生产光模块、PCB。", True),
        ("天齐锂业不再生产PCB。", True),
        ("天齐锂业不仅生产PCB。", False),
        ("天齐锂业不生产光模块，生产PCB。", False),
        ("天齐锂业为尚未上市的企业提供PCB。", False),
    ],
)
def test_a_relation_whose_verb_is_denied_is_negative(text: str, denied: bool):
    model = Spoken(("天齐锂业", Kind.COMPANY, "produces", "PCB", Kind.PRODUCT))
    document = extractor().annotate(report(text))
    linker = NameLinker(shipped_lexicon(), master(), model.kind_of)
    ((claim, line),) = EdgeReader(model, linker, min_confidence=0.2).read(document)
    expected = Polarity.NEGATIVE if denied else Polarity.POSITIVE
    assert certainty_of(claim, line, document.document).polarity == expected


@pytest.mark.parametrize(
    ("text", "raised"),
    [
        ("储能系统由甲某电芯、乙某温控和丙某线束构成。", True),
        ("储能系统由甲某电芯（DXA）、乙某温控构成。", True),
        ("储能系统由甲某电芯（丁某料）、乙某温控构成。", False),  # the bracket is of the first alone
        ("储能系统由甲某电芯等部件、乙某温控构成。", False),  # the list ended
        ("储能系统由甲某电芯构成，乙某温控涨价。", False),
    ],
)
def test_an_edge_is_as_sure_as_that_of_another_item_of_its_list(text: str, raised: bool):
    class Unsure(Spoken):
        def _edges(self, unit: Unit) -> Iterator[Edge]:
            for edge in super()._edges(unit):
                sure = unit.text[slice(*edge.subject)] == "甲某电芯"
                yield structs.replace(edge, probability=0.8 if sure else 0.3)

    stated = [(name, Kind.PRODUCT, "part_of", "储能系统", Kind.PRODUCT) for name in ("甲某电芯", "乙某温控")]
    model = Unsure(*stated)
    linker = NameLinker(shipped_lexicon(), master(), model.kind_of)
    found = EdgeReader(model, linker, min_confidence=0.2).read(extractor().annotate(report(text)))
    other = next(claim.confidence for claim, _ in found if claim.subject.name == "乙某温控")
    assert (other > 0.7) is raised
