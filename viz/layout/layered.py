"""Left-to-right layout in columns: igraph minimises crossings, isotonic regression sets the vertical positions.

The order follows Sugiyama, Tagawa & Toda (1981). A link that crosses a column gets a bend there, so that it runs
between nodes, not behind them. Vertical positions minimise the squared distance to the neighbours, subject to order and
gaps, by pooling adjacent violators (Barlow et al. 1972).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import igraph

from viz.layout.boxes import Box, ColumnHeading, NodeSize, Placement, ems, face
from viz.layout.force_layout import place_free
from viz.layout.labels import FONT_PIXELS, line_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from viz.layout.curves import Spot
    from viz.scene import Scene, SceneNode


VIEW_WIDTH: Final = 930
VIEW_HEIGHT: Final = 540
"""Space for the graph next to the panel in a window of 1280 × 720; tall columns are split to fit it."""

_DENSE: Final = 80
"""Above this number of nodes, each shows its name only, in one line."""

_GAP_X, _GAP_X_MAX, _GAP_Y, _GAP_Y_MAX, _GAP_ROW, _CARD = 40, 180, 18, 56, 4, 8
_GAP_WITHIN = 30
_EXIT_GAP = 3
_BEND_HEIGHT, _GAP_BENDS = 14, 6
_HEAD_ROOM = 36
HEAD_HEIGHT: Final = 30
_FOLD_HEIGHT, _SIGN_ROOM = 22, 32
_SWEEPS = 24
_MAX_BENT_LINKS = 160
_ROWS_PER_COLUMN = 8
_TARGETS = (7000, 4500, 3200, 2300, 1700, 1300, 1000, 760, 560, 420, 320)

_View = tuple[float, float]


@dataclass(slots=True)
class _Block:
    """A unit of layout: a node, a stage with its companies, or the bend of a crossing link."""

    id: str
    column: int
    width: float
    height: float
    companies: tuple[SceneNode, ...] = ()
    near: list[str] = field(default_factory=list)
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class _Grid:
    """Arrangement of a stage's companies: columns, rows, and cell size."""

    across: int
    down: int
    width: int
    height: int


def place(scene: Scene, width: int = VIEW_WIDTH, height: int = VIEW_HEIGHT) -> tuple[dict[str, NodeSize], Placement]:
    """Return each node's size and the placement of the scene, shaped to fit a view of this size; deterministic."""
    if not scene.nodes:
        return {}, Placement({}, {}, {})
    dense = len(scene.nodes) > _DENSE
    if not scene.layered:
        faces = {node.id: face(node, dense=dense) for node in scene.nodes}
        return faces, place_free(scene, faces)
    candidates = []
    for narrow in (True, False):
        faces = {node.id: face(node, narrow=narrow) for node in scene.nodes}
        candidates.append((faces, place_layered(scene, faces, (width, height))))
    return max(candidates, key=lambda found: fit_scale(found[1], width, height))


def fit_scale(placement: Placement, width: float, height: float) -> float:
    """Return the zoom at which the whole layout, with its headings, fits a view of this size."""
    boxes: list[Box] = [*placement.boxes.values(), *placement.cards.values()]
    boxes += [Box(head.x, head.y, head.width, HEAD_HEIGHT) for head in placement.heads]
    wide = max(box.x + box.width / 2 for box in boxes) - min(box.x - box.width / 2 for box in boxes)
    tall = max(box.y + box.height / 2 for box in boxes) - min(box.y - box.height / 2 for box in boxes)
    return min(width / wide, height / tall)


def place_layered(scene: Scene, faces: Mapping[str, NodeSize], view: _View = (VIEW_WIDTH, VIEW_HEIGHT)) -> Placement:
    """Lay out a scene by its nodes' columns.

    Args:
        scene: the scene; every node's `layer` is its column.
        faces: node id → size.
        view: width and height to fit.
    """
    blocks = _blocks(scene.nodes, faces)
    block_of = {node.id: node.stage if node.stage in blocks else node.id for node in scene.nodes}
    waypoints = _connect(scene, blocks, block_of)
    columns = _ordered(blocks)
    wording = max((ems(line_text(edge)) for edge in scene.edges if not edge.inside), default=0.0) * FONT_PIXELS
    signs = _SIGN_ROOM if any(edge.sign for edge in scene.edges) else 0
    min_gap = min(_GAP_X + signs + wording / 2, _GAP_X_MAX)
    rows = _rows(columns, blocks, min_gap, view)
    placements = []
    for gap in dict.fromkeys((_gap(rows, blocks, view), _GAP_Y)):
        _set_heights(rows, blocks, gap)
        slots = _slots(rows, blocks, min_gap=min_gap)
        placements.append(_placement(scene, faces, blocks, slots=slots, waypoints=waypoints))
        if fit_scale(placements[-1], *view) >= 1:
            break
    return max(placements, key=lambda placement: fit_scale(placement, *view))


def _blocks(nodes: Sequence[SceneNode], faces: Mapping[str, NodeSize]) -> dict[str, _Block]:
    hosted: dict[str, list[SceneNode]] = defaultdict(list)
    ids = {node.id for node in nodes if not node.stage}
    for node in nodes:
        if node.stage in ids:
            hosted[node.stage].append(node)
    blocks = {}
    for node in nodes:
        if node.stage in ids:
            continue
        own, under = faces[node.id], tuple(hosted[node.id])
        width, height = float(own.width), float(own.height)
        if under:
            grid = _grid(under, faces)
            width = max(width, grid.across * (grid.width + _GAP_ROW) - _GAP_ROW) + 2 * _CARD
            height += grid.down * (grid.height + _GAP_ROW) + 2 * _CARD + _GAP_ROW
            height += sum(_FOLD_HEIGHT + _GAP_ROW for node in under if node.hides)
        blocks[node.id] = _Block(node.id, node.layer, width, height, under)
    return blocks


def _grid(listed: Sequence[SceneNode], faces: Mapping[str, NodeSize]) -> _Grid:
    companies = [node for node in listed if not node.hides]
    across = min(3, -(-len(companies) // _ROWS_PER_COLUMN))
    width, height = (max(getattr(faces[node.id], side) for node in companies) for side in ("width", "height"))
    return _Grid(across, -(-len(companies) // across), width, height)


def _connect(scene: Scene, blocks: dict[str, _Block], block_of: Mapping[str, str]) -> dict[int, list[str]]:
    """Connect blocks by the scene's links; return the bends of each long link, from source to target."""
    outer = [edge for edge in scene.edges if not edge.inside and block_of[edge.source] != block_of[edge.target]]
    bent = len(outer) <= _MAX_BENT_LINKS
    waypoints: dict[int, list[str]] = {}
    for index, edge in enumerate(scene.edges):
        source, target = blocks[block_of[edge.source]], blocks[block_of[edge.target]]
        if source is target or edge.inside:
            continue
        step = 1 if source.column < target.column else -1
        passed = range(source.column + step, target.column, step) if bent and source.column != target.column else ()
        chain = [source.id]
        for column in passed:
            bend = _Block(f"\0bend {index} {column}", column, 0, _BEND_HEIGHT)
            blocks[bend.id] = bend
            chain.append(bend.id)
        waypoints[index] = chain[1:]
        for one, other in pairwise([*chain, target.id]):
            blocks[one].near.append(other)
            blocks[other].near.append(one)
    return waypoints


def _ordered(blocks: Mapping[str, _Block]) -> list[list[str]]:
    """Return each column's blocks from top to bottom, ordered for few crossings."""
    names = list(blocks)
    number = {name: index for index, name in enumerate(names)}
    pairs = sorted(
        {
            (number[name], number[other])
            for name in names
            for other in blocks[name].near
            if abs(blocks[name].column - blocks[other].column) == 1 and number[name] < number[other]
        }
    )
    layers = [blocks[name].column for name in names]
    layout = igraph.Graph(n=len(names), edges=pairs).layout_sugiyama(layers=layers, maxiter=200)
    across = {name: float(layout[index][0]) for index, name in enumerate(names)}
    columns: list[list[str]] = [[] for _ in range(max(layers) + 1)]
    for name in sorted(names, key=lambda name: (across[name], number[name])):
        columns[blocks[name].column].append(name)
    return [column for column in columns if column]


def _rows(
    columns: Sequence[Sequence[str]], blocks: Mapping[str, _Block], min_gap: float, view: _View
) -> list[list[list[str]]]:
    """Split tall columns into parallel ones, choosing the split that gives the largest scale."""
    best_scale, best = 0.0, [[[name] for name in column] for column in columns]
    for target in _TARGETS:
        rows = [_split(column, blocks, target) for column in columns]
        width = sum(_width(part, blocks) for part in rows) + min_gap * (len(rows) - 1)
        height = max(sum(_row_height(row, blocks) + _GAP_Y for row in part) for part in rows) + _HEAD_ROOM
        scale = min(view[0] / width, view[1] / height, 1.0)
        if scale > best_scale * 1.001:
            best_scale, best = scale, rows
    return best


def _split(column: Sequence[str], blocks: Mapping[str, _Block], target: float) -> list[list[str]]:
    height = sum(blocks[name].height + _GAP_Y for name in column)
    across = max(1, round(height / target))
    if across == 1:
        return [[name] for name in column]
    solid = [name for name in column if blocks[name].width]
    return [solid[at : at + across] for at in range(0, len(solid), across)]


def _row_height(row: Sequence[str], blocks: Mapping[str, _Block]) -> float:
    return max(blocks[name].height for name in row)


def _width(rows: Sequence[Sequence[str]], blocks: Mapping[str, _Block]) -> float:
    return sum(_subwidths(rows, blocks)) + _GAP_WITHIN * (max(map(len, rows)) - 1)


def _subwidths(rows: Sequence[Sequence[str]], blocks: Mapping[str, _Block]) -> list[float]:
    across = max(map(len, rows))
    return [max(blocks[row[at]].width for row in rows if at < len(row)) for at in range(across)]


def _gap(columns: Sequence[Sequence[Sequence[str]]], blocks: Mapping[str, _Block], view: _View) -> float:
    """Return the gap between rows, using the view's spare height."""
    width = sum(_width(part, blocks) for part in columns) + 1.3 * _GAP_X * (len(columns) - 1)
    tall = view[1] / min(view[0] / width, 1.0) - _HEAD_ROOM
    spare = min((tall - sum(_row_height(row, blocks) for row in part)) / len(part) for part in columns)
    return min(max(spare, _GAP_Y), _GAP_Y_MAX)


def _set_heights(columns: Sequence[Sequence[Sequence[str]]], blocks: Mapping[str, _Block], gap: float) -> None:
    centre: dict[str, float] = {}
    for rows in columns:
        _stack(rows, blocks, centre, desired=[0.0] * len(rows), gap=gap)
    for sweep in range(_SWEEPS):
        for rows in columns if sweep % 2 == 0 else reversed(columns):
            desired = [_desired_height(row, blocks, centre) for row in rows]
            _stack(rows, blocks, centre, desired=desired, gap=gap)
    for rows in columns:
        _compact(rows, blocks, centre, gap)
    _raise_unlinked(columns, blocks, centre)
    _close_empty_bands(columns, blocks, centre, gap)
    for name, y in centre.items():
        blocks[name].y = y


def _desired_height(row: Sequence[str], blocks: Mapping[str, _Block], centre: Mapping[str, float]) -> float:
    near = [centre[other] for name in row for other in blocks[name].near if other in centre]
    return sum(near) / len(near) if near else centre[row[0]]


def _stack(
    rows: Sequence[Sequence[str]],
    blocks: Mapping[str, _Block],
    centre: dict[str, float],
    *,
    desired: Sequence[float],
    gap: float,
) -> None:
    """Place rows as close to their desired positions as order and gaps allow."""
    offsets = [0.0]
    for above, below in pairwise(rows):
        offsets.append(offsets[-1] + _distance(above, below, blocks, gap))
    fitted = _isotonic([height - offset for height, offset in zip(desired, offsets, strict=True)])
    for row, height, offset in zip(rows, fitted, offsets, strict=True):
        for name in row:
            centre[name] = height + offset


def _distance(above: Sequence[str], below: Sequence[str], blocks: Mapping[str, _Block], gap: float) -> float:
    bends = not blocks[above[0]].width and not blocks[below[0]].width
    return (_row_height(above, blocks) + _row_height(below, blocks)) / 2 + (_GAP_BENDS if bends else gap)


def _compact(rows: Sequence[Sequence[str]], blocks: Mapping[str, _Block], centre: dict[str, float], gap: float) -> None:
    """Move rows without links up to the row above, to save height."""
    for above, below in pairwise(rows):
        if not any(blocks[name].near for name in below):
            y = min(centre[below[0]], centre[above[0]] + _distance(above, below, blocks, gap))
            centre.update(dict.fromkeys(below, y))


def _close_empty_bands(
    columns: Sequence[Sequence[Sequence[str]]], blocks: Mapping[str, _Block], centre: dict[str, float], gap: float
) -> None:
    """Move up what lies below a band that is empty in all columns: parts without a link between them drift apart."""
    rows = sorted(
        (row for part in columns for row in part), key=lambda row: centre[row[0]] - _row_height(row, blocks) / 2
    )
    bottom, shift = None, 0.0
    for row in rows:
        half = _row_height(row, blocks) / 2
        top = centre[row[0]] - half - shift
        if bottom is not None and top - bottom > gap:
            shift += top - bottom - gap
        y = centre[row[0]] - shift
        centre.update(dict.fromkeys(row, y))
        bottom = y + half if bottom is None else max(bottom, y + half)


def _raise_unlinked(
    columns: Sequence[Sequence[Sequence[str]]], blocks: Mapping[str, _Block], centre: dict[str, float]
) -> None:
    """Align the top of each column without a link with the top of those with links."""

    def top_of(rows: Sequence[Sequence[str]]) -> float:
        return centre[rows[0][0]] - _row_height(rows[0], blocks) / 2

    unlinked = [rows for rows in columns if not any(blocks[name].near for row in rows for name in row)]
    top = min((top_of(rows) for rows in columns if rows not in unlinked), default=0.0)
    for rows in unlinked:
        shift = top_of(rows) - top
        centre.update({name: centre[name] - shift for row in rows for name in row})


def _isotonic(values: Sequence[float]) -> list[float]:
    """Return the non-decreasing sequence closest to `values` in least squares.

    >>> _isotonic([1.0, 3.0, 2.0, 4.0])
    [1.0, 2.5, 2.5, 4.0]
    """
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (last, n), (before, m) = pools.pop(), pools.pop()
            pools.append(((last * n + before * m) / (n + m), n + m))
    return [mean for mean, count in pools for _ in range(count)]


def _lefts(columns: Sequence[Sequence[Sequence[str]]], blocks: Mapping[str, _Block], min_gap: float) -> list[float]:
    """Return each column's left edge; gaps widen with the number of links crossing them."""
    lefts = [0.0]
    for rows, after in pairwise(columns):
        names = {name for row in after for name in row}
        crossing = sum(1 for row in rows for name in row for other in blocks[name].near if other in names)
        gap = min(_GAP_X_MAX, min_gap + 5 * crossing)
        lefts.append(lefts[-1] + _width(rows, blocks) + gap)
    return lefts


def _placement(
    scene: Scene,
    faces: Mapping[str, NodeSize],
    blocks: Mapping[str, _Block],
    *,
    slots: Mapping[str, Slot],
    waypoints: Mapping[int, Sequence[str]],
) -> Placement:
    boxes: dict[str, Box] = {}
    cards: dict[str, Box] = {}
    centres = {name: (round((slot.left + slot.right) / 2), round(blocks[name].y)) for name, slot in slots.items()}
    for name, (x, y) in centres.items():
        block = blocks[name]
        if not block.width:
            continue
        if block.companies:
            cards[name] = Box(x, y, block.width, block.height)
            boxes |= _card(block, faces, x, y)
        else:
            boxes[name] = Box(x, y, block.width, block.height)
    block_of = {company.id: name for name, block in blocks.items() for company in block.companies}
    bends = {}
    for index, names in waypoints.items():
        edge = scene.edges[index]
        source, target = (block_of.get(end, end) for end in (edge.source, edge.target))
        before, after = around(slots[source], slots[target])
        if before and source in cards:
            before.insert(0, _card_exit(boxes[source], cards[source], towards=before[0]))
        if after and target in cards:
            after.append(_card_exit(boxes[target], cards[target], towards=after[-1]))
        bends[index] = (*before, *(centres[name] for name in names if name in centres), *after)
    return Placement(boxes, bends, cards, _headings(scene, boxes, cards))


def _card_exit(stage: Box, card: Box, *, towards: Spot) -> Spot:
    """Return the point next to a card at the height of its stage, so that links do not cross its companies."""
    side = 1 if towards[0] > card.x else -1
    return round(card.x + side * (card.width / 2 + _EXIT_GAP)), stage.y


def _slots(rows: Sequence[Sequence[Sequence[str]]], blocks: Mapping[str, _Block], *, min_gap: float) -> dict[str, Slot]:
    """Return every block's slot in its column."""
    slots: dict[str, Slot] = {}
    half = _GAP_WITHIN / 2
    for column, (part, left) in enumerate(zip(rows, _lefts(rows, blocks, min_gap), strict=True)):
        subwidths = _subwidths(part, blocks)
        outer = (round(left - half), round(left + _width(part, blocks) + half))
        for row in part:
            x = left
            for place, (name, width) in enumerate(zip(row, subwidths, strict=False)):
                y, half_row = blocks[name].y, _row_height(row, blocks) / 2
                edges = (y - half_row, y + half_row, *outer, round(x - half), round(x + width + half))
                slots[name] = Slot(column, place, len(row), *edges)
                x += width + _GAP_WITHIN
    return slots


def _card(block: _Block, faces: Mapping[str, NodeSize], x: float, y: float) -> dict[str, Box]:
    own = faces[block.id]
    top = y - block.height / 2 + _CARD
    # As wide as the card, so that links do not run behind the companies.
    boxes = {block.id: Box(x, round(top + own.height / 2), block.width - 2 * _CARD, own.height)}
    grid = _grid(block.companies, faces)
    first = x - (grid.across - 1) * (grid.width + _GAP_ROW) / 2
    for company in block.companies:
        if company.hides:  # the last row, over the card's whole width
            y_fold = y + block.height / 2 - _CARD - _FOLD_HEIGHT / 2
            boxes[company.id] = Box(x, round(y_fold), block.width - 2 * _CARD, _FOLD_HEIGHT)
    for index, company in enumerate(node for node in block.companies if not node.hides):
        down, right = divmod(index, grid.across)
        boxes[company.id] = Box(
            round(first + right * (grid.width + _GAP_ROW)),
            round(top + own.height + 2 * _GAP_ROW + down * (grid.height + _GAP_ROW) + grid.height / 2),
            grid.width,
            grid.height,
        )
    return boxes


def _headings(scene: Scene, boxes: Mapping[str, Box], cards: Mapping[str, Box]) -> tuple[ColumnHeading, ...]:
    top = min(box.y - box.height / 2 for box in (*boxes.values(), *cards.values()))
    headings = []
    for caption in scene.captions:
        over = [
            cards.get(node.id, boxes[node.id])
            for node in scene.nodes
            if caption.first <= node.layer <= caption.last and node.id in boxes
        ]
        if not over:
            continue
        left = min(box.x - box.width / 2 for box in over)
        right = max(box.x + box.width / 2 for box in over)
        headings.append(
            ColumnHeading(caption.text, round((left + right) / 2), round(top - _HEAD_ROOM), round(right - left))
        )
    return tuple(headings)


_FIRST, _STEP = 9, 6
"""Distance of the first lane from its row, and between lanes; both fit the gap between rows."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A block's position in its column: index and count in its row, and the borders of row, column and block."""

    column: int
    place: int
    of: int
    head: float
    foot: float
    column_left: float
    column_right: float
    left: float
    right: float


def around(source: Slot, target: Slot) -> tuple[list[Spot], list[Spot]]:
    """Return the bends of a link where it leaves its source's row and where it enters its target's row.

    Links leave below and enter above: on a shared lane, a link ending at a node and one passing it would look like one.
    """
    if source.column == target.column:
        return [], []
    rightward = source.column < target.column
    leaves = _lane(source, rightward=rightward, y=source.foot, away=1)
    return leaves, _lane(target, rightward=not rightward, y=target.head, away=-1)[::-1]


def _lane(slot: Slot, *, rightward: bool, y: float, away: int) -> list[Spot]:
    passed = slot.of - 1 - slot.place if rightward else slot.place
    if not passed:
        return []
    lane = round(y + away * (_FIRST + _STEP * (passed - 1)))
    return (
        [(slot.right, lane), (slot.column_right, lane)] if rightward else [(slot.left, lane), (slot.column_left, lane)]
    )
