from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from extraction.workers import ordered_map, pool_map

if TYPE_CHECKING:
    from collections.abc import Iterator


def _doubler() -> object:
    return partial(max, 10)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("count", "size"), [(0, 1), (1, 1), (3, 8), (50, 7)])
def test_results_come_in_order(workers, count, size):
    found = list(ordered_map(range(count), _doubler, workers=workers, size=size))  # type: ignore[arg-type]
    assert found == [max(10, item) for item in range(count)]


class FakePool:
    """Notes how many documents are in flight."""

    def __init__(self) -> None:
        self.waiting, self.most = 0, 0

    def submit(self, _: object, document: int) -> FakeFuture:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        return FakeFuture(self, document)


class FakeFuture:
    def __init__(self, pool: FakePool, document: int) -> None:
        self._pool, self._document = pool, document

    def result(self) -> int:
        self._pool.waiting -= 1
        return self._document


def test_the_pool_keeps_order_and_never_runs_far_ahead():
    pool = FakePool()
    assert list(pool_map(pool, abs, iter(range(50)), ahead=8)) == list(range(50))  # type: ignore[arg-type]
    assert pool.most <= 8


def test_the_pool_reads_no_more_files_than_it_needs():
    taken: list[int] = []

    def documents() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    list(islice(pool_map(FakePool(), abs, documents(), ahead=4), 2))  # type: ignore[arg-type]
    assert len(taken) <= 6
