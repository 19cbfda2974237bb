"""A real Ray cluster reads: same bytes as one process, a killed worker is replaced, a fault costs one item."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("ray", reason="no Ray here; `make ray` installs it")
_REPORTS = sorted((ROOT / "notebooks" / "demo" / "reports").glob("*.md"))[:4]
# Ray's driver warns of sockets that it leaves to the operating system, so it runs in a process of its own.
_DRIVER = """
import sys
from functools import partial
from pathlib import Path
from extraction.cluster import cluster_map
from tests.extraction.test_cluster import deadly
marks = Path(sys.argv[2])
lost = lambda item, cause: f"lost {item}: {cause}"
print(list(cluster_map(range(12), partial(deadly, str(marks)), lost, address=sys.argv[1], workers=2)))
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start a cluster of two processors on the loopback; it is stopped with the module."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        command = [str(Path(sys.executable).with_name("ray")), "start", "--head", f"--port={port}", "--num-cpus=2"]
        options = ["--node-ip-address=127.0.0.1", "--include-dashboard=false", "--disable-usage-stats", "--block"]
        options += [f"--temp-dir={folder}", "--object-store-memory=100000000"]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "RAY_DISABLE_IMPORT_WARNING": "1"}
        with (
            (Path(folder) / "out").open("w") as log,
            subprocess.Popen(
                [*command, *options], env=environment, stdout=log, stderr=log, start_new_session=True
            ) as process,
        ):
            try:
                yield f"127.0.0.1:{port}"
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(timeout=60)


def deadly(marks: str) -> Callable[[int], int]:
    """Return a function that kills its own process on item 3 once, on item 7 always, and fails on item 9."""
    return partial(_square, Path(marks))


def _square(marks: Path, item: int) -> int:
    mark = marks / str(item)
    if item == 7 or (item == 3 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if item == 9:
        raise ValueError("nine")
    return item * item


def _run(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_a_killed_worker_is_replaced_and_a_fault_costs_one_item(address: str, tmp_path: Path):
    expected: list[object] = [item * item for item in range(12)]
    expected[7] = "lost 7: ended 3 workers"
    expected[9] = "lost 9: cannot be read: ValueError('nine')"
    assert _run([sys.executable, "-c", _DRIVER, address, str(tmp_path)]).strip().splitlines()[-1] == str(expected)
    assert (tmp_path / "3").exists()


def test_a_cluster_writes_the_same_base_as_one_process(address: str, tmp_path: Path):
    liantu = str(Path(sys.executable).with_name("liantu"))
    dumps = []
    for name, how in (("one", ["--workers", "1"]), ("many", ["--ray", address])):
        base = str(tmp_path / f"{name}.liantu")
        _run([liantu, "ingest", *map(str, _REPORTS), "--kb", base, "--no-ner", *how])
        dumps.append(_run([liantu, "dump", "--kb", base]))
    assert dumps[0] == dumps[1]
    assert dumps[0].count('"type":"document"') == len(_REPORTS)


def test_no_cluster_is_one_line(tmp_path: Path):
    command = ["ingest", str(_REPORTS[0]), "--kb", str(tmp_path / "kb.liantu"), "--ray", "not an address"]
    refused = CliRunner().invoke(root, command)
    assert refused.exit_code != 0
