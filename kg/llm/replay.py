"""Cache of replies on disk, so that a prompt is never sent twice, even after a crash."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

from kg.llm.port import ModelError, Reply, request_key

if TYPE_CHECKING:
    from pathlib import Path

    from kg.llm.port import Model, Request


class Replay:
    """A model with a reply cache: one JSON array per line, synced to disk before the reply is returned.

    A truncated line is ignored and its request sent again. Without a wrapped model only cached requests are answered.
    """

    def __init__(self, path: Path, model: Model | None = None, *, name: str = "") -> None:
        self.path, self.calls = path, 0
        self._model, self._name = model, name
        self._lock = threading.Lock()
        self._replies = _read(path)

    @property
    def name(self) -> str:
        """The name of the wrapped model, or the given name."""
        return self._model.name if self._model else self._name

    def known(self, request: Request) -> bool:
        """Whether the reply is cached."""
        return request_key(self.name, request) in self._replies

    def complete(self, request: Request) -> Reply:
        """Return the cached reply, or request it from the model and cache it.

        Raises:
            ModelError: when it is not cached and there is no model, or the model fails.
        """
        key = request_key(self.name, request)
        with self._lock:
            if key in self._replies:
                return self._replies[key]
        if self._model is None:
            raise ModelError(self.name, f"{self.path} has no reply to this request")
        reply = self._model.complete(request)
        with self._lock:
            self._store(key, reply)
        return reply

    def _store(self, key: str, reply: Reply) -> None:
        line = json.dumps([key, reply.text, reply.prompt_tokens, reply.reply_tokens], ensure_ascii=False)
        try:
            with self.path.open("a+b") as file:
                # Start a new line if the last one is truncated.
                truncated = file.tell() and (file.seek(-1, os.SEEK_END), file.read(1) != b"\n")[1]
                file.write(("\n" if truncated else "").encode() + line.encode("utf-8", "replace") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ModelError(self.name, f"cannot write the reply to {self.path}: {error.strerror}") from error
        self._replies[key] = reply
        self.calls += 1


def _read(path: Path) -> dict[str, Reply]:
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ModelError(str(path), f"cannot read cached replies: {error.strerror}") from error
    found: dict[str, Reply] = {}
    for line in lines:
        try:
            key, text, prompt, reply = json.loads(line)
            found[str(key)] = Reply(str(text), int(prompt), int(reply))
        except (ValueError, TypeError):
            continue
    return found
