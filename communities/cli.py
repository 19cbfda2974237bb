"""`liantu weekly`: detect and publish the themes of a week, preview a run, or roll one back."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kg.commands.language import say, shown_lang, warn
from kg.commands.options import Day, kb_option
from kg.commands.progress import progress_display
from kg.messages.words import translated, word
from kg.settings import load, market_day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date, datetime

    from communities.weekly import JobOptions, Week
    from kg.llm.replay import Replay
    from kg.store.port import Store


@click.group(invoke_without_command=True)
@kb_option
@click.option(
    "--as-of", type=Day(), help="only what was published on or before this day; default: the latest in the base"
)
@click.option(
    "--dry-run", is_flag=True, help="print how many summaries and tokens it takes; write nothing and ask no model"
)
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), help="write the week as page, Markdown and JSON here"
)
@click.option("--backfill", is_flag=True, help="first make the runs of all past weeks, in order")
@click.option(
    "--model/--no-model", "use_model", default=True, help="write summaries by model when llm_url and llm_model are set"
)
@click.option(
    "--tokens",
    type=click.IntRange(200),
    default=3000,
    show_default=True,
    help="most tokens of facts given to the model per summary",
)
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="questions sent to the model at the same time",
)
@click.pass_context
def weekly(ctx: click.Context, /, kb: Path, as_of: date | None, report: Path | None, **params: int) -> None:
    """Detect themes, follow their changes, write summaries, publish all at once; repeating changes nothing."""
    ctx.obj = kb
    if ctx.invoked_subcommand:
        return
    now = ctx.find_root().obj
    today = market_day(now)
    if as_of and as_of > today:  # a run dated in the future would hide every run until then
        raise click.BadParameter(f"{as_of} is after today, {today}", ctx, param_hint="--as-of")
    from communities.weekly import JobOptions, past_weeks, run_weeks  # noqa: PLC0415 -- imported when called

    options = JobOptions(params["tokens"], params["parallel"])
    with _open_base(kb) as store, _open_model(kb, use=bool(params["use_model"])) as model:
        if params["dry_run"]:
            _plan(store, as_of, options, model.name if model else "")
        else:
            days = past_weeks(store, as_of)
            wanted = days if params["backfill"] else days[-1:]
            run_weeks(store, wanted or [as_of or today], lambda day: _run(store, day, options, model, now=now))
            if report:
                _report(store, as_of, report)


@weekly.command()
@click.option("--as-of", type=Day(), help="withdraw the latest run on or before this day; default: the latest")
@click.option("--kb", "here", type=click.Path(path_type=Path), help="knowledge base; may also precede rollback")
@click.pass_obj
def rollback(kb: Path, as_of: date | None, here: Path | None) -> None:
    """Withdraw the latest themes; the previous run is visible again."""
    from communities.weekly import withdraw  # noqa: PLC0415 -- imported when called

    with _open_base(here or kb) as store:
        withdrawn, visible = withdraw(store, as_of)
    say("weekly.withdrawn", day=withdrawn.as_of)
    say("weekly.visible" if visible else "weekly.none_visible", day=visible.as_of if visible else "")


def _plan(store: Store, as_of: date | None, options: JobOptions, model: str) -> None:
    from communities.weekly import plan_week  # noqa: PLC0415 -- imported when called

    plan = plan_week(store, as_of, options=options, model=model)
    say("weekly.plan", day=plan.as_of, summaries=plan.summaries, written=plan.written)
    tokens = {"prompt": f"{plan.prompt_tokens:,}", "reply": f"{plan.reply_tokens:,}"}
    say("weekly.tokens", model=model or word("weekly.a_model", shown_lang()), **tokens)


def _run(store: Store, as_of: date | None, options: JobOptions, model: Replay | None, *, now: datetime) -> Week:
    from communities.weekly import run_week  # noqa: PLC0415 -- imported when called

    began = time.perf_counter()
    with progress_display() as progress:
        week = run_week(store, as_of, options=options, model=model, progress=progress, recorded_at=now)
    _print_result(week, model, time.perf_counter() - began)
    return week


def _report(store: Store, as_of: date | None, folder: Path) -> None:
    from communities.report import markdown, page, weekly_report  # noqa: PLC0415 -- imported when called
    from kg.query.plain import plain  # noqa: PLC0415 -- imported when called
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called

    made = weekly_report(QuerySession(store.view(as_of=as_of)))
    folder.mkdir(parents=True, exist_ok=True)
    written = {"html": page(made), "md": markdown(made), "json": json.dumps(plain(made), ensure_ascii=False, indent=2)}
    for ending, text in written.items():
        path = folder / f"weekly-{made.as_of}.{ending}"
        path.write_text(f"{text.rstrip()}\n", encoding="utf-8")
        say("weekly.report", path=path)


def _print_result(week: Week, model: Replay | None, elapsed: float) -> None:
    run, quality = week.run, week.run.quality
    for refused in week.refused:
        warn("weekly.refused", title=refused.title, cause=translated(refused.cause, shown_lang()))
    top = sum(community.level == 0 for community in run.communities)
    say("weekly.themes", day=run.as_of, themes=top, communities=len(run.communities))
    say("weekly.summaries", written=week.written, carried=week.carried)
    if model:
        say("weekly.calls", calls=model.calls, refused=len(week.refused))
    measured = {name: f"{quality[name]:.3f}" for name in ("modularity", "stability")}
    say("weekly.quality", **measured, seconds=f"{elapsed:.1f}")


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
