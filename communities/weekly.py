"""The weekly job: project, detect, track, summarise, and publish all themes atomically."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from communities import llm_summaries
from communities.candidates import draft
from communities.detection import DetectionOptions
from communities.projection import project
from communities.quality import measure, stability, variation
from communities.slices import coupled
from communities.summaries import TEMPLATE, changes, compose
from kg.errors import EmptyBase, QuestionError
from kg.ids import digest
from kg.model import Community, Run
from kg.query.grounding.checking import KnownNames
from kg.query.session import QuerySession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from communities.candidates import Draft, Drafts
    from communities.projection import Projection
    from kg.llm.port import Model
    from kg.model import Summary
    from kg.store.port import Store

    Progress = Callable[[str, int, int], None]

_WEEK = timedelta(days=7)


class NothingToWithdraw(QuestionError):
    """No published run to roll back."""

    def __init__(self, day: date | None) -> None:
        super().__init__("no published themes to withdraw as of {day}", day=str(day or "today"))


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Detection options, number of weeks coupled in time, token budget of a summary, and parallel model requests."""

    detection: DetectionOptions = field(default_factory=DetectionOptions)
    slices: int = 1
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
        options: detection options and budgets.
        model: writes the summaries that changed; None composes them by rule.
        progress: called with a stage (project, detect, write, summarise, publish), completed steps and total steps.
        recorded_at: timestamp of a new run; an identical existing run keeps its own.

    Raises:
        EmptyBase: when no document is visible on that day.
        StoreLocked: when another writer is active.
        ModelError: when the model fails; nothing is published, and a reply cache keeps the replies received.
    """
    with store.writer() as writer:
        job = _job(store, as_of, options, model, progress)
        projection, drafts = _draft_themes(store, job)
        communities, week = _summarise(job, drafts)
        run = _run(job, projection, drafts, communities)
        progress("publish", 0, 1)
        published = store.view(as_of=job.day).run()
        run = replace(run, recorded_at=published.recorded_at if published else None)
        if run != published:
            run = replace(run, recorded_at=recorded_at)
            writer.publish(run)
        progress("publish", 1, 1)
    return Week(run, *week)


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
    _, drafts = _draft_themes(store, job)
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


def _draft_themes(store: Store, job: _Job) -> tuple[Projection, Drafts]:
    job.progress("project", 0, 1)
    projection = project(job.session.snapshot)
    job.progress("detect", 0, 1)
    start = None
    if job.options.slices > 1:
        days = [job.day - _WEEK * back for back in range(job.options.slices - 1, 0, -1)]
        earlier = [QuerySession(store.view(as_of=day)).snapshot for day in days]
        start = coupled([*earlier, job.session.snapshot], projection, job.options.detection)
    return projection, draft(
        job.session, projection, job.before, options=job.options.detection, day=job.day, start=start
    )


def _deepest_first(themes: Sequence[Draft]) -> Iterator[list[Draft]]:
    for level in sorted({theme.level for theme in themes}, reverse=True):
        yield [theme for theme in themes if theme.level == level]


def _composed(
    job: _Job, themes: Sequence[Draft], drafts: Drafts, summaries: Mapping[str, Summary]
) -> Iterator[tuple[Draft, Summary, list[Summary]]]:
    """Yield each theme with its rule-based summary and the summaries of its sub-themes."""
    parts: dict[str, list[Summary]] = {}
    for child in drafts.themes:
        if child.id in summaries:
            parts.setdefault(child.parent, []).append(summaries[child.id])
    for theme in themes:
        children = parts.get(theme.id, [])
        yield theme, compose(job.session, theme.content, title=theme.title, day=job.day, children=children), children


def _task(job: _Job, theme: Draft, composed: Summary, children: Sequence[Summary], *, name: str) -> llm_summaries.Task:
    budget = job.options.tokens
    return llm_summaries.task(job.session, theme.content, composed, children=children, model=name, budget=budget)


def _summarise(
    job: _Job, drafts: Drafts
) -> tuple[tuple[Community, ...], tuple[int, int, tuple[llm_summaries.RefusedReply, ...]]]:
    """Summarise each theme, sub-themes first; unchanged summaries are carried over."""
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
    )
    carried = sum(summary.id in job.known for summary in summaries.values())
    return communities, (len(summaries) - carried, carried, tuple(refused))


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
    names = KnownNames(job.session.view)
    for (name, item), reply in zip(wanted.items(), replies, strict=True):
        accepted = llm_summaries.accept(item, reply, names)
        if isinstance(accepted, llm_summaries.RefusedReply):
            refused.append(accepted)
            # Stored under the model's key, so that a rejected prompt is not retried while its facts are unchanged.
            accepted = replace(item.composed, id=item.key)
        found[name] = accepted
    return found


def _run(job: _Job, projection: Projection, drafts: Drafts, communities: tuple[Community, ...]) -> Run:
    quality = measure(projection, drafts.top)
    previous = job.before.communities if job.before else ()
    top = list(_top_level(communities))
    inside = {member for community in top for member in community.members}
    nodes = [job.session.snapshot.entity_ids[node] for node in projection.nodes]
    quality["themes"] = float(len(top))
    quality["in_themes"] = round(sum(node in inside for node in nodes) / len(nodes), 4) if nodes else 0.0
    quality["stability"] = round(stability(_top_level(previous), top), 4)
    quality["variation"] = round(variation(_top_level(previous), top), 4)
    parameters = _parameters(job)
    identity = "run:" + digest(
        (job.day.isoformat(), *(f"{name}={value}" for name, value in sorted(parameters.items())))
    )
    return Run(identity, job.day, parameters, quality, communities, drafts.events)


def _top_level(communities: Iterable[Community]) -> Iterator[Community]:
    return (community for community in communities if community.level == 0)


def _parameters(job: _Job) -> dict[str, str]:
    detection = job.options.detection
    return {
        "seed": str(detection.seed),
        "resolutions": ",".join(map(str, detection.resolutions)),
        "largest": str(detection.largest),
        "slices": str(job.options.slices),
        "summaries": TEMPLATE,
        "model": f"{job.model.name} {llm_summaries.TEMPLATE} {job.options.tokens}" if job.model else "",
    }
