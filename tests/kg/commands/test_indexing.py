"""`liantu index` with an endpoint: made once, then only what is new; mistakes cost one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from kg.cli import root
from tests.kg.llm.endpoint import serving

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("openai")


def test_an_index_is_made_once_and_searched(kb: Path, monkeypatch: pytest.MonkeyPatch):
    with serving() as state:
        monkeypatch.setenv("KG_EMBED_URL", state.url)
        monkeypatch.setenv("KG_EMBED_MODEL", "m")
        done = CliRunner().invoke(root, ["index", "--kb", str(kb)])
        assert done.exit_code == 0, done.output
        assert "编码 5 段，移除 0 段，共 5 段" in done.output
        again = CliRunner().invoke(root, ["index", "--kb", str(kb)])
        assert "编码 0 段" in again.output
        asked = len(state.bodies)
        found = CliRunner().invoke(root, ["passages", "硅料", "--mode", "vectors", "--limit", "2", "--kb", str(kb)])
        assert found.exit_code == 0, found.output
        assert len(state.bodies) == asked + 1
        monkeypatch.setenv("KG_EMBED_MODEL", "other")
        refused = CliRunner().invoke(root, ["index", "--kb", str(kb)])
        assert "made with m (2 dimensions), not with other" in str(refused.exception)
        anew = CliRunner().invoke(root, ["index", "--anew", "--kb", str(kb)])
        assert "编码 5 段" in anew.output


def test_without_an_index_the_way_to_one_is_named(kb: Path):
    done = CliRunner().invoke(root, ["passages", "硅料", "--mode", "vectors", "--kb", str(kb)])
    assert "liantu index" in str(done.exception)
    done = CliRunner().invoke(root, ["index", "--kb", "memory:"])
    assert "in memory" in str(done.exception)
