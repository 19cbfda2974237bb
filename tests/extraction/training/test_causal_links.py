"""Pairs of a text compete: what a model of links tells of made-up sentences, and that its gradient is one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the train extra is not installed")

from scipy import optimize

from extraction.training.causal_examples import CausalExample
from extraction.training.causal_links import LinkModel, _Task

WARES = ("铜", "铝", "玉米", "生猪", "碳酸锂", "焦煤")
NONE = frozenset[tuple[str, str]]()


def example(text: str, *pairs: tuple[str, str]) -> CausalExample:
    return CausalExample(text, dict.fromkeys(pairs, (NONE, NONE)))


EXAMPLES = [
    each
    for one, other in itertools.permutations(WARES, 2)
    for each in (
        example(f"{one}供应减少，致{other}价格走高，此前{one}需求下降", ("supply down", "price up")),
        example(f"{other}价格走高，{one}供应减少"),
        example(f"{one}价格上涨推高{other}成本", ("price up", "cost up")),
    )
]


@pytest.fixture(scope="module")
def model() -> LinkModel:
    return LinkModel.fit(EXAMPLES)


def test_the_pair_that_is_told_takes_the_most_of_a_text(model):
    first, *others = model.weigh("棉花供应减少，致大豆价格走高，此前棉花需求下降")
    assert first.pair == ("supply down", "price up")
    assert others
    assert first.share > 2 * max(each.share for each in others)


def test_the_shares_leave_room_for_none(model):
    told = model.weigh("棉花价格上涨推高大豆成本")
    untold = model.weigh("大豆价格走高，棉花供应减少")
    assert sum(each.share for each in untold) < sum(each.share for each in told) < 1


def test_where_two_movements_stand_side_by_side_neither_causes_the_other(model):
    assert max(each.log_odds for each in model.weigh("大豆价格走高，棉花供应减少")) < 0
    assert model.weigh("棉花价格上涨推高大豆成本")[0].log_odds > 0


def test_a_text_without_movements_has_no_pairs(model):
    assert model.weigh("今天没有公告") == []


def test_the_gradient_is_that_of_the_loss():
    task = _Task.of(EXAMPLES)
    point = np.random.default_rng(0).normal(scale=0.1, size=task.rows.shape[1] + 2)
    wrong = optimize.check_grad(lambda at: task.loss(at)[0], lambda at: task.loss(at)[1], point)
    assert wrong < 1e-3 * float(np.linalg.norm(task.loss(point)[1]))
