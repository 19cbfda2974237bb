"""The HTTP service: `create_app` makes an ASGI application that answers questions on one knowledge base."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kg.errors import KgError, StoreError
from kg.service.guard import LOG, Guard
from kg.service.operations import DOCUMENT, OPERATIONS, DocumentPlace
from kg.service.problems import Overloaded, invalid, problem, problem_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from kg.service.base import KnowledgeBase
    from kg.service.operations import DatedQuestion, ServiceMethod

_Result = TypeVar("_Result")
_MOST_KEPT = 64 << 20  # bytes of answers
_WORTH_COMPRESSING = 1000  # bytes
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """How many questions are answered at once, how many may wait, and for how many seconds a client waits."""

    concurrency: int = 4
    waiting: int = 64
    seconds: float = 20.0


class Answering:
    """Answers questions in a bounded pool of threads, and keeps the last answers, 64 MB of them."""

    def __init__(self, kb: KnowledgeBase, limits: ServiceLimits) -> None:
        self._kb, self._limits = kb, limits
        self._pool = ThreadPoolExecutor(limits.concurrency, thread_name_prefix="liantu")
        self._busy, self._lock = 0, Lock()
        self._kept: OrderedDict[tuple[str, str, str, bool], bytes] = OrderedDict()
        self._size = 0
        self._build = hashlib.sha256(f"{version('liantu')} {kb.lang} {kb.min_confidence}".encode()).hexdigest()[:8]

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run in the pool.

        A thread cannot be stopped: work that is too slow keeps its place until it ends, so that no more than the pool
        ever runs, and further questions are refused.

        Raises:
            Overloaded: when too many wait already, or the time is over.
        """
        with self._lock:
            if self._busy >= self._limits.concurrency + self._limits.waiting:
                raise Overloaded("too many questions at once; try again after the seconds in Retry-After")
            self._busy += 1
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._leave())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._limits.seconds)
        except TimeoutError:
            raise Overloaded(f"no answer within {self._limits.seconds:g} s; ask for less, or try again") from None

    def _leave(self) -> None:
        with self._lock:
            self._busy -= 1

    async def respond(self, request: Request, operation: ServiceMethod, question: DatedQuestion) -> Response:
        """Answer, or say that what the client has is current."""
        held = {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}
        small = _GZIP.search(request.headers.get("accept-encoding", "")) is not None
        tag, body = await self.run(lambda: self._answer(operation, question, held=held, compressed=small))
        headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding, Authorization"}
        if body is None:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        if body.startswith(_GZIP_MAGIC):
            headers["Content-Encoding"] = "gzip"
        return Response(body, headers=headers, media_type="application/json")

    def _answer(
        self, operation: ServiceMethod, question: DatedQuestion, *, held: set[str], compressed: bool
    ) -> tuple[str, bytes | None]:
        # The revision is read first: a tag may be older than its answer, never newer.
        tag = f'W/"{self._kb.store.revision()}-{self._build}"'
        if tag in held:
            return tag, None
        key = (operation.name, question.model_dump_json(), tag, compressed)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return tag, self._kept[key]
        body = msgspec.json.encode(operation.answer(self._kb, question))
        if compressed and len(body) >= _WORTH_COMPRESSING:
            body = gzip.compress(body, compresslevel=5, mtime=0)
        self._keep(key, body)
        return tag, body

    def _keep(self, key: tuple[str, str, str, bool], body: bytes) -> None:
        with self._lock:
            self._size += len(body) - len(self._kept.pop(key, b""))
            self._kept[key] = body
            while self._size > _MOST_KEPT:
                self._size -= len(self._kept.popitem(last=False)[1])

    async def ready(self) -> Response:
        """Say whether the base can be read."""
        return Response(msgspec.json.encode({"revision": await self.run(self._kb.store.revision)}))

    def close(self) -> None:
        """End the threads after the questions they answer."""
        self._pool.shutdown(cancel_futures=True)


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
    app.add_api_route("/health", _health, response_model=None, summary="the process runs")
    app.add_api_route("/ready", answering.ready, response_model=None, summary="the knowledge base can be read")
    _add_errors(app)
    return app


def _add(app: FastAPI, path: str, operation: ServiceMethod, endpoint: Callable[..., Awaitable[Response]]) -> None:
    problems: dict[str, Any] = {"content": {"application/problem+json": {}}}
    described: dict[int | str, dict[str, Any]] = {
        200: {"description": "the same JSON as `liantu … --json`", "content": {"application/json": {}}},
        304: {"description": "the revision in If-None-Match is current"},
        401: {"description": "no key, or an unknown one", **problems},
        404: {"description": "no such name; `suggestions` has similar ones", **problems},
        422: {"description": "a wrong parameter", **problems},
        503: {"description": "too busy; see Retry-After", **problems},
    }
    app.add_api_route(
        path,
        endpoint,
        name=operation.name,
        summary=operation.summary,
        response_class=Response,
        response_model=None,
        responses=described,
    )


def _endpoint(answering: Answering, operation: ServiceMethod) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, question: Any) -> Response:
        return await answering.respond(request, operation, question)

    answer.__annotations__["question"] = Annotated[operation.parameters, Query()]
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
