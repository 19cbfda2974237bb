"""Replies on disk, synced before they are used, so that no call is paid twice, even after a crash."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kg.llm.port import ModelError, Reply, request_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kg.llm.port import Model, Request

_ANSWERED, _SIGNED, _NOTED = 4, 7, 5  # fields of a line: a reply, one with its model, an unanswered request


def replies_beside(kb: Path) -> Path:
    """Return the file of the replies that belong to a base; of a base on a server, a file in the working folder.

    >>> replies_beside(Path("kb.liantu")).name, replies_beside(Path("neo4j://host:7687")).name
    ('kb.liantu-replies.jsonl', 'neo4j-host-7687-replies.jsonl')
    """
    scheme, _, server = str(kb).partition(":/")
    if scheme.startswith(("neo4j", "bolt")) and server:
        place = "".join(char if char.isalnum() or char in ".-" else "-" for char in server.strip("/"))
        return Path(f"neo4j-{place}-replies.jsonl")
    return Path(f"{kb}-replies.jsonl")


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply with the model that gave it and the time of its arrival in ISO format, both "" if unknown."""

    reply: Reply
    model: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A request without a reply: exported (no cause) or failed."""

    model: str
    at: str
    cause: str = ""


class ReplyLog:
    """An append-only file of replies and unanswered requests by request key; thread-safe.

    One JSON array per line, synced before `add` returns. A truncated line is ignored. The first reply to a request
    stands.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replies: dict[str, StoredReply] = {}
        self.unanswered: dict[str, Unanswered] = {}
        self._lock = threading.Lock()
        for line in _lines(path):
            self._read(line)

    @classmethod
    def empty(cls) -> ReplyLog:
        """Return a log without replies, for reading documents as if no model had been asked."""
        return cls(Path(os.devnull))

    def add(self, key: str, stored: StoredReply) -> bool:
        """Write a reply; return False if the request has one already."""
        reply = stored.reply
        with self._lock:
            if key in self.replies:
                return False
            row = [key, reply.text, reply.prompt_tokens, reply.reply_tokens]
            signed = [stored.model, stored.at, reply.cut] if stored.model else []
            self._append([[*row, *signed]])
            self.replies[key] = stored
            self.unanswered.pop(key, None)
        return True

    def note(self, requests: Sequence[tuple[str, Unanswered]]) -> None:
        """Write requests that have no reply: exported to a file, or failed."""
        with self._lock:
            fresh = [(key, row) for key, row in requests if key not in self.replies and self.unanswered.get(key) != row]
            self._append([[key, None, row.model, row.at, row.cause] for key, row in fresh])
            self.unanswered.update(fresh)

    def _append(self, rows: Sequence[Sequence[object]]) -> None:
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        try:
            with self.path.open("a+b") as file:
                # Start a new line if the last one is truncated.
                truncated = file.tell() and (file.seek(-1, os.SEEK_END), file.read(1) != b"\n")[1]
                file.write(("\n" if truncated else "").encode() + text.encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ModelError(str(self.path), f"cannot write the reply: {error.strerror}") from error

    def _read(self, line: bytes) -> None:
        try:
            row = json.loads(line)
            key = str(row[0])
            if len(row) == _NOTED and row[1] is None:
                self.unanswered[key] = Unanswered(str(row[2]), str(row[3]), str(row[4]))
            elif len(row) in (_ANSWERED, _SIGNED) and key not in self.replies:
                model, at, cut = row[4:] or ("", "", False)
                reply = Reply(str(row[1]), int(row[2]), int(row[3]), cut=bool(cut))
                self.replies[key] = StoredReply(reply, str(model), str(at))
                self.unanswered.pop(key, None)
        except (ValueError, TypeError, IndexError, KeyError):
            return


class Replay:
    """A model with a reply cache. Without a wrapped model only cached requests are answered."""

    def __init__(self, path: Path, model: Model | None = None, *, name: str = "") -> None:
        self.path, self.calls = path, 0
        self._model, self._name = model, name
        self._log = ReplyLog(path)

    @property
    def name(self) -> str:
        """The name of the wrapped model, or the given name."""
        return self._model.name if self._model else self._name

    def known(self, request: Request) -> bool:
        """Whether the reply is cached."""
        return request_key(self.name, request) in self._log.replies

    def complete(self, request: Request) -> Reply:
        """Return the cached reply, or request it from the model and cache it.

        Raises:
            ModelError: when it is not cached and there is no model, or the model fails.
        """
        key = request_key(self.name, request)
        if (stored := self._log.replies.get(key)) is not None:
            return stored.reply
        if self._model is None:
            raise ModelError(self.name, f"{self.path} has no reply to this request")
        reply = self._model.complete(request)
        self._log.add(key, StoredReply(reply))
        self.calls += 1
        return reply

    def close(self) -> None:
        """Close the wrapped model."""
        if self._model:
            self._model.close()


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ModelError(str(path), f"cannot read cached replies: {error.strerror}") from error
