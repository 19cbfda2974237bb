"""Connections of the service: a process that accepts them, and an end to slow clients and to floods."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import secrets
import selectors
import signal
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from http import HTTPStatus
from multiprocessing import parent_process
from typing import TYPE_CHECKING, Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kg.errors import SettingsError
from kg.service.guard import LOG
from kg.service.problems import problem

if TYPE_CHECKING:
    from collections.abc import Callable

_IDLE_SECONDS = 20.0  # without a whole request, after which a connection is closed
MOST_CONNECTIONS = 4000
_MOST_REQUESTS = 96  # under way, where the service names no number in the state of its lifespan
_MOST_UNSENT = 64 << 20  # bytes of answers that clients have not taken yet, of all connections
_SLOWEST = 10_000  # bytes a second that a client takes of an answer
_BACKLOG = 4096  # the most that Linux grants
_QUEUE_BYTES = 4608  # of connections passed on but not taken, some five; the least that Linux grants
_TAKEN, _ACCEPTED = 4, 64  # connections at a time
_PATIENCE = 2.0  # seconds that a connection waits for the service, which takes a burst in a fraction of one
_PAUSE = 0.01  # seconds until a service that is not idle counts its free places again
_PLACES = struct.Struct("=iH")  # a worker's process, and its free places
_HEALTH = b"GET /health "
_ALIVE = b'{"status":"ok"}'
_SHORT_HEAD = 8192  # bytes of a request that is answered here


class TimedProtocol(H11Protocol):
    """Closes slow connections, and refuses requests that come when too many are under way before they are read.

    Closed is a connection on which no request was completed for 20 seconds, unless an answer is under way, and one
    whose client takes an answer too slowly. uvicorn alone waits for ever for headers that trickle in, for a body, and
    for a client that does not read.
    """

    _sending: ClassVar[set[TimedProtocol]] = set()  # connections with an answer that was not taken whole
    _under_way: ClassVar[set[asyncio.Task[None]]] = set()
    _most: ClassVar[int] = _MOST_REQUESTS

    @classmethod
    def places(cls) -> int:
        """Return how many requests may be under way."""
        return cls._most

    @classmethod
    def free(cls) -> int:
        """Return how many more may be."""
        return max(cls._most - len(cls._under_way), 0)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch the connection."""
        super().connection_made(transport)
        TimedProtocol._under_way = self.tasks
        TimedProtocol._most = self.app_state.get("most_requests", _MOST_REQUESTS)
        self._completed = self._seen = self._unsent = 0
        self._watch = self.loop.call_later(_IDLE_SECONDS, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        self._watch.cancel()
        self._sending.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a request, or refuse it unread."""
        full = not self.free() or (self._sending and _unsent(self._sending) > _MOST_UNSENT)
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
        LOG.info(json.dumps({"request": request, "path": "unread", "status": status}))
        self.transport.write(_refusal(status, request, detail))
        self.transport.close()

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


def _refusal(status: HTTPStatus, request: str, detail: str = "") -> bytes:
    found = problem(status, detail, headers={"X-Request-ID": request, "Connection": "close"})
    head = b"".join(b"%s: %s\r\n" % each for each in found.raw_headers)
    return b"HTTP/1.1 %d %s\r\n%s\r\n" % (status, status.phrase.encode(), head) + bytes(found.body)


class PassedLoop(asyncio.SelectorEventLoop):
    """An event loop whose server takes the connections that the front passes on."""

    def __init__(self, *, use_subprocess: bool = False) -> None:  # noqa: ARG002 -- uvicorn gives it
        super().__init__()

    async def create_server(self, protocol_factory: Any, *_: Any, sock: Any = None, **__: Any) -> Any:
        """Take connections from a socket, as uvicorn asks for it."""
        return _Taking(self, sock, protocol_factory)


class _Taking:
    """Takes connections while there are free places, and tells the front how many there are."""

    def __init__(self, loop: PassedLoop, passed: socket.socket, factory: Callable[[], asyncio.Protocol]) -> None:
        self._loop, self._passed, self._factory = loop, passed, factory
        self._opening = set[asyncio.Task[Any]]()
        self._told = -1
        self._timer: asyncio.TimerHandle | None = None
        passed.settimeout(0)
        self._count()

    def close(self) -> None:
        """Take no more."""
        self._loop.remove_reader(self._passed)
        if self._timer:
            self._timer.cancel()

    async def wait_closed(self) -> None:
        """Return at once: connections are the protocol's."""

    def _count(self) -> None:
        """Wait for connections if there is a place, and for places if some are taken."""
        free = max(TimedProtocol.free() - len(self._opening), 0)
        if free:
            self._loop.add_reader(self._passed, self._take)
        else:
            self._loop.remove_reader(self._passed)
        if free != self._told:
            with suppress(OSError):  # the front has ended, or reads later what others said
                self._passed.send(_PLACES.pack(os.getpid(), free))
                self._told = free
        idle = self._told == TimedProtocol.places()
        self._timer = None if idle else self._loop.call_later(_PAUSE, self._count)

    def _take(self) -> None:
        for _ in range(_TAKEN):
            try:
                message, found, _, _ = socket.recv_fds(self._passed, 1, 1)
            except BlockingIOError:  # another worker was faster
                break
            if not message:
                LOG.error("the process that accepts connections has ended")
                self._loop.remove_reader(self._passed)
                os.kill(os.getppid() if parent_process() else os.getpid(), signal.SIGTERM)
                return
            if not found:
                LOG.error("a connection is lost: too many open files")
                break
            connection = socket.socket(fileno=found[0])
            connection.settimeout(0)
            task = self._loop.create_task(self._loop.connect_accepted_socket(self._factory, connection))
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        if self._timer is None:
            self._count()


class _Front:
    """Accepts connections, answers `/health`, and passes on the others once there is something to read, or refuses.

    As many as the service has free places wait until it takes them. The front computes nothing and waits for nobody,
    so that neither a flood nor a question makes refusals and `/health` wait.
    """

    def __init__(self, listener: socket.socket, service: socket.socket) -> None:
        self._listener, self._service = listener, service
        self._silent: dict[socket.socket, float] = {}  # connections that have sent nothing, and since when
        self._waiting: deque[tuple[socket.socket, float]] = deque()  # connections to pass on, and since when
        self._free: dict[int, int] = {}  # the places of each worker that has told them
        self._selector = selectors.DefaultSelector()
        self._refused, self._since = 0, 0.0
        self._renew()
        for each in (listener, service):
            each.settimeout(0)
            self._selector.register(each, selectors.EVENT_READ)

    def run(self) -> None:
        """Go on until the service has ended."""
        while True:
            for key, events in self._selector.select(_PATIENCE if self._waiting else 1):
                if key.fileobj is self._service:
                    if events & selectors.EVENT_READ and not self._listen():
                        self._give_up(time.monotonic())
                        return
                elif key.fileobj is self._listener:
                    self._accept()
                else:
                    self._handle(key.fileobj)  # type: ignore[arg-type] # a socket
            now = time.monotonic()
            if self._waiting:
                self._drain()
                self._give_up(now - _PATIENCE)
            while self._silent and now - next(iter(self._silent.values())) > _IDLE_SECONDS:
                self._forget(next(iter(self._silent))).close()
            if self._refused and now - self._since > 1:
                LOG.info(json.dumps({"request": self._id, "path": "unread", "status": 503, "count": self._refused}))
                self._renew()

    def _renew(self) -> None:
        self._id, self._refused, self._since = secrets.token_hex(8), 0, time.monotonic()
        self._refusal = _refusal(HTTPStatus.SERVICE_UNAVAILABLE, self._id)

    def _listen(self) -> bool:
        """Return whether the service goes on; give up the last of those that wait for more places than it has."""
        try:
            while told := self._service.recv(_PLACES.size):
                worker, self._free[worker] = _PLACES.unpack(told)
        except BlockingIOError:
            while len(self._waiting) > self._room():
                self._refuse(self._waiting.pop()[0])
            self._await_room()
            return True
        except OSError:
            return False
        return False

    def _room(self) -> int:
        """Return how many connections may wait: as many as there are places, once a worker has told."""
        return sum(self._free.values()) if self._free else _MOST_REQUESTS

    def _give_up(self, before: float) -> None:
        while self._waiting and self._waiting[0][1] <= before:
            self._refuse(self._waiting.popleft()[0])
        self._await_room()

    def _drain(self) -> None:
        while self._waiting and self._pass_on(self._waiting[0][0]):
            self._waiting.popleft()[0].close()
        self._await_room()

    def _await_room(self) -> None:
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._waiting else 0)
        if self._selector.get_key(self._service).events != events:
            self._selector.modify(self._service, events)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED):
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # too many open files
                time.sleep(_PAUSE)
                return
            connection.settimeout(0)
            self._handle(connection)

    def _handle(self, connection: socket.socket) -> None:
        try:
            begun = connection.recv(_SHORT_HEAD, socket.MSG_PEEK)
        except BlockingIOError:
            if len(self._silent) < MOST_CONNECTIONS:
                self._silent[connection] = time.monotonic()
                self._selector.register(connection, selectors.EVENT_READ)
            else:
                connection.close()
            return
        except OSError:  # the client has left
            begun = b""
        self._forget(connection)
        health = begun.startswith(_HEALTH) and begun.endswith(b"\r\n\r\n")
        if begun and not health and len(self._waiting) < self._room():
            self._waiting.append((connection, time.monotonic()))
            if len(self._waiting) == 1:
                self._drain()
            return
        if begun and not health:
            self._refuse(connection)
            return
        with connection:
            if health:
                self._reply(connection, _healthy())

    def _forget(self, connection: socket.socket) -> socket.socket:
        if self._silent.pop(connection, None) is not None:
            self._selector.unregister(connection)
        return connection

    def _pass_on(self, connection: socket.socket) -> bool:
        try:
            socket.send_fds(self._service, [b"\0"], [connection.fileno()])
        except OSError:  # no room, or the service has ended, which is seen in the next round
            return False
        return True

    def _refuse(self, connection: socket.socket) -> None:
        self._refused += 1
        with connection:
            self._reply(connection, self._refusal)

    def _reply(self, connection: socket.socket, reply: bytes) -> None:
        try:
            connection.recv(1 << 16)  # closed with something unread, the client might not see the reply
            connection.send(reply)
        except OSError:  # the client has left
            pass


def _healthy() -> bytes:
    head = f"X-Request-ID: {secrets.token_hex(8)}\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n"
    typed = f"Content-Type: application/json\r\nContent-Length: {len(_ALIVE)}\r\n"
    return f"HTTP/1.1 200 OK\r\n{typed}{head}\r\n".encode() + _ALIVE


def accepting(listener: socket.socket) -> socket.socket:
    """Start a process that accepts connections, and ends with the service; return where the service takes them.

    The socket that listens is that process's alone from now on.
    """
    front, service = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    front.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _QUEUE_BYTES)
    if not os.fork():
        code = 1
        try:
            for each in (signal.SIGINT, signal.SIGTERM):  # of a terminal or a supervisor, to all processes: this one
                signal.signal(each, signal.SIG_IGN)  # ends with the service, which would miss it otherwise
            service.close()
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
            _Front(listener, front).run()
            code = 0
        finally:
            if code:
                LOG.error("the process that accepts connections has failed", exc_info=True)
            os._exit(code)
    front.close()
    listener.close()
    return service


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
