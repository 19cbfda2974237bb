from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg.errors import StoreLocked
from kg.query.questions.registry import KEYS, question
from kg.service.answering import ServiceLimits
from kg.service.app import create_app
from kg.service.keys import KeyRing, hash_key, read_hashes
from tests.kg.query.world import PV, TONGWEI, claim, filled, paper
from tests.kg.service.examples import QUESTIONS, answered, with_themes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.service.base import KnowledgeBase

LOCAL = ("127.0.0.1", 50000)


def client_of(kb: KnowledgeBase, *, base_url: str = "http://127.0.0.1", **options: Any) -> TestClient:
    app = create_app(kb, **options)
    return TestClient(app, base_url=base_url, client=LOCAL, raise_server_exceptions=False)


@pytest.fixture
def client(kb: KnowledgeBase) -> Iterator[TestClient]:
    with client_of(kb) as client:
        yield client


def assert_problem(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    return body


def test_every_question_has_an_endpoint_with_the_answer_of_the_python_method(client: TestClient, kb: KnowledgeBase):
    with_themes(kb)
    for key in KEYS:
        response = client.get(f"/v1/{key}", params=QUESTIONS[key])
        assert response.status_code == 200, response.text
        assert response.json() == answered(kb, key)
    assert client.get("/v1/impact", params=QUESTIONS["impact"]).json()["direction"] == -1


def test_a_day_and_a_threshold_are_honoured(client: TestClient):
    assert client.get("/v1/passages", params={"query": "硅料", "as_of": "1999-01-01"}).json() == []
    assert client.get("/v1/profile", params={"name": "隆基绿能", "min_confidence": 1}).status_code == 200
    assert client.get("/v1/chain", params={"topic": "光伏", "as_of": "1999-01-01"}).json()["layers"] == []
    assert_problem(client.get("/v1/chain", params={"topic": "不存在的行业"}), 404)


def test_a_question_sees_only_what_was_read_by_an_instant(client: TestClient):
    asked = {"name": "隆基绿能", "known_at": "2025-12-31T23:59:59Z"}
    assert client.get("/v1/profile", params=asked).json()["links"] == []
    assert client.get("/v1/profile", params={**asked, "known_at": "2026-01-01T08:00:00+08:00"}).status_code == 200
    assert_problem(client.get("/v1/profile", params={**asked, "known_at": "2025-12-31T23:59:59"}), 422)


def test_facts_come_in_pages_or_as_a_stream(client: TestClient):
    pages, after = [], ""
    while True:
        page = client.get("/v1/facts", params={"limit": 4, "after": after}).json()
        pages += page["facts"]
        after = page["next"]
        if not after:
            break
    every = client.get("/v1/facts", params={"limit": 1000}).json()["facts"]
    assert pages == every
    assert len(every) > 10
    streamed = client.get("/v1/facts", params={"limit": 4}, headers={"Accept": "application/x-ndjson"})
    assert streamed.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in streamed.text.splitlines()] == every
    assert_problem(client.get("/v1/facts?name=无此名", headers={"Accept": "application/x-ndjson"}), 404)
    assert_problem(client.get("/v1/facts?relation=loves"), 400)
    assert_problem(client.get("/v1/facts?superseded=true"), 400)
    assert_problem(client.get("/v1/facts?valid_from=2025-01-02&valid_to=2025-01-01"), 422)


def test_the_sentences_of_facts_are_marked_in_a_document(client: TestClient):
    row = client.get("/v1/facts", params={"name": "通威股份", "relation": "produces"}).json()["facts"][0]
    (mark,) = client.get("/v1/documents/doc:2", params={"fact": row["fact"]["id"]}).json()["highlights"]
    text = client.get("/v1/documents/doc:2").json()["text"]
    assert text[mark["start"] : mark["end"]] == row["citations"][0]["quote"] == "通威股份生产硅料。"


def test_a_batch_answers_each_question_on_its_own(client: TestClient):
    parts = [
        {"method": "profile", "parameters": {"name": "隆基绿能"}},
        {"method": "profile", "parameters": {"name": "隆基绿"}},
        {"method": "chain", "parameters": {"topic": "光伏", "depth": 9}},
        {"method": "document", "parameters": {"document_id": "doc:2"}},
    ]
    response = client.post("/v1/batch", json={"requests": parts})
    assert response.status_code == 200
    answers = response.json()["answers"]
    assert [each["status"] for each in answers] == [200, 404, 422, 200]
    assert answers[0]["answer"] == client.get("/v1/profile?name=隆基绿能").json()
    assert answers[1]["problem"]["suggestions"] == ["隆基绿能"]
    assert answers[2]["problem"]["errors"][0]["parameter"] == "depth"
    assert answers[3]["answer"]["id"] == "doc:2"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b'{"requests": []}', 422),
        (b'{"requests": [{"method": "delete"}]}', 422),
        (json.dumps({"requests": [{"method": "stats"}] * 21}).encode(), 422),
        (b"[" * 65_000, 400),
        (b" " * 65_537, 413),
    ],
)
def test_a_wrong_batch_is_refused(client: TestClient, body: bytes, status: int):
    response = client.post("/v1/batch", content=body, headers={"Content-Type": "application/json"})
    assert_problem(response, status)
    assert_problem(client.post("/v1/batch", content=iter([b"{}"])), 413)


def test_entities_are_found_by_name_code_and_initials(client: TestClient):
    for text in ("通威", "通威股份", "600438", "600438.SH", "twgf", "TWGF", TONGWEI):
        found = client.get("/v1/entities", params={"q": text}).json()
        assert found[0]["id"] == TONGWEI, text
        assert found[0]["codes"] == ["600438.SH"]
    assert client.get("/v1/entities", params={"q": "光伏"}).json()[0]["id"] == PV
    assert client.get("/v1/entities", params={"q": "完全没有"}).json() == []
    assert len(client.get("/v1/entities", params={"q": "硅", "limit": 2}).json()) == 2
    assert client.get("/v1/entities", params={"q": "通威", "as_of": "2024-01-31"}).json() == []


def test_a_document_is_read_in_parts(client: TestClient):
    document = client.get("/v1/documents/doc:2").json()
    assert document["text"].startswith("通威股份生产硅料。")
    assert document["next_start"] is None
    rest = client.get("/v1/documents/doc:2", params={"start": 5}).json()
    assert rest["text"] == document["text"][5:]
    assert_problem(client.get("/v1/documents/doc:none"), 404)
    assert_problem(client.get("/v1/documents/doc:2", params={"page": 3}), 404)
    assert_problem(client.get("/v1/documents/doc:2", params={"start": 10_000}), 404)
    assert_problem(client.get("/v1/documents/doc:2", params={"as_of": "2024-01-31"}), 404)
    assert_problem(client.get(f"/v1/documents/{'x' * 300}"), 422)


def test_an_unknown_name_suggests_names(client: TestClient):
    assert "隆基绿能" in assert_problem(client.get("/v1/profile", params={"name": "隆基绿"}), 404)["suggestions"]
    assert "weekly" in assert_problem(client.get("/v1/themes"), 404)["detail"]


@pytest.mark.parametrize(
    ("path", "parameter"),
    [
        ("/v1/chain", "topic"),
        ("/v1/chain?topic=", "topic"),
        ("/v1/chain?topic=光伏&depth=9", "depth"),
        ("/v1/chain?topic=光伏&dept=1", "dept"),
        ("/v1/chain?topic=光伏&as_of=yesterday", "as_of"),
        ("/v1/chain?topic=光伏&as_of=1700000000", "as_of"),
        ("/v1/chain?topic=光伏&as_of=2024-02-30", "as_of"),
        ("/v1/chain?topic=光伏&min_confidence=nan", "min_confidence"),
        ("/v1/impact?factor=硅料价格&direction=sideways", "direction"),
        ("/v1/passages?query=a&limit=101", "limit"),
        (f"/v1/profile?name={'长' * 201}", "name"),
        (f"/v1/ask?question={'长' * 1001}", "question"),
    ],
)
def test_a_wrong_parameter_is_named(client: TestClient, path: str, parameter: str):
    assert assert_problem(client.get(path), 422)["errors"][0]["parameter"] == parameter


def test_what_is_too_large_is_refused(client: TestClient):
    assert_problem(client.get(f"/v1/ask?question={'a' * 13_000}"), 414)
    assert_problem(client.request("GET", "/v1/themes", content=b"x"), 413)
    assert_problem(client.request("GET", "/v1/themes", content=iter([b"x"] * 3)), 413)


def test_the_service_is_read_only(client: TestClient):
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert_problem(client.request(method, "/v1/chain"), 405)
    assert_problem(client.get("/v2/none"), 404)
    assert "access-control-allow-origin" not in client.get("/health", headers={"Origin": "https://x.example"}).headers


def test_an_unchanged_base_is_not_answered_twice(client: TestClient, kb: KnowledgeBase):
    first = client.get("/v1/chain", params={"topic": "光伏"})
    tag = first.headers["etag"]
    again = client.get("/v1/chain", params={"topic": "光伏"}, headers={"If-None-Match": f'"x", {tag}'})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/v1/chain", params={"topic": "光伏"}).json() == first.json()
    filled([paper(99, "2025-01-01", ("新组件属于光伏行业。", claim("product:新组件", "belongs_to", PV)))], kb.store)
    changed = client.get("/v1/chain", params={"topic": "光伏"}, headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag
    assert "product:新组件" in changed.text


def test_long_answers_are_compressed(client: TestClient):
    response = client.get("/v1/chain", params={"topic": "光伏"}, headers={"Accept-Encoding": "gzip"})
    assert response.headers["content-encoding"] == "gzip"
    for accepted in ("identity", "gzip;q=0", "gzip; q=0.0, br"):
        assert (
            "content-encoding"
            not in client.get("/v1/chain", params={"topic": "光伏"}, headers={"Accept-Encoding": accepted}).headers
        )
    assert response.json()["topic"]["id"] == PV


def test_health_and_readiness(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    with client_of(kb, keys=KeyRing(read_hashes(hash_key("secret")))) as client:
        assert client.get("/health").json() == {"status": "ok"}
        assert client.get("/ready").json() == {"revision": kb.store.revision()}

        def locked() -> int:
            raise StoreLocked("/private/kb.liantu")

        monkeypatch.setattr(kb.store, "revision", locked)
        response = client.get("/ready")
        assert_problem(response, 503)
        assert response.headers["retry-after"] == "2"
        assert "private" not in response.text


def test_keys_are_required_where_set_and_never_logged(kb: KnowledgeBase, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with client_of(
        kb, keys=KeyRing(read_hashes(f"{hash_key('first key')} {hash_key('second key')}")), base_url="http://kb.example"
    ) as client:
        refused = client.get("/v1/profile?name=隆基绿能")
        assert_problem(refused, 401)
        assert refused.headers["www-authenticate"] == "Bearer"
        for headers in ({"Authorization": "Bearer wrong key"}, {"X-API-Key": ""}, {"Authorization": "Basic Zmlyc3Q="}):
            assert_problem(client.get("/v1/profile?name=隆基绿能", headers=headers), 401)
        assert_problem(client.get("/openapi.json"), 401)
        for headers in ({"Authorization": "Bearer second key"}, {"X-API-Key": "first key"}):
            assert client.get("/v1/profile?name=隆基绿能", headers=headers).status_code == 200
        client.get("/v1/profile?name=a&key=first key")
    lines = [json.loads(record.message) for record in caplog.records if record.name == "liantu.requests"]
    assert {line["status"] for line in lines} == {200, 401}
    assert lines[-2]["key"] == hash_key("first key")[:8]
    reported = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("liantu"))
    assert not any(key in reported for key in ("first key", "second key", "wrong key"))


def test_without_keys_only_this_machine_is_answered(kb: KnowledgeBase):
    app = create_app(kb)
    for base_url, address, status in (
        ("http://localhost:8765", "127.0.0.1", 200),
        ("http://[::1]:8765", "::1", 200),
        ("http://rebound.example", "127.0.0.1", 403),
        ("http://127.0.0.1", "192.0.2.7", 403),
    ):
        client = TestClient(app, base_url=base_url, client=(address, 50000))
        assert client.get("/v1/passages", params={"query": "硅料"}).status_code == status


def test_a_key_that_asks_too_often_waits(kb: KnowledgeBase):
    ring = KeyRing(read_hashes(f"{hash_key('first')} {hash_key('second')}", 0.5))
    with client_of(kb, keys=ring) as client:
        asked = [client.get("/v1/profile?name=隆基绿能", headers={"X-API-Key": "first"}) for _ in range(3)]
        assert_problem(asked[2], 429)
        assert (asked[0].status_code, asked[2].headers["retry-after"]) == (200, "2")
        assert client.get("/v1/profile?name=隆基绿能", headers={"X-API-Key": "second"}).status_code == 200


def test_requests_are_counted(client: TestClient):
    for _ in range(3):
        client.get("/v1/profile?name=隆基绿能")
    client.get("/v1/profile?name=无此名")
    client.get("/no/such/path")
    counted = client.get("/metrics")
    assert counted.headers["content-type"].startswith("text/plain")
    assert 'liantu_requests_total{path="/v1/profile",status="200"} 3.0' in counted.text
    assert 'liantu_requests_total{path="/v1/profile",status="404"} 1.0' in counted.text
    assert 'liantu_requests_total{path="other",status="404"} 1.0' in counted.text
    assert "liantu_kept_answers_total 2.0" in counted.text
    assert 'liantu_seconds_count{path="/v1/profile"} 4.0' in counted.text
    assert "liantu_open_requests 1.0" in counted.text


def test_a_question_asked_at_the_same_time_is_answered_once(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    go, asked = threading.Event(), []

    def themes(*_: object, **__: object) -> list[bool]:
        asked.append(1)
        return [go.wait(10)]

    monkeypatch.setattr(question("themes"), "answer", themes)
    with client_of(kb) as client, ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(client.get, "/v1/themes") for _ in range(6)]
        time.sleep(0.3)
        go.set()
        assert {each.result().status_code for each in answers} == {200}
    assert len(asked) == 1


def test_a_question_that_nobody_waits_for_is_not_begun(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    go, started, begun = threading.Event(), threading.Event(), list[str]()

    def profile(asked: Any, _: object) -> list[bool]:
        begun.append(asked.name)
        started.set()
        return [go.wait(10)]

    monkeypatch.setattr(question("profile"), "answer", profile)
    app = create_app(kb, limits=ServiceLimits(concurrency=1))

    async def run() -> None:
        async def ask(name: str, left: asyncio.Event) -> None:
            scope = {"type": "http", "method": "GET", "path": "/v1/profile", "query_string": f"name={name}".encode()}
            scope |= {"headers": [(b"host", b"localhost")], "client": ("127.0.0.1", 1), "raw_path": b"/v1/profile"}
            sent = [{"type": "http.request", "body": b"", "more_body": False}]

            async def receive() -> dict[str, Any]:
                if sent:
                    return sent.pop()
                await left.wait()
                return {"type": "http.disconnect"}

            async def send(_: object) -> None:
                pass

            await app(scope, receive, send)

        stays, leaves = asyncio.Event(), asyncio.Event()
        first = asyncio.ensure_future(ask("first", stays))
        await asyncio.to_thread(started.wait, 10)
        others = [asyncio.ensure_future(ask(f"other{number}", leaves)) for number in range(5)]
        await asyncio.sleep(0.1)
        leaves.set()
        await asyncio.gather(*others)
        go.set()
        await first
        await ask("last", stays)

    asyncio.run(run())
    assert begun == ["first", "last"]


def test_a_request_has_an_id(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    assert client.get("/health", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.get("/health", headers={"X-Request-ID": "a b\t<"}).headers["x-request-id"] != "a b\t<"

    def broken(_: object) -> None:
        raise RuntimeError("a fault with a secret")

    monkeypatch.setattr(question("themes"), "answer", broken)
    response = client.get("/v1/themes", headers={"X-Request-ID": "abc-2"})
    assert_problem(response, 500)
    assert response.headers["x-request-id"] == "abc-2"
    assert "secret" not in response.text


def test_too_many_questions_are_asked_to_come_back_later(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    go = threading.Event()
    monkeypatch.setattr(question("profile"), "answer", lambda *_, **__: [go.wait(10)])
    with client_of(kb, limits=ServiceLimits(concurrency=1, waiting=1)) as client, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(client.get, f"/v1/profile?name=a{number}") for number in range(8)]
        while sum(each.done() for each in asked) < 6:
            time.sleep(0.01)
        go.set()
        responses = [each.result() for each in asked]
    assert sorted(each.status_code for each in responses) == [200, 200, *[503] * 6]
    assert {each.headers.get("retry-after") for each in responses} == {None, "2"}


def test_a_question_that_takes_too_long_is_given_up_and_keeps_its_place(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
):
    go = threading.Event()
    monkeypatch.setattr(question("profile"), "answer", lambda *_, **__: [go.wait(10)])
    with client_of(kb, limits=ServiceLimits(concurrency=1, waiting=0, seconds=0.1)) as client:
        assert "0.1 s" in assert_problem(client.get("/v1/profile?name=a"), 503)["detail"]
        assert "too many" in assert_problem(client.get("/v1/profile?name=a"), 503)["detail"]
        go.set()
        while client.get("/ready").status_code != 200:
            time.sleep(0.01)


def test_questions_are_answered_while_the_base_is_written(client: TestClient, kb: KnowledgeBase):
    before = client.get("/v1/profile?name=隆基绿能").json()
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(client.get, f"/v1/profile?name=隆基绿能&min_confidence=0.{n}") for n in range(100, 140)]
        said = ("甲用于乙。", claim("product:甲", "upstream_of", "product:乙"))
        for number in range(100, 120):
            filled([paper(number, "2025-01-01", said)], kb.store)
        answers = [each.result() for each in asked]
    assert all(each.status_code == 200 and each.json() == before for each in answers)


NAMES = st.sampled_from(KEYS)
HOSTILE = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        [
            "' OR 1=1 --",
            '"; DROP TABLE fact; --',
            "<script>alert(1)</script>",
            "MATCH (n) DETACH DELETE n",
            "../../../etc/passwd",
            "%00",
            "\x00光伏",
            "NEAR(a b)",
            "*" * 100,
            "((((" * 40,
            "\u202e链图",
            "𠀀" * 50,
        ]
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    text=HOSTILE,
    day=st.one_of(st.none(), st.dates().map(str), HOSTILE),
    name=NAMES,
)
def test_no_text_breaks_the_service(client: TestClient, text: str, day: str | None, name: str):
    words = {key: text for key, value in QUESTIONS[name].items() if key != "direction" and isinstance(value, str)}
    response = client.get(f"/v1/{name}", params={**words, **({"as_of": day} if day else {})})
    refused = {400} if name == "prose" else set()  # there is no model
    assert response.status_code in {200, 404, 422, *refused}, response.text
    json.loads(response.content)
    assert client.get(f"/v1/documents/{'x'}", params={"as_of": day or "2024-01-01"}).status_code in {404, 422}


def test_the_api_describes_itself(client: TestClient):
    described = client.get("/openapi.json").json()
    assert {f"/v1/{key}" for key in KEYS} < described["paths"].keys()
    chain = described["paths"]["/v1/chain"]["get"]
    assert {each["name"] for each in chain["parameters"]} == {
        "topic",
        "depth",
        "as_of",
        "known_at",
        "min_confidence",
        "weak",
    }
    for lang, words in (("zh", "产业链上中下游与公司"), ("en", "upstream, midstream and downstream of a topic")):
        found = client.get("/openapi.json", params={"lang": lang})
        assert " · " not in found.text
        assert found.json()["paths"]["/v1/chain"]["get"]["summary"].startswith(words)
    assert_problem(client.get("/openapi.json?lang=fr"), 422)
