"""The explorer's pictures: nothing cut off or covered, what is missing said; search, questions and focus."""

from __future__ import annotations

import re

import pytest

from kg.query.session import ANSWERED
from kg.store.open import open_store
from tests.browser.explorer import BOTH, UNSURE
from tests.browser.geometry import faults_of_picture
from tests.kg.query.world import LONGI, MODULE, SILICON, SUNGROW, TONGWEI
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import write_exhibit

pytestmark = pytest.mark.browser


DRAWN = (f"company/{LONGI}", f"chain/{SILICON}", "chain/industry:光伏", "factor/indicator:硅料价格")


@pytest.mark.parametrize("view", DRAWN)
def test_no_line_is_cut_off_or_passes_behind_a_name(files, visit, view):
    opened = visit(files)
    opened.go(view)
    opened.page.wait_for_selector("g.node")
    assert faults_of_picture(opened.page) == []
    opened.quiet()


@pytest.fixture(scope="module")
def demo_exhibit(demo_base, tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("demo-exhibit")
    store = open_store(demo_base)
    try:
        with store.reader() as view:
            content = ExhibitContent(store, view, min_confidence=ANSWERED)
            return write_exhibit(content, folder, lang="zh", one_file=False).as_uri()
    finally:
        store.close()


@pytest.mark.parametrize(
    "view",
    [
        "chain/industry:光伏",
        "chain/industry:半导体",
        "factor/indicator:硅料价格",
        f"company/{LONGI}",
        "company/sec:300750.SZ",
    ],
)
@pytest.mark.extended
def test_the_pictures_of_the_demo_are_whole(demo_exhibit, visit, view):
    opened = visit(demo_exhibit, size=(1440, 900))
    opened.go(view)
    opened.page.wait_for_selector("g.node")
    assert faults_of_picture(opened.page) == []
    opened.quiet()


def test_a_panel_closes_on_escape_and_on_a_click_elsewhere(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    page = opened.page
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.mouse.click(640, 600)):
        page.click(".filters summary")
        assert page.locator(".filters[open]").count() == 1
        close()
        assert page.locator(".filters[open]").count() == 0
    opened.quiet()


def test_back_closes_the_evidence_and_stays_in_the_view(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.node("组件").click()
    opened.page.wait_for_selector(".drawer")
    opened.page.go_back()
    opened.page.wait_for_selector(".drawer", state="detached")
    assert opened.page.inner_text("h1") == "隆基绿能"
    opened.quiet()


@pytest.mark.parametrize("key", ["e", "h", "p"])
def test_the_focus_stays_in_the_picture(files, visit, key):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.node("硅片").focus()
    opened.page.keyboard.press(key)
    opened.until("/[xhp]=/.test(location.hash)")
    opened.until("document.activeElement.closest('g.node') !== null")
    opened.quiet()


def test_a_question_is_answered_with_its_sentences(served, visit):
    opened = visit(served)
    page = opened.page
    page.fill("#search-home", "硅料价格上涨影响什么？")
    page.click(".matches .ask")
    page.wait_for_selector(".asked .lines li")
    page.wait_for_selector(".asked #picture g.edge")
    page.click(".asked .lines button")
    page.wait_for_selector(".drawer mark")
    opened.quiet()


def test_a_file_offers_no_question(files, visit):
    opened = visit(files)
    opened.page.fill("#search-home", "硅料价格上涨影响什么？")
    opened.page.wait_for_selector(".matches")
    assert opened.page.locator(".matches .ask").count() == 0
    opened.quiet()


@pytest.mark.parametrize("typed", ["longji", "longjilvneng", "隆基绿能", "ljln", "601012", "隆基绿熊", "longjilvnen"])
def test_a_name_is_found_as_it_is_typed(home, visit, typed):
    opened = visit(home)
    opened.page.fill("#search-home", typed)
    opened.page.wait_for_selector('[role="option"]:has-text("隆基绿能")')
    opened.quiet()


def test_what_a_company_has_none_of_is_said(files, visit):
    opened = visit(files)
    opened.go(f"company/{SUNGROW}")
    text = opened.page.inner_html("#picture")
    assert "供应商：没有记载" in text
    assert "竞争对手：没有记载" in text
    opened.quiet()


def test_a_line_ends_at_the_name_in_its_own_section(files, visit):
    """A firm that is both supplier and customer is listed twice: what it is supplied with leads to the customers."""
    opened = visit(files)
    opened.go(f"company/{BOTH}")
    ends = opened.page.eval_on_selector_all(
        'g.edge[data-link="两面公司 → 通威股份"] path.hit',
        "all => all.map((each) => each.getPointAtLength(each.getTotalLength()).x)",
    )
    own = opened.page.eval_on_selector("g.node[data-topic] rect", "rect => Number(rect.getAttribute('x'))")
    assert len(ends) == 1
    assert ends[0] > own
    opened.quiet()


def test_the_time_axis_has_dates(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    texts = opened.page.locator(".axis span").all_inner_texts()
    assert len(texts) > 2
    assert all(re.fullmatch(r"\d{4}(-\d{2})?", text) for text in texts)
    opened.quiet()


def test_less_certain_links_are_counted_and_one_click_away(files, visit):
    opened = visit(files)
    opened.go(f"company/{UNSURE}")
    assert opened.node("硅料").count() == 0
    opened.page.click('button:has-text("把握不足")')
    opened.until("location.hash.includes('w=1')")
    assert opened.node("硅料").count() == 1
    opened.quiet()


def test_a_small_picture_grows_with_the_window(files, visit):
    opened = visit(files, size=(1920, 1080))
    opened.go(f"company/{SUNGROW}")
    opened.until("document.getElementById('picture').getScreenCTM().a > 1.3")
    opened.quiet()


def test_a_path_is_asked_of_the_service_and_not_made_up_by_a_file(served, files, visit):
    opened = visit(served)
    opened.go(f"path/{TONGWEI}/{SUNGROW}")
    assert [opened.node(name).count() for name in ("通威股份", "隆基绿能", "阳光电源")] == [1, 1, 1]
    opened.quiet()
    opened = visit(files)
    opened.go(f"path/{TONGWEI}/{SUNGROW}")
    assert "liantu draw relate" in opened.page.inner_text("main")
    opened.quiet()


def test_what_the_pointer_is_on_is_lit_and_the_rest_dimmed(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.node("通威股份").hover()
    opened.until("document.querySelector('#picture.dim') !== null")
    dimmed = "getComputedStyle(document.querySelector('g.node[aria-label^=\"%s\"]')).opacity"
    shades = [opened.page.evaluate(dimmed % name) for name in ("通威股份", "隆基绿能", "组件")]
    assert shades == ["1", "1", "0.2"]
    opened.page.mouse.move(2, 2)
    opened.until("document.querySelector('#picture.dim') === null")
    opened.quiet()


def test_a_span_dragged_on_the_time_axis_is_compared(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    box = opened.page.locator(".slider svg").bounding_box()
    x, y = box["x"] + 7, box["y"] + box["height"] / 2
    opened.page.mouse.move(x + 0.2 * box["width"], y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 0.6 * box["width"], y, steps=4)
    opened.page.mouse.up()
    opened.until("/day=[\\d-]+.*since=|since=[\\d-]+.*day=/.test(location.hash)")
    since, day = (re.search(rf"{key}=([\d-]+)", opened.page.url).group(1) for key in ("since", "day"))
    assert since < day
    assert "新增" in opened.page.inner_text(".changes")
    opened.quiet()


def test_a_followed_name_is_on_the_first_page_with_what_is_new(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.page.click('button:has-text("关注")')
    kept = opened.page.evaluate("localStorage.getItem('liantu.kept')")
    looked = re.sub(r'\\"seen\\":\d+', r'\\"seen\\":19800', kept)  # on 2024-03-18
    opened.page.evaluate("kept => localStorage.setItem('liantu.kept', kept)", looked)
    opened.page.goto("about:blank")
    opened.go("")
    chip = opened.page.locator('section:has(h2:has-text("我的关注")) .chip')
    chip.wait_for()
    opened.until("/自 2024-03-18 以来 \\d+ 处变化/.test(document.querySelector('main').innerText)")
    opened.page.click('button:has-text("都看过了")')
    opened.until("!/处变化/.test(document.querySelector('main').innerText)")
    opened.quiet()


def test_a_note_is_kept_and_listed_on_the_first_page(home, visit):
    opened = visit(home)
    opened.go(f"company/{LONGI}?e=n:{MODULE}")
    opened.page.fill(".note textarea", "下周问公司")
    opened.page.locator(".note textarea").blur()
    opened.page.wait_for_selector('.note:has-text("已存")')
    opened.page.goto("about:blank")
    opened.go("")
    opened.page.click('section:has(h2:has-text("我的笔记")) a')
    opened.page.wait_for_selector(".note textarea")
    assert opened.page.input_value(".note textarea") == "下周问公司"
    opened.page.fill(".note textarea", "")
    opened.page.locator(".note textarea").blur()
    opened.page.wait_for_selector('.note:has-text("已存")')
    opened.go("")
    opened.until("!document.querySelector('main').innerText.includes('我的笔记')")
    opened.quiet()


def test_a_supplier_has_its_share_and_the_day_at_first_look(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}?day=2024-06-01")
    assert "硅料 · 占其收入 12% · 2024-03-03" in opened.node("通威股份").get_attribute("aria-label")
    assert "客户：没有记载" in opened.page.inner_html("#picture")
    opened.go(f"company/{TONGWEI}?day=2024-06-01")
    assert "占本公司收入 12%" in opened.node("隆基绿能").get_attribute("aria-label")
    opened.quiet()


def test_what_two_companies_share_stands_between_them(home, visit):
    opened = visit(home)
    opened.go(f"common/{TONGWEI}/{SUNGROW}")
    spots = [opened.node(name).bounding_box()["x"] for name in ("通威股份", "隆基绿能", "阳光电源")]
    assert spots == sorted(spots)
    assert faults_of_picture(opened.page) == []
    opened.go(f"common/{TONGWEI}/{SUNGROW}?tab=table")
    assert "隆基绿能" in opened.page.inner_text("tbody")
    opened.quiet()


def test_all_contested_links_are_listed_and_drawn(home, visit):
    opened = visit(home)
    opened.go("contested?e=list")
    opened.page.wait_for_selector(".drawer ul.links li")
    listed = opened.page.locator(".drawer ul.links li").count()
    assert 0 < opened.page.locator("g.edge").count() <= listed
    assert faults_of_picture(opened.page) == []
    opened.go("contested?day=2024-01-12")
    assert "没有相互矛盾" in opened.page.inner_text("main")
    opened.quiet()


def test_a_picture_under_a_resting_pointer_is_not_dimmed(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    box = opened.node("通威股份").bounding_box()
    opened.page.mouse.move(box["x"] + 20, box["y"] + 10)
    opened.until("document.querySelector('#picture.dim') !== null")
    opened.go(f"company/{TONGWEI}")
    opened.page.wait_for_timeout(300)
    assert opened.page.locator("#picture.dim").count() == 0
    opened.quiet()


def test_who_gains_and_pays_is_in_the_table_with_its_basis(files, visit):
    opened = visit(files)
    opened.go("factor/indicator:硅料价格?tab=table")
    opened.page.wait_for_selector("tbody tr")
    rows = [row.inner_text() for row in opened.page.query_selector_all("tbody tr")]
    parties = [row for row in rows if row.startswith(("受益", "受损"))]
    assert any("601012.SH" in row and row.startswith("受损") for row in parties)
    assert all(re.search("原文所述|由相反情形推得|由产业链位置推断", row) for row in parties)
    opened.quiet()


def test_contested_links_alone_are_one_choice_among_the_filters(files, visit):
    opened = visit(files)
    opened.go(f"company/{TONGWEI}")
    before = opened.page.locator("g.edge").count()
    opened.page.click(".filters summary")
    opened.page.get_by_label("只看有分歧的").check()
    opened.until("location.hash.includes('disputed=1')")
    assert opened.page.locator("g.edge").count() < before
    opened.quiet()


def test_evidence_opened_by_keyboard_has_the_focus_and_gives_it_back(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.node("硅片").focus()
    opened.page.keyboard.press("Enter")
    opened.until("document.activeElement.closest('.drawer') !== null")
    opened.page.keyboard.press("Escape")
    opened.until("document.activeElement.closest('g.node')?.getAttribute('aria-label').startsWith('硅片') ?? false")
    opened.quiet()


def test_a_saved_picture_says_what_it_is_of_and_names_its_sources(files, visit, tmp_path):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.page.click(".menu summary")
    with opened.page.expect_download() as caught:
        opened.page.click('.menu button:has-text("SVG")')
    caught.value.save_as(tmp_path / "picture.svg")
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", (tmp_path / "picture.svg").read_text(encoding="utf-8"))
    assert texts.count("隆基绿能") == 1
    assert any(text.startswith("截至 ") for text in texts)
    assert {"公司", "供应、生产等", "出处："} <= set(texts)
    assert any(text.startswith("1. ") for text in texts)
    opened.quiet()


def test_the_legend_has_only_what_is_drawn_and_the_lines_of_a_chain_need_no_name(files, visit):
    opened = visit(files)
    opened.go("chain/industry:光伏")
    opened.page.wait_for_selector("g.node")
    legend = opened.page.inner_text(".legend")
    assert "供应、生产等" in legend
    assert not any(each in legend for each in ("同向", "反向", "有分歧"))
    names = opened.page.eval_on_selector_all("g.mark text", "all => all.map(each => each.textContent)")
    assert "上游" not in names
    opened.go("factor/indicator:硅料价格")
    opened.page.wait_for_selector("g.node")
    assert "同向" in opened.page.inner_text(".legend")
    opened.quiet()


def test_a_saved_picture_of_a_factor_says_which_way_it_moves(files, visit, tmp_path):
    opened = visit(files)
    opened.go("factor/indicator:硅料价格")
    opened.page.click(".menu summary")
    with opened.page.expect_download() as caught:
        opened.page.click('.menu button:has-text("SVG")')
    caught.value.save_as(tmp_path / "picture.svg")
    assert ">硅料价格 · 上升时</text>" in (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert opened.page.locator("g.node[data-topic]").first.get_attribute("aria-label").startswith("硅料价格 ↑")
    opened.quiet()


def test_the_links_of_a_name_are_listed_as_sentences(files, visit):
    opened = visit(files)
    opened.go(f"chain/{SILICON}")
    opened.node("硅料").click()
    opened.page.wait_for_selector(".drawer ul.links li")
    listed = opened.page.eval_on_selector_all(".drawer ul.links li", "all => all.map(each => each.textContent)")
    assert any(re.match("硅料 是 .+ 的上游 ", each) for each in listed)
    assert any(each.startswith("通威股份 生产 硅料") for each in listed)
    opened.quiet()
