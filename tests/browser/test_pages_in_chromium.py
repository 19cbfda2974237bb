from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.query.answers import ProfileAnswer, Subgraph
from tests.browser.geometry import DRAWN_TEXTS, illegible, lines_behind_shapes, overlapping
from tests.viz import samples
from viz.atlas import answer_page, theme_page
from viz.network import page
from viz.pages import IndexEntry, index_page
from viz.publish.pyvis_export import plain_page
from viz.scene import scene_of

if TYPE_CHECKING:
    from tests.browser.conftest import Opened

pytestmark = pytest.mark.browser

_INK = """() => {
  const canvas = document.querySelector("#canvas canvas");
  const bytes = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  let inked = 0;
  for (let at = 0; at < bytes.length; at += 4) {
    if (bytes[at + 3] > 0) inked += 1;
    seen.add((bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2]);
  }
  return { inked, colors: seen.size };
}"""

_VIEW = """() => {
  const { network, shown } = window.liantu;
  const canvas = document.querySelector("#canvas");
  return shown().nodes.filter((node) => node.face).map((node) => {
    const { x, y } = network.canvasToDOM({ x: node.x, y: node.y });
    return { x, y, inside: x > 0 && y > 0 && x < canvas.clientWidth && y < canvas.clientHeight };
  });
}"""


def _many(count: int, extra: int = 0, cut: int = 0) -> str:
    graph = samples.random_graph(count, extra=extra, cut=cut)
    return page(scene_of(ProfileAnswer(graph.nodes[0].entity, graph.links, graph)))


PAGES = {
    "chain": lambda: page(scene_of(samples.solar_chain(), as_of=samples.DAY)),
    "impact": lambda: page(scene_of(samples.lithium_impact())),
    "relate": lambda: page(scene_of(samples.related())),
    "profile": lambda: page(scene_of(samples.profile())),
    "english": lambda: page(scene_of(samples.solar_chain(), lang="en"), lang="en"),
    "theme": lambda: theme_page(samples.theme()),
    "answer": lambda: answer_page(samples.asked()),
    "one": lambda: _many(1),
    "three": lambda: _many(3),
    "three hundred": lambda: _many(340, 120),
    "hostile": lambda: page(scene_of(samples.hostile())),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_draws_whole_asks_nobody_and_complains_of_nothing(open_page, name):
    opened = open_page(PAGES[name]())
    ink = opened.page.evaluate(_INK)
    assert ink["inked"] > 2000
    assert ink["colors"] > 5
    assert all(spot["inside"] for spot in opened.page.evaluate(_VIEW)), "every shape is in view at the start"
    assert (opened.requests, opened.complaints, opened.dialogs) == ([], [], [])


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.extended
def test_no_line_passes_behind_a_shape(open_page, name):
    opened = open_page(PAGES[name]())
    assert lines_behind_shapes(opened.page) == []
    if opened.page.is_visible("#fold"):
        opened.page.click("#fold")
        assert lines_behind_shapes(opened.page) == []


def test_a_line_behind_a_shape_is_found(open_page, monkeypatch):
    monkeypatch.setattr("viz.layout.lines.ways_round", lambda *_: {})
    opened = open_page(PAGES["three hundred"]())
    opened.page.click("#fold")
    assert any(" behind 示例公司" in line for line in lines_behind_shapes(opened.page))


@pytest.mark.parametrize("size", [(1280, 720), (1600, 1000)])
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.extended
def test_all_text_of_the_first_view_is_legible_and_apart(open_page, name, size):
    opened = open_page(PAGES[name](), width=size[0], height=size[1])
    assert illegible(opened.page) == []
    assert overlapping(opened.page) == []
    assert all(spot["inside"] for spot in opened.page.evaluate(_VIEW)), "every shape is in view at the start"


def test_small_and_overlapping_text_is_found(open_page):
    opened = open_page(PAGES["chain"]())
    opened.page.evaluate("() => window.liantu.network.moveTo({ scale: 0.6 })")
    assert any("电池片" in item for item in illegible(opened.page))
    opened.page.evaluate("() => { document.querySelector('h1').style.fontSize = '9px'; }")
    assert any("9px" in item for item in illegible(opened.page))
    crowded = open_page(PAGES["impact"]())
    crowded.page.evaluate("() => { for (const label of window.liantu.shown().labels) label.x = label.y = 0; }")
    assert overlapping(crowded.page) != []


@pytest.mark.extended
def test_text_stays_legible_in_a_smaller_window_and_the_topic_in_view(open_page):
    opened = open_page(PAGES["profile"]())
    opened.page.set_viewport_size({"width": 760, "height": 560})
    opened.page.wait_for_timeout(300)
    assert illegible(opened.page) == []
    (topic,) = opened.page.evaluate(
        "() => window.liantu.shown().nodes.filter((node) => node.face && node.face.focus)"
        ".map(({ x, y }) => window.liantu.network.canvasToDOM({ x, y }))"
    )
    canvas = opened.page.locator("#canvas").bounding_box()
    assert 0 < topic["x"] < canvas["width"]
    assert 0 < topic["y"] < canvas["height"]


_FOLD = """() => {
  const fold = window.liantu.shown().nodes.find((node) => node.face && node.face.hides.length);
  return { x: fold.x, y: fold.y, hides: fold.face.hides.map((at) => window.liantu.data.members[at].label) };
}"""


@pytest.mark.extended
def test_a_fold_opens_to_what_it_stands_for(open_page):
    opened = open_page(PAGES["chain"](), width=1280, height=720)
    before = opened.page.evaluate("() => window.liantu.shown().nodes.length")
    fold = opened.page.evaluate(_FOLD)
    _click(opened, fold["x"], fold["y"])
    assert all(name in opened.panel() for name in fold["hides"])
    assert opened.page.evaluate("() => window.liantu.shown().nodes.length") > before
    assert opened.page.get_attribute("#fold", "aria-pressed") == "true"
    opened.page.click("#detail button.row")
    assert opened.page.inner_text("#detail h2") == fold["hides"][0]
    opened.page.click("#fold")
    assert opened.page.evaluate("() => window.liantu.shown().nodes.length") == before


@pytest.mark.extended
def test_search_unfolds_what_it_finds(open_page):
    opened = open_page(PAGES["chain"](), width=1280, height=720)
    name = opened.page.evaluate(_FOLD)["hides"][0]
    opened.page.fill("#find", name)
    opened.page.press("#find", "Enter")
    assert opened.page.inner_text("#detail h2") == name
    drawn = opened.page.evaluate("() => window.liantu.shown().nodes.map((node) => node.label)")
    assert name in drawn


def _drawn(opened: Opened) -> set[str]:
    return {item["text"] for item in opened.page.evaluate(DRAWN_TEXTS)}


@pytest.mark.extended
def test_groups_that_a_filter_empties_disappear(open_page):
    opened = open_page(PAGES["chain"]())
    assert {"上游", "硅片", "隆基绿能"} <= _drawn(opened)
    opened.page.click(".chips [data-kind=company]")
    assert "隆基绿能" not in _drawn(opened)
    assert {"上游", "硅片"} <= _drawn(opened)
    assert not any("还有" in text for text in _drawn(opened)), "a fold of companies goes with them"
    opened.page.click(".chips [data-kind=company]")
    opened.page.click(".chips [data-kind=product]")
    left = _drawn(opened)
    assert "隆基绿能" not in left, "a company goes with its stage"
    assert "上游" not in left, "no heading stands over nothing"


@pytest.mark.extended
def test_figures_are_a_table_whose_rows_open_their_sentences(open_page):
    opened = open_page(page(scene_of(samples.measured())))
    table = opened.page.inner_text("#figures")
    assert "归母净利润" in table
    assert "507.45亿元" in table
    opened.page.click("#figures summary")
    assert opened.page.is_visible("#figures mark")
    assert "507.45亿元" not in " ".join(_drawn(opened))
    node = opened.page.evaluate("() => window.liantu.shown().nodes.find((node) => node.face && node.face.focus)")
    _click(opened, node["x"], node["y"])
    assert "507.45亿元" in opened.page.inner_text("#detail .figures")


@pytest.mark.extended
def test_a_pyvis_page_draws_and_asks_nobody(open_page):
    pytest.importorskip("pyvis")
    opened = open_page(plain_page(scene_of(samples.hostile())))
    opened.page.wait_for_timeout(300)
    assert opened.page.query_selector("#network canvas") is not None
    assert (opened.requests, opened.complaints, opened.dialogs) == ([], [], [])


def test_an_empty_page_says_so_without_a_picture(open_page):
    opened = open_page(page(scene_of(ProfileAnswer(samples.product("钙钛矿").entity, (), Subgraph()))))
    assert "没有可画的内容" in opened.page.inner_text("main")
    assert opened.page.query_selector("canvas") is None
    assert (opened.requests, opened.complaints) == ([], [])


@pytest.mark.extended
def test_an_index_links_its_pages(open_page):
    opened = open_page(index_page("图册", [IndexEntry("theme-1.html", "光伏", "硅料与组件", "3 个成员")]))
    assert opened.page.get_attribute("a", "href") == "theme-1.html"
    assert (opened.requests, opened.complaints) == ([], [])


@pytest.mark.parametrize("text", ["隆基绿能", "601012", "隆基绿能（曾用名"])
@pytest.mark.extended
def test_search_finds_by_name_code_and_alias_and_focuses(open_page, text):
    opened = open_page(PAGES["chain"]())
    opened.page.keyboard.press("/")
    opened.page.keyboard.type(text)
    assert opened.page.inner_text("#found").startswith("找到 1 个")
    opened.page.keyboard.press("Enter")
    assert opened.page.inner_text("#detail h2") == "隆基绿能"
    centre = opened.page.evaluate("() => window.liantu.network.getViewPosition()")
    node = opened.page.evaluate(
        "() => { const at = window.liantu.data.members.findIndex((m) => m.label === '隆基绿能');"
        "return window.liantu.shown().nodes.find((node) => node.id === `n${at}`); }"
    )
    assert abs(centre["x"] - node["x"]) < 2
    assert abs(centre["y"] - node["y"]) < 2


@pytest.mark.extended
def test_a_search_without_a_hit_says_so(open_page):
    opened = open_page(PAGES["chain"]())
    opened.page.fill("#find", "茅台")
    assert opened.page.inner_text("#found") == "未找到"


def _click(opened: Opened, x: float, y: float) -> None:
    spot = opened.page.evaluate("([x, y]) => window.liantu.network.canvasToDOM({ x, y })", [x, y])
    box = opened.page.locator("#canvas").bounding_box()
    opened.page.mouse.click(box["x"] + spot["x"], box["y"] + spot["y"])
    opened.page.wait_for_selector("#detail:not([hidden])")


@pytest.mark.extended
def test_a_click_on_a_line_shows_its_quote_source_page_and_day(open_page):
    opened = open_page(PAGES["impact"]())
    label = opened.page.evaluate(
        "() => window.liantu.shown().labels.find((label) => {"
        "const { links, members } = window.liantu.data;"
        "return members[links[label.link].target].label === '天齐锂业'; })"
    )
    _click(opened, label["x"], label["y"])
    shown = opened.panel()
    assert "锂矿 —影响＋→ 天齐锂业" in shown
    assert "锂矿影响天齐锂业，产业链上下游关系进一步明确" in opened.page.inner_text("#detail mark")
    for part in ("通威股份2023年年度报告", "首席分析师 表示", "第 3 页", "2024-04-30"):
        assert part in opened.page.inner_text("#detail .from")


@pytest.mark.extended
def test_a_click_on_a_company_shows_what_put_it_on_its_stage(open_page):
    opened = open_page(PAGES["chain"]())
    node = opened.page.evaluate(
        "() => { const { shown } = window.liantu;"
        "return shown().nodes.find((node) => node.face && node.label === '双良节能'); }"
    )
    _click(opened, node["x"], node["y"])
    shown = opened.panel()
    assert "600481.SH" in shown
    assert "双良节能 —生产→ 硅片" in shown
    assert "计划" in shown
    opened.page.keyboard.press("Escape")
    assert opened.page.is_hidden("#detail")


@pytest.mark.extended
def test_a_company_on_two_stages_shows_the_facts_of_both(open_page):
    opened = open_page(PAGES["chain"]())
    opened.page.fill("#find", "通威")
    opened.page.press("#find", "Enter")
    shown = opened.panel()
    assert "通威股份 —生产→ 多晶硅料" in shown
    assert "通威股份 —生产→ 电池片" in shown


@pytest.mark.extended
def test_evidence_is_reached_by_keyboard_alone(open_page):
    opened = open_page(PAGES["impact"]())
    focused = "() => document.activeElement.textContent"
    opened.page.focus("#links button:nth-child(2)")
    row = opened.page.evaluate(focused)
    for leave in ("Enter", "Escape"):
        opened.page.keyboard.press("Enter")
        assert opened.page.is_visible("#detail mark")
        assert opened.page.evaluate(focused) == "← 返回概览"
        opened.page.keyboard.press(leave)
        assert opened.page.is_visible("#overview")
        assert opened.page.evaluate(focused) == row, "the next key goes on where the reader was"


@pytest.mark.extended
def test_a_line_under_the_pointer_shows_its_sentence(open_page):
    opened = open_page(PAGES["impact"]())
    spot = opened.page.evaluate(
        "() => { const { data, network, shown } = window.liantu;"
        "const target = (label) => data.members[data.links[label.link].target].label;"
        "const label = shown().labels.find((label) => target(label) === '天齐锂业');"
        "return network.canvasToDOM(label); }"
    )
    box = opened.page.locator("#canvas").bounding_box()
    opened.page.mouse.move(box["x"] + spot["x"], box["y"] + spot["y"])
    tip = opened.page.wait_for_selector(".vis-tooltip", state="visible").inner_text()
    assert tip == "锂矿 —影响＋→ 天齐锂业\n「锂矿影响天齐锂业，产业链上下游关系进一步明确，行业集中度有望提升。」"


@pytest.mark.extended
def test_a_kind_can_be_hidden_and_shown_again(open_page):
    opened = open_page(PAGES["chain"]())
    before = opened.page.evaluate(_INK)["inked"]
    chip = opened.page.locator("[data-kind=company]")
    chip.click()
    opened.page.wait_for_timeout(300)
    assert chip.get_attribute("aria-pressed") == "false"
    assert opened.page.evaluate(_INK) != before
    chip.click()
    opened.page.wait_for_timeout(300)
    assert abs(opened.page.evaluate(_INK)["inked"] - before) < before * 0.01


@pytest.mark.extended
def test_zoom_and_fit(open_page):
    opened = open_page(PAGES["chain"]())
    scale = "() => window.liantu.network.getScale()"
    start = opened.page.evaluate(scale)
    opened.page.click("#nearer")
    assert opened.page.evaluate(scale) > start * 1.2
    opened.page.click("#whole")
    assert opened.page.evaluate(scale) == pytest.approx(start)


def test_hostile_strings_are_shown_and_never_run(open_page):
    opened = open_page(PAGES["hostile"]())
    opened.page.click("#links button")
    assert samples.HOSTILE.split("\u2028")[0] in opened.page.inner_text("#detail mark")
    node = opened.page.evaluate("() => window.liantu.shown().nodes[0]")
    _click(opened, node["x"], node["y"])
    opened.page.wait_for_timeout(500)
    assert (opened.dialogs, opened.requests, opened.complaints) == ([], [], [])
    assert opened.page.query_selector("img") is None


@pytest.mark.extended
def test_the_policy_stops_a_script_that_slipped_in(open_page):
    html = PAGES["relate"]().replace(
        "</body>", "<script>window.slipped = 1</script><img src='http://x.example/'></body>"
    )
    opened = open_page(html)
    assert opened.page.evaluate("() => window.slipped") is None
    assert opened.requests == []
    assert any("Content Security Policy" in line for line in opened.complaints)


@pytest.mark.extended
def test_a_narrow_screen_stacks_the_panel_beneath(open_page):
    opened = open_page(PAGES["chain"](), width=420, height=800)
    picture = opened.page.locator(".picture").bounding_box()
    panel = opened.page.locator("#panel").bounding_box()
    assert panel["y"] >= picture["y"] + picture["height"] - 1
    assert opened.page.evaluate("() => document.documentElement.scrollWidth") <= 420
    legend = opened.page.locator("footer.legend").bounding_box()
    assert legend["y"] >= panel["y"] + panel["height"] - 1, "the page scrolls as one; nothing takes room from the rest"


@pytest.mark.extended
def test_the_notice_of_what_was_left_out_is_seen(open_page):
    opened = open_page(_many(340, cut=9))
    assert "另有 49 个" in opened.page.inner_text(".notice")
