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

from kg.commands.language import lang_option
from kg.commands.options import confidence_option, kb_option
from kg.errors import KgError
from kg.service.base import open_kb
from kg.store.open import open_store

if TYPE_CHECKING:
    from kg.messages.words import Lang

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
        import uvicorn  # noqa: PLC0415 -- an optional extra

        from kg.service.connections import TimedProtocol, listening  # noqa: PLC0415
        from viz.exhibit.serving import explorer_app  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise KgError(f"{missing.name} is not installed; run `pip install 'liantu[serve]'`") from missing
    logging.basicConfig(level=logging.WARNING)
    began, since = context.find_root().obj, monotonic()
    kb = open_kb(options["kb"], lang=options["lang"], min_confidence=options["min_confidence"])
    with listening(_HOST, port) as listener:
        app = explorer_app(kb, lang=options["lang"], now=lambda: began + timedelta(seconds=monotonic() - since))
        address = f"http://{_HOST}:{listener.getsockname()[1]}/"
        click.echo(address)
        if not no_open:
            opening = Timer(_BROWSER_AFTER, webbrowser.open, (address,))
            opening.daemon = True
            opening.start()
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            http=TimedProtocol,
            ws="none",
        )
        uvicorn.Server(config).run(sockets=[listener])


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
