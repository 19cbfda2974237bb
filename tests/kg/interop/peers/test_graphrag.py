"""A real GraphRAG answers on the export in all four methods, with Liantu's claims and quotes in its context."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.stub_model import graph_replies, serving
from tests.kg.interop.exports.sample import exported
from tests.kg.interop.peers.environment import documented, python_of, run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str], dict[str, str]]]:
    """Yield an exported index with its embeddings made, the prompts that queries send, and their environment."""
    python = python_of("graphrag")
    folder = exported("graphrag", tmp_path_factory.mktemp("graphrag") / "index")
    asked: list[str] = []
    replies = graph_replies([])

    def reply(messages: Sequence[dict[str, str]]) -> str:
        asked.append("\n".join(str(message["content"]) for message in messages))
        return replies(messages)

    packages = next((python.parent.parent / "lib").glob("python3.*/site-packages"))
    with serving(reply) as stub:
        settings = folder / "settings.yaml"
        text = settings.read_text(encoding="utf-8")
        for model in ("gpt-4.1", "text-embedding-3-large"):
            text = text.replace(f"model: {model}\n", f"model: {model}\n    api_base: {stub.url}\n")
        settings.write_text(text.replace("vector_size: 3072", "vector_size: 256"), encoding="utf-8")
        environment = {
            "GRAPHRAG_API_KEY": "x",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "TIKTOKEN_CACHE_DIR": str(packages / "litellm" / "litellm_core_utils" / "tokenizers"),
        }
        run([str(python.with_name("graphrag")), "index", "--root", str(folder)], folder=folder, environment=environment)
        assert len(asked) <= 1  # the graph is there: the completion model is only checked to be available
        yield folder, asked, environment


@pytest.mark.parametrize("method", ["local", "global", "drift", "basic"])
def test_a_query_finds_what_was_exported(project: tuple[Path, list[str], dict[str, str]], method: str):
    held = documented("graphrag", method)
    folder, asked, environment = project
    asked.clear()
    command = str(python_of("graphrag").with_name("graphrag"))
    question = "碳酸锂价格下跌对毛利率有什么影响？"
    printed = run(
        [command, "query", "--root", str(folder), "--method", method, question], folder=folder, environment=environment
    )
    assert printed.strip()
    context = "\n".join(asked)
    sys.stdout.write(f"\n{method}:\n{context}\n")  # with `pytest -s`
    assert [text for text in held if text not in context] == []
