"""Connections of the service: a listening socket, many open files, and an end to clients that send too slowly."""

from __future__ import annotations

import resource
import socket
from typing import TYPE_CHECKING

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kg.errors import SettingsError

if TYPE_CHECKING:
    import asyncio
    from typing import Any

_IDLE_SECONDS = 20.0  # without a whole request, after which a connection is closed
MOST_CONNECTIONS = 4000
_BACKLOG = 1024


class TimedProtocol(H11Protocol):
    """Closes a connection on which no request was completed for 20 seconds, unless an answer is under way.

    uvicorn alone waits for ever for the first request of a connection, for headers that trickle in, and for a body.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch the connection."""
        super().connection_made(transport)
        self._completed = self._seen = 0
        self._watch = self.loop.call_later(_IDLE_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._watch.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Count an answer."""
        self._completed += 1
        super().on_response_complete()

    def _look(self) -> None:
        answering = self.conn.their_state in (h11.DONE, h11.MUST_CLOSE)
        if self._completed == self._seen and not answering:
            self.transport.close()
            return
        self._seen = self._completed
        self._watch = self.loop.call_later(_IDLE_SECONDS, self._look)


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
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise SettingsError(f"--host {host} --port {port}", f"cannot listen there: {error.strerror}") from error
    # asyncio sets this only on sockets with an explicit protocol; without it a short answer waits 40 ms for an ACK.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
