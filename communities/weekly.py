"""The weekly job: project, detect, track, summarise, and publish all themes atomically."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from communities import llm_summaries
from communities.candidates import draft
from communities.grouping import DETECTION
from communities.summaries import TEMPLATE, changes, compose
from communities.tracking import stability, variation
from kg.errors import EmptyBase, QuestionError
from kg.ids import digest
from kg.model import Community, LifecycleEvent, Run
from kg.query.grounding.checking import KnownNames
from kg.query.session import QuerySession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from communities.candidates import Draft, Drafts
    from kg.llm.port import Model
    from kg.model import Summary
    from kg.store.port import Store

    Progress = Callable[[str, int, int], None]

_WEEK = timedelta(days=7)
_OBJECTS = 200_000  # new objects from which the collector runs; 700 by default


class NothingToWithdraw(QuestionError):
    """No published run to roll back."""

    def __init__(self, day: date | None) -> None:
        super().__init__("no published themes to withdraw as of {day}", day=str(day or "today"))


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Token budget of a summary written by a model, and parallel model requests."""

    tokens: int = 3000
    parallel: int = 4


@dataclass(frozen=True, slots=True)
class Week:
    """Result of a run: the run, the number of new and carried-over summaries, and the rejected replies."""

    run: Run
    written: int
    carried: int
    refused: tuple[llm_summaries.RefusedReply, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Preview of a run: number of summaries, how many of them are new, and their prompt and reply tokens."""

    as_of: date
    summaries: int
    written: int
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class _Job:
    """State of a running job; `known` holds the summaries of the previous run and of this day's run, by id."""

    session: QuerySession
    day: date
    before: Run | None
    known: Mapping[str, Summary]
    options: JobOptions
    model: Model | None
    progress: Progress


def run_week(
    store: Store,
    as_of: date | None,
    *,
    options: JobOptions | None = None,
    model: Model | None = None,
    progress: Progress = lambda _stage, _done, _total: None,
    recorded_at: datetime | None = None,
) -> Week:
    """Detect the themes as of a day and publish them.

    A run depends only on the data visible on its day and on the last run *before* that day: repeating it changes
    nothing, and a backfilled run has no look-ahead. The writer lock is held throughout, so that no document changes
    during the run.

    Args:
        store: the knowledge base.
        as_of: the day; None is the day of the newest document.
        options: budgets.
        model: writes the summaries that changed; None composes them by rule.
        progress: called with a stage (detect, write, summarise, publish), completed steps and total steps.
        recorded_at: timestamp of a new run; an identical existing run keeps its own.

    Raises:
        EmptyBase: when no document is visible on that day.
        StoreLocked: when another writer is active.
        ModelError: when the model fails; nothing is published, and a reply cache keeps the replies received.
    """
    with store.writer() as writer, _rare_collection():
        job = _job(store, as_of, options, model, progress)
        drafts = _draft_themes(job)
        communities, week = _summarise(job, drafts)
        run = _run(job, drafts, communities)
        progress("publish", 0, 1)
        published = store.view(as_of=job.day).run()
        run = replace(run, recorded_at=published.recorded_at if published else None)
        if run != published:
            run = replace(run, recorded_at=recorded_at)
            writer.publish(run)
        progress("publish", 1, 1)
    return Week(run, *week)


@contextmanager
def _rare_collection() -> Iterator[None]:
    """Look for reference cycles less often: a run makes millions of objects, all alive until its end."""
    before = gc.get_threshold()
    gc.set_threshold(_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def run_weeks(store: Store, days: Iterable[date], run: Callable[[date], Week]) -> list[Week]:
    """Run some days in order, and every published later day after them, as if each had been run on its own day.

    Args:
        store: the knowledge base.
        days: the days asked for, in any order.
        run: runs one day.
    """
    asked = set(days)
    later = {published.as_of for published in store.view().runs() if asked and published.as_of > min(asked)}
    return [run(day) for day in sorted(asked | later)]


def past_weeks(store: Store, as_of: date | None) -> list[date]:
    """Return the days of the weekly runs up to a day, default the newest, from the week of the first document on."""
    days = sorted(head.published_on for head in store.view(as_of=as_of).documents())
    if not days:
        return []
    last = as_of or days[-1]
    return [last - _WEEK * back for back in range((last - days[0]).days // _WEEK.days, -1, -1)]


def plan_week(store: Store, as_of: date | None, *, options: JobOptions | None = None, model: str = "") -> Plan:
    """Return what `run_week` would write and spend, without locking, calling the model or changing anything.

    Args:
        store: the knowledge base.
        as_of: the day; None is the day of the newest document.
        options: as for `run_week`.
        model: name of the model, part of its summaries' keys; without one, the counts are
            those of the rule-based summaries that changed.

    Raises:
        EmptyBase: when no document is visible on that day.
    """
    job = _job(store, as_of, options, None, lambda _stage, _done, _total: None)
    drafts = _draft_themes(job)
    total = written = prompt_tokens = reply_tokens = 0
    summaries: dict[str, Summary] = {}
    for themes in _deepest_first(drafts.themes):
        for theme, composed, children in _composed(job, themes, drafts, summaries):
            item = _task(job, theme, composed, children, name=model)
            summaries[theme.id] = job.known.get(item.key if model else composed.id, composed)
            total += 1
            if (item.key if model else composed.id) not in job.known:
                written += 1
                prompt_tokens += item.request.tokens
                reply_tokens += item.request.most_tokens
    return Plan(job.day, total, written, prompt_tokens, reply_tokens)


def withdraw(store: Store, as_of: date | None) -> tuple[Run, Run | None]:
    """Withdraw the newest run up to a day; return it and the run visible instead.

    Raises:
        NothingToWithdraw: when there is no run.
        StoreLocked: when another writer is active.
    """
    with store.writer() as writer:
        run = store.view(as_of=as_of).run()
        if run is None:
            raise NothingToWithdraw(as_of)
        writer.withdraw(run.id)
    return run, store.view(as_of=as_of).run()


def _job(store: Store, as_of: date | None, options: JobOptions | None, model: Model | None, progress: Progress) -> _Job:
    newest = max((head.published_on for head in store.view(as_of=as_of).documents()), default=None)
    if newest is None:
        raise EmptyBase
    day = as_of or newest
    session = QuerySession(store.view(as_of=day))
    before = store.view(as_of=day - timedelta(days=1)).run()
    runs = [run for run in (before, session.view.run()) if run]
    known = {c.summary.id: c.summary for run in runs for c in run.communities if c.summary}
    return _Job(session, day, before, known, options or JobOptions(), model, progress)


def _draft_themes(job: _Job) -> Drafts:
    job.progress("detect", 0, 1)
    return draft(job.session, job.before, day=job.day)


def _deepest_first(themes: Sequence[Draft]) -> Iterator[list[Draft]]:
    for level in sorted({theme.level for theme in themes}, reverse=True):
        yield [theme for theme in themes if theme.level == level]


def _composed(
    job: _Job, themes: Sequence[Draft], drafts: Drafts, summaries: Mapping[str, Summary]
) -> Iterator[tuple[Draft, Summary, list[Summary]]]:
    """Yield each theme with its rule-based summary, unless it is empty, and the summaries of its sub-themes."""
    parts: dict[str, list[Summary]] = {}
    for child in drafts.themes:
        if child.id in summaries:
            parts.setdefault(child.parent, []).append(summaries[child.id])
    for theme in themes:
        children = parts.get(theme.id, [])
        composed = compose(job.session, theme.content, day=job.day, children=children)
        if composed.lines:
            yield theme, composed, children


def _task(job: _Job, theme: Draft, composed: Summary, children: Sequence[Summary], *, name: str) -> llm_summaries.Task:
    budget = job.options.tokens
    return llm_summaries.task(job.session, theme.content, composed, children=children, model=name, budget=budget)


def _summarise(
    job: _Job, drafts: Drafts
) -> tuple[tuple[Community, ...], tuple[int, int, tuple[llm_summaries.RefusedReply, ...]]]:
    """Summarise each theme, sub-themes first; an unchanged summary is carried over, an empty one left out."""
    summaries: dict[str, Summary] = {}
    refused: list[llm_summaries.RefusedReply] = []
    for themes in _deepest_first(drafts.themes):
        rows = list(_composed(job, themes, drafts, summaries))
        if job.model is None:
            summaries |= {theme.id: composed for theme, composed, _ in rows}
        else:
            summaries |= _write_summaries(job, job.model, rows, refused)
        job.progress("summarise", len(summaries), len(drafts.themes))
    communities = tuple(
        Community(
            id=theme.id,
            level=theme.level,
            parent=theme.parent,
            members=theme.members,
            summary=summaries[theme.id],
            changes=changes(job.session, theme.content, first=theme.born),
        )
        for theme in drafts.themes
        if theme.id in summaries and (not theme.parent or theme.parent in summaries)
    )
    carried = sum(summaries[community.id].id in job.known for community in communities)
    return communities, (len(communities) - carried, carried, tuple(refused))


def _write_summaries(
    job: _Job,
    model: Model,
    rows: Sequence[tuple[Draft, Summary, list[Summary]]],
    refused: list[llm_summaries.RefusedReply],
) -> dict[str, Summary]:
    """Return the summaries of one level: cached where the facts are unchanged, otherwise written by the model."""
    tasks = {theme.id: _task(job, theme, composed, parts, name=model.name) for theme, composed, parts in rows}
    found = {name: job.known[item.key] for name, item in tasks.items() if item.key in job.known}
    wanted = {name: item for name, item in tasks.items() if name not in found}
    steps = iter(range(1, len(wanted) + 1))
    replies = llm_summaries.answer(
        model,
        list(wanted.values()),
        parallel=job.options.parallel,
        done=lambda: job.progress("write", next(steps), len(wanted)),
    )
    if not wanted:
        return found
    names = KnownNames(job.session.view.names())
    for (name, item), reply in zip(wanted.items(), replies, strict=True):
        accepted = llm_summaries.accept(item, reply, names)
        if isinstance(accepted, llm_summaries.RefusedReply):
            refused.append(accepted)
            # Stored under the model's key, so that a rejected prompt is not retried while its facts are unchanged.
            accepted = replace(item.composed, id=item.key)
        found[name] = accepted
    return found


def _run(job: _Job, drafts: Drafts, communities: tuple[Community, ...]) -> Run:
    previous = list(_top_level(job.before.communities if job.before else ()))
    top = list(_top_level(communities))
    quality = dict(drafts.figures)
    quality["themes"] = float(len(top))
    quality["stability"] = round(stability(previous, top), 4)
    quality["variation"] = round(variation(previous, top), 4)
    parameters = _parameters(job)
    identity = "run:" + digest(
        (job.day.isoformat(), *(f"{name}={value}" for name, value in sorted(parameters.items())))
    )
    published = {community.id for community in communities}
    events = tuple(event for event in drafts.events if event.theme in published or event.turn is LifecycleEvent.DIED)
    return Run(identity, job.day, parameters, quality, communities, events)


def _top_level(communities: Iterable[Community]) -> Iterator[Community]:
    return (community for community in communities if community.level == 0)


def _parameters(job: _Job) -> dict[str, str]:
    return {
        "detection": DETECTION,
        "summaries": TEMPLATE,
        "model": f"{job.model.name} {llm_summaries.TEMPLATE} {job.options.tokens}" if job.model else "",
    }
