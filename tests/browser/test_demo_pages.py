"""The pages that `make demo` writes, each opened: whole, quiet, and without a line that passes behind a card."""

from __future__ import annotations

import importlib.util
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from tests.architecture.source import ROOT
from tests.browser.geometry import illegible, lines_behind_shapes, overlapping

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser
DEMO = ROOT / "notebooks" / "demo"


def _pages() -> tuple[tuple[str, ...], ...]:
    spec = importlib.util.spec_from_file_location("demo_run", DEMO / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


def _run(*arguments: str) -> None:
    done = CliRunner().invoke(root, arguments)
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def demo(browser, demo_base, tmp_path_factory) -> Path:  # noqa: ARG001 - without a browser nothing need be read
    """Draw every page of the demo; in English too, but for the themes' many."""
    out = tmp_path_factory.mktemp("demo")
    kb = str(shutil.copyfile(demo_base, out / "kb.liantu"))
    _run("weekly", "--kb", kb)
    for lang in ("zh", "en"):
        for arguments in _pages():
            if arguments[0] != "themes" or lang == "zh":
                _run("draw", *arguments, "--kb", kb, "--lang", lang, "--out", str(out / lang), "--profiles", "20")
    return out


def _own(folder: Path) -> list[Path]:
    """Return the pages of a folder without most of the companies', which are many and alike."""
    pages = sorted(folder.rglob("*.html"))
    profiles = [path for path in pages if path.name.startswith("profile-")]
    return [path for path in pages if path not in profiles[6:]]


@pytest.mark.extended
def test_the_demo_is_legible_and_no_line_passes_behind_a_card(demo, open_file):
    """A line that vanishes behind a card is read as ending there: a wrong picture of who pays whom."""
    pictures, wrong = 0, {}
    for path in _own(demo):
        opened = open_file(path, width=1280, height=720)
        if opened.page.query_selector("#canvas"):
            pictures += 1
            faults = [*illegible(opened.page), *overlapping(opened.page), *lines_behind_shapes(opened.page)]
            if faults or opened.requests or opened.complaints:
                wrong[path.name] = (faults, opened.requests, opened.complaints)
        opened.page.close()
    assert pictures > 2 * len(_pages()), "every page of the demo in both languages, and a page for each theme"
    assert wrong == {}


@pytest.mark.extended
def test_pages_lead_to_each_other(demo, open_file):
    """Index → chain → company → theme, each with a click."""
    opened = open_file(demo / "zh" / "index.html", own_folder=True)
    page = opened.page
    page.fill("#find", "光伏 产业链")
    page.click("main li:not([hidden]) a")
    page.wait_for_selector("#state", state="detached")
    assert "光伏" in page.inner_text("h1")
    page.fill("#find", "隆基绿能")
    page.press("#find", "Enter")
    page.click("#detail .pages a")
    page.wait_for_selector("#state", state="detached")
    assert page.inner_text("h1").startswith("隆基绿能")
    related = page.inner_text("#related")
    assert "光伏 · 产业链" in related
    page.click("#related a[href^=theme-]")
    page.wait_for_selector("#state", state="detached")
    assert "隆基绿能" in page.inner_text("#panel")
    page.click("a[href='index.html']")
    assert page.query_selector("#find")
    assert (opened.requests, opened.complaints) == ([], [])
