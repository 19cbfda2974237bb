"""remove, entity and check as an operator calls them."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import main, root
from kg.store.open import open_store
from tests.kg.query.world import LONGI, SILICON, TONGWEI

if TYPE_CHECKING:
    from pathlib import Path

WHY = ("--by", "张三", "--why", "公告更名")


def run(capsys: pytest.CaptureFixture[str], kb: Path, *arguments: str) -> tuple[int, str, str]:
    """Call `liantu` and return its exit code, output and errors."""
    try:
        main([*arguments, "--kb", str(kb)])
        code = 0
    except SystemExit as left:
        code = int(left.code or 0)
    reported = capsys.readouterr()
    return code, reported.out, reported.err


def subjects(kb: Path, object_: str) -> set[str]:
    with closing(open_store(kb)) as store:
        return {fact.subject for fact in store.view().facts(object=object_, relation="produces")}


def test_remove_takes_ids_and_paths_and_names_what_is_unknown(capsys, kb: Path):
    code, out, err = run(capsys, kb, "remove", "doc:1", "doc:4.md", "nowhere.md")
    assert (code, "移除 2 篇文档" in out) == (3, True)
    assert err.count("\n") == 1
    assert "nowhere.md" in err
    with closing(open_store(kb)) as store:
        assert [head.id for head in store.view().documents()] == ["doc:2", "doc:3", "doc:5"]
    assert run(capsys, kb, "remove", "doc:2")[0] == 0
    assert run(capsys, kb, "remove", "./doc:3.md")[0] == 0  # `ingest ./doc:3.md` keeps it so
    assert run(capsys, kb, "check")[0] == 0


def test_merge_list_and_revoke(capsys, kb: Path):
    code, out, _ = run(capsys, kb, "entity", "merge", "通威股份", LONGI, *WHY, "--score", "0.9", "--day", "2024-02-01")
    assert code == 0
    assert f"{TONGWEI} → {LONGI}" in out
    assert subjects(kb, SILICON) == {LONGI}
    judgement = out.split()[0]
    code, out, _ = run(capsys, kb, "entity", "list")
    assert out == f"{judgement}  2024-02-01  张三  merge {TONGWEI} → {LONGI}  公告更名\n"
    assert run(capsys, kb, "entity", "list", "--as-of", "2024-01-31")[1] == ""
    assert run(capsys, kb, "entity", "revoke", judgement, *WHY)[0] == 0
    assert subjects(kb, SILICON) == {TONGWEI}
    code, out, _ = run(capsys, kb, "entity", "list")
    assert out.count("已撤销") == 1
    assert len(out.splitlines()) == 2


def test_split_by_name(capsys, kb: Path):
    scope = ("--document", "doc:2", "--from", "2024-01-01", "--until", "2024-03-01")
    code, out, _ = run(capsys, kb, "entity", "split", LONGI, "隆基绿能", *scope, *WHY)
    assert code == 0
    assert "org:隆基绿能" in out
    assert subjects(kb, "product:组件") == {"org:隆基绿能"}
    assert "doc:2 2024-01-01…2024-02-29" in run(capsys, kb, "entity", "list")[1]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("merge", SILICON, LONGI, *WHY), "different kinds cannot be merged"),
        (("merge", "无此公司", LONGI, *WHY), "无此公司: no such entity"),
        (("split", LONGI, "别名", *WHY), "is not called 别名"),
        (("split", "无此公司", "别名", *WHY), "no such entity"),
        (("split", LONGI, "隆基绿能", "--from", "2024-02-01", "--until", "2024-01-01", *WHY), "no day lies"),
        (("revoke", "judgement:0", *WHY), "no such judgement"),
        (("merge", LONGI, TONGWEI, "--by", "张三", "--why", ""), "an author and a reason"),
        (("merge", LONGI, TONGWEI, *WHY, "--score", "nan"), "a score of nan is outside 0 to 1"),
    ],
)
def test_what_cannot_be_judged_is_one_line(capsys, kb: Path, arguments: tuple[str, ...], line: str):
    code, out, err = run(capsys, kb, "entity", *arguments, "--lang", "en")
    assert (code, out) == (2, "")
    assert line in err
    assert err.count("\n") == 1
    chinese = run(capsys, kb, "entity", *arguments)[2]
    assert re.search(r"[\u4e00-\u9fff]{2}", chinese.removeprefix("liantu："))
    assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", chinese.replace("liantu entity list", ""))


def test_a_name_of_two_wants_an_id(capsys, kb: Path):
    run(capsys, kb, "entity", "split", LONGI, "隆基绿能", "--document", "doc:2", *WHY)
    code, _, err = run(capsys, kb, "entity", "merge", "隆基绿能", TONGWEI, *WHY)
    assert code == 2
    assert "org:隆基绿能、sec:601012.SH" in err


def test_check_names_what_is_broken(capsys, kb: Path):
    code, out, _ = run(capsys, kb, "check")
    assert code == 0
    *held, last = out.splitlines()
    assert out.count("✓") == len(held) >= 15
    assert last.startswith("未检查：")
    with closing(sqlite3.connect(kb)) as connection:
        connection.execute("UPDATE evidence SET quote = '别的话'")
        connection.commit()
    code, out, err = run(capsys, kb, "check", "--lang", "en")
    assert code == 4
    assert "✗ quotes" in out
    assert "… " in out
    assert "faults" in err
    assert not re.search(r"[\u4e00-\u9fff]", out + err)
    code, out, err = run(capsys, kb, "check")
    assert code == 4
    assert "✗ 引文：每条引文与原文该处相同。" in out
    assert "处不成立" in err
    assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", out + err)
    assert run(capsys, kb.parent, "check")[0] == 4


def test_the_group_helps():
    shown = CliRunner().invoke(root, ["entity", "--help"])
    assert all(name in shown.output for name in ("merge", "split", "revoke", "list"))
