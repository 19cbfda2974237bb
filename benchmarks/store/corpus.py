"""Generate a reproducible synthetic graph: skewed degrees, all relation families, 240 days over six years."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_DAY, DAYS, STEP = date(2020, 1, 1), 240, 9
SOURCES = tuple(f"机构{number}" for number in range(2))
# relation, kinds of its ends, share of all facts
MIX = (
    ("reports", "company", "indicator", 0.25),
    ("affects", "indicator", "product", 0.15),
    ("supplies", "company", "company", 0.15),
    ("produces", "company", "product", 0.15),
    ("upstream_of", "product", "product", 0.15),
    ("belongs_to", "company", "industry", 0.05),
    ("competes_with", "company", "company", 0.05),
    ("uses", "company", "product", 0.05),
)
KINDS = {"company": 0.3, "product": 0.55, "industry": 0.01, "indicator": 0.14}
_BATCH = 200_000


def write_rows(path: Path, facts: int) -> Path:
    """Write facts as JSONL for `liantu import`, sorted by day."""
    with path.open("w", encoding="utf-8") as file:
        for line in lines(facts):
            file.write(line)
    return path


def lines(facts: int) -> Iterator[str]:
    """Yield `facts` JSON lines over a tenth as many entities, with a skewed degree distribution."""
    source = np.random.default_rng(7)
    count = {kind: max(int(facts / 10 * share), 10) for kind, share in KINDS.items()}
    relations = np.array([share for *_, share in MIX])
    for start in range(0, facts, _BATCH):
        size = min(_BATCH, facts - start)
        chosen = source.choice(len(MIX), size=size, p=relations / relations.sum())
        # Squared uniforms: the first tenth of the names gets a third of the ends.
        ends = source.random((size, 2)) ** 2
        days = np.sort(source.integers(start * DAYS // facts, max((start + size) * DAYS // facts, 1), size))
        rest = source.integers(0, 1_000_000, (size, 3))
        for row in range(size):
            relation, one, other, _ = MIX[chosen[row]]
            first, second = int(ends[row, 0] * count[one]), int(ends[row, 1] * count[other])
            if one == other and first == second:
                second = (second + 1) % count[other]
            day = FIRST_DAY + timedelta(days=int(days[row]) * STEP)
            yield _line((relation, f"{one}{first}", one, f"{other}{second}", other), day, rest[row].tolist())


def _line(claim: tuple[str, str, str, str, str], day: date, rest: list[int]) -> str:
    relation, subject, subject_kind, object_, object_kind = claim
    row: dict[str, object] = {
        "subject": subject,
        "subject_kind": subject_kind,
        "relation": relation,
        "object": object_,
        "object_kind": object_kind,
        "published_on": day.isoformat(),
        "source": SOURCES[rest[0] % len(SOURCES)],
    }
    if relation == "reports":
        row |= {"value": rest[1] / 100, "unit": "亿元", "valid": f"{day.year}Q{(day.month + 2) // 3}"}
    elif relation == "affects":
        row["sign"] = 1 if rest[1] % 3 else -1
    elif relation == "supplies" and rest[1] % 2:
        row["valid"] = str(day.year)
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
