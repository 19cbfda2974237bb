"""Which links of an opened page run behind a shape or a card that is not their end, measured on the lines as drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

_BEHIND = """() => {
  const { network, data } = window.liantu;
  const named = (at) => data.members[at].label;
  const holds = (box, { x, y }) => Math.abs(x - box.x) < box.width / 2 - 1 && Math.abs(y - box.y) < box.height / 2 - 1;
  const shapes = data.nodes.filter((node) => node.face).map(({ id, x, y, face }) => (
    { at: Number(id.slice(1)), x, y, width: face.width, height: face.height }));
  const boxes = [...shapes, ...data.cards.map((card) => ({ ...card, card: true }))];
  const cardOf = (at) => data.cards.find((card) => holds(card, shapes.find((shape) => shape.at === at)))?.stage;
  const found = new Set();
  for (const edge of data.edges) {
    const { source, target } = data.links[edge.link];
    const hosts = [cardOf(source), cardOf(target)];
    const foreign = boxes.filter((box) => box.card ? !hosts.includes(box.stage) : ![source, target].includes(box.at));
    for (let step = 0; step <= 400; step += 1) {
      const spot = network.body.edges[edge.id].edgeType.getPoint(step / 400);
      for (const box of foreign.filter((box) => holds(box, spot)))
        found.add(`${named(source)} → ${named(target)} behind ${named(box.card ? box.stage : box.at)}`);
    }
  }
  return [...found];
}"""


def lines_behind_shapes(page: Page) -> list[str]:
    """Return every link that passes behind a foreign shape, in words; one pixel on the edge is not behind."""
    found: list[str] = page.evaluate(_BEHIND)
    return found
