"""The wire against a real server, and replies that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.llm.openai_compat import Endpoint, OpenAiCompatible
from kg.llm.port import ModelError, Reply, Request, request_key, tokens
from kg.llm.replay import Replay
from tests.kg.llm.endpoint import serving

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("httpx")

ASK = Request((("system", "你好"), ("user", "碳酸锂？")), most_tokens=9)


class _Counting:
    """A model that counts its calls."""

    name = "m"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(f"答{len(request.messages)}", 1, 2)


def _client(url: str, key: str = "", timeout: float = 5.0) -> OpenAiCompatible:
    return OpenAiCompatible(Endpoint(url, "小模型", key, timeout), pause=lambda _: None)


def test_a_request_goes_over_the_wire_as_the_wire_wants_it():
    with serving(lambda prompt: f"收到{prompt}") as state:
        model = _client(state.url + "/", key="secret")
        assert model.complete(ASK) == Reply("收到碳酸锂？", 7, 3)
        model.close()
    (body,) = state.bodies
    assert body == {
        "path": "/v1/chat/completions",
        "model": "小模型",
        "messages": [{"role": "system", "content": "你好"}, {"role": "user", "content": "碳酸锂？"}],
        "temperature": 0.0,
        "max_tokens": 9,
    }
    assert state.headers[0]["Authorization"] == "Bearer secret"
    assert state.headers[0]["Idempotency-Key"] == request_key("小模型", ASK)


def test_a_busy_server_is_asked_again_and_a_refusal_is_not():
    with serving(lambda _: "好", statuses=(429, 503)) as state:
        model = _client(state.url)
        assert model.complete(ASK).text == "好"
        assert len(state.bodies) == 3
        state.statuses += [401]
        with pytest.raises(ModelError, match="refused with status 401"):
            model.complete(ASK)
        assert len(state.bodies) == 4
        state.statuses += [503] * 9
        with pytest.raises(ModelError, match="busy: status 503"):
            model.complete(ASK)
        assert len(state.bodies) == 8
        model.close()


def test_what_is_no_answer_is_said_in_one_line():
    with serving(lambda _: "好", delay=5.0) as state:
        model = _client(state.url, timeout=0.05)
        with pytest.raises(ModelError, match="no response"):
            model.complete(ASK)
        model.close()
    gone = _client(state.url)
    with pytest.raises(ModelError, match="no response"):
        gone.complete(ASK)
    gone.close()
    with pytest.raises(ModelError, match="invalid address or key"):
        _client("http://host:port")


def test_a_key_never_shows():
    assert "geheim" not in repr(Endpoint("http://x", "m", "geheim"))


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
