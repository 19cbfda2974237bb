"""A line to the server that can be cut: a TCP proxy on loopback."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable


class Proxy:
    """Passes bytes on until `allow` of them went to the server; then it cuts the line, for good or once."""

    def __init__(self, port: int, allow: int, *, once: bool) -> None:
        self._port, self._left, self._once = port, allow, once
        self._cut = False
        self._guard = threading.Lock()
        self._open: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        # Waking `accept` takes a shutdown: closing alone would leave its thread waiting.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()
        for thread in self._threads:
            thread.join(5)

    @property
    def was_cut(self) -> bool:
        return self._cut

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self._cut and not self._once:
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._port))
            self._open += [client, server]
            self._start(self._pass_on, client, server, self._is_over)
            self._start(self._pass_on, server, client, lambda _: False)

    def _pass_on(self, one: socket.socket, other: socket.socket, is_over: Callable[[int], bool]) -> None:
        with suppress(OSError):
            while data := one.recv(2048):
                if is_over(len(data)):
                    self._drop()
                    return
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _is_over(self, size: int) -> bool:
        with self._guard:
            if self._cut:
                return not self._once
            self._left -= size
            self._cut = self._left < 0
            return self._cut

    def _drop(self) -> None:
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
