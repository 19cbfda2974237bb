"""`liantu llm`: extraction with a language model, over the network or by batch files."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import say, shown_lang, warn
from kg.commands.options import Day, Words, kb_option
from kg.commands.progress import progress_display
from kg.errors import SettingsError
from kg.llm.port import ModelError
from kg.messages.words import listed, translated, word
from kg.settings import load, market_day

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
            "--document",
            "documents",
            multiple=True,
            type=Words(),
            help="only this document (id, or path as ingested; repeatable)",
        ),
        click.option("--since", type=Day(), help="only documents published on or after this day"),
        click.option(
            "--min-gain",
            type=click.FloatRange(0),
            default=2.0,
            show_default=True,
            help="leave out passages with fewer expected new edges",
        ),
    ):
        command = option(command)
    return command


@click.group()
def llm() -> None:
    """Read more relations with a language model, each checked against the text; replies are kept and paid for once."""


@llm.command()
@kb_option
@click.option("--dry-run", is_flag=True, help="print requests, tokens and costs; ask no model")
@click.option("--max-tokens", type=click.IntRange(1), help="stop after this many tokens; run again to resume")
@click.option(
    "--max-cost", type=click.FloatRange(0, min_open=True), help="stop after this much money (prices: llm_prices)"
)
@click.option("--retry-failed", is_flag=True, help="ask again for passages that failed")
@click.option(
    "--parallel",
    type=click.IntRange(1, 256),
    default=lambda: load().llm_parallel,
    help="requests sent at the same time",
)
@_selection
@click.pass_context
def run(ctx: click.Context, /, kb: Path, **chosen: Any) -> None:
    """Ask the model (llm_url, llm_model), check its replies and store the facts; run again to resume."""
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
        with progress_display() as progress:
            at: str = ctx.find_root().obj.isoformat()
            asked = _counted(progress, "ask", len(choice.requests))
            sent = send(endpoint, choice.requests, log, at=at, limits=limits, progress=asked)
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
@click.option(
    "--model",
    default=lambda: load().llm_model,
    type=Words(),
    help="name of the model that will answer; default: llm_model",
)
@click.option("--retry-failed", is_flag=True, help="include passages that failed")
@_selection
@click.pass_context
def export_batch(ctx: click.Context, /, file: Path, kb: Path, model: str, **chosen: Any) -> None:
    """Write passages for the model to FILE, in OpenAI's batch format, without those that have replies."""
    from extraction.llm.job import choose, export_batch  # noqa: PLC0415 -- imported when called

    if not model:
        raise SettingsError("llm_model", "is not set; name the model with --model")
    with _opened(kb) as (store, log):
        plans = _plans(store, kb, chosen)
        retry = chosen["retry_failed"]
        choice = choose(plans, log, model=model, min_gain=chosen["min_gain"], retry_failed=retry)
        export_batch(file, choice, log, model=model, at=ctx.find_root().obj)
    _print_choice(choice, _limits(model, {}), batch=True)
    say("llm.exported", count=len(choice.requests), file=file)


@llm.command("import-batch")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@kb_option
@click.pass_context
def import_batch(ctx: click.Context, /, file: Path, kb: Path) -> None:
    """Keep the replies in FILE, check them and store the facts; from any source, known replies are skipped."""
    from extraction.llm.job import import_batch  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        outcome = import_batch(file, store, log, options=_reading_options(kb), at=ctx.find_root().obj)
    for fault in outcome.faults:
        warn("cli.refused", error=translated(str(fault), shown_lang()))
    say("llm.imported", replies=outcome.replies, known=outcome.known, faults=len(outcome.faults))
    _print_applied(outcome.applied)
    if outcome.faults:
        sys.exit(EXIT_REFUSED)


@llm.command()
@kb_option
def status(kb: Path) -> None:
    """Show replies and usage by model, unanswered requests with the causes of failures, and refused facts."""
    from extraction.llm.job import status  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        found = status(store, log)
    for model, counts in found.models.items():
        tokens = {"prompt": f"{counts[1]:,}", "reply": f"{counts[2]:,}"}
        say("llm.usage", model=model, replies=counts[0], **tokens)
    say("llm.status", facts=found.facts, exported=found.exported, failed=found.failed.total())
    for cause, count in found.failed.most_common():
        say("llm.cause", count=count, cause=translated(cause, shown_lang()))
    _print_refused(found.refused)


@llm.command()
@kb_option
def forget(kb: Path) -> None:
    """Remove what models read: read these documents again without; replies stay, `liantu llm apply` restores."""
    _apply(kb, with_replies=False)


@llm.command()
@kb_option
def apply(kb: Path) -> None:
    """Read documents again with the replies on disk, asking no model: after a new list of names, or after forget."""
    _apply(kb, with_replies=True)


def _apply(kb: Path, *, with_replies: bool) -> None:
    from extraction.llm.job import apply  # noqa: PLC0415 -- imported when called
    from kg.llm.replay import ReplyLog  # noqa: PLC0415 -- imported when called

    with _opened(kb) as (store, log):
        applied = apply(store, log if with_replies else ReplyLog.empty(), options=_reading_options(kb), again=True)
    _print_applied(applied)


@click.command()
@kb_option
@click.option("--model", type=Words(), help="model that judges; default: llm_model")
@click.option("--count", type=click.IntRange(1, 5000), default=60, show_default=True, help="number of facts to judge")
@click.option("--reader", default="", help="only facts of this reader, such as llm/ or edges@")
@click.option("--relation", default="", help="only this relation")
@click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="only facts with at least this confidence in the base",
)
@click.option("--seed", type=int, default=7, show_default=True, help="seed of the sample")
@click.option(
    "--list", "listing", is_flag=True, help="list the judgements and the precision of each reader; ask no model"
)
@click.pass_context
def verify(ctx: click.Context, /, kb: Path, *, model: str | None, listing: bool, **chosen: Any) -> None:
    """Let a model judge facts against their text as right, loose or wrong; `liantu entity revoke` undoes one."""
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
        with progress_display() as progress:
            limits, judged = SpendingLimits(load().llm_parallel), _counted(progress, "judge", len(fresh))
            sent = send(endpoint, fresh, log, at=now.isoformat(), limits=limits, progress=judged)
        _print_sent(sent, _limits(endpoint.model, {}))
        when = market_day(now), now
        counts, missing = verification.record(store, log, asked, model=endpoint.model, author=author, at=when)
        say("llm.judged", count=counts.total(), missing=missing)
        _print_verdicts(store)
    if sent.refused:
        raise ModelError(endpoint.url, sent.refused.partition(": ")[2] or sent.refused)
    if sent.failed:
        sys.exit(EXIT_REFUSED)


def _counted(progress: Callable[[str, int, int], None], stage: str, total: int) -> Callable[[int], None]:
    return lambda done: progress(stage, done, total)


def _print_verdicts(store: Store) -> None:
    from extraction.llm.verification import bin_text, records  # noqa: PLC0415 -- imported when called
    from kg.judgement import OF_FACTS  # noqa: PLC0415 -- imported when called

    for reader, record in records(store.view()).items():
        say("llm.precision", reader=reader, count=record.counts.total(), precision=f"{record.precision:.2f}")
        for at, counts in sorted(record.bins.items()):
            verdicts = ", ".join(f"{verdict.value} {counts[verdict]}" for verdict in OF_FACTS)
            say("llm.bin", bin=bin_text(at), verdicts=verdicts)


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
    say("llm.expected", count=len(choice.requests), prompt=f"{prompt:,.0f}", reply=f"{reply:,.0f}")
    if limits.price:
        say("llm.cost", money=limits.price.text(limits.price.of(prompt, reply) * factor))
    left_out = {name: getattr(choice, name) for name in ("answered", "low_gain", "exported", "failed")}
    say("llm.left_out", **left_out)


def _print_sent(sent: Sent, limits: SpendingLimits) -> None:
    tokens = {"prompt": f"{sent.prompt_tokens:,}", "reply": f"{sent.reply_tokens:,}"}
    say("llm.sent", count=sent.calls + sent.failed, failed=sent.failed, **tokens)
    if limits.price:
        say("llm.cost", money=limits.price.text(limits.price.of(sent.prompt_tokens, sent.reply_tokens)))
    if sent.split:
        say("llm.split", count=sent.split)
    if sent.left and not sent.refused:
        say("llm.limit", count=sent.left)
    for cause in sorted(set(sent.causes)):
        warn("llm.failed", count=sent.causes.count(cause), cause=translated(cause, shown_lang()))


def _print_applied(applied: Applied) -> None:
    say("llm.applied", documents=applied.documents, unchanged=applied.unchanged, facts=applied.facts)
    _print_refused(applied.refused)


def _print_refused(refused: Counter[str]) -> None:
    if refused:
        lang = shown_lang()
        reasons = (f"{word(f'llm.refused.{reason}', lang)} {count}" for reason, count in refused.most_common())
        say("llm.refused", count=refused.total(), reasons=listed(reasons, lang))


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
