from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.names.bilstm_crf import BiLstmCrf
from extraction.names.ner import KIND_OF_LABEL, Ner, Span, load_ner

SENTENCES = [
    "宁德时代向特斯拉供应磷酸铁锂电池。",
    "贵州茅台董事长丁雄军在北京表示，五粮液与泸州老窖同步提价。",
    "碳酸锂价格环比下跌12%，赣锋锂业、天齐锂业承压。",
    "锂",
]


@pytest.fixture(scope="module")
def ner() -> Ner:
    return load_ner()


def arrays(seed: int = 0, hidden: int = 4, tags: int = 5, vocabulary: int = 9, width: int = 6) -> dict[str, np.ndarray]:
    """A small network with random weights under PyTorch's names."""
    draw = np.random.default_rng(seed)
    shapes = {"embedding.weight": (vocabulary, width), "fc.weight": (tags, 2 * hidden), "fc.bias": (tags,)}
    for layer, way in product((0, 1), ("", "_reverse")):
        shapes[f"lstm.weight_ih_l{layer}{way}"] = (4 * hidden, width if layer == 0 else 2 * hidden)
        shapes[f"lstm.weight_hh_l{layer}{way}"] = (4 * hidden, hidden)
        shapes |= {f"lstm.bias_{side}_l{layer}{way}": (4 * hidden,) for side in ("ih", "hh")}
    shapes |= {"crf.transitions": (tags, tags), "crf.start_transitions": (tags,), "crf.end_transitions": (tags,)}
    return {name: draw.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def oracle(weights: dict[str, np.ndarray], ids: list[int]) -> list[int]:
    """The textbook equations, one character at a time, and every path tried."""
    rows = weights["embedding.weight"][ids].astype(float)
    for layer in (0, 1):
        sides = []
        for way in ("", "_reverse"):
            h = c = np.zeros(weights["lstm.weight_hh_l0"].shape[1])
            out = []
            for row in rows if not way else rows[::-1]:
                bias = weights[f"lstm.bias_ih_l{layer}{way}"] + weights[f"lstm.bias_hh_l{layer}{way}"]
                gates = (
                    weights[f"lstm.weight_ih_l{layer}{way}"] @ row + weights[f"lstm.weight_hh_l{layer}{way}"] @ h + bias
                )
                i, f, g, o = np.split(gates, 4)
                i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
                c = f * c + i * np.tanh(g)
                h = o * np.tanh(c)
                out.append(h)
            sides.append(np.array(out if not way else out[::-1]))
        rows = np.concatenate(sides, axis=1)
    emissions = rows @ weights["fc.weight"].T + weights["fc.bias"]

    def score(path: tuple[int, ...]) -> float:
        total = weights["crf.start_transitions"][path[0]] + weights["crf.end_transitions"][path[-1]]
        total += sum(weights["crf.transitions"][a, b] for a, b in pairwise(path))
        return float(total + sum(emissions[step, tag] for step, tag in enumerate(path)))

    return list(max(product(range(emissions.shape[1]), repeat=len(ids)), key=score))


@given(st.integers(0, 50), st.lists(st.lists(st.integers(0, 8), min_size=1, max_size=5), min_size=1, max_size=5))
def test_the_network_equals_the_textbook(seed: int, sentences: list[list[int]]):
    weights = arrays(seed)
    found = BiLstmCrf(weights).tag([np.array(ids) for ids in sentences])
    assert [path.tolist() for path in found] == [oracle(weights, ids) for ids in sentences]


def test_names_are_found_where_they_stand(ner: Ner):
    found = ner.find(SENTENCES)
    names = [
        {(span.text, KIND_OF_LABEL[span.label].value) for span in spans if span.label in KIND_OF_LABEL}
        for spans in found
    ]
    assert {("宁德时代", "company"), ("特斯拉", "company")} <= names[0]
    assert {("丁雄军", "person"), ("北京", "region")} <= names[1]
    assert {("赣锋锂业", "company"), ("天齐锂业", "company")} <= names[2]
    for sentence, spans in zip(SENTENCES, found, strict=True):
        assert all(sentence[span.start : span.end] == span.text for span in spans)


def test_no_result_depends_on_its_neighbours(ner: Ner):
    texts = [*SENTENCES, "".join(SENTENCES), "Ａ股 ABC 公司", *SENTENCES]
    together = ner.find(texts)
    assert together == [ner.find([text])[0] for text in texts]
    assert together == ner.find(texts[::-1])[::-1]


def test_what_has_no_chinese_has_no_names(ner: Ner):
    assert ner.find(["", "  ", "Tesla 2025", "。，"]) == [[], [], [], []]
    assert ner.find([]) == []


def test_odd_characters_and_long_texts_keep_their_places(ner: Ner):
    text = "İ\U0001f600宁德时代　" + "锂" * 700 + "，" + SENTENCES[0]
    for span in ner.find([text])[0]:
        assert text[span.start : span.end] == span.text


def test_width_and_case_do_not_count(ner: Ner):
    wide, narrow = ner.find(["公司与ＡＢＣ集团合作", "公司与abc集团合作"])
    assert [(s.start, s.end, s.label) for s in wide] == [(s.start, s.end, s.label) for s in narrow]


def test_a_span_is_plain_data():
    assert Span(0, 1, "锂", "MATTER") == Span(0, 1, "锂", "MATTER")
