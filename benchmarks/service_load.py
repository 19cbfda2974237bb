"""Load the HTTP service with wrk while a writer adds documents: `python -m benchmarks.service_load --kb KB`.

The base is copied first. wrk (`apt-get install wrk`) keeps `--clients` connections busy with each endpoint; a watcher
asks fixed questions on connections of its own and compares every answer with the first one, and what was just written
with what the service then answers. Prints a table; exits with 1 if an answer was wrong or a request was dropped.

`--lightrag PYTHON`, an environment with `lightrag-hku[api]`, compares retrieval with LightRAG's own server instead: the
documents of the base through the stub of benchmarks/stub_model.py, then questions of two names each, never twice. Its
`/query/data` asks no language model, as the names are given as keywords; the stub makes the vector of each question.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click
import httpx
import numpy as np

from benchmarks.stub_model import DIMENSION, graph_replies, serving
from kg.ids import chunk_id, fact_id
from kg.model import Chunk, Document, Entity, Evidence, Fact, Kind, Reading
from kg.service.base import open_kb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RATE = re.compile(r"Requests/sec:\s+([\d.]+)")
_LATENCY = re.compile(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s) *$", re.MULTILINE)
_FAULTS = re.compile(
    r"Non-2xx or 3xx responses: (\d+)|Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)"
)
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
_READ = datetime(2026, 1, 1, tzinfo=UTC)
_DIFFERENT = 300
_PAUSE = 1.0  # seconds between documents
_PAIRS = 20_000  # questions of two names
_LIMIT = 10  # passages
_HEAD = "| {clients} clients, {workers} workers | requests/s | p50 ms | p99 ms | failed |\n|---|---|---|---|---|"


@dataclass
class Watched:
    """What the watcher saw: answers compared, wrong ones, requests that failed, documents written."""

    compared: int = 0
    wrong: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    written: int = 0


@click.command()
@click.option("--kb", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--seconds", default=10, show_default=True, help="of each row of the table")
@click.option("--clients", default=16, show_default=True)
@click.option("--workers", default=2, show_default=True)
@click.option("--writer/--no-writer", default=True, show_default=True)
@click.option("--lightrag", type=click.Path(path_type=Path, exists=True), help="compare with its server; a Python")
def main(kb: Path, seconds: int, clients: int, workers: int, *, writer: bool, lightrag: Path | None) -> None:
    """Measure every endpoint, by default beside a writer."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch) / "load.liantu"
        shutil.copy(kb, base)
        hubs = hubs_of(base)
        if lightrag:
            _compare_retrieval(base, Path(scratch), lightrag, seconds=seconds, clients=clients)
            return
        with service(base, workers) as (url, pid), _watch(url, base, hubs, writer=writer) as watched:
            print(_HEAD.format(clients=clients, workers=workers))
            for name, asked in _steps(hubs).items():
                print(_row(name, _loaded(Path(scratch), url, asked, seconds=seconds, clients=clients)), flush=True)
            print(f"\nmemory of the workers: {_memory(pid)} MB")
        print(f"answers compared {watched.compared}, wrong {len(watched.wrong)}, dropped {len(watched.dropped)}, "
              f"documents written meanwhile {watched.written}")  # fmt: skip
    for fault in (*watched.wrong, *watched.dropped)[:10]:
        print(fault)
    sys.exit(bool(watched.wrong or watched.dropped))


def hubs_of(base: Path) -> list[str]:
    """Return the busiest entities, the busiest first."""
    with open_kb(base) as kb, kb.session() as session:
        edges, names = session.graph.edges(), session.graph.entity_ids
        degree = np.bincount(edges.source, minlength=len(names)) + np.bincount(edges.target, minlength=len(names))
        return [names[int(node)] for node in np.argsort(-degree)[:_DIFFERENT]]


def _compare_retrieval(base: Path, scratch: Path, lightrag: Path, *, seconds: int, clients: int) -> None:
    """Print the rows of one worker of our service, then those of LightRAG's server."""
    with open_kb(base) as kb, kb.session() as session:
        names = [session.name(hub) for hub in hubs_of(base)]
        documents = [session.view.document(head.id) for head in session.view.documents()]
        known = [name for name, _ in session.view.names()]
    pairs = [(one, other) for one in names for other in names if one != other][:_PAIRS]
    ours = {
        "`passages` by words": "/v1/passages?mode=words&query=",
        "`passages` through the graph (`hybrid`)": "/v1/passages?mode=hybrid&query=",
        "`context`, answer, facts and passages": "/v1/context?question=",
    }
    print(_HEAD.format(clients=clients, workers=1))
    with service(base, 1) as (url, _):
        for name, path in ours.items():
            asked = [(f"{path}{quote(' '.join(pair))}", "") for pair in pairs]
            print(_row(name, _loaded(scratch, url, asked, seconds=seconds, clients=clients)), flush=True)
    texts = {each.path: each.text for each in documents if each}
    with serving(graph_replies(known)) as stub, _lightrag(lightrag, stub.url, scratch, texts) as url:
        for mode in ("naive", "local", "mix"):
            asked = [("/query/data", _lightrag_question(pair, mode)) for pair in pairs]
            printed = _loaded(scratch, url, asked, seconds=seconds, clients=clients)
            print(_row(f"LightRAG `/query/data`, `{mode}`", printed), flush=True)


def _lightrag_question(pair: tuple[str, str], mode: str) -> str:
    keywords = {"ll_keywords": list(pair), "hl_keywords": list(pair)}
    limits = {"chunk_top_k": _LIMIT, "enable_rerank": False}
    return json.dumps({"query": " ".join(pair), "mode": mode, **keywords, **limits}, ensure_ascii=False)


@contextmanager
def _lightrag(python: Path, stub: str, scratch: Path, texts: Mapping[str, str]) -> Iterator[str]:
    """Run LightRAG's server on documents that it has read; tiktoken needs its tables (TIKTOKEN_CACHE_DIR)."""
    bindings = {f"{kind}_{name}": value for kind in ("LLM", "EMBEDDING") for name, value in (
        ("BINDING", "openai"), ("BINDING_HOST", stub), ("BINDING_API_KEY", "none"), ("MODEL", "stub")
    )}  # fmt: skip
    port = _free_port()
    folders = ["--working-dir", str(scratch / "lightrag"), "--input-dir", str(scratch / "inputs")]
    command = [str(python.with_name("lightrag-server")), "--host", "127.0.0.1", "--port", str(port), *folders]
    environment = {
        **os.environ,
        **bindings,
        "EMBEDDING_DIM": str(DIMENSION),
        "SUMMARY_LANGUAGE": "Chinese",
        "LOG_DIR": str(scratch),
    }
    url = f"http://127.0.0.1:{port}"
    with _running(command, f"{url}/health", environment), httpx.Client(base_url=url, timeout=600) as client:
        given = {"texts": list(texts.values()), "file_sources": list(texts)}
        reading = client.post("/documents/texts", json=given).raise_for_status().json()
        states: list[str] = []
        while states.count("processed") < len(texts):
            time.sleep(1)
            tracked = client.get(f"/documents/track_status/{reading['track_id']}").raise_for_status().json()
            states = [each["status"] for each in tracked["documents"]]
            if "failed" in states:
                raise click.ClickException(f"LightRAG has not read its documents: {states}")
        yield url


def _steps(hubs: list[str]) -> dict[str, list[tuple[str, str]]]:
    steps = {}
    for name, parameter in (("chain", "topic"), ("impact", "factor"), ("profile", "name"), ("neighbours", "name")):
        ask = f"/v1/{name}?{parameter}="
        steps[f"`{name}` of the busiest, repeated"] = [(ask + quote(hubs[0]), "")]
        steps[f"`{name}`, {_DIFFERENT} busiest, each with another threshold"] = [
            (f"{ask}{quote(hub)}&min_confidence=0.5{place:05}", "") for place, hub in enumerate(hubs * 20)
        ]
    return steps


@contextmanager
def service(base: Path, workers: int) -> Iterator[tuple[str, int]]:
    port = _free_port()
    command = [sys.executable, "-c", "import liantu; liantu.main()", "serve", "--kb", str(base), "--port", str(port)]
    url, began = f"http://127.0.0.1:{port}", time.perf_counter()
    with _running([*command, "--workers", str(workers)], f"{url}/v1/entities?q=%E4%B8%AD", os.environ) as pid:
        print(f"start to first answer: {time.perf_counter() - began:.1f} s\n")
        yield url, pid


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@contextmanager
def _running(command: Sequence[str], probe: str, environment: Mapping[str, str]) -> Iterator[int]:
    """Run a server, from when it answers until the block ends; give its process id."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment) as run:
        try:
            while not _answers(probe):
                if run.poll() is not None:
                    raise click.ClickException(f"{command[0]} ended with {run.returncode}")
                time.sleep(0.05)
            yield run.pid
        finally:
            run.terminate()
            run.wait(60)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=60).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def _loaded(scratch: Path, url: str, asked: Sequence[tuple[str, str]], *, seconds: int, clients: int) -> str:
    """Run wrk with requests in turn, each a path and the JSON that is posted, "" for a GET; return what it prints."""
    script = scratch / "requests.lua"
    rows = ",".join(f"{{{json.dumps(path)},{json.dumps(body, ensure_ascii=False)}}}" for path, body in asked)
    script.write_text(f"""
        local asked = {{{rows}}}
        local at = 0
        request = function()
            at = at % #asked + 1
            local path, body = asked[at][1], asked[at][2]
            local headers = {{["Accept-Encoding"] = "gzip", ["Content-Type"] = "application/json"}}
            if body == "" then return wrk.format("GET", path, headers) end
            return wrk.format("POST", path, headers, body)
        end
    """)
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--latency", "--timeout", "20s", "-s", str(script), url]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return done.stdout


def _row(name: str, printed: str) -> str:
    rate = _RATE.search(printed)
    times = {share: float(number) * _MILLISECONDS[unit] for share, number, unit in _LATENCY.findall(printed)}
    failed = sum(int(number) for found in _FAULTS.findall(printed) for number in found if number)
    p50, p99 = (f"{times[share]:,.1f}" if share in times else "–" for share in ("50", "99"))
    return f"| {name} | {float(rate[1]) if rate else 0:,.1f} | {p50} | {p99} | {failed} |"


@contextmanager
def _watch(url: str, base: Path, hubs: list[str], *, writer: bool) -> Iterator[Watched]:
    watched, stop = Watched(), threading.Event()
    threads = [threading.Thread(target=_compare, args=(url, hubs[:3], watched, stop))]
    if writer:
        threads.append(threading.Thread(target=_write, args=(url, base, watched, stop)))
    for thread in threads:
        thread.start()
    try:
        yield watched
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _compare(url: str, hubs: list[str], watched: Watched, stop: threading.Event) -> None:
    """Ask what the writer does not touch, again and again; facts are listed by id, so that nothing may differ."""
    asked = [f"/v1/facts?name={quote(hub)}&limit=20" for hub in hubs]
    first: dict[str, bytes] = {}
    with httpx.Client(base_url=url, timeout=60) as client:
        while not stop.wait(0.05):
            for path in asked:
                try:
                    response = client.get(path)
                except httpx.TransportError as error:
                    watched.dropped.append(f"{path}: {error}")
                    continue
                if response.status_code != httpx.codes.OK:
                    watched.dropped.append(f"{path}: {response.status_code}")
                elif first.setdefault(path, response.content) != response.content:
                    watched.wrong.append(f"{path}: another answer")
                watched.compared += 1


def _write(url: str, base: Path, watched: Watched, stop: threading.Event) -> None:
    """Add a document every second; the next answer has to show it."""
    with open_kb(base) as kb, httpx.Client(base_url=url, timeout=60) as client:
        while not stop.wait(_PAUSE):
            reading = _reading(watched.written)
            with kb.store.writer() as store:
                store.write(reading)
            watched.written += 1
            name = quote(reading.facts[0].subject)
            try:
                response = client.get(f"/v1/neighbours?name={name}&min_confidence=0")
            except httpx.TransportError as error:
                watched.dropped.append(f"document {watched.written}: {error}")
                continue
            if response.status_code != httpx.codes.OK or reading.facts[0].object not in response.text:
                watched.wrong.append(f"document {watched.written}: not seen: {response.status_code}")


def _reading(number: int) -> Reading:
    identity, text = f"doc:load{number}", f"压测产品{number}用于压测成品{number}。"
    ends = (f"product:压测产品{number}", f"product:压测成品{number}")
    evidence = Evidence(identity, 0, len(text), text, date(2026, 1, 1), _READ, speaker="压测")
    fact = Fact("", ends[0], "upstream_of", ends[1], evidence=(evidence,))
    return Reading(
        document=Document(identity, f"压测{number}", date(2026, 1, 1), text, publisher="压测", path=f"{identity}.md"),
        chunks=(Chunk(chunk_id(identity, 0, len(text)), identity, 0, len(text), text),),
        entities=tuple(Entity(end, Kind.PRODUCT, end.partition(":")[2]) for end in ends),
        facts=(Fact(fact_id(fact), fact.subject, fact.relation, fact.object, evidence=(evidence,)),),
        recorded_at=_READ,
    )


def _memory(parent: int) -> str:
    """Return the peak memory of each worker process."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            rows = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:  # it ended
            continue
        if int(rows["PPid"]) == parent and int(rows["Threads"]) > 1:
            found.append(int(rows["VmHWM"].split()[0]) // 1024)
    return " + ".join(map(str, sorted(found, reverse=True)))


if __name__ == "__main__":
    main()
