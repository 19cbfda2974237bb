from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from kg.query.questions.registry import KEYS, question
from kg.service import tools
from kg.service.base import open_kb
from kg.service.keys import hash_key
from kg.service.tools import create_tools
from tests.kg.query.world import PV, filled, solar
from tests.kg.service.examples import with_themes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from kg.service.base import KnowledgeBase


def used(kb: KnowledgeBase, use: Callable[[Client], Awaitable[Any]]) -> Any:
    """Connect the SDK's own client to the tools."""

    async def run() -> Any:
        async with Client(create_tools(kb)) as client:
            return await use(client)

    return anyio.run(run)


def called(kb: KnowledgeBase, name: str, /, **arguments: Any) -> tuple[bool, str]:
    async def use(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    result = used(kb, use)
    return bool(result.is_error), result.content[0].text


def test_each_question_is_a_read_only_tool(kb: KnowledgeBase):
    tools = used(kb, lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == {*KEYS}
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    chain = next(tool for tool in tools if tool.name == "chain")
    assert chain.input_schema["required"] == ["topic"]


def test_a_tool_gives_the_answer_of_the_python_method(kb: KnowledgeBase):
    failed, text = called(kb, "chain", topic="光伏", depth=1)
    assert not failed
    assert json.loads(text) == json.loads(json.dumps(kb.chain("光伏", depth=1).to_dict()))
    assert json.loads(called(kb, "document", document_id="doc:2")[1])["title"] == "报告2"
    assert json.loads(called(kb, "entities", q="gf")[1])[0]["id"] == PV


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("profile", {"name": "隆基绿"}, "隆基绿能"),
        ("profile", {}, "name: Field required"),
        ("chain", {"topic": "光伏", "depth": 9}, "depth"),
        ("chain", {"topic": "光伏", "shell": "rm"}, "shell"),
        ("chain", {"topic": "光伏二号", "as_of": "2026-01-01"}, "光伏"),
        ("delete", {}, "no tool 'delete'"),
        ("themes", {}, "weekly"),
    ],
)
def test_a_mistake_is_one_line(kb: KnowledgeBase, name: str, arguments: dict[str, Any], says: str):
    failed, text = called(kb, name, **arguments)
    assert failed
    assert says in text
    assert "\n" not in text


def test_themes_and_documents_are_resources(kb: KnowledgeBase):
    with_themes(kb)

    async def use(client: Client) -> Any:
        listed = (await client.list_resources()).resources
        templates = (await client.list_resource_templates()).resource_templates
        read = [(await client.read_resource(each.uri)).contents[0].text for each in listed]
        return listed, templates, read

    listed, templates, read = used(kb, use)
    assert [each.uri for each in listed][:2] == ["liantu://themes/theme%3A1", "liantu://documents/doc%3A1"]
    assert {each.uri_template for each in templates} == {"liantu://documents/{id}", "liantu://themes/{id}"}
    assert json.loads(read[0])["community"]["id"] == "theme:1"
    assert read[2].startswith("报告2\n示例证券甲，2024-02-01\n\n通威股份生产硅料。")


@pytest.mark.parametrize("uri", ["liantu://documents/none", "liantu://secrets/1", "file:///etc/passwd"])
def test_a_resource_that_is_not_there_is_an_error(kb: KnowledgeBase, uri: str):
    async def use(client: Client) -> Any:
        with pytest.raises(MCPError, match=r"none|no resource"):
            await client.read_resource(uri)

    used(kb, use)


def test_many_documents_are_listed_in_pages(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tools, "_LISTED", 2)

    async def use(client: Client) -> list[str]:
        page = await client.list_resources()
        names = [each.uri for each in page.resources]
        while page.next_cursor:
            page = await client.list_resources(cursor=page.next_cursor)
            names += [each.uri for each in page.resources]
        return names

    assert used(kb, use) == [f"liantu://documents/doc%3A{number}" for number in range(1, 6)]


def test_the_command_serves_over_http_with_keys(tmp_path: Path):
    path, keys = tmp_path / "kb.liantu", tmp_path / "keys"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
    keys.write_text(f"assistant {hash_key('secret')}\n", encoding="utf-8")
    code = "import liantu; liantu.main()"
    command = [sys.executable, "-c", code, "mcp", "--http", "--port", "0", "--kb", str(path), "--keys", str(keys)]

    async def run(url: str) -> Any:
        async with (
            httpx.AsyncClient(headers={"Authorization": "Bearer secret"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await client.call_tool("ask", {"question": "光伏产业链上下游有哪些公司？"})

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        assert service.stdout is not None
        url = service.stdout.readline().strip()
        assert httpx.post(url, json={}).status_code == 401
        assert httpx.post(url, content=b"x" * 70_000, headers={"X-API-Key": "secret"}).status_code == 413
        answer = anyio.run(run, url)
        service.terminate()
    assert json.loads(answer.content[0].text)["status"] == "answered"


def test_the_command_serves_on_standard_input_and_output(tmp_path: Path):
    path = tmp_path / "kb.liantu"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
    command = StdioServerParameters(
        command=sys.executable, args=["-c", "import liantu; liantu.main()", "mcp", "--kb", str(path)]
    )

    async def run() -> Any:
        async with Client(stdio_client(command)) as client:
            return await client.call_tool("ask", {"question": "光伏产业链上下游有哪些公司？"})

    assert json.loads(anyio.run(run).content[0].text)["status"] == "answered"


UNREADABLE = {
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","arguments":{"question":"\\ud800"}}}': 7,
    '{"jsonrpc":"2.0","id":"\\ud800","method":"tools/list"}': None,
    '{"jsonrpc":"2.0","id":8,"method":': None,
    '{"id":9}': 9,
    "[1, 2]": None,
    "[" * 5000: None,
}


def test_a_line_that_is_no_message_is_answered_at_once(tmp_path: Path):
    path = tmp_path / "kb.liantu"
    with open_kb(path, create=True) as base:
        filled(solar(), base.store)
    command = [sys.executable, "-c", "import liantu; liantu.main()", "mcp", "--kb", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as service:
        assert service.stdin
        assert service.stdout

        def ask(line: str) -> dict[str, Any]:
            print(line, file=service.stdin, flush=True)
            found: dict[str, Any] = json.loads(service.stdout.readline())
            return found

        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        first = ask(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))
        assert first["id"] == 1
        for line, identity in UNREADABLE.items():
            reply = ask(line)
            assert reply["id"] == identity
            assert reply["error"]["code"] in {-32700, -32600}
        print('{"jsonrpc":"2.0","method":"notifications/initialized"}', file=service.stdin, flush=True)
        assert ask('{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}')["result"]["tools"]
        service.stdin.close()
        assert service.wait(10) == 0


def test_an_unforeseen_error_is_that_of_one_call(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(question("stats"), "answer", broken)
    failed, text = called(kb, "stats")
    assert failed
    assert text == "the fault is in the service; its log has it"
    assert not called(kb, "facts")[0]
