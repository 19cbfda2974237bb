"""Names of made-up sentences are weighed as arguments, wherever they stand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the train extra is not installed")

from extraction.mentions import shipped_lexicon
from extraction.training.causal_examples import CausalExample
from extraction.training.causal_features import Characters
from extraction.training.causal_names import NameBook, NameModel, weighable

PAIR = ("supply down", "price up")
WARES = ("铜", "铝", "玉米", "生猪", "碳酸锂", "焦煤", "乌龟膏", "蓝石灰")


def example(cause: str, effect: str) -> CausalExample:
    arguments = frozenset({("product", cause)}), frozenset({("product", effect)})
    return CausalExample(f"谈到{effect}，{cause}供应减少，致{effect}价格走高", {PAIR: arguments})


EXAMPLES = [example(cause, effect) for cause, effect in itertools.permutations(WARES, 2)]


@pytest.fixture(scope="module")
def model() -> NameModel:
    return NameModel.fit(EXAMPLES)


def best(model: NameModel, text: str, side: int) -> tuple[str, str]:
    weighed = model.log_odds(Characters(text, shipped_lexicon()), PAIR, side)
    return max(weighed, key=lambda argument: weighed[argument])


def test_a_name_is_weighed_once_wherever_it_stands(model):
    text = "谈到棉花，大豆供应减少，致棉花价格走高"
    assert best(model, text, 0) == ("product", "大豆")
    assert best(model, text, 1) == ("product", "棉花")


def test_names_that_only_the_labels_know_are_weighed(model):
    names = weighable(Characters("乌龟膏供应减少，致蓝石灰价格走高", shipped_lexicon()), PAIR, 0, book=model.book)
    assert {"乌龟膏", "蓝石灰"} <= {each.name for each in names}


def test_a_book_leaves_out_the_text_that_is_learnt():
    book = NameBook.of([example("铜", "铝"), example("铜", "乌龟膏")])
    assert book.record("铜") == ((2, 0, 0), 2)
    assert book.record("铜", example("铜", "铝")) == ((1, 0, 0), 1)
    assert book.record("乌龟膏", example("铜", "乌龟膏")) == ((0, 0, 0), 0)
    assert book.record("玉米") == ((0, 0, 0), 0)


def test_a_role_without_examples_is_never_told(model):
    weighed = model.log_odds(Characters(EXAMPLES[0].text, shipped_lexicon()), PAIR, 0)
    assert all(odds < -20 for (role, _), odds in weighed.items() if role != "product")


def test_it_comes_back_as_it_was_stored(model):
    again = NameModel.of(model.arrays())
    np.testing.assert_array_equal(again.fitted, model.fitted)
    assert again.book.record("铜") == model.book.record("铜")
    assert best(again, "谈到棉花，大豆供应减少，致棉花价格走高", 0) == ("product", "大豆")


def test_texts_without_arguments_give_a_model_that_tells_none():
    silent = NameModel.fit([CausalExample("铜供应减少，致铝价格走高", {PAIR: (frozenset(), frozenset())})])
    weighed = silent.log_odds(Characters("铜供应减少，致铝价格走高", shipped_lexicon()), PAIR, 0)
    assert weighed
    assert max(weighed.values()) < -20
