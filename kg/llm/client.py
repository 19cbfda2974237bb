"""Client for OpenAI-compatible endpoints, chat and embeddings (vLLM, llama.cpp, Ollama, clouds) over the `openai` SDK.

The SDK is an optional dependency (`pip install 'liantu[llm]'`), imported when a client is made. Retries are ours, with
jitter and one deadline for all attempts of a request; keys appear in no message.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from kg.ids import digest
from kg.llm.batch import chat_body
from kg.llm.port import ContextOverflow, EmptyReply, EndpointRefused, ModelError, ModelRefused, Reply, request_key

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from concurrent.futures import Future

    from kg.llm.port import Request

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds
_RETRIED_STATUS = frozenset({408, 409, 425, 429})
_FINAL_STATUS = frozenset({401, 402, 403, 404})  # every other request would fail alike
_QUOTA = "insufficient_quota"
_LARGEST_REPLY = 1 << 20  # characters; a larger reply cannot be valid
_EMPTY_TRIES = 2
_CONNECT_TRIES = 3  # in some 3 seconds
_COMPLETION, _EMBEDDINGS = "a chat completion", "one embedding for each text, all of one length"
_OVERFLOW = re.compile(
    r"context.?(?:length|window|size)|maximum context|prompt is too long|too many tokens|exceeds? .{0,40}tokens",
    re.IGNORECASE,
)
_FIELD = re.compile(r"max_completion_tokens|max_tokens|temperature|response_format|stream_options|tool")
_SECRET = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.\-]{4,}", re.IGNORECASE)

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is and how to ask it.

    `timeout` is the deadline of one request with all its retries, in seconds. `mode` is how a schema is asked for:
    `text` (not at all), `json` (response_format) or `tool` (a forced tool call). With `stream`, replies are streamed,
    so that a stalled server is noticed.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 120.0
    mode: str = "text"
    stream: bool = False


class EndpointClient:
    """Asks one endpoint from one event loop."""

    def __init__(
        self, endpoint: Endpoint, *, pause: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep
    ) -> None:
        self.endpoint, self._pause = endpoint, pause
        self._sdk = _openai(endpoint.url)
        self._connect_error = _connect_error(self._sdk)
        self._dropped: set[str] = set()  # parameters that the endpoint refused
        self._reached = False  # an endpoint that was reached once may be starting again: it is tried until the deadline
        _check_address(endpoint.url)
        try:
            self._client = self._sdk.AsyncOpenAI(
                api_key=endpoint.key or "none",
                base_url=endpoint.url,
                max_retries=0,
                http_client=self._sdk.DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False),
                default_headers={"OpenAI-Organization": self._sdk.omit, "OpenAI-Project": self._sdk.omit},
            )
        except (ValueError, UnicodeEncodeError) as error:
            raise ModelError(endpoint.url, f"invalid address or key: {error}") from error

    async def complete(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ContextOverflow: the request is too long for the model.
            ModelRefused: the model will not answer this request.
            EndpointRefused: the endpoint would refuse every request: wrong key, unknown model, no credit, or nothing
                listens there.
            ModelError: no usable reply within the deadline.
        """
        found: Reply = await self._tried(lambda: self._ask(request), request_key(self.endpoint.model, request))
        return found

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the embedding of each text.

        Raises:
            EndpointRefused, ModelError: as `complete`.
        """
        found: list[list[float]] = await self._tried(lambda: self._embed(texts), digest((self.endpoint.model, *texts)))
        return found

    async def _tried(self, ask: Callable[[], Coroutine[Any, Any, _Attempt]], key: str) -> Any:
        """Return what a request gets, after as many attempts as the deadline allows."""
        jitter = random.Random(key)  # noqa: S311 -- spreads retries
        last = _Attempt("no reply")
        try:
            async with asyncio.timeout(self.endpoint.timeout):
                tries = empty = 0
                while True:
                    last = await self._attempt(ask)
                    self._reached = self._reached or not last.unreached
                    if last.reply is not None:
                        return last.reply
                    tries, empty = tries + 1, empty + last.empty
                    if tries >= _CONNECT_TRIES and not self._reached:
                        raise EndpointRefused(self._where, f"cannot be reached: {last.cause}")
                    if empty >= _EMPTY_TRIES:
                        raise EmptyReply(self._where, last.cause)
                    longest = min(_FIRST_PAUSE * 2 ** (tries - 1), _LONGEST_PAUSE)
                    wait = max(last.retry_after, jitter.uniform(longest / 2, longest))
                    if wait >= self.endpoint.timeout:
                        raise ModelError(self._where, f"{last.cause}; it asks to wait {wait:.0f} s")
                    await self._pause(0 if last.at_once else wait)
        except TimeoutError as error:
            raise ModelError(self._where, f"{last.cause} within {self.endpoint.timeout:g} s") from error

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    @property
    def _where(self) -> str:
        return self.endpoint.url

    async def _attempt(self, ask: Callable[[], Coroutine[Any, Any, _Attempt]]) -> _Attempt:
        sdk = self._sdk
        try:
            return await ask()
        except sdk.APIStatusError as error:
            return self._status(error)
        except (sdk.APIConnectionError, sdk.APIResponseValidationError) as error:
            unreached = isinstance(error.__cause__, self._connect_error)
            return _Attempt(f"no response: {self._clean(error)}", unreached=unreached)
        except sdk.APIError as error:  # an error event within a stream
            return _Attempt(f"the stream failed: {self._clean(error)}")
        except _OtherReply as other:
            return _Attempt(f"the reply is not {other}")

    async def _ask(self, request: Request) -> _Attempt:
        body = self._body(request)
        # Gateways that support this header answer a repeated request without running the model again.
        headers = self._headers(request_key(self.endpoint.model, request))
        try:
            answer = await self._client.chat.completions.create(**body, extra_headers=headers)
        except ValueError as error:  # not JSON
            raise _OtherReply(_COMPLETION) from error
        part = await _streamed(answer) if body.get("stream") else _whole(answer)
        if part.refusal or part.finish == "content_filter":
            raise ModelRefused(self._where, f"the model refuses: {self._clean(part.refusal or 'content filter')}")
        if len(part.text) > _LARGEST_REPLY:
            raise ModelError(self._where, f"the reply is too large: {len(part.text):,} characters")
        if not part.finish and body.get("stream"):
            return _Attempt("the stream broke off")
        if not part.text.strip():
            return _Attempt("the reply is empty", empty=True)
        return _Attempt("", Reply(part.text, part.prompt_tokens, part.reply_tokens, cut=part.finish == "length"))

    async def _embed(self, texts: Sequence[str]) -> _Attempt:
        try:
            answer = await self._client.embeddings.create(
                model=self.endpoint.model,
                input=list(texts),
                encoding_format="float",
                extra_headers=self._headers(digest((self.endpoint.model, *texts))),
            )
            rows = sorted(answer.data, key=lambda row: row.index)
            vectors = [[float(number) for number in row.embedding] for row in rows]
        except (ValueError, TypeError, AttributeError) as error:  # the SDK does not validate what it is sent
            raise _OtherReply(_EMBEDDINGS) from error
        if len(vectors) != len(texts) or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
            raise _OtherReply(_EMBEDDINGS)
        return _Attempt("", vectors)

    def _headers(self, key: str) -> dict[str, Any]:
        without_key = {} if self.endpoint.key else {"Authorization": self._sdk.omit}
        return {"Idempotency-Key": key, **without_key}

    def _body(self, request: Request) -> dict[str, Any]:
        body = chat_body(self.endpoint.model, request)
        if "max_tokens" in self._dropped:
            body["max_completion_tokens"] = body.pop("max_tokens")
        if request.schema and self.endpoint.mode != "text":
            schema = json.loads(request.schema)
            if self.endpoint.mode == "json":
                form = {"name": "reply", "schema": schema, "strict": True}
                body["response_format"] = {"type": "json_schema", "json_schema": form}
            else:
                body["tools"] = [{"type": "function", "function": {"name": "reply", "parameters": schema}}]
                body["tool_choice"] = {"type": "function", "function": {"name": "reply"}}
        if self.endpoint.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return {name: value for name, value in body.items() if name not in self._dropped}

    def _status(self, error: Any) -> _Attempt:
        """Return a failed attempt that may be repeated.

        Raises:
            ContextOverflow, EndpointRefused, ModelError: when repeating is useless.
        """
        status, detail = error.status_code, self._clean(error)
        if status in _FINAL_STATUS or _QUOTA in str(error.code) or _QUOTA in detail:
            known = {401: "the key is refused", 403: "the key is refused"}.get(status, detail)
            raise EndpointRefused(self._where, f"status {status}: {known}") from None
        if status in _RETRIED_STATUS or status >= 500:  # noqa: PLR2004 -- server errors
            return _Attempt(f"busy: status {status}", retry_after=_retry_after(error.response.headers))
        if _OVERFLOW.search(f"{error.code} {detail}"):
            raise ContextOverflow(self._where, detail) from None
        if self._adapts(detail):
            return _Attempt(f"status {status}: {detail}", at_once=True)
        raise ModelError(self._where, f"refused with status {status}: {detail}") from None

    def _adapts(self, detail: str) -> bool:
        """Drop or rename a parameter that the endpoint does not know; return whether the request differs now."""
        named = set(_FIELD.findall(detail))
        if "tool" in named:
            named |= {"tools", "tool_choice"}
        if "max_completion_tokens" in named:
            named.add("max_tokens")
        new = named & {"max_tokens", "temperature", "response_format", "stream_options", "tools", "tool_choice"}
        new -= self._dropped
        self._dropped |= new
        return bool(new)

    def _clean(self, error: object) -> str:
        """Return a message as one short line without anything that may be a key."""
        text = " ".join(str(error).split())
        if self.endpoint.key:
            text = text.replace(self.endpoint.key, "***")
        return _SECRET.sub("***", text)[:200] or type(error).__name__


class OpenAiModel:
    """A `Model`, or an endpoint of embeddings, for synchronous callers and threads; its event loop has its own thread.

    The thread starts with the first request, so that a process may be forked after the model is made.
    """

    def __init__(
        self, endpoint: Endpoint, *, pause: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep
    ) -> None:
        self._client = EndpointClient(endpoint, pause=pause)
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._waiting: set[Future[Any]] = set()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._client.endpoint.model

    def complete(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            ModelError: as `EndpointClient.complete`.
        """
        return self._result(self._client.complete(request))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the embedding of each text.

        Raises:
            ModelError: as `EndpointClient.embed`.
        """
        return self._result(self._client.embed(texts))

    def close(self) -> None:
        """End waiting requests with an error, close the connections and end the thread."""
        if self._loop is None or self._thread is None:
            return
        for each in list(self._waiting):
            each.cancel()
        asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = self._thread = None

    def _result(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        future = asyncio.run_coroutine_threadsafe(work, self._running())
        self._waiting.add(future)
        try:
            return future.result()
        except CancelledError as error:
            raise ModelError(self.name, "closed before it answered") from error
        finally:
            self._waiting.discard(future)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
                self._thread.start()
            return self._loop


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt: its reply, or why there is none and how long the server asks to wait."""

    cause: str
    reply: Any = None
    retry_after: float = 0.0
    empty: bool = False
    at_once: bool = False
    unreached: bool = False


@dataclass(slots=True)
class _Part:
    """What a completion says, whole or put together from a stream."""

    text: str = ""
    finish: str = ""
    refusal: str = ""
    prompt_tokens: int = 0
    reply_tokens: int = 0

    def spent(self, usage: Any) -> None:
        """Take over the token counts, where the endpoint reports them."""
        if usage is not None:
            self.prompt_tokens = _whole_number(getattr(usage, "prompt_tokens", 0))
            self.reply_tokens = _whole_number(getattr(usage, "completion_tokens", 0))


class _OtherReply(Exception):
    """A reply in another form than what was asked for, which the message names."""


def _whole(answer: Any) -> _Part:
    try:
        choice = answer.choices[0]
        message = choice.message
        calls = "\n".join(call.function.arguments or "" for call in message.tool_calls or ())
        part = _Part(calls or message.content or "", choice.finish_reason or "", message.refusal or "")
        part.spent(answer.usage)
    except (TypeError, AttributeError, IndexError) as error:  # the SDK does not validate what it is sent
        raise _OtherReply(_COMPLETION) from error
    return part


async def _streamed(events: Any) -> _Part:
    part = _Part()
    calls = ""
    try:
        async with events:
            async for event in events:
                part.spent(event.usage)
                for choice in event.choices[:1]:
                    part.text += choice.delta.content or ""
                    part.refusal += choice.delta.refusal or ""
                    calls += "".join(call.function.arguments or "" for call in choice.delta.tool_calls or ())
                    part.finish = choice.finish_reason or part.finish
                if len(part.text) + len(calls) > _LARGEST_REPLY:
                    break
    except (ValueError, TypeError, AttributeError) as error:  # the SDK does not validate what it is sent
        raise _OtherReply(_COMPLETION) from error
    part.text = calls or part.text
    return part


def _check_address(url: str) -> None:
    """Refuse an address that is none, or that holds a password, because addresses are printed."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ModelError(url, f"invalid address or key: {error}") from error
    if parts.password or parts.username:
        raise ModelError(parts.hostname or "", "the address holds a password; set llm_key instead")
    if not valid:
        raise ModelError(url, "invalid address or key: give http://HOST:PORT/v1")


def _retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks to wait, 0 if it names none or a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(headers.get(name, "")) * unit)
        except ValueError:
            continue
    return 0.0


def _whole_number(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _connect_error(sdk: Any) -> type[Exception]:
    """Return what the HTTP library below the SDK raises where nothing listens; the SDK wraps it."""
    library = sdk.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]
    found: type[Exception] = import_module(library).ConnectError
    return found


def _openai(url: str) -> Any:
    try:
        return import_module("openai")
    except ModuleNotFoundError as error:
        raise ModelError(url, "openai is not installed; run `pip install 'liantu[llm]'`") from error
