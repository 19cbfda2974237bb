"""A real HTTP server on the loopback that speaks the OpenAI chat wire, counts what it is asked, and can misbehave."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
from collections import Counter, deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Step = Callable[["Handler", dict[str, Any]], None]

_FACT = re.compile(r"^(F[0-9]+)｜[^｜]*｜([^｜\n]*)｜", flags=re.MULTILINE)
_OPPOSED = re.compile(r"^- (F[0-9]+) 与 (F[0-9]+)$", flags=re.MULTILINE)


def obedient(prompt: str) -> str:
    """Answer as the prompt asks: cite facts that are there, invent nothing, keep disagreements."""
    told = dict(_FACT.findall(prompt))
    first = next(iter(told))
    lines: list[dict[str, Any]] = [{"kind": "chain", "text": told[first], "facts": [first]}]
    for pair in _OPPOSED.findall(prompt):
        both = "；".join(told[handle] for handle in pair)
        lines.append({"kind": "disagreement", "text": both, "facts": list(pair)})
    return json.dumps({"gist": {"text": told[first], "facts": [first]}, "lines": lines}, ensure_ascii=False)


class Endpoint:
    """What the server was asked: `asked` when a request came whole, `answered` when its reply had been sent whole."""

    def __init__(self, answer: Callable[[str], str], *, delay: float, script: Sequence[Step | None]) -> None:
        self.answer, self.delay, self.script = answer, delay, deque(script)
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.guard = threading.Lock()
        self.stop = threading.Event()
        self.url = ""


class Handler(BaseHTTPRequestHandler):
    """Answers one request, by the next step of the script if there is one."""

    state: Endpoint

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        text = self.rfile.read(size)
        if len(text) < size:
            return  # who asked was killed in the middle of the question
        body = json.loads(text)
        state = self.state
        key = self.headers["Idempotency-Key"]
        with state.guard:
            state.bodies.append({"path": self.path, **body})
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            step = state.script.popleft() if state.script else None
            state.asked[key] += 1
        try:
            if step is not None:
                step(self, body)
                return
            state.stop.wait(state.delay)
            if self.path.endswith("/embeddings"):
                self.send_json(embeddings(body["input"]))
                return
            said = state.answer(body["messages"][-1]["content"])
            if body.get("stream"):
                self.send_events(events(said))
            else:
                self.send_json(completion(said))
        except (BrokenPipeError, ConnectionResetError):
            return  # who asked was killed, or gave up
        with state.guard:
            state.answered[key] += 1

    def send_json(self, data: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_text(json.dumps(data), status, headers)

    def send_text(self, text: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        data = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, rows: Sequence[object], *, whole: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for row in rows:
            self.wfile.write(f"data: {json.dumps(row)}\n\n".encode())
            self.wfile.flush()
        if whole:
            self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def embeddings(texts: Sequence[str]) -> dict[str, object]:
    """Return embeddings by the number of letters, last text first: a client goes by the index."""
    rows = [{"object": "embedding", "index": at, "embedding": [len(text), 1.0]} for at, text in enumerate(texts)]
    return {"object": "list", "data": rows[::-1], "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def completion(content: str | None, *, finish: str = "stop", **message: object) -> dict[str, object]:
    """Return a whole chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def events(content: str, *, finish: str | None = "stop", field: str = "content") -> list[dict[str, object]]:
    """Return a chat completion as the events of a stream, a few characters each."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    deltas: list[dict[str, object]] = [{field: content[at : at + 4]} for at in range(0, len(content), 4)]
    if field == "tool_calls":
        deltas = [{"tool_calls": [{"index": 0, "function": {"arguments": delta[field]}}]} for delta in deltas]
    rows = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    rows.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [*rows, {**head, "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}]


def status(code: int, *, message: str = "no", kind: str = "", headers: dict[str, str] | None = None) -> Step:
    """Return a step that refuses with a status."""
    return lambda handler, _: handler.send_json({"error": {"message": message, "code": kind}}, code, headers)


def says(data: object) -> Step:
    """Return a step that answers with this JSON, or with this text as it is."""
    return lambda handler, _: handler.send_text(data if isinstance(data, str) else json.dumps(data))


def streams(rows: Sequence[object], *, whole: bool = True) -> Step:
    """Return a step that streams these events."""
    return lambda handler, _: handler.send_events(rows, whole=whole)


def stalls(seconds: float) -> Step:
    """Return a step that keeps silent for a while and then closes the line."""

    def step(handler: Handler, _: dict[str, Any]) -> None:
        handler.state.stop.wait(seconds)
        handler.close_connection = True

    return step


def resets(handler: Handler, _: dict[str, Any]) -> None:
    """Reset the connection instead of answering."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def cuts(handler: Handler, _: dict[str, Any]) -> None:
    """Promise more bytes than are sent."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


@contextmanager
def serving(
    answer: Callable[[str], str] = obedient,
    *,
    delay: float = 0.0,
    statuses: tuple[int, ...] = (),
    script: Sequence[Step] = (),
) -> Iterator[Endpoint]:
    """Serve until the block ends.

    Args:
        answer: from the prompt to the text of the reply.
        delay: seconds to think.
        statuses: what the first requests get instead of an answer.
        script: what the first requests get, step by step.
    """
    state = Endpoint(
        answer, delay=delay, script=[*(None if code == 200 else status(code) for code in statuses), *script]
    )

    class Server(ThreadingHTTPServer):
        request_queue_size = 128  # many connections open at once

        def handle_error(self, *_: object) -> None:
            """Say nothing of a connection that a step closed."""

    server = Server(("127.0.0.1", 0), type("_Handler", (Handler,), {"state": state, "protocol_version": "HTTP/1.1"}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        state.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
