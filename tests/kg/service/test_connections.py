from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest

from kg.service import connections
from kg.service.base import open_kb
from tests.kg.query.world import claim, filled, paper, solar

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = """
from kg.service import connections
connections._IDLE_SECONDS, connections._MOST_UNSENT = 1.0, 1 << 20
import liantu; liantu.main()
"""
PROFILE = "/v1/profile?name=%E9%9A%86%E5%9F%BA%E7%BB%BF%E8%83%BD"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the service with a patience of one second."""
    path = tmp_path_factory.mktemp("service") / "kb.liantu"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
        said = [claim("product:甲", "upstream_of", f"product:{number}") for number in range(900)]
        filled(
            [paper(99, "2024-01-01", *((f"甲用于{number}。" * 20, each) for number, each in enumerate(said)))],
            base.store,
        )
    with running(path) as (_, at):
        yield at


@contextmanager
def running(
    path: Path, *options: str, errors: int | IO[str] = subprocess.DEVNULL
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command; give its process and its address."""
    command = [sys.executable, "-c", CODE, "serve", "--kb", str(path), "--port", "0", *options]
    environment = {**os.environ, "KG_SERVICE_KEYS": ""}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
    ) as service:
        assert service.stdout is not None
        try:
            yield service, service.stdout.readline().strip().removesuffix("/v1/")
        finally:
            service.terminate()


def opened(url: str, sent: bytes = b"") -> socket.socket:
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=20)
    connection.sendall(sent)
    return connection


def assert_serving(url: str) -> None:
    assert httpx.get(f"{url}{PROFILE}", timeout=30).status_code == 200


def test_a_thousand_idle_connections_leave_room_and_are_closed(url: str):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2500:
        pytest.skip("the system allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2500), hard))
    assert_serving(url)
    idle = [opened(url) for _ in range(1000)]
    try:
        assert_serving(url)
        assert idle[0].recv(1) == b""
        assert idle[-1].recv(1) == b""
    finally:
        for each in idle:
            each.close()


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /v1/prof",
        f"GET {PROFILE} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow:".encode(),
        b"POST /v1/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n{",
    ],
)
def test_a_slow_client_is_closed(url: str, begun: bytes):
    with opened(url, begun) as slow:  # reading fails after its timeout
        while slow.recv(4096):
            pass
    assert_serving(url)


def test_a_keep_alive_connection_with_requests_stays(url: str):
    with httpx.Client(base_url=url, timeout=30) as client:
        for _ in range(6):
            assert client.get(PROFILE).status_code == 200
            time.sleep(0.4)


def test_clients_that_leave_do_no_harm(url: str):
    request = f"GET {PROFILE} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    for _ in range(50):
        opened(url, request).close()
    assert_serving(url)


def test_a_gigabyte_is_refused_before_it_is_read(url: str):
    head = f"POST /v1/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {1 << 30}\r\n\r\n".encode()
    with opened(url, head) as large:
        assert b" 413 " in large.recv(4096)
    assert_serving(url)


def _asking(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def test_clients_that_do_not_read_hold_no_memory(url: str):
    """Their answers wait until a megabyte is reached, further requests are refused; then they are cut off."""
    body = json.dumps({"requests": [{"method": "facts", "parameters": {"limit": 1000}}] * 20}).encode()
    head = b"POST /v1/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    slow = [opened(url, head % len(body) + body) for _ in range(3)]  # more than the system keeps for a client
    assert [each.recv(15) for each in slow] == [b"HTTP/1.1 200 OK"] * 3
    with opened(url, _asking(PROFILE)) as refused:
        assert refused.recv(4096).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert httpx.get(f"{url}/health", timeout=30).status_code == 200
    while httpx.get(f"{url}{PROFILE}", timeout=30).status_code != 200:
        time.sleep(0.1)
    whole = httpx.post(f"{url}/v1/batch", content=body, headers={"Content-Type": "application/json"}, timeout=30)
    for each in slow:
        with each:
            assert len(_rest(each)) < len(whole.content)


def _rest(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1 << 20), b""))


def test_a_flood_is_refused_unread_in_problem_details(url: str):
    paths = [f"/v1/chain?topic=%E7%A1%85%E6%96%99&min_confidence=0.5{number}" for number in range(400, 900)]
    flood = [opened(url) for _ in paths]
    for each, path in zip(flood, paths, strict=True):
        each.sendall(_asking(path))
    found = [each.recv(1 << 16).partition(b"\r\n\r\n") for each in flood]
    for each in flood:
        each.close()
    statuses = {head.split()[1] for head, _, _ in found}
    assert statuses == {b"200", b"503"}
    head, _, body = next(each for each in found if each[0].split()[1] == b"503")
    assert b"retry-after: 2" in head.lower()
    assert b"x-request-id: " in head.lower()
    assert json.loads(body)["title"] == "Service Unavailable"
    assert_serving(url)


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\x00" * 100 + b"\r\n"]
)
def test_what_is_no_http_is_refused_in_problem_details(url: str, sent: bytes):
    with opened(url, sent) as connection:
        head, _, body = connection.recv(4096).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400


def test_patience_is_longer_than_a_keep_alive():
    assert connections._IDLE_SECONDS > 5


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.extended)])
def test_the_service_ends_with_the_process_that_accepts_connections(url: str, tmp_path: Path, workers: int):
    """And the other way round: nothing goes on listening."""
    path = tmp_path / "kb.liantu"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
    for victim in ("front", "service"):
        with running(path, "--workers", str(workers)) as (service, own):
            assert_serving(own)
            children = Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()
            if victim == "front":
                os.kill(int(children[0]), signal.SIGKILL)
            else:
                service.terminate()
            service.wait(60)
            while True:
                try:
                    opened(own).close()
                except OSError:
                    break
    assert_serving(url)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_burst_is_answered_and_a_stop_of_all_processes_is_no_error(tmp_path: Path, workers: int):
    """40 at once are fewer than there are places; a supervisor and a terminal signal all processes."""
    path, log = tmp_path / "kb.liantu", tmp_path / "log"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
    with (
        log.open("w", encoding="utf-8") as errors,
        running(path, "--workers", str(workers), errors=errors) as (service, own),
    ):
        while httpx.get(f"{own}/ready", timeout=30).status_code != 200:
            time.sleep(0.1)
        burst = [opened(own) for _ in range(40)]
        for each in burst:
            each.sendall(_asking(PROFILE))
        assert [each.recv(15) for each in burst] == [b"HTTP/1.1 200 OK"] * 40
        for each in burst:
            each.close()
        os.killpg(service.pid, signal.SIGTERM)
        service.wait(60)
    assert "ERROR" not in log.read_text(encoding="utf-8")


def test_health_is_answered_while_nothing_else_is(tmp_path: Path):
    """A service that is stopped answers nothing; the process that accepts connections does."""
    path = tmp_path / "kb.liantu"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
    with running(path) as (service, own):
        assert_serving(own)
        service.send_signal(signal.SIGSTOP)
        try:
            waiting = [opened(own, _asking(PROFILE)) for _ in range(200)]
            healthy = httpx.get(f"{own}/health", timeout=20)
            assert (healthy.status_code, healthy.json()) == (200, {"status": "ok"})
            assert waiting[-1].recv(15) == b"HTTP/1.1 503 Se"
        finally:
            service.send_signal(signal.SIGCONT)
        assert waiting[0].recv(15) == b"HTTP/1.1 200 OK"
        for each in waiting:
            each.close()
