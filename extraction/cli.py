"""Define the commands `liantu ingest`, `read`, `extract` and `resolve`."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import lang_option, shown_lang, warn_of
from kg.commands.options import Day, json_option, kb_option
from kg.commands.progress import progress_display
from kg.commands.questions import add_commands
from kg.errors import DocumentError
from kg.messages.words import listed, translated, word
from kg.model import BlockKind
from kg.query.filings.outline import outline_of
from kg.query.questions.documents import outline_lines
from kg.settings import load, market_day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from extraction.streams import LineResult
    from kg.messages.words import Lang

EXIT_REFUSED = 3


def _linking_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that link names: --workers, --ner and --master."""
    for option in (
        click.option(
            "--master",
            type=click.Path(path_type=Path, exists=True),
            default=lambda: load().master,
            help="your own list of securities",
        ),
        click.option("--ner/--no-ner", default=lambda: load().ner, help="whether to use the shipped model of names"),
        click.option(
            "--workers",
            type=click.IntRange(0),
            default=lambda: load().workers,
            help="number of processes, 0 for one per processor",
        ),
    ):
        command = option(command)
    return command


_edge_model_option = click.option(
    "--edge-model",
    default=lambda: load().edge_model,
    help="model that reads relations: shipped, off, or a trained folder",
)


def _jsonl_options(*, explains: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the options of commands that map JSON lines to JSON lines; `explains` is the help text of --explain."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        command = _linking_options(kb_option(command))
        command = click.option("--explain", is_flag=True, help=explains)(command)
        file = click.Path(exists=True, dir_okay=False, allow_dash=True)
        return click.argument("file", type=file, default="-")(command)

    return decorate


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@kb_option
@click.option("--date", "day", type=Day(), help="publication day of files that state none")
@click.option(
    "--ray",
    metavar="ADDRESS",
    default="",
    help="address of a Ray cluster that reads the documents; this process writes",
)
@_edge_model_option
@_linking_options
def ingest(paths: tuple[Path, ...], kb: Path, day: date | None, workers: int, **options: Any) -> None:
    """Read reports PATHS (pdf md html txt csv eml jsonl, folders too) into the base; repeating adds nothing twice."""
    from extraction.ingest import Job  # noqa: PLC0415 -- imported when called
    from extraction.ingest import ingest as run  # noqa: PLC0415 -- imported when called
    from kg.securities.lists.imported import master_for  # noqa: PLC0415 -- imported when called
    from kg.store.open import open_store  # noqa: PLC0415 -- imported when called

    now = datetime.now(UTC).replace(microsecond=0)
    job = Job(
        tuple(paths),
        now,
        day,
        workers,
        ner=options["ner"],
        master=master_for(kb, options["master"]),
        edge_model=options["edge_model"],
        names=load().names,
        min_confidence=load().min_confidence,
        filing_pages=load().filing_pages,
        read_seconds=load().read_seconds,
        ray=options["ray"],
    )
    store = open_store(kb, create=True)
    try:
        with progress_display() as progress:
            outcome = run(store, job, progress)
    finally:
        store.close()
    for fault in outcome.refused:
        warn_of(fault)
    lang, seconds = shown_lang(), f"{outcome.seconds:.1f}"
    for ending, number in sorted(outcome.passed_over.items()):
        kind = ending or word("ingest.no_ending", lang)
        click.echo(word("ingest.passed_over", lang, kind=kind, count=number), err=True)
    parts = [
        word("ingest.read", lang, written=outcome.written, known=outcome.known, refused=len(outcome.refused)),
        *([word("ingest.changed", lang, count=outcome.changed, old=outcome.removed)] if outcome.changed else []),
        *([word("ingest.moved", lang, count=outcome.moved)] if outcome.moved else []),
        word("ingest.facts", lang, count=outcome.facts, seconds=seconds, kb=kb),
    ]
    click.echo(word("sentences", lang).join(parts))
    if outcome.refused:
        sys.exit(EXIT_REFUSED)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--date", "day", type=Day(), help="publication day of files that state none")
@click.option("--show-removed", is_flag=True, help="show what cleaning removed, and why")
def read(file: Path, day: date | None, *, show_removed: bool) -> None:
    """Show title, date and text read from FILE; --show-removed shows what was removed and why."""
    from extraction.reading import FileReader  # noqa: PLC0415 -- imported when called

    refused = False
    reader = FileReader(market_day(datetime.now(UTC)), day)
    for item in reader.read(file):
        if isinstance(item, DocumentError):
            warn_of(item)
            refused = True
            continue
        about = (str(item.published_on), item.publisher, listed(item.authors, shown_lang()), " ".join(item.codes))
        click.echo(f"# {item.title}\n{'  '.join(about)}\n")
        if show_removed:
            for span in item.removed:
                reason, text = translated(span.reason, shown_lang()), item.text[span.start : span.end]
                click.echo(f"[{span.start}:{span.end}] {reason}: {text!r}")
        else:
            for block in item.blocks:
                mark = f"{'#' * block.level} " if block.kind == BlockKind.HEADING else ""
                click.echo(f"{mark}{item.text[block.start : block.end]}\n")
    if refused:
        sys.exit(EXIT_REFUSED)


@click.group()
def filing() -> None:
    """Annual reports, quarterly reports and other filings: their sections, and the pages that answer a question."""


@filing.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--date", "day", type=Day(), help="publication day of files that state none")
@json_option
@lang_option
def outline(file: Path, day: date | None, *, as_json: bool, lang: Lang) -> None:
    """Show the sections of FILE with their pages."""
    from extraction.reading import FileReader  # noqa: PLC0415 -- imported when called

    for item in FileReader(market_day(datetime.now(UTC)), day).read(file):
        if isinstance(item, DocumentError):
            raise item
        found = outline_of(item)
        if as_json:
            click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
        else:
            click.echo("\n".join(outline_lines(found, lang)))


add_commands(filing)


@click.command()
@_jsonl_options(explains="add by which pattern each fact was read, and its confidence")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=lambda: load().min_confidence,
    help="leave out facts of lower confidence, as ingest does; 0 for all",
)
@_edge_model_option
def extract(file: str, workers: int, kb: Path, master: Path | None, **options: Any) -> None:
    """Map JSON lines (id, text, date, maybe title) to their names, facts and doubts; no base is written."""
    from extraction.streams import Extraction, transform  # noqa: PLC0415 -- imported when called
    from kg.securities.lists.imported import master_for  # noqa: PLC0415 -- imported when called

    now = datetime.now(UTC).replace(microsecond=0)
    config = Extraction(now, master=master_for(kb, master), names=load().names, **options)
    with click.open_file(file, "rb") as lines:
        write_lines(transform(lines, config.build, source="stdin" if file == "-" else file, workers=workers))


@click.command()
@_jsonl_options(explains="add the features behind the score of each candidate")
def resolve(file: str, workers: int, kb: Path, master: Path | None, **options: Any) -> None:
    """Map JSON lines (id, text, date, maybe codes) to who their names are, with candidates and scores."""
    from extraction.streams import Resolving, transform  # noqa: PLC0415 -- imported when called
    from kg.securities.lists.imported import master_for  # noqa: PLC0415 -- imported when called

    config = Resolving(master=master_for(kb, master), names=load().names, **options)
    with click.open_file(file, "rb") as lines:
        write_lines(transform(lines, config.build, source="stdin" if file == "-" else file, workers=workers))


def write_lines(lines: Iterable[LineResult]) -> None:
    """Write results to standard output and refusals to standard error as they arrive; exit 3 after any refusal."""
    refused = False
    for line in lines:
        refused = refused or line.refused
        click.echo(f"refused: {line.text}" if line.refused else line.text, err=line.refused)
    if refused:
        sys.exit(EXIT_REFUSED)
