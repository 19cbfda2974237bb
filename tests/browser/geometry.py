"""Measure a picture as drawn: lines behind names or cut off, text that is cut, small, or laid over other text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Page

SMALLEST: Final = 11  # pixels on the screen

_FAULTS = """(smallest) => {
  const svg = document.getElementById("picture");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const scale = svg.getScreenCTM().a;
  const nodes = [...svg.querySelectorAll("g.node")].map((node) => ({ id: node.dataset.id, node, ...box(node) }));
  function box(node) {
    const rect = node.querySelector("rect");
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
    return { left: x + 1, right: x + w - 1, top: y + 1, bottom: y + h - 1 };
  }
  const inside = (spot, node) => spot.x > node.left && spot.x < node.right && spot.y > node.top && spot.y < node.bottom;
  const found = new Set();
  for (const edge of svg.querySelectorAll("g.edge")) {
    const path = edge.querySelector("path.hit");
    const total = path.getTotalLength();
    for (let step = 0; step <= 200; step += 1) {
      const spot = path.getPointAtLength(total * step / 200);
      const out = spot.x < 0 || spot.y < 0 || spot.x > width || spot.y > height;
      if (out) found.add(`${edge.dataset.link} leaves the picture`);
      for (const node of nodes) if (inside(spot, node)) found.add(`${edge.dataset.link} behind ${node.id}`);
    }
  }
  const measured = (text) => ({ text, words: text.textContent, box: text.getBBox() });
  const texts = [...svg.querySelectorAll("text")].map(measured);
  for (const { text, words, box } of texts) {
    if (box.x < 0 || box.x + box.width > width) found.add(`${words} is cut off`);
    if (/…|\\.\\.\\.$/.test(words)) found.add(`${words} is shortened`);
    const size = parseFloat(getComputedStyle(text).fontSize) * scale;
    if (size < smallest - 0.05) found.add(`${words} ${size.toFixed(1)}px`);
  }
  for (const { node, id, ...own } of nodes) {
    for (const text of node.querySelectorAll("text")) {
      const { x, y, width: wide, height: high } = text.getBBox();
      if (x < own.left || x + wide > own.right || y < own.top - 2 || y + high > own.bottom + 2)
        found.add(`${text.textContent} leaves its box`);
    }
  }
  texts.forEach((one, row) => texts.slice(row + 1).forEach((other) => {
    const right = Math.min(one.box.x + one.box.width, other.box.x + other.box.width);
    const across = right - Math.max(one.box.x, other.box.x);
    const low = (one.box.height + other.box.height) / 2 * 0.7;
    const down = low - Math.abs(one.box.y + one.box.height / 2 - other.box.y - other.box.height / 2);
    if (across > 1 && down > 1) found.add(`${one.words} over ${other.words}`);
  }));
  return [...found];
}"""


def faults_of_picture(page: Page, smallest: float = SMALLEST) -> list[str]:
    """Return, in words, what makes a picture hard or wrong to read."""
    found: list[str] = page.evaluate(_FAULTS, smallest)
    return found
