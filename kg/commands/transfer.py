"""`liantu dump`, `import` and `copy`: whole knowledge bases and existing graphs, out, in and across."""

from __future__ import annotations

import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kg.commands.files import FileUnwritable, is_database, replacing
from kg.commands.options import Day, kb_option, opened, view_options
from kg.interop.copying import copy as copied
from kg.interop.copying import verify
from kg.interop.dumping import dump as dumped
from kg.interop.restoring import read_back, restore
from kg.interop.rows.claims import Claims
from kg.interop.rows.files import FORMATS, numbered_lines, whole_lines
from kg.interop.rows.importing import Import
from kg.relations import vocabulary
from kg.securities.master import Master
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime
    from typing import TextIO

    from kg.interop.rows.sheets import RefusedRow

_EXIT_REFUSED = 3
EXPORTS = ("csv", "gexf", "graphml", "graphrag", "lightrag", "neo4j", "parquet", "rdf")
_SUFFIXES = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
INDEXES = ("graphrag", "lightrag")
_LEFT_OUT = {"no passage": "没有原文段落", "unknown kind or unfit ends": "实体类型在词表里没有对应，或两端相同"}
_EVERY = 1000


@click.command()
@kb_option
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="写到这个文件；默认写到标准输出")
@click.pass_obj
def dump(now: datetime, kb: Path, output: Path | None) -> None:
    """导出知识库的全部内容：按序的 JSON 行，内容相同则字节相同；写到文件时，读回核对之后才算写成。"""
    try:
        with replacing(output) if output else _standard_output() as file, closing(open_store(kb)) as store:
            for line in dumped(store):
                file.write(line)
            written = Path(file.name)
            if output and written.is_file():
                file.flush()
                read_back(whole_lines(written), name=str(output), recorded_at=now)
    except BrokenPipeError:
        sys.stderr.close()  # whoever reads has had enough; nothing is lost


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@kb_option
@click.option(
    "--format", "layout", type=click.Choice(["dump", *FORMATS, *INDEXES]), help="文件格式；默认看扩展名和首行"
)
@click.option("--date", "day", type=Day(), help="发布日：文件自己不写日期时用（chainkg）")
@click.option("--resolve/--no-resolve", default=True, show_default=True, help="公司名称是否按证券主表对上代码")
@click.pass_obj
def import_(now: datetime, path: Path, kb: Path, layout: str | None, day: date | None, resolve: bool) -> None:
    """导入：`liantu dump` 的文件，已有图谱的事实（JSONL、CSV、ickg25、chainkg），或 GraphRAG、LightRAG 的索引。"""
    layout = layout or _layout(path)
    if layout in INDEXES:
        _import_index(layout, path, kb, now=now, day=day, resolve=resolve)
        return
    with closing(open_store(kb, create=True)) as store:
        if layout == "dump":
            done = restore(store, whole_lines(path), name=str(path), recorded_at=now, refuse=_tell)
            click.echo(f"文档 {done.documents}（已有 {done.known}）  判断 {done.judgements}  周报 {done.runs}")
            refused = done.refused
        else:
            claims = Claims(vocabulary(), Master.load() if resolve else None)
            run = Import(layout, claims, now, day.isoformat() if day else "")
            tally, left_out = run.run(path, store, refuse=_tell)
            click.echo(f"行 {tally.written}（已有 {tally.known}）  文档 {tally.documents}  拒绝 {tally.refused}")
            for relation, count in left_out.counts.most_common():
                click.echo(f"  关系「{relation}」在词表里没有对应，略过 {count} 行", err=True)
            refused = tally.refused
    if refused:
        sys.exit(_EXIT_REFUSED)


def _import_index(layout: str, path: Path, kb: Path, *, now: datetime, day: date | None, resolve: bool) -> None:
    """Import the index of another system."""
    from kg.interop.indexes.foreign import IndexImport  # noqa: PLC0415 -- imported when called
    from kg.interop.indexes.graphrag import read_graphrag  # noqa: PLC0415 -- imported when called
    from kg.interop.indexes.lightrag import read_lightrag  # noqa: PLC0415 -- imported when called

    graph = (read_graphrag if layout == "graphrag" else read_lightrag)(path, day)
    job = IndexImport(path, recorded_at=now, day=day, master=Master.load() if resolve else None)
    with closing(open_store(kb, create=True)) as store:
        done = job.run(graph, store)
    click.echo(f"文档 {done.documents}（已有 {done.known}）  事实 {done.facts}")
    for reason, count in sorted(done.left_out.items()):
        click.echo(f"  略过 {count} 条联系：{_LEFT_OUT[reason]}", err=True)


@click.command()
@click.argument("layout", metavar="FORMAT", type=click.Choice(sorted(EXPORTS)))
@click.argument("out", type=click.Path(path_type=Path))
@view_options
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="只导出把握不低于此值的事实；默认全部")
def export(layout: str, out: Path, kb: Path, as_of: date | None, min_confidence: float) -> None:
    """导出给别的工具：GraphRAG、LightRAG、Neo4j、GraphML、GEXF、RDF、CSV、Parquet；内容相同则字节相同。"""
    from kg.interop.exports.formats import export as write  # noqa: PLC0415 -- imported when called

    if is_database(out):
        raise FileUnwritable(out, "a knowledge base or another database stands there, or owns that name")
    with opened(kb, as_of) as view:
        write(view, layout, out, min_confidence=min_confidence)
        if layout == "graphrag" and view.run() is None:
            click.echo("没有主题，global 与 drift 检索将没有内容：请先运行 `liantu weekly`", err=True)


@click.command()
@click.argument("source")
@click.argument("target")
def copy(source: str, target: str) -> None:
    """把知识库 SOURCE 复制到 TARGET（路径或 neo4j:// 地址）；中断后再运行即可续传，完成后核对数目与内容。"""
    with closing(open_store(source)) as one, closing(open_store(target, create=True)) as other:
        done = copied(one, other, progress=_progress)
        stamp = verify(one, other)
    click.echo(f"文档 {done.written}（已有 {done.known}）  内容一致 {stamp}")


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    yield sys.stdout
    sys.stdout.flush()  # a disk that is full must be told here, not after the end


def _layout(path: Path) -> str:
    """Tell a dump from rows by its first line, and other files by their suffix."""
    found = _SUFFIXES.get(path.suffix.lower())
    if path.is_dir() or found is None:
        raise click.UsageError(f"{path}: say which layout it is with --format")
    first = next(numbered_lines(path), (0, ""))[1]
    return "dump" if found == "jsonl" and first.startswith('{"type":"base"') else found


def _tell(refused: RefusedRow) -> None:
    click.echo(f"✗ {refused.where}: {refused.why}", err=True)


def _progress(count: int) -> None:
    if count % _EVERY == 0:
        click.echo(f"  {count}", err=True)
