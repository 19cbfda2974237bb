"""The HTTP service: `create_app` makes an ASGI application that answers questions on one knowledge base."""

from __future__ import annotations

from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from kg.errors import KgError, StoreError
from kg.service.answering import Answering, ServiceLimits
from kg.service.guard import LOG, Guard
from kg.service.operations import DOCUMENT, OPERATIONS, Batch, DocumentPlace, FactsQuestion
from kg.service.problems import invalid, problem, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from kg.service.base import KnowledgeBase
    from kg.service.operations import ServiceMethod

_BATCH_SUMMARY = "一次问几个问题，只读 · several questions at once; read-only"
_LINES = "application/x-ndjson"


def create_app(kb: KnowledgeBase, *, keys: Sequence[str] = (), limits: ServiceLimits | None = None) -> FastAPI:
    """Return the service for a knowledge base, which stays the caller's to close.

    Args:
        kb: answers the questions.
        keys: SHA-256 hashes of the keys that are accepted; without any only this machine is answered.
        limits: on concurrency and time.
    """
    answering = Answering(kb, limits or ServiceLimits())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        answering.close()

    app = FastAPI(
        title="链图 Liantu",
        version=version("liantu"),
        description="带日期、带出处的金融研究知识图谱，只读。A dated, cited knowledge graph of research; read-only.",
        docs_url=None,  # its pages load scripts from another server
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(Guard, keys=keys)
    for operation in OPERATIONS:
        _add(app, f"/v1/{operation.name}", operation, _endpoint(answering, operation))
    _add(app, "/v1/documents/{document_id:path}", DOCUMENT, _document_endpoint(answering))
    app.add_api_route("/v1/batch", _batch_endpoint(answering), methods=["POST"], **_described(_BATCH_SUMMARY))
    app.add_api_route("/health", _health, response_model=None, summary="the process runs")
    app.add_api_route("/ready", answering.ready, response_model=None, summary="the knowledge base can be read")
    _add_errors(app)
    return app


def _add(app: FastAPI, path: str, operation: ServiceMethod, endpoint: Callable[..., Awaitable[Response]]) -> None:
    app.add_api_route(path, endpoint, name=operation.name, **_described(operation.summary))


def _described(summary: str) -> dict[str, Any]:
    problems: dict[str, Any] = {"content": {"application/problem+json": {}}}
    described: dict[int | str, dict[str, Any]] = {
        200: {"description": "the same JSON as `liantu … --json`", "content": {"application/json": {}}},
        304: {"description": "the revision in If-None-Match is current"},
        401: {"description": "no key, or an unknown one", **problems},
        404: {"description": "no such name; `suggestions` has similar ones", **problems},
        422: {"description": "a wrong parameter", **problems},
        503: {"description": "too busy; see Retry-After", **problems},
    }
    return {"summary": summary, "response_class": Response, "response_model": None, "responses": described}


def _endpoint(answering: Answering, operation: ServiceMethod) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, question: Any) -> Response:
        if isinstance(question, FactsQuestion) and _LINES in request.headers.get("accept", ""):
            return await _streamed(answering, question)
        return await answering.respond(request, operation, question)

    answer.__annotations__["question"] = Annotated[operation.parameters, Query()]
    return answer


async def _streamed(answering: Answering, question: FactsQuestion) -> Response:
    """Answer with all pages; the first is read before the status is sent, so that a wrong name is a 404."""
    lines = answering.lines(question)
    first = await anext(lines)

    async def body() -> AsyncIterator[bytes]:
        yield first
        async for line in lines:
            yield line

    return StreamingResponse(body(), media_type=_LINES)


def _batch_endpoint(answering: Answering) -> Callable[..., Awaitable[Response]]:
    async def answer(wanted: Annotated[Batch, Body()]) -> Response:
        return await answering.batch(wanted)

    return answer


def _document_endpoint(answering: Answering) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, document_id: str, place: Annotated[DocumentPlace, Query()]) -> Response:
        try:
            question = DOCUMENT.parameters.model_validate({"document_id": document_id, **place.model_dump()})
        except ValidationError as error:
            raise RequestValidationError([{**each, "loc": ("path", *each["loc"])} for each in error.errors()]) from None
        return await answering.respond(request, DOCUMENT, question)

    return answer


async def _health() -> Response:
    return Response(b'{"status":"ok"}', media_type="application/json")


def _add_errors(app: FastAPI) -> None:
    """Turn every error into problem details."""

    async def wrong(_: Request, error: RequestValidationError) -> Response:
        return invalid(error.errors())

    async def refused(_: Request, error: HTTPException) -> Response:
        return problem(HTTPStatus(error.status_code), headers=error.headers)

    async def failed(_: Request, error: KgError) -> Response:
        if isinstance(error, StoreError):
            LOG.error("%s", error)
        return problem_of(error)

    async def broken(request: Request, _: Exception) -> Response:
        # The guard is inside what calls this, so its header is added here.
        return problem(HTTPStatus.INTERNAL_SERVER_ERROR, headers={"X-Request-ID": request.state.request_id})

    handlers: tuple[tuple[Any, Any], ...] = (
        (RequestValidationError, wrong),
        (HTTPException, refused),
        (KgError, failed),
        (Exception, broken),
    )
    for kind, handler in handlers:
        app.add_exception_handler(kind, handler)
