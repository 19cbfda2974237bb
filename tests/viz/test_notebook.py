from __future__ import annotations

import re

from kg.service.base import KnowledgeBase
from tests.kg.query.world import filled, solar
from viz.notebook import html_of, pyvis_of


def test_a_pyvis_page_loads_nothing_and_is_the_same_each_time():
    found = KnowledgeBase(filled(solar())).chain("光伏").elements()
    network = pyvis_of(found)
    assert {node["id"] for node in network.nodes} == set(found.nodes)
    assert len({(node["x"], node["y"]) for node in network.nodes}) == len(found.nodes)
    html = re.sub(r"<!--.*?-->", "", network.generate_html(), flags=re.DOTALL)
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", html)
    assert [(node["x"], node["y"]) for node in pyvis_of(found).nodes] == [(n["x"], n["y"]) for n in network.nodes]


def test_what_is_no_picture_has_no_page():
    assert html_of(object()) == ""
