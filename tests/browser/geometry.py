"""Measure an opened page as drawn: lines behind shapes, sizes of text on the screen, and texts that overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

_BEHIND = """() => {
  const { network, data } = window.liantu;
  const shown = window.liantu.shown();
  const named = (at) => (data.members[at] || { label: "a fold" }).label;
  const holds = (box, { x, y }) => Math.abs(x - box.x) < box.width / 2 - 1 && Math.abs(y - box.y) < box.height / 2 - 1;
  const shapes = shown.nodes.filter((node) => node.face).map(({ id, x, y, face }) => (
    { at: id.startsWith("n") ? Number(id.slice(1)) : id, x, y, width: face.width, height: face.height }));
  const boxes = [...shapes, ...shown.cards.map((card) => ({ ...card, card: true }))];
  const cardOf = (at) => shown.cards.find((card) => holds(card, shapes.find((shape) => shape.at === at)))?.stage;
  const found = new Set();
  for (const edge of shown.edges) {
    const { source, target } = data.links[edge.link];
    const hosts = [cardOf(source), cardOf(target)];
    const foreign = boxes.filter((box) => box.card ? !hosts.includes(box.stage) : ![source, target].includes(box.at));
    for (let step = 0; step <= 400; step += 1) {
      const spot = network.body.edges[edge.id].edgeType.getPoint(step / 400);
      for (const box of foreign.filter((box) => holds(box, spot)))
        found.add(`${named(source)} → ${named(target)} behind ${named(box.card ? box.stage.slice(1) : box.at)}`);
    }
  }
  return [...found];
}"""


def lines_behind_shapes(page: Page) -> list[str]:
    """Return every link that passes behind a foreign shape, in words; one pixel on the edge is not behind."""
    found: list[str] = page.evaluate(_BEHIND)
    return found


_IN_SVG = """() => {
  const svg = document.getElementById("picture");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const nodes = [...svg.querySelectorAll("g.node")].map((node) => ({ id: node.dataset.id, ...box(node) }));
  function box(node) {
    const rect = node.querySelector("rect");
    const [x, y, w, h] = ["x", "y", "width", "height"].map((name) => Number(rect.getAttribute(name)));
    return { left: x + 1, right: x + w - 1, top: y + 1, bottom: y + h - 1 };
  }
  const inside = (spot, node) => spot.x > node.left && spot.x < node.right && spot.y > node.top && spot.y < node.bottom;
  const found = new Set();
  const marks = [];
  for (const edge of svg.querySelectorAll("g.edge")) {
    const path = edge.querySelector("path.hit");
    const total = path.getTotalLength();
    for (let step = 0; step <= 200; step += 1) {
      const spot = path.getPointAtLength(total * step / 200);
      const out = spot.x < 0 || spot.y < 0 || spot.x > width || spot.y > height;
      if (out) found.add(`${edge.dataset.link} leaves the picture`);
      for (const node of nodes) if (inside(spot, node)) found.add(`${edge.dataset.link} behind ${node.id}`);
    }
    const mark = edge.querySelector("circle");
    if (mark) marks.push([edge.dataset.link, Number(mark.getAttribute("cx")), Number(mark.getAttribute("cy"))]);
  }
  marks.forEach(([one, x, y], row) => marks.slice(row + 1).forEach(([other, x2, y2]) => {
    if (Math.hypot(x - x2, y - y2) < 4) found.add(`sign of ${one} covers that of ${other}`);
  }));
  for (const text of svg.querySelectorAll("text")) {
    const { x, width: wide } = text.getBBox();
    if (x < 0 || x + wide > width) found.add(`${text.textContent} is cut off`);
  }
  return [...found];
}"""


def faults_of_picture(page: Page) -> list[str]:
    """Return lines behind names, lines and texts that are cut off, and signs that cover each other, in the explorer."""
    found: list[str] = page.evaluate(_IN_SVG)
    return found


RECORD_TEXT = """(() => {
  const write = CanvasRenderingContext2D.prototype.fillText;
  window.drawnTexts = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    const { a, e, f } = this.getTransform(), scale = a / window.devicePixelRatio;
    const pixels = Number(/([0-9.]+)px/.exec(this.font)[1]) * scale;
    const wanted = this.measureText(text).width * scale;
    const width = most === undefined ? wanted : Math.min(wanted, most * scale);
    const left = (x * a + e) / window.devicePixelRatio - { left: 0, center: width / 2, right: width }[this.textAlign];
    window.drawnTexts.push({
      text, pixels, left, right: left + width,
      y: (y * a + f) / window.devicePixelRatio, squeezed: width < wanted * 0.95,
    });
    return write.apply(this, arguments);
  };
})()"""
"""Run before a page's scripts: keeps every text that is drawn on a canvas, with its size and place on the screen."""

DRAWN_TEXTS = """async () => {
  window.drawnTexts.length = 0;
  window.liantu.network.redraw();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const { clientWidth, clientHeight } = document.getElementById("canvas");
  const seen = new Map(window.drawnTexts.map((item) => [`${item.text} ${item.left} ${item.y}`, item]));
  const inside = ({ left, right, y }) => right > 0 && left < clientWidth && y > 0 && y < clientHeight;
  return [...seen.values()].filter(inside);
}"""

_PAGE_TEXT = """() => {
  const sizes = {};
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), owner = walk.currentNode.parentElement;
    if (!text || !owner.checkVisibility() || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(owner.tagName)) continue;
    sizes[text.slice(0, 40)] = parseFloat(getComputedStyle(owner).fontSize);
  }
  return sizes;
}"""


def illegible(page: Page, smallest: float = 11.0) -> list[str]:
    """Return every text on the screen, in the picture or around it, that is smaller than this or squeezed."""
    drawn = page.evaluate(DRAWN_TEXTS)
    assert drawn, "a picture without any text"
    small = [f"{item['text']} {item['pixels']:.1f}px" for item in drawn if item["pixels"] < smallest - 0.05]
    squeezed = [f"{item['text']} squeezed" for item in drawn if item["squeezed"]]
    around: dict[str, float] = page.evaluate(_PAGE_TEXT)
    return [*small, *squeezed, *(f"{text} {size}px" for text, size in around.items() if size < smallest)]


def overlapping(page: Page) -> list[str]:
    """Return every pair of texts in the picture that overlap."""
    texts = [item for item in page.evaluate(DRAWN_TEXTS) if item["text"].strip()]
    found = []
    for at, one in enumerate(texts):
        for other in texts[at + 1 :]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = (one["pixels"] + other["pixels"]) / 2 * 0.9 - abs(one["y"] - other["y"])
            if across > 1 and down > 1:
                found.append(f"{one['text']} / {other['text']}")
    return found
