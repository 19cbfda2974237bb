"""Files that commands write: whole or not at all, never over a base, and a full disk is one line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kg.cli import main
from kg.commands.files import FileUnwritable, replacing
from tests.kg.commands.test_commands import ran

FULL = Path("/dev/full")


@pytest.mark.parametrize("command", [("dump", "-o"), ("draw", "chain", "硅片", "--out")])
def test_no_command_writes_over_a_base(capsys, kb: Path, command: tuple[str, ...]):
    """Whether it is named, linked to, or another one than is asked."""
    link = kb.with_name("link")
    link.symlink_to(kb)
    before = kb.read_bytes()
    for name in (kb, link):
        with pytest.raises(SystemExit) as left:
            main([*command, str(name), "--kb", str(kb)])
        assert left.value.code == 2
        reported = capsys.readouterr().err
        assert reported.count("\n") == 1
        assert "那里已有知识库" in reported
    assert kb.read_bytes() == before


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal", "-lock"])
def test_no_command_writes_a_file_that_belongs_to_a_base(capsys, kb: Path, suffix: str):
    with pytest.raises(SystemExit) as left:
        main(["dump", "-o", f"{kb}{suffix}", "--kb", str(kb)])
    assert left.value.code == 2
    assert "名称为其所用" in capsys.readouterr().err
    with replacing(kb.with_name(f"note{suffix}")) as file:  # nothing stands at `note`
        file.write("fine")


def test_a_file_is_replaced_whole_or_stays(tmp_path: Path):
    path, link = tmp_path / "dump.jsonl", tmp_path / "link.jsonl"
    path.write_text("of last week")
    path.chmod(0o640)
    link.symlink_to(path)

    def cut_short() -> None:
        with replacing(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_short()
    assert path.read_text() == "of last week"
    with replacing(link) as file:
        file.write("of this week")
    assert (path.read_text(), path.stat().st_mode & 0o777, link.is_symlink()) == ("of this week", 0o640, True)
    assert sorted(tmp_path.iterdir()) == [path, link]
    with pytest.raises(FileUnwritable, match="No such file"), replacing(tmp_path / "none" / "dump.jsonl"):
        pass


def test_what_a_killed_command_left_is_removed(tmp_path: Path):
    path, own = tmp_path / "dump.jsonl", tmp_path / f".dump.jsonl.{os.getppid()}.new"
    for each in (own, left := tmp_path / ".dump.jsonl.99999999.new"):
        each.write_text("half")
    with replacing(path) as file:
        file.write("whole")
    assert (own.exists(), left.exists(), path.read_text()) == (True, False, "whole")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["dump -o /dev/full", "dump", "profile 隆基绿能", "profile 隆基绿能 --json"])
def test_a_disk_without_room_for_the_answer_is_one_line(kb: Path, tmp_path: Path, command: str):
    with FULL.open("wb") as full:
        done = ran(*command.split(), "--kb", kb, cwd=tmp_path, stdout=full)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr.decode()
    assert "磁盘已满" in done.stderr.decode()
