"""Map items over the machines of a Ray cluster, in order; a worker that dies is replaced and its item tried again."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")
Result = TypeVar("Result")
_AHEAD = 4  # items per worker that are sent but not yielded: keeps workers busy within bounded memory
_TRIES = 3
_SECONDS = 600.0  # for one item, from when it is the next to be yielded


class ClusterUnavailable(KgError):
    """A Ray cluster that cannot be used."""

    def __init__(self, address: str, cause: str) -> None:
        super().__init__(f"Ray at {address}: {cause}")


class ClusterReader:
    """One worker: builds the function once and maps one item after the other; a Ray actor by `cluster_map`."""

    def __init__(self, build: Callable[[], Callable[[Any], Any]]) -> None:
        self._work = build()

    def read(self, item: Any) -> Any:
        """Return the result of one item."""
        return self._work(item)


@dataclass(slots=True)
class _Sent(Generic[Item]):
    """An item on its way: the worker it was sent to, the promise of its result, and how often it was sent."""

    item: Item
    worker: Any
    promise: Any
    tries: int = 1


def cluster_map(
    items: Iterable[Item],
    build: Callable[[], Callable[[Item], Result]],
    lost: Callable[[Item, str], Result],
    *,
    address: str,
    workers: int = 0,
) -> Iterator[Result]:
    """Map items in order over the workers of a running cluster, which must have Liantu installed.

    Args:
        items: read lazily.
        build: returns the function to map; pickled by name and called once per worker.
        lost: returns the result of an item that ended three workers, took too long or failed, from the cause.
        address: of the head node, as `ray start --head` prints it: HOST:PORT.
        workers: number of workers; 0 uses one per processor of the cluster.

    Raises:
        ClusterUnavailable: when Ray is not installed or no cluster answers.
    """
    ray = _connected(address)
    try:
        count = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        remote = ray.remote(ClusterReader).options(num_cpus=1, max_restarts=-1)
        pool = _ClusterPool(ray, [remote.remote(build) for _ in range(count)], lost)
        yield from pool.map(iter(items))
    finally:
        ray.shutdown()


def _connected(address: str) -> Any:
    try:
        ray = import_module("ray")
    except ModuleNotFoundError:
        raise ClusterUnavailable(address, "ray is not installed; pip install 'liantu[ray]'") from None
    try:
        ray.init(address=address, logging_level="error", log_to_driver=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        cause = str(error).splitlines()[0]
        raise ClusterUnavailable(
            address, f"{cause}; start one with `ray start --head --disable-usage-stats`"
        ) from error
    return ray


class _ClusterPool(Generic[Item, Result]):
    """The workers of a cluster, and the items in flight in their order."""

    def __init__(self, ray: Any, workers: list[Any], lost: Callable[[Item, str], Result]) -> None:
        self._ray, self._workers, self._lost = ray, workers, lost
        self._sent: deque[_Sent[Item]] = deque()
        self._turn = 0

    def map(self, items: Iterator[Item]) -> Iterator[Result]:
        """Yield the results in the order of the items."""
        for item in islice(items, _AHEAD * len(self._workers)):
            self._sent.append(self._send(item))
        while self._sent:
            first = self._sent.popleft()
            yield self._result(first)
            for item in islice(items, 1):
                self._sent.append(self._send(item))

    def _send(self, item: Item) -> _Sent[Item]:
        worker = self._workers[self._turn % len(self._workers)]
        self._turn += 1
        return _Sent(item, worker, worker.read.remote(item))

    def _result(self, sent: _Sent[Item]) -> Result:
        """Wait for an item; one whose worker died goes to the next worker, up to three times."""
        errors = self._ray.exceptions
        while True:
            try:
                result: Result = self._ray.get(sent.promise, timeout=_SECONDS)
            except errors.GetTimeoutError:
                self._ray.kill(sent.worker, no_restart=False)
                return self._lost(sent.item, f"takes more than {_SECONDS:.0f} s")
            except errors.RayTaskError as error:
                return self._lost(sent.item, f"cannot be read: {error.cause!r}"[:200])
            except errors.RayActorError:
                if sent.tries == _TRIES:
                    return self._lost(sent.item, f"ended {_TRIES} workers")
                again = self._send(sent.item)
                sent = _Sent(sent.item, again.worker, again.promise, sent.tries + 1)
            else:
                return result
