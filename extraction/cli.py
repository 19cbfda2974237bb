"""Define the commands `liantu ingest`, `read`, `extract` and `resolve`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import shown_lang
from kg.commands.options import Day, kb_option
from kg.errors import DocumentError
from kg.messages.words import word
from kg.model import BlockKind
from kg.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date

    from extraction.streams import LineResult

EXIT_REFUSED = 3


def _linking_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that link names: --workers, --ner and --master."""
    for option in (
        click.option(
            "--master", type=click.Path(path_type=Path, exists=True), default=lambda: load().master, help="自备证券主表"
        ),
        click.option("--ner/--no-ner", default=lambda: load().ner, help="是否使用随包的实体识别模型"),
        click.option(
            "--workers", type=click.IntRange(0), default=lambda: load().workers, help="并行进程数，0 为处理器数"
        ),
    ):
        command = option(command)
    return command


_edge_model_option = click.option(
    "--edge-model",
    default=lambda: load().edge_model,
    help="读关系的模型：shipped（随包）、off（不用）或训练所得的文件夹",
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
@click.option("--date", "day", type=Day(), help="文件没有日期时使用的发表日")
@click.option("--ray", metavar="ADDRESS", default="", help="由此地址的 Ray 集群读文档；仍由本进程写库")
@_edge_model_option
@_linking_options
def ingest(paths: tuple[Path, ...], kb: Path, day: date | None, workers: int, **options: Any) -> None:
    """读入研报 PATHS（pdf md html txt jsonl，可递归），抽取事实写入知识库；重复运行不会重复写入。"""
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
        ray=options["ray"],
    )
    store = open_store(kb, create=True)
    try:
        outcome = run(store, job)
    finally:
        store.close()
    for fault in outcome.refused:
        click.echo(word("cli.refused", shown_lang(), error=fault.worded(shown_lang())), err=True)
    lang, seconds = shown_lang(), f"{outcome.seconds:.1f}"
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
@click.option("--date", "day", type=Day(), help="文件没有日期时使用的发表日")
@click.option("--show-removed", is_flag=True, help="显示清洗时去掉的内容及原因")
def read(file: Path, day: date | None, *, show_removed: bool) -> None:
    """查看 FILE 读出的标题、日期与正文；--show-removed 显示去掉了什么、为什么。"""
    from extraction.reading import FileReader  # noqa: PLC0415 -- imported when called

    refused = False
    reader = FileReader(datetime.now(UTC).date(), day)
    for item in reader.read(file):
        if isinstance(item, DocumentError):
            click.echo(word("cli.refused", shown_lang(), error=item.worded(shown_lang())), err=True)
            refused = True
            continue
        about = (str(item.published_on), item.publisher, "、".join(item.authors), " ".join(item.codes))
        click.echo(f"# {item.title}\n{'  '.join(about)}\n")
        if show_removed:
            for span in item.removed:
                click.echo(f"[{span.start}:{span.end}] {span.reason}: {item.text[span.start : span.end]!r}")
        else:
            for block in item.blocks:
                mark = f"{'#' * block.level} " if block.kind == BlockKind.HEADING else ""
                click.echo(f"{mark}{item.text[block.start : block.end]}\n")
    if refused:
        sys.exit(EXIT_REFUSED)


@click.command()
@_jsonl_options(explains="写出每条事实由哪个模式读出、把握多大")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=lambda: load().min_confidence,
    help="把握低于此值的事实不写出，默认同 ingest；0 为全部",
)
@_edge_model_option
def extract(file: str, workers: int, kb: Path, master: Path | None, **options: Any) -> None:
    """逐行读入 JSON（id、text、date，可有 title），逐行写出其中的名称、事实与疑点；不写入知识库。"""
    from extraction.streams import Extraction, transform  # noqa: PLC0415 -- imported when called
    from kg.securities.lists.imported import master_for  # noqa: PLC0415 -- imported when called

    now = datetime.now(UTC).replace(microsecond=0)
    config = Extraction(now, master=master_for(kb, master), names=load().names, **options)
    with click.open_file(file, "rb") as lines:
        write_lines(transform(lines, config.build, source="stdin" if file == "-" else file, workers=workers))


@click.command()
@_jsonl_options(explains="写出每个候选的得分由哪些特征组成")
def resolve(file: str, workers: int, kb: Path, master: Path | None, **options: Any) -> None:
    """逐行读入 JSON（id、text、date，可有 codes），逐行写出其中的名称各指谁、候选与得分。"""
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
