"""`memory:` is a base in a temporary folder that goes with it."""

from __future__ import annotations

import gc
import tempfile
import warnings
from contextlib import closing
from typing import TYPE_CHECKING

from kg.store.open import open_store
from tests.contracts.readings import CATL, LITHIUM, fact, reading

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_nothing_is_left_of_it_and_two_are_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with closing(open_store("memory:")) as one, closing(open_store("memory:")) as other:
        with one.writer() as writer:
            writer.write(reading(1, 1, fact(CATL, "uses", LITHIUM)))
        assert (len(list(one.view().facts())), len(list(other.view().facts()))) == (1, 0)
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_not_closed_goes_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        store = open_store("memory:")
        del store
        gc.collect()
    assert ([str(each.message) for each in said], list(tmp_path.iterdir())) == ([], [])
