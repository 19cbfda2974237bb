"""A changed file takes the place of what it held before, in one transaction, and nothing else is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from extraction import ingest as ingesting
from extraction.ingest import Job, Outcome, ingest
from tests.contracts.reference import MemoryStore
from tests.goldens import reports

if TYPE_CHECKING:
    from pathlib import Path

    from kg.store.port import Store

READ = datetime(2025, 9, 1, 8, tzinfo=UTC)
BODIES = {
    "甲": "宁德时代向特斯拉供应磷酸铁锂电池。",
    "乙": "恩捷股份主营锂电池隔膜。",
    "丙": "硅料价格下跌推动光伏组件价格下降，进而带动光伏装机增长。",
    "丁": "工业硅是多晶硅的核心原材料。",
}


@pytest.fixture(autouse=True)
def one_extractor(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = reports.extractor()
    monkeypatch.setattr(ingesting.Extractor, "default", lambda **_: ready)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def note(path: Path, name: str) -> Path:
    path.write_text(f"---\ntitle: {name}\npublishedAt: 2025-08-20\n---\n{BODIES[name]}\n", encoding="utf-8")
    return path


def lines(path: Path, *names: str) -> Path:
    rows = [json.dumps({"title": name, "date": "2025-08-20", "text": BODIES[name]}) for name in names if name in BODIES]
    path.write_text("\n".join([*rows, *(name for name in names if name not in BODIES)]), encoding="utf-8")
    return path


def run(store: Store, *paths: Path) -> Outcome:
    return ingest(store, Job(paths, READ, workers=1, ner=False))


def counts(outcome: Outcome) -> tuple[int, int, int, int]:
    return outcome.written, outcome.known, outcome.changed, outcome.removed


def titles(store: Store) -> list[str]:
    return sorted(head.title for head in store.view().documents())


def same(one: Store, other: Store) -> bool:
    """Whether two bases hold the same documents, facts and entities."""
    return all(
        list(getattr(one.view(), name)()) == list(getattr(other.view(), name)())
        for name in ("documents", "facts", "entities", "names")
    )


def test_a_changed_file_takes_the_place_of_what_it_was(store, tmp_path):
    file = note(tmp_path / "a.md", "甲")
    assert counts(run(store, file)) == (1, 0, 0, 0)
    note(file, "乙")
    assert counts(run(store, file)) == (1, 0, 1, 1)
    ignorant = MemoryStore()
    run(ignorant, file)
    assert same(store, ignorant)
    assert counts(run(store, file)) == (0, 1, 0, 0)
    note(file, "甲")
    assert counts(run(store, file)) == (1, 0, 1, 1)
    assert titles(store) == ["甲"]


def test_lines_of_a_file_come_and_go(store, tmp_path):
    file = lines(tmp_path / "n.jsonl", "甲", "乙", "丙")
    run(store, file)
    lines(file, "丁", "甲", "丙")
    assert counts(run(store, file)) == (1, 2, 1, 1)
    assert titles(store) == ["丁", "丙", "甲"]
    lines(file, "丙")
    assert counts(run(store, file)) == (0, 1, 1, 2)
    assert titles(store) == ["丙"]


def test_a_changed_file_is_one_transaction(store, tmp_path, monkeypatch):
    file = lines(tmp_path / "n.jsonl", "甲", "乙")
    run(store, file)
    lines(file, "丙", "丁")
    before = titles(store)
    real = ingesting._Edits._write

    def failing(edits, reading) -> None:
        real(edits, reading)
        if reading.document.title == "丁":
            raise KeyboardInterrupt

    monkeypatch.setattr(ingesting._Edits, "_write", failing)
    with pytest.raises(KeyboardInterrupt):
        run(store, file)
    assert titles(store) == before
    monkeypatch.setattr(ingesting._Edits, "_write", real)
    run(store, file)
    assert titles(store) == ["丁", "丙"]


def test_a_file_that_cannot_be_read_any_more_keeps_what_it_was(store, tmp_path):
    file = note(tmp_path / "a.md", "甲")
    run(store, file)
    file.write_bytes(b"")
    outcome = run(store, file)
    assert (counts(outcome), len(outcome.refused)) == ((0, 0, 0, 0), 1)
    assert titles(store) == ["甲"]


def test_a_bad_line_does_not_keep_the_others(store, tmp_path):
    file = lines(tmp_path / "n.jsonl", "甲", "乙")
    run(store, file)
    lines(file, "甲", "{not json")
    assert counts(run(store, file)) == (0, 1, 1, 1)
    assert titles(store) == ["甲"]


@pytest.mark.parametrize("new", ["0.md", "z.md"])
def test_a_file_that_moved_while_another_took_its_place_is_not_lost(store, tmp_path, new: str):
    """`a.md` becomes `0.md` or `z.md`, and something else is written to `a.md`: read before it or after it."""
    note(tmp_path / "a.md", "甲")
    run(store, tmp_path)
    note(tmp_path / new, "甲")
    note(tmp_path / "a.md", "乙")
    run(store, tmp_path)
    assert {head.title: head.path for head in store.view().documents()} == {
        "甲": str(tmp_path / new),
        "乙": str(tmp_path / "a.md"),
    }
    assert counts(run(store, tmp_path)) == (0, 2, 0, 0)


@pytest.mark.parametrize(("giving", "taking"), [("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")])
@pytest.mark.parametrize("rest", [("乙",), ("乙", "丙")])
def test_a_line_that_moved_to_another_file_is_not_lost(
    store, tmp_path, giving: str, taking: str, rest: tuple[str, ...]
):
    lines(tmp_path / giving, "甲", "乙")
    lines(tmp_path / taking, "丁")
    run(store, tmp_path)
    lines(tmp_path / giving, *rest)
    lines(tmp_path / taking, "甲")
    run(store, tmp_path)
    assert titles(store) == sorted({"甲", *rest})
    assert counts(run(store, tmp_path))[0] == 0


def test_the_same_bytes_in_two_files_survive_the_change_of_one(store, tmp_path):
    for name in ("a.md", "b.md"):
        note(tmp_path / name, "甲")
    run(store, tmp_path)
    note(tmp_path / "a.md", "乙")
    run(store, tmp_path)
    assert titles(store) == ["乙", "甲"]


def paths(store: Store) -> dict[str, str]:
    return {head.title: head.path.rpartition("/")[2] for head in store.view().documents()}


def test_a_file_that_moved_and_then_changed_takes_the_place_of_what_it_was(store, tmp_path):
    """Else the claims of the report before it was corrected would stay for ever, under a path that is no more."""
    note(tmp_path / "a.md", "甲")
    run(store, tmp_path)
    (tmp_path / "a.md").rename(tmp_path / "b.md")
    outcome = run(store, tmp_path)
    assert (counts(outcome), outcome.moved, paths(store)) == ((0, 1, 0, 0), 1, {"甲": "b.md"})
    assert run(store, tmp_path).moved == 0
    note(tmp_path / "b.md", "乙")
    assert counts(run(store, tmp_path)) == (1, 0, 1, 1)
    assert paths(store) == {"乙": "b.md"}


def test_a_file_whose_new_name_tells_another_day_is_read_again(store, tmp_path):
    (tmp_path / "2024-03-05_甲.md").write_text("# 甲\n\n宁德时代向特斯拉供应磷酸铁锂电池。\n", encoding="utf-8")
    run(store, tmp_path)
    (tmp_path / "2024-03-05_甲.md").rename(tmp_path / "2024-04-05_甲.md")
    run(store, tmp_path)
    ignorant = MemoryStore()
    run(ignorant, tmp_path)
    assert [str(head.published_on) for head in store.view().documents()] == ["2024-04-05"]
    assert same(store, ignorant)


def test_lines_keep_their_numbers(store, tmp_path):
    """Or `remove n.jsonl:1` would take another line out than the one that stands there."""
    file = lines(tmp_path / "n.jsonl", "甲", "乙")
    run(store, file)
    lines(file, "乙", "甲", "丙")
    outcome = run(store, file)
    assert (counts(outcome), outcome.moved) == ((1, 2, 0, 0), 2)
    assert paths(store) == {"乙": "n.jsonl:1", "甲": "n.jsonl:2", "丙": "n.jsonl:3"}
    file.rename(tmp_path / "m.jsonl")
    assert run(store, tmp_path).moved == 3
    assert paths(store) == {"乙": "m.jsonl:1", "甲": "m.jsonl:2", "丙": "m.jsonl:3"}


def test_the_same_bytes_in_two_files_go_by_the_one_that_is_left(store, tmp_path):
    for name in ("a.md", "b.md"):
        note(tmp_path / name, "甲")
    assert run(store, tmp_path).moved == run(store, tmp_path).moved == 0
    assert paths(store) == {"甲": "a.md"}
    (tmp_path / "a.md").unlink()
    run(store, tmp_path)
    assert paths(store) == {"甲": "b.md"}
