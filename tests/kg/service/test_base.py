from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

import liantu
from kg.cli import root
from kg.errors import StoreMissing
from kg.model import Run
from kg.query.questions.registry import question
from kg.query.themes.listing import NoRun
from kg.service.base import KnowledgeBase, open_kb
from tests.kg.query.world import PV, SILICON, claim, filled, paper

if TYPE_CHECKING:
    from pathlib import Path


def test_each_question_is_answered(kb: KnowledgeBase):
    assert kb.chain("光伏").topic.id == PV
    assert kb.chain("硅料", depth=1).topic.id == SILICON
    assert kb.impact("硅料价格", direction=-1).paths
    assert kb.causes("组件毛利率").paths
    assert kb.relate("通威股份", "隆基绿能").paths
    assert kb.profile("隆基绿能").links
    assert kb.passages("硅料", limit=1)[0].title.startswith("报告")
    assert kb.ask("光伏产业链上下游有哪些公司？").status == "answered"


def test_an_answer_as_a_dictionary_is_what_the_command_line_prints(kb: KnowledgeBase, tmp_path: Path):
    answers = {"chain": kb.chain("光伏"), "ask": kb.ask("光伏产业链上下游有哪些公司？")}
    for command, argument in (("chain", "光伏"), ("ask", "光伏产业链上下游有哪些公司？")):
        asked = [command, argument, "--kb", str(tmp_path / "kb.liantu"), "--json"]
        printed = json.loads(CliRunner().invoke(root, asked).stdout)
        assert printed == json.loads(json.dumps(answers[command].to_dict()))
    assert answers["ask"].to_dict()["schema"] == 1


def test_an_answer_is_one_line_where_a_program_shows_it(kb: KnowledgeBase):
    """Notebooks keep the `repr` of what they show."""
    shown = repr(kb.chain("光伏"))
    assert shown.startswith("ChainAnswer(topic='光伏', layers=<")
    assert "links=<" in shown
    assert all(
        len(repr(each)) < 600
        for each in (kb.profile("通威股份"), kb.facts(), kb.impact("硅料价格"), kb.ask("谁生产硅料？"))
    )


def test_a_question_as_of_a_day_sees_nothing_published_later(kb: KnowledgeBase):
    assert not kb.chain("光伏", as_of=date(1999, 1, 1)).graph.links
    assert kb.passages("硅料", as_of=date(1999, 1, 1)) == []


def test_facts_below_the_threshold_support_no_answer(kb: KnowledgeBase):
    assert kb.profile("隆基绿能", min_confidence=0).links
    assert KnowledgeBase(kb.store, min_confidence=1.01).profile("隆基绿能").links == ()


def test_themes_need_a_run(kb: KnowledgeBase):
    with pytest.raises(NoRun):
        kb.themes()
    with kb.store.writer() as writer:
        writer.publish(Run("run:1", date(2024, 6, 1), ()))
    assert kb.themes() == ()


def test_threads_share_one_base_while_it_is_written(kb: KnowledgeBase):
    def questions(_: int) -> tuple[object, ...]:
        return kb.chain("光伏"), kb.profile("隆基绿能"), kb.ask("硅料的下游有哪些？").status

    before = questions(0)
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(questions, number) for number in range(32)]
        filled([paper(99, "2025-01-01", ("甲用于乙。", claim("product:甲", "upstream_of", "product:乙")))], kb.store)
        found = [future.result() for future in futures]
    assert {answer[2] for answer in found} == {before[2]}
    assert all(answer[:2] == before[:2] for answer in found)


def test_a_session_answers_on_one_state(kb: KnowledgeBase):
    asked = question("chain").asked("硅料")
    with kb.session() as session:
        before = asked.answer(session)
        with kb.store.writer() as writer:
            writer.write(paper(70, "2024-09-01", ("硅料用于靶材。", claim(SILICON, "upstream_of", "product:靶材"))))
        assert asked.answer(session) == before
    assert kb.chain("硅料") != before


def test_wordings_follow_the_language(kb: KnowledgeBase):
    chinese, english = (KnowledgeBase(kb.store, lang=lang).profile("通威股份").links[0] for lang in ("zh", "en"))
    assert chinese.relation == english.relation
    assert chinese.wording != english.wording


def test_a_base_that_is_not_there_is_not_created(tmp_path: Path):
    with pytest.raises(StoreMissing):
        open_kb(tmp_path / "none.liantu")


def test_the_public_module_names_what_is_there():
    assert liantu.open_kb is open_kb
    for name in liantu.__all__:
        assert getattr(liantu, name).__name__ == name
    assert dir(liantu) == liantu.__all__
    with pytest.raises(AttributeError, match="no attribute 'open_base'"):
        _ = liantu.open_base


def test_a_question_does_not_load_the_extractor():
    code = "import sys, liantu; liantu.open_kb; assert not {'extraction', 'communities'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
