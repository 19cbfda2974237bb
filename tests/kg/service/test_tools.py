from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from kg.service.base import open_kb
from kg.service.operations import OPERATIONS
from kg.service.tools import create_tools
from tests.kg.query.world import PV, filled, solar

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
    assert {tool.name for tool in tools} == {*(operation.name for operation in OPERATIONS), "document"}
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
        ("chain", {"topic": "光伏", "as_of": "1999-01-01"}, "光伏"),
        ("delete", {}, "no tool 'delete'"),
        ("themes", {}, "weekly"),
    ],
)
def test_a_mistake_is_one_line(kb: KnowledgeBase, name: str, arguments: dict[str, Any], says: str):
    failed, text = called(kb, name, **arguments)
    assert failed
    assert says in text
    assert "\n" not in text


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
