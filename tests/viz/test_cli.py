"""`liantu draw`: one file of one answer with what it rests on and nothing else; a folder with the whole base."""

from __future__ import annotations

import base64
import gzip
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from kg.cli import root
from kg.model import Entity, Kind
from kg.service.base import open_kb
from tests.kg.query.world import LONGI, claim, filled, paper, solar
from tests.viz.samples import HOSTILE
from viz.cli import draw

if TYPE_CHECKING:
    from pathlib import Path

FAR = "别处的公司生产别处的产品，与光伏无关。"


@pytest.fixture(scope="module")
def kb(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("kb") / "kb.liantu"
    evil = Entity("product:x", Kind.PRODUCT, HOSTILE)
    more = (
        paper(50, "2024-05-01", (FAR, claim("org:别处公司", "produces", "product:别处产品"))),
        paper(51, "2024-05-02", ("隆基生产坏名字。", claim(LONGI, "produces", "product:x")), extra=(evil,)),
    )
    with open_kb(path, create=True) as base:
        filled((*solar(), *more), base.store)
    return path


def _draw(kb: Path, *arguments: str) -> str:
    done = CliRunner().invoke(root, ["draw", *arguments, "--kb", str(kb)])
    assert done.exit_code == 0, done.output
    return done.output.strip()


def _parts(page: str) -> dict[str, Any]:
    found = re.findall(r'<script type="text/plain" id="part:([^"]+)">([^<]+)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(data))) for name, data in found}


def _meta(page: str) -> dict[str, Any]:
    return json.loads(re.search(r'id="meta">(.*?)</script>', page).group(1))


ANSWERS = [
    (("chain", "光伏"), "#/chain/industry%3A%E5%85%89%E4%BC%8F?e=list", "chain industry:光伏"),
    (("impact", "硅料价格", "--direction", "down"), "?fall=1", "factor indicator:硅料价格 down"),
    (("causes", "硅料价格"), "#/factor/", "factor indicator:硅料价格"),
    (("relate", "通威股份", "阳光电源"), "#/path/sec%3A600438.SH/", "path sec:600438.SH sec:300274.SZ"),
    (("profile", "隆基绿能"), "#/company/sec%3A601012.SH", ""),
]


@pytest.mark.parametrize(("arguments", "address", "picture"), ANSWERS)
def test_a_file_holds_one_answer_and_opens_at_it(kb, tmp_path, arguments, address, picture):
    out = tmp_path / "deep" / "page.html"
    assert _draw(kb, *arguments, "--out", str(out)) == str(out)
    page = out.read_text(encoding="utf-8")
    meta, parts = _meta(page), _parts(page)
    assert address in meta["start"]
    assert meta["alone"] is True
    assert (picture in parts["index"]["pictures"]) is bool(picture)
    assert [path.name for path in out.parent.iterdir()] == ["page.html"]
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=.(?!data:)", page)


def test_a_file_holds_the_quotes_of_its_answer_and_no_other_text(kb, tmp_path):
    out = tmp_path / "page.html"
    _draw(kb, "chain", "光伏", "--out", str(out))
    parts = _parts(out.read_text(encoding="utf-8"))
    assert FAR not in json.dumps(parts, ensure_ascii=False)
    cited = {
        document for name, part in parts.items() if name.startswith("links") for document in part["documents"]["id"]
    }
    assert set(parts["texts-0"]) == set(parts["documents"]["id"]) == cited
    assert all(isinstance(stretch, list) for stretch in parts["texts-0"].values())


def test_a_name_in_a_file_stays_data(kb, tmp_path):
    out = tmp_path / "page.html"
    _draw(kb, "profile", "隆基绿能", "--out", str(out))
    page = out.read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert HOSTILE in json.dumps(_parts(page), ensure_ascii=False).replace('\\"', '"')


def test_the_same_answer_gives_the_same_bytes(kb, tmp_path):
    for name in ("one.html", "two.html"):
        _draw(kb, "impact", "硅料价格", "--out", str(tmp_path / name))
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_day_is_that_of_the_file(kb, tmp_path):
    out = tmp_path / "page.html"
    _draw(kb, "chain", "光伏", "--as-of", "2024-02-01", "--out", str(out))
    page = out.read_text(encoding="utf-8")
    assert max(day for day, _ in _meta(page)["days"]) == 19_754  # 2024-02-01
    _draw(kb, "chain", "光伏", "--out", str(out))
    assert max(day for day, _ in _meta(out.read_text(encoding="utf-8"))["days"]) > 19_754


def test_a_folder_holds_the_whole_base_and_opens_at_the_answer(kb, tmp_path):
    assert _draw(kb, "relate", "通威股份", "阳光电源", "--out", str(tmp_path / "pages")).endswith("index.html")
    meta = _meta((tmp_path / "pages" / "index.html").read_text(encoding="utf-8"))
    assert (meta["alone"], meta["start"].startswith("#/path/")) == (False, True)
    script = (tmp_path / "pages" / "liantu-parts" / "index.js").read_text()
    index = json.loads(gzip.decompress(base64.b64decode(re.search(r'"([A-Za-z0-9+/=]+)"\)', script).group(1))))
    assert "path sec:600438.SH sec:300274.SZ" in index["pictures"]
    assert "org:别处公司" in index["entities"]["id"]


def test_themes_open_at_the_first_page_with_what_is_new_marked(kb, tmp_path):
    _draw(kb, "themes", "--since", "2024-03-01", "--out", str(tmp_path / "site"))
    meta = _meta((tmp_path / "site" / "index.html").read_text(encoding="utf-8"))
    assert (meta["start"], meta["alone"]) == ("#/?since=2024-03-01", False)


def test_an_unknown_name_is_one_line_and_writes_nothing(kb, tmp_path):
    done = CliRunner().invoke(root, ["draw", "chain", "火星", "--kb", str(kb), "--out", str(tmp_path / "x.html")])
    assert done.exception is not None
    assert "火星" in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_draw_names_its_commands():
    shown = CliRunner().invoke(draw, ["--help"]).output
    assert all(name in shown for name in ("chain", "impact", "causes", "relate", "profile", "theme", "themes"))


def test_draw_without_a_base_says_what_to_do(tmp_path):
    result = CliRunner().invoke(draw, ["chain", "光伏", "--kb", str(tmp_path / "none.liantu")])
    assert result.exception is not None
