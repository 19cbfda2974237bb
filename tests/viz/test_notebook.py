"""The pyvis export: nothing from elsewhere, a legend, namesakes told apart."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from kg.service.base import KnowledgeBase
from tests.kg.query.world import claim, filled, paper, solar
from viz import notebook
from viz.notebook import html_of, pyvis_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_pyvis_page_loads_nothing_and_is_the_same_each_time():
    found = KnowledgeBase(filled(solar())).chain("光伏").elements()
    network = pyvis_of(found)
    assert {node["id"] for node in network.nodes} == set(found.nodes)
    assert len({(node["x"], node["y"]) for node in network.nodes}) == len(found.nodes)
    html = re.sub(r"<!--.*?-->", "", network.generate_html(), flags=re.DOTALL)
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", html)
    assert [(node["x"], node["y"]) for node in pyvis_of(found).nodes] == [(n["x"], n["y"]) for n in network.nodes]


def test_a_network_is_shown_in_a_script_as_in_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)  # pyvis writes into the working folder
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for inside in (None, True):
        pyvis_of(KnowledgeBase(filled(solar())).chain("光伏").elements()).show("chain.html", notebook=inside)
        assert "vis.Network" in (tmp_path / "chain.html").read_text(encoding="utf-8")
    assert opened == ["chain.html"]


def test_a_legend_names_the_kinds_that_are_drawn():
    html = pyvis_of(KnowledgeBase(filled(solar())).chain("光伏").elements()).generate_html()
    legend = html[html.index("<body>") :][:3000]
    assert all(f">{name}</span>" in legend for name in ("公司", "产品", "行业"))
    assert ">人物</span>" not in legend


def test_namesakes_say_which_is_which():
    coal = (claim("industry:煤炭", "upstream_of", "product:火电"), claim("product:煤炭", "upstream_of", "product:火电"))
    base = KnowledgeBase(filled([paper(1, "2024-01-01", *((f"第{n}句。", fact) for n, fact in enumerate(coal)))]))
    labels = {node["label"] for node in pyvis_of(base.profile("火电").elements()).nodes}
    assert {"煤炭（行业）", "煤炭（产品）"} <= labels


def test_what_is_no_picture_has_no_page(monkeypatch):
    assert html_of(object()) == ""
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    assert html_of(KnowledgeBase(filled(solar())).chain("光伏")) == ""
