"""Run by the interpreter of LightRAG's own environment: insert a custom graph, then retrieve in every mode.

Arguments: the custom_kg file, a working folder, the address of the stub model, a question, and keywords of both levels
as JSON lists. Prints one JSON object: the data of each mode.
"""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer


class Letters:
    """A tokenizer without a download: one token a character."""

    def encode(self, content: str) -> list[int]:
        return [ord(letter) for letter in content]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


async def complete(*_: Any, **__: Any) -> str:
    raise AssertionError("retrieval with given keywords asks no model")


async def main(custom_kg: dict[str, Any], folder: str, url: str, question: str, low: str, high: str) -> None:
    async def embed(texts: list[str], **_: Any) -> Any:
        body = json.dumps({"input": list(texts), "model": "stub"}).encode()
        request = urllib.request.Request(f"{url}/embeddings", body, {"Content-Type": "application/json"})  # noqa: S310
        answer = json.loads(urllib.request.urlopen(request).read())  # noqa: S310, ASYNC210 - the loopback
        return np.array([each["embedding"] for each in answer["data"]])

    rag = LightRAG(
        working_dir=folder,
        llm_model_func=complete,
        embedding_func=EmbeddingFunc(embedding_dim=256, max_token_size=8192, func=embed),
        tokenizer=Tokenizer("letters", Letters()),
    )
    await rag.initialize_storages()
    await rag.ainsert_custom_kg(custom_kg)
    found = {}
    for mode in ("local", "global", "hybrid", "mix"):
        parameters = QueryParam(
            mode=mode, ll_keywords=json.loads(low), hl_keywords=json.loads(high), enable_rerank=False, top_k=5
        )
        found[mode] = (await rag.aquery_data(question, parameters))["data"]
    await rag.finalize_storages()
    sys.stdout.write("\n" + json.dumps(found, ensure_ascii=False) + "\n")


asyncio.run(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), *sys.argv[2:]))
