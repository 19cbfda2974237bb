from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from extraction import ingest as ingesting
from extraction.ingest import Job, Outcome, ingest
from extraction.llm.job import ReadingOptions
from extraction.streams import Extraction
from kg.settings import Settings
from kg.store.open import open_store
from tests.contracts.reference import MemoryStore
from tests.goldens import reports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.store.port import Store

READ = datetime(2025, 9, 1, 8, tzinfo=UTC)

CATL = """---
title: 宁德时代半年报点评
publishedAt: 2025-08-20
source: 示例证券甲
---
# 宁德时代

公司2024年营业收入3620亿元。宁德时代向特斯拉供应磷酸铁锂电池。
"""
SILICON = """---
title: 光伏周报
publishedAt: 2025-08-21
source: 示例证券乙
---
硅料价格下跌推动光伏组件价格下降，进而带动光伏装机增长。工业硅是多晶硅的核心原材料。
"""
FILLER = "".join(
    f"第{n}周的样本显示渠道库存与终端动销情况保持稳定，第{n + 7}号仓的周转天数为{n + 20}天。" for n in range(40)
)
COPY = """---
title: {title}
publishedAt: {day}
source: {source}
---
恩捷股份主营锂电池隔膜。""" + FILLER + "\n"  # fmt: skip


@pytest.fixture(autouse=True)
def one_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not build another extractor for every run in this process (workers build their own)."""
    monkeypatch.setattr(ingesting.Extractor, "default", lambda **given: reports.extractor(given["min_confidence"]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "reports"
    (root / "深").mkdir(parents=True)
    (root / "catl.md").write_text(CATL, encoding="utf-8")
    (root / "深" / "silicon.md").write_text(SILICON, encoding="utf-8")
    return root


@pytest.fixture
def store() -> Iterator[Store]:
    opened = MemoryStore()
    yield opened
    opened.close()


def run(store: Store, *paths: Path, workers: int = 1, **more: object) -> Outcome:
    return ingest(store, Job(paths, READ, workers=workers, ner=False, edge_model="off", **more))  # type: ignore[arg-type]


def counts(outcome: Outcome) -> tuple[int, int, int]:
    return outcome.written, outcome.known, len(outcome.refused)


def fact_ids(store: Store) -> set[str]:
    return {fact.id for fact in store.view().facts()}


def test_a_folder_is_read_whole(store, folder):
    outcome = run(store, folder)
    assert counts(outcome) == (2, 0, 0)
    assert outcome.facts == store.stats()["facts"] > 0
    assert outcome.characters > 0
    assert outcome.seconds > 0
    assert {head.title for head in store.view().documents()} == {"宁德时代半年报点评", "光伏周报"}


def test_a_second_run_adds_nothing(store, folder):
    run(store, folder)
    before, revision = store.stats(), store.revision()
    assert counts(run(store, folder)) == (0, 2, 0)
    assert store.stats() == before
    assert store.revision() == revision


def test_the_same_bytes_under_another_name_are_known(store, folder):
    (folder / "copy.md").write_text(CATL, encoding="utf-8")
    assert counts(run(store, folder)) == (2, 1, 0)


def test_a_file_named_twice_is_read_once(store, folder):
    assert counts(run(store, folder, folder / "catl.md")) == (2, 0, 0)


def test_what_is_read_less_surely_than_asked_is_not_stored(store, folder):
    run(store, folder, min_confidence=0.8)
    sure = {fact.confidence for fact in store.view().facts()}
    assert sure
    assert min(sure) >= 0.8


def test_facts_bear_the_moment_of_the_run(store, folder):
    run(store, folder)
    assert {item.recorded_at for fact in store.view().facts() for item in fact.evidence} == {READ}


def test_refused_files_do_not_stop_the_run(store, folder):
    (folder / "a-empty.md").write_bytes(b"")
    (folder / "b-undated.md").write_text("宁德时代向特斯拉供货。", encoding="utf-8")
    (folder / "c-not.pdf").write_bytes(b"PK\x03\x04 no pdf at all")
    (folder / "z-cut.pdf").write_bytes(b"%PDF-1.7 cut off")
    outcome = run(store, folder)
    assert counts(outcome) == (2, 0, 4)
    assert {fault.source.rsplit("/", 1)[-1] for fault in outcome.refused} == {
        "a-empty.md",
        "b-undated.md",
        "c-not.pdf",
        "z-cut.pdf",
    }
    assert all(fault.cause and fault.advice for fault in outcome.refused)


def test_a_path_that_does_not_exist_is_refused(store, folder):
    outcome = run(store, folder / "nothing.md", folder / "catl.md")
    assert counts(outcome) == (1, 0, 1)


def test_an_empty_folder_is_no_fault(store, tmp_path):
    (tmp_path / "empty").mkdir()
    assert counts(run(store, tmp_path / "empty")) == (0, 0, 0)


def test_the_given_day_dates_the_undated(store, tmp_path):
    path = tmp_path / "undated.txt"
    path.write_text("宁德时代向特斯拉供应磷酸铁锂电池。", encoding="utf-8")
    assert counts(run(store, path)) == (0, 0, 1)
    assert counts(run(store, path, published_on=date(2025, 3, 4))) == (1, 0, 0)
    assert [head.published_on for head in store.view().documents()] == [date(2025, 3, 4)]


def test_a_day_after_the_run_is_not_believed(store, tmp_path):
    path = tmp_path / "future.md"
    path.write_text(CATL.replace("2025-08-20", "2031-01-01"), encoding="utf-8")
    run(store, path)
    assert [head.published_on for head in store.view().documents() if head.published_on > READ.date()] == []


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(store, folder, monkeypatch):
    class Cut(Exception):
        pass

    real = ingesting._Edits.put
    written: list[str] = []

    def failing(edits, reading) -> None:
        if written:
            raise Cut
        written.append(reading.document.id)
        real(edits, reading)

    monkeypatch.setattr(ingesting._Edits, "put", failing)
    with pytest.raises(Cut):
        run(store, folder)
    assert store.stats()["documents"] == 1
    monkeypatch.setattr(ingesting._Edits, "put", real)
    assert counts(run(store, folder)) == (1, 1, 0)
    whole = MemoryStore()
    run(whole, folder)
    assert fact_ids(store) == fact_ids(whole)
    assert store.stats() == whole.stats()


def test_new_files_join_the_old(store, folder):
    run(store, folder / "catl.md")
    assert counts(run(store, folder)) == (1, 1, 0)


def test_copies_of_one_report_are_one_witness(store, tmp_path):
    for number, (title, source) in enumerate([("隔膜深度", "示例证券甲"), ("隔膜深度（转载）", "示例证券乙")], 1):
        text = COPY.format(title=title, day=f"2025-08-0{number}", source=source)
        (tmp_path / f"{number}.md").write_text(text, encoding="utf-8")
    run(store, tmp_path)
    (fact,) = [fact for fact in store.view().facts(relation="produces") if fact.subject == "sec:002812.SZ"]
    assert len({item.document for item in fact.evidence}) == 2
    assert fact.witnesses == 1


def test_copies_over_two_runs_are_one_witness_too(store, tmp_path):
    first, second = tmp_path / "1.md", tmp_path / "2.md"
    first.write_text(COPY.format(title="隔膜深度", day="2025-08-01", source="甲"), encoding="utf-8")
    run(store, tmp_path)
    second.write_text(COPY.format(title="隔膜深度（转载）", day="2025-08-02", source="乙"), encoding="utf-8")
    run(store, tmp_path)
    (fact,) = store.view().facts(relation="produces")
    assert (len(fact.evidence), fact.witnesses) == (2, 1)


def test_two_independent_reports_are_two_witnesses(store, tmp_path):
    (tmp_path / "1.md").write_text(CATL, encoding="utf-8")
    other = CATL.replace("示例证券甲", "示例证券丙").replace(
        "公司2024年营业收入3620亿元。", "我们走访了江苏与福建的多家渠道商，并与产业链上下游的专家作了交流，整理如下。"
    )
    (tmp_path / "2.md").write_text(other, encoding="utf-8")
    run(store, tmp_path)
    (fact,) = store.view().facts(relation="supplies")
    assert fact.witnesses == 2


def test_two_workers_do_what_one_does(tmp_path, folder):
    (folder / "empty.md").write_bytes(b"")
    for number in range(3):
        text = CATL.replace("3620亿元", f"{3620 + number}亿元").replace("半年报", f"第{number}次")
        (folder / f"more-{number}.md").write_text(text, encoding="utf-8")
    found = []
    for workers in (1, 2):
        store = open_store(tmp_path / f"kb{workers}.liantu", create=True)
        outcome = run(store, folder, workers=workers)
        found.append((counts(outcome), outcome.facts, store.stats(), fact_ids(store)))
        store.close()
    assert found[0] == found[1]


def _descendants(pid: int) -> list[int]:
    try:
        found = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except FileNotFoundError:
        return []
    return [*found, *(inner for child in found for inner in _descendants(child))]


@pytest.mark.extended
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc to see child processes")
def test_workers_end_when_their_parent_is_killed(tmp_path: Path):
    root = tmp_path / "many"
    root.mkdir()
    for number in range(200):
        text = COPY.format(title=f"报告{number}", day="2025-08-20", source="示例证券甲")
        (root / f"{number}.md").write_text(text + f"第{number}份。" * 200, encoding="utf-8")
    command = (Path(sys.executable).with_name("liantu"), "ingest", root, "--kb", tmp_path / "kb", "--workers", "2")
    parent = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        # The tracker, the server that forks, the reader and two workers.
        children = _wait(lambda: len(found := _descendants(parent.pid)) >= 5 and found)
    finally:
        parent.kill()
        parent.wait()
    assert children
    assert _wait(lambda: not any(_alive(child) for child in children))


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _wait(ready: Callable[[], Any]) -> Any:
    for _ in range(300):
        if found := ready():
            return found
        time.sleep(0.1)
    return None


@pytest.mark.extended
def test_a_killed_worker_costs_one_document_of_the_run(tmp_path: Path):
    """`kill -9` of whatever process extracts: one line and exit code 3, or none if it was between two documents."""
    root = tmp_path / "many"
    root.mkdir()
    for number in range(30):
        text = COPY.format(title=f"报告{number}", day="2025-08-20", source="示例证券甲")
        (root / f"{number}.md").write_text(text + f"第{number}份。" * 20, encoding="utf-8")
    command = (Path(sys.executable).with_name("liantu"), "ingest", root, "--kb", tmp_path / "kb", "--workers", "2")
    run_ = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    victims = _wait(lambda: len(found := _descendants(run_.pid)) >= 5 and found)
    time.sleep(0.5)
    os.kill(victims[-1], signal.SIGKILL)
    out, err = run_.communicate(timeout=120)
    lost = err.count("未处理：")
    assert "Traceback" not in err
    assert lost <= 2
    assert run_.returncode == (3 if lost else 0)
    assert f"{30 - lost} 篇新写入" in out


def test_the_default_confidence_is_that_of_the_settings():
    least = Settings().min_confidence
    assert least == Job((), READ).min_confidence == Extraction(READ).min_confidence == ReadingOptions().min_confidence
