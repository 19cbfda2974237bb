"""What of the facts of a base survives each way out and back: dump, copy, GraphRAG, LightRAG.

    python -m benchmarks.round_trips --kb KB

`--lightrag PYTHON` (build/lightrag/bin/python) puts the graph into a LightRAG store and reads that instead of the file.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import defaultdict
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.stub_model import graph_replies, serving
from kg.interop.copying import copy
from kg.interop.dumping import dump
from kg.interop.exports.content import best_evidence
from kg.interop.exports.formats import export
from kg.interop.imports.foreign import IndexImport
from kg.interop.imports.graphrag import read_graphrag
from kg.interop.imports.lightrag import read_lightrag
from kg.interop.restoring import restore
from kg.securities.master import Master
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kg.model import Fact
    from kg.store.port import Store, View

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_PARTS: Mapping[str, Callable[[Fact], object]] = {
    "the same id": lambda fact: fact.id,
    "sign": lambda fact: fact.sign,
    "certainty, denial": lambda fact: (fact.modality, fact.polarity),
    "period": lambda fact: fact.valid,
    "value": lambda fact: fact.value,
    "qualifiers": lambda fact: fact.qualifiers,
    "confidence": lambda fact: round(fact.confidence, 2),
    "first day": lambda fact: fact.published_on,
    "best quote": lambda fact: best_evidence((fact,)).quote,
    "speakers": lambda fact: fact.speakers,
    "every quote": lambda fact: {item.quote for item in fact.evidence},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--lightrag", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="liantu-trips-") as folder, closing(open_store(options.kb)) as store:
        place = Path(folder)
        print(f"| of {store.stats()['facts']:,} facts | {' | '.join(('come back', *_PARTS))} |")
        print("|---" * (len(_PARTS) + 2) + "|")
        _compare("dump, import", store, place / "dump.liantu", _dumped)
        _compare("copy", store, place / "copy.liantu", copy)
        _compare(
            "graphrag", store, place / "graphrag.liantu", lambda one, other: _graphrag(one, other, place / "index")
        )
        _compare(
            f"lightrag, {'store' if options.lightrag else 'file'}",
            store,
            place / "lightrag.liantu",
            lambda one, other: _lightrag(one, other, place / "custom_kg.json", options.lightrag),
        )


def _compare(name: str, store: Store, path: Path, way: Callable[[Store, Store], object]) -> None:
    with closing(open_store(path, create=True)) as other:
        way(store, other)
        with store.reader() as one, other.reader() as back:
            print(f"| {name} | {' | '.join(f'{each:,}' for each in _survivors(one, back))} |", flush=True)


def _survivors(one: View, back: View) -> list[int]:
    """Count the facts that have a counterpart of the same ends and relation, then those equal to one in each part."""
    found: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for fact in back.facts():
        found[fact.subject, fact.relation, fact.object].append(fact)
    counts = [0] * (len(_PARTS) + 1)
    for fact in one.facts():
        others = found.get((fact.subject, fact.relation, fact.object), [])
        counts[0] += bool(others)
        for number, part in enumerate(_PARTS.values(), 1):
            counts[number] += any(part(fact) == part(other) for other in others)
    return counts


def _dumped(store: Store, other: Store) -> None:
    lines = (line.rstrip("\n") for line in dump(store))
    restore(other, enumerate(lines, 1), name="dump", recorded_at=_NOW, refuse=print)


def _graphrag(store: Store, other: Store, folder: Path) -> None:
    with store.reader() as view:
        export(view, "graphrag", folder, min_confidence=0)
    IndexImport(folder, recorded_at=_NOW, master=Master.load()).run(read_graphrag(folder, None), other)


def _lightrag(store: Store, other: Store, path: Path, python: Path | None) -> None:
    with store.reader() as view:
        export(view, "lightrag", path, min_confidence=0)
    place = path
    if python:
        place = path.with_name("rag")
        place.mkdir()
        probe = Path(__file__).parent.parent / "tests" / "kg" / "interop" / "peers" / "lightrag_probe.py"
        with serving(graph_replies([])) as stub:
            command = [str(python), str(probe), str(path), str(place), stub.url, "x", '["x"]', '["x"]']
            subprocess.run(command, check=True, capture_output=True)
    IndexImport(place, recorded_at=_NOW, master=Master.load()).run(read_lightrag(place, None), other)


if __name__ == "__main__":
    main()
