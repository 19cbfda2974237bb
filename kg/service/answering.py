"""Answer questions in a bounded pool of threads, and keep the last answers."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import re
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from starlette.responses import Response

from kg.errors import KgError
from kg.query.plain import plain
from kg.query.questions.registry import KEYS, question
from kg.service.guard import LOG
from kg.service.problems import Overloaded, invalid, problem, problem_of
from kg.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.requests import Request

    from kg.query.questions.facts import FactsQuestion
    from kg.query.questions.parameters import DatedQuestion
    from kg.service.base import KnowledgeBase
    from kg.service.metrics import ServiceMetrics

_Result = TypeVar("_Result")
_MOST_KEPT = 64 << 20  # bytes of answers, with their keys
_KEY_BYTES = 512  # of the records that keep an answer, beside its bytes
CLIENT_LEFT = 499  # as nginx logs it
_WORTH_COMPRESSING = 1000  # bytes
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLimits:
    """How many questions are answered at once, how many may wait, and for how many seconds a client waits.

    Questions that a language model answers have places, a queue and a time of their own: a model that hangs holds no
    place of other questions.
    """

    concurrency: int = 4
    waiting: int = 64
    seconds: float = 20.0
    model_concurrency: int = 4
    model_waiting: int = 8
    model_seconds: float = 120.0


class BatchPart(BaseModel):
    """批量中的一问 · One question of a batch."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Annotated[
        str, Field(json_schema_extra={"enum": [*KEYS]}, description="方法 · method", examples=["profile"])
    ]
    parameters: Annotated[
        dict[str, Any],
        Field(description="与 GET 相同的参数 · the parameters of the GET", examples=[{"name": "600438.SH"}]),
    ] = {}

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in KEYS:
            raise ValueError(f"no such method; there are {', '.join(KEYS)}")
        return value


class Batch(BaseModel):
    """几个问题，各自回答或拒绝 · Several questions; each is answered, or refused, on its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: Annotated[list[BatchPart], Field(min_length=1, max_length=20)]


class Places:
    """A pool of threads for one kind of question, its queue, and how long a client waits.

    A thread cannot be stopped: work that is too slow keeps its place until it ends, so that no more than the pool ever
    runs, and further questions are refused.
    """

    def __init__(self, name: str, concurrency: int, waiting: int, seconds: float) -> None:
        self._most, self._seconds, self._busy, self._lock = concurrency + waiting, seconds, 0, Lock()
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix=name)

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run in the pool.

        Raises:
            Overloaded: when too many wait already, or the time is over.
        """
        with self._lock:
            if self._busy >= self._most:
                raise Overloaded("too many questions at once; try again after the seconds in Retry-After")
            self._busy += 1
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._leave())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise Overloaded(f"no answer within {self._seconds:g} s; ask for less, or try again") from None

    def _leave(self) -> None:
        with self._lock:
            self._busy -= 1

    def close(self, *, wait: bool = True) -> None:
        """End the threads after the questions they answer."""
        self._pool.shutdown(wait=wait, cancel_futures=True)


class ClientLeft(Exception):
    """The client closed its connection before the answer."""


class _Key(NamedTuple):
    """What an answer is kept by: a hash of question and tag, and whether it is compressed."""

    asked: bytes
    small: bool


def _key_of(question: DatedQuestion, tag: str, *, small: bool) -> _Key:
    asked = f"{question.key}\0{tag}\0{question.model_dump_json()}"
    return _Key(hashlib.blake2b(asked.encode(), digest_size=16).digest(), small)


@dataclass(slots=True)
class _Flight:
    """A question that is being answered, and how many clients wait for it."""

    task: asyncio.Task[bytes]
    clients: int = 0


async def _left(request: Request) -> None:
    """Return when the client has closed the connection; it has no body left to send."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refused(response: Response) -> bytes:
    """Return a part of a batch that is refused."""
    return b'{"status":%d,"problem":' % response.status_code + bytes(response.body) + b"}"


class Answering:
    """Answers questions in a bounded pool of threads, and keeps the last answers, 64 MB of them."""

    def __init__(self, kb: KnowledgeBase, limits: ServiceLimits, metrics: ServiceMetrics) -> None:
        self._kb, self._metrics = kb, metrics
        self._nearby = isinstance(kb.store, SqliteStore)
        self._flying: dict[_Key, _Flight] = {}
        self._plain = Places("liantu", limits.concurrency, limits.waiting, limits.seconds)
        self._model = Places("liantu-model", limits.model_concurrency, limits.model_waiting, limits.model_seconds)
        self._lock = Lock()
        self._kept: OrderedDict[_Key, bytes] = OrderedDict()
        self._size = 0
        self._build = hashlib.sha256(
            f"{version('liantu')} {kb.lang} {kb.min_confidence} {kb.weak}".encode()
        ).hexdigest()[:8]

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Run among the questions that need no model.

        Raises:
            Overloaded: as `Places.run`.
        """
        return await self._plain.run(work)

    async def respond(self, request: Request, question: DatedQuestion) -> Response:
        """Answer, or say that what the client has is current."""
        held = {tag.strip() for tag in request.headers.get("if-none-match", "").split(",")}
        small = _GZIP.search(request.headers.get("accept-encoding", "")) is not None
        # The revision is read first: a tag may be older than its answer, never newer. A base on this machine gives it
        # in some microseconds, so that what is kept in memory needs no thread.
        state = self._tag() if self._nearby else await self.run(self._tag)
        key = _key_of(question, state, small=small)
        tag = f'W/"{key.asked.hex()}"'  # of this question: no other has been answered to whom holds it
        headers = {"ETag": tag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding, Authorization"}
        headers["Liantu-Format"] = question.form()
        if tag in held:
            self._metrics.keep()
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        try:
            body = self._known(key) or await self._computed(question, key, request)
        except ClientLeft:
            return Response(status_code=CLIENT_LEFT)  # for the log only
        if body.startswith(_GZIP_MAGIC):
            headers["Content-Encoding"] = "gzip"
        return Response(body, headers=headers, media_type="application/json")

    def _tag(self) -> str:
        vectors = self._kb.vectors.index.state if self._kb.vectors else ""
        return f"{self._kb.store.state()} {vectors} {self._build}"

    def _known(self, key: _Key) -> bytes | None:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
        self._metrics.keep()
        return self._kept.get(key)

    async def _computed(self, question: DatedQuestion, key: _Key, request: Request) -> bytes:
        """Answer a question once for all who ask it at the same time.

        When all of them have left, a question that has not begun is dropped; one that has runs on, and is kept.

        Raises:
            ClientLeft: when this client has left.
        """
        flight = self._flying.get(key)
        if flight is None:
            places = self._model if question.by_model else self._plain
            work = places.run(lambda: self._answer(question, key=key))
            flight = self._flying[key] = _Flight(asyncio.ensure_future(work))
            flight.task.add_done_callback(lambda done: self._landed(key, done))
        flight.clients += 1
        gone = asyncio.ensure_future(_left(request))
        try:
            await asyncio.wait((flight.task, gone), return_when=asyncio.FIRST_COMPLETED)
            if not flight.task.done():
                raise ClientLeft
            return flight.task.result()
        finally:
            gone.cancel()
            flight.clients -= 1
            if not flight.clients:
                flight.task.cancel()

    def _landed(self, key: _Key, task: asyncio.Task[bytes]) -> None:
        del self._flying[key]
        if not task.cancelled():
            task.exception()  # read here, or asyncio logs it when every client has left

    async def lines(self, question: FactsQuestion) -> AsyncIterator[bytes]:
        """Yield all facts from the question's `after` on, one line of JSON each.

        Each page has a session of its own, so that a slow client holds neither a thread nor a state of the store.
        """
        while True:
            page = await self.run(lambda asked=question: self._kb.answer(asked))  # type: ignore[misc]
            yield b"".join(msgspec.json.encode(plain(row)) + b"\n" for row in page.facts)
            if not page.next:
                return
            question = question.model_copy(update={"after": page.next})

    async def batch(self, request: Request, wanted: Batch) -> Response:
        """Answer several questions, in their order; each has a status of its own."""
        answers = []
        for each in wanted.requests:
            part = asyncio.ensure_future(self._part(each, request))
            try:
                await asyncio.wait((part,))
            finally:
                part.cancel()
            error = part.exception()
            if isinstance(error, ClientLeft):
                return Response(status_code=CLIENT_LEFT)
            if error:  # a fault of the service costs the part that met it
                LOG.error("%s in a batch", each.method, exc_info=error)
            answers.append(_refused(problem(HTTPStatus.INTERNAL_SERVER_ERROR)) if error else part.result())
        return Response(b'{"answers":[' + b",".join(answers) + b"]}", media_type="application/json")

    async def _part(self, part: BatchPart, request: Request) -> bytes:
        try:
            asked = question(part.method).model_validate(part.parameters)
            tag = self._tag() if self._nearby else await self.run(self._tag)
            key = _key_of(asked, tag, small=False)
            body = self._known(key) or await self._computed(asked, key, request)
        except ValidationError as error:
            refused = invalid([{**each, "loc": ("", *each["loc"])} for each in error.errors()])
        except KgError as error:
            refused = problem_of(error)
        else:
            return b'{"status":200,"answer":' + body + b"}"
        return _refused(refused)

    def _answer(self, question: DatedQuestion, *, key: _Key) -> bytes:
        found = question.to_json(self._kb.answer(question))
        body = msgspec.json.encode(found)
        if key.small and len(body) >= _WORTH_COMPRESSING:
            body = gzip.compress(body, compresslevel=5, mtime=0)
        if not (question.by_model and found["cut"]):  # asked again, the model may finish
            self._keep(key, body)
        return body

    def _keep(self, key: _Key, body: bytes) -> None:
        with self._lock:
            if key not in self._kept:
                self._size += _KEY_BYTES
            self._size += len(body) - len(self._kept.pop(key, b""))
            self._kept[key] = body
            while self._size > _MOST_KEPT:
                self._size -= len(self._kept.popitem(last=False)[1]) + _KEY_BYTES

    async def ready(self) -> Response:
        """Say whether the base can be read."""
        body = msgspec.json.encode({"revision": await self.run(self._kb.store.revision)})
        return Response(body, media_type="application/json")

    def close(self) -> None:
        """End the threads after the questions they answer."""
        self._plain.close()
        self._model.close(wait=False)  # a model that hangs does not hold the process
