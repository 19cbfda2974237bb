"""A process that reads ahead says how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kg.errors import DocumentError
from kg.interop.rows.files import LeftOut
from kg.interop.rows.prefetch import read_ahead
from kg.interop.rows.sheets import RefusedRow

if TYPE_CHECKING:
    from collections.abc import Iterator


class Broken:
    """Gives one row, and breaks in a way that nobody foresaw."""

    def items(self, left_out: LeftOut) -> Iterator[RefusedRow]:
        yield RefusedRow("rows.jsonl:1", "no subject")
        raise RuntimeError(left_out)


class Whole:
    """Gives one row."""

    def items(self, left_out: LeftOut) -> Iterator[RefusedRow]:
        left_out.counts["patents"] += 1
        yield RefusedRow("rows.jsonl:1", "no subject")


def test_what_broke_in_the_middle_does_not_pass_for_the_whole():
    with pytest.raises(DocumentError, match="was killed"):
        list(read_ahead(Broken(), LeftOut(), name="rows.jsonl"))


def test_what_was_left_out_is_counted_here():
    left_out = LeftOut()
    assert list(read_ahead(Whole(), left_out, name="rows.jsonl")) == [RefusedRow("rows.jsonl:1", "no subject")]
    assert left_out.counts == {"patents": 1}
