"""A base that is replaced under a running service: no answer, tag or page of the old one is given again."""

from __future__ import annotations

import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from kg.cli import main
from kg.errors import StoreMissing
from kg.graph.cache import forget
from kg.query.questions.registry import question
from kg.service.app import create_app
from kg.service.base import open_kb
from kg.service.tools import _answer
from tests.kg.query.world import LONGI, MODULE, SUNGROW, claim, filled, paper
from viz.exhibit.serving import CurrentContent

if TYPE_CHECKING:
    from pathlib import Path

    from kg.model import Fact

HOME = {"base_url": "http://localhost", "client": ("127.0.0.1", 50_000)}


def made(path: Path, said: Fact) -> Path:
    """Write a base of one document, so that all such bases have the same revision."""
    with open_kb(path, create=True) as base:
        filled([paper(1, "2024-01-01", ("一句话。", said))], base.store)
    return path


@pytest.fixture
def bases(tmp_path: Path) -> tuple[Path, Path]:
    """Two bases in the same number of steps: the one served, and the one that takes its place."""
    served = made(tmp_path / "kb.liantu", claim(LONGI, "produces", MODULE))
    return served, made(tmp_path / "other.liantu", claim(SUNGROW, "produces", MODULE))


def _put(source: Path, target: Path, *, over: bool = False) -> None:
    """Restore as docs/operations.md says: the copy takes the place of the base, without the log of the old one."""
    if over:
        shutil.copyfile(source, target)  # the file stays the same, as with `cp`
    for suffix in ("-wal", "-shm"):
        target.with_name(f"{target.name}{suffix}").unlink(missing_ok=True)
    if not over:
        source.replace(target)


@pytest.mark.parametrize("over", [False, True], ids=["mv", "cp"])
def test_a_replaced_base_answers_at_once(bases: tuple[Path, Path], over: bool):
    served, other = bases
    with open_kb(served) as kb, open_kb(other) as replacement:
        assert kb.store.revision() == replacement.store.revision()
        assert kb.store.state() != replacement.store.state()
    with TestClient(create_app(open_kb(served)), **HOME) as client:
        for path in ("/v1/facts", "/v1/stats", "/v1/entities?q=SH", "/v1/profile?name=组件"):
            first = client.get(path)
            assert first.status_code == 200
        before = client.get("/v1/facts")
        _put(other, served, over=over)
        after = client.get("/v1/facts", headers={"If-None-Match": before.headers["etag"]})
        assert after.status_code == 200
        assert after.headers["etag"] != before.headers["etag"]
        assert SUNGROW in after.text
        assert LONGI not in after.text
        for path in ("/v1/stats", "/v1/entities?q=SH", "/v1/profile?name=组件"):
            assert LONGI not in client.get(path).text
        batch = client.post("/v1/batch", json={"requests": [{"method": "facts"}]})
        assert SUNGROW in batch.text


def test_tools_and_the_explorer_follow_too(bases: tuple[Path, Path]):
    served, other = bases
    with open_kb(served) as kb:
        content = CurrentContent(kb)
        before = content.get()
        assert content.get() is before
        assert LONGI in str(_answer(kb, question("facts"), {}))
        _put(other, served)
        assert content.get() is not before
        assert LONGI not in str(content.get().meta)
        assert SUNGROW in str(_answer(kb, question("facts"), {}))


def liantu(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Call a command; return its exit code and what it says."""
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments), "--lang", "en"])
    printed = capsys.readouterr()
    return int(left.value.code or 0), printed.out + printed.err


def test_a_base_is_copied_and_restored_while_it_is_written_and_served(
    capsys: pytest.CaptureFixture[str], bases: tuple[Path, Path], tmp_path: Path
):
    served, _ = bases
    backup = tmp_path / "backup.liantu"
    with (
        TestClient(create_app(open_kb(served)), **HOME) as client,
        open_kb(served) as kb,
        ThreadPoolExecutor(1) as pool,
    ):

        def write() -> None:
            for number in range(2, 40):
                filled([paper(number, "2024-02-01", ("甲。", claim(LONGI, "produces", f"product:{number}")))], kb.store)

        writing = pool.submit(write)
        while kb.store.stats()["documents"] < 5:
            time.sleep(0.001)
        assert liantu(capsys, "copy", served, backup)[0] == 0
        writing.result()
        with open_kb(backup) as copied:
            kept = copied.store.stats()["documents"]
            documents = {head.id for head in copied.store.view().documents()}
        assert 5 <= kept <= 39
        assert documents == {f"doc:{number}" for number in range(1, kept + 1)}
        assert liantu(capsys, "check", "--kb", backup)[0] == 0
        assert client.get("/v1/stats").json()["documents"] == 39
        with kb.store.writer():
            code, said = liantu(capsys, "copy", "--replace", backup, served)
            assert (code, said.count("\n")) == (4, 1)
            assert "is writing" in said
        assert liantu(capsys, "copy", "--replace", backup, served)[0] == 0
        assert client.get("/v1/stats").json()["documents"] == kept
        assert kb.store.stats()["documents"] == kept
    assert liantu(capsys, "check", "--kb", served)[0] == 0


def test_a_damaged_backup_is_not_restored(capsys: pytest.CaptureFixture[str], bases: tuple[Path, Path]):
    served, other = bases
    with closing(sqlite3.connect(other, isolation_level=None)) as connection:
        connection.execute("DELETE FROM evidence")
    before = served.read_bytes()
    code, said = liantu(capsys, "copy", "--replace", other, served)
    assert (code, said.count("\n")) == (4, 1)
    assert "fails its check" in said
    assert served.read_bytes() == before


def test_a_base_that_is_gone_is_not_ready(bases: tuple[Path, Path]):
    served, _ = bases
    with TestClient(create_app(open_kb(served)), **HOME) as client:
        assert client.get("/ready").status_code == 200
        served.unlink()
        assert client.get("/ready").status_code == 503
        assert client.get("/v1/facts").status_code == 503
        assert client.get("/health").status_code == 200


def test_the_revision_alone_is_no_key(bases: tuple[Path, Path], tmp_path: Path):
    """A copy goes back in time and then forward again, to the same revision with other documents."""
    served, _ = bases
    with closing(sqlite3.connect(served)) as source, closing(sqlite3.connect(tmp_path / "copy.liantu")) as target:
        source.backup(target)
    shutil.copy(tmp_path / "copy.liantu", tmp_path / "fresh.liantu")
    with open_kb(served) as kb:
        filled([paper(2, "2024-02-01", ("甲。", claim(LONGI, "produces", "product:甲")))], kb.store)
        seen = kb.store.state(), kb.facts()
        _put(tmp_path / "copy.liantu", served)
        forget()
        filled([paper(3, "2024-02-01", ("乙。", claim(LONGI, "produces", "product:乙")))], kb.store)
        assert kb.store.revision() == int(seen[0].partition("-")[0])
        assert kb.store.state() != seen[0]
        assert kb.facts() != seen[1]
        served.unlink()
        with pytest.raises(StoreMissing):
            kb.store.state()
