"""A burst of questions at once, then steady load: `python -m benchmarks.soak --kb KB --seconds 600 --rate 100`.

The base is copied first. The burst prints how long the first refusal, each refusal and `/health` took; the soak prints
requests, statuses, p99 and the memory of the service for each part of its time. Exits with 1 if an answer was a server
error other than 503, or if memory grew by more than 5 % in the second half of the time (the answers that are kept fill
up in the first).
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

import click

from benchmarks.service_load import hubs_of, service

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_PARTS = 10  # lines of the soak
_GROWTH = 1.05
_RANDOM = random.Random(1)  # noqa: S311 -- a mixture of questions
_WRONG = ("/v1/profile?name=%E7%81%AB%E6%98%9F", "/v1/chain", "/v1/facts?limit=0", "/v1/none", "/health", "/ready")


@dataclass
class Seen:
    """Statuses and milliseconds of requests."""

    statuses: Counter[int] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)

    def add(self, status: int, began: float) -> None:
        """Count a request that began then."""
        self.statuses[status] += 1
        self.times.append((time.perf_counter() - began) * 1000)

    def at(self, share: float) -> float:
        """Return the time that this share of the requests did not exceed."""
        return sorted(self.times)[min(int(len(self.times) * share), len(self.times) - 1)] if self.times else 0.0

    def row(self) -> str:
        """Return count, p50, p99 and the longest."""
        return f"{len(self.times):,} | {self.at(0.5):,.0f} | {self.at(0.99):,.0f} | {self.at(1):,.0f}"


@click.command()
@click.option("--kb", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--burst", default=400, show_default=True, help="questions at once, 0 for none")
@click.option("--times", default=1, show_default=True, help="bursts, after pauses of two seconds")
@click.option("--seconds", default=600, show_default=True, help="of the soak, 0 for none")
@click.option("--clients", default=8, show_default=True, help="connections of the soak")
@click.option("--rate", default=100.0, show_default=True, help="requests a second of the soak, all clients together")
@click.option("--workers", default=1, show_default=True)
def main(kb: Path, *, burst: int, times: int, workers: int, **load: Any) -> None:
    """Measure."""
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(shutil.copy(kb, Path(scratch) / "soak.liantu"))
        hubs = hubs_of(base)
        with service(base, workers) as (url, pid):
            if burst:
                _bursts(url, hubs, burst, times)
            sound = not load["seconds"] or asyncio.run(_soak(url, pid, hubs, **load))
    sys.exit(not sound)


def _bursts(url: str, hubs: list[str], count: int, times: int) -> None:
    """Ask many different questions at once, each on a connection of its own, and /health meanwhile; several times."""
    idle, meanwhile, refused, answered, firsts = Seen(), Seen(), Seen(), Seen(), Seen()
    statuses = Counter[int]()
    for number in range(times):
        idle.times += _with_health(url, partial(time.sleep, 1))[1]
        sure = f"{_RANDOM.randrange(10**9):09}"
        paths = [
            f"/v1/chain?topic={quote(_RANDOM.choice(hubs))}&min_confidence=0.6{sure}{at:05}" for at in range(count)
        ]
        found, took = _with_health(url, partial(_at_once, url, paths))
        meanwhile.times += took
        for status, milliseconds in found:
            (refused if status == 503 else answered).times.append(milliseconds)
        statuses.update(status for status, _ in found)
        firsts.times += [took for status, took in found if status == 503][:1]
        time.sleep(1 if number + 1 < times else 0)
    print(f"{times} times {count} questions at once: {dict(sorted(statuses.items()))}\n")
    print("| ms | requests | p50 | p99 | longest |\n|---|---|---|---|---|")
    rows = {"first refusal of each time": firsts, "refusals": refused, "answers": answered}
    for name, one in (rows | {"`/health` meanwhile": meanwhile, "`/health` before": idle}).items():
        print(f"| {name} | {one.row()} |")
    print(flush=True)


def _with_health(url: str, work: Callable[[], T]) -> tuple[T, list[float]]:
    """Do something, and return the milliseconds of `/health` meanwhile too."""
    command = [sys.executable, "-c", _HEALTH, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as health:
        assert health.stdout
        health.stdout.readline()
        done = work()
        printed, _ = health.communicate("end\n")
    return done, json.loads(printed)


def _at_once(url: str, paths: list[str]) -> list[tuple[int, float]]:
    """Send requests as fast as the system lets, and read replies meanwhile.

    Returns:
        The status of each in the order of replies, and milliseconds since it was sent.
    """
    at, found = urlsplit(url), []
    with selectors.DefaultSelector() as waiting:

        def read(timeout: float | None) -> None:
            for key, _ in waiting.select(timeout):
                took = (time.perf_counter() - key.data) * 1000
                one: Any = key.fileobj
                found.append((int(one.recv(65536).split()[1]), took))
                waiting.unregister(one)
                one.close()

        for path in paths:
            one = socket.create_connection((at.hostname, at.port))
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            waiting.register(one, selectors.EVENT_READ, time.perf_counter())
            read(0)
        while waiting.get_map():
            read(None)
    return found


# Asks on new connections, in a process of its own, so that the burst's work on its connections is not measured.
_HEALTH = """
import http.client, json, select, sys, time
host, took = sys.argv[1].removeprefix("http://"), []
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.02)[0]:
    began, connection = time.perf_counter(), http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", "/health")
    assert connection.getresponse().status == 200
    connection.close()
    took.append((time.perf_counter() - began) * 1000)
print(json.dumps(took))
"""


async def _connected(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    at = urlsplit(url)
    return await asyncio.open_connection(at.hostname, at.port)


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> tuple[int, bytes]:
    """Send a GET on an open connection; return status and body, which has to have a length."""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
    length = next((int(line.partition(b":")[2]) for line in head if line.startswith(b"content-length:")), 0)
    return int(head[0].split()[1]), await reader.readexactly(length)


def _paths(hubs: list[str]) -> list[str]:
    """Return what the soak asks: some questions again and again, most with another threshold or day, some wrong."""
    paths = []
    for _ in range(20_000):
        hub, sure = quote(_RANDOM.choice(hubs)), f"min_confidence=0.6{_RANDOM.randrange(10**5):05}"
        day = f"as_of=2025-{_RANDOM.randrange(1, 13):02}-{_RANDOM.randrange(1, 29):02}"
        asked = (f"chain?topic={hub}", f"profile?name={hub}", f"facts?name={hub}", f"neighbours?name={hub}")
        again = f"/v1/{_RANDOM.choice(asked)}"
        paths.append(_RANDOM.choice((again, again, f"{again}&{sure}", f"{again}&{day}", _RANDOM.choice(_WRONG))))
    return paths


async def _soak(url: str, pid: int, hubs: list[str], *, seconds: int, clients: int, rate: float) -> bool:
    """Ask at a steady rate; return whether memory stayed and nothing failed."""
    asked, begun, part = itertools.cycle(_paths(hubs)), time.perf_counter(), Seen()
    every, memory = Seen(), list[int]()

    async def client(place: int) -> None:
        reader, writer = await _connected(url)
        for number in itertools.count():
            due = begun + (number * clients + place) / rate
            if due - begun > seconds:
                break
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            started = time.perf_counter()
            status, _ = await _asked(reader, writer, next(asked))
            part.add(status, started)
        writer.close()

    running = [asyncio.ensure_future(client(place)) for place in range(clients)]
    print("| until | requests | p50 ms | p99 ms | longest ms | memory MB | statuses |\n|---|---|---|---|---|---|---|")
    for number in range(1, _PARTS + 1):
        await asyncio.sleep(max(0.0, begun + seconds * number / _PARTS - time.perf_counter()))
        done, part = part, Seen()
        memory.append(_resident(pid))
        every.times += done.times
        every.statuses.update(done.statuses)
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(done.statuses.items()))
        print(f"| {seconds * number // _PARTS} s | {done.row()} | {memory[-1]} | {statuses} |", flush=True)
    await asyncio.gather(*running)
    middle = memory[_PARTS // 2 - 1]
    grown = memory[-1] / middle
    faults = sum(count for status, count in every.statuses.items() if status >= 500 and status != 503)
    print(f"\n{len(every.times):,} requests, p50 {every.at(0.5):,.0f} ms, p99 {every.at(0.99):,.0f} ms, "
          f"{faults} faults, {every.statuses[503]} refused; memory {middle} -> {memory[-1]} MB "
          f"({(grown - 1) * 100:+.1f} %)")  # fmt: skip
    return not faults and grown <= _GROWTH


def _resident(parent: int) -> int:
    """Return the megabytes of a process and its descendants; what they share is counted once (PSS)."""
    parents, kept = dict[int, int](), dict[int, int]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            rollup = (folder / "smaps_rollup").read_text()
            kept[int(folder.name)] = next(int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:")
        except (OSError, StopIteration, IndexError):  # it ended
            continue
    family = {parent}
    while more := {one for one, of in parents.items() if of in family} - family:
        family |= more
    return sum(kept.get(one, 0) for one in family) // 1024


if __name__ == "__main__":
    main()
