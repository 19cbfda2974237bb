"""A real HTTP server on the loopback that speaks the OpenAI chat wire, counts what it is asked, and can misbehave."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FACT = re.compile(r"^(F[0-9]+)｜", flags=re.MULTILINE)
_OPPOSED = re.compile(r"^- (F[0-9]+) 与 (F[0-9]+)$", flags=re.MULTILINE)


def obedient(prompt: str) -> str:
    """Answer as the prompt asks: cite facts that are there, invent nothing, keep disagreements."""
    handles = _FACT.findall(prompt)
    lines: list[dict[str, Any]] = [{"kind": "chain", "text": "产业链上有联系。", "facts": handles[:1]}]
    lines += ({"kind": "disagreement", "text": "说法相反。", "facts": list(pair)} for pair in _OPPOSED.findall(prompt))
    return json.dumps({"gist": {"text": "一条产业链。", "facts": handles[:2]}, "lines": lines}, ensure_ascii=False)


class Endpoint:
    """What the server was asked: `asked` when a request came whole, `answered` when its reply had been sent whole."""

    def __init__(self, answer: Callable[[str], str], *, delay: float, statuses: list[int]) -> None:
        self.answer, self.delay, self.statuses = answer, delay, statuses
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.guard = threading.Lock()
        self.url = ""


@contextmanager
def serving(
    answer: Callable[[str], str] = obedient, *, delay: float = 0.0, statuses: tuple[int, ...] = ()
) -> Iterator[Endpoint]:
    """Serve until the block ends.

    Args:
        answer: from the prompt to the text of the reply.
        delay: seconds to think.
        statuses: what the first requests get instead of an answer.
    """
    state = Endpoint(answer, delay=delay, statuses=list(statuses))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"]))
            if len(text) < int(self.headers["Content-Length"]):
                return  # who asked was killed in the middle of the question
            body = json.loads(text)
            with state.guard:
                state.bodies.append({"path": self.path, **body})
                state.headers.append(dict(self.headers))
                status = state.statuses.pop(0) if state.statuses else 200
                state.asked[self.headers["Idempotency-Key"]] += 1
            stop.wait(state.delay)
            said = state.answer(body["messages"][-1]["content"])
            reply = {"choices": [{"message": {"content": said}}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
            data = json.dumps(reply if status == 200 else {"error": "no"}).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                return  # who asked was killed
            with state.guard:
                state.answered[self.headers["Idempotency-Key"]] += status == 200

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    stop = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield state
    finally:
        stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
