"""The weekly job: project, detect, follow, summarise, publish; everything of a week becomes visible at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from communities import llm_summaries as writing
from communities.candidates import draft
from communities.detection import DetectionOptions
from communities.projection import project
from communities.quality import measure, stability, variation
from communities.slices import coupled
from communities.summaries import TEMPLATE, changes, compose
from kg.errors import EmptyBase, QuestionError
from kg.ids import digest
from kg.model import Community, Run
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
    """A rollback without a run."""

    def __init__(self, day: date | None) -> None:
        super().__init__(f"{day or '目前'}没有已发布的主题可以撤回")


@dataclass(frozen=True, slots=True)
class JobOptions:
    """How to find themes, over how many weeks coupled in time, and what a model may spend on one summary."""

    detection: DetectionOptions = field(default_factory=DetectionOptions)
    slices: int = 1
    tokens: int = 3000
    parallel: int = 4


@dataclass(frozen=True, slots=True)
class Week:
    """What a run did: the run, how many summaries were new or carried over, and which replies were refused."""

    run: Run
    written: int
    carried: int
    refused: tuple[writing.RefusedReply, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do: the summaries it would write, of how many, and the tokens to ask and to be answered."""

    as_of: date
    summaries: int
    written: int
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class _Job:
    """One week under way; `known` are the summaries of the last run and of this day's, by id."""

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
    """Find the themes as of a day and publish them.

    A run is made of what is visible on its day and of the last run *before* that day, so that a re-run changes nothing
    and a run filled in later for an earlier day knows nothing of what came after it. The writer's lock is held from
    the first reading on: no document comes or goes under way.

    Args:
        store: the knowledge base.
        as_of: the day; None is the day of the newest document.
        options: how to find communities and what to spend.
        model: writes the summaries that changed; without one they are composed.
        progress: called with a stage (project, detect, summarise, publish), steps done and all steps of it.
        recorded_at: the moment that the run is stamped with; one that is there already keeps its own.

    Raises:
        EmptyBase: when no document is visible on that day.
        StoreLocked: when another writer is at work.
        ModelError: when the model fails; nothing is published, and what it answered is kept by whoever keeps replies.
    """
    with store.writer() as writer:
        job = _job(store, as_of, options, model, progress)
        projection, drafts = _drafted(store, job)
        described, week = _described(job, drafts)
        run = _run(job, projection, drafts, described)
        progress("publish", 0, 1)
        seen = store.view(as_of=job.day).run()
        run = replace(run, recorded_at=seen.recorded_at if seen else None)
        if run != seen:
            run = replace(run, recorded_at=recorded_at)
            writer.publish(run)
        progress("publish", 1, 1)
    return Week(run, *week)


def plan_week(store: Store, as_of: date | None, *, options: JobOptions | None = None, model: str = "") -> Plan:
    """Return what `run_week` would write and spend, without a lock, a call or a change.

    Args:
        store: the knowledge base.
        as_of: the day; None is the day of the newest document.
        options: as for the run.
        model: the name of the model, which the keys of its summaries hold; without one the tokens are what any would
            take for the summaries that have changed.

    Raises:
        EmptyBase: when no document is visible on that day.
    """
    job = _job(store, as_of, options, None, lambda _stage, _done, _total: None)
    _, drafts = _drafted(store, job)
    total = written = asked = answered = 0
    summaries: dict[str, Summary] = {}
    for themes in _deepest_first(drafts.themes):
        for theme, composed, children in _composed(job, themes, drafts, summaries):
            item = _task(job, theme, composed, children, name=model)
            summaries[theme.id] = job.known.get(item.key if model else composed.id, composed)
            total += 1
            if (item.key if model else composed.id) not in job.known:
                written += 1
                asked += item.request.tokens
                answered += item.request.most_tokens
    return Plan(job.day, total, written, asked, answered)


def withdraw(store: Store, as_of: date | None) -> tuple[Run, Run | None]:
    """Take back the newest run of a day or before, and return it with the one that is seen instead.

    Raises:
        NothingToWithdraw: when there is none.
        StoreLocked: when another writer is at work.
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


def _drafted(store: Store, job: _Job) -> tuple[Projection, Drafts]:
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
    """Yield each theme with its composed summary and the summaries of its parts."""
    parts: dict[str, list[Summary]] = {}
    for child in drafts.themes:
        if child.id in summaries:
            parts.setdefault(child.parent, []).append(summaries[child.id])
    for theme in themes:
        children = parts.get(theme.id, [])
        yield theme, compose(job.session, theme.content, title=theme.title, day=job.day, children=children), children


def _task(job: _Job, theme: Draft, composed: Summary, children: Sequence[Summary], *, name: str) -> writing.Task:
    budget = job.options.tokens
    return writing.task(job.session, theme.content, composed, children=children, model=name, budget=budget)


def _described(
    job: _Job, drafts: Drafts
) -> tuple[tuple[Community, ...], tuple[int, int, tuple[writing.RefusedReply, ...]]]:
    """Give each theme its summary, parts before wholes; one that would come out the same is not written again."""
    summaries: dict[str, Summary] = {}
    refused: list[writing.RefusedReply] = []
    for themes in _deepest_first(drafts.themes):
        rows = list(_composed(job, themes, drafts, summaries))
        if job.model is None:
            summaries |= {theme.id: composed for theme, composed, _ in rows}
        else:
            summaries |= _written(job, job.model, rows, refused)
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


def _written(
    job: _Job,
    model: Model,
    rows: Sequence[tuple[Draft, Summary, list[Summary]]],
    refused: list[writing.RefusedReply],
) -> dict[str, Summary]:
    """Return the summaries of one level: those of unchanged facts as they were, the others by the model."""
    tasks = {theme.id: _task(job, theme, composed, parts, name=model.name) for theme, composed, parts in rows}
    found = {name: job.known[item.key] for name, item in tasks.items() if item.key in job.known}
    wanted = {name: item for name, item in tasks.items() if name not in found}
    steps = iter(range(1, len(wanted) + 1))
    replies = writing.answer(
        model,
        list(wanted.values()),
        parallel=job.options.parallel,
        done=lambda: job.progress("write", next(steps), len(wanted)),
    )
    for (name, item), reply in zip(wanted.items(), replies, strict=True):
        accepted = writing.accept(item, reply)
        if isinstance(accepted, writing.RefusedReply):
            refused.append(accepted)
            # Under the model's key, so that a reply that was refused is not asked for again while its facts stay.
            accepted = replace(item.composed, id=item.key)
        found[name] = accepted
    return found


def _run(job: _Job, projection: Projection, drafts: Drafts, described: tuple[Community, ...]) -> Run:
    quality = measure(projection, drafts.top)
    previous = job.before.communities if job.before else ()
    top = list(_top(described))
    inside = {member for community in top for member in community.members}
    nodes = [job.session.snapshot.entity_ids[node] for node in projection.nodes]
    quality["themes"] = float(len(top))
    quality["in_themes"] = round(sum(node in inside for node in nodes) / len(nodes), 4) if nodes else 0.0
    quality["stability"] = round(stability(_top(previous), top), 4)
    quality["variation"] = round(variation(_top(previous), top), 4)
    parameters = _parameters(job)
    identity = "run:" + digest(
        (job.day.isoformat(), *(f"{name}={value}" for name, value in sorted(parameters.items())))
    )
    return Run(identity, job.day, parameters, quality, described, drafts.events)


def _top(communities: Iterable[Community]) -> Iterator[Community]:
    return (community for community in communities if community.level == 0)


def _parameters(job: _Job) -> dict[str, str]:
    detection = job.options.detection
    return {
        "seed": str(detection.seed),
        "resolutions": ",".join(map(str, detection.resolutions)),
        "largest": str(detection.largest),
        "slices": str(job.options.slices),
        "summaries": TEMPLATE,
        "model": f"{job.model.name} {writing.TEMPLATE} {job.options.tokens}" if job.model else "",
    }
