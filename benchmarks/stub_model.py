"""A model that is none: an OpenAI-style endpoint on the loopback that answers by rule, the same every time.

It stands in for a paid model where the cost of a pipeline is measured: how often it is asked, with how many tokens.
Its chat replies come from a function; `graph_replies` reads the extraction prompts of LightRAG and GraphRAG and names
the known names of the text, related where they share a sentence. Its embeddings hash character pairs.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import daachorse
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

DIMENSION = 256
_MODEL = "stub"
_SENTENCE = re.compile(r"[^。！？；\n]+")
_LIGHTRAG_TEXT = re.compile(r"---Input Text---\s*```\n(.*?)\n```", re.DOTALL)
_GRAPHRAG_TEXT = re.compile(r"\nText:\s*(.*?)\n######################\nOutput:", re.DOTALL)
_MOST_NAMES = 30  # named in one reply, like a model that is asked for the important ones
_SUMMARY = 200  # characters of a summary


@dataclass
class Usage:
    """What was asked of the stub: calls and estimated tokens, by kind of call."""

    calls: dict[str, int] = field(default_factory=dict)
    tokens_in: dict[str, int] = field(default_factory=dict)
    tokens_out: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, asked: str, replied: str = "") -> tuple[int, int]:
        """Count one call and return its tokens."""
        tokens = estimated_tokens(asked), estimated_tokens(replied)
        self.calls[kind] = self.calls.get(kind, 0) + 1
        self.tokens_in[kind] = self.tokens_in.get(kind, 0) + tokens[0]
        self.tokens_out[kind] = self.tokens_out.get(kind, 0) + tokens[1]
        return tokens


@dataclass(frozen=True)
class Stub:
    """A running stub: its address for `base_url`, and what it was asked so far."""

    url: str
    usage: Usage


def estimated_tokens(text: str) -> int:
    """Estimate tokens without a tokenizer: one per Chinese character, one per four others.

    >>> estimated_tokens("锂电池 CATL")
    5
    """
    chinese = sum(char > "\u2e7f" for char in text)
    return chinese + (len(text) - chinese + 3) // 4


@dataclass(frozen=True)
class Scripted:
    """A reply that goes wrong: another status, a cut or refused one, one that is `seconds` late, slow, or broken off.

    A slow reply has `pace` seconds before each byte; of a broken one half is sent.
    """

    text: str = ""
    finish: str = "stop"
    refusal: str | None = None
    status: int = 200
    seconds: float = 0.0
    pace: float = 0.0
    broken: bool = False


class _Server(ThreadingHTTPServer):
    """Holds the reply function and what was asked."""

    daemon_threads = True
    block_on_close = False  # late replies are not waited for

    def __init__(self, reply: Callable[[Sequence[dict[str, str]]], str | Scripted]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply, self.usage, self.guard, self.stopped = reply, Usage(), threading.Lock(), threading.Event()


class _Handler(BaseHTTPRequestHandler):
    """Answers one request: chat completions, also streamed, and embeddings."""

    protocol_version = "HTTP/1.1"
    server: _Server
    scripted = Scripted()

    def do_POST(self) -> None:
        """Answer `/v1/chat/completions` or `/v1/embeddings`."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            self._send_json(self._embedded(body))
            return
        reply = self.server.reply(body["messages"])
        scripted = reply if isinstance(reply, Scripted) else Scripted(reply)
        self.server.stopped.wait(scripted.seconds)
        answer = self._replied(body, scripted)
        self.scripted = scripted
        if scripted.status != HTTPStatus.OK:
            self._send(b'{"error": {"message": "scripted"}}', "application/json", status=scripted.status)
        elif body.get("stream"):
            self._send_stream(answer)
        else:
            self._send_json(answer)

    def log_message(self, *_: object) -> None:
        """Keep the standard error quiet."""

    def _embedded(self, body: dict[str, Any]) -> dict[str, Any]:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        texts = [text if isinstance(text, str) else " ".join(map(str, text)) for text in texts]
        with self.server.guard:
            tokens, _ = self.server.usage.add("embedding", "".join(texts))
        vectors = [embedding(text, body.get("dimensions") or DIMENSION).tolist() for text in texts]
        data = [{"object": "embedding", "index": number, "embedding": each} for number, each in enumerate(vectors)]
        used = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": _MODEL, "data": data, "usage": used}

    def _replied(self, body: dict[str, Any], scripted: Scripted) -> dict[str, Any]:
        text = scripted.text
        with self.server.guard:
            asked, replied = self.server.usage.add("chat", "".join(map(_content, body["messages"])), text)
        message = {"role": "assistant", "content": text, "refusal": scripted.refusal}
        return {
            "id": f"stub-{zlib.crc32(text.encode()):08x}",
            "object": "chat.completion",
            "created": 0,
            "model": _MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": scripted.finish}],
            "usage": {"prompt_tokens": asked, "completion_tokens": replied, "total_tokens": asked + replied},
        }

    def _send_json(self, answer: dict[str, Any]) -> None:
        self._send(json.dumps(answer).encode(), "application/json")

    def _send_stream(self, answer: dict[str, Any]) -> None:
        message = answer["choices"][0]["message"]
        deltas: list[tuple[dict[str, Any], str]] = [(message, ""), ({}, answer["choices"][0]["finish_reason"])]
        chunk = answer | {"object": "chat.completion.chunk"}
        events = [
            chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": end or None}]} for delta, end in deltas
        ]
        lines = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
        self._send(lines.encode(), "text/event-stream")

    def _send(self, content: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        with suppress(ConnectionError):  # the client may have left
            self.end_headers()
            if not self.scripted.pace:
                self.wfile.write(content[: len(content) // 2] if self.scripted.broken else content)
            for byte in content if self.scripted.pace else b"":
                if self.server.stopped.wait(self.scripted.pace):
                    break
                self.wfile.write(bytes((byte,)))
        self.close_connection = self.scripted.broken


@contextmanager
def serving(reply: Callable[[Sequence[dict[str, str]]], str | Scripted]) -> Iterator[Stub]:
    """Serve chat completions and embeddings on a free port of the loopback until the block ends."""
    server = _Server(reply)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Stub(f"http://127.0.0.1:{server.server_port}/v1", server.usage)
    finally:
        server.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()


def embedding(text: str, dimension: int = DIMENSION) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a unit vector of hashed characters and character pairs: texts that share words lie close together."""
    vector = np.full(dimension, 1e-6)
    folded = text.casefold()
    for size in (1, 2):
        for start in range(len(folded) - size + 1):
            vector[zlib.crc32(folded[start : start + size].encode()) % dimension] += size
    unit: np.ndarray[Any, np.dtype[np.float64]] = vector / np.linalg.norm(vector)
    return unit


def graph_replies(names: Iterable[str]) -> Callable[[Sequence[dict[str, str]]], str]:
    """Return a reply function that finds these names in the texts of extraction prompts.

    Every other prompt of the two systems gets the shortest reply of the form it asks for.
    """
    known = sorted({name for name in names if len(name) > 1})
    kind = daachorse.MATCH_KIND_LEFTMOST_LONGEST
    finder = daachorse.CharwiseDoubleArrayAhoCorasick(known, kind) if known else None

    def reply(messages: Sequence[dict[str, str]]) -> str:
        asked = _content(messages[-1])
        whole = "\n".join(map(_content, messages))
        if found := _LIGHTRAG_TEXT.findall(asked):
            return _lightrag(*_read(finder, found[-1]))
        if found := _GRAPHRAG_TEXT.findall(asked):
            return _graphrag(*_read(finder, found[-1]))
        return _other(whole, asked)

    return reply


def _read(finder: Any, text: str) -> tuple[list[str], list[tuple[str, str, str]]]:
    """Return the names of a text, and (name, next name, sentence) for those that share a sentence."""
    names: dict[str, None] = {}
    links: dict[tuple[str, str], str] = {}
    for sentence in _SENTENCE.findall(text) if finder else ():
        met = list(dict.fromkeys(sentence[start:end] for start, end, *_ in finder.find(sentence)))
        names |= dict.fromkeys(met)
        for one, other in pairwise(met):
            links.setdefault((one, other), sentence.strip())
    kept = set(list(names)[:_MOST_NAMES])
    return list(names)[:_MOST_NAMES], [(*ends, text) for ends, text in links.items() if kept.issuperset(ends)]


def _lightrag(names: Sequence[str], links: Sequence[tuple[str, str, str]]) -> str:
    rows = [f"entity<|#|>{name}<|#|>Concept<|#|>{name}在文中被提及。" for name in names]
    rows += [f"relation<|#|>{one}<|#|>{other}<|#|>相关<|#|>{sentence}" for one, other, sentence in links]
    return "\n".join([*rows, "<|COMPLETE|>"])


def _graphrag(names: Sequence[str], links: Sequence[tuple[str, str, str]]) -> str:
    rows = [f'("entity"<|>{name}<|>ORGANIZATION<|>{name}在文中被提及。)' for name in names]
    rows += [f'("relationship"<|>{one}<|>{other}<|>{sentence}<|>5)' for one, other, sentence in links]
    return "\n##\n".join(rows) + "\n<|COMPLETE|>"


def _other(whole: str, asked: str) -> str:
    if "high_level_keywords" in asked:
        query = asked.rpartition("User Query:")[2].strip().splitlines()
        return json.dumps({"high_level_keywords": query[:1], "low_level_keywords": query[:1]}, ensure_ascii=False)
    if "IMPACT SEVERITY RATING" in whole or "rating_explanation" in whole:
        finding = {"summary": "成员在文中共同出现。", "explanation": "见成员之间的关系。"}
        report = {"title": "相关实体", "summary": "在文中共同出现的一组实体。", "rating": 5.0}
        return json.dumps({**report, "rating_explanation": "规模中等。", "findings": [finding]}, ensure_ascii=False)
    if "intermediate_answer" in whole:
        answer = {"intermediate_answer": "# 概览\n见社区报告。", "score": 50, "follow_up_queries": ["还有哪些公司？"]}
        return json.dumps(answer, ensure_ascii=False)
    if '"points"' in whole:
        points = [{"description": "见社区报告 [Data: Reports (0)]", "score": 50}]
        return json.dumps({"points": points, "response": "见社区报告。", "follow_up_queries": []}, ensure_ascii=False)
    if "missed" in asked:  # both ask once more for what was overlooked
        return "<|COMPLETE|>"
    return asked[-_SUMMARY:].strip() or "是"


def _content(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)
