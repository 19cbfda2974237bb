"""The command line: what it prints, its exit codes, and that no mistake of a user ends in a traceback."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest

from communities.weekly import run_week
from kg.cli import exit_code, main
from kg.errors import DocumentError, EmptyBase, SettingsError, StoreLocked, UnknownName, VocabularyError
from kg.model import Modality, Value
from kg.period import month
from kg.query.answers import Node, Subgraph
from kg.query.plain import plain
from kg.store.open import open_store
from tests.kg.query.world import LONGI, MARGIN_2023, filled, named, solar

if TYPE_CHECKING:
    from _pytest.capture import CaptureFixture

HAN = re.compile(r"[\u4e00-\u9fff]")
QUESTIONS = [
    ["chain", "硅片"],
    ["impact", "硅料价格", "--direction", "down"],
    ["causes", "组件毛利率", "--direction", "down"],
    ["relate", "阳光电源", "硅料"],
    ["profile", "隆基绿能"],
    ["themes"],
    ["passages", "补贴退坡"],
    ["ask", "硅料价格下跌有什么影响"],
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("commands") / "kb.liantu"
    store = filled(solar(), open_store(path, create=True))
    run_week(store, None)
    store.close()
    return path


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("KG_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


class Liantu:
    """Runs the command in this process: `code`, `out` and `err` are of the last run."""

    def __init__(self, capsys: CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.code, self.out, self.err = -1, "", ""

    def __call__(self, *arguments: str | Path) -> int:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        self.code = int(ended.value.code or 0)
        self.out, self.err = self._capsys.readouterr()
        assert "Traceback" not in self.out + self.err
        return self.code


@pytest.fixture
def liantu(capsys: CaptureFixture[str]) -> Liantu:
    return Liantu(capsys)


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (
            ["chain", "硅片"],
            [
                "硅片 产业链",
                "【上游】",
                "硅料：通威股份（600438.SH）",
                "【依据】",
                "「硅料是硅片的上游。」—— 报告1，示例证券甲，2024-01-10",
            ],
        ),
        (["chain", "阳光电源"], ["阳光电源（300274.SZ） 产业链"]),
        (
            ["impact", "硅料价格", "--direction", "down"],
            [
                "硅料价格下降 会影响",
                "硅料价格下降 → 电池片成本下降  （强度 ",
                "【相反的说法】",
                "「硅料价格下跌，电池片成本反而上升。」",
            ],
        ),
        (["impact", "光伏电站"], ["图谱中没有因果路径"]),
        (
            ["causes", "组件毛利率", "--direction", "down"],
            ["组件毛利率下降 的原因", "补贴退坡 → 组件毛利率下降", "「补贴退坡压低组件毛利率。」"],
        ),
        (["relate", "阳光电源", "硅料"], ["阳光电源（300274.SZ） 与 硅料", "通威股份 供应 隆基绿能：硅料"]),
        (["relate", "光伏电站", "限产"], ["图谱中没有四步以内的路径"]),
        (["profile", "隆基绿能"], ["隆基绿能（601012.SH）  [公司]", "【生产】", "隆基绿能毛利率 18.3%［2023］"]),
        (["profile", "隆基绿能", "--lang", "en"], ["[company]", "[produces]"]),
        (["passages", "补贴退坡"], ["报告5（示例证券丙，2025-01-15"]),
        (["passages", "火星"], ["未找到相关信息"]),
        (
            ["ask", "硅料价格下跌有什么影响"],
            ["问：硅料价格下跌有什么影响", "理解为：硅料价格", "答：", "「硅料价格下跌，电池片成本下降。」"],
        ),
        (["ask", "硅料怎么样"], ["没有找到直接的答案；相关原文："]),
        (["ask", "硅料怎么样", "--lang", "en"], ["No direct answer found; related passages:"]),
    ],
)
def test_answers_are_printed_with_their_sources(liantu: Liantu, kb: Path, arguments: list[str], shows: list[str]):
    assert liantu(*arguments, "--kb", kb) == 0
    assert [text for text in shows if text not in liantu.out] == []
    assert liantu.err == ""


def test_a_question_that_nothing_answers_says_what_the_base_holds(liantu: Liantu, kb: Path):
    assert liantu("ask", "火星天气", "--kb", kb) == 1
    assert "未找到相关信息" in liantu.out
    assert "库中文档的日期：2024-01-10 至 2025-01-15" in liantu.out
    assert liantu.err == ""


def test_an_answer_as_json_has_the_documented_shape(liantu: Liantu, kb: Path):
    schema = json.loads(
        (Path(__file__).parents[3] / "kg" / "query" / "ask" / "schema.json").read_text(encoding="utf-8")
    )
    for question in ("硅料价格下跌有什么影响", "硅料怎么样"):
        assert liantu("ask", question, "--json", "--kb", kb) == 0
        answer = json.loads(liantu.out)
        assert list(answer) == schema["required"] == list(schema["properties"])
        assert answer["status"] in schema["properties"]["status"]["enum"]
        assert list(answer["understood"]) == schema["properties"]["understood"]["required"]
        for line in (*answer["lines"], *answer["passages"]):
            assert line.keys() == schema["$defs"]["line"]["properties"].keys()
            for citation in line["citations"]:
                assert citation.keys() == schema["$defs"]["citation"]["properties"].keys()


def test_a_base_is_described(liantu: Liantu, kb: Path):
    assert liantu("stats", "--kb", kb) == 0
    assert "文档：5（2024-01-10 … 2025-01-15）" in liantu.out
    assert "隆基绿能（601012.SH）" in liantu.out
    questions = liantu.out.split("可以问：")[1].strip().split("；")
    assert questions
    for question in questions:
        assert liantu("ask", question, "--kb", kb) == 0, question
    assert liantu("stats", "--lang", "en", "--kb", kb) == 0
    assert "Documents: 5" in liantu.out


def test_a_mistyped_command_gets_a_suggestion(liantu: Liantu):
    assert liantu("aks", "x") == 2
    assert "没有命令 'aks'；是不是想用 'ask'？" in liantu.err
    assert liantu("aks", "x", "--lang", "en") == 2
    assert "no command 'aks'; did you mean 'ask'?" in liantu.err


def test_themes_are_listed_and_one_is_shown(liantu: Liantu, kb: Path):
    assert liantu("themes", "--kb", kb) == 0
    first = liantu.out.split()[0]
    assert liantu("theme", first, "--kb", kb) == 0
    assert "个实体" in liantu.out
    assert "「" in liantu.out
    assert liantu("theme", "theme:none", "--kb", kb) == 1
    assert "`liantu themes` 列出全部" in liantu.err


@pytest.mark.parametrize("arguments", QUESTIONS, ids=lambda arguments: arguments[0])
def test_every_answer_is_json_on_demand(liantu: Liantu, kb: Path, arguments: list[str]):
    assert liantu(*arguments, "--json", "--kb", kb) == 0
    answer = json.loads(liantu.out)
    assert answer
    assert liantu(*arguments, "--json", "--kb", kb) == 0
    assert json.loads(liantu.out) == answer


@pytest.mark.parametrize("arguments", QUESTIONS, ids=lambda arguments: arguments[0])
def test_every_command_sees_only_its_day(liantu: Liantu, kb: Path, arguments: list[str]):
    """Before the first document an answer is empty; a question in words and a theme by its id are not found."""
    code = liantu(*arguments, "--as-of", "2024-01-09", "--kb", kb)
    empty = {"passages", "chain", "impact", "causes", "relate", "profile", "themes"}
    assert code == (0 if arguments[0] in empty else 1)
    assert "「" not in liantu.out.replace("「」", "")


@pytest.mark.parametrize("arguments", QUESTIONS, ids=lambda arguments: arguments[0])
def test_a_base_that_cannot_serve_is_one_line_and_exit_4(liantu: Liantu, tmp_path: Path, arguments: list[str]):
    text, newer = tmp_path / "notes.txt", tmp_path / "newer"
    text.write_text("这不是数据库。" * 999, encoding="utf-8")
    with sqlite3.connect(newer) as connection:
        connection.execute("CREATE TABLE other (a)")
    connection.close()
    for path, says in ((tmp_path / "none", "liantu ingest"), (tmp_path, "是文件夹"), (text, ""), (newer, "")):
        assert liantu(*arguments, "--kb", path) == 4, path
        assert liantu.out == ""
        assert liantu.err.startswith(f"liantu：{path}：")
        assert liantu.err.count("\n") == 1
        assert says in liantu.err
    assert not (tmp_path / "none").exists()
    assert text.read_text(encoding="utf-8").startswith("这不是数据库。")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["chain", "火星"], 1, "nothing is called “火星”"),
        (["profile", "隆基绿"], 1, "similar names: 隆基绿能"),
        (["relate", "硅料", "火星"], 1, "nothing is called “火星”"),
        (["themes", "--as-of", "2024-02-15"], 1, "liantu weekly"),
        (["chain"], 2, "Missing argument"),
        (["chain", "硅料", "--depth", "9"], 2, "9 is not in the range"),
        (["chain", "硅料", "--depth", "x"], 2, "not a valid integer"),
        (["impact", "硅料", "--direction", "sideways"], 2, "'sideways' is not one of"),
        (["ask", "硅料", "--as-of", "2024-13-45"], 2, "is not a day like 2025-12-31"),
        (["ask", "硅料", "--as-of", "昨天"], 2, "is not a day like 2025-12-31"),
        (["ask", "硅料", "--lang", "fr"], 2, "'fr' is not one of"),
        (["passages", "硅料", "--limit", "0"], 2, "not in the range"),
        (["ask", "\udcff"], 2, "not valid UTF-8"),
        (["ask", "硅料", "--no-such"], 2, "No such option"),
        (["fly"], 2, "No such command"),
    ],
)
def test_a_mistake_is_reported_in_words(
    liantu: Liantu, kb: Path, monkeypatch: pytest.MonkeyPatch, *, arguments: list[str], code: int, says: str
):
    arguments = [*arguments, *(["--kb", str(kb)] if arguments != ["fly"] else [])]
    assert liantu(*arguments) == code
    assert liantu.out == ""
    assert re.search(r"[\u4e00-\u9fff]{2}", liantu.err.partition("liantu：")[2])
    assert not re.search(r"[a-z]+ (?:is|a|the|not) [a-z]+", liantu.err)
    monkeypatch.setenv("KG_LANG", "en")
    assert liantu(*arguments) == code
    assert says in liantu.err


@pytest.mark.parametrize("arguments", [each for each in QUESTIONS if each[0] != "passages"], ids=lambda each: each[0])
def test_an_answer_is_in_one_language(liantu: Liantu, kb: Path, arguments: list[str]):
    """Names, titles of documents and themes, and quotes stay as they are; all else is of the language asked for."""
    with closing(open_store(kb)) as store:
        view = store.view()
        names = {each.name for each in view.entities()} | {head.title for head in view.documents()}
        names |= {head.publisher for head in view.documents()} | {each for each, _ in view.names()}
        run = view.run()
        assert run is not None
        names |= {each.summary.title for each in run.communities if each.summary}
    said = {}
    for lang in ("en", "zh"):
        assert liantu(*arguments, "--kb", kb, "--lang", lang) == 0
        lines = [line for line in liantu.out.splitlines() if not line.startswith(("Question", "问"))]
        text = re.sub("“[^”]*”|「[^」]*」", "", "\n".join(lines))
        for name in sorted(names, key=len, reverse=True):
            text = text.replace(name, "") if len(name) > 1 else text
        said[lang] = text
    assert not re.search(r"[\u4e00-\u9fff：；（）【】]", said["en"]), said["en"]
    assert not re.search(r"[A-Za-z]+ [a-z]+ [a-z]+", said["zh"]), said["zh"]


def test_each_kind_of_fault_has_its_exit_code():
    faults = {
        UnknownName("甲"): 1,
        EmptyBase(): 1,
        SettingsError("kb", "bad"): 2,
        VocabularyError("line 1", "bad"): 2,
        DocumentError("a.pdf", "broken", "mend it"): 3,
        StoreLocked(Path("kb")): 4,
    }
    assert {fault: exit_code(fault) for fault in faults} == faults


def test_settings_stand_in_for_options(liantu: Liantu, kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "liantu.toml").write_text(f'kb = "{kb}"\nlang = "en"\n', encoding="utf-8")
    assert liantu("profile", "隆基绿能") == 0
    assert "[company]" in liantu.out
    monkeypatch.setenv("KG_LANG", "zh")
    assert liantu("profile", "隆基绿能") == 0
    assert "[公司]" in liantu.out
    monkeypatch.setenv("KG_LANG", "fr")
    assert liantu("profile", "隆基绿能") == 2
    assert liantu.err == "liantu：设置 lang：'fr' 不在 zh, en 之内\n"
    assert liantu("profile", "隆基绿能", "--lang", "zh", "--kb", kb, "--min-confidence", "0") == 0
    assert liantu("profile", "--help") == 0


def test_without_any_base_the_default_is_named(liantu: Liantu):
    assert liantu("ask", "硅料") == 4
    assert liantu.err.startswith("liantu：kb.liantu：这里没有知识库")


def test_help_names_every_command_and_loads_it(liantu: Liantu):
    assert liantu("--help") == 0
    listed = set(re.findall(r"^  ([a-z]+)  ", liantu.out.split("从这里开始：")[1], flags=re.MULTILINE))
    assert {"ingest", "weekly", "chain", "impact", "causes", "relate", "profile", "ask", "doctor"} <= listed
    for command in sorted(listed):
        assert liantu(command, "--help") == 0, command
    assert liantu("--version") == 0


# ── weekly ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_weekly_publishes_and_again_carries_all(liantu: Liantu, tmp_path: Path):
    path = tmp_path / "w.liantu"
    filled(solar(), open_store(path, create=True)).close()
    assert liantu("themes", "--kb", path) == 1
    before = datetime.now(UTC)
    assert liantu("weekly", "--kb", path) == 0
    after = datetime.now(UTC)
    assert "2025-01-15：" in liantu.out
    assert "沿用 0" in liantu.out
    assert liantu("weekly", "--kb", path) == 0
    assert "新写 0、" in liantu.out
    with closing(open_store(path)) as store:
        assert store.view(known_at=before).run() is None
        assert store.view(known_at=after).run() == store.view().run() is not None
    assert liantu("weekly", "--as-of", "2024-03-01", "--kb", path) == 0
    assert "2024-03-01：" in liantu.out
    assert liantu("weekly", "--as-of", "2024-04-01", "--lang", "en", "--kb", path) == 0
    assert "2024-04-01: " in liantu.out
    assert not HAN.search(liantu.out + liantu.err)
    assert liantu("weekly", "--dry-run", "--lang", "en", "--kb", path) == 0
    assert "prompt tokens" in liantu.out
    assert not HAN.search(liantu.out)
    assert liantu("weekly", "--as-of", "2020-01-01", "--kb", path) == 1
    assert liantu("weekly", "--as-of", "9999-12-31", "--kb", path) == 2
    assert "is after today" in liantu.err
    assert liantu("weekly", "rollback", "--as-of", "9999-12-31", "--kb", path) == 0
    assert liantu("weekly", "--kb", tmp_path / "none") == 4


def test_weekly_on_an_empty_base_says_what_to_do(liantu: Liantu, tmp_path: Path):
    path = tmp_path / "empty.liantu"
    open_store(path, create=True).close()
    assert liantu("weekly", "--kb", path) == 1
    assert "liantu ingest" in liantu.err


# ── doctor ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_doctor_finds_this_installation_in_order(liantu: Liantu):
    assert liantu("doctor") == 0
    assert "✓ 一切就绪" in liantu.out
    assert "SQLite" in liantu.out
    assert "numpy" in liantu.out
    assert liantu("--lang", "en", "doctor") == 0
    assert "✓ ready" in liantu.out
    assert not HAN.search(liantu.out)


def test_doctor_names_what_is_missing_too_old_or_shadowed(liantu: Liantu, monkeypatch: pytest.MonkeyPatch):
    needs = [
        "numpy>=999",
        "no-such-distribution-of-ours>=1",
        "pytest>=1; extra == 'dev'",
        "tomli>=1; python_version < '3'",
    ]
    monkeypatch.setattr("kg.commands.doctor.requires", lambda _: needs)
    monkeypatch.setattr("liantu._PACKAGES", ("kg", "json", "no_such_package_of_ours"))
    assert liantu("doctor") == 1
    faults = [line for line in liantu.out.splitlines() if line.startswith("✗")]
    assert len(faults) == 4
    for reported in ("numpy", "缺少 no-such-distribution-of-ours", "包 json 来自", "no_such_package_of_ours"):
        assert any(reported in fault for fault in faults)
    monkeypatch.setattr("sqlite3.sqlite_version_info", (3, 8, 0))
    assert liantu("doctor") == 1
    assert "太旧" in liantu.out


# ── the process ────────────────────────────────────────────────────────────────────────────────────────────────────


def ran(
    *arguments: str | bytes | Path, cwd: Path, stdout: IO[bytes] | int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("KG_")}
    code = "from kg.cli import main; main()"
    home = {"PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=clean | home | environment,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )


def test_as_a_process_it_keeps_to_its_exit_codes(kb: Path, tmp_path: Path):
    for code, arguments in (
        (0, ["chain", "硅片", "--kb", kb]),
        (1, ["chain", "火星", "--kb", kb]),
        (2, ["chain", "硅片", "--depth", "0", "--kb", kb]),
        (2, ["ask", b"\xff\xfe", "--kb", kb]),
        (4, ["chain", "硅片", "--kb", tmp_path / "none"]),
    ):
        done = ran(*arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr.decode()
        assert b"Traceback" not in done.stderr


def test_a_console_without_chinese_shows_what_it_can(kb: Path, tmp_path: Path):
    done = ran("profile", "隆基绿能", "--kb", kb, cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"601012.SH" in done.stdout
    assert ran("profile", "火星", "--kb", kb, cwd=tmp_path, PYTHONIOENCODING="ascii").returncode == 1


# ── JSON ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_records_become_plain_objects():
    fact: Any = plain(MARGIN_2023)
    assert (fact["subject"], fact["polarity"]) == (LONGI, "positive")
    assert fact["valid"] == {"start": "2023-01-01", "end": "2024-01-01", "precision": "year"}
    assert fact["value"]["number"] == 18.3
    assert plain(Subgraph((Node(named(LONGI)),)))["nodes"][0]["entity"]["codes"] == ["601012.SH"]
    assert plain({1: (Value(1, "%"), month(2024, 1))})["1"][1]["precision"] == "month"
    assert json.loads(json.dumps(plain(Modality.PLANNED))) == "planned"
    assert plain(None) is None
