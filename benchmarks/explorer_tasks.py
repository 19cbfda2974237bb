"""Ten tasks of a strategist in the served explorer of a base: `python -m benchmarks.explorer_tasks KB`.

Each begins at the first page and is done in a headless Chromium at 1440×900 and 1920×1080; clicks, choices from a list
and files asked for are counted, typing is not. The names asked about can be given, since bases differ.
"""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import sys
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from playwright.sync_api import Error, sync_playwright

from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from kg.service.base import KnowledgeBase

MOST_CLICKS: Final = 4
SIZES: Final = ((1440, 900), (1920, 1080))
_WAIT: Final = 60_000
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Names:
    """What the tasks ask about: names of the base."""

    company: str = "宁德时代"
    other: str = "比亚迪"
    price: str = "碳酸锂价格"
    chain: str = "光伏"
    themes: tuple[str, str] = ("碳酸锂", "整车")


class TaskFailed(AssertionError):
    """What a task should have shown and did not."""


@contextmanager
def serving(kb: KnowledgeBase, *, notes: Path | None = None) -> Iterator[str]:
    """Serve the explorer of a base on a free port of this machine and yield its address."""
    import uvicorn  # noqa: PLC0415 -- an optional extra

    from kg.service.connections import listening  # noqa: PLC0415
    from viz.exhibit.serving import explorer_app  # noqa: PLC0415

    with listening("127.0.0.1", 0) as listener:
        app = explorer_app(kb, lang="zh", now=lambda: datetime(2026, 1, 2, tzinfo=UTC), notes=notes)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, http="h11", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


class Strategist:
    """A reader at the first page who counts clicks."""

    def __init__(self, page: Page, home: str, names: Names) -> None:
        self.page, self.home, self.names, self.clicks = page, home, names, 0
        page.set_default_timeout(_WAIT)

    def begin(self) -> None:
        """Open the first page anew."""
        self.page.goto("about:blank")
        self.page.goto(self.home)
        self.clicks = 0
        self.page.wait_for_selector("#search-home")

    def click(self, selector: str) -> None:
        """Click what a selector finds first."""
        self.page.locator(selector).first.click()
        self.clicks += 1

    def choose(self, selector: str, label: str) -> None:
        """Choose an entry of a list."""
        self.page.select_option(selector, label=label)
        self.clicks += 1

    def search(self, name: str, field: str = "#search-home") -> None:
        """Type a name and choose the match."""
        self.page.fill(field, name)
        self.click(f'[role="option"]:has-text("{name}")')
        self.settle()

    def settle(self) -> None:
        """Wait until a picture is drawn."""
        self.until("!document.querySelector('.wait') && document.querySelector('#picture g.node') !== null")

    def until(self, expression: str) -> None:
        """Wait for an expression; Playwright's own way is stopped by the page's policy."""
        for _ in range(_WAIT // 50):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise TaskFailed(expression)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all that a selector finds."""
        found: list[str] = self.page.eval_on_selector_all(selector, "all => all.map(each => each.textContent)")
        return found

    def download(self, selector: str, folder: Path) -> Path:
        """Click and return the file that is saved."""
        with self.page.expect_download() as caught:
            self.click(selector)
        file = folder / caught.value.suggested_filename
        caught.value.save_as(file)
        return file


def require(what: object, said: str) -> None:
    """Fail a task unless something holds."""
    if not what:
        raise TaskFailed(said)


_SIDES = """() => Object.fromEntries([...document.querySelectorAll('#picture g.node, #picture > text')].map(each => {
    const box = (each.querySelector('rect') ?? each).getBBox();
    return [each.dataset?.id ? each.getAttribute('aria-label') : each.textContent, [box.x, box.y]];
}))"""


def suppliers_and_customers(reader: Strategist, _: Path) -> None:
    """1. Suppliers left, customers right, competitors below, with product, share, stage and day, or a plain word."""
    reader.search(reader.names.company)
    places = reader.page.evaluate(_SIDES)

    def place(begin: str) -> list[float]:
        found = [spot for text, spot in places.items() if text.startswith(begin)]
        require(found, f"nothing begins with {begin}")
        spot: list[float] = found[0]
        return spot

    firm, left, right, below = (place(each) for each in (reader.names.company, "供应商", "客户", "竞争对手"))
    require(left[0] < firm[0] < right[0], "suppliers are not left, or customers not right")
    require(below[1] > firm[1], "competitors are not below")
    for heading in ("供应商", "客户"):
        (text,) = [each for each in places if each.startswith(heading)]
        listed = [name for name, spot in places.items() if abs(spot[0] - place(heading)[0]) < 4 and _DAY.search(name)]
        require("没有记载" in text or any("占" in each for each in listed), f"{text}: no share and no word of it")
        require("：没有记载" in text or listed, f"{text}: none has a day")


def a_price_rises(reader: Strategist, _: Path) -> None:
    """2. Who gains and who pays, listed companies at the end, sign, weakest link, stated or inferred."""
    reader.search(reader.names.price)
    nodes = reader.page.eval_on_selector_all("g.node", "all => all.map(each => each.getAttribute('aria-label'))")
    require([each for each in nodes if re.search(r"[↑↓].*\d{4,6}\.", each)], "no listed company has a direction")
    reader.click('.tabs.small a:has-text("表")')
    reader.page.wait_for_selector("tbody tr")
    rows = reader.texts("tbody tr")
    require(any(row.startswith(("受益", "受损")) for row in rows), "the table has no one who gains or pays")
    require(all(re.search("原文所述|由相反情形推得|由产业链位置推断", row) for row in rows), "a row lacks its basis")
    require(all(re.search(r"\d+% · ", row) for row in rows), "a row lacks its weakest link")


def a_theme_since(reader: Strategist, _: Path) -> None:
    """3. What changed in a theme since a day."""
    reader.page.wait_for_selector(".map article")
    reader.click(".map article h3 a")
    reader.settle()
    reader.choose(".timebar select", "三个月前")
    reader.until("document.querySelector('.since') !== null && !document.querySelector('.wait')")
    (text,) = reader.texts(".since")
    require(_DAY.search(text), "the changes have no day")
    require(
        re.search("新增 [1-9]|失效 [1-9]|新成员|离开|成员|没有变化", text),
        "no changes are listed, nor that there are none",
    )


def why_it_is_believed(reader: Strategist, _: Path) -> None:
    """4. The sentence behind a link, houses, days, independent sources, what contradicts it."""
    reader.search(reader.names.company)
    edge = reader.page.locator("g.edge path.hit").first
    spot = edge.evaluate(
        "path => { const at = path.getPointAtLength(path.getTotalLength() * 0.4).matrixTransform(path.getScreenCTM());"
        " return [at.x, at.y]; }"
    )
    reader.page.mouse.click(*spot)
    reader.clicks += 1
    reader.page.wait_for_selector(".drawer mark")
    require(reader.page.inner_text(".drawer mark").strip(), "no sentence is marked")
    why = reader.page.inner_text(".drawer details[open]")
    for each in ("独立来源", "机构与日期", "相反的说法"):
        require(each in why, f"the evidence does not say: {each}")
    require(_DAY.search(why), "no day is given")


def as_known_on_a_day(reader: Strategist, _: Path) -> None:
    """5. Everything as known on a day."""
    reader.search(reader.names.company)
    days = reader.page.evaluate("JSON.parse(document.getElementById('meta').textContent).days.map(each => each[0])")
    day = datetime.fromtimestamp(days[len(days) * 2 // 3] * 86_400, UTC).date().isoformat()
    reader.page.fill('.timebar input[type="date"]', day)
    reader.until(f"location.hash.includes('day={day}')")
    reader.page.wait_for_timeout(300)
    nodes = reader.page.eval_on_selector_all("g.node", "all => all.map(each => each.getAttribute('aria-label'))")
    shown = {found for each in nodes for found in _DAY.findall(each)}
    require(all(each <= day for each in shown), f"later than {day}: {sorted(shown)}")


def two_steps_up(reader: Strategist, _: Path) -> None:
    """6. Two steps up a chain."""
    reader.search(reader.names.chain)
    captions = reader.texts("#picture > g > text")
    require({"上游", "上游 2"} <= set(captions), f"the columns are {captions}")


def what_two_share(reader: Strategist, _: Path) -> None:
    """7. Companies common to two themes; then the common chain of two companies."""
    first, second = reader.names.themes
    reader.page.wait_for_selector(".map article")
    reader.click(f'.map article h3 a:text-is("{first}")')
    reader.settle()
    reader.click('summary:has-text("共同点")')
    reader.choose("#common-theme", second)
    reader.settle()
    require("共同的公司" in reader.texts("#picture > text"), "no company is in both themes")
    require(reader.clicks <= MOST_CLICKS, f"{reader.clicks} clicks for two themes")
    reader.begin()
    reader.search(reader.names.company)
    reader.click('summary:has-text("共同点")')
    reader.search(reader.names.other, "#common")
    reader.until("/common/.test(location.hash)")
    reader.settle()
    require({"共同的公司", "产品与业务"} & set(reader.texts("#picture > text")), "the companies share nothing")


def all_contested_links(reader: Strategist, _: Path) -> None:
    """8. All contested links, as a list and on the picture."""
    reader.click('a.chip:has-text("有分歧")')
    reader.settle()
    listed = len(reader.texts(".drawer ul.links li"))
    require(listed, "no contested link is listed")
    require(len(reader.texts("g.edge")), "no contested link is drawn")
    reader.click('.tabs.small a:has-text("表")')
    reader.page.wait_for_selector("tbody tr")
    require(len(reader.texts("tbody tr")) == listed, "the table has other links than the list")


def a_picture_for_a_slide(reader: Strategist, folder: Path) -> None:
    """9. Title, day, legend, numbered sources; PNG at twice the size, and SVG."""
    reader.search(reader.names.company)
    reader.click('.menu summary:has-text("导出")')
    png = reader.download('.menu button:has-text("PNG")', folder).read_bytes()
    svg = reader.download('.menu button:has-text("SVG")', folder).read_text("utf-8")
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    require(reader.names.company in texts, "the picture has no title")
    require(any(_DAY.search(each) and each.startswith("截至") for each in texts), "the picture has no day")
    require({"公司", "供应、生产等", "出处："} <= set(texts), "the picture has no legend or no sources")
    require(any(each.startswith("1. ") for each in texts), "the sources have no numbers")
    (width,) = re.findall(r'<svg[^>]* width="([\d.]+)"', svg)
    require(struct.unpack(">I", png[16:20])[0] == round(2 * float(width)), "the PNG is not twice the size")


def a_link_for_a_colleague(reader: Strategist, folder: Path) -> None:
    """10. Copy the link; for a base of this machine a file of this view, which asks for nothing."""
    reader.search(reader.names.company)
    reader.click('.menu summary:has-text("导出")')
    reader.click('.menu button:has-text("链接")')
    reader.until("navigator.clipboard.readText().then(text => text === location.href)")
    drawn = reader.texts("g.node")
    file = reader.download('.menu a:has-text("存成一个文件")', folder)
    require(reader.names.company in unquote(file.name), f"the file is called {file.name}")
    page = reader.page.context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("#picture g.node")
    found = page.eval_on_selector_all("g.node", "all => all.map(each => each.textContent)")
    page.close()
    require(found == drawn, "the file shows another picture")
    require([each for each in asked if not each.startswith(("file:", "data:"))] == [], f"the file asks for {asked}")


TASKS: Final[tuple[Callable[[Strategist, Path], None], ...]] = (
    suppliers_and_customers,
    a_price_rises,
    a_theme_since,
    why_it_is_believed,
    as_known_on_a_day,
    two_steps_up,
    what_two_share,
    all_contested_links,
    a_picture_for_a_slide,
    a_link_for_a_colleague,
)


def done(
    browser: Browser, home: str, task: Callable[[Strategist, Path], None], *, names: Names, size: tuple[int, int]
) -> int:
    """Do one task in a window of some size; return its clicks.

    Raises:
        TaskFailed: when it cannot be done, or not with four clicks.
    """
    allowed = ["clipboard-read", "clipboard-write"]
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, accept_downloads=True, permissions=allowed
    )
    try:
        reader = Strategist(context.new_page(), home, names)
        reader.begin()
        with tempfile.TemporaryDirectory() as folder:
            task(reader, Path(folder))
        require(reader.clicks <= MOST_CLICKS, f"{reader.clicks} clicks")
        return reader.clicks
    finally:
        context.close()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kb")
    usual = asdict(Names())
    for name, value in usual.items():
        parser.add_argument(f"--{name}", default=value, nargs=None if isinstance(value, str) else len(value))
    given = vars(parser.parse_args(arguments))
    names = Names(**{name: given[name] for name in usual})
    failed = 0
    with open_kb(given["kb"]) as kb, serving(kb) as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for size in SIZES:
            for task in TASKS:
                try:
                    said = f"{done(browser, home, task, names=names, size=size)} clicks"
                except (TaskFailed, Error) as error:
                    said, failed = f"FAILED: {error}", failed + 1
                print(f"{size[0]}×{size[1]}  {task.__doc__}  {said}", flush=True)
        browser.close()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
