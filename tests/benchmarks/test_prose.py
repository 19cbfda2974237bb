from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.prose import cases

if TYPE_CHECKING:
    from pathlib import Path


def test_sentences_are_read_with_their_passage_question_and_kind(tmp_path: Path):
    given = tmp_path / "set.txt"
    given.write_text(
        "# note\n\n@ a.md | 营收 | 是吗？\n+ 真的。\n- sign | 假的。\n@ b.md | 毛利率\n+ 也真。\n", "utf-8"
    )
    assert [(each.report, each.words, each.question, each.kind, each.sentence) for each in cases(given)] == [
        ("a.md", "营收", "是吗？", "", "真的。"),
        ("a.md", "营收", "是吗？", "sign", "假的。"),
        ("b.md", "毛利率", "", "", "也真。"),
    ]


def test_the_shipped_sentences_are_of_all_kinds():
    found = list(cases())
    assert sum(not each.kind for each in found) >= 100
    kinds = "company condition day deny forecast number other plan premise rumour sign unit"
    assert {each.kind for each in found} == {"", *kinds.split()}
