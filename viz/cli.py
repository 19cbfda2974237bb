"""`liantu draw`: write an answer as the explorer's pages: one file of it alone, or an exhibit opened at it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kg.commands.files import refuse_database
from kg.commands.language import lang_option
from kg.commands.options import Day, Words, confidence_option, view_options, weak_option
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from kg.query.session import QuerySession
    from viz.exhibit.pictures import Shown

_DIRECTIONS: Final = {"up": 1, "down": -1}
_LISTED: Final = "e=list"  # the list of links is open beside the picture
_direction = click.option(
    "--direction", type=click.Choice(list(_DIRECTIONS)), default="up", show_default=True, help="rise or fall"
)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every drawing."""
    out = click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="a file ending in .html for this answer alone; else a folder for the whole base, opened at it",
    )
    return view_options(confidence_option(weak_option(lang_option(out(command)))))


def _draw(name: str, ask: Callable[[QuerySession], Shown], *, alone: bool = True, **options: Any) -> None:
    """Ask a base, write the pages, and print where they begin."""
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called
    from viz.exhibit.content import ExhibitContent  # noqa: PLC0415 -- imported when called
    from viz.exhibit.pages import write_exhibit  # noqa: PLC0415 -- imported when called

    out: Path = options["out"] or Path(f"{name}.html")
    refuse_database(out)
    one_file, lang, least = out.suffix == ".html", options["lang"], options["min_confidence"]
    store = open_store(options["kb"])
    try:
        with store.reader(as_of=options["as_of"]) as view:
            shown = ask(QuerySession(view, lang=lang, min_confidence=least, weak=options["weak"]))
            content = ExhibitContent(store, view, min_confidence=least, shown=shown, alone=alone and one_file)
            click.echo(write_exhibit(content, out, lang=lang, one_file=one_file))
    finally:
        store.close()


@click.group()
def draw() -> None:
    """Draw answers as web pages that open without a network: one file, or a folder that holds the whole base."""


@draw.command()
@click.argument("topic", type=Words())
@click.option("--depth", type=click.IntRange(1, 4), default=2, show_default=True, help="steps upstream and downstream")
@_options
def chain(topic: str, depth: int, **options: Any) -> None:
    """Draw the industry chain of TOPIC: upstream, midstream, downstream, and the companies of each stage."""
    from kg.query.questions.registry import question  # noqa: PLC0415 -- imported when called
    from viz.exhibit.pictures import picture_key, shown_in  # noqa: PLC0415 -- imported when called

    def shown(session: QuerySession) -> Shown:
        picture = question("chain").asked(topic, depth=depth).picture(session)
        return shown_in({picture_key("chain", picture.topics): picture}, "chain", query=_LISTED)

    _draw("chain", shown, **options)


def _factor(name: str, direction: str) -> Callable[[QuerySession], Shown]:
    from viz.exhibit.pictures import factor_shown  # noqa: PLC0415 -- imported when called

    return lambda session: factor_shown(session, name, _DIRECTIONS[direction])


@draw.command()
@click.argument("factor", type=Words())
@_direction
@_options
def impact(factor: str, direction: str, **options: Any) -> None:
    """Draw the effects of a rise or fall of FACTOR, with what moves it on the left."""
    _draw("impact", _factor(factor, direction), **options)


@draw.command()
@click.argument("effect", type=Words())
@_direction
@_options
def causes(effect: str, direction: str, **options: Any) -> None:
    """Draw what makes EFFECT rise or fall, with what it moves in turn on the right."""
    _draw("causes", _factor(effect, direction), **options)


@draw.command()
@click.argument("first", type=Words())
@click.argument("second", type=Words())
@_options
def relate(first: str, second: str, **options: Any) -> None:
    """Draw the most reliable paths between FIRST and SECOND."""
    from kg.query.questions.registry import question  # noqa: PLC0415 -- imported when called
    from viz.exhibit.pictures import picture_key, shown_in  # noqa: PLC0415 -- imported when called

    def shown(session: QuerySession) -> Shown:
        picture = question("relate").asked(first, second).picture(session)
        return shown_in({picture_key("path", picture.topics): picture}, "path", query=_LISTED)

    _draw("relate", shown, **options)


@draw.command()
@click.argument("name", type=Words())
@_options
def profile(name: str, **options: Any) -> None:
    """Draw all relations of NAME."""
    from kg.query.resolve import resolve  # noqa: PLC0415 -- imported when called
    from viz.exhibit.pictures import Shown  # noqa: PLC0415 -- imported when called

    def shown(session: QuerySession) -> Shown:
        entity = resolve(session, name)
        return Shown("company", entity.name, (entity.id,), query=_LISTED)

    _draw("profile", shown, **options)


@draw.command()
@click.argument("theme_id", type=Words())
@_options
def theme(theme_id: str, **options: Any) -> None:
    """Draw a theme: summary, life, members and the links between them."""
    from viz.exhibit.pictures import theme_shown  # noqa: PLC0415 -- imported when called

    _draw("theme", lambda session: theme_shown(session, theme_id), **options)


@draw.command()
@click.option("--since", type=Day(), help="day of the last reading: links that are new since then are marked")
@_options
def themes(since: date | None, **options: Any) -> None:
    """Publish the base with this week's themes on its first page: with --out FOLDER, or as one file."""
    from viz.exhibit.pictures import Shown  # noqa: PLC0415 -- imported when called

    options["out"] = options["out"] or Path("themes")
    _draw("themes", lambda _: Shown("home", query=f"since={since}" if since else ""), alone=False, **options)


COMMANDS: Final[list[click.Command]] = [draw]
