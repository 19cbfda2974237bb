"""`liantu explore` and `liantu exhibit`: the whole base to browse, served on this machine or as files."""

from __future__ import annotations

import logging
import webbrowser
from datetime import timedelta
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from kg.commands.options import confidence_option, kb_option, lang_option
from kg.commands.serving import absent, listening, open_base, run_server
from kg.store.open import open_store

if TYPE_CHECKING:
    from kg.relations import Lang

_HOST = "127.0.0.1"
_SHUTDOWN_SECONDS = 2
_BROWSER_AFTER = 0.5  # seconds, so that the server answers first


@click.command()
@kb_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="监听的端口，默认任一空闲的")
@click.option("--no-open", is_flag=True, help="不打开浏览器")
@confidence_option
@lang_option
@click.pass_context
def explore(context: click.Context, /, *, port: int, no_open: bool, **options: Any) -> None:
    """在浏览器里浏览知识库，只对本机开放；可记录判断（需 pip install 'liantu[serve]'）。"""
    try:
        from viz.exhibit.serving import explorer_app  # noqa: PLC0415 -- an optional extra
    except ModuleNotFoundError as missing:
        raise absent(missing, "serve") from missing
    logging.basicConfig(level=logging.WARNING)
    began, since = context.find_root().obj, monotonic()
    with open_base(**options) as kb, listening(_HOST, port) as listener:
        address = f"http://{_HOST}:{listener.getsockname()[1]}/"
        click.echo(address)
        if not no_open:
            opening = Timer(_BROWSER_AFTER, webbrowser.open, (address,))
            opening.daemon = True
            opening.start()
        app = explorer_app(kb, lang=options["lang"], now=lambda: began + timedelta(seconds=monotonic() - since))
        run_server(app, listener, shutdown_seconds=_SHUTDOWN_SECONDS)


@click.command()
@kb_option
@click.option("--out", type=click.Path(path_type=Path), required=True, help="写到哪个文件夹")
@click.option("--one-file", is_flag=True, help="全部写进一个网页文件")
@confidence_option
@lang_option
def exhibit(*, kb: Path, out: Path, one_file: bool, min_confidence: float, lang: Lang) -> None:
    """把整个知识库写成可浏览的静态网页：双击 index.html 即开，不需要服务，不联网。"""
    from viz.exhibit.content import ExhibitContent  # noqa: PLC0415 -- imported when called
    from viz.exhibit.pages import write_exhibit  # noqa: PLC0415 -- imported when called

    store = open_store(kb)
    try:
        with store.reader() as view:
            content = ExhibitContent(store, view, min_confidence=min_confidence)
            click.echo(write_exhibit(content, out, lang=lang, one_file=one_file))
    finally:
        store.close()
