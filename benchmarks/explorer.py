"""Measure the explorer of a base in a headless Chromium: `python -m benchmarks.explorer KB [--served]`.

WebGL is rendered in software (SwiftShader). Times are medians, in milliseconds, from an input event to the frame after
the page has been drawn again, and beside them the processor time of the page's main thread, which other work on the
machine does not lengthen. `--served` measures first views and pictures of the service alone, each beside a floor of the
same round: an empty page, and the service's shortest answer. Frames per second are counted while a network of 5,000
nodes is dragged inside the page.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from benchmarks.explorer_tasks import serving
from kg.service.base import open_kb
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import write_exhibit

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
ROUNDS, NODES = 7, 5000
# Resolves with the milliseconds from an act to the second frame after it, when what it changed is on the screen.
TIMED = """async act => {
    const begin = performance.now();
    await act();
    const done = () => !document.querySelector('.wait');
    while (!done()) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begin;
}"""
DRAG = """seconds => new Promise(resolve => {
    const box = document.querySelector(SELECTOR);
    const frames = [];
    const begin = performance.now();
    const fire = (type, x, y) => box.dispatchEvent(
        new PointerEvent(type, {clientX: x, clientY: y, bubbles: true, button: 0, buttons: 1, view: window}));
    fire('pointerdown', 600, 400);
    let last = begin;
    const step = now => {
        frames.push(now - last);
        last = now;
        const turn = (now - begin) / 200;
        fire('pointermove', 600 + 150 * Math.sin(turn), 400 + 100 * Math.cos(turn));
        if (now - begin < seconds * 1000) requestAnimationFrame(step);
        else { fire('pointerup', 600, 400); resolve(frames.slice(1)); }
    };
    requestAnimationFrame(step);
})"""


# Resolves with the milliseconds from a change of the address to the second frame after the view is drawn.
SHOWN = """async ([address, view]) => {
    const begin = performance.now();
    location.hash = address;
    const drawn = () => document.querySelector(`main.view-${view} .frame g.node, main.view-${view} .drawer li`);
    while (!drawn() || document.querySelector('.wait')) await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begin;
}"""
SHORTEST = """async () => {
    const begin = performance.now();
    await (await fetch('health')).text();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    return performance.now() - begin;
}"""
FIRSTS = 5
PICTURES = (("company", 8), ("chain", 5), ("factor", 5))


def served(kb_path: str) -> None:
    """Print first views and pictures of the service, each beside the floor of its round, and the load."""
    print("load average", *(f"{load:.1f}" for load in os.getloadavg()))
    with open_kb(kb_path) as kb, serving(kb) as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(300_000)
        topics = [(each.id, each.kind.value) for each in kb.stats().names]
        firsts = {"home": [""] * FIRSTS}
        for view, kind in (("company", "company"), ("chain", "product"), ("factor", "product")):
            chosen = [topic for topic, of in topics if of == kind][:FIRSTS]
            firsts[f"{view} of {len(chosen)} names"] = [f"#/{view}/{topic}" for topic in chosen]
        for name, addresses in firsts.items():
            each = iter(addresses)  # a name each, as an answer is kept
            act = lambda: _first(page, home + next(each))  # noqa: B023, E731
            _rounds(f"first view, {name}", page, act, floor=_empty, rounds=len(addresses))
        for view, count in PICTURES:
            wanted = [topic for topic, kind in topics if (kind == "company") == (view == "company")][:count]
            for topic in wanted:
                page.goto("about:blank")
                page.goto(home)
                page.wait_for_selector(".map article, .frame g.node")
                act = lambda: page.evaluate(SHOWN, [f"#/{view}/{topic}", view])  # noqa: B023, E731
                _rounds(f"picture, {view} {topic}", page, act, floor=lambda page: page.evaluate(SHORTEST), rounds=1)
        browser.close()


def _first(page: Page, address: str) -> float:
    page.goto("about:blank")
    begin = time.perf_counter()
    page.goto(address)
    page.wait_for_selector(".map article" if address.endswith("/") else "g.node")
    return (time.perf_counter() - begin) * 1000


def _empty(page: Page) -> float:
    page.goto("about:blank")
    begin = time.perf_counter()
    page.goto("data:text/html,<p>x")
    page.wait_for_selector("p")
    return (time.perf_counter() - begin) * 1000


def _rounds(
    name: str, page: Page, act: Callable[[], float], *, floor: Callable[[Page], float], rounds: int = 5
) -> None:
    """Print the medians of some rounds: wall time, its floor, and processor time of the page and of the service."""
    clock = ThreadClock(page)
    rows = []
    for _ in range(rounds):
        least = floor(page)
        clock.lap()
        begin = time.process_time()
        took = act()
        rows.append((took, least, clock.lap(), 1000 * (time.process_time() - begin)))
    took, least, drawn, answered = (statistics.median(column) for column in zip(*rows, strict=True))
    print(
        f"{name}: {took:.0f} ms, floor {least:.0f} ms (x{took / least:.1f}); "
        f"processor time {drawn:.0f} ms in the page, {answered:.0f} ms in the service"
    )


def main(kb_path: str) -> None:
    with tempfile.TemporaryDirectory() as folder, open_kb(kb_path) as kb:
        begin = time.perf_counter()
        content = ExhibitContent(kb.store, kb.store.view(), min_confidence=kb.min_confidence)
        index = write_exhibit(content, Path(folder), lang="zh", one_file=False)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        print(f"exhibit: {size / 1e6:.1f} MB, written in {time.perf_counter() - begin:.1f} s")
        topic = content.meta["topics"][0][0]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1600, "height": 1000})
            _views(page, index.as_uri(), topic)
            links = _large(page, index.as_uri())
            _pyvis(page, links, Path(folder) / "pyvis.html")
            browser.close()


class ThreadClock:
    """The processor time that the main thread of a page has used, in milliseconds."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._last = 0.0

    def lap(self) -> float:
        """Return the time since the last call."""
        metrics = {each["name"]: each["value"] for each in self._session.send("Performance.getMetrics")["metrics"]}
        total: float = 1000 * metrics["TaskDuration"]
        lap = total - self._last
        self._last = total
        return lap


def _views(page: Page, home: str, topic: str) -> None:
    firsts, companies, clock = [], [], ThreadClock(page)
    used: dict[str, list[float]] = {"home": [], "company": [], "expand": [], "step": []}
    for _ in range(ROUNDS):
        page.goto("about:blank")
        clock.lap()
        page.goto(home)
        page.wait_for_selector(".map article")
        used["home"].append(clock.lap())
        firsts.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"))
        page.goto("about:blank")
        clock.lap()
        begin = time.perf_counter()
        page.goto(f"{home}#/company/{topic}")
        page.wait_for_selector("g.node")
        used["company"].append(clock.lap())
        companies.append((time.perf_counter() - begin) * 1000)
    _print("first view, home", firsts, used["home"])
    _print("first view, a company's address", companies, used["company"])
    expands, steps = [], []
    ids = page.eval_on_selector_all("g.node", "all => all.map(each => each.dataset.id)")
    for name in list(dict.fromkeys(ids))[1 : ROUNDS + 1]:
        act = f"""() => document.querySelector('g.node[data-id="{name}"]')
            .dispatchEvent(new MouseEvent('dblclick', {{bubbles: true}}))"""
        clock.lap()
        expands.append(page.evaluate(f"({TIMED})({act})"))
        used["expand"].append(clock.lap())
    for day in page.evaluate("JSON.parse(document.getElementById('meta').textContent).days.map(each => each[0])")[
        -ROUNDS:
    ]:
        act = f"""() => {{
            const slider = document.querySelector('.slider input');
            slider.value = {day};
            slider.dispatchEvent(new Event('input', {{bubbles: true}}));
        }}"""
        clock.lap()
        steps.append(page.evaluate(f"({TIMED})({act})"))
        used["step"].append(clock.lap())
    _print("expand", expands, used["expand"])
    _print("time step, after the expansions", steps, used["step"])


def _large(page: Page, home: str) -> list[tuple[str, str]]:
    page.goto("about:blank")
    page.goto(f"{home}#/network/?d=3&most=300&c=0")
    page.wait_for_selector(".network canvas")
    clock = ThreadClock(page)
    clock.lap()
    begin = time.perf_counter()
    act = "() => { location.hash = location.hash.replace('most=300', 'most=5000'); }"
    page.evaluate(f"({TIMED})({act})")
    # the page's policy forbids Playwright's own waiting
    while not page.evaluate(f"globalThis.liantuSigma?.getGraph().order > {NODES // 2}"):
        page.wait_for_timeout(20)
    drawn, cpu = time.perf_counter() - begin, clock.lap()
    graph = "globalThis.liantuSigma.getGraph()"
    nodes, count = page.evaluate(f"[{graph}.order, {graph}.size]")
    page.wait_for_timeout(3000)
    frames = page.evaluate(DRAG.replace("SELECTOR", "'.network canvas.sigma-mouse'"), 4)
    print(f"network of {nodes} nodes, {count} links, by sigma.js on software WebGL: drawn in {drawn:.2f} s,")
    print(f"    {cpu:.0f} ms of processor time; {_rate(frames)}")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_timeout(3000)
    frames = page.evaluate(DRAG.replace("SELECTOR", "'.network canvas.sigma-mouse'"), 4)
    print(f"    at 1280×720: {_rate(frames)}")
    links: list[tuple[str, str]] = page.evaluate(f"{graph}.mapEdges((_, __, source, target) => [source, target])")
    return links


def _pyvis(page: Page, links: list[tuple[str, str]], file: Path) -> None:
    from pyvis.network import Network  # noqa: PLC0415 -- measured here only

    network = Network(height="1000px", width="100%", cdn_resources="in_line")
    network.toggle_physics(False)  # noqa: FBT003 - its own signature; with physics it does not come to rest
    source = random.Random(1)  # noqa: S311 - places, not secrets
    for name in sorted({end for link in links for end in link}):
        network.add_node(name, label=name, size=4, x=source.uniform(-4000, 4000), y=source.uniform(-3000, 3000))
    for one, other in links:
        network.add_edge(one, other)
    file.write_text(network.generate_html(notebook=False), encoding="utf-8")
    begin = time.perf_counter()
    page.goto(file.as_uri(), wait_until="commit")
    page.wait_for_selector("canvas", timeout=120_000)
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    drawn = time.perf_counter() - begin
    frames = page.evaluate(DRAG.replace("SELECTOR", "'canvas'"), 4)
    print(f"the same graph by pyvis, fixed positions: drawn in {drawn:.2f} s, {_rate(frames)}")


def _rate(frames: list[float]) -> str:
    rate = 1000 * len(frames) / sum(frames)
    return f"{rate:.1f} frames/s while dragging, median frame {statistics.median(frames):.0f} ms"


def _print(name: str, times: list[Any], used: list[float]) -> None:
    wall = f"median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms"
    print(f"{name}: {wall}; {statistics.median(used):.0f} ms of processor time ({len(times)} times)")


if __name__ == "__main__":
    (served if "--served" in sys.argv else main)(sys.argv[1])
