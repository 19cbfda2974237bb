"""The commands: what is asked, paid and written; faults; batch files; and what a kill costs."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from extraction.llm import job
from kg.cli import EXIT_MODEL, root
from kg.errors import KgError
from kg.judgement import Verdict
from kg.securities.master import Master
from kg.store.open import open_store
from tests.extraction.llm.killing import killed_runs
from tests.goldens import reports
from tests.kg.llm.endpoint import completion, resets, says, serving, stalls, status

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

pytest.importorskip("openai")

_LOAD = Master.load
_LINE = re.compile(r"^(\d+)[#-]* (.*)", re.MULTILINE)
NOTES = {
    "a.md": ("2025-08-20", ["碳酸锂价格下跌，电池成本随之下降，电池企业毛利率回升。", "恩捷股份向宁德时代供应隔膜。"]),
    "b.md": ("2025-08-21", ["硅料价格上涨，组件价格随之上升，电站装机受到压制。", "隆基绿能布局光伏组件。"]),
    "c.md": ("2025-08-22", ["生猪价格上涨，带动动物疫苗需求上升，利好疫苗企业。", "牧原股份布局生猪养殖。"]),
}
_FIXED = {
    "碳酸锂价格下跌": "{}|碳酸锂价格|affects|电池成本|dd|",
    "硅料价格上涨": "{}|硅料价格|affects|组件价格|uu|",
    "生猪价格上涨": "{}|生猪价格|affects|动物疫苗需求|uu|",
}


@cache
def master() -> Master:
    return _LOAD(None)


def answer(prompt: str) -> str:
    """Read one edge from the first line of each note, and claim another that the text does not have."""
    found = [
        form.format(number) for number, text in _LINE.findall(prompt) for cue, form in _FIXED.items() if cue in text
    ]
    return "\n".join([*found, "0|贵州茅台|acquires|五粮液||"])


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a base of three notes, read by the rules alone."""
    # Do not load the master and build an extractor for every command in this process.
    monkeypatch.setattr(job.Extractor, "default", lambda **given: reports.extractor(given["min_confidence"]))
    monkeypatch.setattr(job.Master, "load", lambda _: master())
    for name, value in {"KG_NER": "off", "KG_EDGE_MODEL": "off", "KG_WORKERS": "1", "KG_LLM_MODEL": "small"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for name, (day, lines) in NOTES.items():
        text = "\n\n".join(lines)
        (tmp_path / name).write_text(f"---\ntitle: 周报{name}\npublishedAt: {day}\n---\n{text}\n", encoding="utf-8")
    call("ingest", *NOTES)
    return tmp_path / "kb.liantu"


def call(*arguments: str, code: int = 0, **environment: str) -> Result:
    given = {f"KG_{name.upper()}": value for name, value in environment.items()}
    with ThreadPoolExecutor(1) as thread:  # the browser tests of the same process leave a running event loop behind
        result = thread.submit(CliRunner(env=given).invoke, root, [*arguments]).result()
    if code < EXIT_MODEL:
        assert result.exit_code == code, result.output + repr(result.exception)
    else:
        assert isinstance(result.exception, KgError)
    return result


def run(url: str, *arguments: str, code: int = 0, **environment: str) -> str:
    return call("llm", "run", "--min-gain", "0", *arguments, code=code, llm_url=url, **environment).output


def model_facts(base: Path) -> set[tuple[str, str, str]]:
    store = open_store(base)
    try:
        facts = [fact for head in store.view().documents() for fact in (store.reading(head.id)).facts]  # type: ignore[union-attr]
    finally:
        store.close()
    return {
        (fact.subject, fact.relation, fact.object)
        for fact in facts
        if any(item.extractor.startswith("llm/small@edges-1") for item in fact.evidence)
    }


ALL = {
    ("indicator:碳酸锂价格", "affects", "indicator:锂电池成本"),
    ("indicator:硅料价格", "affects", "indicator:光伏组件价格"),
    ("indicator:生猪价格", "affects", "indicator:动物疫苗需求"),
}


def test_a_run_asks_once_writes_what_holds_and_counts_what_does_not(base: Path):
    with serving(answer) as server:
        first = run(server.url)
        again = run(server.url)
        assert len(server.bodies) == 3
    assert model_facts(base) == ALL
    assert "其中 3 条事实由模型读出" in first
    assert "未通过核对 3 条：名称不在所引之处 3" in first
    assert "预计提问 0 次" in again
    assert "0 篇重读并写入，3 篇没有变化" in again
    assert "small：3 份回复，21 token 提问，9 token 回答" in call("llm", "status").output
    status = call("llm", "status", "--lang", "en").output
    assert "small: 3 replies, 21 prompt tokens, 9 reply tokens" in status
    assert "3 refused: name not in the quote 3" in status
    assert not re.search(r"[\u4e00-\u9fff]", status)
    call("check")


@pytest.mark.usefixtures("base")
def test_forgetting_restores_the_base_and_applying_brings_it_back():
    before = dumped()
    with serving(answer) as server:
        run(server.url)
    after = dumped()
    assert after != before
    call("llm", "forget")
    assert dumped() == before
    call("llm", "apply")
    assert dumped() == after


def dumped() -> list[Any]:
    rows = [json.loads(line) for line in call("dump").output.splitlines()]
    return sorted((row for row in rows if row["type"] != "end"), key=json.dumps)


def test_a_dry_run_asks_nothing_and_names_the_price(base: Path, tmp_path: Path):
    prices = tmp_path / "prices.toml"
    prices.write_text('[small]\nprompt = 1000000.0\nreply = 0.0\ncurrency = "元"\n', encoding="utf-8")
    with serving(answer) as server:
        output = run(server.url, "--dry-run", llm_prices=str(prices))
        assert server.bodies == []
    prompt = re.search(r"约 ([\d,]+) token 提问", output)
    assert prompt is not None
    assert f"约 {float(prompt[1].replace(',', '')):.4g} 元" in output
    assert model_facts(base) == set()


def test_limits_stop_cleanly_and_the_next_run_goes_on(base: Path):
    dear = {**completion("无"), "usage": {"prompt_tokens": 900, "completion_tokens": 1}}
    with serving(answer, script=[says(dear)]) as server:
        output = run(server.url, "--max-tokens", "1000", "--parallel", "1")
        assert len(server.bodies) == 1
        assert "到限，还有 2 个未问" in output
        run(server.url)
        assert len(server.bodies) == 3
    assert len(model_facts(base)) == 2


def test_a_cost_needs_a_price(base: Path):
    result = call("llm", "run", "--kb", str(base), "--max-cost", "1", code=5, llm_url="http://127.0.0.1:1/v1")
    assert "has no price of small" in str(result.exception)


def test_a_failed_pack_keeps_its_local_facts_and_is_asked_again_on_demand(base: Path):
    local = dumped()
    with serving(answer, script=[status(400, message="no")] * 3) as server:
        output = run(server.url, code=3)
        assert "失败 3 次" in output
        assert dumped() == local
        assert "3 个失败" in call("llm", "status").output
        assert "曾失败 3" in run(server.url)
        assert len(server.bodies) == 3
        run(server.url, "--retry-failed")
    assert model_facts(base) == ALL
    assert "0 个失败" in call("llm", "status").output


def test_faults_on_the_way_change_nothing_in_the_end(base: Path):
    script = [
        resets,
        status(503),
        says("{"),
        says(completion("")),
        stalls(0.1),
        status(429, headers={"Retry-After": "0"}),
    ]
    with serving(answer, script=script) as server:
        run(server.url)
        assert len(server.bodies) == 3 + len(script)
    assert model_facts(base) == ALL


def test_a_refused_key_ends_the_run_with_one_line(base: Path):
    with serving(script=[status(401, message="bad key sk-abcdef")] * 9) as server:
        result = call(
            "llm", "run", "--min-gain", "0", "--parallel", "1", code=5, llm_url=server.url, llm_key="sk-abcdef"
        )
        assert len(server.bodies) == 1
    assert "the key is refused" in str(result.exception)
    assert "abcdef" not in result.output + str(result.exception)
    assert model_facts(base) == set()


def test_keys_are_in_no_file(base: Path):
    with serving(answer, script=[status(400, message="key sk-verysecret99 is wrong")]) as server:
        run(server.url, code=3, llm_key="sk-verysecret99")
    assert not [path for path in base.parent.iterdir() if b"verysecret" in path.read_bytes()]


def test_a_pack_that_is_too_long_is_split(base: Path, tmp_path: Path):
    long = "\n\n".join(f"第{n}周，碳酸锂价格下跌，电池成本随之下降。库存升至{n}万吨，需求平稳。" for n in range(20))
    (tmp_path / "d.md").write_text(f"---\ntitle: 长\npublishedAt: 2025-08-23\n---\n{long}\n", encoding="utf-8")
    call("ingest", "d.md")
    with serving(answer, script=[status(400, kind="context_length_exceeded")]) as server:
        output = run(server.url, "--document", "d.md")
        assert len(server.bodies) == 3
        run(server.url, "--document", "d.md")
        assert len(server.bodies) == 3
    assert "拆分 1 次" in output
    assert ("indicator:碳酸锂价格", "affects", "indicator:锂电池成本") in model_facts(base)


def test_a_batch_goes_out_and_comes_back_from_any_origin(base: Path, tmp_path: Path):
    call("llm", "export-batch", "asked.jsonl", "--model", "small", "--min-gain", "0")
    asked = [json.loads(line) for line in (tmp_path / "asked.jsonl").read_text("utf-8").splitlines()]
    assert {row["url"] for row in asked} == {"/v1/chat/completions"}
    assert all(re.fullmatch(r"liantu-[0-9a-f]{32}", row["custom_id"]) for row in asked)
    texts = [answer(row["body"]["messages"][-1]["content"]) for row in asked]
    rows: list[Any] = [
        {"custom_id": asked[0]["custom_id"], "response": {"status_code": 200, "body": completion(texts[0])}},
        {"custom_id": asked[1]["custom_id"], "result": {"type": "succeeded", "message": {
            "content": [{"type": "text", "text": texts[1]}], "usage": {"input_tokens": 5, "output_tokens": 2}}}},
        {"custom_id": "somebody-elses", "content": "x"},
        {"custom_id": asked[2]["custom_id"], "error": {"message": "expired"}, "response": None},
    ]  # fmt: skip
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    (tmp_path / "back.jsonl").write_text("\n".join([*lines, "{", ""]), encoding="utf-8")
    output = call("llm", "import-batch", "back.jsonl", code=3).output
    assert "2 份新回复，0 份已有，3 行不可用" in output
    assert len(model_facts(base)) == 2
    (tmp_path / "rest.jsonl").write_text(json.dumps({"custom_id": asked[2]["custom_id"], "content": texts[2]}), "utf-8")
    call("llm", "import-batch", "rest.jsonl")
    assert model_facts(base) == ALL
    assert "0 份新回复，1 份已有" in call("llm", "import-batch", "rest.jsonl").output
    with serving(answer) as server:
        run(server.url)
        assert server.bodies == []


@pytest.mark.usefixtures("base")
def test_what_is_exported_is_not_asked_over_the_network_meanwhile():
    call("llm", "export-batch", "asked.jsonl", "--model", "small", "--min-gain", "0")
    with serving(answer) as server:
        assert "已导出 3" in run(server.url)
        assert server.bodies == []


@pytest.mark.parametrize("mode", ["text", "json", "tool"])
@pytest.mark.parametrize("stream", ["off", "on"])
def test_every_mode_gives_the_same_facts(base: Path, mode: str, stream: str):
    with serving(lambda prompt: json.dumps({"edges": answer(prompt).splitlines()}, ensure_ascii=False)) as server:
        run(server.url, llm_mode=mode, llm_stream=stream)
    assert model_facts(base) == ALL


def test_a_model_judges_facts_and_its_verdicts_can_be_revoked(base: Path):
    with serving(answer) as server:
        run(server.url)
    said = {"电池成本": "right|原文如此", "光伏组件价格": "wrong|原文没有说", "动物疫苗需求": "相近|方向不明"}

    def judge(prompt: str) -> str:
        rows = re.findall(r"^(\d+) 陈述：(.*)", prompt, flags=re.MULTILINE)
        return "\n".join(f"{n}|{word}" for n, text in rows for name, word in said.items() if name in text)

    with serving(judge) as server:
        output = call("verify", "--reader", "llm/", llm_url=server.url).output
        assert len(server.bodies) == 1
        again = call("verify", "--reader", "llm/", llm_url=server.url).output
        assert len(server.bodies) == 1
    assert "3 条有了判断，0 条没有可用的回答" in output
    assert "0 条有了判断" in again
    assert "llm/small@edges-1：3 条，正确率估计 0.73" in call("verify", "--list").output
    call("llm", "apply")  # the reader's record decides how sure its next facts are
    store = open_store(base)
    facts = [fact for fact in store.view().facts(relation="affects") if fact.evidence[0].extractor.startswith("llm/")]
    assert {fact.confidence for fact in facts} == {0.75}
    judgement = next(item for item in store.view().judgements() if item.verdict is Verdict.WRONG)
    store.close()
    assert judgement.id not in call("entity", "list").output
    call("entity", "revoke", judgement.id, "--by", "甲", "--why", "原文说了")
    assert "llm/small@edges-1：2 条" in call("verify", "--list").output
    call("check")


@pytest.mark.extended
def test_kills_repeat_no_finished_call_and_end_alike(base: Path):
    """`python -m tests.extraction.llm.killing 50` prints the figures of docs/llm.md."""
    outcome = killed_runs(base, times=3, seed=7)
    assert outcome.killed == 3
    assert outcome.repeated == 0
    assert outcome.whole
