"""`liantu draw`: answers as pages that open by a double click and ask no network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from kg.commands.options import lang_option, opened, view_options
from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kg.query.lens import Lens
    from viz.scene import Answer

_DIRECTIONS: Final = {"up": 1, "down": -1}
_direction = click.option(
    "--direction", type=click.Choice(list(_DIRECTIONS)), default="up", show_default=True, help="上升或下降"
)


class PageUnwritable(KgError):
    """A page that cannot be put where it was asked for."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__(f"{path}: {cause}; choose another place with --out")


def _options(command: Callable[..., Any]) -> Callable[..., Any]:
    return view_options(lang_option(_out(command)))


def _out(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("--out", type=click.Path(path_type=Path), help="写到哪个文件（themes 为文件夹）")(command)


def _drawn(name: str, ask: Callable[[Lens], Answer], **options: Any) -> None:
    """Ask a base and write the answer's page."""
    from kg.query.lens import Lens  # noqa: PLC0415 -- imported when called, so that start-up stays quick
    from viz.network import page  # noqa: PLC0415 -- imported when called
    from viz.scene import scene_of  # noqa: PLC0415 -- imported when called

    lang = options["lang"]
    with opened(options["kb"], options["as_of"]) as view:
        answer = ask(Lens(view, lang=lang))
    html = page(scene_of(answer, as_of=options["as_of"], lang=lang), lang=lang)
    click.echo(_written(options["out"] or Path(f"{name}.html"), html))


def _written(path: Path, html: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8", newline="\n")
    except OSError as error:
        raise PageUnwritable(path, error.strerror or type(error).__name__) from error
    return path


@click.group()
def draw() -> None:
    """把回答画成网页：一个文件，双击即开，不联网。"""


@draw.command()
@click.argument("topic")
@click.option("--depth", type=click.IntRange(1, 4), default=2, show_default=True, help="上下游各走几级")
@_options
def chain(topic: str, depth: int, **options: Any) -> None:
    """产业链图：TOPIC 的上游、中游、下游与各环节公司。"""
    from kg.query.chain import chain as ask  # noqa: PLC0415 -- imported when called

    _drawn("chain", lambda lens: ask(lens, topic, depth=depth), **options)


@draw.command()
@click.argument("factor")
@_direction
@_options
def impact(factor: str, direction: str, **options: Any) -> None:
    """影响图：FACTOR 上升或下降会带动什么。"""
    from kg.query.impact import impact as ask  # noqa: PLC0415 -- imported when called

    _drawn("impact", lambda lens: ask(lens, factor, _DIRECTIONS[direction]), **options)


@draw.command()
@click.argument("effect")
@_direction
@_options
def causes(effect: str, direction: str, **options: Any) -> None:
    """成因图：什么会使 EFFECT 上升或下降。"""
    from kg.query.impact import causes as ask  # noqa: PLC0415 -- imported when called

    _drawn("causes", lambda lens: ask(lens, effect, _DIRECTIONS[direction]), **options)


@draw.command()
@click.argument("first")
@click.argument("second")
@_options
def relate(first: str, second: str, **options: Any) -> None:
    """关联图：FIRST 与 SECOND 之间最可信的路径。"""
    from kg.query.relate import relate as ask  # noqa: PLC0415 -- imported when called

    _drawn("relate", lambda lens: ask(lens, first, second), **options)


@draw.command()
@click.argument("name")
@_options
def profile(name: str, **options: Any) -> None:
    """全景图：NAME 的全部关系。"""
    from kg.query.profile import profile as ask  # noqa: PLC0415 -- imported when called

    _drawn("profile", lambda lens: ask(lens, name), **options)


@draw.command()
@click.argument("theme_id")
@_options
def theme(theme_id: str, **options: Any) -> None:
    """主题页：一个社区的摘要、成员与图。"""
    from kg.query.lens import Lens  # noqa: PLC0415 -- imported when called
    from kg.query.themes import theme as ask  # noqa: PLC0415 -- imported when called
    from viz.atlas import theme_file, theme_page  # noqa: PLC0415 -- imported when called

    lang, day = options["lang"], options["as_of"]
    with opened(options["kb"], day) as view:
        answer = ask(Lens(view, lang=lang), theme_id)
    out = options["out"] or Path(theme_file(answer.community.id))
    click.echo(_written(out, theme_page(answer, as_of=day, lang=lang)))


@draw.command()
@click.option("--level", type=click.IntRange(0), default=0, show_default=True, help="层级，0 最粗")
@click.option("--most", type=click.IntRange(1), default=60, show_default=True, help="最多写几个主题，从最大的起")
@_options
def themes(level: int, most: int, **options: Any) -> None:
    """主题图册：目录页与每个主题一页，写进 --out 文件夹。"""
    from kg.query.lens import Lens  # noqa: PLC0415 -- imported when called
    from kg.query.themes import theme_of  # noqa: PLC0415 -- imported when called
    from kg.query.themes import themes as ask  # noqa: PLC0415 -- imported when called
    from viz.atlas import theme_entry, theme_file, theme_page  # noqa: PLC0415 -- imported when called
    from viz.pages import index_page  # noqa: PLC0415 -- imported when called
    from viz.wording import word  # noqa: PLC0415 -- imported when called

    lang, day = options["lang"], options["as_of"]
    folder = options["out"] or Path("themes")
    entries = []
    with opened(options["kb"], day) as view:
        lens = Lens(view, lang=lang)
        found = ask(view, level=level)
        for community in found[:most]:
            answer = theme_of(lens, community)
            _written(folder / theme_file(community.id), theme_page(answer, as_of=day, lang=lang))
            entries.append(theme_entry(answer, lang))
    stamp = word("as_of", lang, day=day) if day else word("as_of_latest", lang)
    if len(found) > most:
        stamp += " · " + word("index_cut", lang, kept=most, left=len(found) - most)
    index = index_page(word("index_title", lang), entries, lang=lang, subtitle=stamp)
    click.echo(_written(folder / "index.html", index))


COMMANDS: Final[list[click.Command]] = [draw]
