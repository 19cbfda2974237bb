from __future__ import annotations

import io
from datetime import date
from typing import TYPE_CHECKING

import networkx as nx
import pandas as pd
import pytest

from kg.errors import KgError
from kg.query.browse import conversions, frames
from kg.service.base import KnowledgeBase
from tests.kg.query.world import LONGI, MODULE, PRICE, TONGWEI, WAFER, claim, filled, paper, solar

if TYPE_CHECKING:
    from kg.query.browse.conversions import GraphAnswer


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    return KnowledgeBase(filled(solar()))


@pytest.fixture(scope="module")
def answers(kb: KnowledgeBase) -> list[GraphAnswer]:
    return [
        kb.chain("光伏"),
        kb.impact("硅料价格"),
        kb.causes("组件毛利率"),
        kb.relate("通威股份", "隆基绿能"),
        kb.profile("隆基绿能"),
        kb.ask("光伏产业链上下游有哪些公司？"),
        kb.neighbours("隆基绿能"),
        kb.facts(),
        kb.diff(date(2024, 5, 1)),
        kb.history("硅料价格", "电池片成本"),
    ]


def test_all_forms_have_the_same_nodes_and_edges(answers: list[GraphAnswer]):
    for answer in answers:
        network, graph = answer.to_networkx(), answer.to_igraph()
        edges, nodes = answer.to_pandas(), answer.to_pandas("nodes")
        assert set(network) == set(graph.vs["name"]) == set(nodes["id"]), type(answer)
        ends = sorted((source, target) for source, target, _ in network.edges)
        assert ends == sorted((graph.vs[edge.source]["name"], graph.vs[edge.target]["name"]) for edge in graph.es)
        assert ends == sorted(zip(edges["source"], edges["target"], strict=True))
        assert len(ends) > 0
        assert network.nodes(data="name", default=None)[next(iter(network))] != ""
        nx.write_graphml(network, io.BytesIO())  # only strings and numbers


def test_an_edge_has_its_source(kb: KnowledgeBase):
    network = kb.profile("隆基绿能").to_networkx()
    (edge,) = network.get_edge_data(TONGWEI, LONGI).values()
    assert (edge["relation"], edge["quote"], edge["document"]) == ("supplies", "通威股份向隆基绿能供应硅料。", "doc:2")
    assert (edge["source_name"], edge["target_name"]) == ("通威股份", "隆基绿能")
    assert network.nodes[LONGI]["code"] == "601012.SH"


def test_a_frame_has_days_and_names(kb: KnowledgeBase):
    frame = kb.neighbours("隆基绿能").to_pandas()
    made = frame[frame["relation"] == "produces"]
    assert set(made["target"]) == {WAFER, MODULE}
    assert made["first_day"].iloc[0] == pd.Timestamp(2024, 2, 1)


def test_an_answer_without_edges_is_an_empty_graph(kb: KnowledgeBase):
    answer = KnowledgeBase(kb.store, min_confidence=1.01).profile("隆基绿能")
    assert set(answer.to_networkx()) == {LONGI}
    assert answer.to_igraph().vcount() == 1
    assert len(answer.to_pandas()) == 0


def test_a_library_that_is_missing_is_named(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(frames, "import_module", missing)
    with pytest.raises(KgError, match=r"pandas is not installed; run `pip install 'liantu\[notebooks\]'`"):
        kb.profile("隆基绿能").to_pandas()


def test_a_notebook_shows_a_picture_or_an_escaped_table(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    assert kb.chain("光伏")._repr_html_().startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in kb.chain("光伏")._repr_html_()
    assert "<td>通威股份</td>" in kb.neighbours("隆基绿能")._repr_html_()
    assert "<li" in kb.ask("硅料价格影响什么？")._repr_html_()
    hostile = paper(1, "2024-01-01", ("<b>x</b>", claim("product:<script>alert(1)</script>", "upstream_of", PRICE)))
    base = KnowledgeBase(filled([hostile]))
    for shown in (base.facts(), base.profile(PRICE)):
        assert "<script>" not in shown._repr_html_()
        assert "<script>alert" not in shown.to_pyvis().generate_html()
    monkeypatch.setattr(conversions, "entry_points", lambda **_: ())
    assert "<td>通威股份</td>" in kb.profile("隆基绿能")._repr_html_()
    with pytest.raises(KgError, match="nothing that draws"):
        kb.profile("隆基绿能").to_pyvis()
