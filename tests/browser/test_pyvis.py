"""The pyvis export in a real browser: boxes apart, hostile names as text."""

from __future__ import annotations

import pytest

from kg.service.base import KnowledgeBase
from tests.kg.query.world import PRICE, claim, filled, paper, solar
from tests.viz.samples import HOSTILE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", ["光伏", PRICE, HOSTILE])
def test_no_two_boxes_overlap(browser, tmp_path, name):
    evil = paper(60, "2024-06-01", ("坏名字。", claim(f"product:{HOSTILE}", "upstream_of", PRICE)))
    base = KnowledgeBase(filled((*solar(), evil)))
    answer = base.chain(name) if name == "光伏" else base.profile(name)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    file = tmp_path / "network.html"
    answer.to_pyvis().write_html(str(file))
    page.goto(file.as_uri())
    page.wait_for_function("() => Boolean(window.network)")
    boxes = page.evaluate("Object.keys(network.getPositions()).map((id) => network.getBoundingBox(id))")
    overlapping = [
        (one, other)
        for at, one in enumerate(boxes)
        for other in boxes[at + 1 :]
        if one["left"] < other["right"]
        and other["left"] < one["right"]
        and one["top"] < other["bottom"]
        and other["top"] < one["bottom"]
    ]
    assert len(boxes) == len(answer.elements().nodes)
    assert (overlapping, said) == ([], [])
    page.close()
