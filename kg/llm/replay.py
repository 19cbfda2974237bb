"""Replies kept in a file: what was answered once is never asked again, after a crash as little as in a test."""

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
    """A model before which a file of replies stands: one JSON object a line, synced to the disk before it is used.

    A line cut off by a kill is passed over, its request asked again. Without a model behind it only the file answers.
    """

    def __init__(self, path: Path, model: Model | None = None, *, name: str = "") -> None:
        self.path, self.calls = path, 0
        self._model, self._name = model, name
        self._guard = threading.Lock()
        self._replies = _read(path)

    @property
    def name(self) -> str:
        """The name of the model behind, or the one given."""
        return self._model.name if self._model else self._name

    def known(self, request: Request) -> bool:
        """Whether the file holds the reply."""
        return request_key(self.name, request) in self._replies

    def complete(self, request: Request) -> Reply:
        """Return the kept reply, or ask, keep and return.

        Raises:
            ModelError: when it is not kept and nobody is behind, or the model fails.
        """
        key = request_key(self.name, request)
        with self._guard:
            if key in self._replies:
                return self._replies[key]
        if self._model is None:
            raise ModelError(self.name, f"{self.path} holds no reply to this request")
        reply = self._model.complete(request)
        with self._guard:
            self._keep(key, reply)
        return reply

    def _keep(self, key: str, reply: Reply) -> None:
        line = json.dumps([key, reply.text, reply.prompt_tokens, reply.reply_tokens], ensure_ascii=False)
        try:
            with self.path.open("a+b") as file:
                # A torn last line must not swallow this one.
                torn = file.tell() and (file.seek(-1, os.SEEK_END), file.read(1) != b"\n")[1]
                file.write(("\n" if torn else "").encode() + line.encode("utf-8", "replace") + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ModelError(self.name, f"its reply cannot be kept in {self.path}: {error.strerror}") from error
        self._replies[key] = reply
        self.calls += 1


def _read(path: Path) -> dict[str, Reply]:
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ModelError(str(path), f"kept replies cannot be read: {error.strerror}") from error
    found: dict[str, Reply] = {}
    for line in lines:
        try:
            key, text, prompt, reply = json.loads(line)
            found[str(key)] = Reply(str(text), int(prompt), int(reply))
        except (ValueError, TypeError):
            continue
    return found
