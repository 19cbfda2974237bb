from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from kg.query.plain import plain
from kg.service.schemas import AnswerSchemas
from tests.kg.service import stub, table
from tests.kg.service.wire import HOME, made

if TYPE_CHECKING:
    from kg.messages.words import Lang


def test_the_form_of_every_answer_is_the_published_one():
    advice = "raise `version` of the questions, then run `python -m tests.kg.service.wire`"
    assert made() == json.loads(HOME.read_text(encoding="utf-8")), advice


@dataclass(frozen=True)
class Renamed:
    """A record of which a field has a new name in Python."""

    entity: str = field(metadata={"json": "node"})


def test_a_renamed_field_keeps_its_name_in_json():
    schemas = AnswerSchemas()
    schemas.of(Renamed)
    assert plain(Renamed("a")) == {"node": "a"}
    assert [*schemas.components["Renamed"]["properties"]] == schemas.components["Renamed"]["required"] == ["node"]


@pytest.mark.parametrize("lang", table.PAGES)
def test_the_table_of_the_docs_is_current(lang: Lang):
    assert table.PAGES[lang].read_text(encoding="utf-8") == table.written(lang), (
        "run `python -m tests.kg.service.table`"
    )


def test_the_types_of_the_methods_are_current():
    assert stub.HOME.read_text(encoding="utf-8") == stub.made(), "run `python -m tests.kg.service.stub`"
