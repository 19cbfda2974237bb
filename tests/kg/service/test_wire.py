from __future__ import annotations

import json
from dataclasses import dataclass, field

from kg.query.plain import plain
from kg.service.schemas import AnswerSchemas
from tests.kg.service.wire import HOME, made


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
