"""Requests a second against an endpoint that thinks for one second: `python -m benchmarks.calls --parallel 32`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kg.llm.client import Endpoint
from kg.llm.dispatch import PendingRequest, SpendingLimits, send
from kg.llm.port import Request, request_key
from kg.llm.replay import ReplyLog

_REPLY = {
    "id": "c", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "无"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip


def serve(thinks: float) -> None:
    """Serve until the standard input closes; print the address first."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            time.sleep(thinks)
            data = json.dumps(_REPLY).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        request_queue_size = 256

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    sys.stdin.read()


def measure(url: str, count: int, parallel: int) -> float:
    """Return the seconds that requests take, replies on disk included."""

    def pending(at: int) -> PendingRequest:
        request = Request((("user", f"第{at}段" + "碳酸锂价格下跌。" * 100),))
        return PendingRequest(request_key("m", request), request, 1.0, 1.0, tuple)

    requests = [pending(at) for at in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        log = ReplyLog(Path(folder) / "replies.jsonl")
        began = time.perf_counter()
        sent = send(Endpoint(url, "m"), requests, log, at="2025-01-01T00:00:00+00:00", limits=SpendingLimits(parallel))
        assert sent.calls == count, sent
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parallel", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--thinks", type=float, default=1.0, help="seconds of the endpoint for a reply")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.thinks)
        return
    command = [sys.executable, "-m", "benchmarks.calls", "--serve", "--thinks", str(options.thinks)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        url = server.stdout.readline().strip()
        measure(url, options.parallel, options.parallel)  # imports and connections
        count = options.parallel * options.rounds
        seconds = measure(url, count, options.parallel)
        server.stdin.close()
    ideal = options.rounds * options.thinks
    over = seconds / ideal - 1
    print(f"{count} requests, {options.parallel} in flight: {seconds:.1f} s, ideal {ideal:.1f} s, {over:+.1%}")


if __name__ == "__main__":
    main()
