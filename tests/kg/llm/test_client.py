"""The real openai client against a scripted server: every fault, and what is asked, repeated or given up."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from kg.llm.client import Endpoint, EndpointClient, OpenAiModel
from kg.llm.port import ContextOverflow, EndpointRefused, ModelError, ModelRefused, Reply, Request, request_key
from tests.kg.llm.endpoint import completion, cuts, events, resets, says, serving, stalls, status, streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.kg.llm.endpoint import Step

pytest.importorskip("openai")

ASK = Request((("system", "你好"), ("user", "碳酸锂？")), most_tokens=9)
GOOD = Reply("好", 7, 3)


def _ask(url: str, **given: object) -> tuple[Reply, list[float]]:
    """Ask once; return the reply and the pauses before the retries, which are not waited for."""
    pauses: list[float] = []
    request = given.pop("request", ASK)

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    async def run() -> Reply:
        client = EndpointClient(Endpoint(url, "小模型", **{"timeout": 20.0, **given}), pause=pause)  # type: ignore[arg-type]
        try:
            return await client.complete(request)  # type: ignore[arg-type]
        finally:
            await client.close()

    return asyncio.run(run()), pauses


def test_a_request_goes_over_the_wire_as_the_wire_wants_it():
    with serving(lambda prompt: f"收到{prompt}") as state:
        model = OpenAiModel(Endpoint(state.url + "/", "小模型", "secret"))
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
    assert state.headers[0]["authorization"] == "Bearer secret"
    assert state.headers[0]["idempotency-key"] == request_key("小模型", ASK)


def test_without_a_key_none_is_sent():
    with serving(lambda _: "好") as state:
        _ask(state.url)
    assert not {"authorization", "openai-organization", "openai-project"} & set(state.headers[0])


@pytest.mark.parametrize(
    ("script", "stream"),
    [
        ((status(429),), False),
        ((status(500), status(503), status(408)), False),
        ((resets,), False),
        ((cuts,), False),
        ((says('{"choices": ['),), False),
        ((says("<html>busy</html>"),), False),
        ((says({"choices": []}),), False),
        ((says({"error": None}),), False),
        ((says(completion("")),), False),
        ((streams(events("碳酸", finish=None)[:1], whole=False),), True),
        ((streams(events("碳酸", finish=None)[:1]),), True),
        ((streams([{"error": {"message": "overloaded"}}]),), True),
        ((resets, status(502), streams([])), True),
    ],
)
def test_a_fault_is_tried_again(script: Sequence[Step], stream: bool):
    with serving(lambda _: "好", script=script) as state:
        reply, pauses = _ask(state.url, stream=stream)
    assert reply == GOOD
    assert len(state.bodies) == len(script) + 1 == len(pauses) + 1


def test_pauses_double_with_jitter_and_heed_retry_after():
    script = [status(429, headers={"Retry-After": "7"}), status(503), status(503)]
    with serving(lambda _: "好", script=script) as state:
        _, pauses = _ask(state.url)
    assert pauses[0] == 7.0
    assert 1.0 <= pauses[1] <= 2.0
    assert 2.0 <= pauses[2] <= 4.0
    assert pauses[1] != 2 * pauses[2]


def test_a_server_that_asks_for_more_patience_than_the_deadline_is_given_up():
    with (
        serving(script=[status(429, headers={"Retry-After": "3600"})]) as state,
        pytest.raises(ModelError, match="asks to wait 3600 s"),
    ):
        _ask(state.url)
    assert len(state.bodies) == 1


def test_one_deadline_holds_for_all_tries():
    with serving(script=[stalls(5)]) as state, pytest.raises(ModelError, match=r"within 0\.3 s"):
        _ask(state.url, timeout=0.3)
    with pytest.raises(ModelError, match=r"no response|no reply"):
        _ask(state.url, timeout=0.3)  # nobody listens any more


def test_where_nothing_listens_no_request_is_repeated_for_long():
    with serving(lambda _: "好") as state:
        url = state.url
    with pytest.raises(EndpointRefused, match="cannot be reached"):
        _ask(url, timeout=60)


def test_an_endpoint_that_was_reached_may_start_again():
    with serving() as gone:
        nowhere = gone.url

    async def run(url: str) -> None:
        pauses: list[float] = []

        async def pause(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) > 5:  # as if the deadline had come
                raise TimeoutError

        client = EndpointClient(Endpoint(url, "小模型", timeout=60.0), pause=pause)
        try:
            assert await client.complete(ASK) == GOOD
            client._client.base_url = nowhere
            with pytest.raises(ModelError, match="within 60 s") as given_up:
                await client.complete(ASK)
            assert not isinstance(given_up.value, EndpointRefused)
        finally:
            await client.close()

    with serving(lambda _: "好") as state:
        asyncio.run(run(state.url))


@pytest.mark.parametrize("code", [401, 403, 404, 402])
def test_what_every_request_would_meet_ends_the_run(code: int):
    with serving(script=[status(code, message="wrong key sk-abcdef123456")]) as state:
        with pytest.raises(EndpointRefused) as refused:
            _ask(state.url, key="sk-abcdef123456")
        assert len(state.bodies) == 1
    assert "abcdef" not in str(refused.value)


def test_no_credit_is_not_a_busy_server():
    with serving(script=[status(429, kind="insufficient_quota")]) as state, pytest.raises(EndpointRefused):
        _ask(state.url)


def test_an_overflow_is_told_apart():
    script = [status(400, kind="context_length_exceeded"), status(400, message="prompt is too long: 9 > 8 tokens")]
    with serving(script=script) as state:
        for _ in script:
            with pytest.raises(ContextOverflow):
                _ask(state.url)


@pytest.mark.parametrize("data", [completion(None, refusal="I cannot help"), completion(None, finish="content_filter")])
def test_a_refusal_is_not_repeated(data: object):
    with serving(script=[says(data)]) as state, pytest.raises(ModelRefused):
        _ask(state.url)
    assert len(state.bodies) == 1


def test_empty_replies_are_given_up_after_two():
    with serving(lambda _: "  ") as state, pytest.raises(ModelError, match="empty"):
        _ask(state.url)
    assert len(state.bodies) == 2


def test_an_invalid_request_is_not_repeated():
    with (
        serving(script=[status(400, message="bad messages")]) as state,
        pytest.raises(ModelError, match=r"refused with status 400: .*bad messages"),
    ):
        _ask(state.url)
    assert len(state.bodies) == 1


def test_a_parameter_that_the_endpoint_does_not_know_is_dropped():
    script = [
        status(400, message="Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
        status(400, message="'temperature' does not support 0"),
    ]
    with serving(lambda _: "好", script=script) as state:
        assert _ask(state.url)[0] == GOOD
    assert state.bodies[-1]["max_completion_tokens"] == 9
    assert not {"max_tokens", "temperature"} & set(state.bodies[-1])


def test_a_cut_reply_says_so():
    with serving(script=[says(completion("7|甲", finish="length"))]) as state:
        assert _ask(state.url)[0] == Reply("7|甲", 7, 3, cut=True)


def test_streams_and_tools_are_put_together():
    schema = json.dumps({"type": "object", "properties": {"edges": {"type": "array"}}})
    request = Request(ASK.messages, schema=schema)
    arguments = '{"edges": ["7|碳酸锂|affects|电池|uu"]}'
    call = {"id": "t", "type": "function", "function": {"name": "reply", "arguments": arguments}}
    script = [
        streams(events("碳酸锂价格下跌")),
        says(completion(None, tool_calls=[call])),
        streams(events(arguments, field="tool_calls", finish="tool_calls")),
        says(completion('{"edges": []}')),
    ]
    with serving(script=script) as state:
        assert _ask(state.url, stream=True)[0].text == "碳酸锂价格下跌"
        assert _ask(state.url, mode="tool", request=request)[0].text == arguments
        assert _ask(state.url, mode="tool", stream=True, request=request)[0].text == arguments
        assert _ask(state.url, mode="json", request=request)[0].text == '{"edges": []}'
    assert state.bodies[0]["stream_options"] == {"include_usage": True}
    assert state.bodies[1]["tool_choice"] == {"type": "function", "function": {"name": "reply"}}
    assert state.bodies[3]["response_format"]["json_schema"]["schema"] == json.loads(schema)


def test_the_mode_does_not_change_what_is_asked():
    assert request_key("m", ASK) == request_key("m", Request(ASK.messages, 9, schema="{}"))


@pytest.mark.parametrize("url", ["http://host:port", "ftp://host/v1", "host/v1", "http://"])
def test_an_address_that_is_none_is_said_in_one_line(url: str):
    with pytest.raises(ModelError, match="invalid address or key"):
        EndpointClient(Endpoint(url, "m"))


def test_a_password_in_an_address_is_refused_and_not_shown():
    with pytest.raises(ModelError, match="holds a password") as refused:
        EndpointClient(Endpoint("http://me:geheim@host/v1", "m"))
    assert "geheim" not in str(refused.value)


def test_a_key_never_shows():
    assert "geheim" not in repr(Endpoint("http://x", "m", "geheim"))
    said = "your header was Bearer geheim-123456 and geheim-123456"
    with serving(script=[status(400, message=said)]) as state, pytest.raises(ModelError) as refused:
        _ask(state.url, key="geheim-123456")
    assert "geheim" not in str(refused.value)


def test_closing_a_model_ends_the_requests_that_wait():
    with serving(script=[stalls(10.0)]) as server, ThreadPoolExecutor(1) as pool:
        model = OpenAiModel(Endpoint(server.url, "小模型", timeout=60.0))
        waiting = pool.submit(model.complete, ASK)
        while not server.bodies:
            time.sleep(0.01)
        model.close()
        with pytest.raises(ModelError, match="closed before"):
            waiting.result(timeout=5)
