"""How often each rule fires and how often it is right: `python -m benchmarks.rules --kb KB [SET …] [--limit N]`.

KB is a base of the notes in LIANTU_DATA/gator (`liantu ingest`): facts are counted by the rule in their evidence, and
in annotated notes before 2025-10-15 a relation is right if an annotated one fits, as `tools/score_edges.py` beside the
data decides. `alone` are those that the edge model does not read. The other sets are read with the rules alone.
`docs/rules.md` holds the table.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality import ccks2021_causal
from benchmarks.quality.finre import lines_of
from extraction.claims.events.frames import frame_kinds
from extraction.claims.relations.pattern import relation_patterns
from extraction.documents.jsonl import read_record
from extraction.documents.metadata import SourceFile
from extraction.documents.text import carve_plain
from extraction.pipeline import Extractor
from kg.model import Document
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kg.model import Evidence
    from kg.store.port import View

    Edge = dict[str, Any]

DATA = Path(os.environ.get("LIANTU_DATA", "../shared/data"))
_DAY, _READ_AT = date(2025, 6, 30), datetime(2026, 1, 1, tzinfo=UTC)
_ANNOTATED_BEFORE = "2025-10-15"


@dataclass(slots=True)
class Rule:
    """Facts of one rule by set, and its relations in annotated notes; `alone` are not read by the edge model."""

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
    each.__name__: each for each in (yanbao, finre, fewfc, fincorpus, ccks)
}


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rules", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; default all")
    parser.add_argument("--kb", type=Path, help="a base of LIANTU_DATA/gator")
    parser.add_argument("--limit", type=int, default=0, help="only about N texts of each set")
    options = parser.parse_args()
    if unknown := set(options.sets) - set(SETS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if not DATA.exists():
        print(f"skipped: no {DATA}; set LIANTU_DATA")
        return
    names = options.sets or list(SETS)
    rules = {name: Rule() for name in known_rules()}
    if options.kb:
        with closing(open_store(options.kb)) as store:
            score_notes(rules, store.view())
    reader = Extractor.default(edge_model="off")
    for name in names:
        for document in _sampled(list(SETS[name]()), options.limit):
            for fact in reader.extract(document, recorded_at=_READ_AT).facts:
                for rule in {_rule_of(item) for item in fact.evidence}:
                    rules.setdefault(rule, Rule()).fires[name] += 1
    print(table(rules, ["notes", *names] if options.kb else names))


def score_notes(rules: dict[str, Rule], view: View) -> None:
    """Count the facts of a base by rule, and compare those of annotated notes."""
    metric = runpy.run_path(str(DATA.parent / "tools/score_edges.py"))
    gold, names = _annotations(metric), _Names(view, metric["fold"])
    notes = {head.id: Path(head.path).stem for head in view.documents()}
    for fact in view.facts():
        by_model = {item.document for item in fact.evidence if item.extractor.startswith("edges@")}
        for document, rule in sorted({(item.document, _rule_of(item)) for item in fact.evidence}):
            found = rules.setdefault(rule, Rule())
            found.fires["notes"] += 1
            wanted = gold.get(notes[document])
            if wanted is not None and fact.relation in metric["GROUP"]:
                edge = {"s": names.of(fact.subject, document), "o": names.of(fact.object, document), "r": fact.relation}
                right = any(metric["fits"](each, edge, strict=False) for each in wanted)
                found.count(right=right, alone=document not in by_model)


def known_rules() -> list[str]:
    """Return the names of relation patterns and kinds of event; lists, tables and figures name theirs as they read."""
    return [*(pattern.name for pattern in relation_patterns()), *(f"event.{kind}" for kind in frame_kinds())]


def table(rules: dict[str, Rule], names: Iterable[str]) -> str:
    """Return the counts as a Markdown table, the most frequent rule first."""
    names = list(names)
    rows = [("rule", *names, "right", "wrong", "right alone", "wrong alone")]
    rows.append(("---", *("---:" for _ in rows[0][1:])))
    for rule, each in sorted(rules.items(), key=lambda row: (-row[1].fires.total(), row[0])):
        scores = [each.right, each.wrong, each.right_alone, each.wrong_alone]
        shown = map(str, scores) if any(scores) else ("" for _ in scores)
        rows.append((rule, *(str(each.fires[name]) for name in names), *shown))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _rule_of(item: Evidence) -> str:
    reader, _, rule = item.extractor.partition(":")
    return f"edge model: {rule}" if reader.startswith("edges@") else rule


@dataclass(slots=True)
class _Names:
    """The folded spellings of entities: their names anywhere, and their mentions in one document."""

    view: View
    fold: Callable[[str], str]
    _known: dict[str, set[str]] = field(default_factory=dict)
    _seen: dict[str, dict[str, set[str]]] = field(default_factory=dict)

    def of(self, entity: str, document: str) -> set[str]:
        """Return the spellings of an entity in a document."""
        if document not in self._seen:
            seen: dict[str, set[str]] = defaultdict(set)
            for mention in self.view.mentions(document):
                seen[mention.entity].add(self.fold(mention.text))
            self._seen[document] = seen
        if entity not in self._known:
            found = self.view.entity(entity)
            spelled = [found.name, *(alias.name for alias in found.aliases), *found.codes] if found else []
            self._known[entity] = {self.fold(name) for name in (*spelled, entity.partition(":")[2]) if name}
        return self._known[entity] | self._seen[document].get(entity, set())


def _annotations(metric: Mapping[str, Any]) -> dict[str, list[Edge]]:
    """Return the annotated edges of early notes."""
    gold: dict[str, list[Edge]] = defaultdict(list)
    for file in sorted((DATA / "gator_edges").glob("*.jsonl")):
        early = {row["id"] for row in _rows(file) if row["day"] < _ANNOTATED_BEFORE}
        for note, edges in metric["gold_edges"](file).items():
            if note in early:
                gold[note] += edges
    return gold


def _document(text: str) -> Document:
    return read_record({"text": text, "date": _DAY.isoformat()}, SourceFile(Path("text"), b"", _DAY))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _sampled(documents: list[Document], limit: int) -> list[Document]:
    """Return every n-th document, so that a sample covers the whole set."""
    return documents[:: max(1, len(documents) // limit)] if limit else documents


if __name__ == "__main__":
    main()
