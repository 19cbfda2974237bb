"""A language model that hangs, cuts, refuses or fails: one clear line each, and no other question waits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient

from benchmarks.stub_model import Scripted, serving
from kg.llm.client import Endpoint, OpenAiModel
from kg.service.answering import ServiceLimits
from kg.service.app import create_app
from kg.service.base import KnowledgeBase
from tests.kg.query.world import filled, solar

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCAL = ("127.0.0.1", 50000)
SAID = "通威股份生产硅料。[A1]"


HASTY, PATIENT = 2.5, 60.0  # seconds that the service waits for the model


@contextmanager
def served(*, stream: bool, seconds: float) -> Iterator[tuple[TestClient, list[Scripted | str]]]:
    replies: list[Scripted | str] = [SAID]

    def reply(_: object) -> Scripted | str:
        return replies.pop(0) if len(replies) > 1 else replies[0]

    with serving(reply) as stub:
        model = OpenAiModel(Endpoint(stub.url, "stub", timeout=seconds + 0.5, stream=stream))
        kb = KnowledgeBase(filled(solar()), model=model)
        limits = ServiceLimits(concurrency=2, model_concurrency=2, model_waiting=0, model_seconds=seconds)
        app = create_app(kb, limits=limits)
        with TestClient(app, base_url="http://127.0.0.1", client=LOCAL, raise_server_exceptions=False) as client:
            yield client, replies  # the service ends with questions that still wait for the model


STREAMED = [False, pytest.param(True, marks=pytest.mark.extended)]


@pytest.fixture(params=STREAMED, ids=["whole", "streamed"])
def hasty(request: pytest.FixtureRequest) -> Iterator[tuple[TestClient, list[Scripted | str]]]:
    with served(stream=request.param, seconds=HASTY) as found:
        yield found


@pytest.fixture(params=STREAMED, ids=["whole", "streamed"])
def scripted(request: pytest.FixtureRequest) -> Iterator[tuple[TestClient, list[Scripted | str]]]:
    with served(stream=request.param, seconds=PATIENT) as found:
        yield found


def prose(client: TestClient, question: str = "谁生产硅料？") -> Any:
    return client.get("/v1/prose", params={"question": question})


def test_a_model_that_hangs_makes_no_other_question_wait(hasty: tuple[TestClient, list[Scripted | str]]):
    client, replies = hasty
    replies[:] = [Scripted(SAID, seconds=3)]
    with ThreadPoolExecutor(4) as pool:
        hanging = [pool.submit(prose, client, f"谁生产硅料{number}？") for number in range(4)]
        for number in range(4):  # one for each place that the model's questions could have taken
            assert client.get("/v1/ask", params={"question": f"谁生产硅料？{number}"}).status_code == 200
        found = [each.result() for each in hanging]
    assert {each.status_code for each in found} == {503}
    assert {each.json()["detail"].split(";")[0] for each in found} == {
        "no answer within 2.5 s",
        "too many questions at once",
    }


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ([Scripted(refusal="I cannot help with that")], "refuses this question"),
        ([Scripted(finish="content_filter")], "refuses this question"),
        ([Scripted(""), Scripted("")], "holds no answer"),
        ([Scripted("<think>先想想")], "holds no answer"),
        ([Scripted("<think>先想想", finish="length")], "holds no answer"),
        ([Scripted(status=401)], "does not answer"),
    ],
)
def test_each_fault_is_one_line_and_is_not_kept(
    scripted: tuple[TestClient, list[Scripted | str]], replies: list[Scripted], said: str
):
    client, queue = scripted
    queue[:] = [*replies, SAID]
    found = prose(client)
    assert found.status_code == 502, found.text
    assert said in found.json()["detail"]
    assert "\n" not in found.json()["detail"]
    assert prose(client).json()["written"]


@pytest.mark.parametrize(
    "fault",
    [Scripted(status=429), Scripted(status=500), Scripted(SAID, pace=0.05), Scripted(SAID, broken=True)],
    ids=["429", "500", "slow", "broken off"],
)
def test_a_model_that_fails_is_asked_again_and_then_given_up(
    hasty: tuple[TestClient, list[Scripted | str]], fault: Scripted
):
    client, replies = hasty
    replies[:] = [fault]
    with ThreadPoolExecutor(1) as pool:
        failing = pool.submit(prose, client)
        assert client.get("/v1/ask", params={"question": "谁生产硅料？"}).status_code == 200
        assert not failing.done()
        found = failing.result()
    assert found.status_code in (502, 503)  # whether the model or the service gives up first
    assert "answer" in found.json()["detail"]
    replies[:] = [SAID]
    assert prose(client).json()["text"].startswith("通威股份生产硅料。[A1]")


def test_a_cut_reply_shows_its_whole_sentences_and_is_not_kept(scripted: tuple[TestClient, list[Scripted | str]]):
    client, replies = scripted
    replies[:] = [Scripted(f"{SAID}隆基绿能生", finish="length"), SAID]
    found = prose(client).json()
    assert (found["cut"], found["removed"], len(found["sentences"])) == (True, 0, 1)
    assert found["text"].endswith("（模型的回答在长度上限处中断）")
    assert not prose(client).json()["cut"]
