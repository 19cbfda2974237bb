"""`liantu serve` and `liantu mcp`: questions over HTTP and for assistants."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING, Any

import click

from kg.commands.options import confidence_option, kb_option, lang_option
from kg.errors import KgError, SettingsError
from kg.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from fastapi import FastAPI

    from kg.relations import Lang
    from kg.service.base import KnowledgeBase

_LARGEST_HEAD = 32_768  # bytes of request line and headers
_MOST_CONNECTIONS = 1000
_SHUTDOWN_SECONDS = 30


@click.command()
@kb_option
@click.option("--host", default="127.0.0.1", show_default=True, help="监听的地址；非本机地址须设置密钥")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="监听的端口，0 为任一空闲的"
)
@click.option("--concurrency", type=click.IntRange(1, 256), default=4, show_default=True, help="同时回答几个问题")
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=20, show_default=True, help="一个问题最多几秒")
@click.option("--new-key", is_flag=True, help="生成一个密钥及其散列，然后退出")
@confidence_option
@lang_option
def serve(*, new_key: bool, **options: Any) -> None:
    """HTTP 服务：只读，回答与 --json 相同（需 pip install 'liantu[serve]'）。"""
    try:
        from kg.service.guard import hash_key, random_key  # noqa: PLC0415 -- an optional extra
    except ModuleNotFoundError as missing:
        raise absent(missing, "serve") from missing
    if new_key:
        key = random_key()
        click.echo(f"key, for the client: {key}\nhash, for KG_SERVICE_KEYS: {hash_key(key)}")
    else:
        _serve(**options)


def _serve(*, host: str, port: int, concurrency: int, seconds: float, **options: Any) -> None:
    try:
        from kg.service.answering import ServiceLimits  # noqa: PLC0415 -- an optional extra
        from kg.service.app import create_app  # noqa: PLC0415
        from kg.service.guard import is_loopback, read_hashes  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        raise absent(missing, "serve") from missing
    keys = read_hashes(load().service_keys)
    if not keys and not is_loopback(host):
        raise SettingsError(
            "service_keys", f"needed to listen on {host}; `liantu serve --new-key` makes a key and its hash"
        )
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    with open_base(**options) as kb, listening(host, port) as listener:
        if not keys:
            logging.getLogger("liantu").warning("no keys set: open to every program on this machine")
        app = create_app(kb, keys=keys, limits=ServiceLimits(concurrency=concurrency, seconds=seconds))
        click.echo(f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}/v1/")
        run_server(app, listener)


def run_server(app: FastAPI, listener: socket.socket, *, shutdown_seconds: int = _SHUTDOWN_SECONDS) -> None:
    """Serve an application until the process is told to stop."""
    import uvicorn  # noqa: PLC0415 -- an optional extra

    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=shutdown_seconds,
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        http="h11",
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listener])


@click.command()
@kb_option
@confidence_option
@lang_option
def mcp(**options: Any) -> None:
    """MCP 工具：经标准输入输出供助手调用（需 pip install 'liantu[mcp]'）。"""
    try:
        from kg.service.tools import serve_stdio  # noqa: PLC0415 -- an optional extra
    except ModuleNotFoundError as missing:
        raise absent(missing, "mcp") from missing
    logging.basicConfig(level=logging.WARNING)  # to standard error; standard output carries the protocol
    with open_base(**options) as kb:
        serve_stdio(kb)


def open_base(*, kb: Path, lang: Lang, min_confidence: float) -> KnowledgeBase:
    """Open the base of a command that serves it."""
    from kg.service.base import open_kb  # noqa: PLC0415 -- imported when called

    return open_kb(kb, lang=lang, min_confidence=min_confidence)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        SettingsError: when the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise SettingsError(f"--host {host} --port {port}", f"cannot listen there: {error.strerror}") from error
    # asyncio sets this only on sockets with an explicit protocol; without it a short answer waits 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def absent(missing: ModuleNotFoundError, extra: str) -> KgError:
    """Say which extra brings a module that is not installed."""
    return KgError(f"{missing.name} is not installed; run `pip install 'liantu[{extra}]'`")
