"""The HTTP service: `create_app` makes an ASGI application that answers questions on one knowledge base."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_origin

from fastapi import Body, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse

from kg.errors import KgError, StoreError
from kg.llm.port import ModelError
from kg.query.questions.documents import DocumentQuestion
from kg.query.questions.facts import FactsQuestion
from kg.query.questions.registry import questions
from kg.service.answering import Answering, Batch, ServiceLimits
from kg.service.guard import LOG, Guard
from kg.service.keys import KeyRing
from kg.service.metrics import CONTENT_TYPE, ServiceMetrics
from kg.service.problems import invalid, problem, problem_of
from kg.service.schemas import PROBLEM, AnswerSchemas, described, examples

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from kg.query.questions.parameters import DatedQuestion
    from kg.service.base import KnowledgeBase

_HEALTH = "进程在运行 · the process runs"
_READY = "知识库可读 · the knowledge base can be read"
_BATCH = "一次问几个问题，只读 · several questions at once; read-only"
_BATCH_ANSWERS: dict[str, Any] = {
    "schema": {
        "type": "object",
        "required": ["answers"],
        "properties": {
            "answers": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["status"],
                    "properties": {
                        "status": {"type": "integer"},
                        "answer": {},
                        "problem": {"$ref": f"#/components/schemas/{PROBLEM}"},
                    },
                },
            }
        },
    }
}
_LINES = "application/x-ndjson"
_QUICK = 16  # requests that are answered from memory while all places are taken
_SWITCH_SECONDS = (
    0.0005  # after which a thread that computes lets the event loop run; Python's own is ten times as long
)


def create_app(
    kb: KnowledgeBase, *, keys: KeyRing | None = None, limits: ServiceLimits | None = None, shared_metrics: str = ""
) -> FastAPI:
    """Return the service for a knowledge base, which it closes when it ends.

    Args:
        kb: answers the questions.
        keys: the keys that are accepted; without any only this machine is answered.
        limits: on concurrency and time.
        shared_metrics: the folder in which worker processes count together (kg/service/metrics.py).
    """
    metrics = ServiceMetrics(shared_metrics)
    limits = limits or ServiceLimits()
    answering = Answering(kb, limits, metrics)
    most_open = limits.concurrency + limits.waiting + _QUICK

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[dict[str, int]]:
        sys.setswitchinterval(_SWITCH_SECONDS)
        yield {"most_requests": most_open}  # kg/service/connections.py: beyond, they are not even read
        answering.close()
        kb.close()

    app = FastAPI(
        title="链图 Liantu",
        version=version("liantu"),
        description="带日期、带出处的金融研究知识图谱，只读。 · A dated, cited knowledge graph of research; read-only.",
        openapi_url=None,  # served below, in two languages
        docs_url=None,  # its pages load scripts from another server
        redoc_url=None,
        lifespan=lifespan,
    )
    app.add_middleware(Guard, keys=keys or KeyRing(), metrics=metrics, most_open=most_open)
    schemas = AnswerSchemas()
    for key, question in questions().items():
        answers = {"schema": schemas.of(question.answers), "example": examples()[key]["answer"]}
        options = _described(question.summary(), answers)
        options["openapi_extra"] = {"x-format": question.form()}
        app.add_api_route(f"/v1/{key}", _endpoint(answering, question), name=key, **options)
    document = _document_endpoint(answering)
    app.add_api_route("/v1/documents/{document_id:path}", document, response_model=None, include_in_schema=False)
    app.add_api_route("/v1/batch", _batch_endpoint(answering), methods=["POST"], **_described(_BATCH, _BATCH_ANSWERS))
    plain_ok: dict[int | str, dict[str, Any]] = {200: {"description": "是 · yes"}}
    app.add_api_route("/health", _health, response_model=None, summary=_HEALTH, responses=plain_ok)
    app.add_api_route(
        "/ready", answering.ready, response_model=None, summary=_READY, description=_READY, responses=plain_ok
    )
    app.add_api_route("/metrics", _metrics_endpoint(metrics), response_model=None, include_in_schema=False)
    app.add_api_route("/openapi.json", _openapi_endpoint(app, schemas), response_model=None, include_in_schema=False)
    _add_errors(app)
    return app


def _described(summary: str, answers: dict[str, Any]) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{PROBLEM}"}
    statuses = {
        400: "所问不成立，或正文不是 JSON · a question without an answer, or a body that is not JSON",
        401: "没有密钥或密钥未知 · no key, or an unknown one",
        403: "无密钥时只回答本机 · without keys only this machine is answered",
        404: "没有这个名称；suggestions 是相近的 · no such name; `suggestions` has similar ones",
        413: "正文过大 · a body that is too large",
        414: "地址过长 · an address that is too long",
        422: "参数有误 · a wrong parameter",
        429: "这个密钥问得太频繁；见 Retry-After · this key asks too often; see Retry-After",
        502: "语言模型没有回答 · the language model does not answer",
        503: "太忙；见 Retry-After · too busy; see Retry-After",
    }
    responses: dict[int | str, dict[str, Any]] = {
        status: {"description": text, "content": {"application/problem+json": {"schema": schema}}}
        for status, text in statuses.items()
    }
    responses[200] = {
        "description": "与 liantu … --json 相同 · the same JSON as `liantu … --json`",
        "content": {"application/json": answers},
    }
    responses[304] = {"description": "If-None-Match 中的版本仍是最新 · the revision in If-None-Match is current"}
    return {"summary": summary, "response_class": Response, "response_model": None, "responses": responses}


def _metrics_endpoint(metrics: ServiceMetrics) -> Callable[..., Awaitable[Response]]:
    async def answer() -> Response:
        return Response(metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return answer


def _openapi_endpoint(app: FastAPI, schemas: AnswerSchemas) -> Callable[..., Awaitable[Response]]:
    openapi = described(app, schemas)

    async def answer(lang: Literal["zh", "en"] = "zh") -> Response:
        return JSONResponse(openapi(lang))

    return answer


def _endpoint(answering: Answering, question: type[DatedQuestion]) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, asked: Any) -> Response:
        _refuse_repeated(request, question)
        if isinstance(asked, FactsQuestion) and _LINES in request.headers.get("accept", ""):
            return await _streamed(answering, asked)
        return await answering.respond(request, asked)

    answer.__annotations__["asked"] = Annotated[question, Query()]
    return answer


def _refuse_repeated(request: Request, question: type[DatedQuestion]) -> None:
    """Refuse a parameter that is given twice but has one value: which of two days is meant must not be guessed."""
    for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
        if count > 1 and name in question.model_fields and name not in _lists(question):
            raise RequestValidationError([{"loc": ("query", name), "msg": "is given more than once"}])


def _lists(question: type[DatedQuestion]) -> set[str]:
    """Return the parameters that take several values."""
    return {name for name, each in question.model_fields.items() if get_origin(each.annotation) is list}


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
    async def answer(request: Request, wanted: Annotated[Batch, Body()]) -> Response:
        return await answering.batch(request, wanted)

    return answer


def _document_endpoint(answering: Answering) -> Callable[..., Awaitable[Response]]:
    """Return the question `document` with the id in the path."""

    async def answer(request: Request, document_id: str) -> Response:
        _refuse_repeated(request, DocumentQuestion)
        given, lists = request.query_params, _lists(DocumentQuestion)
        named = {name: given.getlist(name) if name in lists else given[name] for name in given}
        try:
            asked = DocumentQuestion.model_validate({**named, "document_id": document_id})
        except ValidationError as error:
            raise RequestValidationError(
                [{**each, "loc": ("query", *each["loc"])} for each in error.errors()]
            ) from None
        return await answering.respond(request, asked)

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
        if isinstance(error, (StoreError, ModelError)):
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
