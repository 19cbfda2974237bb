"""Run LightRAG in the interpreter of its own environment: see benchmarks/peers.py. Imports nothing of Liantu.

python peer_runs.py insert URL FOLDER FILES…            index files
python peer_runs.py retrieve URL FOLDER KG QUESTIONS    insert a custom graph, print what each mode retrieves
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

_TIMEOUT = 600
_DIMENSION = 256
_MODES = ("local", "global", "hybrid", "mix")


class Letters:
    """A tokenizer without a download: one token a character, about what Chinese text costs."""

    def encode(self, content: str) -> list[int]:
        """Return the code points of a text."""
        return [ord(letter) for letter in content]

    def decode(self, tokens: list[int]) -> str:
        """Return the text of code points."""
        return "".join(map(chr, tokens))


def _post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 -- the loopback
        return json.loads(answer.read())


def _rag(url: str, folder: str) -> LightRAG:
    async def complete(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **_: Any) -> str:
        system = [{"role": "system", "content": system_prompt}] if system_prompt else []
        messages = [*system, *(history_messages or ()), {"role": "user", "content": prompt}]
        answer = await asyncio.to_thread(_post, f"{url}/chat/completions", {"model": "stub", "messages": messages})
        return str(answer["choices"][0]["message"]["content"])

    async def embed(texts: list[str], **_: Any) -> Any:
        answer = await asyncio.to_thread(_post, f"{url}/embeddings", {"model": "stub", "input": list(texts)})
        return np.array([each["embedding"] for each in answer["data"]])

    return LightRAG(
        working_dir=folder,
        llm_model_func=complete,
        embedding_func=EmbeddingFunc(embedding_dim=_DIMENSION, max_token_size=8192, func=embed),
        tokenizer=Tokenizer("letters", Letters()),
        addon_params={"language": "Simplified Chinese"},
    )


async def insert(url: str, folder: str, *files: str) -> None:
    """Index files with the defaults of LightRAG."""
    rag = _rag(url, folder)
    await rag.initialize_storages()
    texts = await asyncio.to_thread(lambda: [Path(file).read_text(encoding="utf-8") for file in files])
    await rag.ainsert(texts, file_paths=[file.rpartition("/")[2] for file in files])
    await rag.finalize_storages()


async def retrieve(url: str, folder: str, *files: str) -> None:
    """Print for every question and mode the retrieved chunks, and the seconds of each mode."""
    rag = _rag(url, folder)
    await rag.initialize_storages()
    graph, asked = await asyncio.to_thread(lambda: [json.loads(Path(each).read_text("utf-8")) for each in files])
    await rag.ainsert_custom_kg(graph)
    found: dict[str, Any] = {"seconds": {}, "chunks": {}}
    for mode in _MODES:
        began = time.perf_counter()
        found["chunks"][mode] = []
        for each in asked:
            given = {"ll_keywords": each["low"], "hl_keywords": each["high"], "enable_rerank": False}
            answer = await rag.aquery_data(each["question"], QueryParam(mode=mode, top_k=40, chunk_top_k=10, **given))
            found["chunks"][mode].append([chunk["content"] for chunk in (answer.get("data") or {}).get("chunks", [])])
        found["seconds"][mode] = time.perf_counter() - began
    await rag.finalize_storages()
    sys.stdout.write("\n" + json.dumps(found, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    asyncio.run({"insert": insert, "retrieve": retrieve}[sys.argv[1]](sys.argv[2], sys.argv[3], *sys.argv[4:]))
