"""What stands before every request: a request id, limits on size, keys, and one line of log."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import secrets
from http import HTTPStatus
from ipaddress import ip_address
from time import perf_counter
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from kg.errors import SettingsError
from kg.service.problems import problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("liantu.requests")
_OPEN = frozenset({"/health", "/ready"})
_LONGEST_URL = 12_288  # bytes of path and query; a question of 1,000 Chinese characters has 9,000
_BATCH = "/v1/batch"
_LONGEST_BATCH = 65_536  # bytes; no other request has a body
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HASH = re.compile(r"[0-9a-f]{64}")


def hash_key(key: str) -> str:
    """Hash a key. Keys are random (`random_key`), so that a fast hash is enough: there is no dictionary to try.

    >>> hash_key("a key")[:8]
    '8fa3aab2'
    """
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def random_key() -> str:
    """Return a new random key of 256 bits."""
    return secrets.token_urlsafe(32)


def read_hashes(setting: str) -> tuple[str, ...]:
    """Read the hashes of keys from the setting `service_keys`, separated by spaces or commas.

    Raises:
        SettingsError: when one is not a hash.
    """
    hashes = tuple(setting.lower().replace(",", " ").split())
    if not all(map(_HASH.fullmatch, hashes)):
        raise SettingsError("service_keys", "not SHA-256 hashes; `liantu serve --new-key` makes a key and its hash")
    return hashes


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

    def __init__(self, app: ASGIApp, *, keys: Sequence[str] = ()) -> None:
        self._app, self._keys = app, tuple(keys)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers, begun, status = Headers(scope=scope), perf_counter(), 0
        given = headers.get("x-request-id", "")
        request_id = given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        key = self._key(headers)
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
            await (refused or self._app)(scope, receive, sent)
        finally:
            entry = {
                "request": request_id,
                "key": key[:8],
                "method": scope["method"][:16],
                "path": scope["path"][:200],
                "status": status or HTTPStatus.INTERNAL_SERVER_ERROR.value,
                "ms": round((perf_counter() - begun) * 1000, 1),
            }
            LOG.info(json.dumps(entry))

    def _key(self, headers: Headers) -> str:
        """Return the hash of the key that was sent, if it is one of ours; compares with all in constant time."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        sent = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        hashed = hash_key(sent)
        return "".join([known for known in self._keys if hmac.compare_digest(known, hashed)][:1])

    def _refusal(self, scope: Scope, headers: Headers, key: str) -> Response | None:
        length = headers.get("content-length", "0")
        most = _LONGEST_BATCH if (scope["method"], scope["path"]) == ("POST", _BATCH) else 0
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > most:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, headers={"Connection": "close"})
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _LONGEST_URL:
            return problem(HTTPStatus.REQUEST_URI_TOO_LONG)
        if scope["path"] in _OPEN:
            return None
        if self._keys:
            return None if key else problem(HTTPStatus.UNAUTHORIZED)
        client = (scope.get("client") or ("",))[0]
        if is_loopback(client) and is_loopback(_host_name(headers.get("host", ""))):
            return None
        return problem(HTTPStatus.FORBIDDEN)


def _host_name(host: str) -> str:
    """Return the name in a Host header, without port and brackets."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
