"""The questions on the command line: chain, impact, causes, relate, profile, themes, passages, ask."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import lang_option
from kg.commands.options import (
    Day,
    Words,
    confidence_option,
    configured_encoder,
    configured_model,
    json_option,
    view_options,
    weak_option,
)
from kg.commands.printing import (
    print_ask,
    print_chain,
    print_filing_pages,
    print_impact,
    print_passages,
    print_profile,
    print_relate,
    print_stats,
    print_theme,
    print_themes,
)
from kg.messages.words import word
from kg.query.plain import plain
from kg.query.wording import flow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

    from kg.llm.embeddings import Encoder
    from kg.query.grounding.dual_level import Mode
    from kg.query.session import QuerySession
    from kg.service.base import Direction, KnowledgeBase, PinnedBase

_direction = click.option(
    "--direction", type=click.Choice(["up", "down"]), default="up", show_default=True, help="rise or fall"
)


def _question(command: Callable[..., Any]) -> Callable[..., Any]:
    return view_options(confidence_option(weak_option(json_option(lang_option(command)))))


def _opened(options: Mapping[str, Any], **more: Any) -> KnowledgeBase:
    from kg.service.base import open_kb  # noqa: PLC0415 -- imported when called

    given = {name: options[name] for name in ("lang", "min_confidence")}
    base = open_kb(options["kb"], **given, **more)
    base.weak = options["weak"]
    return base


def _answered(
    ask: Callable[[PinnedBase], Any],
    show: Callable[[QuerySession, Any], None],
    *,
    out: Callable[[Any], Any] = plain,
    encoder: Encoder | None = None,
    **options: Any,
) -> Any:
    """Open the base, ask, print the answer as text or (by `out`) as JSON, and return it."""
    with _opened(options, encoder=encoder) as kb, kb.pinned(as_of=options["as_of"]) as base:
        session, answer = base.pin, ask(base)
        if options["as_json"]:
            click.echo(json.dumps(out(answer), ensure_ascii=False, indent=2))
        else:
            show(session, answer)
            if session.below:
                click.echo(word("print.below", session.lang, count=session.below))
    return answer


@click.command()
@click.argument("topic", type=Words())
@click.option("--depth", type=click.IntRange(1, 4), default=2, show_default=True, help="steps upstream and downstream")
@_question
def chain(topic: str, depth: int, **options: Any) -> None:
    """Show the industry chain of TOPIC: upstream, midstream, downstream, and the companies of each stage."""
    _answered(lambda base: base.chain(topic, depth=depth), print_chain, **options)


@click.command()
@click.argument("factor", type=Words())
@_direction
@_question
def impact(factor: str, direction: Direction, **options: Any) -> None:
    """Show the effects of a rise or fall of FACTOR."""
    _answered(lambda base: base.impact(factor, direction=direction), print_impact, **options)


@click.command()
@click.argument("effect", type=Words())
@_direction
@_question
def causes(effect: str, direction: Direction, **options: Any) -> None:
    """Show what makes EFFECT rise or fall."""
    _answered(lambda base: base.causes(effect, direction=direction), print_impact, **options)


@click.command()
@click.argument("first", type=Words())
@click.argument("second", type=Words())
@_question
def relate(first: str, second: str, **options: Any) -> None:
    """Show the most reliable paths between FIRST and SECOND."""
    _answered(lambda base: base.relate(first, second), print_relate, **options)


@click.command()
@click.argument("name", type=Words())
@_question
def profile(name: str, **options: Any) -> None:
    """Show names, codes and all facts of NAME."""
    _answered(lambda base: base.profile(name), print_profile, **options)


@click.command()
@click.argument("theme_id", type=Words(), required=False)
@click.option("--level", type=click.IntRange(0, 3), default=0, show_default=True, help="level, 0 is the coarsest")
@click.option("--since", type=Day(), help="how themes have changed since this day (Markdown, or --json)")
@_question
def themes(theme_id: str | None, level: int, since: date | None, **options: Any) -> None:
    """List the themes of the latest weekly run, or show the summary and biography of THEME_ID."""
    from kg.query.themes.changes import changes, markdown  # noqa: PLC0415 -- imported when called

    if since and not theme_id:
        show = lambda session, answer: click.echo(markdown(answer, session.lang), nl=False)  # noqa: E731 -- one line, used once
        _answered(lambda base: changes(base.pin, since, level=level), show, **options)
    elif theme_id:
        _answered(lambda base: base.theme(theme_id), print_theme, **options)
    else:
        _answered(lambda base: base.themes(level=level), print_themes, **options)


@click.command()
@click.argument("query", type=Words())
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True, help="most passages to show")
@click.option(
    "--mode",
    type=click.Choice(["words", "vectors", "local", "global", "hybrid", "mix", "fused"]),
    default="words",
    show_default=True,
    help="words; vectors (after liantu index); graph: local by entities, global by relations, hybrid both, "
    "mix with words; fused: words and vectors",
)
@_question
def passages(query: str, limit: int, mode: Mode, **options: Any) -> None:
    """Find passages: by words, by vectors, or through entities and relations of the graph."""
    encoder = configured_encoder() if mode in {"vectors", "fused"} else None
    _answered(lambda base: base.passages(query, mode=mode, limit=limit), print_passages, encoder=encoder, **options)


@click.command("pages")
@click.argument("question", type=Words())
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True, help="most pages to show")
@_question
def filing_pages(question: str, limit: int, **options: Any) -> None:
    """Find the pages of annual reports, quarterly reports and other filings that answer QUESTION."""
    _answered(lambda base: base.filing_pages(question, limit=limit), print_filing_pages, **options)


@click.command()
@_question
def stats(**options: Any) -> None:
    """Show what the base holds: documents, days, publishers, facts, main names, and questions to ask."""
    _answered(lambda base: base.stats(), print_stats, **options)


@click.command()
@click.argument("question", type=Words())
@click.option(
    "--prose",
    is_flag=True,
    help="answer by language model (llm_url, llm_model), each sentence checked against its source",
)
@_question
def ask(question: str, *, prose: bool, **options: Any) -> None:
    """Answer a question asked in one sentence, with sources."""
    if prose:
        _print_prose(question, **options)
        return
    from kg.query.ask.wire import answer_out  # noqa: PLC0415 -- imported when called

    found = _answered(lambda base: base.ask(question), print_ask, out=answer_out, **options)
    if found.status == "not_found":
        raise SystemExit(1)


def _print_prose(question: str, **options: Any) -> None:
    from kg.query.grounding.prose import fault_text  # noqa: PLC0415 -- imported when called

    with _opened(options, model=configured_model(), encoder=configured_encoder()) as base:
        answer = base.prose(question, as_of=options["as_of"])
    if options["as_json"]:
        click.echo(json.dumps(answer.to_dict(), ensure_ascii=False, indent=2))
        return
    click.echo(answer.text)
    shown: dict[str, None] = {}
    for sentence in answer.sentences:
        cites = "".join(f"[{cite}]" for cite in sentence.cites)
        for citation in sentence.citations:
            page = word("context.page", base.lang, page=citation.page) if citation.page else ""
            where = {"title": citation.title, "speaker": citation.speaker, "day": citation.published_on, "page": page}
            shown[f"  {cites} " + word("source", base.lang, quote=citation.quote, **where)] = None
        if not sentence.kept:
            faults = flow((fault_text(fault, base.lang) for fault in sentence.faults), base.lang)
            click.echo(word("prose.dropped", base.lang, text=sentence.text, faults=faults), err=True)
    for line in shown:
        click.echo(line)
