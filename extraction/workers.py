"""Map items over processes in order, with a bounded number in flight, limits for each item and no orphaned workers."""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from extraction.worker_process import MEGABYTE, Limits, Lost, Worker, built

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from extraction.worker_process import Progress

Item = TypeVar("Item")
Result = TypeVar("Result")
_AHEAD = 4  # batches per worker that are read but not yielded: keeps workers busy within bounded memory
_QUEUED = 2  # batches sent to one worker: one in work, one to continue with
_LIMITS = Limits(memory=2048 * MEGABYTE, seconds=600.0)
_CHARACTERS_PER_SECOND = 1_000  # that a long document may take: a tenth of the usual speed


def ordered_map(
    items: Iterable[Item],
    build: Callable[[], Callable[[Item], Result]],
    lost: Callable[[Item, str], Result],
    *,
    workers: int = 0,
    size: int = 1,
) -> Iterator[Result]:
    """Map items in order; in parallel if there is more than one batch and more than one worker.

    Args:
        items: read lazily.
        build: returns the function to map; pickled by name and called once per process.
        lost: returns the result of an item whose worker died or exceeded a limit, from the cause.
        workers: number of processes; 0 uses one per processor.
        size: items per batch; more than one if each is little work.

    Raises:
        WorkerFailed: when processes cannot be started.
    """
    workers = workers or os.cpu_count() or 1
    source = iter(items)
    batches = iter(lambda: list(islice(source, size)), [])
    first = list(islice(batches, 1 if workers == 1 else 2))
    whole = chain(first, batches)
    if workers == 1 or len(first) < 2:  # noqa: PLR2004 -- one batch needs one process
        work = built(build) if first else None
        for batch in whole:
            assert work is not None
            with threadpool_limits(1):  # the matrices are small: more BLAS threads only spin
                done = [work(item) for item in batch]
            yield from done
        return
    pool = _Pool([Worker(partial(_batch_function, build), _LIMITS) for _ in range(workers)], lost)
    try:
        yield from pool.map(whole)
    finally:
        pool.stop()


@dataclass(slots=True)
class _Batch(Generic[Item, Result]):
    """Items that travel together, and their results so far."""

    items: list[Item]
    results: list[Result] = field(default_factory=list)

    @property
    def rest(self) -> list[Item]:
        return self.items[len(self.results) :]


class _Pool(Generic[Item, Result]):
    """Workers, and the batches that each has been sent."""

    def __init__(self, workers: list[Worker[list[Item], Result]], lost: Callable[[Item, str], Result]) -> None:
        self._workers, self._lost = workers, lost
        self._sent: dict[Worker[list[Item], Result], deque[_Batch[Item, Result]]] = {one: deque() for one in workers}

    def map(self, batches: Iterator[list[Item]]) -> Iterator[Result]:
        """Yield the results in the order of the items."""
        pending: deque[_Batch[Item, Result]] = deque()
        exhausted = False
        while True:
            while not exhausted and len(pending) < _AHEAD * len(self._workers) and (free := self._free()):
                items = next(batches, None)
                if items is None:
                    exhausted = True
                    break
                pending.append(_Batch(items))
                self._send(free, pending[-1])
            while pending and not pending[0].rest:
                yield from pending.popleft().results
            if not pending and exhausted:
                return
            if pending:
                self._advance()

    def stop(self) -> None:
        """End all processes."""
        for worker in self._workers:
            worker.stop()

    def _free(self) -> Worker[list[Item], Result] | None:
        least = min(self._workers, key=lambda one: len(self._sent[one]))
        return least if len(self._sent[least]) < _QUEUED else None

    def _send(self, worker: Worker[list[Item], Result], batch: _Batch[Item, Result]) -> None:
        self._sent[worker].append(batch)
        worker.send(batch.rest, max(map(_length, batch.rest)) / _CHARACTERS_PER_SECOND)

    def _advance(self) -> None:
        """Wait for the next messages or the next deadline."""
        busy = [worker for worker in self._workers if worker.items]
        by_connection = {worker.connection: worker for worker in busy}
        patience = min(worker.remaining() for worker in busy)
        ready = {by_connection[one] for one in wait(list(by_connection), timeout=max(0.0, patience))}  # type: ignore[arg-type, index]
        for worker in busy:
            if worker in ready:
                self._take(worker, worker.receive())
            elif worker.remaining() <= 0:
                self._take(worker, worker.overdue())

    def _take(self, worker: Worker[list[Item], Result], progress: Progress) -> None:
        batch = self._sent[worker][0]
        for result in progress.results:
            batch.results.append(self._lost(batch.rest[0], result.cause) if isinstance(result, Lost) else result)
        if progress.finished:
            self._sent[worker].popleft()
            if batch.rest:  # the item that was lost has a result; those after it have not been tried
                self._send(worker, batch)


def _length(item: Any) -> int:
    """Return the characters of a document; those of any other item do not matter."""
    return len(getattr(item, "text", ""))


def _batch_function(build: Callable[[], Callable[[Item], Result]]) -> Callable[[Sequence[Item]], Iterator[Result]]:
    return partial(map, build())
