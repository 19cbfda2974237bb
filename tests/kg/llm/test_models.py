"""Replies that are kept, and token counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.llm.port import ModelError, Reply, Request, tokens
from kg.llm.replay import Replay

if TYPE_CHECKING:
    from pathlib import Path

ASK = Request((("system", "你好"), ("user", "碳酸锂？")), most_tokens=9)


class _Counting:
    """A model that counts its calls."""

    name = "m"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(f"答{len(request.messages)}", 1, 2)

    def close(self) -> None:
        pass


def test_a_kept_reply_is_never_asked_for_again(tmp_path: Path):
    path, behind = tmp_path / "replies.jsonl", _Counting()
    kept = Replay(path, behind)
    assert kept.complete(ASK) == kept.complete(ASK) == Reply("答2", 1, 2)
    again = Replay(path, _Counting())
    assert again.known(ASK)
    assert again.complete(ASK) == Reply("答2", 1, 2)
    assert (behind.asked, kept.calls, again.calls) == (1, 1, 0)
    assert Replay(path, name="m").complete(ASK).text == "答2"
    with pytest.raises(ModelError, match="no reply"):
        Replay(path, name="other").complete(ASK)


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_line_cut_off_by_a_kill_is_asked_for_again_and_spoils_no_other(tmp_path: Path, cut: int):
    path = tmp_path / "replies.jsonl"
    first, second = ASK, Request((("user", "铜？"),))
    Replay(path, _Counting()).complete(first)
    Replay(path, _Counting()).complete(second)
    path.write_bytes(path.read_bytes()[:-cut])
    behind = _Counting()
    resumed = Replay(path, behind)
    resumed.complete(first)
    resumed.complete(second)
    assert behind.asked == (0 if cut == 1 else 1)  # one byte is the end of the line alone
    whole = Replay(path, name="m")
    assert whole.known(first)
    assert whole.known(second)


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path):
    kept = Replay(tmp_path / "no" / "replies.jsonl", _Counting())
    with pytest.raises(ModelError, match="cannot write the reply"):
        kept.complete(ASK)


def test_tokens_are_an_upper_estimate_that_adds_up():
    assert tokens("碳酸锂价格") == 5
    assert tokens("carbonate") == 3
    assert Request((("user", "碳酸锂"),)).tokens == 3 + 4
