"""The example of each method in the OpenAPI description: a question to the world of tests, its answer shortened.

Refresh kg/service/examples.json with `python -m tests.kg.service.examples` after an intended change.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import msgspec

from kg.llm.port import Reply, Request
from kg.model import Community, Run, Summary, SummaryLine
from kg.query.questions.registry import question
from kg.service.base import KnowledgeBase
from tests.kg.query.world import PV, TONGWEI, filled, solar

HOME = Path(__file__).resolve().parents[3] / "kg" / "service" / "examples.json"
QUESTIONS: dict[str, dict[str, Any]] = {
    "chain": {"topic": "光伏"},
    "impact": {"factor": "硅料价格", "direction": "down"},
    "causes": {"effect": "组件毛利率"},
    "relate": {"first": "通威股份", "second": "隆基绿能"},
    "history": {"factor": "硅料价格", "subject": "电池片成本"},
    "diff": {"since": "2024-05-01"},
    "neighbours": {"name": "隆基绿能", "relation": ["produces", "supplies"]},
    "facts": {"name": "隆基绿能"},
    "profile": {"name": "隆基绿能"},
    "themes": {},
    "theme": {"theme_id": "theme:1"},
    "theme_changes": {"since": "2025-01-01"},
    "passages": {"query": "硅料"},
    "filing_pages": {"question": "What is the FY2022 capital expenditure amount for Oakwell Pumps?"},
    "filing_value": {"question": "What were the FY2022 revenues of Oakwell Pumps?"},
    "filing_outline": {"document_id": "doc:2"},
    "ask": {"question": "光伏产业链上下游有哪些公司？"},
    "context": {"question": "谁生产硅料？", "budget_tokens": 500},
    "prose": {"question": "谁生产硅料？", "budget_tokens": 500},
    "resolve": {"name": "600438"},
    "stats": {},
    "entities": {"q": "twgf"},
    "document": {"document_id": "doc:2"},
}


class ScriptedModel:
    """A model with one reply."""

    name = "scripted"

    def __init__(self, reply: str = "通威股份生产硅料。[A1]\n通威股份2023年生产38万吨硅料。[A1]") -> None:
        self.reply, self.asked = reply, list[Request]()

    def complete(self, request: Request) -> Reply:
        """Return the reply."""
        self.asked.append(request)
        return Reply(self.reply)

    def close(self) -> None:
        """Close nothing."""


def with_themes(kb: KnowledgeBase) -> KnowledgeBase:
    """Publish a week with one theme, and give the base a model."""
    kb.model = ScriptedModel()
    with kb.store.writer() as writer:
        summary = Summary("summary:1", "光伏链", (SummaryLine("硅料与组件。"),))
        theme = Community("theme:1", 0, "", (PV, TONGWEI), summary)
        writer.publish(Run("run:1", date(2025, 1, 20), communities=(theme,)))
    return kb


def answered(kb: KnowledgeBase, name: str) -> Any:
    """Return the answer of a method as it is sent."""
    asked = question(name).asked(**QUESTIONS[name])
    return json.loads(msgspec.json.encode(asked.to_json(kb.answer(asked))))


def shortened(value: Any) -> Any:
    """Return an answer with only the first element of each long list."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list):
        pair = len(value) == 2 and not isinstance(value[0], (dict, list))
        return [shortened(each) for each in (value if pair else value[:1])]
    return value


def made() -> str:
    """Return the file."""
    kb = with_themes(KnowledgeBase(filled(solar())))
    found = {name: {"question": asked, "answer": shortened(answered(kb, name))} for name, asked in QUESTIONS.items()}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    HOME.write_text(made(), encoding="utf-8")
