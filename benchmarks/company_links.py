"""Compare the relations between companies that are read from documents with an annotation of them.

    python -m benchmarks.company_links GOLD FOLDER [--edge-model off]

`document|kind|sellers|buyers` in GOLD: names are joined by 、, spellings of one by =. Kinds:
supplies, holds, acquires, cooperates, competes, joint_venture. FOLDER holds the documents, or a JSONL file of them.
Names are compared leniently: equal, or one within the other. Printed: what is found at the confidence of answers and at
all, what is reversed, and every shown relation that is not in the annotation, to be judged by reading.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from extraction.documents.open_file import read_file
from extraction.pipeline import Extractor
from kg.errors import DocumentError
from kg.model import Polarity
from kg.query.session import ANSWERED
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kg.model import Fact

FITS = {
    "supplies": {"supplies"},
    "holds": {"holds_stake_in", "subsidiary_of", "acquires", "invests_in", "founds"},
    "acquires": {"acquires", "holds_stake_in", "subsidiary_of", "merges_with", "buys_assets_from"},
    "cooperates": {"partners_with"},
    "competes": {"competes_with"},
    "joint_venture": {"partners_with", "founds", "holds_stake_in"},
}
_SHORTEST = 2


class Link(NamedTuple):
    """A relation between two companies, each with its spellings; `confidence` is 1 in an annotation."""

    document: str
    kind: str
    seller: frozenset[str]
    buyer: frozenset[str]
    confidence: float = 1.0
    quote: str = ""


def annotated(path: Path) -> Iterator[Link]:
    """Yield the relations of an annotation: every pair of its lists."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if "|" in line and not line.startswith("#"):
            document, kind, sellers, buyers = line.strip().split("|")
            for seller in sellers.split("、"):
                for buyer in buyers.split("、"):
                    yield Link(document, kind, _folded(seller.split("=")), _folded(buyer.split("=")))


def found_in(paths: Iterable[Path], wanted: set[str], extractor: Extractor) -> Iterator[Link]:
    """Yield what is read from the wanted documents, by the stem of a file or the line of a JSONL file."""
    for path in paths:
        if path.suffix != ".jsonl" and path.stem not in wanted:
            continue
        for document in read_file(path, today=date(2100, 1, 1), published_on=None):
            if isinstance(document, DocumentError):
                continue
            reading = extractor.extract(document, recorded_at=datetime(2100, 1, 1, tzinfo=UTC))
            names = {
                each.id: _folded([each.name, *(alias.name for alias in each.aliases)]) for each in reading.entities
            }
            number = document.path.rpartition(":")[2]
            name = f"{path.stem}:{number}" if path.suffix == ".jsonl" else path.stem
            for fact in reading.facts:
                if fact.polarity is Polarity.POSITIVE and any(fact.relation in fits for fits in FITS.values()):
                    yield _link(name, fact, names)


def _link(document: str, fact: Fact, names: dict[str, frozenset[str]]) -> Link:
    ends = names[fact.subject], names[fact.object]
    seller, buyer = reversed(ends) if fact.relation == "subsidiary_of" else ends  # the parent owns
    return Link(document, fact.relation, seller, buyer, fact.confidence, fact.evidence[0].quote)


def way(gold: Link, link: Link) -> str:
    """Return whether a link is an annotated one: "same", "reversed", or ""."""
    if gold.document != link.document or link.kind not in FITS[gold.kind]:
        return ""
    if _alike(gold.seller, link.seller) and _alike(gold.buyer, link.buyer):
        return "same"
    turned = _alike(gold.seller, link.buyer) and _alike(gold.buyer, link.seller)
    return ("same" if vocabulary()[link.kind].symmetric else "reversed") if turned else ""


def _folded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name).lower()) for name in names)


def _alike(names: frozenset[str], others: frozenset[str]) -> bool:
    return any(_one(name, other) for name in names for other in others)


def _one(name: str, other: str) -> bool:
    short, long = sorted((name, other), key=len)
    if len(short) < _SHORTEST + short.isascii() or short not in long:
        return False
    return len(short) * 2 >= len(long) or long.startswith(short) or long.endswith(short)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gold", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--edge-model", default="shipped")
    given = parser.parse_args()
    gold = list(annotated(given.gold))
    paths = sorted(given.folder.iterdir()) if given.folder.is_dir() else [given.folder]
    wanted = {link.document for link in gold}
    read = [
        link
        for link in found_in(paths, wanted, Extractor.default(edge_model=given.edge_model))
        if link.document in wanted
    ]
    for cut in (ANSWERED, 0.0):
        shown = [link for link in read if link.confidence >= cut]
        for kind in FITS:
            ways = [{way(each, link) for link in shown} for each in gold if each.kind == kind]
            same, turned = sum("same" in each for each in ways), sum(each - {""} == {"reversed"} for each in ways)
            print(f"{cut:.2f} {kind:14} annotated {len(ways):4} found {same:4} reversed {turned}")
    for link in read:
        if link.confidence >= ANSWERED and not any(way(each, link) for each in gold):
            print(f"  ? {link.document} {min(link.seller)} {link.kind} {min(link.buyer)} | {link.quote[:100]}")


if __name__ == "__main__":
    main()
