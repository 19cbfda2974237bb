"""Workers that die, hang or need too much memory cost one item; the rest comes, in order."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import pytest

from extraction import workers as pool
from extraction.worker_process import MEGABYTE, Limits, WorkerFailed
from extraction.workers import ordered_map

if TYPE_CHECKING:
    from collections.abc import Iterator


def _doubler() -> object:
    return partial(max, 10)


def _lost(item: int, cause: str) -> str:
    return f"{item}: {cause}"


def _work(item: int) -> int:
    """Do what the item says."""
    if item == -1:
        os.kill(os.getpid(), signal.SIGKILL)
    elif item == -2:
        while True:
            pass
    elif item == -3:
        bytearray(2000 * MEGABYTE)
    elif item == -5:
        time.sleep(600)
    elif item == -4:
        raise ValueError("a fault of the program")
    return item


def _compute(item: int) -> int:
    began = time.process_time()
    while time.process_time() - began < 1.2:
        pass
    return item


def _second() -> object:
    return _compute


def _worker() -> object:
    return _work


def _dead_at_birth() -> object:
    os._exit(7)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_LIMITS", Limits(memory=300 * MEGABYTE, seconds=2.0))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 1), (3, 8), (50, 7)])
def test_results_come_in_order(workers, count, size):
    found = list(ordered_map(range(count), _doubler, _lost, workers=workers, size=size))  # type: ignore[arg-type]
    assert found == [max(10, item) for item in range(count)]


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize(
    ("bad", "cause"),
    [(-1, "signal SIGKILL"), (-2, "takes more than 2 s of processor time"), (-3, "needs more than 300 MB of memory")],
)
def test_only_the_item_that_ended_its_worker_is_lost(bad, cause, size):
    items = [0, 1, bad, 3, 4, 5, 6, bad, 8, 9]
    found = list(ordered_map(items, _worker, _lost, workers=2, size=size))  # type: ignore[arg-type]
    assert [one for one in found if isinstance(one, int)] == [item for item in items if item >= 0]
    assert [at for at, one in enumerate(found) if isinstance(one, str)] == [2, 7]
    assert all(cause in one for one in found if isinstance(one, str))


def test_a_worker_that_sleeps_is_replaced_after_its_wall_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "_LIMITS", Limits(memory=300 * MEGABYTE, seconds=60.0, waiting=1.0))
    found = list(ordered_map([1, -5, 2], _worker, _lost, workers=2))  # type: ignore[arg-type]
    assert found == [1, "-5: gives no result within 1 s", 2]


def _busy(stop: Any) -> None:
    while not stop.is_set():
        sum(range(10_000))


@pytest.mark.extended
def test_a_busy_machine_loses_no_item():
    """Four times as many busy processes as processors: wall time passes, processor time does not."""
    stop = get_context("spawn").Event()
    load = [get_context("spawn").Process(target=_busy, args=(stop,), daemon=True) for _ in range(8)]
    for each in load:
        each.start()
    try:
        assert list(ordered_map([2, 3, 4], _second, _lost, workers=2)) == [2, 3, 4]  # type: ignore[arg-type]
    finally:
        stop.set()
        for each in load:
            each.join()


def test_an_unexpected_fault_costs_one_item_and_says_where():
    found = list(ordered_map([1, -4, 2], _worker, _lost, workers=2))  # type: ignore[arg-type]
    assert (found[0], found[2]) == (1, 2)
    assert "fails in test_workers.py:" in str(found[1])
    assert "(ValueError: a fault of the program)" in str(found[1])


def test_workers_that_cannot_start_are_one_error():
    with pytest.raises(WorkerFailed, match="exit code 7"):
        list(ordered_map([1, 2], _dead_at_birth, _lost, workers=2))  # type: ignore[arg-type]


def test_the_pool_reads_no_more_than_it_needs():
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    assert list(islice(ordered_map(items(), _doubler, _lost, workers=2), 2)) == [10, 10]  # type: ignore[arg-type]
    assert len(taken) <= 10
