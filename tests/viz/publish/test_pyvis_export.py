from __future__ import annotations

import re
import sys

import pytest

from kg.errors import KgError
from kg.model import Kind
from kg.query.answers import ProfileAnswer, Subgraph
from tests.viz import samples
from viz.publish.pyvis_export import plain_page, pyvis_network
from viz.scene import scene_of


def test_the_network_holds_the_answer():
    pytest.importorskip("pyvis")
    scene = scene_of(samples.solar_chain())
    network = pyvis_network(scene)
    assert network.num_nodes() == len(scene.nodes)
    assert network.num_edges() == len(scene.edges)
    assert all("x" in node and "y" in node for node in network.nodes)


def test_namesakes_are_two_nodes():
    pytest.importorskip("pyvis")
    nodes = (samples.product("锂电池"), samples.thing(Kind.INDUSTRY, "锂电池"))
    scene = scene_of(ProfileAnswer(nodes[0].entity, (), Subgraph(nodes)))
    assert {node["id"] for node in pyvis_network(scene).nodes} == {"product:锂电池", "industry:锂电池"}


def test_the_page_names_no_foreign_address_and_keeps_hostile_names_text():
    pytest.importorskip("pyvis")
    html = plain_page(scene_of(samples.hostile()))
    assert "bootstrap" not in html
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=.https?:", html)
    assert "default-src &#39;none&#39;" in html
    assert "<script>alert" not in html
    assert plain_page(scene_of(samples.hostile())) == html


def test_without_pyvis_the_advice_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvis.network", None)
    with pytest.raises(KgError, match=r"liantu\[pyvis\]"):
        pyvis_network(scene_of(samples.related()))
