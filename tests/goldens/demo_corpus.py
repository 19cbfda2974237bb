"""What the extractor reads from the bundled reports: counts by relation family and a fixed sample of facts.

The figures in `demo_corpus.json` make a change of meaning visible in review. After an intended change, refresh them
with `make goldens` and look at the difference before committing it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter, defaultdict
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kg.model import Modality, Polarity
from kg.relations import vocabulary
from liantu import Job, ingest, open_kb

if TYPE_CHECKING:
    from kg.model import Fact
    from kg.store.port import Store, View

REPORTS = Path(__file__).resolve().parents[2] / "notebooks" / "demo" / "reports"
GOLDEN = Path(__file__).with_suffix(".json")
RECORDED = datetime(2026, 11, 1, tzinfo=UTC)
_SAMPLED, _SURE = 20, 0.7  # facts of each family; well above every threshold, so that rounding decides nothing


def read(base: Path) -> Store:
    """Ingest the bundled reports into a new base."""
    store = open_kb(base, create=True).store
    outcome = ingest(store, Job((REPORTS,), RECORDED))
    assert not outcome.refused
    return store


def figures(view: View) -> dict[str, Any]:
    """Count what a base holds: documents, entities, and facts and distinct edges by relation family."""
    facts: Counter[str] = Counter()
    edges = defaultdict(set)
    for fact in view.facts():
        facts[_family(fact)] += 1
        edges[_family(fact)].add((fact.subject, fact.relation, fact.object))
    entities = list(view.entities())
    return {
        "documents": sum(1 for _ in view.documents()),
        "entities": dict(sorted(Counter(str(entity.kind) for entity in entities).items())),
        "facts": dict(sorted(facts.items())),
        "edges": {family: len(found) for family, found in sorted(edges.items())},
        "orphan_entities": len(orphans(view)),
    }


def orphans(view: View) -> set[str]:
    """Return the entities that no fact, no mention and no other entity refers to."""
    entities = list(view.entities())
    used = {end for fact in view.facts() for end in (fact.subject, fact.object)}
    used |= {mention.entity for head in view.documents() for mention in view.mentions(head.id)}
    used |= {entity.about for entity in entities}
    return {entity.id for entity in entities} - used


def claims(view: View) -> dict[str, list[str]]:
    """Return every confident fact as one line, by relation family, in id order."""
    found = defaultdict(list)
    for fact in view.facts():
        if max(item.confidence for item in fact.evidence) >= _SURE:
            found[_family(fact)].append(_line(fact))
    return dict(sorted(found.items()))


def sample(view: View) -> list[str]:
    """Choose some facts of each family, evenly over the ids, which are hashes."""
    chosen = (lines[:: max(1, len(lines) // _SAMPLED)][:_SAMPLED] for lines in claims(view).values())
    return sorted(chain.from_iterable(chosen))


def _family(fact: Fact) -> str:
    return vocabulary()[fact.relation].family


def _line(fact: Fact) -> str:
    value = f"{fact.value.number:g}{fact.value.unit}" if fact.value else ""
    signs = {1: "+", -1: "-", 0: ""}
    parts = (
        f"{fact.subject} {fact.relation}{signs[fact.sign]} {fact.object}",
        "" if fact.modality is Modality.ASSERTED else str(fact.modality),
        "" if fact.polarity is Polarity.POSITIVE else str(fact.polarity),
        str(fact.valid or ""),
        value,
        f"「{min(fact.evidence, key=lambda item: (item.document, item.start)).quote}」",
    )
    return " | ".join(part for part in parts if part)


def main() -> None:
    """Write the golden file."""
    with tempfile.TemporaryDirectory() as folder:
        store = read(Path(folder) / "demo.liantu")
        golden = {**figures(store.view()), "sample": sample(store.view())}
        store.close()
    GOLDEN.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(f"{GOLDEN.name}: {golden['facts']}, sample of {len(golden['sample'])}\n")


if __name__ == "__main__":
    main()
