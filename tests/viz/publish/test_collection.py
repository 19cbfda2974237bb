from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING

import pytest

from kg.model import Community, Run, Summary, SummaryLine
from kg.query.session import QuerySession
from kg.query.walks.chain import chain
from tests.kg.query.world import filled, solar
from viz.publish.collection import MANIFEST, ManifestUnreadable, collected, listed_before, page_file
from viz.publish.themes import Extent, publication

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def session() -> QuerySession:
    store = filled(solar())
    summary = Summary("s", "硅</script>料", (SummaryLine("句", ()),))
    community = Community("theme:a", 0, "", ("product:硅料", "product:硅片", "sec:600438.SH"), summary)
    with store.writer() as writer:
        writer.publish(Run("r1", date(2025, 2, 1), communities=(community,)))
    return QuerySession(store.view())


def _entries(text: str) -> list[dict[str, object]]:
    return json.loads(text.removeprefix("window.liantuPages = ").removesuffix(";\n"))


def _chain(session: QuerySession, topic: str, folder: Path) -> dict[str, str]:
    answer = chain(session, topic)
    files = dict(collected(session, answer, ("chain", ""), most=100, as_of=None, before=listed_before(folder)))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return files


def test_an_answer_comes_with_a_page_for_each_company(session, tmp_path):
    files = _chain(session, "硅片", tmp_path)
    assert next(iter(files)) == "chain-product-硅片.html"
    assert "profile-sec-600438-SH.html" in files
    assert list(files)[-1] == "index.html"
    entries = {entry["file"]: entry for entry in _entries(files[MANIFEST])}
    assert entries["chain-product-硅片.html"]["about"] == ["product:硅片"]
    assert "sec:600438.SH" in entries["chain-product-硅片.html"]["shows"]
    assert entries["profile-sec-600438-SH.html"]["about"] == ["sec:600438.SH"]
    assert all(entry["file"] in files for entry in entries.values())
    for name in entries:
        assert name.replace("硅片", "%E7%A1%85%E7%89%87") in files["index.html"]


def test_pages_drawn_later_join_those_before(session, tmp_path):
    first = _chain(session, "硅片", tmp_path)
    second = _chain(session, "组件", tmp_path)
    listed = {entry["file"] for entry in _entries(second[MANIFEST])}
    assert {"chain-product-硅片.html", "chain-product-组件.html"} <= listed
    assert _chain(session, "组件", tmp_path) == second, "drawn again, the folder stays the same"
    (tmp_path / next(iter(first))).unlink()
    assert next(iter(first)) not in {entry.file for entry in listed_before(tmp_path)}


@pytest.mark.parametrize("text", ["", "alert(1)", "window.liantuPages = [1];\n", "window.liantuPages = {};\n x"])
def test_a_foreign_list_of_pages_is_refused(text, tmp_path):
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8")
    with pytest.raises(ManifestUnreadable, match="not a list of pages"):
        listed_before(tmp_path)


def test_names_of_files_are_safe_and_namesakes_stay_apart():
    hostile = "product:../../etc/passwd<script>" + "长" * 200
    assert page_file("chain", hostile).startswith("chain-product-etc-passwd-script-")
    assert len(page_file("chain", hostile)) < 100
    assert len({page_file("chain", name) for name in ("product:甲 乙", "product:甲/乙", "industry:甲-乙")}) == 3
    assert page_file("impact", "indicator:铜价", "down") == "impact-indicator-铜价-down.html"


def test_a_folder_of_themes_shares_one_library_and_links_its_companies(session):
    files = dict(publication(session, Extent(), since=date(2024, 1, 1)))
    assert list(files) == [
        "theme-a.html",
        "profile-sec-600438-SH.html",
        "changes.md",
        "changes.json",
        "themes.json",
        "vis-network.js",
        "pages.js",
        "index.html",
    ]
    page = files["theme-a.html"]
    assert page.count("<script src=") == 2
    assert len(page) < 100_000 < len(files["vis-network.js"])
    assert "</script>料" not in files["pages.js"] + files["index.html"]
    assert json.loads(files["changes.json"])["themes"] == []
    assert dict(publication(session, Extent(), since=date(2024, 1, 1))) == files
    assert "profile-sec-600438-SH.html" not in dict(publication(session, Extent(companies=0)))
