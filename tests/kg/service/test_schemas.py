from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from kg.query.questions.registry import KEYS, question, questions
from kg.service.app import create_app
from kg.service.schemas import AnswerSchemas, described, examples
from tests.kg.service.examples import HOME, answered, made, with_themes

if TYPE_CHECKING:
    from kg.service.base import KnowledgeBase

CHINESE = re.compile(r"[\u4e00-\u9fff]")


def checked(name: str, answer: Any) -> list[str]:
    schemas = AnswerSchemas()
    schema = {**schemas.of(question(name).answers), "components": {"schemas": schemas.components}}
    Draft202012Validator.check_schema(schema)
    return [f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(answer)]


@pytest.mark.parametrize("name", KEYS)
def test_an_answer_has_the_described_shape(name: str, kb: KnowledgeBase):
    answer = answered(with_themes(kb), name)
    assert checked(name, answer) == []
    assert checked(name, examples()[name]["answer"]) == []
    assert checked(name, 7)


def test_an_answer_of_another_shape_is_refused(kb: KnowledgeBase):
    answer = answered(kb, "neighbours")
    answer["edges"][0]["sign"] = "up"
    answer["nodes"][0]["colour"] = "red"
    assert [fault.partition(":")[0] for fault in checked("neighbours", answer)] == ["$.nodes[0]", "$.edges[0].sign"]


def test_the_examples_are_current():
    assert HOME.read_text(encoding="utf-8") == made(), "run `python -m tests.kg.service.examples`"


def test_a_description_is_in_one_language(kb: KnowledgeBase):
    app = create_app(kb)
    schemas = AnswerSchemas()
    for each in questions().values():
        schemas.of(each.answers)
    english, chinese = (list(texts(described(app, schemas)(lang))) for lang in ("en", "zh"))
    assert len(english) == len(chinese) > 100
    assert [text for text in english if CHINESE.match(text)] == []  # examples in parentheses may be Chinese
    assert [text for text in chinese if not CHINESE.search(text)] == []


def texts(value: Any) -> Any:
    """Yield what a reader of the description reads."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in {"description", "summary"} and isinstance(each, str):
                yield each
            elif key not in {"example", "examples", "enum"}:
                yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)
