"""The pages that `make demo` writes, each opened: whole, quiet, and without a line that passes behind a card."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from tests.architecture.source import ROOT
from tests.browser.geometry import lines_behind_shapes

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.browser
DEMO = ROOT / "notebooks" / "demo"


def _pages() -> tuple[tuple[str, str, str, tuple[str, ...]], ...]:
    spec = importlib.util.spec_from_file_location("demo_run", DEMO / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


def _run(*arguments: str) -> None:
    done = CliRunner().invoke(root, arguments)
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="session")
def demo(browser, tmp_path_factory) -> Path:  # noqa: ARG001 - without a browser nothing need be read
    """Read the bundled reports and draw every page of the demo; in English too, but for the themes' many."""
    out = tmp_path_factory.mktemp("demo")
    kb = str(out / "kb.liantu")
    _run("ingest", str(DEMO / "reports"), "--kb", kb)
    _run("weekly", "--kb", kb)
    for lang in ("zh", "en"):
        for file, _, _, arguments in _pages():
            place, themes = out / lang / file, arguments[0] == "themes"
            if not themes or lang == "zh":
                _run("draw", *arguments, "--kb", kb, "--lang", lang, "--out", str(place.parent if themes else place))
    return out


def test_no_line_of_the_demo_passes_behind_a_card(demo, open_file):
    """A line that vanishes behind a card is read as ending there: a wrong picture of who pays whom."""
    pictures, behind = 0, {}
    for path in sorted(demo.rglob("*.html")):
        opened = open_file(path)
        if opened.page.query_selector("#canvas") is None:
            continue
        pictures += 1
        found = lines_behind_shapes(opened.page)
        if found or opened.requests or opened.complaints:
            behind[path.name] = (found, opened.requests, opened.complaints)
        opened.page.close()
    assert pictures > 2 * len(_pages()), "every page of the demo in both languages, and a page for each theme"
    assert behind == {}
