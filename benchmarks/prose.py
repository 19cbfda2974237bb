"""How many true sentences the check of answers in prose keeps, and how many false ones it refuses.

    python -m benchmarks.prose --kb kb.liantu [--reports FOLDER] [--set FILE] [--misses]
    python -m benchmarks.prose --kb kb.liantu --requests FILE    the second readings, a batch file for a language model
    python -m benchmarks.prose --kb kb.liantu --replies FILE     the same with its replies
    python -m benchmarks.prose --kb kb.liantu --questions FILE --requests FILE [--replies FILE]

`benchmarks/sentences.txt` has sentences over the bundled reports, true ones and false ones of twelve kinds, for a base
made by `liantu ingest notebooks/demo/reports --kb kb.liantu`. A file of the same form may be given for other documents.
With questions (JSON lines with `question`), the answers that `ask --prose` shows are printed as JSON lines: the first
round of requests asks for answers, the second, made with the replies to the first, for the readings of their sentences.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kg.llm.batch import read_batch, write_batch
from kg.llm.port import EmptyReply, Reply, request_key
from kg.query.answers import Passage
from kg.query.grounding.checking import KnownNames, SentenceCheck, is_chinese
from kg.query.grounding.context import passage_item
from kg.query.grounding.prose import CitedSentence, read_again
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.llm.port import Model, Request
    from kg.messages.words import Lang
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


class Batch:
    """Stands for a language model: keeps the requests, and answers with the replies of a batch file."""

    name = "batch"

    def __init__(self, replies: Path | None) -> None:
        lines = read_batch(replies) if replies else ()
        self.replies = {line.key: line.reply for line in lines if line.reply}
        self.requests: dict[str, Request] = {}

    def complete(self, request: Request) -> Reply:
        """Return the reply to a request, an empty one if there is none."""
        key = request_key(self.name, request)
        self.requests[key] = request
        return self.replies.get(key, Reply(""))

    def close(self) -> None:
        """Do nothing."""


def judged(
    session: QuerySession, file: Path = SENTENCES, reports: Path = REPORTS, *, model: Model | None = None
) -> Iterator[tuple[SentenceCase, tuple[str, ...]]]:
    """Yield each sentence with the faults that the check finds, cited to the passage that it is about."""
    names = KnownNames(session.view.names())
    passages = list(_passages(session))
    for case in cases(file):
        title = _TITLE.search((reports / case.report).read_text(encoding="utf-8"))
        found = [each for each in passages if _flat(case.words) in _flat(each.chunk.text)]
        if not found:
            raise click.ClickException(f"{file}: no passage of the base has {case.words!r}")
        passage = next((each for each in found if title and each.title == title[1]), found[0])
        item = replace(passage_item(session, passage), id="P1")
        check = SentenceCheck([item], names, question=case.question)
        written = CitedSentence(case.sentence, ("P1",), check.verdict(case.sentence, ("P1",)))
        lang: Lang = "zh" if is_chinese(case.sentence) else "en"
        verdicts = [written.verdict]
        if model:
            verdicts = read_again(model, [written], items={"P1": item}, check=check, lang=lang)
        yield case, verdicts[0].faults


def _passages(session: QuerySession) -> Iterator[Passage]:
    for head in session.view.documents():
        for chunk in session.view.chunks(head.id):
            yield Passage(chunk, head.title, head.publisher, head.published_on, 1.0)


def _flat(text: str) -> str:
    return "".join(text.split())


def answered(path: Path, questions: Path, model: Batch) -> Iterator[dict[str, object]]:
    """Yield what `ask --prose` shows for each question that has a reply."""
    with open_kb(path, model=model) as kb:
        for line in questions.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            with suppress(EmptyReply):
                found = kb.prose(row["question"])
                sentences = [(each.text, each.kept, each.faults) for each in found.sentences]
                shown = {"text": found.text, "written": found.written, "sentences": sentences}
                yield {**row, **shown, "tokens": found.context.used_tokens}


def main() -> None:
    """Print the shares, by kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--set", type=Path, default=SENTENCES)
    parser.add_argument("--reports", type=Path, default=REPORTS)
    parser.add_argument("--misses", action="store_true", help="print what is judged wrongly")
    parser.add_argument("--requests", type=Path, help="write the requests of the second reading to this batch file")
    parser.add_argument("--replies", type=Path, help="use the replies of this batch file")
    parser.add_argument("--questions", type=Path, help="questions, each answered by a model")
    options = parser.parse_args()
    model = Batch(options.replies) if options.requests or options.replies else None
    if model and options.questions:
        for row in answered(options.kb, options.questions, model):
            print(json.dumps(row, ensure_ascii=False))
        write_batch(options.requests, model.name, model.requests.items())
        return
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    with open_kb(options.kb) as kb, kb.session() as session:
        for case, found in judged(session, options.set, options.reports, model=model):
            total[case.kind] += 1
            right[case.kind] += bool(found) == bool(case.kind)
            if options.misses and bool(found) != bool(case.kind):
                print(f"{case.kind or 'true'}: {case.sentence} {found}")
    if model and options.requests:
        write_batch(options.requests, model.name, model.requests.items())
    false = [kind for kind in total if kind]
    refused, wrong = sum(right[kind] for kind in false), sum(total[kind] for kind in false)
    print(f"true sentences kept {right['']}/{total['']}, false ones refused {refused}/{wrong}")
    print(", ".join(f"{kind} {right[kind]}/{total[kind]}" for kind in sorted(false)))


if __name__ == "__main__":
    main()
