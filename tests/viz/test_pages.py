from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from kg.errors import KgError
from kg.model import Kind, Modality, Polarity
from kg.query.answers import AnswerLine, AskAnswer, ProfileAnswer, Subgraph
from tests.viz import samples
from viz.atlas import answer_page, theme_entry, theme_page
from viz.cli import draw
from viz.network import page
from viz.pages import IndexEntry, as_json, index_page
from viz.palette import KINDS, stroke_of
from viz.scene import scene_of
from viz.wording import LANGUAGES, word


class _Reader(HTMLParser):
    """Collects what a browser would: tags with attributes, scripts, and the text that is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        elif self.cdata_elem is None:
            self.text.append(data)


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    return reader


def _policy(reader: _Reader) -> str:
    (policy,) = [
        attrs["content"] or "" for tag, attrs in reader.tags if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    return policy


def _pages() -> dict[str, str]:
    empty = ProfileAnswer(samples.product("无").entity, (), Subgraph())
    return {
        "chain": page(scene_of(samples.solar_chain(), as_of=samples.DAY)),
        "english": page(scene_of(samples.lithium_impact(), lang="en"), lang="en"),
        "empty": page(scene_of(empty)),
        "theme": theme_page(samples.theme()),
        "ask": answer_page(samples.asked()),
        "hostile": page(scene_of(samples.hostile())),
        "index": index_page("目录", [IndexEntry("a.html", "甲", "乙", "丙")]),
    }


@pytest.mark.parametrize("name", ["chain", "english", "empty", "theme", "ask", "hostile", "index"])
def test_a_page_asks_for_nothing_and_runs_only_what_it_names(name):
    reader = _read(_pages()[name])
    policy = _policy(reader)
    assert policy.startswith("default-src 'none'; script-src ")
    assert "unsafe-inline" not in policy.split("style-src", maxsplit=1)[0]
    for tag, attrs in reader.tags:
        assert "src" not in attrs, tag
        assert not any(key.startswith("on") for key in attrs), tag
        href = attrs.get("href")
        assert href is None or href in {"data:,", "a.html"}, href
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    run = [text for text, attrs in zip(reader.scripts, _scripts(reader), strict=True) if "type" not in attrs]
    hashes = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run}
    assert hashes == allowed


def _scripts(reader: _Reader) -> list[dict[str, str | None]]:
    return [attrs for tag, attrs in reader.tags if tag == "script"]


def test_hostile_names_and_quotes_stay_text():
    reader = _read(page(scene_of(samples.hostile())))
    assert not [tag for tag, _ in reader.tags if tag == "img"]
    assert len(reader.scripts) == 3
    data = json.loads(reader.scripts[0])
    assert data["members"][0]["label"] == samples.HOSTILE
    assert data["links"][0]["evidence"][0]["quote"] == f"原文{samples.HOSTILE}"
    assert samples.HOSTILE in "".join(reader.text), "the title is shown as it is"


def test_hostile_prose_and_index_stay_text():
    theme = samples.theme(samples.hostile().graph)
    index = index_page(samples.HOSTILE, [IndexEntry('"><script>alert(3)</script>', samples.HOSTILE, samples.HOSTILE)])
    for html, scripts in ((theme_page(theme), 3), (index, 1)):
        reader = _read(html)
        assert not [tag for tag, _ in reader.tags if tag == "img"]
        assert len(reader.scripts) == scripts


def test_json_cannot_leave_its_script():
    nasty = {"a": "</script><!--<script>", "b": "\u2028\u2029&", "c": "\ud800"}
    text = str(as_json(nasty))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == nasty | {"c": "?"}


def test_the_inlined_library_cannot_end_its_script_early():
    html = page(scene_of(samples.related()))
    assert html.lower().count("</script") == 3
    assert "<!--" not in html


def test_same_answer_same_bytes():
    assert _pages() == _pages()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://example.com/a.pdf", "https://example.com/a.pdf#page=3"),
        ("http://example.com/a", "http://example.com/a"),
        ("javascript:alert(1)", None),
        ("file:///etc/passwd", None),
        ("https://[broken", None),
        ("", None),
    ],
)
def test_a_source_is_linked_only_by_a_web_address(url, shown):
    one, other = samples.product("甲"), samples.product("乙")
    said = samples.link(one, other, "uses", "使用")
    cited = replace(said, citations=(replace(said.citations[0], url=url),))
    theme = samples.theme(Subgraph((one, other), (cited,)))
    data = json.loads(_read(theme_page(theme)).scripts[0])
    assert data["links"][0]["evidence"][0]["url"] == (shown or "")
    answer = AskAnswer("问", "answered", samples.nothing_understood("问"), "", (AnswerLine("句", cited.citations),))
    links = [attrs for tag, attrs in _read(answer_page(answer)).tags if tag == "a"]
    assert [(attrs["href"], attrs["rel"]) for attrs in links] == ([(shown, "noopener noreferrer")] if shown else [])


def test_a_page_is_plain_utf8_whatever_the_document_held():
    one = samples.product("坏\ud800字")
    graph = Subgraph((one,), ())
    html = page(scene_of(ProfileAnswer(one.entity, (), graph)))
    assert html.encode().decode() == html


def test_the_page_tells_day_counts_legend_and_language():
    shown = "".join(_read(page(scene_of(samples.solar_chain(), as_of=samples.DAY))).text)
    for part in ("光伏 · 产业链", "截至 2024-06-30", "42 个节点", "公司", "产品", "预测", "传闻", "有分歧", "否认"):
        assert part in shown
    html = page(scene_of(samples.solar_chain(), lang="en"), lang="en")
    assert '<html lang="en">' in html
    assert "As of the latest document" in html


def test_an_empty_answer_says_so_and_carries_no_library():
    html = page(scene_of(ProfileAnswer(samples.product("钙钛矿").entity, (), Subgraph())))
    assert "没有可画的内容" in html
    assert "与「钙钛矿」相关" in html
    assert len(html) < 20_000


def test_an_answer_that_found_nothing_says_so():
    html = answer_page(AskAnswer("火星股票？", "not_found", samples.nothing_understood("火星股票？"), "", ()))
    assert "未找到相关信息" in html
    assert "未找到" in html


def test_a_theme_page_cites_each_line_and_lists_members_by_kind():
    shown = " ".join("".join(_read(theme_page(samples.theme())).text).split())
    assert "摘要 2023-01-01…2024-12-31" in shown
    assert "合盛硅业（603260.SH）是工业硅环节的主要企业之一" in shown
    item = samples.theme().graph.links[0].citations[0]
    assert f"{item.title} · {item.publisher} · {item.speaker} 表示 · 第 3 页 · {item.published_on}" in shown
    assert re.search(r"公司 .*隆基绿能 601012\.SH", shown)


def test_an_answer_page_shows_its_door_and_citations():
    shown = "".join(_read(answer_page(samples.asked())).text)
    assert "已回答" in shown
    assert "原文依据 1" in shown


def test_a_theme_is_listed_with_its_name_size_and_members():
    entry = theme_entry(samples.theme(), "theme-0a1b2c.html")
    assert (entry.file, entry.name, entry.note) == ("theme-0a1b2c.html", "光伏：硅料与组件", "42 个成员")
    assert (entry.kind, entry.about) == ("theme", ("theme:0a1b2c",))


def test_the_palette_knows_every_kind_and_never_uses_colour_alone():
    assert set(KINDS) == set(Kind)
    assert len({look.shape for look in KINDS.values()}) == len({look.line for look in KINDS.values()}) == len(Kind)
    strokes = {stroke_of(0, modality, Polarity.POSITIVE).dash for modality in Modality}
    assert len(strokes) == len(Modality)
    assert (
        stroke_of(1, Modality.ASSERTED, Polarity.NEGATIVE).color
        == stroke_of(-1, Modality.ASSERTED, Polarity.NEGATIVE).color
    )


def test_every_shape_of_the_palette_is_drawn():
    script = (Path(__file__).parents[2] / "viz/static/shapes.js").read_text(encoding="utf-8")
    assert all(f"\n  {look.shape}: " in script for look in KINDS.values())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_kind_and_modality_has_a_word(lang):
    assert all(word(key, lang) != "" for key in (*Kind, *Modality))
    assert word("不在表里", lang) == "不在表里"


def test_draw_names_its_commands():
    shown = CliRunner().invoke(draw, ["--help"]).output
    for name in ("chain", "impact", "causes", "relate", "profile", "theme", "themes"):
        assert name in shown


def test_draw_without_a_base_says_what_to_do(tmp_path):
    result = CliRunner().invoke(draw, ["chain", "光伏", "--kb", str(tmp_path / "none.liantu")])
    assert isinstance(result.exception, KgError)
    assert "no knowledge base here" in str(result.exception)
