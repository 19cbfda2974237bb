"""The same documents through LightRAG, GraphRAG and Liantu with one stub model: what it costs, what the graph holds.

    python -m benchmarks.peers [--documents FOLDER] [--count 20] [--only lightrag graphrag liantu retrieval]

Needs `make lightrag` and `make graphrag`; a peer that is not installed is left out. The stub (benchmarks/stub_model.py)
names the known names of a text, related where they share a sentence, so the peers' graphs say what the defaults of
the systems keep, not how well a model reads. Tokens are estimates: one per Chinese character, one per four others.
`retrieval` puts Liantu's graph into LightRAG and asks both for the passage that states an edge.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import pyarrow.parquet as pq

from benchmarks.stub_model import DIMENSION, graph_replies, serving
from kg.interop.exports.formats import export
from kg.query.grounding.dual_level import MODES, dual_level
from kg.query.session import QuerySession
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.stub_model import Stub

ROOT = Path(__file__).parent.parent
_REPORTS = ROOT / "notebooks" / "demo" / "reports"
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "sign": ("sign", "liantu_sign"),
    "date": ("published_on", "valid_from", "start_date", "date"),
    "quote": ("quote", "source_text"),
}
_HELD = ("direction", *_FIELDS)
_ASKED = 40  # edges whose passage is asked for
_KEPT = 10  # passages that count
_SETTINGS = """\
completion_models:
  default_completion_model: {{model_provider: openai, model: gpt-4o, api_key: none, api_base: "{url}"}}
embedding_models:
  default_embedding_model: {{model_provider: openai, model: text-embedding-3-small, api_key: none, api_base: "{url}"}}
input: {{type: text}}
vector_store: {{type: lancedb, db_uri: output/lancedb, vector_size: {dimension}}}
"""


@dataclass(frozen=True)
class PeerRun:
    """What one system asked of the model, how long it took, and how many of its edges carry what."""

    name: str
    seconds: float
    calls: int
    tokens_in: int
    tokens_out: int
    embedded: int
    edges: int
    direction: int
    sign: int
    date: int
    quote: int

    def row(self) -> str:
        """Return the run as a row of a table."""
        cells = (self.calls, self.tokens_in, self.tokens_out, self.embedded, f"{self.seconds:.0f}", self.edges)
        held = (self.direction, self.sign, self.date, self.quote)
        return " | ".join(["", self.name, *(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells),
                           *(f"{each:,}" for each in held), ""]).strip()  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, default=_REPORTS, help="a folder of dated Markdown")
    parser.add_argument("--count", type=int, default=20, help="how many of its newest documents")
    parser.add_argument("--only", nargs="*", default=["liantu", "lightrag", "graphrag", "retrieval"])
    options = parser.parse_args()
    files = sorted(options.documents.glob("*.md"))[-options.count :]
    with tempfile.TemporaryDirectory(prefix="liantu-peers-") as folder:
        compare(files, Path(folder), options.only)


def compare(files: Sequence[Path], folder: Path, only: Sequence[str]) -> None:
    """Print one row a system, then how often each finds the passage that states an edge."""
    letters = sum(len(file.read_text(encoding="utf-8")) for file in files)
    print(f"{len(files)} documents, {letters:,} characters\n")
    columns = ("system", "calls", "tokens in", "tokens out", "tokens embedded", "seconds", "edges", *_HELD)
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    own = _liantu(files, folder)
    print(own.row(), flush=True)
    with closing(open_store(folder / "kb.liantu")) as store:
        names = {name for name, _ in store.view().names()}
    runs: dict[str, Callable[[Stub, Sequence[Path], Path], list[dict[str, Any]]]] = {
        "lightrag": _lightrag,
        "graphrag": _graphrag,
    }
    for name, run in runs.items():
        if name in only and _python(name):
            print(_peer(name, run, files, folder=folder, names=names).row(), flush=True)
    if "retrieval" in only and _python("lightrag"):
        _retrieval(folder)


def _python(peer: str) -> Path | None:
    python = ROOT / "build" / peer / "bin" / "python"
    return python if python.exists() else None


def _liantu(files: Sequence[Path], folder: Path) -> PeerRun:
    """Ingest with the defaults: the shipped model reads, no call is made."""
    began = time.perf_counter()
    command = [
        str(Path(sys.executable).with_name("liantu")),
        "ingest",
        *map(str, files),
        "--kb",
        str(folder / "kb.liantu"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - began
    with closing(open_store(folder / "kb.liantu")) as store:
        texts = {head.id: store.view().document(head.id) for head in store.view().documents()}
        facts = list(store.view().facts())
    edges = {(fact.subject, fact.relation, fact.object, fact.sign) for fact in facts}
    checked = {
        (fact.subject, fact.relation, fact.object, fact.sign)
        for fact in facts
        for item in fact.evidence
        if (text := texts[item.document]) and text.text[item.start : item.end] == item.quote
    }
    signed = sum(bool(sign) for *_, sign in edges)
    count = len(edges)
    return PeerRun("Liantu", seconds, 0, 0, 0, 0, count, direction=count, sign=signed, date=count, quote=len(checked))


def _peer(
    name: str,
    run: Callable[[Stub, Sequence[Path], Path], list[dict[str, Any]]],
    files: Sequence[Path],
    *,
    folder: Path,
    names: Iterable[str],
) -> PeerRun:
    began = time.perf_counter()
    with serving(graph_replies(names)) as stub:
        edges = run(stub, files, folder)
    seconds = time.perf_counter() - began
    usage = stub.usage
    held = {
        field: sum(any(edge.get(key) not in (None, "", 0) for key in keys) for edge in edges)
        for field, keys in _FIELDS.items()
    }
    chat = (usage.calls.get("chat", 0), usage.tokens_in.get("chat", 0), usage.tokens_out.get("chat", 0))
    directed = sum(bool(edge["directed"]) for edge in edges)
    embedded = usage.tokens_in.get("embedding", 0)
    return PeerRun(name, seconds, *chat, embedded, len(edges), directed, **held)


def _lightrag(stub: Stub, files: Sequence[Path], folder: Path) -> list[dict[str, Any]]:
    work = folder / "lightrag"
    work.mkdir()
    _child("insert", stub.url, str(work), *map(str, files))
    graph = nx.read_graphml(work / "graph_chunk_entity_relation.graphml")
    return [{**data, "directed": graph.is_directed()} for _, _, data in graph.edges(data=True)]


def _child(*arguments: str) -> str:
    python = _python("lightrag")
    assert python is not None
    command = [str(python), str(Path(__file__).with_name("peer_runs.py")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"lightrag failed: {done.stderr[-2000:]}")
    return done.stdout


def _graphrag(stub: Stub, files: Sequence[Path], folder: Path) -> list[dict[str, Any]]:
    python, work = _python("graphrag"), folder / "graphrag"
    assert python is not None
    (work / "input").mkdir(parents=True)
    for file in files:
        (work / "input" / f"{file.stem}.txt").write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    settings = _SETTINGS.format(url=stub.url, dimension=DIMENSION)
    (work / "settings.yaml").write_text(settings, encoding="utf-8")
    packages = next((python.parent.parent / "lib").glob("python3.*/site-packages"))
    tables = packages / "litellm" / "litellm_core_utils" / "tokenizers"
    environment = os.environ | {"TIKTOKEN_CACHE_DIR": str(tables), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [str(python.with_name("graphrag")), "index", "--root", str(work)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=work)
    if done.returncode:
        sys.exit(f"graphrag failed: {(done.stdout + done.stderr)[-2000:]}")
    edges: list[dict[str, Any]] = pq.read_table(work / "output" / "relationships.parquet").to_pylist()
    return [{**edge, "directed": "source" in edge and "target" in edge} for edge in edges]


def _retrieval(folder: Path) -> None:
    """Ask both systems, on Liantu's graph, for the passage that states an edge; LightRAG gets the names as keywords."""
    with closing(open_store(folder / "kb.liantu")) as store, store.reader() as view:
        export(view, "lightrag", folder / "custom_kg.json", min_confidence=0.65)
        session = QuerySession(view)
        questions = list(_questions(session))
        (folder / "questions.json").write_text(json.dumps(questions, ensure_ascii=False), encoding="utf-8")
        print(f"\n{len(questions)} questions for the passage of an edge: found among the first {_KEPT} passages\n")
        print("| mode | both ends named | one end named | milliseconds a question |\n|---|---|---|---|")
        for mode in MODES:
            began = time.perf_counter()
            found = [
                [passage.chunk.text for passage in dual_level(session, each["question"], mode=mode, limit=_KEPT)]
                for each in questions
            ]
            _print_hits(f"Liantu {mode}", questions, found, time.perf_counter() - began)
    work = folder / "retrieval"
    work.mkdir()
    with serving(graph_replies([])) as stub:
        printed = _child(
            "retrieve", stub.url, str(work), str(folder / "custom_kg.json"), str(folder / "questions.json")
        )
    answer = json.loads(printed.strip().splitlines()[-1])
    for mode, found in answer["chunks"].items():
        _print_hits(f"LightRAG {mode}", questions, found, answer["seconds"][mode])


def _questions(session: QuerySession) -> Iterable[dict[str, Any]]:
    """Yield two questions for each of some sure causal and chain edges, spread over the graph in id order."""
    relations = ("affects", "supplies", "upstream_of", "produces")
    facts = [fact for fact in session.view.facts() if fact.relation in relations and fact.confidence >= 0.65]
    for fact in facts[:: max(1, len(facts) // _ASKED)][:_ASKED]:
        one, other = session.name(fact.subject), session.name(fact.object)
        wording = session.words[fact.relation].wording["zh"].replace("…", "")
        quotes = [item.quote for item in fact.evidence]
        yield {
            "question": f"{one}{wording}{other}",
            "low": [one, other],
            "high": [wording],
            "quotes": quotes,
            "ends": 2,
        }
        yield {
            "question": f"什么{wording}{other}",
            "low": [other],
            "high": [f"{wording}{other}"],
            "quotes": quotes,
            "ends": 1,
        }


def _print_hits(name: str, questions: Sequence[dict[str, Any]], found: Sequence[Sequence[str]], seconds: float) -> None:
    shares = []
    for ends in (2, 1):
        asked = [(each, texts) for each, texts in zip(questions, found, strict=True) if each["ends"] == ends]
        hits = sum(any(quote in text for quote in each["quotes"] for text in texts[:_KEPT]) for each, texts in asked)
        shares.append(f"{hits} of {len(asked)}")
    print(f"| {name} | {shares[0]} | {shares[1]} | {1000 * seconds / len(questions):.0f} |", flush=True)


if __name__ == "__main__":
    main()
