"""`liantu llm`: extraction with a language model, over the network or by batch files."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kg.commands.options import Day, Words, kb_option
from kg.errors import SettingsError
from kg.llm.port import ModelError
from kg.settings import load

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator
    from datetime import date

    from extraction.llm.job import Applied, Choice, ReadingOptions
    from extraction.llm.planning import PackPlan
    from kg.llm.client import Endpoint
    from kg.llm.dispatch import Sent, SpendingLimits
    from kg.llm.replay import ReplyLog
    from kg.store.port import Store

EXIT_REFUSED = 3


def _selection(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that choose what a model reads."""
    for option in (
        click.option(
            "--document", "documents", multiple=True, type=Words(), help="只读这篇（编号或读入时的路径，可重复）"
        ),
        click.option("--since", type=Day(), help="只读这一天（含）以后发表的"),
        click.option(
            "--min-gain",
            type=click.FloatRange(0),
            default=2.0,
            show_default=True,
            help="预计新增的边少于此数的段落不送",
        ),
    ):
        command = option(command)
    return command


@click.group()
def llm() -> None:
    """用语言模型读出更多关系：逐条核对原文，回复存盘，不重复付费。"""


@llm.command()
@kb_option
@click.option("--dry-run", is_flag=True, help="只说会问几次、用多少 token、花多少钱，不问模型")
@click.option("--max-tokens", type=click.IntRange(1), help="用满这么多 token 就停，再次运行时接着问")
@click.option("--max-cost", type=click.FloatRange(0, min_open=True), help="花满这么多就停（价目见 llm_prices）")
@click.option("--retry-failed", is_flag=True, help="失败过的段落再问一次")
@click.option("--parallel", type=click.IntRange(1, 256), default=lambda: load().llm_parallel, help="同时问几个问题")
@_selection
@click.pass_context
def run(ctx: click.Context, /, kb: Path, **chosen: Any) -> None:
    """向模型提问（llm_url、llm_model），核对回复并写入知识库；中断后再次运行不重复已答的问题。"""
    from extraction.llm.job import apply, choose  # noqa: PLC0415 -- imported when called
    from kg.llm.dispatch import send  # noqa: PLC0415 -- imported when called

    endpoint = endpoint_of_settings()
    limits = _limits(endpoint.model, chosen)
    with _opened(kb) as (store, log):
        plans = _plans(store, kb, chosen)
        retry = chosen["retry_failed"]
        choice = choose(plans, log, model=endpoint.model, min_gain=chosen["min_gain"], retry_failed=retry)
        _print_choice(choice, limits)
        if chosen["dry_run"]:
            return
        with _progress("问模型", len(choice.requests)) as progress:
            at: str = ctx.find_root().obj.isoformat()
            sent = send(endpoint, choice.requests, log, at=at, limits=limits, progress=progress)
        _print_sent(sent, limits)
        applied = apply(store, log, options=_reading_options(kb))
    _print_applied(applied)
    if sent.refused:
        raise ModelError(endpoint.url, sent.refused.partition(": ")[2] or sent.refused)
    if sent.failed:
        sys.exit(EXIT_REFUSED)


@llm.command("export-batch")
@click.argument("file", type=click.Path(path_type=Path))
@kb_option
@click.option("--model", default=lambda: load().llm_model, type=Words(), help="将要回答的模型的名称，默认 llm_model")
@click.option("--retry-failed", is_flag=True, help="失败过的段落也写入")
@_selection
@click.pass_context
def export_batch(ctx: click.Context, /, file: Path, kb: Path, model: str, **chosen: Any) -> None:
    """把要问模型的段落写成批处理文件 FILE（OpenAI 批处理格式），已有回复的不写。"""
    from extraction.llm.job import choose, export_batch  # noqa: PLC0415 -- imported when called

    if not model:
        raise SettingsError("llm_model", "is not set; name the model with --model")
    with _opened(kb) as (store, log):
        plans = _plans(store, kb, chosen)
        retry = chosen["retry_failed"]
        choice = choose(plans, log, model=model, min_gain=chosen["min_gain"], retry_failed=retry)
        export_batch(file, choice, log, model=model, at=ctx.find_root().obj)
    _print_choice(choice, _limits(model, {}), batch=True)
    click.echo(f"{len(choice.requests)} 个请求 → {file}")


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


@llm.command()
@kb_option
def status(kb: Path) -> None:
    """列出各模型的回复数与用量、还没有回复的请求及失败的原因、未通过核对的条数。"""
    from extraction.llm.job import status  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        found = status(store, log)
    for model, counts in found.models.items():
        click.echo(f"{model}：{counts[0]} 份回复，{counts[1]:,} token 提问，{counts[2]:,} token 回答")
    click.echo(f"{found.facts} 条事实由模型读出；{found.exported} 个请求已导出而未答，{found.failed.total()} 个失败")
    for cause, count in found.failed.most_common():
        click.echo(f"  {count} 个：{cause}")
    _print_refused(found.refused)


@llm.command()
@kb_option
def forget(kb: Path) -> None:
    """去掉模型读出的一切：只用本地抽取重读这些文档；存盘的回复不删，`liantu llm apply` 可还原。"""
    _apply(kb, with_replies=False)


@llm.command()
@kb_option
def apply(kb: Path) -> None:
    """用存盘的回复重读文档，不问模型：换了证券主表或词表之后，或在 forget 之后。"""
    _apply(kb, with_replies=True)


def _apply(kb: Path, *, with_replies: bool) -> None:
    from extraction.llm.job import apply  # noqa: PLC0415 -- imported when called
    from kg.llm.replay import ReplyLog  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        applied = apply(store, log if with_replies else ReplyLog.empty(), options=_reading_options(kb), again=True)
    _print_applied(applied)


@click.command()
@kb_option
@click.option("--model", type=Words(), help="作判断的模型，默认 llm_model")
@click.option("--count", type=click.IntRange(1, 5000), default=60, show_default=True, help="抽查多少条")
@click.option("--reader", default="", help="只查这个读取器读出的，如 llm/ 或 edges@")
@click.option("--relation", default="", help="只查这种关系")
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="只查把握不低于此值的")
@click.option("--seed", type=int, default=7, show_default=True, help="抽样的种子")
@click.option("--list", "listing", is_flag=True, help="只列出已有的判断与各读取器的正确率，不问模型")
@click.pass_context
def verify(ctx: click.Context, /, kb: Path, *, model: str | None, listing: bool, **chosen: Any) -> None:
    """让模型对照原文判断库中的事实：right、loose 或 wrong；判断留作记录，可用 `liantu entity revoke` 撤销。"""
    from extraction.llm import verification  # noqa: PLC0415 -- imported when called
    from kg.llm.dispatch import SpendingLimits, send  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        if listing:
            _print_verdicts(store)
            return
        endpoint = endpoint_of_settings()
        endpoint = replace(endpoint, model=model or endpoint.model)
        author = f"llm/{endpoint.model}@{verification.VERSION}"
        asked = verification.batches(store.view(), verification.Selection(**chosen), author=author)
        requests = [verification.pending(batch, endpoint.model) for batch in asked]
        fresh = [item for item in requests if item.key not in log.replies]
        now = ctx.find_root().obj
        with _progress("核对", len(fresh)) as progress:
            limits = SpendingLimits(load().llm_parallel)
            sent = send(endpoint, fresh, log, at=now.isoformat(), limits=limits, progress=progress)
        _print_sent(sent, _limits(endpoint.model, {}))
        when = now.astimezone().date(), now
        counts, missing = verification.record(store, log, asked, model=endpoint.model, author=author, at=when)
        click.echo(f"{counts.total()} 条有了判断，{missing} 条没有可用的回答")
        _print_verdicts(store)
    if sent.refused:
        raise ModelError(endpoint.url, sent.refused.partition(": ")[2] or sent.refused)
    if sent.failed:
        sys.exit(EXIT_REFUSED)


def _print_verdicts(store: Store) -> None:
    from extraction.llm.verification import bin_text, records  # noqa: PLC0415 -- imported when called
    from kg.judgement import OF_FACTS  # noqa: PLC0415 -- imported when called

    for reader, record in records(store.view()).items():
        click.echo(f"{reader}：{record.counts.total()} 条，正确率估计 {record.precision:.2f}")
        for at, counts in sorted(record.bins.items()):
            words = "，".join(f"{verdict.value} {counts[verdict]}" for verdict in OF_FACTS)
            click.echo(f"  把握 {bin_text(at)}：{words}")


def endpoint_of_settings() -> Endpoint:
    """Return the endpoint that the settings name.

    Raises:
        SettingsError: when none is set.
    """
    from kg.llm.client import Endpoint  # noqa: PLC0415 -- imported when called

    settings = load()
    for name in ("llm_url", "llm_model"):
        if not getattr(settings, name):
            raise SettingsError(name, "is not set; docs/llm.md shows how to name an endpoint")
    return Endpoint(
        settings.llm_url,
        settings.llm_model,
        settings.llm_key,
        settings.llm_timeout,
        settings.llm_mode,
        settings.llm_stream,
    )


def _limits(model: str, chosen: dict[str, Any]) -> SpendingLimits:
    from kg.llm.dispatch import SpendingLimits, read_prices  # noqa: PLC0415 -- imported when called

    path = load().llm_prices
    price = read_prices(path).get(model) if path else None
    if chosen.get("max_cost") is not None and price is None:
        raise SettingsError("llm_prices", f"has no price of {model}, which --max-cost needs")
    return SpendingLimits(chosen.get("parallel", 1), chosen.get("max_tokens"), chosen.get("max_cost"), price)


def _print_choice(choice: Choice, limits: SpendingLimits, *, batch: bool = False) -> None:
    prompt, reply = choice.tokens
    factor = limits.price.batch if limits.price and batch else 1.0
    money = f"，约 {limits.price.text(limits.price.of(prompt, reply) * factor)}" if limits.price else ""
    click.echo(
        f"预计提问 {len(choice.requests)} 次，约 {prompt:,.0f} token 提问、{reply:,.0f} token 回答{money}；"
        f"不送：已有回复 {choice.answered}，增益太小 {choice.low_gain}，"
        f"已导出 {choice.exported}，曾失败 {choice.failed}"
    )


def _print_sent(sent: Sent, limits: SpendingLimits) -> None:
    money = f"，{limits.price.text(limits.price.of(sent.prompt_tokens, sent.reply_tokens))}" if limits.price else ""
    split = f"，拆分 {sent.split} 次" if sent.split else ""
    left = f"；到限，还有 {sent.left} 个未问" if sent.left and not sent.refused else ""
    click.echo(
        f"实际提问 {sent.calls + sent.failed} 次，{sent.prompt_tokens:,} token 提问、"
        f"{sent.reply_tokens:,} token 回答{money}{split}，失败 {sent.failed} 次{left}"
    )
    for cause in sorted(set(sent.causes)):
        click.echo(f"failed: {sent.causes.count(cause)} × {cause}", err=True)


def _print_applied(applied: Applied) -> None:
    click.echo(
        f"{applied.documents} 篇重读并写入，{applied.unchanged} 篇没有变化；其中 {applied.facts} 条事实由模型读出"
    )
    _print_refused(applied.refused)


def _print_refused(refused: Counter[str]) -> None:
    if refused:
        reasons = "、".join(f"{_REASONS.get(reason, reason)} {count}" for reason, count in refused.most_common())
        click.echo(f"未通过核对 {refused.total()} 条：{reasons}")


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


def _plans(store: Store, kb: Path, chosen: dict[str, Any]) -> list[PackPlan]:
    from extraction.llm.job import PackFinder, plan  # noqa: PLC0415 -- imported when called

    return plan(store, PackFinder(_reading_options(kb)), _documents(store, chosen))


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


@contextmanager
def _progress(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task(label, total=total)
        yield lambda done: bars.update(task, completed=done)
