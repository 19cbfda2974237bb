"""Questions that a model answers through batch files: prompts out, replies in, as many rounds as the loop has.

    python -m benchmarks.filings.completions DIR --kb KB --out prompts.jsonl [--replies replies.jsonl …] [--count 40]

Each run writes the prompts that have no reply yet (in the format of batch interfaces, one JSON object a line, with
`custom_id`), and prints what the questions with all replies were answered, beside the given answers, for a reader to
judge. Replies are the lines of such an interface, or {"custom_id": …, "content": …}.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchmarks.filings.dataset import read_questions
from kg.llm.batch import read_batch, write_batch
from kg.llm.port import ModelError, request_key
from kg.query.filings.research import research
from kg.service.base import open_kb

if TYPE_CHECKING:
    from kg.llm.port import Reply, Request

MODEL = "blind"


class BatchModel:
    """Replies from a file; requests without one are kept."""

    def __init__(self, replies: dict[str, Reply]) -> None:
        self.name, self._replies = MODEL, replies
        self.missing: dict[str, Request] = {}

    def complete(self, request: Request) -> Reply:
        """Return the reply of the file.

        Raises:
            ModelError: without one.
        """
        key = request_key(self.name, request)
        if key not in self._replies:
            self.missing[key] = request
            raise ModelError(self.name, "no reply yet")
        return self._replies[key]

    def close(self) -> None:
        """Do nothing."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--kb", "base", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="prompts without a reply")
@click.option(
    "--replies", multiple=True, type=click.Path(path_type=Path, exists=True), help="replies to prompts, once a file"
)
@click.option("--count", default=40, show_default=True, help="questions, those that rules do not answer first")
@click.option("--trace", is_flag=True, help="print each step")
def main(folder: Path, base: Path, out: Path, replies: tuple[Path, ...], count: int, *, trace: bool) -> None:
    """Write the prompts of FOLDER's questions that have no reply, and print the answers of the others."""
    model = BatchModel({each.key: each.reply for file in replies for each in read_batch(file) if each.reply})
    questions = sorted(read_questions(folder), key=lambda each: each.kind.startswith("metrics"))[:count]
    spent, statuses = [], dict.fromkeys(("answered", "refused", "not_found", "waiting"), 0)
    with open_kb(base, lang="en") as kb, kb.session() as session:
        for number, question in enumerate(questions, start=1):
            try:
                answer = research(session, question.text, model)
            except ModelError:
                statuses["waiting"] += 1
                continue
            statuses[answer.status] += 1
            spent.append(answer.spent)
            value = "" if answer.value is None else f" [{answer.value:g} {answer.unit}]"
            click.echo(
                f"\n{number}. {question.text}\n  given: {question.answer}\n  {answer.status}: {answer.text}{value}"
            )
            for fault in answer.faults:
                click.echo(f"  fault: {fault}")
            for line in answer.trace if trace else ():
                click.echo(f"  {line}")
    written = write_batch(out, MODEL, model.missing.items())
    tokens = f"{sum(spent) / len(spent):.0f} tokens a question" if spent else ""
    click.echo(f"\n{statuses}, {written} prompts written to {out}; {tokens}")


if __name__ == "__main__":
    main()
