"""Errors as RFC 9457 problem details with advice; one table maps errors to statuses."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from kg.errors import EmptyBase, KgError, QuestionError, StoreError, UnknownDocument, UnknownName
from kg.llm.port import EmptyReply, ModelError, ModelRefused
from kg.query.browse.pages import UnknownPage
from kg.query.themes.listing import NoRun, UnknownTheme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RETRY_AFTER = "2"  # seconds
_STATUSES: tuple[tuple[type[KgError], HTTPStatus], ...] = (
    (UnknownName, HTTPStatus.NOT_FOUND),
    (UnknownDocument, HTTPStatus.NOT_FOUND),
    (UnknownPage, HTTPStatus.NOT_FOUND),
    (UnknownTheme, HTTPStatus.NOT_FOUND),
    (NoRun, HTTPStatus.NOT_FOUND),
    (EmptyBase, HTTPStatus.NOT_FOUND),
    (QuestionError, HTTPStatus.BAD_REQUEST),
    (ModelError, HTTPStatus.BAD_GATEWAY),
    (StoreError, HTTPStatus.SERVICE_UNAVAILABLE),
)
_MODEL_FAULTS = (
    (ModelRefused, "the language model refuses this question; ask otherwise, or use /v1/ask"),
    (EmptyReply, "the language model's reply holds no answer; ask again, or use /v1/ask"),
    (ModelError, "the language model does not answer; the log of the service says why"),
)
_ADVICE = {
    HTTPStatus.BAD_REQUEST: "the body is not the JSON that /openapi.json describes",
    HTTPStatus.UNAUTHORIZED: "send a key as `Authorization: Bearer KEY`",
    HTTPStatus.FORBIDDEN: "without keys the service answers only this machine, by the name localhost or 127.0.0.1",
    HTTPStatus.NOT_FOUND: "no such path; /openapi.json lists all",
    HTTPStatus.METHOD_NOT_ALLOWED: "the service is read-only; use GET, for /v1/batch POST",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "send query parameters; only /v1/batch takes a body, 64 KB at most, unchunked",
    HTTPStatus.REQUEST_URI_TOO_LONG: "shorten the question",
    HTTPStatus.UNPROCESSABLE_ENTITY: "correct the parameters named in `errors`",
    HTTPStatus.TOO_MANY_REQUESTS: "this key asks too often; wait the seconds in Retry-After",
    HTTPStatus.INTERNAL_SERVER_ERROR: "the fault is in the service; its log has the request id",
    HTTPStatus.SERVICE_UNAVAILABLE: "try again after the seconds in Retry-After",
}


class Overloaded(KgError):
    """More questions at once than the service answers, or one that takes too long."""


def problem(
    status: HTTPStatus, detail: str = "", *, headers: Mapping[str, str] | None = None, **more: object
) -> Response:
    """Return a response of type application/problem+json."""
    body: dict[str, object] = {"type": "about:blank", "title": status.phrase, "status": status.value}
    body |= {"detail": detail or _ADVICE.get(status, status.description), **more}
    sent = dict(headers or {})
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        sent.setdefault("Retry-After", RETRY_AFTER)
    if status == HTTPStatus.UNAUTHORIZED:
        sent.setdefault("WWW-Authenticate", "Bearer")
    return Response(msgspec.json.encode(body), status, sent, media_type="application/problem+json")


def problem_of(error: KgError) -> Response:
    """Return what a client learns of an error; faults of the base are reported without paths."""
    status = next(
        (status for kind, status in _STATUSES if isinstance(error, kind)),
        HTTPStatus.SERVICE_UNAVAILABLE if isinstance(error, Overloaded) else HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    if isinstance(error, UnknownName):
        return problem(status, str(error), suggestions=list(error.near))
    if isinstance(error, ModelError):
        return problem(status, next(said for kind, said in _MODEL_FAULTS if isinstance(error, kind)))
    harmless = isinstance(error, (QuestionError, Overloaded))
    return problem(status, str(error) if harmless else "the knowledge base cannot be read now; its log says why")


def invalid(errors: Sequence[Any]) -> Response:
    """Return which parameters are wrong, without repeating what was sent."""
    faults = [{"parameter": ".".join(map(str, each["loc"][1:])), "message": each["msg"]} for each in errors]
    first = "; ".join(f"{each['parameter']}: {each['message']}" for each in faults[:3])
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, first, errors=faults)
