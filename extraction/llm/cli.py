"""`liantu llm`: extraction with a language model, over the network or by batch files."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.commands.options import Day, Words, kb_option
from kg.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from extraction.llm.job import Applied, ReadingOptions
    from extraction.llm.planning import PackPlan
    from kg.llm.replay import ReplyLog
    from kg.store.port import Store

EXIT_REFUSED = 3


def _selection(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that choose what a model reads."""
    for option in (
        click.option("--document", "documents", multiple=True, type=Words(), help="只读这篇（编号或读入时的路径，可重复）"),
        click.option("--since", type=Day(), help="只读这一天（含）以后发表的"),
        click.option(
            "--min-gain", type=click.FloatRange(0), default=1.0, show_default=True, help="预计新增的边少于此数的段落不送"
        ),
    ):
        command = option(command)
    return command


@click.group()
def llm() -> None:
    """用语言模型读出更多关系：逐条核对原文，回复存盘，不重复付费。"""


@llm.command("export-batch")
@click.argument("file", type=click.Path(path_type=Path))
@kb_option
@click.option("--model", required=True, type=Words(), help="将要回答的模型的名称")
@_selection
@click.pass_context
def export_batch(ctx: click.Context, /, file: Path, kb: Path, model: str, **chosen: Any) -> None:
    """把要问模型的段落写成批处理文件 FILE（OpenAI 批处理格式），已有回复的不写。"""
    from extraction.llm.job import PackFinder, export_batch, plan  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        plans = _chosen(store, plan(store, PackFinder(_reading_options(kb)), _documents(store, chosen)), chosen)
        count = export_batch(file, plans, log, model=model, at=ctx.find_root().obj)
    prompt = sum(each.pack.request.tokens for each in plans)
    click.echo(f"{count} 个请求，约 {prompt:,} token 提问 → {file}")


@llm.command("import-batch")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@kb_option
@click.pass_context
def import_batch(ctx: click.Context, /, file: Path, kb: Path) -> None:
    """把回复文件 FILE 存盘、核对并写入知识库；来历不限，已有的不重复。"""
    from extraction.llm.job import import_batch  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        outcome = import_batch(file, store, log, options=_reading_options(kb), at=ctx.find_root().obj)
    for fault in outcome.faults:
        click.echo(f"refused: {fault}", err=True)
    click.echo(f"{outcome.replies} 份新回复，{outcome.known} 份已有，{len(outcome.faults)} 行不可用")
    _print_applied(outcome.applied)
    if outcome.faults:
        sys.exit(EXIT_REFUSED)


def _print_applied(applied: Applied) -> None:
    click.echo(
        f"{applied.documents} 篇重读并写入，{applied.unchanged} 篇没有变化；其中 {applied.facts} 条事实由模型读出"
    )
    if applied.refused:
        reasons = "、".join(f"{_REASONS.get(reason, reason)} {count}" for reason, count in applied.refused.most_common())
        click.echo(f"未通过核对 {applied.refused.total()} 条：{reasons}")


_REASONS = {
    "quote": "行号或引文不在原文",
    "argument": "名称不在所引之处",
    "name": "不是名称",
    "kind": "类别不合",
    "number": "数字不在原文",
    "modality": "确定性与原文不合",
    "relation": "关系不在词表",
    "format": "格式不对",
    "self": "两端相同",
    "cut": "回复不完整",
    "too-many": "条数过多",
}


def _documents(store: Store, chosen: dict[str, Any]) -> list[str] | None:
    """Return the ids of the chosen documents, or None for all."""
    from kg.errors import UnknownDocument  # noqa: PLC0415 -- imported when called

    since: date | None = chosen["since"]
    if not chosen["documents"] and since is None:
        return None
    heads = {head.id: head for head in store.view().documents()}
    found: list[str] = []
    for text in chosen["documents"]:
        ids = [text] if text in heads else list(store.documents_at(text))
        if not ids:
            raise UnknownDocument(text)
        found += ids
    return [each for each in found or heads if since is None or heads[each].published_on >= since]


def _chosen(_store: Store, plans: Sequence[PackPlan], chosen: dict[str, Any]) -> list[PackPlan]:
    return [each for each in plans if each.gain >= chosen["min_gain"]]


def _reading_options(kb: Path) -> ReadingOptions:
    from extraction.llm.job import ReadingOptions  # noqa: PLC0415 -- imported when called
    from kg.securities.lists.imported import master_for  # noqa: PLC0415 -- imported when called

    settings = load()
    return ReadingOptions(
        settings.ner,
        master_for(kb, settings.master),
        settings.names,
        settings.edge_model,
        settings.min_confidence,
        settings.workers,
    )


@contextmanager
def _opened(kb: Path) -> Iterator[tuple[Store, ReplyLog]]:
    from kg.llm.replay import ReplyLog, replies_beside  # noqa: PLC0415 -- imported when called
    from kg.store.open import open_store  # noqa: PLC0415 -- imported when called

    store = open_store(kb)
    try:
        yield store, ReplyLog(replies_beside(kb))
    finally:
        store.close()
