"""One question has one answer, whichever door it comes through."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from click.testing import CliRunner
from mcp.client import Client

from kg.cli import root
from kg.commands import questions as command_line
from kg.commands.questions import COMMANDS
from kg.query.questions.registry import KEYS, question
from kg.service.base import open_kb
from kg.service.tools import create_tools
from tests.kg.query.filings.values.world import filings
from tests.kg.query.world import filled, solar
from tests.kg.service.examples import QUESTIONS, ScriptedModel, with_themes
from tests.kg.service.test_app import client_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kg.service.base import KnowledgeBase


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found: Path = tmp_path_factory.mktemp("doors") / "kb.liantu"
    with open_kb(found, create=True) as base:
        filled(solar(), base.store)
        filings(base.store)
        with_themes(base)
    return found


@pytest.fixture(scope="module")
def kb(path: Path) -> Iterator[KnowledgeBase]:
    with open_kb(path, model=ScriptedModel()) as base:
        yield base


ASKED = [
    *QUESTIONS.items(),
    ("ask", {"question": "硅料价格下跌有什么影响？", "as_of": "2024-12-31"}),
    ("filing_value", {"question": "What was Oakwell's return on assets in FY2022?", "trace": True}),
]


def test_all_questions_are_asked():
    assert {key for key, _ in ASKED} == {*KEYS}


@pytest.mark.parametrize(("key", "given"), ASKED, ids=[f"{key}-{number}" for number, (key, _) in enumerate(ASKED)])
def test_every_door_gives_the_same_answer(
    key: str, given: dict[str, Any], kb: KnowledgeBase, path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(command_line, "configured_model", ScriptedModel)
    form = question(key).form()
    required = [name for name, field in question(key).model_fields.items() if field.is_required()]
    more = {name: value for name, value in given.items() if name not in required}
    python = getattr(kb, key)(*(given[name] for name in required), **more)
    answer = json.loads(json.dumps(question(key).to_json(python)))

    http = client_of(kb).get(f"/v1/{key}", params=given)
    assert (http.json(), http.headers["Liantu-Format"]) == (answer, form)

    async def use() -> Any:
        async with Client(create_tools(kb)) as client:
            return await client.call_tool(key, given)

    tool = anyio.run(use)
    assert (json.loads(tool.content[0].text), tool.meta["format"]) == (answer, form)

    command = next(name for name, each in COMMANDS.items() if each == key)
    options = [
        f"--{name.replace('_', '-')}" + ("" if each is True else f"={each}")
        for name, value in more.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    printed = CliRunner().invoke(
        root, [*command.split(), *(given[name] for name in required), *options, "--json", "--kb", str(path)]
    )
    assert json.loads(printed.output) == answer
    shown = CliRunner().invoke(root, [*command.split(), *(given[name] for name in required), "--kb", str(path)])
    assert shown.output.strip()
    assert not shown.output.startswith("{")


@pytest.mark.parametrize("key", [key for key in KEYS if question(key).is_drawn()])
def test_a_picture_is_about_what_was_asked(key: str, kb: KnowledgeBase):
    asked = question(key).asked(**QUESTIONS[key])
    with kb.session() as session:
        picture = asked.picture(session)
    assert set(picture.topics) <= {
        item.entity.id for column in picture.columns for section in column.sections for item in section.items
    }
