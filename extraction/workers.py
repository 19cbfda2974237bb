"""Map items over processes in order, with a bounded number in flight and no orphaned workers."""

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
_AHEAD = 4  # batches in flight per worker: keeps workers busy within bounded memory


def ordered_map(
    items: Iterable[Item], build: Callable[[], Callable[[Item], Result]], *, workers: int = 0, size: int = 1
) -> Iterator[Result]:
    """Map items in order; in parallel if there is more than one batch and more than one worker.

    Args:
        items: read lazily.
        build: returns the function to map; pickled by name and called once per process.
        workers: number of processes; 0 uses one per processor.
        size: items per batch; more than one if each is little work.
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
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_start_worker, initargs=(build,)
    ) as pool:
        for done in pool_map(pool, _work, whole, ahead=workers * _AHEAD):
            yield from done


def pool_map(
    pool: ProcessPoolExecutor, work: Callable[[Item], Result], items: Iterable[Item], *, ahead: int
) -> Iterator[Result]:
    """Map in order with a bounded number in flight (`Executor.map` reads all items at once)."""
    pending = []
    for item in items:
        pending.append(pool.submit(work, item))
        if len(pending) >= ahead:
            yield pending.pop(0).result()
    for future in pending:
        yield future.result()


def built(build: Callable[[], Result]) -> Result:
    """Build an object that lives as long as the process, and exclude it from garbage collection."""
    made = build()
    gc.collect()
    gc.freeze()
    return made


_worker: dict[str, Callable[[Any], Any]] = {}


def _start_worker(build: Callable[[], Callable[[Any], Any]]) -> None:
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    threadpool_limits(1)  # there is one process per processor already; BLAS threads would only compete
    _worker["one"] = built(build)


def _exit_with_parent() -> None:
    """Exit when the parent process ends, even if it was killed and could not stop its workers."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(batch: Sequence[Any]) -> list[Any]:
    return [_worker["one"](item) for item in batch]
