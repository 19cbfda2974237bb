"""Run LightRAG or GraphRAG against a stub, in their own interpreter, for benchmarks/tokens.py."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_DIMENSIONS = 64


def lightrag(url: str, folder: Path, files: list[Path]) -> None:
    """Insert files with the defaults of LightRAG; output in Chinese."""
    import numpy as np  # noqa: PLC0415 -- only in the environment of LightRAG
    from lightrag import LightRAG  # noqa: PLC0415
    from lightrag.llm.openai import openai_complete_if_cache  # noqa: PLC0415
    from lightrag.utils import EmbeddingFunc  # noqa: PLC0415

    async def complete(prompt: str, system_prompt: str | None = None, history_messages: Any = (), **given: Any) -> str:
        given.pop("keyword_extraction", None)
        answer = await openai_complete_if_cache(
            "gpt-4o", prompt, system_prompt, list(history_messages), base_url=url, api_key="none", **given
        )
        return str(answer)

    async def embed(texts: list[str], **_: Any) -> Any:
        rows = np.zeros((len(texts), _DIMENSIONS))
        rows[:, 0] = 1.0
        return rows

    async def run() -> None:
        rag = LightRAG(
            working_dir=str(folder / "lightrag"),
            llm_model_func=complete,
            embedding_func=EmbeddingFunc(embedding_dim=_DIMENSIONS, max_token_size=8192, func=embed),
            addon_params={"language": "Chinese"},
        )
        await rag.initialize_storages()
        await rag.ainsert(
            [file.read_text(encoding="utf-8") for file in files], file_paths=[file.name for file in files]
        )
        await rag.finalize_storages()

    asyncio.run(run())


def graphrag(url: str, folder: Path, files: list[Path], *, update: bool) -> None:
    """Index or update files with the settings that `graphrag init` writes."""
    program = str(Path(sys.executable).with_name("graphrag"))
    root = folder / "graphrag"
    environment = {**os.environ, "GRAPHRAG_API_KEY": "none", "NO_COLOR": "1"}
    if not update:
        names = ["--model", "gpt-4o", "--embedding", "text-embedding-3-small"]
        subprocess.run([program, "init", "--root", str(root), *names], check=True, env=environment)
        settings = root / "settings.yaml"
        text = settings.read_text(encoding="utf-8")
        text = text.replace("auth_method: api_key", f"api_base: {url}\n    auth_method: api_key")
        text = text.replace("db_uri: output/lancedb", f"db_uri: output/lancedb\n  vector_size: {_DIMENSIONS}")
        settings.write_text(text, encoding="utf-8")
    (root / "input").mkdir(exist_ok=True)
    for file in files:
        (root / "input" / f"{file.stem}.txt").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([program, "update" if update else "index", "--root", str(root)], check=True, env=environment)


def encoding() -> Any:
    """Return the o200k encoding of tiktoken from TIKTOKEN_CACHE_DIR."""
    import tiktoken  # noqa: PLC0415 -- only in the environment of GraphRAG

    return tiktoken.get_encoding("o200k_base")


def tables() -> str:
    """Return the folder with the tables of tiktoken that litellm ships, so that nothing is downloaded."""
    found = importlib.util.find_spec("litellm")
    return str(Path(found.origin).parent / "litellm_core_utils/tokenizers") if found and found.origin else ""


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "tables":
        print(tables())
    elif what == "sizes":
        encode = encoding().encode
        print(json.dumps({path: len(encode(Path(path).read_text(encoding="utf-8"))) for path in rest}))
    elif what == "count":
        encode = encoding().encode
        rows = [json.loads(line) for line in Path(rest[0]).read_text(encoding="utf-8").splitlines()[int(rest[1]) :]]
        prompt = sum(len(encode(text, disallowed_special=())) for row in rows for text in row["prompt"])
        reply = sum(len(encode(row["reply"], disallowed_special=())) for row in rows)
        print(json.dumps({"calls": len(rows), "prompt": prompt, "reply": reply}))
    else:
        url, folder, step, *files = rest
        paths = [Path(file) for file in files]
        if what == "lightrag":
            lightrag(url, Path(folder), paths)
        else:
            graphrag(url, Path(folder), paths, update=step != "0")


if __name__ == "__main__":
    main()
