"""What `liantu draw` writes of the demo, opened: whole, quiet, legible, and from the picture to the sentence."""

from __future__ import annotations

import importlib.util
import shutil
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from tests.architecture.source import ROOT
from tests.browser.geometry import faults_of_picture

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.extended]
DEMO = ROOT / "notebooks" / "demo"


def _pages() -> tuple[tuple[str, ...], ...]:
    spec = importlib.util.spec_from_file_location("demo_run", DEMO / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(root, arguments)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def demo(browser, demo_base, tmp_path_factory) -> Path:  # noqa: ARG001 - without a browser nothing need be read
    """Draw every page of the demo in both languages, and the largest theme."""
    out = tmp_path_factory.mktemp("demo")
    kb = str(shutil.copyfile(demo_base, out / "kb.liantu"))
    _run("weekly", "--kb", kb)
    theme = next(word for word in _run("themes", "--kb", kb).replace("（", " ").split() if word.startswith("theme:"))
    for lang in ("zh", "en"):
        for number, arguments in enumerate((*_pages(), ("theme", theme))):
            file = out / lang / f"{number}-{arguments[0]}.html"
            _run("draw", *arguments, "--kb", kb, "--lang", lang, "--out", str(file))
    return out


def test_every_picture_of_the_demo_is_legible_and_asks_nobody(demo, visit):
    wrong, pictures = {}, sorted(demo.rglob("*.html"))
    for file in pictures:
        opened = visit(file.as_uri(), size=(1280, 720))
        opened.page.wait_for_selector("g.node")
        faults = (faults_of_picture(opened.page), opened.foreign, opened.complaints)
        if faults != ([], [], []):
            wrong[file.name] = faults
        opened.page.context.close()
    assert len(pictures) == 2 * (len(_pages()) + 1)
    assert wrong == {}


def test_a_line_of_the_list_leads_to_its_sentence(demo, visit):
    opened = visit((demo / "zh" / "0-chain.html").as_uri())
    page = opened.page
    assert page.inner_text("h1") == "光伏"
    assert "条关系" in page.inner_text(".drawer h2")
    page.click(".drawer .links button")
    page.wait_for_selector(".drawer mark")
    assert page.locator('.drawer button:has-text("读存档全文")').count() == 0  # the file holds the quotes alone
    opened.quiet()


def test_a_fall_opens_as_a_fall_and_can_be_turned(demo, visit):
    opened = visit((demo / "zh" / "2-impact.html").as_uri())
    opened.page.wait_for_selector('button[aria-pressed="true"]:has-text("下降时")')
    opened.page.click('button:has-text("上升时")')
    opened.settle()
    assert opened.page.locator("g.node").count() > 1
    opened.quiet()


def test_elsewhere_in_a_file_of_one_answer_it_says_that_it_is_not_all(demo, visit):
    opened = visit((demo / "zh" / "0-chain.html").as_uri())
    notice = "这份文件只存一个答案"
    assert notice not in opened.page.inner_text("main")
    opened.page.click('.tabs a:has-text("关系")')
    opened.settle()
    assert notice in opened.page.inner_text("main")
    opened.page.click(".logo")
    opened.until("location.hash.startsWith('#/chain/')")
    opened.quiet()


def test_a_theme_shows_all_its_sentences_and_its_life(demo, visit):
    opened = visit(next((demo / "zh").glob("*-theme.html")).as_uri())
    text = opened.page.inner_text(".theme")
    assert all(word in text for word in ("摘要", "沿革", "上游"))
    opened.page.click(".theme .cite")
    opened.page.wait_for_selector(".drawer mark")
    opened.quiet()
