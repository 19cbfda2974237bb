"""A real headless Chromium with the network closed; every request, console line and dialog is recorded."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from tests.browser.explorer import exhibits, files, home, served, visit  # noqa: F401 -- fixtures
from tests.browser.geometry import RECORD_TEXT
from viz.publish.collection import LIBRARY, MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@dataclass
class Opened:
    """A page in the browser, and what it tried."""

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def panel(self) -> str:
        return self.page.inner_text("#panel")


@pytest.fixture(scope="module")  # while it is open, no other test of the process can run an event loop
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Open a page as a double click would; only itself and the library beside it may be read."""
    contexts = []

    def open_path(file: Path, *, width: int = 1600, height: int = 1000, own_folder: bool = False) -> Opened:
        # Without motion a test waits for no animation, however busy the machine is.
        context = browser.new_context(
            viewport={"width": width, "height": height}, offline=True, reduced_motion="reduce"
        )
        context.add_init_script(RECORD_TEXT)
        contexts.append(context)
        opened = Opened(context.new_page())
        folder = f"{file.parent.as_uri()}/"
        own = {file.as_uri(), *(file.with_name(name).as_uri() for name in (LIBRARY, MANIFEST))}

        def watch(route: Route) -> None:
            if route.request.url in own or (own_folder and route.request.url.startswith(folder)):
                route.continue_()
                return
            opened.requests.append(route.request.url)
            route.abort()

        context.route("**/*", watch)
        opened.page.on("console", lambda line: opened.complaints.append(f"{line.type}: {line.text}"))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("dialog", lambda dialog: (opened.dialogs.append(dialog.message), dialog.dismiss()))
        opened.page.goto(file.as_uri())
        if opened.page.query_selector("#canvas"):
            opened.page.wait_for_selector("#state", state="detached")
        return opened

    yield open_path
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(open_file: Callable[..., Opened], tmp_path: Path) -> Callable[..., Opened]:
    """Write a page to a file and open it."""

    def open_html(html: str, **window: int) -> Opened:
        file = tmp_path / f"page{len(list(tmp_path.iterdir()))}.html"
        file.write_text(html, encoding="utf-8")
        return open_file(file, **window)

    return open_html
