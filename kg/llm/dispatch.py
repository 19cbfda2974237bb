"""Send many requests to an endpoint: bounded concurrency, a budget, and every reply on disk before it counts."""

from __future__ import annotations

import asyncio
import tomllib
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kg.errors import SettingsError
from kg.llm.client import EndpointClient
from kg.llm.port import ContextOverflow, EndpointRefused, ModelError
from kg.llm.replay import StoredReply, Unanswered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kg.llm.client import Endpoint
    from kg.llm.port import Reply, Request
    from kg.llm.replay import ReplyLog

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs: per million tokens of prompts and replies; `batch` is the factor of batch files."""

    prompt: float
    reply: float
    currency: str = ""
    batch: float = 0.5

    def of(self, prompt_tokens: float, reply_tokens: float) -> float:
        """Return the cost of some tokens."""
        return (prompt_tokens * self.prompt + reply_tokens * self.reply) / _MILLION

    def text(self, amount: float) -> str:
        """Return an amount with its currency."""
        return f"{amount:.4g} {self.currency}".strip()


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request to send, the tokens it is expected to cost, and how to split it if it is too long."""

    key: str
    request: Request
    prompt_tokens: float
    reply_tokens: float
    split: Callable[[], Sequence[PendingRequest]]


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """How many requests are in flight, and when to stop: after how many tokens or at which cost, if at all."""

    parallel: int = 8
    tokens: int | None = None
    cost: float | None = None
    price: Price | None = None

    def allow(self, prompt_tokens: float, reply_tokens: float) -> bool:
        """Return whether this much may be spent in all."""
        if self.tokens is not None and prompt_tokens + reply_tokens > self.tokens:
            return False
        if self.cost is None:
            return True
        assert self.price is not None  # the command asks for a price table
        return self.price.of(prompt_tokens, reply_tokens) <= self.cost


@dataclass(slots=True)
class Sent:
    """What was sent: replies and failures, tokens that the endpoint counted, and whether a limit stopped it."""

    calls: int = 0
    failed: int = 0
    split: int = 0
    left: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    causes: list[str] = field(default_factory=list)
    refused: str = ""


def send(
    endpoint: Endpoint,
    requests: Sequence[PendingRequest],
    log: ReplyLog,
    *,
    at: str,
    limits: SpendingLimits,
    progress: Callable[[int], None] = lambda _done: None,
) -> Sent:
    """Send requests in order and store the replies; failures are noted and the rest goes on.

    Args:
        endpoint: where to.
        requests: most valuable first.
        log: keeps replies and failures.
        at: the time of the run, stored with each reply.
        limits: requests in flight, and what may be spent; requests beyond stay unsent.
        progress: called with the number of settled requests.
    """
    return asyncio.run(_Dispatch(endpoint, log, at, limits, progress).run(requests))


class _Dispatch:
    """State of one run, touched by one event loop."""

    def __init__(
        self, endpoint: Endpoint, log: ReplyLog, at: str, limits: SpendingLimits, progress: Callable[[int], None]
    ) -> None:
        self._client, self._log, self._at = EndpointClient(endpoint), log, at
        self._limits, self._progress = limits, progress
        self._sent = Sent()
        self._queue: deque[PendingRequest] = deque()
        self._flying = [0.0, 0.0]  # expected prompt and reply tokens of the requests in flight
        self._stopped = False

    async def run(self, requests: Sequence[PendingRequest]) -> Sent:
        self._queue.extend(requests)
        try:
            await asyncio.gather(*(self._worker() for _ in range(min(self._limits.parallel, len(requests)))))
        finally:
            await self._client.close()
        self._sent.left = len(self._queue)
        return self._sent

    async def _worker(self) -> None:
        while self._queue and not self._stopped:
            item = self._queue.popleft()
            if not self._affordable(item):
                self._stopped = True
                self._queue.appendleft(item)
                return
            self._fly(item, 1)
            try:
                await self._settle(item)
            finally:
                self._fly(item, -1)

    async def _settle(self, item: PendingRequest) -> None:
        model = self._client.endpoint.model
        try:
            reply = await self._client.complete(item.request)
        except EndpointRefused as error:
            self._stopped, self._sent.refused = True, str(error)
            self._queue.appendleft(item)
            return
        except ContextOverflow as error:
            halves = item.split()
            if halves:
                self._queue.extendleft(reversed([half for half in halves if half.key not in self._log.replies]))
                self._sent.split += 1
                return
            cause = str(error)
        except ModelError as error:
            cause = str(error)
        else:
            await asyncio.to_thread(self._log.add, item.key, StoredReply(reply, model, self._at))
            self._count(item, reply)
            return
        await asyncio.to_thread(self._log.note, [(item.key, Unanswered(model, self._at, cause))])
        self._sent.failed += 1
        self._sent.causes.append(cause)
        self._progress(self._sent.calls + self._sent.failed)

    def _count(self, item: PendingRequest, reply: Reply) -> None:
        """Count a reply; an endpoint that reports no tokens is charged with what was expected."""
        self._sent.calls += 1
        self._sent.prompt_tokens += reply.prompt_tokens or round(item.prompt_tokens)
        self._sent.reply_tokens += reply.reply_tokens or round(item.reply_tokens)
        self._progress(self._sent.calls + self._sent.failed)

    def _fly(self, item: PendingRequest, sign: int) -> None:
        self._flying[0] += sign * item.prompt_tokens
        self._flying[1] += sign * item.reply_tokens

    def _affordable(self, item: PendingRequest) -> bool:
        return self._limits.allow(
            self._sent.prompt_tokens + self._flying[0] + item.prompt_tokens,
            self._sent.reply_tokens + self._flying[1] + item.reply_tokens,
        )


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices by model of a TOML file with a table for each model.

    Raises:
        SettingsError: with the place and the cause.
    """
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError("llm_prices", f"{path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError("llm_prices", f"{path} is not valid TOML: {error}") from error
    return {name: _price(f"{path}, {name}", table) for name, table in data.items()}


def _price(where: str, table: Any) -> Price:
    try:
        price = Price(
            float(table["prompt"]),
            float(table["reply"]),
            str(table.get("currency", "")),
            float(table.get("batch", 0.5)),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SettingsError("llm_prices", f"{where}: give prompt and reply, the price of a million tokens") from error
    if not 0 <= price.prompt < float("inf") or not 0 <= price.reply < float("inf"):
        raise SettingsError("llm_prices", f"{where}: a price must not be negative")
    return price
