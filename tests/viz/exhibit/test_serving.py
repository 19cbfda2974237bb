"""The served explorer: a strict policy, records for what was asked, and judgements for its own page alone."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest
from starlette.testclient import TestClient

from kg.service.base import open_kb
from tests.kg.query.world import LONGI, filled, solar
from viz.exhibit import serving
from viz.exhibit.pictures import picture_of
from viz.exhibit.serving import ReaderNotes, explorer_app

if TYPE_CHECKING:
    from pathlib import Path

    from kg.service.base import KnowledgeBase

NOW = datetime(2026, 2, 3, 4, 5, tzinfo=UTC)
CLAIM = {"subject": LONGI, "name": "隆基绿能", "document": "doc:3", "by": "测试", "why": "另一家公司"}


@pytest.fixture
def kb(tmp_path):
    with open_kb(tmp_path / "kb.liantu", create=True) as base:
        filled(solar(), base.store)
        yield base


@pytest.fixture
def client(kb, tmp_path):
    app = explorer_app(kb, lang="zh", now=lambda: NOW, notes=tmp_path / "kb.liantu.notes.json")
    with TestClient(app, base_url="http://127.0.0.1", client=("127.0.0.1", 5)) as client:
        yield client


def _token(client: TestClient) -> str:
    page = client.get("/").text
    return json.loads(re.search(r'id="meta">(.*?)</script>', page).group(1))["token"]


def _document(kb: KnowledgeBase) -> str:
    return next(item.document for fact in kb.store.view().facts(subject=LONGI) for item in fact.evidence)


def test_the_page_allows_itself_and_nothing_else(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("name", ["explorer.js", "explorer.css", "LICENCES.txt"])
def test_the_bundle_is_served(client, name):
    assert client.get(f"/{name}").status_code == 200


@pytest.mark.parametrize("path", ["/pages.py", "/..%2f..%2fpages.py", "/explorer/run?day=1"])
def test_no_other_file_is(client, path):
    assert client.get(path).status_code == 404


def test_records_hold_all_facts_around_an_entity(client, kb):
    part = client.get("/explorer/records", params={"id": LONGI}).json()
    view = kb.store.view()
    wanted = {fact.id for fact in (*view.facts(subject=LONGI), *view.facts(object=LONGI))}
    assert len(part["facts"]) == len(wanted)
    assert LONGI in part["entities"]["id"]


def test_too_many_ids_are_refused(client):
    assert client.get("/explorer/records", params=[("id", str(n)) for n in range(61)]).status_code == 422


def test_another_host_name_is_refused(client):
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_a_judgement_needs_the_token_of_the_page(client, kb, token):
    answer = client.post("/explorer/judge", params=CLAIM, headers={"X-Liantu-Token": token.encode()})
    assert answer.status_code == 403
    assert kb.store.view().judgements() == []


def test_a_judgement_is_recorded_and_can_be_revoked(client, kb):
    headers = {"X-Liantu-Token": _token(client)}
    facts = len(list(kb.store.view().facts(subject=LONGI)))
    given = {**CLAIM, "document": _document(kb)}
    judged = client.post("/explorer/judge", params=given, headers=headers).json()
    (kept,) = kb.store.view().judgements()
    assert (kept.id, kept.by, kept.recorded_at) == (judged["id"], "测试", NOW)
    assert len(list(kb.store.view().facts(subject=LONGI))) < facts
    revoked = client.post(
        "/explorer/revoke", params={"judgement": kept.id, "by": "测试", "why": "看错"}, headers=headers
    )
    assert revoked.status_code == 200
    assert len(list(kb.store.view().facts(subject=LONGI))) == facts


def test_what_the_store_refuses_is_answered_with_the_reason(client):
    headers = {"X-Liantu-Token": _token(client)}
    answer = client.post("/explorer/judge", params={**CLAIM, "name": "别的名字"}, headers=headers)
    assert answer.status_code in (404, 409)
    assert answer.json()["detail"]


def test_records_follow_a_judgement(client, kb):
    before = len(client.get("/explorer/records", params={"id": LONGI}).json()["facts"])
    headers = {"X-Liantu-Token": _token(client)}
    client.post("/explorer/judge", params={**CLAIM, "document": _document(kb)}, headers=headers)
    assert len(client.get("/explorer/records", params={"id": LONGI}).json()["facts"]) < before


def test_a_picture_is_the_answer_of_the_day(client):
    asked = {"id": "industry:光伏"}
    found = client.get("/explorer/picture/chain", params=asked).json()
    assert found["kind"] == "chain"
    assert "product:硅片" in found["ids"]
    earlier = client.get("/explorer/picture/chain", params={**asked, "as_of": "2024-01-15"}).json()
    assert LONGI in found["ids"]
    assert LONGI not in earlier["ids"]


def test_a_picture_is_answered_once_until_the_base_changes(client, kb, monkeypatch):
    answered = Mock(wraps=picture_of)
    monkeypatch.setattr(serving, "picture_of", answered)
    asked = {"id": "industry:光伏"}
    first, second = (client.get("/explorer/picture/chain", params=asked).json() for _ in range(2))
    assert first == second
    assert answered.call_count == 1
    client.get("/explorer/picture/chain", params={**asked, "depth": 1})
    assert answered.call_count == 2
    headers = {"X-Liantu-Token": _token(client)}
    client.post("/explorer/judge", params={**CLAIM, "document": _document(kb)}, headers=headers)
    assert client.get("/explorer/picture/chain", params=asked).status_code == 200
    assert answered.call_count == 3


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("chain?id=product:没有", 200),
        ("path?id=product:硅料", 422),
        ("chain", 422),
        ("chain?id=x&depth=9", 422),
        ("map?id=x", 422),
    ],
)
def test_what_cannot_be_drawn_is_refused_or_empty(client, path, status):
    answer = client.get(f"/explorer/picture/{path}")
    assert answer.status_code == status
    if status == 200:
        assert answer.json() is None


def test_a_picture_brings_the_facts_that_it_rests_on(client):
    found = client.get("/explorer/picture/chain", params={"id": "industry:光伏"}).json()
    cited = {fact for link in found["links"] for fact in link[6]}
    assert cited <= {row[0] for row in found["records"]["facts"]}
    named = {*found["records"]["entities"]["id"], *found["records"]["others"]["id"]}
    assert set(found["ids"]) <= named


def test_contested_links_come_with_what_contradicts_them(client):
    part = client.get("/explorer/contested").json()
    rivals = [rival for row in part["facts"] if len(row) > 11 for rival in row[11]]
    assert rivals
    assert set(rivals) <= {row[0] for row in part["facts"]}


@pytest.mark.parametrize(
    ("view", "ids"), [("company", [LONGI]), ("chain", ["industry:光伏"]), ("common", [LONGI, "sec:600438.SH"])]
)
def test_a_view_is_saved_as_one_file_as_of_a_day(client, view, ids):
    asked = [("view", view), *(("id", each) for each in ids), ("as_of", "2024-03-01"), ("query", "since=2024-01-15")]
    answer = client.get("/explorer/file", params=asked)
    assert answer.headers["content-disposition"].startswith("attachment;")
    meta = json.loads(re.search(r'id="meta">(.*?)</script>', answer.text).group(1))
    assert meta["start"].startswith(f"#/{view}/")
    assert meta["start"].endswith("?since=2024-01-15")
    assert meta["alone"] is True
    assert meta["days"][-1][0] <= 19783  # 2024-03-01


def test_a_theme_that_is_unknown_has_no_file_and_no_members(client):
    assert client.get("/explorer/file", params={"view": "theme", "id": "theme:x"}).status_code == 404
    assert client.get("/explorer/members", params={"day": 1, "theme": "theme:x"}).status_code == 404


def test_notes_are_kept_beside_the_base_for_its_own_page_alone(client, tmp_path):
    note = {"key": "n:n:product:硅料", "text": '{"text":"下周问公司"}'}
    assert client.post("/explorer/notes", params=note, headers={"X-Liantu-Token": "wrong"}).status_code == 403
    assert client.get("/explorer/notes").json() == {}
    headers = {"X-Liantu-Token": _token(client)}
    client.post("/explorer/notes", params=note, headers=headers)
    assert client.get("/explorer/notes").json() == {note["key"]: note["text"]}
    assert (tmp_path / "kb.liantu.notes.json").is_file()
    client.post("/explorer/notes", params={"key": note["key"]}, headers=headers)
    assert client.get("/explorer/notes").json() == {}


def test_a_damaged_file_of_notes_counts_as_empty(client, tmp_path):
    (tmp_path / "kb.liantu.notes.json").write_bytes(b"\xff{")
    assert client.get("/explorer/notes").json() == {}


def test_notes_that_cannot_be_read_are_kept_aside(tmp_path: Path):
    file = tmp_path / "kb.notes.json"
    file.write_text('{"a": "mine", "b": 3}', encoding="utf-8")
    notes = ReaderNotes(file)
    assert notes.all() == {}
    notes.keep("c", "new")
    assert notes.all() == {"c": "new"}
    assert "mine" in file.with_name("kb.notes.json.damaged").read_text(encoding="utf-8")
    notes.keep("c", "")
    notes.keep("d", "later")  # an empty file is no damaged one
    assert "mine" in file.with_name("kb.notes.json.damaged").read_text(encoding="utf-8")
