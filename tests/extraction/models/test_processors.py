"""Readings do not depend on the processor: another one is emulated by Debian's `qemu-user`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# A processor without fused multiply-add: where that is emulated in software, a paragraph takes up to seven minutes.
EMULATED = ("qemu-x86_64", "-cpu", "Nehalem")
PARTS = 2  # read beside each other
PARAGRAPHS = 6  # in each part; half a minute a paragraph on the slowest host measured
LONGEST = 900.0  # seconds
REPORTS = Path(__file__).parents[3] / "notebooks/demo/reports"
READ = "from kg.cli import main; main()"


def paragraphs() -> Iterator[dict[str, str]]:
    """Yield a short paragraph of each report, as lines for `liantu extract`."""
    for file in sorted(REPORTS.glob("*.md")):
        blocks = file.read_text(encoding="utf-8").split("\n\n")
        found = next((block for block in blocks if 40 <= len(block) <= 120 and block[0] not in "#|-"), None)
        if found:
            yield {"id": file.stem, "date": file.name[:10], "text": found}


def read(lines: Path, *before: str) -> dict[str, Any]:
    command = [*before, sys.executable, "-c", READ, "extract", str(lines), "--workers", "1"]
    found = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=LONGEST
    ).stdout
    return {row["id"]: row for row in map(json.loads, found.splitlines())}


@pytest.mark.extended
@pytest.mark.skipif(shutil.which(EMULATED[0]) is None, reason="no qemu-x86_64; on Debian: apt-get install qemu-user")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_processor_without_avx_reads_the_same(tmp_path: Path, part: int):
    lines = tmp_path / "paragraphs.jsonl"
    rows = list(islice(paragraphs(), part, PARTS * PARAGRAPHS, PARTS))
    assert len(rows) == PARAGRAPHS
    lines.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    here = read(lines)
    try:
        there = read(lines, *EMULATED)
    except subprocess.TimeoutExpired:
        pytest.skip(f"the emulator needs more than {LONGEST:.0f} s here")
    assert here.keys() == there.keys()
    facts = 0
    for name, row in here.items():
        confidences = [[fact.pop("confidence") for fact in each["facts"]] for each in (row, there[name])]
        assert row == there[name]
        assert confidences[0] == pytest.approx(confidences[1], abs=0.002)
        facts += len(confidences[0])
    assert facts > PARAGRAPHS
