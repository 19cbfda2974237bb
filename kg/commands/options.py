"""Options that commands share: which base, seen as of which day, printed how."""

from __future__ import annotations

import re
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.settings import load
from kg.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kg.llm.embeddings import Encoder
    from kg.llm.port import Model
    from kg.store.port import View

_YMD = re.compile(r"(\d{4})(?:(\d\d)(\d\d)|([-/.])(\d{1,2})\4(\d{1,2})|年(\d{1,2})月(\d{1,2})日)", re.ASCII)


class Day(click.ParamType):  # type: ignore[type-arg] # generic only since click 8.4; 8.1 will do
    """A calendar day: 2025-12-31, 2025/12/31, 2025.12.31, 20251231 or 2025年12月31日."""

    name = "YYYY-MM-DD"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Turn the text into a date, or report what is expected."""
        if isinstance(value, date):
            return value
        spelled = _YMD.fullmatch(str(value).strip())
        year, month, day = (int(part) for part in spelled.groups() if part and part.isdigit()) if spelled else (0, 0, 0)
        try:
            return date(year, month, day)
        except ValueError:
            self.fail(f"{value!r} is not a day like 2025-12-31", param, ctx)


class Words(click.ParamType):  # type: ignore[type-arg] # as above
    """A name or a question; a shell hands bytes that are not UTF-8 on as lone surrogates, which no store can find."""

    name = "TEXT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text as it is, or report that it is invalid."""
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail("not valid UTF-8", param, ctx)
        return str(value)


def kb_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --kb."""
    return click.option(
        "--kb",
        type=click.Path(path_type=Path),
        default=lambda: load().kb,
        show_default="kb.liantu",
        help="knowledge base",
    )(command)


def view_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --kb and --as-of."""
    return kb_option(click.option("--as-of", type=Day(), help="only what was published on or before this day")(command))


def confidence_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --min-confidence."""
    return click.option(
        "--min-confidence",
        type=click.FloatRange(0, 1),
        default=lambda: load().answer_confidence,
        show_default="0.65",
        help="least confidence of facts; 0.65 means the cut of each relation",
    )(command)


def weak_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --weak/--no-weak."""
    return click.option(
        "--weak/--no-weak", default=True, show_default=True, help="also show weak facts, marked and last"
    )(command)


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="print JSON")(command)


def configured_model() -> Model | None:
    """Return the language model of the settings `llm_url` and `llm_model`, None if they are not set."""
    settings = load()
    if not (settings.llm_url and settings.llm_model):
        return None
    from kg.llm.client import Endpoint, OpenAiModel  # noqa: PLC0415 -- only with a model

    return OpenAiModel(Endpoint(settings.llm_url, settings.llm_model, settings.llm_key, settings.llm_timeout))


def configured_encoder() -> Encoder | None:
    """Return the encoder of the settings `embed_url` and `embed_model`, None for the offline one."""
    settings = load()
    if not (settings.embed_url and settings.embed_model):
        return None
    from kg.llm.client import Endpoint, OpenAiModel  # noqa: PLC0415 -- only with an endpoint
    from kg.llm.embeddings import EndpointEncoder  # noqa: PLC0415

    endpoint = Endpoint(settings.embed_url, settings.embed_model, settings.embed_key, settings.llm_timeout)
    return EndpointEncoder(OpenAiModel(endpoint), (settings.embed_question_prefix, settings.embed_passage_prefix))


@contextmanager
def opened(kb: Path, as_of: date | None) -> Iterator[View]:
    """Open a base, yield a view of one state of it, and close it."""
    store = open_store(kb)
    try:
        with store.reader(as_of=as_of) as view:
            yield view
    finally:
        store.close()
