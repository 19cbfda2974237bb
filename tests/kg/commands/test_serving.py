from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from kg.service.keys import hash_key

if TYPE_CHECKING:
    from pathlib import Path

LIANTU = (sys.executable, "-c", "import liantu; liantu.main()")


def ran(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LIANTU, *arguments], env={**os.environ, **environment}, capture_output=True, check=False, text=True
    )


def test_the_service_answers_until_it_is_ended(kb: Path):
    key = "a key of the test"
    command = [*LIANTU, "serve", "--kb", str(kb), "--port", "0"]
    environment = {**os.environ, "KG_SERVICE_KEYS": hash_key(key)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        url = service.stdout.readline().strip()
        headers = {"Authorization": f"Bearer {key}"}
        response = httpx.get(f"{url}profile", params={"name": "隆基绿能"}, headers=headers, timeout=30)
        assert response.json()["entity"]["name"] == "隆基绿能"
        assert "server" not in response.headers
        service.send_signal(signal.SIGTERM)
        _, log = service.communicate(timeout=30)
    assert service.returncode in (0, -signal.SIGTERM)
    assert '"path": "/v1/profile", "status": 200' in log
    assert key not in log
    assert "Traceback" not in log


def test_several_workers_share_the_port_and_count_together(kb: Path, tmp_path: Path):
    keys = tmp_path / "keys"
    keys.write_text(f"reader {hash_key('one')}\n", encoding="utf-8")
    command = [*LIANTU, "serve", "--kb", str(kb), "--port", "0", "--workers", "2", "--keys", str(keys)]
    with subprocess.Popen(
        command, env={**os.environ, "KG_SERVICE_KEYS": ""}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as service:
        assert service.stdout is not None
        url = service.stdout.readline().strip()
        headers = {"X-API-Key": "one", "Connection": "close"}
        for _ in range(20):
            assert httpx.get(f"{url}profile?name=隆基绿能", headers=headers, timeout=30).status_code == 200
        counted = httpx.get(url.replace("/v1/", "/metrics"), headers=headers).text
        service.send_signal(signal.SIGTERM)
        _, log = service.communicate(timeout=40)
    assert 'liantu_requests_total{path="/v1/profile",status="200"} 20.0' in counted
    assert log.count('"key": "reader"') == 21
    assert "Traceback" not in log


def test_another_address_needs_keys(kb: Path):
    done = ran("serve", "--kb", str(kb), "--host", "0.0.0.0", KG_SERVICE_KEYS="")  # noqa: S104 -- refused
    assert done.returncode == 2
    assert done.stderr.startswith("liantu：设置 service_keys：在 0.0.0.0 上提供服务需要它")
    assert done.stderr.count("\n") == 1


def test_a_key_in_place_of_its_hash_is_refused_and_not_shown(kb: Path):
    done = ran("serve", "--kb", str(kb), KG_SERVICE_KEYS="my-own-key")
    assert done.returncode == 2
    assert "--new-key" in done.stderr
    assert "my-own-key" not in done.stderr


def test_a_new_key_comes_with_its_hash():
    lines = ran("serve", "--new-key").stdout.splitlines()
    key, hashed = (line.rpartition(": ")[2] for line in lines)
    assert hashed == hash_key(key)
    assert len(key) >= 43


def test_a_port_in_use_is_one_line(kb: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = ran("serve", "--kb", str(kb), "--port", str(taken.getsockname()[1]), KG_SERVICE_KEYS="")
    assert done.returncode == 2
    said = r"liantu：设置 --host 127\.0\.0\.1 --port \d+：无法在那里提供服务：端口已被占用.*\n"
    assert re.fullmatch(said, done.stderr)


@pytest.mark.parametrize(("command", "package"), [("serve", "fastapi"), ("mcp", "mcp")])
def test_a_missing_extra_is_one_line(kb: Path, command: str, package: str):
    code = f"import sys; sys.modules[{package!r}] = None; import liantu; liantu.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, command, "--kb", str(kb)], capture_output=True, check=False, text=True
    )
    assert done.returncode == 2
    assert done.stderr.endswith(f"请运行 `pip install 'liantu[{command}]'`\n")
    assert done.stderr.count("\n") == 1
