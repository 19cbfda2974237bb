"""The explorer in a real browser, served and as files: from a search to the source, by mouse, by keyboard, by touch."""

from __future__ import annotations

import re

import pytest

from tests.browser.explorer import AXE, SIZES, serve
from tests.kg.query.world import LONGI, MODULE, SILICON, TONGWEI
from tests.viz.samples import HOSTILE

pytestmark = pytest.mark.browser


def test_from_a_search_to_the_source(home, visit):
    opened = visit(home)
    page = opened.page
    page.fill("#search-home", "ljln")  # pinyin initials
    page.click('[role="option"]:has-text("隆基绿能")')
    opened.settle()
    assert page.inner_text("h1") == "隆基绿能"
    opened.node("组件").dblclick()  # expands
    opened.until("location.hash.includes('x=')")
    page.fill('.timebar input[type="date"]', "2024-06-01")
    opened.until("location.hash.includes('day=2024-06-01')")
    assert opened.node("晚来科技").count() == 0  # published in September
    assert opened.node("通威股份").count() == 1  # closed in September
    opened.node("通威股份").click()
    page.click('.drawer .links button:has-text("隆基绿能")')
    page.wait_for_selector(".drawer mark")
    assert page.inner_text(".drawer mark") == "通威股份向隆基绿能供应硅料，占其收入12%。"
    page.click('.drawer button:has-text("读存档全文")')
    page.wait_for_selector(".stored mark")
    opened.quiet()


@pytest.mark.extended
def test_the_back_button_undoes(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.node("硅片").focus()
    opened.page.keyboard.press("h")
    opened.until("location.hash.includes('h=')")
    assert opened.node("硅片").count() == 0
    opened.page.go_back()
    opened.node("硅片").wait_for()
    opened.quiet()


@pytest.mark.extended
def test_nothing_later_shows_and_changes_are_marked(home, visit):
    opened = visit(home)
    opened.go(f"company/{LONGI}?day=2024-05-31")
    assert "晚来科技" not in opened.page.inner_html("#picture")
    opened.go(f"company/{LONGI}?since=2024-06-01")
    assert "失效" in opened.node("通威股份").get_attribute("aria-label")
    assert "新增" in opened.node("晚来科技").get_attribute("aria-label")
    assert re.search(r"新增 \d+，失效 1", opened.page.inner_text(".changes"))
    opened.quiet()


@pytest.mark.extended
def test_by_keyboard_alone(files, visit):
    opened = visit(files)
    keyboard = opened.page.keyboard
    keyboard.press("/")
    keyboard.type("601012")
    opened.page.wait_for_selector('[role="option"]')
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    opened.settle()
    for _ in range(60):
        keyboard.press("Tab")
        if opened.page.evaluate("document.activeElement.dataset.id || ''") == MODULE:
            break
    else:
        pytest.fail("Tab does not reach the node")
    keyboard.press("Enter")
    opened.page.wait_for_selector(".drawer")
    assert opened.page.inner_text(".drawer h2") == "组件"
    keyboard.press("Escape")
    opened.page.wait_for_selector(".drawer", state="detached")
    opened.quiet()


def test_hostile_names_are_text(home, visit):
    opened = visit(home)
    opened.go(f"company/{LONGI}?pick=")
    node = opened.page.locator('g.node[data-id="product:x"]')
    node.click()
    assert opened.page.inner_text(".drawer h2") == HOSTILE
    opened.page.click(".drawer .links button")
    opened.page.wait_for_selector(".drawer mark")
    assert opened.page.locator('.drawer a[href^="javascript"]').count() == 0
    for tab in ("table", "events"):
        opened.go(f"company/{LONGI}?tab={tab}")
    for address in ("company/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "chain/%E0%A4%A", "theme/x?day=<b>&since=~~&e=l:x"):
        opened.go(address)
    opened.quiet()


VIEWS = (f"chain/{SILICON}", "factor/indicator:硅料价格", f"network/{LONGI}?d=2")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_draws(home, visit, view):
    opened = visit(home)
    opened.go(view)
    opened.page.wait_for_selector("g.node, .network canvas")
    opened.page.wait_for_timeout(100)
    assert opened.page.locator("g.node").count() > 1 or opened.page.locator(".network canvas").count()
    opened.complaints = [line for line in opened.complaints if "GPU stall" not in line]  # a note of software WebGL
    opened.quiet()


@pytest.mark.extended
def test_text_is_never_smaller_than_eleven_pixels(files, visit):
    for size in SIZES:
        opened = visit(files, size=size)
        for view in (f"chain/{SILICON}", f"company/{LONGI}"):
            opened.go(view)
            sizes = opened.page.eval_on_selector_all(
                "#picture text, main p, main button, main td",
                "all => all.map(each => parseFloat(getComputedStyle(each).fontSize) * (each.getScreenCTM?.().a ?? 1))",
            )
            assert min(sizes) >= 11


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.extended
def test_the_page_fits_the_window(files, visit, size):
    opened = visit(files, size=size, has_touch=size[0] < 500)
    for view in ("", f"company/{LONGI}", f"company/{LONGI}?tab=table", f"chain/{SILICON}"):
        opened.go(view)
        wide = opened.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, view
    opened.quiet()


@pytest.mark.extended
def test_english_has_no_chinese_of_ours(files, visit):
    """Names and titles are those of the documents; all other words are English."""
    opened = visit(files)
    opened.page.click('button:has-text("English")')
    assert opened.page.get_attribute("html", "lang") == "en"
    opened.go("factor/indicator:硅料价格")
    chrome = opened.page.inner_text(".head") + opened.page.inner_text(".timebar") + opened.page.inner_text(".top")
    assert re.findall(r"[\u4e00-\u9fff]+", chrome.replace("硅料价格", "").replace("中文", "")) == []
    opened.quiet()


@pytest.mark.extended
def test_dark_is_dark_and_stays(files, visit):
    opened = visit(files)
    opened.page.click('button:has-text("深色")')
    opened.page.reload()
    background = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(17, 22, 29)"
    opened.quiet()


@pytest.mark.parametrize("name", ["PNG", "SVG", "PDF", "GraphML"])
@pytest.mark.extended
def test_the_view_can_be_saved(files, visit, name, tmp_path):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.page.click(".menu summary")
    with opened.page.expect_download() as caught:
        opened.page.click(f'.menu button:has-text("{name}")')
    caught.value.save_as(tmp_path / "file")
    data = (tmp_path / "file").read_bytes()
    begins = {"PNG": b"\x89PNG", "SVG": b"<?xml", "PDF": b"%PDF-1.4", "GraphML": b"<?xml"}[name]
    assert data.startswith(begins)
    assert len(data) > 1000
    opened.quiet()


@pytest.mark.filterwarnings("ignore:Workbook contains no default style")
@pytest.mark.extended
def test_a_table_is_sorted_filtered_and_saved(files, visit, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    opened = visit(files)
    opened.go(f"company/{LONGI}?tab=table")
    opened.page.fill(".tools input", "通威")
    assert opened.page.locator("tbody tr").count() >= 1
    for kind in ("CSV", "XLSX"):
        with opened.page.expect_download() as caught:
            opened.page.click(f'.tools button:has-text("{kind}")')
        caught.value.save_as(tmp_path / f"table.{kind.lower()}")
    text = (tmp_path / "table.csv").read_text("utf-8-sig")
    assert "通威股份" in text
    assert "12%" in text
    rows = list(openpyxl.load_workbook(tmp_path / "table.xlsx").active.values)
    assert any("通威股份" in row for row in rows)
    opened.quiet()


@pytest.mark.extended
def test_what_is_wrong_is_recorded_and_revoked(visit, tmp_path):
    with serve(tmp_path) as home:
        opened = visit(home)
        opened.go(f"company/{LONGI}")
        opened.node("组件").click()
        opened.page.click('.drawer .links button:has-text("隆基绿能")')
        opened.page.click('.drawer button:has-text("这条不对")')
        labels = opened.page.locator(".wrong input:not([type=radio])")
        labels.nth(1).fill("测试员")
        labels.nth(2).fill("另有所指")
        opened.page.click('.wrong button[type="submit"]')
        opened.page.wait_for_selector(".wrong [role=status]")
        assert opened.page.inner_text(".wrong [role=status]").startswith("已记录")
        opened.page.click('.wrong button:has-text("撤销")')
        opened.until("document.querySelector('.wrong [role=status]').textContent === '已撤销。'")
        opened.quiet()


@pytest.mark.extended
def test_files_offer_no_judgement(files, visit):
    opened = visit(files)
    opened.go(f"company/{LONGI}")
    opened.node("组件").click()
    opened.page.click(".drawer .links button")
    opened.page.wait_for_selector(".drawer mark")
    assert opened.page.locator('button:has-text("这条不对")').count() == 0


@pytest.mark.extended
def test_a_name_without_links_leads_on(files, visit):
    opened = visit(files)
    opened.go("company/product:不存在")
    assert "知识库里没有「不存在」" in opened.page.inner_text(".empty")
    assert "放宽筛选" not in opened.page.inner_text(".empty")
    opened.go(f"company/{LONGI}?day=2024-01-11")
    assert opened.page.locator(".empty").count() == 1
    opened.page.click(".empty button")
    opened.until("document.querySelectorAll('.empty button').length === 0")
    opened.quiet()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.extended
def test_axe_finds_nothing_serious(files, visit, dark):
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make explorer")
    opened = visit(files, color_scheme="dark" if dark else "light", bypass_csp=True)
    opened.page.add_init_script(path=AXE)
    serious = {}
    views = (
        "",
        f"company/{LONGI}?e=n:{MODULE}",
        f"company/{LONGI}?tab=table",
        f"company/{LONGI}?tab=figures",
        f"chain/{SILICON}",
        f"chain/{SILICON}?e=list",
        f"common/{LONGI}/{TONGWEI}",
        "contested?e=list",
        "contested?tab=table",
    )
    for view in views:
        opened.page.goto("about:blank")
        opened.go(view)
        opened.page.wait_for_timeout(200)
        found = opened.page.evaluate("axe.run().then(result => result.violations)")
        bad = [
            f"{each['id']}: {each['nodes'][0]['html'][:160]}"
            for each in found
            if each["impact"] in ("serious", "critical")
        ]
        if bad:
            serious[view] = bad
    assert serious == {}
