"""`liantu draw`: write answers as self-contained HTML pages that need no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kg.commands.files import FileUnwritable, replacing
from kg.commands.options import Day, Words, confidence_option, lang_option, opened, view_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from kg.query.session import QuerySession
    from viz.scene import Answer

_DIRECTIONS: Final = {"up": 1, "down": -1}
_direction = click.option(
    "--direction", type=click.Choice(list(_DIRECTIONS)), default="up", show_default=True, help="上升或下降"
)


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    return view_options(confidence_option(lang_option(_out(command))))


def _out(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--out", type=click.Path(path_type=Path), help="写到哪个文件（主题为文件夹）")(command)


def _draw(name: str, ask: Callable[[QuerySession], Answer], **options: Any) -> None:
    """Query a base and write the answer as a page."""
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called
    from viz.network import page  # noqa: PLC0415 -- imported when called
    from viz.scene import scene_of  # noqa: PLC0415 -- imported when called

    lang = options["lang"]
    with opened(options["kb"], options["as_of"]) as view:
        answer = ask(QuerySession(view, lang=lang, min_confidence=options["min_confidence"]))
    html = page(scene_of(answer, as_of=options["as_of"], lang=lang), lang=lang)
    click.echo(_write(options["out"] or Path(f"{name}.html"), html))


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
    """把回答画成网页：一个文件，双击即开，不联网。"""


@draw.command()
@click.argument("topic", type=Words())
@click.option("--depth", type=click.IntRange(1, 4), default=2, show_default=True, help="上下游各走几级")
@_options
def chain(topic: str, depth: int, **options: Any) -> None:
    """产业链图：TOPIC 的上游、中游、下游与各环节公司。"""
    from kg.query.chain import chain as ask  # noqa: PLC0415 -- imported when called

    _draw("chain", lambda session: ask(session, topic, depth=depth), **options)


@draw.command()
@click.argument("factor", type=Words())
@_direction
@_options
def impact(factor: str, direction: str, **options: Any) -> None:
    """影响图：FACTOR 上升或下降会带动什么。"""
    from kg.query.impact import impact as ask  # noqa: PLC0415 -- imported when called

    _draw("impact", lambda session: ask(session, factor, _DIRECTIONS[direction]), **options)


@draw.command()
@click.argument("effect", type=Words())
@_direction
@_options
def causes(effect: str, direction: str, **options: Any) -> None:
    """成因图：什么会使 EFFECT 上升或下降。"""
    from kg.query.impact import causes as ask  # noqa: PLC0415 -- imported when called

    _draw("causes", lambda session: ask(session, effect, _DIRECTIONS[direction]), **options)


@draw.command()
@click.argument("first", type=Words())
@click.argument("second", type=Words())
@_options
def relate(first: str, second: str, **options: Any) -> None:
    """关联图：FIRST 与 SECOND 之间最可信的路径。"""
    from kg.query.relate import relate as ask  # noqa: PLC0415 -- imported when called

    _draw("relate", lambda session: ask(session, first, second), **options)


@draw.command()
@click.argument("name", type=Words())
@_options
def profile(name: str, **options: Any) -> None:
    """全景图：NAME 的全部关系。"""
    from kg.query.profile import profile as ask  # noqa: PLC0415 -- imported when called

    _draw("profile", lambda session: ask(session, name), **options)


@draw.command()
@click.argument("theme_id", type=Words())
@_options
def theme(theme_id: str, **options: Any) -> None:
    """主题页：一个社区的摘要、成员与图。"""
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called
    from kg.query.themes.listing import theme as ask  # noqa: PLC0415 -- imported when called
    from viz.atlas import theme_file, theme_page  # noqa: PLC0415 -- imported when called

    lang, day = options["lang"], options["as_of"]
    with opened(options["kb"], day) as view:
        answer = ask(QuerySession(view, lang=lang, min_confidence=options["min_confidence"]), theme_id)
    out = options["out"] or Path(theme_file(answer.community.id))
    click.echo(_write(out, theme_page(answer, as_of=day, lang=lang)))


@draw.command()
@click.option("--level", type=click.IntRange(0), default=0, show_default=True, help="层级，0 最粗")
@click.option("--most", type=click.IntRange(1), default=60, show_default=True, help="最多写几个主题，从最大的起")
@click.option("--since", type=Day(), help="上次读到哪一天：另写 changes.md 与 changes.json")
@_options
def themes(level: int, most: int, since: date | None, **options: Any) -> None:
    """发布主题：目录页、每个主题一页（图、摘要、传记、出处）与变化报告，写进 --out 文件夹。"""
    from kg.query.session import QuerySession  # noqa: PLC0415 -- imported when called
    from viz.publication import publication  # noqa: PLC0415 -- imported when called

    folder, day = options["out"] or Path("themes"), options["as_of"]
    path = folder
    with opened(options["kb"], day) as view:
        session = QuerySession(view, lang=options["lang"], min_confidence=options["min_confidence"])
        files = publication(session, level=level, most=most, as_of=day, since=since)
        for name, text in files:
            path = _write(folder / name, text)
    click.echo(path)


COMMANDS: Final[list[click.Command]] = [draw]
