"""Connections of the service: a listening socket, many open files, and an end to slow clients and to floods."""

from __future__ import annotations

import json
import resource
import secrets
import socket
from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kg.errors import SettingsError
from kg.service.guard import LOG
from kg.service.problems import problem

if TYPE_CHECKING:
    import asyncio
    from typing import Any

_IDLE_SECONDS = 20.0  # without a whole request, after which a connection is closed
MOST_CONNECTIONS = 4000
_MOST_REQUESTS = 96  # under way, where the service names no number in the state of its lifespan
_MOST_UNSENT = 64 << 20  # bytes of answers that clients have not taken yet, of all connections
_SLOWEST = 10_000  # bytes a second that a client takes of an answer
BACKLOG = 4096  # the most that Linux grants
_HEALTH = b"GET /health "


class TimedProtocol(H11Protocol):
    """Closes slow connections, and refuses requests that come when too many are under way before they are read.

    Closed is a connection on which no request was completed for 20 seconds, unless an answer is under way, and one
    whose client takes an answer too slowly. uvicorn alone waits for ever for the first request of a connection, for
    headers that trickle in, for a body, and for a client that does not read. Reading a request takes a millisecond, a
    refusal here a tenth of it: two thousand at once are refused while `/health` is answered.
    """

    _sending: ClassVar[set[TimedProtocol]] = set()  # connections with an answer that was not taken whole

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch the connection."""
        super().connection_made(transport)
        self._completed = self._seen = self._unsent = 0
        self._watch = self.loop.call_later(_IDLE_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._watch.cancel()
        self._sending.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a request, or refuse it unread."""
        most = self.app_state.get("most_requests", _MOST_REQUESTS)
        full = len(self.tasks) >= most or (self._sending and _unsent(self._sending) > _MOST_UNSENT)
        if full and self.conn.their_state is h11.IDLE and not data.startswith(_HEALTH):
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP with problem details, as everything else."""
        self._refuse(HTTPStatus.BAD_REQUEST, f"{msg} Send HTTP/1.1.")

    def on_response_complete(self) -> None:
        """Count an answer."""
        self._completed += 1
        if self.transport.get_write_buffer_size():
            self._sending.add(self)
        super().on_response_complete()

    def _refuse(self, status: HTTPStatus, detail: str = "") -> None:
        request = secrets.token_hex(8)
        found = problem(status, detail, headers={"X-Request-ID": request, "Connection": "close"})
        head = b"".join(b"%s: %s\r\n" % each for each in found.raw_headers)
        self.transport.write(b"HTTP/1.1 %d %s\r\n%s\r\n" % (status, status.phrase.encode(), head) + bytes(found.body))
        self.transport.close()
        LOG.info(json.dumps({"request": request, "path": "unread", "status": status}))

    def _look(self) -> None:
        answering = self.conn.their_state in (h11.DONE, h11.MUST_CLOSE)
        unsent = self.transport.get_write_buffer_size()
        if unsent and self._unsent and unsent > self._unsent - _IDLE_SECONDS * _SLOWEST:
            self.transport.abort()
        elif unsent or answering or self._completed != self._seen:
            self._seen, self._unsent = self._completed, unsent
            self._watch = self.loop.call_later(_IDLE_SECONDS, self._look)
        else:
            self.transport.close()


def _unsent(sending: set[TimedProtocol]) -> int:
    """Return the bytes that clients have not taken, and forget the connections that have none."""
    sizes = {each: each.transport.get_write_buffer_size() for each in sending}
    sending -= {each for each, size in sizes.items() if not size}
    return sum(sizes.values())


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens, and allow this process and its workers as many open files as the system grants.

    Raises:
        SettingsError: when nothing can listen there.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted: Any = 2 * MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(2 * MOST_CONNECTIONS, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise SettingsError(f"--host {host} --port {port}", f"cannot listen there: {error.strerror}") from error
    # asyncio sets this only on sockets with an explicit protocol; without it a short answer waits 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
