"""How many true sentences the check of answers in prose keeps, and how many false ones it refuses.

    python -m benchmarks.prose --kb kb.liantu [--reports FOLDER] [--set FILE] [--misses]

`benchmarks/sentences.txt` has sentences over the bundled reports, true ones and false ones of twelve kinds, for a base
made by `liantu ingest notebooks/demo/reports --kb kb.liantu`. A file of the same form may be given for other documents.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kg.query.answers import Passage
from kg.query.grounding.checking import KnownNames, faults
from kg.query.grounding.context import passage_item
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.session import QuerySession

ROOT = Path(__file__).resolve().parents[1]
SENTENCES = Path(__file__).with_name("sentences.txt")
REPORTS = ROOT / "notebooks" / "demo" / "reports"
_TITLE = re.compile(r'^title: "(.*?)"$', re.MULTILINE)


@dataclass(frozen=True)
class SentenceCase:
    """A sentence, the words that find its passage in a report, and what is false about it ("" if nothing is)."""

    report: str
    words: str
    question: str
    kind: str
    sentence: str


def cases(file: Path = SENTENCES) -> Iterator[SentenceCase]:
    """Read a file of sentences."""
    report, words, question = "", "", ""
    for line in file.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "@":
            report, words, question = ([part.strip() for part in rest.split("|")] + [""])[:3]
        elif mark == "+":
            yield SentenceCase(report, words, question, "", rest.strip())
        elif mark == "-":
            kind, _, sentence = rest.partition("|")
            yield SentenceCase(report, words, question, kind.strip(), sentence.strip())


def judged(
    session: QuerySession, file: Path = SENTENCES, reports: Path = REPORTS
) -> Iterator[tuple[SentenceCase, list[str]]]:
    """Yield each sentence with the faults that the check finds, cited to the passage that it is about."""
    names = KnownNames(session.view.names())
    passages = list(_passages(session))
    for case in cases(file):
        title = _TITLE.search((reports / case.report).read_text(encoding="utf-8"))
        found = next(
            each
            for each in passages
            if _flat(case.words) in _flat(each.chunk.text) and (title is None or each.title == title[1])
        )
        yield case, faults(case.sentence, [passage_item(session, found)], names, question=case.question)


def _passages(session: QuerySession) -> Iterator[Passage]:
    for head in session.view.documents():
        for chunk in session.view.chunks(head.id):
            yield Passage(chunk, head.title, head.publisher, head.published_on, 1.0)


def _flat(text: str) -> str:
    return "".join(text.split())


def main() -> None:
    """Print the shares, by kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--set", type=Path, default=SENTENCES)
    parser.add_argument("--reports", type=Path, default=REPORTS)
    parser.add_argument("--misses", action="store_true", help="print what is judged wrongly")
    options = parser.parse_args()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with open_kb(options.kb) as kb, kb.session() as session:
        for case, found in judged(session, options.set, options.reports):
            total[case.kind] += 1
            right[case.kind] += bool(found) == bool(case.kind)
            if options.misses and bool(found) != bool(case.kind):
                print(f"{case.kind or 'true'}: {case.sentence} {found}")
    false = [kind for kind in total if kind]
    refused, wrong = sum(right[kind] for kind in false), sum(total[kind] for kind in false)
    print(f"true sentences kept {right['']}/{total['']}, false ones refused {refused}/{wrong}")
    print(", ".join(f"{kind} {right[kind]}/{total[kind]}" for kind in sorted(false)))


if __name__ == "__main__":
    main()
