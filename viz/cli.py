"""`liantu draw`: write answers as self-contained HTML pages that need no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kg.commands.files import FileUnwritable, refuse_database, replacing
from kg.commands.language import lang_option
from kg.commands.options import Day, Words, confidence_option, opened, view_options, weak_option

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from kg.query.session import QuerySession
    from viz.scene import Answer

_DIRECTIONS: Final = {"up": 1, "down": -1}
_direction = click.option(
    "--direction", type=click.Choice(list(_DIRECTIONS)), default="up", show_default=True, help="rise or fall"
)


_profiles = click.option(
    "--profiles",
    type=click.IntRange(0),
    default=100,
    show_default=True,
    help="most companies of the picture that get a page of their own in a folder",
)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of every drawing."""
    out = click.option(
        "--out",
        type=click.Path(path_type=Path),
        help="a file ending in .html; else a folder of linked pages with index.html",
    )
    return view_options(confidence_option(weak_option(lang_option(out(_profiles(command))))))


def _answer_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a drawing of one answer."""
    pyvis = click.option(
        "--pyvis",
        type=click.Path(path_type=Path, dir_okay=False),
        help="also write a plain network with pyvis (needs pip install 'liantu[pyvis]')",
    )
    return _options(pyvis(command))


def _draw(name: str, ask: Callable[[QuerySession], Answer], *, variant: str = "", **options: Any) -> None:
    """Query a base and write the answer as a page, or as a page of a folder."""
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called
    from viz.atlas import page_of  # noqa: PLC0415 -- imported when called
    from viz.scene import scene_of  # noqa: PLC0415 -- imported when called

    out, lang, day = options["out"] or Path(f"{name}.html"), options["lang"], options["as_of"]
    for path in filter(None, (out, options["pyvis"])):
        refuse_database(path)
    with opened(options["kb"], day) as view:
        session = QuerySession(view, lang=lang, min_confidence=options["min_confidence"], weak=options["weak"])
        answer = ask(session)
        if out.suffix == ".html":
            click.echo(_write(out, page_of(answer, as_of=day, lang=lang)))
        else:
            click.echo(_write_in_folder(session, answer, (name, variant), out, options))
    if options["pyvis"]:
        from viz.publish.pyvis_export import plain_page  # noqa: PLC0415 -- an extra

        click.echo(_write(options["pyvis"], plain_page(scene_of(answer, as_of=day, lang=lang), lang=lang)))


def _write_in_folder(
    session: QuerySession, answer: Answer, name: tuple[str, str], folder: Path, options: dict[str, Any]
) -> Path:
    """Write a page with the pages of its companies, and list them in the folder's index; return the page's path."""
    from viz.publish.collection import collected, listed_before  # noqa: PLC0415 -- imported when called

    before = listed_before(folder)
    files = collected(session, answer, name, most=options["profiles"], as_of=options["as_of"], before=before)
    own, *_ = [_write(folder / file, text) for file, text in files]
    return own


def _write(path: Path, html: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileUnwritable(path, error.strerror or type(error).__name__) from error
    with replacing(path) as file:
        file.write(html)
    return path


@click.group()
def draw() -> None:
    """Draw answers as web pages that open without a network: one file, or a folder of linked pages."""


@draw.command()
@click.argument("topic", type=Words())
@click.option("--depth", type=click.IntRange(1, 4), default=2, show_default=True, help="steps upstream and downstream")
@_answer_options
def chain(topic: str, depth: int, **options: Any) -> None:
    """Draw the industry chain of TOPIC: upstream, midstream, downstream, and the companies of each stage."""
    from kg.query.walks.chain import chain as ask  # noqa: PLC0415 -- imported when called

    _draw("chain", lambda session: ask(session, topic, depth=depth), **options)


@draw.command()
@click.argument("factor", type=Words())
@_direction
@_answer_options
def impact(factor: str, direction: str, **options: Any) -> None:
    """Draw the effects of a rise or fall of FACTOR."""
    from kg.query.walks.impact import impact as ask  # noqa: PLC0415 -- imported when called

    _draw("impact", lambda session: ask(session, factor, _DIRECTIONS[direction]), variant=direction, **options)


@draw.command()
@click.argument("effect", type=Words())
@_direction
@_answer_options
def causes(effect: str, direction: str, **options: Any) -> None:
    """Draw what makes EFFECT rise or fall."""
    from kg.query.walks.impact import causes as ask  # noqa: PLC0415 -- imported when called

    _draw("causes", lambda session: ask(session, effect, _DIRECTIONS[direction]), variant=direction, **options)


@draw.command()
@click.argument("first", type=Words())
@click.argument("second", type=Words())
@_answer_options
def relate(first: str, second: str, **options: Any) -> None:
    """Draw the most reliable paths between FIRST and SECOND."""
    from kg.query.walks.relate import relate as ask  # noqa: PLC0415 -- imported when called

    _draw("relate", lambda session: ask(session, first, second), **options)


@draw.command()
@click.argument("name", type=Words())
@_answer_options
def profile(name: str, **options: Any) -> None:
    """Draw all relations of NAME."""
    from kg.query.browse.profile import profile as ask  # noqa: PLC0415 -- imported when called

    _draw("profile", lambda session: ask(session, name), **options)


@draw.command()
@click.argument("theme_id", type=Words())
@_answer_options
def theme(theme_id: str, **options: Any) -> None:
    """Draw a theme: summary, members and graph of a community."""
    from kg.query.themes.listing import theme as ask  # noqa: PLC0415 -- imported when called

    _draw("theme", lambda session: ask(session, theme_id), **options)


@draw.command()
@click.option("--level", type=click.IntRange(0), default=0, show_default=True, help="level, 0 is the coarsest")
@click.option(
    "--most", type=click.IntRange(1), default=60, show_default=True, help="most themes to publish, the largest first"
)
@click.option("--since", type=Day(), help="day of the last reading: also write changes.md and changes.json")
@_options
def themes(level: int, most: int, since: date | None, **options: Any) -> None:
    """Publish themes into folder --out: an index, a page per theme (graph, summary, sources), a report of changes."""
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called
    from viz.publish.collection import listed_before  # noqa: PLC0415 -- imported when called
    from viz.publish.themes import Extent, publication  # noqa: PLC0415 -- imported when called

    folder, day = options["out"] or Path("themes"), options["as_of"]
    path = folder
    refuse_database(folder)
    with opened(options["kb"], day) as view:
        session = QuerySession(view, **{name: options[name] for name in ("lang", "min_confidence", "weak")})
        extent = Extent(level, most, options["profiles"])
        files = publication(session, extent, as_of=day, since=since, before=listed_before(folder))
        for name, text in files:
            path = _write(folder / name, text)
    click.echo(path)


COMMANDS: Final[list[click.Command]] = [draw]
