"""Work spread over processes in order: a bounded number in flight, and no worker left behind."""

from __future__ import annotations

import gc
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from typing import TYPE_CHECKING, Any, TypeVar

from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")
_AHEAD = 4  # batches in flight for each worker: enough to keep them busy, few enough to hold in memory


def ordered_map(
    items: Iterable[Item], build: Callable[[], Callable[[Item], Result]], *, workers: int = 0, size: int = 1
) -> Iterator[Result]:
    """Map items in order; in parallel when there is more than one batch and more than one processor.

    Args:
        items: read as they are needed, never all at once.
        build: makes the function that does the work, once in each process; it is pickled by its name.
        workers: processes; 0 takes one a processor.
        size: items that travel together; more than one where an item is short work.
    """
    workers = workers or os.cpu_count() or 1
    source = iter(items)
    batches = iter(lambda: list(islice(source, size)), [])
    first = list(islice(batches, 1 if workers == 1 else 2))
    whole = chain(first, batches)
    if workers == 1 or len(first) < 2:  # noqa: PLR2004 -- one batch keeps one process busy
        work = built(build) if first else None
        for batch in whole:
            assert work is not None
            yield from map(work, batch)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_start, initargs=(build,)) as pool:
        for done in pool_map(pool, _work, whole, ahead=workers * _AHEAD):
            yield from done


def pool_map(
    pool: ProcessPoolExecutor, work: Callable[[Item], Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    """Map in order with a bounded number in flight (`Executor.map` would read every item at once)."""
    waiting = []
    for item in items:
        waiting.append(pool.submit(work, item))
        if len(waiting) >= ahead:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def built(build: Callable[[], Result]) -> Result:
    """Make what the work is done with, for good: what it holds is no garbage and is not looked through for any."""
    made = build()
    gc.collect()
    gc.freeze()
    return made


_worker: dict[str, Callable[[Any], Any]] = {}


def _start(build: Callable[[], Callable[[Any], Any]]) -> None:
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    threadpool_limits(1)  # one process a processor already; BLAS threads on top only wait for each other
    _worker["one"] = built(build)


def _leave_with_parent() -> None:
    """End this worker when the process that started it is gone; killed, that one cannot say so."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(batch: Sequence[Any]) -> list[Any]:
    return [_worker["one"](item) for item in batch]
