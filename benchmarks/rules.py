"""How often each rule fires and how often it is right: `python -m benchmarks.rules [SET …] [--limit N] [--edges]`.

Reads real texts of LIANTU_DATA with the rules alone and counts the facts of each rule, by its name in the evidence. In
annotated notes before 2025-10-15 a relation is right if an annotated one fits, as `tools/score_edges.py` beside the
data decides; with --edges, those that the edge model does not read are counted apart. `docs/rules.md` holds the table.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality import ccks2021_causal
from benchmarks.quality.finre import lines_of
from benchmarks.quality.reading import spellings
from extraction.claims.events.frames import frame_kinds
from extraction.claims.readers import PATTERNS
from extraction.documents.jsonl import read_record
from extraction.documents.open_file import read_file
from extraction.documents.source import SourceFile
from extraction.documents.text import carve_plain
from extraction.pipeline import Extractor
from kg.model import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kg.model import Fact, Reading

    Edge = dict[str, Any]

DATA = Path(os.environ.get("LIANTU_DATA", "../shared/data"))
_DAY, _READ_AT = date(2025, 6, 30), datetime(2026, 1, 1, tzinfo=UTC)
_ANNOTATED_BEFORE = "2025-10-15"


@dataclass(slots=True)
class Rule:
    """Counts of one rule: facts by set, and relations of annotated notes; `alone` are not read by the edge model."""

    fires: Counter[str] = field(default_factory=Counter)
    right: int = 0
    wrong: int = 0
    right_alone: int = 0
    wrong_alone: int = 0

    def count(self, *, right: bool, alone: bool) -> None:
        """Count a relation of an annotated note."""
        self.right += right
        self.wrong += not right
        self.right_alone += right and alone
        self.wrong_alone += alone and not right


def gator() -> Iterator[Document]:
    """Yield dated research notes."""
    return _notes(sorted((DATA / "gator").glob("*.md"), key=lambda each: int(each.stem)))


def broker_edges() -> Iterator[Document]:
    """Yield passages of broker reports."""
    return _notes(sorted((DATA / "broker_edges/notes").glob("*.md")))


def yanbao() -> Iterator[Document]:
    """Yield report texts flattened from PDF."""
    for path in sorted((DATA / "yanbao").rglob("*.json")):
        body = carve_plain(json.loads(path.read_text(encoding="utf-8"))["source_content"])
        yield Document(path.stem, path.stem, _DAY, body.text, blocks=body.blocks, removed=body.removed)


def finre() -> Iterator[Document]:
    """Yield news sentences."""
    return map(_document, dict.fromkeys(line.text for line in lines_of(DATA / "finre/valid.txt")))


def fewfc() -> Iterator[Document]:
    """Yield announcements of financial events."""
    return (_document(row["content"]) for row in _rows(DATA / "fewfc/train_base.json"))


def fincorpus() -> Iterator[Document]:
    """Yield sentences about companies, products and industries."""
    return (_document(row["text"]) for row in _rows(DATA / "fincorpus_cn/relation_dev.json"))


def ccks() -> Iterator[Document]:
    """Yield news about causes and effects."""
    return (_document(text) for text, _ in ccks2021_causal.load(DATA / "ccks2021_causal/dev.json"))


SETS: dict[str, Callable[[], Iterator[Document]]] = {
    each.__name__: each for each in (gator, broker_edges, yanbao, finre, fewfc, fincorpus, ccks)
}


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rules", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; default all")
    parser.add_argument("--limit", type=int, default=0, help="only about N texts of each set")
    parser.add_argument("--edges", action="store_true", help="compare annotated notes with the edge model's reading")
    options = parser.parse_args()
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    names = options.sets or list(SETS)
    if not DATA.exists():
        print(f"skipped: no {DATA}; set LIANTU_DATA")
        return
    rules = {name: Rule() for name in known_rules()}
    reader, model = Extractor.default(edge_model="off"), Extractor.default() if options.edges else None
    metric = runpy.run_path(str(DATA.parent / "tools/score_edges.py"))
    gold = _annotations(metric)
    for name in names:
        for document in _sampled(list(SETS[name]()), options.limit):
            reading = reader.extract(document, recorded_at=_READ_AT)
            for rule, _ in _fired(reading):
                rules.setdefault(rule, Rule()).fires[name] += 1
            wanted = gold.get(Path(document.path).stem) if name == "gator" else None
            if wanted is not None:
                other = model.extract(document, recorded_at=_READ_AT) if model else None
                _compare(rules, Annotated(reading, other, wanted, metric))
    print(table(rules, names, alone=options.edges))


def known_rules() -> list[str]:
    """Return the names of relation patterns and kinds of event; lists, tables and figures name theirs as they read."""
    return [*(pattern.name for pattern in PATTERNS), *(f"event.{kind}" for kind in frame_kinds())]


def table(rules: dict[str, Rule], names: Iterable[str], *, alone: bool) -> str:
    """Return the counts as a Markdown table, the most frequent rule first."""
    names = list(names)
    rows = [("rule", *names, "right", "wrong", *(("right alone", "wrong alone") if alone else ()))]
    rows.append(("---", *("---:" for _ in rows[0][1:])))
    for rule, each in sorted(rules.items(), key=lambda row: (-row[1].fires.total(), row[0])):
        scores = [each.right, each.wrong, *((each.right_alone, each.wrong_alone) if alone else ())]
        shown = map(str, scores) if any(scores) else ("" for _ in scores)
        rows.append((rule, *(str(each.fires[name]) for name in names), *shown))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _fired(reading: Reading) -> Iterator[tuple[str, Fact]]:
    for fact in reading.facts:
        yield from ((rule, fact) for rule in sorted({item.extractor.partition(":")[2] for item in fact.evidence}))


@dataclass(frozen=True, slots=True)
class Annotated:
    """A note as read by the rules, as read with the edge model too, and as annotated."""

    reading: Reading
    other: Reading | None
    gold: Sequence[Edge]
    metric: Mapping[str, Any]


def _compare(rules: dict[str, Rule], note: Annotated) -> None:
    """Count the relations of an annotated note as right or wrong."""
    names, fold, fits = spellings(note.reading), note.metric["fold"], note.metric["fits"]
    model = {(fact.subject, fact.object) for fact in note.other.facts if _by_model(fact)} if note.other else set()
    for rule, fact in _fired(note.reading):
        if fact.relation in note.metric["GROUP"]:
            ends = [{fold(name) for name in names[end]} for end in (fact.subject, fact.object)]
            edge = {"s": ends[0], "o": ends[1], "r": fact.relation}
            right = any(fits(each, edge, strict=False) for each in note.gold)
            rules[rule].count(right=right, alone=(fact.subject, fact.object) not in model)


def _by_model(fact: Fact) -> bool:
    return any(item.extractor.startswith("edges@") for item in fact.evidence)


def _annotations(metric: Mapping[str, Any]) -> dict[str, list[Edge]]:
    """Return the annotated edges of early notes."""
    gold: dict[str, list[Edge]] = defaultdict(list)
    for file in sorted((DATA / "gator_edges").glob("*.jsonl")):
        early = {row["id"] for row in _rows(file) if row["day"] < _ANNOTATED_BEFORE}
        for note, edges in metric["gold_edges"](file).items():
            if note in early:
                gold[note] += edges
    return gold


def _notes(paths: Iterable[Path]) -> Iterator[Document]:
    for path in paths:
        yield from (each for each in read_file(path, today=_DAY) if isinstance(each, Document))


def _document(text: str) -> Document:
    return read_record({"text": text, "date": _DAY.isoformat()}, SourceFile(Path("text"), b"", _DAY))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _sampled(documents: list[Document], limit: int) -> list[Document]:
    """Return every n-th document, so that a sample covers the whole set."""
    return documents[:: max(1, len(documents) // limit)] if limit else documents


if __name__ == "__main__":
    main()
