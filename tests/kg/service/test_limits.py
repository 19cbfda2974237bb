"""What strangers may not do: fill the memory, slow down others, or learn more than the answer to their own question."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from kg.query.questions.registry import KEYS, question
from kg.service.answering import Answering, ServiceLimits, _key_of
from kg.service.metrics import ServiceMetrics
from tests.kg.service.examples import QUESTIONS, with_themes
from tests.kg.service.test_app import assert_problem, client_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi.testclient import TestClient

    from kg.service.base import KnowledgeBase


@pytest.fixture
def client(kb: KnowledgeBase) -> Iterator[TestClient]:
    with client_of(kb) as client:
        yield client


def test_a_fault_in_one_part_of_a_batch_is_that_part_s(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(question("stats"), "answer", broken)
    with client_of(kb) as client:
        body = {"requests": [{"method": "stats"}, {"method": "facts"}]}
        first, second = client.post("/v1/batch", json=body).json()["answers"]
        assert (first["status"], second["status"]) == (500, 200)
        assert "secret" not in str(first)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_instants_at_the_ends_of_the_calendar_are_answered(kb: KnowledgeBase, moment: str):
    with_themes(kb)
    with client_of(kb, limits=ServiceLimits(seconds=600)) as client:  # on a machine however busy
        for key in KEYS:
            asked = QUESTIONS[key] | {"known_at": moment}
            assert client.get(f"/v1/{key}", params=asked).status_code in {200, 404, 400}, key


def test_what_is_kept_is_bounded_with_its_keys(kb: KnowledgeBase):
    """A million tiny answers to long questions: neither their number nor the length of their keys is without bound."""
    kept = Answering(kb, ServiceLimits(), ServiceMetrics())
    asked = question("ask").model_validate({"question": "问" * 1000})
    key = _key_of(asked, "tag", small=False)
    assert sys.getsizeof(key) + sys.getsizeof(key.asked) < 512
    for number in range(1_000_000):
        kept._keep(key._replace(asked=number.to_bytes(16)), b"[]")
    assert len(kept._kept) * 512 <= 64 << 20
    assert kept._size == sum(len(each) + 512 for each in kept._kept.values())
    kept.close()


def test_a_parameter_of_one_value_is_given_once(client: TestClient):
    for path in ("/v1/chain?topic=光伏", "/v1/documents/doc:1?page=1"):
        refused = client.get(f"{path}&as_of=2024-01-01&as_of=2030-01-01")
        assert_problem(refused, 422)
        assert "as_of" in refused.text
    assert client.get("/v1/facts?relation=supplies&relation=uses").status_code == 200


def test_a_missing_model_is_stated_in_the_language_of_the_base(client: TestClient):
    refused = client.get("/v1/prose", params={"question": "谁生产硅料？"})
    assert_problem(refused, 400)
    assert refused.json()["detail"].startswith("没有语言模型")


def test_a_tag_belongs_to_one_question(client: TestClient):
    tag = client.get("/v1/facts").headers["etag"]
    assert client.get("/v1/facts", headers={"If-None-Match": tag}).status_code == 304
    assert client.get("/v1/facts?limit=3", headers={"If-None-Match": tag}).status_code == 200
    assert_problem(client.get("/v1/profile?name=火星", headers={"If-None-Match": tag}), 404)


def test_a_path_that_may_hold_a_key_is_not_logged(client: TestClient, caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.INFO, logger="liantu.requests"):
        client.get("/v1/secret-key-in-a-path")
        client.get("/v1/facts")
    assert "secret" not in caplog.text
    assert [json.loads(each.message)["path"] for each in caplog.records] == ["other", "/v1/facts"]


def test_refusals_and_health_do_not_wait_for_what_is_read(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    """When all places are taken, a request is refused before it is read, and /health is still answered."""
    release = threading.Event()
    monkeypatch.setattr(question("stats"), "answer", lambda *_, **__: release.wait(120))
    with client_of(kb, limits=ServiceLimits(concurrency=1, waiting=0)) as client, ThreadPoolExecutor(40) as pool:
        asked = [pool.submit(client.get, f"/v1/stats?min_confidence=0.{number + 10}") for number in range(40)]
        while sum(each.done() for each in asked) < 39:
            time.sleep(0.01)
        assert client.get("/health").status_code == 200
        assert client.get("/v1/stats").status_code == 503
        assert not all(each.done() for each in asked)  # the one in its place is not answered yet
        release.set()
        assert sorted({each.result().status_code for each in asked}) == [200, 503]
