"""A small base in the explorer, served and as files, and visits to it in a real browser."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from benchmarks.explorer_tasks import serving
from kg.model import Entity, Kind, Modality, Polarity, Value
from kg.period import quarter, year
from kg.service.base import open_kb
from tests.architecture.source import ROOT
from tests.kg.query.world import LONGI, SILICON, TONGWEI, claim, filled, moves, paper, solar
from tests.viz.samples import HOSTILE
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import write_exhibit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page, Route

    from kg.model import Reading

AXE = ROOT / "viz" / "explorer" / "node_modules" / "axe-core" / "axe.min.js"
SIZES = ((1280, 720), (1600, 1000), (390, 844))
RTL = "\u05e9\u05dc\u05d5\u05dd\u202e<b>"
_LATE = "2024-09-01"
LATE = "org:晚来科技"
UNSURE = "org:未必公司"
BOTH = "org:两面公司"


def _world() -> tuple[Reading, ...]:
    supplies = claim(TONGWEI, "supplies", LONGI, qualifiers=(("product", "硅料"), ("revenue_share", "12%")))
    end = replace(supplies, polarity=Polarity.NEGATIVE)
    forecast = claim(LONGI, "reports", "indicator:毛利率", value=Value(21.0, "%"), valid=year(2025))
    actual = replace(forecast, value=Value(17.0, "%"), valid=quarter(2024, 1))
    new = claim(LONGI, "supplies", LATE)
    evil = Entity("product:x", Kind.PRODUCT, HOSTILE)
    rtl = Entity("product:y", Kind.PRODUCT, RTL)
    readings = (
        *solar(),
        paper(40, "2024-03-03", ("通威股份向隆基绿能供应硅料，占其收入12%。", supplies)),
        paper(
            41,
            "2024-04-04",
            ("隆基绿能一季度毛利率17%。", actual),
        ),
        paper(42, "2024-05-05", ("预计2025年毛利率21%。", replace(forecast, modality=Modality.FORECAST))),
        paper(
            43,
            _LATE,
            ("通威股份不再向隆基绿能供应硅料。", end),
            ("隆基供应晚来科技。", new),
        ),
        paper(44, "2024-05-06", ("坏名字。", claim(LONGI, "produces", "product:x")), extra=(evil,)),
        paper(45, "2024-05-07", ("右起名字。", claim(LONGI, "produces", "product:y")), extra=(rtl,)),
        paper(46, "2024-05-08", ("硅料涨价使隆基承压。", moves("indicator:硅料价格", LONGI, 1, -1))),
    )
    hostile = readings[-3]
    both = paper(
        48,
        "2024-05-10",
        ("通威股份向两面公司供货。", claim(TONGWEI, "supplies", BOTH)),
        ("两面公司向通威股份供货。", claim(BOTH, "supplies", TONGWEI)),
    )
    unsure = paper(47, "2024-05-09", ("未必公司或生产硅料。", claim(UNSURE, "produces", SILICON)))
    (fact,) = unsure.facts
    doubted = tuple(replace(item, confidence=0.5) for item in fact.evidence)
    unsure = replace(unsure, facts=(fact.with_evidence(doubted),))
    titled = replace(hostile.document, title=HOSTILE, url="javascript:alert(3)")
    return (*readings[:-3], replace(hostile, document=titled), *readings[-2:], unsure, both)


@dataclass
class Visit:
    """An open explorer, where it stands, and what it tried."""

    page: Page
    home: str
    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def go(self, address: str) -> None:
        self.page.goto(f"{self.home}#/{address}")
        self.settle()

    def settle(self) -> None:
        self.until("!document.querySelector('.wait')")

    def until(self, expression: str) -> None:
        """Wait for an expression; Playwright's own way is stopped by the page's policy."""
        for _ in range(200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never: {expression}")

    def node(self, name: str):
        return self.page.locator(f'g.node[aria-label^="{name}"]').first

    def quiet(self) -> None:
        assert (self.foreign, self.complaints, self.dialogs) == ([], [], [])


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("exhibit")
    store = filled(_world())
    content = ExhibitContent(store, store.view(), min_confidence=0.65)
    write_exhibit(content, folder / "many", lang="zh", one_file=False)
    write_exhibit(content, folder / "one", lang="zh", one_file=True)
    return folder


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    with open_kb(folder / "kb.liantu", create=True) as kb:
        filled(_world(), kb.store)
        with serving(kb, notes=folder / "kb.liantu.notes.json") as home:
            yield home


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[str]:
    with serve(tmp_path_factory.mktemp("served")) as home:
        yield home


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    contexts: list[BrowserContext] = []

    def opened(home: str, *, size: tuple[int, int] = SIZES[0], **options: object) -> Visit:
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce", accept_downloads=True, **options
        )
        contexts.append(context)
        context.set_default_timeout(10_000)
        found = Visit(context.new_page(), home)
        own = home.removesuffix("index.html")

        def watch(route: Route) -> None:
            url = route.request.url
            if url.startswith((own, "data:", "blob:")):
                route.continue_()
                return
            found.foreign.append(url)
            route.abort()

        context.route("**/*", watch)
        found.page.on("console", lambda line: found.complaints.append(f"{line.type}: {line.text}"))
        found.page.on("pageerror", lambda error: found.complaints.append(str(error)))
        found.page.on("dialog", lambda dialog: (found.dialogs.append(dialog.message), dialog.dismiss()))
        found.page.goto(home)
        return found

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(params=["many", *(pytest.param(name, marks=pytest.mark.extended) for name in ("served", "one"))])
def home(request) -> str:
    if request.param == "served":
        return request.getfixturevalue("served")
    return (request.getfixturevalue("exhibits") / request.param / "index.html").as_uri()


@pytest.fixture
def files(exhibits) -> str:
    return (exhibits / "many" / "index.html").as_uri()
