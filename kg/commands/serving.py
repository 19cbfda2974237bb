"""`liantu serve` and `liantu mcp`: questions over HTTP and for assistants."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from kg.commands.language import lang_option, shown_lang, warn
from kg.commands.options import confidence_option, configured_encoder, configured_model, kb_option
from kg.errors import ExtraMissing, SettingsError
from kg.messages.words import translated
from kg.settings import load, share_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import ASGIApp

    from kg.service.base import KnowledgeBase
    from kg.service.keys import KeyRing

_LARGEST_HEAD = 32_768  # bytes of request line and headers
_SHUTDOWN_SECONDS = 30
_HUNG_SECONDS = 60  # a worker on a machine with too much work is slow to reply; killing it would drop its requests


_PREFIX = f"{__name__.rpartition('.commands')[0]}.service."
_PORT = click.IntRange(0, 65535)
_NETWORK = (
    click.option(
        "--host",
        default="127.0.0.1",
        show_default=True,
        help="address to listen on; one beyond this machine needs keys",
    ),
    click.option("--port", type=_PORT, default=8765, show_default=True, help="port to listen on, 0 for any free one"),
    click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="number of processes"),
    click.option(
        "--keys",
        type=click.Path(path_type=Path, dir_okay=False),
        help="file of keys, one per line: NAME HASH [REQUESTS PER SECOND]",
    ),
    click.option(
        "--rate",
        type=click.FloatRange(0, 1e6),
        default=0,
        show_default=True,
        help="requests per second and key, 0 for no limit",
    ),
)


def _network_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_NETWORK):
        command = option(command)
    return command


@click.command()
@kb_option
@_network_options
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=4,
    show_default=True,
    help="questions answered at the same time",
)
@click.option(
    "--seconds", type=click.FloatRange(0.1, 600), default=20, show_default=True, help="most seconds per question"
)
@click.option("--new-key", is_flag=True, help="make a key and its hash, then exit")
@confidence_option
@lang_option
def serve(*, new_key: bool, **options: Any) -> None:
    """Serve answers over HTTP, read-only, as --json prints them (pip install 'liantu[serve]')."""
    try:
        from kg.service.keys import hash_key, random_key  # noqa: PLC0415 -- an optional extra
    except ModuleNotFoundError as missing:
        raise ExtraMissing(missing, "serve") from missing
    if new_key:
        key = random_key()
        click.echo(f"key, for the client: {key}\nhash, for KG_SERVICE_KEYS: {hash_key(key)}")
    else:
        _serve(**options)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """Makes the service, or without limits the MCP tools, in each worker process."""

    base: Mapping[str, Any]
    keys: str
    key_file: Path | None
    rate: float
    limits: Mapping[str, Any] | None
    shared_metrics: str = ""

    def __call__(self) -> ASGIApp:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
        kb = _knowledge_base(**self.base, model=configured_model(), encoder=configured_encoder())
        if self.limits is None:
            from kg.service.tools import create_tools_app  # noqa: PLC0415 -- an optional extra

            return create_tools_app(kb, keys=self.ring())
        from kg.service.answering import ServiceLimits  # noqa: PLC0415 -- an optional extra
        from kg.service.app import create_app  # noqa: PLC0415

        limits = ServiceLimits(**self.limits)
        return create_app(kb, keys=self.ring(), limits=limits, shared_metrics=self.shared_metrics)

    def ring(self) -> KeyRing:
        """Return the keys that are accepted."""
        from kg.service.keys import KeyRing, read_hashes  # noqa: PLC0415

        return KeyRing(read_hashes(self.keys, self.rate), file=self.key_file, rate=self.rate)


def _serve(*, host: str, port: int, workers: int, tools: bool = False, **options: Any) -> None:
    base = {name: options[name] for name in ("kb", "lang", "min_confidence")}
    limits = None if tools else {name: options[name] for name in ("concurrency", "seconds")}
    made = _Service(
        base=base, keys=load().service_keys, key_file=options["keys"], rate=options["rate"] / workers, limits=limits
    )
    extra = "mcp" if tools else "serve"
    try:
        import uvicorn  # noqa: PLC0415 -- an optional extra
        from uvicorn.supervisors import Multiprocess  # noqa: PLC0415

        import_module(_PREFIX + ("tools" if tools else "app"))  # needs all that the extra brings
        from kg.service import connections  # noqa: PLC0415
        from kg.service.guard import is_loopback  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise ExtraMissing(missing, extra) from missing
    if not made.ring().required and not is_loopback(host):
        raise SettingsError(
            "service_keys", f"needed to listen on {host}; `liantu serve --new-key` makes a key and its hash"
        )
    _knowledge_base(**base).close()  # a base that cannot be opened is reported here, in one line
    with connections.listening(host, port) as listener, TemporaryDirectory(prefix="liantu-metrics-") as shared:
        if not made.ring().required:
            warn("cli.error", error=translated("no keys set: open to every program on this machine", shown_lang()))
        if workers > 1:
            made = replace(made, shared_metrics=shared)
            share_metrics(shared)
        config = uvicorn.Config(
            made,
            factory=True,
            workers=workers,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=connections.MOST_CONNECTIONS,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            timeout_worker_healthcheck=_HUNG_SECONDS,
            h11_max_incomplete_event_size=_LARGEST_HEAD,
            http=connections.TimedProtocol,
            loop=f"{connections.__name__}:{connections.PassedLoop.__name__}",
            ws="none",
        )
        path = "/mcp" if tools else "/v1/"
        click.echo(f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}{path}")
        sockets = [connections.accepting(listener)]
        if workers > 1:
            Multiprocess(config, sockets=sockets).run()
        else:
            uvicorn.Server(config).run(sockets=sockets)


@click.command()
@kb_option
@click.option("--http", is_flag=True, help="over HTTP (/mcp) instead of standard input and output")
@_network_options
@confidence_option
@lang_option
def mcp(*, http: bool, **options: Any) -> None:
    """Serve MCP tools to assistants, over standard input and output or HTTP (pip install 'liantu[mcp]')."""
    if http:
        _serve(tools=True, **options)
        return
    options = {name: options[name] for name in ("kb", "lang", "min_confidence")}
    try:
        from kg.service.tools import serve_stdio  # noqa: PLC0415 -- an optional extra
    except ModuleNotFoundError as missing:
        raise ExtraMissing(missing, "mcp") from missing
    logging.basicConfig(level=logging.WARNING)  # to standard error; standard output carries the protocol
    with _knowledge_base(**options, model=configured_model(), encoder=configured_encoder()) as kb:
        serve_stdio(kb)


def _knowledge_base(*, kb: Path, **options: Any) -> KnowledgeBase:
    from kg.service.base import open_kb  # noqa: PLC0415 -- imported when called

    return open_kb(kb, **options)
