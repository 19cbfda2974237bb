"""What changes a base besides reading documents into it: remove, entity merge | split | revoke | list; and check."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import say, shown_lang, warn, warn_of
from kg.commands.options import Day, Words, kb_option, opened
from kg.errors import JudgementRefused, StoreUnusable, UnknownDocument
from kg.ids import entity_id
from kg.judgement import OF_FACTS, Judgement, Verdict
from kg.messages.words import Listed, noted, translated, word
from kg.period import Period
from kg.settings import market_day
from kg.store.checks import Checkable
from kg.store.open import open_store
from kg.store.rules.identities import in_force

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date

    from kg.model import Entity
    from kg.store.port import Store, View

_EXIT_REFUSED, _EXIT_STORE = 3, 4
_SHOWN = 5


@click.command()
@click.argument("documents", nargs=-1, required=True, type=Words())
@kb_option
def remove(documents: tuple[str, ...], kb: Path) -> None:
    """Remove DOCUMENTS (ids, or paths as ingested): as if never read; facts that they superseded hold again."""
    removed, unknown = 0, []
    with _store(kb) as store, store.writer() as writer:
        for given in documents:
            # `ingest ./a.md` keeps the path as a.md
            found = [given] if store.has_document(given) else [*store.documents_at(str(Path(given)))]
            with writer.together():
                removed += sum(map(writer.remove, found))
            if not found:
                unknown.append(UnknownDocument(given))
    for fault in unknown:
        warn_of(fault)
    say("edit.removed", count=removed, kb=kb)
    if unknown:
        sys.exit(_EXIT_REFUSED)


@click.command()
@kb_option
def check(kb: Path) -> None:
    """Check that the knowledge base is intact: list its invariants and what is not checked; code 4 if one is broken."""
    lang = shown_lang()
    with _store(kb) as store:
        if not isinstance(store, Checkable):
            raise StoreUnusable(kb, "this kind of store cannot be checked")
        broken: dict[str, list[str]] = {}
        for breach in store.breaches():
            broken.setdefault(breach.invariant, []).append(breach.message)
        for invariant in store.invariants():
            faults = broken.get(invariant.name, [])
            named = word("colon", lang).join((translated(invariant.name, lang), translated(invariant.meaning, lang)))
            click.echo(f"{'✗' if faults else '✓'} {named}")
            for message in faults[:_SHOWN]:
                click.echo(f"    {translated(message, lang)}")
            if len(faults) > _SHOWN:
                click.echo(word("check.more", lang, count=len(faults) - _SHOWN))
    say("check.unchecked")
    if broken:
        warn("check.broken", kb=kb, count=sum(map(len, broken.values())))
        sys.exit(_EXIT_STORE)


@click.group()
def entity() -> None:
    """Judge entities: merge, split, revoke, list; each judgement keeps who, when and why, and can be revoked."""


def _judging(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add who, why, from when on, and how sure."""
    for option in (
        click.option("--score", type=click.FloatRange(0, 1), help="confidence, 0 to 1"),
        click.option(
            "--day", type=Day(), help="first day on which it applies, hidden from earlier --as-of; default: today"
        ),
        click.option("--by", required=True, type=Words(), help="author of the judgement"),
        click.option("--why", required=True, type=Words(), help="reason"),
    ):
        command = option(command)
    return kb_option(command)


@entity.command()
@click.argument("one", type=Words())
@click.argument("other", type=Words())
@_judging
@click.pass_context
def merge(context: click.Context, /, one: str, other: str, **stated: Any) -> None:
    """Merge ONE into OTHER (names or ids) with all their facts; later documents that use the old name follow."""
    with _store(stated["kb"]) as store:
        view = store.view()
        subject, object_ = _entity(view, one), _entity(view, other)
        kept = _judge(store, _judgement(context, Verdict.MERGE, subject, object_, **stated))
        click.echo(f"{kept.id}  {subject} → {object_}")


@entity.command()
@click.argument("whole", type=Words())
@click.argument("name", type=Words())
@click.option("--into", type=Words(), help="id of the other entity; a new one by default")
@click.option("--document", "documents", multiple=True, type=Words(), help="only in this document (id, repeatable)")
@click.option("--from", "start", type=Day(), help="only in documents published on or after this day")
@click.option("--until", "end", type=Day(), help="only in documents published before this day")
@_judging
@click.pass_context
def split(context: click.Context, /, whole: str, name: str, **stated: Any) -> None:
    """Split: documents that call WHOLE by NAME mean another entity."""
    with _store(stated["kb"]) as store:
        view = store.view()
        subject = _entity(view, whole)
        found = view.entity(subject)
        if found is None:
            raise JudgementRefused(f"{subject}: no such entity in the knowledge base")
        object_ = stated["into"] or entity_id(found.kind, name)
        kept = _judge(store, _judgement(context, Verdict.SPLIT, subject, object_, name=name, **stated))
        click.echo(f"{kept.id}  {subject}「{name}」→ {object_}")


@entity.command()
@click.argument("judgement", type=Words())
@_judging
@click.pass_context
def revoke(context: click.Context, /, judgement: str, **stated: Any) -> None:
    """Revoke JUDGEMENT (an id from list): everything is as it was before."""
    with _store(stated["kb"]) as store:
        kept = _judge(store, _judgement(context, Verdict.REVOKE, judgement, "", **stated))
        click.echo(f"{kept.id}  {word('edit.revokes', shown_lang(), id=judgement)}")


@entity.command("list")
@click.option("--as-of", type=Day(), help="only judgements made on or before this day")
@kb_option
def listed(kb: Path, as_of: date | None) -> None:
    """List all judgements with id, day, author, content and reason, revoked ones included."""
    with opened(kb, as_of) as view:
        every = view.judgements()
        facts = {item.id for item in every if item.verdict in OF_FACTS}
        every = [item for item in every if not facts & {item.id, item.subject}]  # those: `liantu verify --list`
        valid = {item.id for item in in_force(every)}
        state = word("edit.revoked", shown_lang())
        for item in every:
            revoked = item.verdict is not Verdict.REVOKE and item.id not in valid
            name = f"「{item.name}」" if item.name else ""
            where = " ".join([*item.documents, *([str(item.period)] if item.period else [])])
            target = f" → {item.object}" if item.object else ""
            words = f"{item.verdict.value} {item.subject}{name}{target}{noted(where, shown_lang()) if where else ''}"
            click.echo(f"{item.id}  {item.published_on}  {item.by}  {words}  {item.why}{state if revoked else ''}")


@contextmanager
def _store(kb: Path) -> Iterator[Store]:
    store = open_store(kb)
    try:
        yield store
    finally:
        store.close()


def _judgement(context: click.Context, verdict: Verdict, subject: str, object_: str, **stated: Any) -> Judgement:
    now: datetime = context.find_root().obj
    start, end = stated.get("start"), stated.get("end")
    if start and end and start >= end:
        raise JudgementRefused(f"no day lies from {start} until {end}")
    return Judgement(
        id="",
        verdict=verdict,
        subject=subject,
        published_on=stated["day"] or market_day(now),
        recorded_at=now.astimezone(UTC),
        object=object_,
        name=stated.get("name", ""),
        documents=stated.get("documents", ()),
        period=Period(start, end) if start or end else None,
        by=stated["by"],
        why=stated["why"],
        score=stated["score"],
    )


def _judge(store: Store, judgement: Judgement) -> Judgement:
    with store.writer() as writer:
        kept = writer.judge(judgement)
    if kept is None:
        raise JudgementRefused("that is judged already")
    return kept


def _entity(view: View, text: str) -> str:
    """Return the entity of an id, or of a name that is unique."""
    if view.entity(text) is not None:
        return text
    found: list[Entity] = view.named(text)
    if len(found) == 1:
        return found[0].id
    if found:
        raise JudgementRefused(
            "{name} is the name of {ids}; name one by its id", name=text, ids=Listed(item.id for item in found)
        )
    raise JudgementRefused(f"{text}: no such entity in the knowledge base")
