"""An exhibit: the same bytes each time, no address outside, hostile names harmless, nothing deleted but its own."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from kg.cli import root
from kg.commands.files import FileUnwritable
from kg.model import Entity, Kind
from kg.service.base import open_kb
from tests.kg.query.world import LONGI, claim, filled, paper, solar
from tests.viz.samples import HOSTILE
from viz.exhibit.content import ExhibitContent
from viz.exhibit.pages import write_exhibit

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def store():
    evil = Entity("product:x", Kind.PRODUCT, HOSTILE)
    reading = paper(30, "2024-05-01", ("隆基生产坏名字。", claim(LONGI, "produces", "product:x")), extra=(evil,))
    titled = replace(reading, document=replace(reading.document, title=HOSTILE, url="javascript:alert(1)"))
    return filled((*solar(), titled))


def _content(store) -> ExhibitContent:
    return ExhibitContent(store, store.view(), min_confidence=0.65)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _part(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(re.search(r'"([A-Za-z0-9+/=]+)"\)', text).group(1))))


def test_the_same_base_gives_the_same_bytes(store, tmp_path):
    for name in ("one", "two"):
        write_exhibit(_content(store), tmp_path / name, lang="zh", one_file=False)
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_every_fact_and_text_is_in_a_part(store, tmp_path):
    write_exhibit(_content(store), tmp_path, lang="zh", one_file=False)
    parts = {path.stem: _part(path.read_text()) for path in (tmp_path / "liantu-parts").iterdir()}
    packed = {row[0] for name, part in parts.items() if name[:5] in ("links", "figur") for row in part["facts"]}
    assert len(packed) == len(list(store.view().facts()))
    assert set(parts["texts-0"]) == {head.id for head in store.view().documents()}
    place = parts["index"]["entities"]["id"].index(LONGI)
    assert {parts["index"]["names"][number] for number in parts["index"]["parts"][place]} == {"links-0", "figures-0"}


@pytest.mark.parametrize("one_file", [False, True])
def test_a_hostile_name_stays_data(store, tmp_path, one_file):
    page = write_exhibit(_content(store), tmp_path, lang="zh", one_file=one_file).read_text()
    assert "<script>alert" not in page
    assert "default-src 'none'" in page
    assert "unsafe" not in re.search(r'content="(default-src[^"]*)"', page).group(1)


def test_one_file_holds_everything(store, tmp_path):
    write_exhibit(_content(store), tmp_path, lang="en", one_file=True)
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
    page = (tmp_path / "index.html").read_text()
    assert 'id="part:index"' in page
    assert '<html lang="en">' in page


def test_files_of_others_stay(store, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.csv").write_text("mine")
    (tmp_path / "liantu-parts").mkdir()
    (tmp_path / "liantu-parts" / "links-99.js").write_text("stale")
    write_exhibit(_content(store), tmp_path, lang="zh", one_file=False)
    assert (tmp_path / "data" / "mine.csv").read_text() == "mine"
    assert not (tmp_path / "liantu-parts" / "links-99.js").exists()


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    kb = tmp_path / "kb.liantu"
    with open_kb(kb, create=True) as base:
        filled(solar(), base.store)
    done = CliRunner().invoke(root, ["exhibit", "--kb", str(kb), "--out", str(tmp_path / "file" / "x")])
    assert isinstance(done.exception, FileUnwritable)
    assert "\n" not in str(done.exception)
