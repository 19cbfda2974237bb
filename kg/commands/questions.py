"""The questions on the command line: one command for each, made from its parameters."""

from __future__ import annotations

import json
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from annotated_types import Ge, Le

from kg.commands.language import lang_option
from kg.commands.options import Day, Words, configured_encoder, configured_model, json_option, kb_option
from kg.messages.words import word
from kg.query.questions.registry import KEYS, question
from kg.query.session import ANSWERED
from kg.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic.fields import FieldInfo

    from kg.messages.words import Lang
    from kg.query.questions.parameters import DatedQuestion

_NAMED = {
    "resolve": "lookup",  # `liantu resolve` reads JSON lines
    "filing_value": "filing ask",
    "filing_pages": "filing pages",
    "filing_outline": "filing sections",  # `liantu filing outline` reads a file
}
COMMANDS = {_NAMED.get(key, key.replace("_", "-")): key for key in KEYS}
"""The question of each command; of two words, the first is a group."""


def add_commands(group: click.Group) -> None:
    """Add the commands of the questions that belong to a group."""
    for command in COMMANDS:
        if command.startswith(f"{group.name} "):
            group.add_command(question_command(command))


def question_command(command_name: str) -> click.Command:
    """Return the command of a question; parameters without a default are arguments."""
    asked = question(COMMANDS[command_name])

    def run(kb: Path, lang: Lang, *, as_json: bool, **given: Any) -> None:
        _answer(
            asked.asked(**{name: each for name, each in given.items() if each not in (None, ())}),
            kb,
            lang,
            as_json=as_json,
        )

    command = click.Command(
        command_name.rpartition(" ")[2],
        callback=run,
        help=asked.summary(),
        params=[_parameter(*each) for each in asked.model_fields.items()],
    )
    for option in (lang_option, json_option, kb_option):
        option(command)
    return command


def _answer(asked: DatedQuestion, kb: Path, lang: Lang, *, as_json: bool) -> None:
    """Open the base, ask, and print the answer as text or JSON."""
    from kg.service.base import open_kb  # noqa: PLC0415 -- imported when called

    model = configured_model() if asked.by_model else None
    encoder = configured_encoder() if asked.by_vectors else None
    view = asked.view()
    confidence = load().answer_confidence if view.get("min_confidence") is None else ANSWERED
    with open_kb(kb, lang=lang, min_confidence=confidence, model=model, encoder=encoder) as base:
        written = base.answer(asked) if asked.by_model else None
        with base.session(**view) as session:
            answer = written or asked.answer(session)
            if as_json:
                click.echo(json.dumps(asked.to_json(answer), ensure_ascii=False, indent=2))
            else:
                for line in asked.text(session, answer):
                    click.echo(line)
                if session.below:
                    click.echo(word("print.below", lang, count=session.below))
    if not asked.is_found(answer):
        raise SystemExit(1)


def _parameter(name: str, field: FieldInfo) -> click.Parameter:
    if field.is_required():
        return click.Argument([name], type=_type(field))
    option = f"--{name.replace('_', '-')}"
    if bool in (field.annotation, *get_args(field.annotation)):
        return click.Option([f"{option}/--no-{option[2:]}"], default=None, help=field.description)
    many = get_origin(field.annotation) is list
    default = None if many else field.default
    shown = default not in (None, "")
    return click.Option(
        [option, name], type=_type(field), multiple=many, default=default, show_default=shown, help=field.description
    )


def _type(field: FieldInfo) -> click.ParamType:  # type: ignore[type-arg] # generic only since click 8.4
    """Return the type of a parameter on the command line; the question checks the limits that click does not."""
    kinds = [each for each in (get_args(field.annotation) or (field.annotation,)) if each is not type(None)]
    if get_origin(field.annotation) is Literal:
        return click.Choice(kinds)
    kind: Any = kinds[0]
    if get_origin(kind):  # Annotated[str, …] in a list
        kind = get_args(kind)[0]
    if issubclass(kind, Enum):
        return click.Choice([each.value for each in kind])
    least: Any = next((each.ge for each in field.metadata if isinstance(each, Ge)), None)
    most: Any = next((each.le for each in field.metadata if isinstance(each, Le)), None)
    types: dict[type, Any] = {
        int: click.IntRange(least, most),
        float: click.FloatRange(least, most),
        date: Day(),
        datetime: click.STRING,
    }
    found: click.ParamType = types.get(kind, Words())  # type: ignore[type-arg] # as above
    return found
