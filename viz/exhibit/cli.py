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

from kg.commands.files import is_database
from kg.commands.language import lang_option
from kg.commands.options import confidence_option, kb_option
from kg.errors import ExtraMissing
from kg.service.base import open_kb
from kg.store.open import open_store

if TYPE_CHECKING:
    from kg.messages.words import Lang

_HOST = "127.0.0.1"
_SHUTDOWN_SECONDS = 2
_BROWSER_AFTER = 0.5  # seconds, so that the server answers first


@click.command()
@kb_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="port to listen on; default: any free one")
@click.option("--no-open", is_flag=True, help="do not open a browser")
@confidence_option
@lang_option
@click.pass_context
def explore(context: click.Context, /, *, port: int, no_open: bool, **options: Any) -> None:
    """Browse the base in a web browser on this machine and record judgements (pip install 'liantu[serve]')."""
    try:
        import uvicorn  # noqa: PLC0415 -- an optional extra

        from kg.service.connections import TimedProtocol, listening  # noqa: PLC0415
        from viz.exhibit.serving import explorer_app  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise ExtraMissing(missing, "serve") from missing
    logging.basicConfig(level=logging.WARNING)
    notes = Path(f"{base}.notes.json") if is_database(base := Path(options["kb"])) else None  # before it is opened
    began, since = context.find_root().obj, monotonic()
    kb = open_kb(options["kb"], lang=options["lang"], min_confidence=options["min_confidence"])
    with listening(_HOST, port) as listener:
        app = explorer_app(
            kb, lang=options["lang"], now=lambda: began + timedelta(seconds=monotonic() - since), notes=notes
        )
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
@click.option("--out", type=click.Path(path_type=Path), required=True, help="folder to write")
@click.option("--one-file", is_flag=True, help="write everything into one page")
@confidence_option
@lang_option
def exhibit(*, kb: Path, out: Path, one_file: bool, min_confidence: float, lang: Lang) -> None:
    """Write the whole base as static web pages to browse: open index.html, no service and no network needed."""
    from viz.exhibit.content import ExhibitContent  # noqa: PLC0415 -- imported when called
    from viz.exhibit.pages import write_exhibit  # noqa: PLC0415 -- imported when called

    store = open_store(kb)
    try:
        with store.reader() as view:
            content = ExhibitContent(store, view, min_confidence=min_confidence)
            click.echo(write_exhibit(content, out, lang=lang, one_file=one_file))
    finally:
        store.close()
