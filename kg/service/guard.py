"""The layers around every request: a request id, limits on size, keys, and one line of log."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from http import HTTPStatus
from ipaddress import ip_address
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from kg.service.problems import problem

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from kg.service.keys import ClientKey, KeyRing
    from kg.service.metrics import ServiceMetrics

LOG = logging.getLogger("liantu.requests")
_OPEN = frozenset({"/health", "/ready"})
_LONGEST_URL = 12_288  # bytes of path and query; a question of 1,000 Chinese characters has 9,000
_ADMITTED = "liantu_admitted"
BATCH = "/v1/batch"
_LONGEST_BODY = 65_536  # bytes; only one path takes a body
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "10.1.2.3", "evil.example")]
    [True, True, True, False, False, False]
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware. Without keys only this machine is answered, under its own name (against DNS rebinding)."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyRing,
        metrics: ServiceMetrics | None = None,
        posted: str = BATCH,
        most_open: int = 0,
    ) -> None:
        self._app, self._keys, self._metrics, self._posted = app, keys, metrics, posted
        self._open, self._most_open, self._turn = 0, most_open, asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, begun, status = Headers(scope=scope), perf_counter(), 0
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        key = self._key(headers)
        if self._metrics:
            self._metrics.begin()
        scope.setdefault("state", {})["request_id"] = request_id

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = MutableHeaders(scope=message)
                added["X-Request-ID"] = request_id
                added["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            refused = self._refusal(scope, headers, key)
            if refused is None and scope["path"] not in _OPEN and self._most_open:
                refused = await self._admission(scope)
            await (refused or self._app)(scope, receive, sent)
        finally:
            self._open -= scope["state"].pop(_ADMITTED, 0)
            seconds = perf_counter() - begun
            status = status or HTTPStatus.INTERNAL_SERVER_ERROR.value
            if self._metrics:
                self._metrics.end(scope, status, seconds)
            entry = {
                "request": request_id,
                "key": key.name[:64] if key else "",
                "method": scope["method"][:16],
                "path": str(getattr(scope.get("route"), "path", "")) or "other",  # a stranger's path may hold a key
                "status": status,
                "ms": round(seconds * 1000, 1),
            }
            LOG.info(json.dumps(entry))

    async def _admission(self, scope: Scope) -> Response | None:
        """Refuse a request when all places are taken; otherwise let one in at a time.

        Many requests that come at once are all counted before the first of them is read, so that a refusal, or
        `/health`, waits for none of them.
        """
        if self._open >= self._most_open:
            return problem(HTTPStatus.SERVICE_UNAVAILABLE)
        self._open += 1
        scope["state"][_ADMITTED] = 1
        async with self._turn:
            await asyncio.sleep(0)
        return None

    def _key(self, headers: Headers) -> ClientKey | None:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        return self._keys.known(bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", ""))

    def _refusal(self, scope: Scope, headers: Headers, key: ClientKey | None) -> Response | None:
        length = headers.get("content-length", "0")
        most = _LONGEST_BODY if (scope["method"], scope["path"]) == ("POST", self._posted) else 0
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > most:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers={"Connection": "close"})
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_URL:
            return problem(HTTPStatus.REQUEST_URI_TOO_LONG)
        if scope["path"] in _OPEN:
            return None
        if self._keys.required:
            return self._limited(key) if key else problem(HTTPStatus.UNAUTHORIZED)
        client = (scope.get("client") or ("",))[0]
        if is_loopback(client) and is_loopback(_host_name(headers.get("host", ""))):
            return None
        return problem(HTTPStatus.FORBIDDEN)

    def _limited(self, key: ClientKey) -> Response | None:
        seconds = self._keys.wait(key)
        return problem(HTTPStatus.TOO_MANY_REQUESTS, headers={"Retry-After": str(ceil(seconds))}) if seconds else None


def _host_name(host: str) -> str:
    """Return the name in a Host header, without port and brackets."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
