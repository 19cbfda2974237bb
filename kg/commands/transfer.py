"""`liantu dump`, `import`, `links` and `copy`: whole knowledge bases and existing graphs, out, in and across."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kg.commands.files import FileUnwritable, is_database, replacing
from kg.commands.language import say, shown_lang, warn
from kg.commands.options import Day, confidence_option, kb_option, opened, view_options
from kg.interop.copying import copy as copied
from kg.interop.copying import verify
from kg.interop.dumping import dump as dumped
from kg.interop.exports.company_links import LINK_COLUMNS, RELATIONS, company_links
from kg.interop.imports.files import FORMATS, numbered_lines, whole_lines
from kg.interop.imports.rows import FieldReader, RowImport
from kg.interop.restoring import read_back, restore
from kg.messages.words import translated, word
from kg.relations import vocabulary
from kg.securities.master import Master
from kg.settings import load
from kg.store.open import open_store
from kg.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime
    from typing import TextIO

    from kg.interop.imports.rows import RefusedRow

_EXIT_REFUSED = 3
EXPORTS = ("csv", "gexf", "graphml", "graphrag", "lightrag", "neo4j", "parquet", "rdf")
_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
INDEXES = ("graphrag", "lightrag")
_EVERY = 1000
_NEXT = {"graphrag": "export.next.graphrag", "lightrag": "export.next.lightrag", "neo4j": "export.next.neo4j"}


@click.command()
@kb_option
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="file to write; default: standard output"
)
@click.pass_obj
def dump(now: datetime, kb: Path, output: Path | None) -> None:
    """Write the whole base as sorted JSON lines, equal bytes for equal content; a file is read back and checked."""
    try:
        with replacing(output) if output else _standard_output() as file, closing(open_store(kb)) as store:
            for line in dumped(store):
                file.write(line)
            written = Path(file.name)
            if output and written.is_file():
                file.flush()
                read_back(whole_lines(written), name=str(output), recorded_at=now)
    except BrokenPipeError:
        sys.stderr.close()  # the reader closed the pipe, as `head` does


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@kb_option
@click.option(
    "--format",
    "layout",
    type=click.Choice(["dump", *FORMATS, *INDEXES]),
    help="file format; default: by suffix and first line",
)
@click.option("--date", "day", type=Day(), help="publication day for files that state none (chainkg)")
@click.option(
    "--resolve/--no-resolve",
    default=True,
    show_default=True,
    help="whether to look up company names in the list of securities",
)
@click.pass_obj
def import_(now: datetime, path: Path, kb: Path, layout: str | None, day: date | None, resolve: bool) -> None:
    """Import a dump, facts of another graph (JSONL, CSV, ickg25, chainkg), or a GraphRAG or LightRAG index."""
    layout = layout or _layout(path)
    if layout in INDEXES:
        _import_index(layout, path, kb, now=now, day=day, resolve=resolve)
        return
    with closing(open_store(kb, create=True)) as store:
        if layout == "dump":
            done = restore(store, whole_lines(path), name=str(path), recorded_at=now, refuse=_tell)
            say("import.dump", **asdict(done))
            refused = done.refused
        else:
            reader = FieldReader(vocabulary(), Master.load() if resolve else None)
            run = RowImport(layout, reader, now, day.isoformat() if day else "")
            tally = run.run(path, store, refuse=_tell)
            say("import.rows", **asdict(tally))
            for relation, count in tally.left_out.most_common():
                warn("import.left_out", relation=relation, count=count)
            refused = tally.refused
    if refused:
        sys.exit(_EXIT_REFUSED)


def _import_index(layout: str, path: Path, kb: Path, *, now: datetime, day: date | None, resolve: bool) -> None:
    """Import the index of another system."""
    from kg.interop.imports.foreign import IndexImport  # noqa: PLC0415 -- imported when called
    from kg.interop.imports.graphrag import read_graphrag  # noqa: PLC0415 -- imported when called
    from kg.interop.imports.lightrag import read_lightrag  # noqa: PLC0415 -- imported when called

    graph = (read_graphrag if layout == "graphrag" else read_lightrag)(path, day)
    job = IndexImport(path, recorded_at=now, day=day, master=Master.load() if resolve else None)
    with closing(open_store(kb, create=True)) as store:
        done = job.run(graph, store)
    say("import.index", documents=done.documents, known=done.known, facts=done.facts)
    for reason, count in sorted(done.left_out.items()):
        warn("import.links", count=count, reason=translated(reason, shown_lang()))


@click.command()
@click.argument("layout", metavar="FORMAT", type=click.Choice(sorted(EXPORTS)))
@click.argument("out", type=click.Path(path_type=Path))
@view_options
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=lambda: load().answer_confidence,
    show_default="0.65",
    help="export what supports answers at this confidence; 0: everything",
)
@click.option("--plain", is_flag=True, help="csv: without the mark that Excel and WPS need, and lists as JSON")
def export(*, layout: str, out: Path, kb: Path, as_of: date | None, min_confidence: float, plain: bool) -> None:
    """Export to GraphRAG, LightRAG, Neo4j, GraphML, GEXF, RDF, CSV or Parquet; equal bytes for equal content."""
    from kg.interop.exports.formats import export as write  # noqa: PLC0415 -- imported when called

    if plain and layout != "csv":
        raise click.UsageError("--plain is for csv")
    if is_database(out):
        raise FileUnwritable(out, "a knowledge base or another database exists there, or owns that name")
    with opened(kb, as_of) as view:
        done = write(view, layout, out, min_confidence=min_confidence, plain_csv=plain, lang=shown_lang())
        say("export.done", **done, out=out)
        if layout in _NEXT:
            say(_NEXT[layout], out=out)
        if layout == "graphrag" and view.run() is None:
            warn("export.no_themes")


@click.command()
@view_options
@confidence_option
@click.option("--relation", multiple=True, type=click.Choice(RELATIONS), help="only these relations; default: all")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="file to write; default: standard output"
)
def links(kb: Path, as_of: date | None, min_confidence: float, relation: tuple[str, ...], output: Path | None) -> None:
    """Write the links between companies as CSV: seller, buyer, product, share, stage, since when, with the sentence."""
    from kg.interop.exports.content import ExportContent  # noqa: PLC0415 -- imported when called
    from kg.interop.exports.tables import MARK, columns_of, write_rows  # noqa: PLC0415 -- imported when called

    try:
        with replacing(output) if output else _standard_output() as file, opened(kb, as_of) as view:
            content = ExportContent(view, min_confidence=min_confidence)
            file.write(MARK if output else "")  # a program that reads the output of another needs none
            rows = company_links(content, relation or RELATIONS)
            write_rows(columns_of(*LINK_COLUMNS), rows, file, plain_text=not output)
    except BrokenPipeError:
        sys.stderr.close()  # the reader closed the pipe, as `head` does


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("--replace", is_flag=True, help="make TARGET, which may be served, equal to SOURCE: restores a backup")
def copy(source: str, target: str, *, replace: bool) -> None:
    """Copy base SOURCE, which may be in use, to TARGET (paths or neo4j:// addresses); run again to resume."""
    with closing(open_store(source)) as one, closing(open_store(target, create=True)) as other:
        if isinstance(one, SqliteStore) and isinstance(other, SqliteStore):
            if replace or not other.stats()["documents"]:
                other.become(one)
                say("copy.whole", documents=other.stats()["documents"], out=target)
                return
        elif replace:
            raise click.UsageError("--replace is for bases in files")
        done = copied(one, other, progress=_progress)
        stamp = verify(one, other)
    say("copy.done", written=done.written, known=done.known, stamp=stamp)


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    yield sys.stdout
    sys.stdout.flush()  # reports a full disk here, not at interpreter exit


def _layout(path: Path) -> str:
    """Distinguish a dump from rows by its first line, and other files by their suffix."""
    found = _SUFFIXES.get(path.suffix.lower())
    if path.is_dir() or found is None:
        raise click.UsageError(f"{path}: say which layout it is with --format")
    first = next(numbered_lines(path), (0, ""))[1]
    return "dump" if found == "jsonl" and first.startswith('{"type":"base"') else found


def _tell(refused: RefusedRow) -> None:
    click.echo(f"✗ {refused.where}{word('colon', shown_lang())}{translated(refused.why, shown_lang())}", err=True)


def _progress(count: int) -> None:
    if count % _EVERY == 0:
        click.echo(f"  {count}", err=True)
