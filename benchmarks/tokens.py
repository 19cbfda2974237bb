"""Tokens that three systems spend on the same Chinese text, with one stub that answers all of them alike.

    python -m benchmarks.tokens --notes NOTES/ --lightrag PYTHON --graphrag PYTHON

NOTES holds dated Markdown; the newest notes up to `--tokens` are the text, and an earlier one near `--more` tokens is
added afterwards (the newest, because the shipped edge model was trained on earlier ones). PYTHON is the interpreter of
an environment with `lightrag-hku` 1.5 or `graphrag` 3; that of graphrag counts o200k tokens. The stub reads the same
edges from the same text for all: names of the gazetteer that follow each other in a sentence; descriptions are that
sentence.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extraction.ingest import Job, ingest
from extraction.llm.job import PackFinder, ReadingOptions, apply, choose, plan
from extraction.names.gazetteer import shipped_lexicon
from kg.llm.client import Endpoint
from kg.llm.dispatch import SpendingLimits, send
from kg.llm.replay import ReplyLog
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PEERS = Path(__file__).with_name("token_peers.py")
_CHUNK = 1_200  # tokens
_SENTENCE = re.compile(r"[^。；！？\n]+")
_NUMBERED = re.compile(r"^(\d+)[#-]* (.*)", re.MULTILINE)
_DIMENSIONS = 64
_SUMMARY = "该主体在产业链中与多家公司和多种产品相连，上游价格变动影响其成本，下游需求影响其销量，市场份额居前。" * 2
_FINDING = {"summary": "产业链上下游联动", "explanation": _SUMMARY * 2}
_REPORT = {
    "title": "产业链",
    "summary": _SUMMARY,
    "rating": 5.0,
    "rating_explanation": "影响中等。",
    "findings": [_FINDING] * 5,
}


def edges_in(text: str) -> list[tuple[str, str, str]]:
    """Return (subject, object, sentence) for names of the gazetteer that follow each other in a sentence."""
    found = []
    for match in _SENTENCE.finditer(text):
        names = [hit.term.name for hit in shipped_lexicon().find(match[0])]
        found += [(one, other, match[0].strip()[:80]) for one, other in pairwise(dict.fromkeys(names))]
    return found


def reply_to(messages: Sequence[dict[str, str]], system: str) -> str:
    """Return what the stub answers to a prompt of one of the systems."""
    last = messages[-1]["content"]
    if system == "liantu":
        lines = [(number, *edge) for number, text in _NUMBERED.findall(last) for edge in edges_in(text)]
        return "\n".join(f"{number}|{one}|upstream_of|{other}||" for number, one, other, _ in lines) or "无"
    if "missed" in last[:400]:  # gleaning: nothing was missed
        return "<|COMPLETE|>"
    if "Description List" in last or "description_list" in last or "list of descriptions" in last:
        return _SUMMARY
    if "Input Text---" in last:
        return _lightrag(edges_in(last.rpartition("Input Text---")[2]))
    if "-Real Data-" in last and "Entity_types:" in last:
        return _graphrag(edges_in(last.rpartition("Text:")[2]))
    return json.dumps(_REPORT, ensure_ascii=False)


def _lightrag(edges: Sequence[tuple[str, str, str]]) -> str:
    about = {name: sentence for one, other, sentence in edges for name in (one, other)}
    rows = [f"entity<|#|>{name}<|#|>Artifact<|#|>{sentence}" for name, sentence in about.items()]
    rows += [f"relation<|#|>{one}<|#|>{other}<|#|>上游<|#|>{sentence}" for one, other, sentence in edges]
    return "\n".join([*rows, "<|COMPLETE|>"])


def _graphrag(edges: Sequence[tuple[str, str, str]]) -> str:
    about = {name: sentence for one, other, sentence in edges for name in (one, other)}
    rows = [f'("entity"<|>{name}<|>ORGANIZATION<|>{sentence})' for name, sentence in about.items()]
    rows += [f'("relationship"<|>{one}<|>{other}<|>{sentence}<|>5)' for one, other, sentence in edges]
    return "\n##\n".join(rows) + "\n<|COMPLETE|>"


@contextmanager
def stub(system: str, log: Path) -> Iterator[str]:
    """Serve chat completions and embeddings; write each chat as a JSON line."""
    guard = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                given = body["input"] if isinstance(body["input"], list) else [body["input"]]
                vector = [1.0] + [0.0] * (_DIMENSIONS - 1)
                rows = [{"object": "embedding", "index": at, "embedding": vector} for at, _ in enumerate(given)]
                data: dict[str, Any] = {"object": "list", "data": rows, "model": "e", "usage": _usage()}
            else:
                said = reply_to(body["messages"], system)
                with guard, log.open("a", encoding="utf-8") as file:
                    texts = [message["content"] for message in body["messages"]]
                    file.write(json.dumps({"prompt": texts, "reply": said}, ensure_ascii=False) + "\n")
                choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
                data = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice],
                        "usage": _usage()}  # fmt: skip
            sent = json.dumps(data).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    log.touch()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _usage() -> dict[str, int]:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def liantu(notes: Sequence[Path], url: str, folder: Path, *, min_gain: float) -> None:
    """Ingest notes and ask about them as `liantu llm run --min-gain` does; its default is 2."""
    store = open_store(folder / "kb.liantu", create=True)
    log = ReplyLog(folder / "replies.jsonl")
    now = datetime.now(UTC)
    try:
        ingest(store, Job(list(notes), now, workers=1))
        options = ReadingOptions(workers=1)
        choice = choose(plan(store, PackFinder(options)), log, model="stub", min_gain=min_gain)
        send(Endpoint(url, "stub"), choice.requests, log, at=now.isoformat(), limits=SpendingLimits())
        print(f"  liantu: {len(choice.requests)} packs sent, {choice.low_gain} not worth it; "
              f"{apply(store, log, options=options).facts} facts of the stub passed the checks")  # fmt: skip
    finally:
        store.close()


def _spent(interpreter: str, log: Path, start: int) -> Counter[str]:
    """Count calls and o200k tokens of a log from a line on, in the interpreter that has tiktoken."""
    return Counter(json.loads(_peer(interpreter, "count", str(log), str(start))))


def _peer(interpreter: str, *arguments: str) -> str:
    command = [interpreter, str(_PEERS), *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _text_of(interpreter: str, notes: Path, tokens: int, more: int) -> tuple[list[Path], Path, list[int]]:
    """Return the newest notes up to a number of tokens, an earlier one near `more` tokens, and their sizes."""
    files = sorted(notes.glob("*.md"), key=lambda path: (len(path.stem), path.stem), reverse=True)
    sizes = json.loads(_peer(interpreter, "sizes", *map(str, files[:60])))
    files = files[:60]
    chosen: list[Path] = []
    while sum(sizes[str(path)] for path in chosen) < tokens:
        chosen.append(files[len(chosen)])
    added = min(files[len(chosen) :], key=lambda path: abs(sizes[str(path)] - more))
    return chosen, added, [sum(sizes[str(path)] for path in chosen), sizes[str(added)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=Path, required=True)
    parser.add_argument("--lightrag", help="interpreter of an environment with lightrag-hku")
    parser.add_argument(
        "--graphrag", required=True, help="interpreter of an environment with graphrag; counts the tokens"
    )
    parser.add_argument("--tokens", type=int, default=22_000)
    parser.add_argument("--more", type=int, default=2_314)
    options = parser.parse_args()
    os.environ["TIKTOKEN_CACHE_DIR"] = _peer(options.graphrag, "tables").strip()
    notes, added, sizes = _text_of(options.graphrag, options.notes, options.tokens, options.more)
    print(f"{len(notes)} notes, {sizes[0]:,} o200k tokens; then one more, {sizes[1]:,}")
    print(f"{'system':12}{'calls':>7}{'prompts':>11}{'replies':>10}{'per 1,200':>11}{'one more':>11}")
    systems = {"liantu": "", "liantu, all": "", "lightrag": options.lightrag, "graphrag": options.graphrag}
    for system, interpreter in systems.items():
        if interpreter is None:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            log = folder / "calls.jsonl"
            with stub(system.partition(",")[0], log) as url:
                for step, files in enumerate((notes, [added])):
                    if interpreter:
                        _peer(interpreter, system, url, str(folder), str(step), *map(str, files))
                    else:
                        liantu(files, url, folder, min_gain=2.0 if system == "liantu" else 0.0)
                    if step == 0:
                        calls = len(log.read_text(encoding="utf-8").splitlines())
            whole, more = _spent(options.graphrag, log, 0), _spent(options.graphrag, log, calls)
            first = whole - more
            spent = first["prompt"] + first["reply"]
            print(f"{system:12}{first['calls']:7}{first['prompt']:11,}{first['reply']:10,}"
                  f"{spent / sizes[0] * _CHUNK:11,.0f}{more['prompt'] + more['reply']:11,}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
