"""`liantu weekly`: detect and publish the themes of a week, preview a run, or roll one back."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kg.commands.options import Day, kb_option
from kg.settings import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, datetime

    from communities.weekly import JobOptions, Week
    from kg.llm.replay import Replay
    from kg.store.port import Store

_STAGES = {
    "project": "投影",
    "detect": "发现社区",
    "write": "模型撰写",
    "summarise": "整理摘要",
    "publish": "发布",
}


@click.group(invoke_without_command=True)
@kb_option
@click.option("--as-of", type=Day(), help="只看这一天（含）以前发表的内容；默认为库中最新一天")
@click.option("--dry-run", is_flag=True, help="只说会写多少摘要、用多少 token，不写也不问模型")
@click.option(
    "--slices", type=click.IntRange(1, 52), default=1, show_default=True, help="几周一起发现（需要 leidenalg）"
)
@click.option("--model/--no-model", "use_model", default=True, help="设了 llm_url 与 llm_model 时用模型写摘要")
@click.option(
    "--tokens", type=click.IntRange(200), default=3000, show_default=True, help="每份摘要最多给模型多少 token 的事实"
)
@click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True, help="同时问模型几个问题")
@click.pass_context
def weekly(ctx: click.Context, /, kb: Path, as_of: date | None, **params: int) -> None:
    """每周任务：发现主题、跟踪变化、写摘要，一次发布；重复运行不改变结果。"""
    ctx.obj = kb
    if ctx.invoked_subcommand:
        return
    now = ctx.find_root().obj
    today = now.astimezone().date()
    if as_of and as_of > today:  # a run dated in the future would hide every run until then
        raise click.BadParameter(f"{as_of} is after today, {today}", ctx, param_hint="--as-of")
    from communities.detection import DetectionOptions  # noqa: PLC0415 -- imported when called
    from communities.weekly import JobOptions  # noqa: PLC0415 -- imported when called

    options = JobOptions(DetectionOptions(), params["slices"], params["tokens"], params["parallel"])
    with _open_base(kb) as store, _open_model(kb, use=bool(params["use_model"])) as model:
        if params["dry_run"]:
            _plan(store, as_of, options, model.name if model else "")
        else:
            _run(store, as_of, options, model, now=now)


@weekly.command()
@click.option("--as-of", type=Day(), help="撤回这一天（含）以前最新的一次；默认为最新")
@click.option("--kb", "here", type=click.Path(path_type=Path), help="知识库文件；也可写在 rollback 之前")
@click.pass_obj
def rollback(kb: Path, as_of: date | None, here: Path | None) -> None:
    """撤回最近一次发布的主题，之前的一次重新可见。"""
    from communities.weekly import withdraw  # noqa: PLC0415 -- imported when called

    with _open_base(here or kb) as store:
        withdrawn, visible = withdraw(store, as_of)
    click.echo(f"已撤回 {withdrawn.as_of} 的主题；现在看到的是{f' {visible.as_of} 的' if visible else '：没有主题'}")


def _plan(store: Store, as_of: date | None, options: JobOptions, model: str) -> None:
    from communities.weekly import plan_week  # noqa: PLC0415 -- imported when called

    plan = plan_week(store, as_of, options=options, model=model)
    label = f"用 {model}" if model else "若用模型"
    click.echo(
        f"{plan.as_of}：{plan.summaries} 份摘要，需新写 {plan.written} 份；"
        f"{label}约 {plan.prompt_tokens:,} token 提问、至多 {plan.reply_tokens:,} token 回答"
    )


def _run(store: Store, as_of: date | None, options: JobOptions, model: Replay | None, *, now: datetime) -> None:
    from communities.weekly import run_week  # noqa: PLC0415 -- imported when called

    began = time.perf_counter()
    with _progress_display() as progress:
        week = run_week(store, as_of, options=options, model=model, progress=progress, recorded_at=now)
    _print_result(week, model, time.perf_counter() - began)


def _print_result(week: Week, model: Replay | None, elapsed: float) -> None:
    run, quality = week.run, week.run.quality
    for refused in week.refused:
        click.echo(f"摘要未通过检查，改用无模型的：{refused.title}：{refused.cause}", err=True)
    top = sum(community.level == 0 for community in run.communities)
    model_calls = f"，问模型 {model.calls} 次、拒收 {len(week.refused)} 份" if model else ""
    click.echo(
        f"{run.as_of}：{top} 个主题（共 {len(run.communities)} 个社区），"
        f"摘要新写 {week.written}、沿用 {week.carried}{model_calls}；"
        f"模块度 {quality['modularity']:.3f}，稳定度 {quality['stability']:.2f}，用时 {elapsed:.1f} 秒"
    )


@contextmanager
def _open_base(kb: Path) -> Iterator[Store]:
    from kg.store.open import open_store  # noqa: PLC0415 -- imported when called

    store = open_store(kb)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _open_model(kb: Path, *, use: bool) -> Iterator[Replay | None]:
    """Open the configured model; replies are cached next to the base, so that no prompt is sent twice."""
    settings = load()
    if not use or not (settings.llm_url and settings.llm_model):
        yield None
        return
    from kg.llm.client import Endpoint, OpenAiModel  # noqa: PLC0415 -- only with a model
    from kg.llm.replay import Replay, replies_beside  # noqa: PLC0415 -- only with a model

    model = OpenAiModel(Endpoint(settings.llm_url, settings.llm_model, settings.llm_key, settings.llm_timeout))
    try:
        yield Replay(replies_beside(kb), model)
    finally:
        model.close()


@contextmanager
def _progress_display() -> Iterator[Callable[[str, int, int], None]]:
    """Show progress bars on a terminal, or one timestamped line per stage in a log."""
    console = Console(stderr=True)
    began = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        tasks = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(_STAGES[stage], total=total)
                if not console.is_terminal:
                    click.echo(f"{time.perf_counter() - began:7.1f} 秒  {_STAGES[stage]}", err=True)
            bars.update(tasks[stage], completed=done, total=total)

        yield progress
