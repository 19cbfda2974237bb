"""A real Neo4j Community server on a loopback port, once for all tests of a run; absent without Java and its jars."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kg.store.open import open_store
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.store.port import Store

JARS = ROOT / "build" / "neo4j" / "lib"
PASSWORD = "only-for-tests"  # noqa: S105 - of a server that lives as long as the test run
_CONFIGURATION = """\
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:0
dbms.security.auth_enabled=true
dbms.usage_report.enabled=false
server.memory.pagecache.size=128m
db.tx_log.rotation.retention_policy=keep_none
"""
_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.lang", "java.util.concurrent")
_JAVA = (
    "-Xmx1g",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED),
)


@dataclass(frozen=True)
class Server:
    port: int
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def run(self, statement: str, **parameters: object) -> list[list[object]]:
        """Ask the server past the store."""
        import neo4j  # noqa: PLC0415 - an optional extra

        with neo4j.GraphDatabase.driver(self.url, auth=("neo4j", PASSWORD)) as driver, driver.session() as session:
            return session.run(statement, parameters).values()  # type: ignore[arg-type]

    def clear(self) -> None:
        self.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS")


@cache
def missing() -> str:
    """Say what there is no server for, or nothing."""
    if shutil.which("java") is None:
        return "no Java here; Neo4j needs 17 or 21"
    if not JARS.is_dir():
        return "no Neo4j here; `make neo4j` fetches it"
    try:
        import neo4j  # noqa: F401, PLC0415 - an optional extra
    except ModuleNotFoundError:
        return "no Neo4j driver here; pip install 'liantu[neo4j]'"
    return ""


def running() -> Iterator[Server]:
    """Run a server on an empty database; it ends with the test run."""
    if reason := missing():
        pytest.skip(reason)
    with tempfile.TemporaryDirectory(prefix="liantu-neo4j-", ignore_cleanup_errors=True) as folder:
        yield from started(Path(folder))


def started(home: Path, *, again: bool = False) -> Iterator[Server]:
    """Run a server on the databases below a folder; it dies with us, because it reads our end of its standard input."""
    (home / "neo4j.conf").write_text(_CONFIGURATION, encoding="utf-8")
    command = ["java", *_JAVA, "-cp", f"{JARS}/*", str(Path(__file__).with_name("Server.java")), str(home)]
    with (
        (home / "out").open("w", encoding="utf-8") as log,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        port = next((line.strip() for line in process.stdout if line.strip().isdigit()), None)
        if port is None:
            pytest.fail(f"Neo4j did not start: {(home / 'out').read_text(encoding='utf-8')[-2000:]}")
        server = Server(int(port), process)
        if not again:
            _set_password(server)
        yield server
        process.kill()  # its data go with it, so nobody waits for an orderly end


def imported(home: Path, folder: Path) -> str:
    """Run `neo4j-admin database import` on the files of an export; return what it printed."""
    (home / "conf").mkdir()
    (home / "conf" / "neo4j.conf").write_text("dbms.usage_report.enabled=false\n", encoding="utf-8")
    command = ["java", *_JAVA, "-cp", f"{JARS}/*", "org.neo4j.cli.AdminTool", "database", "import", "full", "neo4j"]
    environment = os.environ | {"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}
    done = subprocess.run(
        [*command, "@import.args"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def _set_password(server: Server) -> None:
    import neo4j  # noqa: PLC0415 - an optional extra

    with (
        neo4j.GraphDatabase.driver(server.url, auth=("neo4j", "neo4j")) as driver,
        driver.session(database="system") as session,
    ):
        session.run("ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password", password=PASSWORD).consume()


def emptied(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Give an empty knowledge base on the server."""
    server.clear()
    monkeypatch.setenv("KG_NEO4J_PASSWORD", PASSWORD)
    with closing(open_store(server.url, create=True)) as store:
        yield store
