import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from extraction.text.similarity import code_points, fold, hash_grams, vectorise

SENTENCES = st.lists(st.text(alphabet="碳酸锂价格下跌组件涨A1，。 ", max_size=20), max_size=12)


def oracle(texts: list[str]) -> list[list[float]]:
    """TF-IDF with dictionaries."""
    bags = [Counter(f[i : i + n] for n in (1, 2, 3) for i in range(len(f) - n + 1)) for f in map(fold, texts)]
    spread = Counter(gram for bag in bags for gram in bag)
    vectors = [{g: (1 + math.log(c)) * math.log((1 + len(texts)) / spread[g]) for g, c in bag.items()} for bag in bags]
    norms = [math.sqrt(sum(w * w for w in v.values())) or 1 for v in vectors]
    return [
        [
            sum(w * b.get(g, 0) for g, w in a.items() if spread[g] > 1) / m / n
            for b, n in zip(vectors, norms, strict=True)
        ]
        for a, m in zip(vectors, norms, strict=True)
    ]


@given(SENTENCES)
def test_cosines_equal_a_dictionary_implementation(texts: list[str]):
    got = vectorise(texts).cosine(0, len(texts))
    assert got.shape == (len(texts), len(texts))
    np.testing.assert_allclose(got, np.array(oracle(texts)).reshape(got.shape), atol=1e-3)


@given(SENTENCES, st.integers(0, 12), st.integers(0, 12))
def test_a_window_is_a_part_of_the_whole(texts: list[str], a: int, b: int):
    start, stop = sorted((min(a, len(texts)), min(b, len(texts))))
    vectors = vectorise(texts)
    whole = vectors.cosine(0, len(texts))[start:stop, start:stop]
    np.testing.assert_allclose(vectors.cosine(start, stop), whole, atol=2e-4)


def test_a_theme_draws_sentences_together():
    texts = ["碳酸锂价格下跌12%。", "碳酸锂价格环比下跌34%。", "白酒动销平淡。", "公司回购股份。"]
    cosine = vectorise(texts).cosine(0, 4)
    assert cosine[0, 1] > 0.4
    assert cosine[0, 2] == cosine[2, 3] == 0


def test_hashes_are_the_same_on_every_machine():
    hashes = hash_grams(code_points("锂电池"), 2)
    assert [int(value) for value in hashes] == [10014291630542373679, 15687137344716395789]
