from hypothesis import given
from hypothesis import strategies as st

from extraction.text.sentences import normalise, split

ALPHABET = '公司收入增长硅料aBQ19035%％ ,.;:!?()（）“”‘’。！？；，、\n\t　*`-–—～~/１Ａ．\u200b\u00a0[]【】《》"•>+'
TEXTS = st.text(alphabet=ALPHABET, max_size=160)


def texts(source: str) -> list[str]:
    return [sentence.text for sentence in split(source, 0, len(source))]


def test_ends_at_chinese_marks_and_line_ends():
    assert texts("硅料降价。组件涨价！真的？是；好\n单位：万元") == [
        "硅料降价。",
        "组件涨价！",
        "真的？",
        "是；",
        "好",
        "单位：万元",
    ]


def test_does_not_end_inside_brackets_or_quotes():
    assert texts("公司（含子公司；下同。含参股）增长。他说“涨价！涨价？”的人多。") == [
        "公司（含子公司；下同。含参股）增长。",
        "他说“涨价！涨价？”的人多。",
    ]
    assert texts("他说：“明年涨价。”公司没有回应。") == ["他说：“明年涨价。”", "公司没有回应。"]


def test_the_caption_of_a_flattened_figure_is_apart():
    flat = "图3：空调销量资料来源：Wind，某某证券研究所整理2024年空调销量增长。"
    assert texts(flat) == ["图3：空调销量资料来源：Wind，某某证券研究所整理", "2024年空调销量增长。"]


def test_an_unclosed_bracket_swallows_nothing():
    assert len(texts("公司（简称甲。第二句。第三句。")) == 3


def test_does_not_end_after_points_of_numbers_and_abbreviations():
    assert texts("1. 毛利率 3.5 %。2.净利率持平") == ["1.毛利率3.5%。", "2.净利率持平"]
    assert texts("CATL Inc. rose 3.5% in Q1. BYD fell.") == ["CATL Inc. rose 3.5% in Q1.", "BYD fell."]


def test_a_wrapped_line_runs_on_and_a_list_does_not():
    wrapped = "我们认为公司作为全球领先的动力电池企业有望受益于行业需求的\n持续增长，维持买入评级。"
    assert texts(wrapped) == ["我们认为公司作为全球领先的动力电池企业有望受益于行业需求的持续增长，维持买入评级。"]
    listed = "- 我们认为公司作为全球领先的动力电池企业有望受益于行业需求\n- 维持买入"
    assert len(texts(listed)) == 2


def test_markup_belongs_to_the_sentence_it_closes():
    source = "**硅料降价。**组件涨价。"
    first, second = split(source, 0, len(source))
    assert (source[first.start : first.end], first.text) == ("**硅料降价。**", "硅料降价。")
    assert second.text == "组件涨价。"
    assert split("** **", 0, 5) == []


def test_normal_spelling():
    cases = {
        "营收 １，２３４ 与 1,234.5 亿元": "营收1，234与1234.5亿元",
        "布伦特 70.5 美元 / 桶": "布伦特70.5美元/桶",
        "增长12%,其中(2024Q1):好": "增长12%，其中（2024Q1）：好",
        "PD-L1/4-1BB 双抗, 比例 3:2": "PD-L1/4-1BB双抗，比例3:2",
        "Claudin 18.2 ADC": "Claudin 18.2 ADC",
        "License out (NewCo) model": "License out (NewCo) model",
        "10–20% 与 5%～8% 和 2023 — 2025 年": "10-20%与5%~8%和2023-2025年",
        "- **三生制药** :达成": "三生制药：达成",
        "同比 - 1.3%，环比 + 2%": "同比-1.3%，环比+2%",
        "9 月 1 日 - 9 月 5 日": "9月1日-9月5日",
        "Q1 -5%": "Q1 -5%",
        "Cyborg - R01": "Cyborg - R01",
        "2021,2022年": "2021,2022年",
        "（2024Q1)": "（2024Q1）",
        "`代码` ％ ＡＢＣ": "代码% ABC",
    }
    assert {raw: normalise(raw) for raw in cases} == cases


def test_span_leads_back_to_the_source():
    source = "题目\n公司 **营收** 1,234.5 亿元。"
    sentence = split(source, 3, len(source))[0]
    at = sentence.text.index("1234.5亿元")
    begin, end = sentence.span(at, at + len("1234.5亿元"))
    assert source[begin:end] == "1,234.5 亿元"
    assert sentence.span(2, 2) == (sentence.offsets[2], sentence.offsets[2])


@given(TEXTS)
def test_normalising_twice_changes_nothing(text: str):
    once = normalise(text)
    assert normalise(once) == once
    assert "  " not in once


@given(TEXTS, st.integers(0, 5), st.integers(0, 5))
def test_sentences_lie_in_the_block_in_order_and_cover_it(text: str, before: int, after: int):
    start, end = min(before, len(text)), max(len(text) - after, min(before, len(text)))
    at = start
    left_out = ""
    for sentence in split(text, start, end):
        assert at <= sentence.start < sentence.end <= end
        left_out += text[at : sentence.start]
        at = sentence.end
        source = text[sentence.start : sentence.end]
        assert source == source.strip()
        assert sentence.text == normalise(source) != ""
        assert len(sentence.offsets) == len(sentence.text) + 1
        assert sentence.offsets[-1] == sentence.end
        assert all(a < b for a, b in zip(sentence.offsets, sentence.offsets[1:], strict=False))
        assert sentence.start <= sentence.offsets[0]
    left_out += text[at:end]
    assert not left_out.strip() or not normalise(left_out.strip())


def test_marks_of_notes_are_no_digits():
    assert normalise("营业收入[1]3620¹亿元，同比9.7%²，共20①万辆") == "营业收入3620亿元，同比9.7%，共20万辆"
    assert normalise("面积10万m²，约10⁸个，①营收增长②利润下降") == "面积10万m²，约10⁸个，①营收增长②利润下降"


def test_a_dash_before_an_amount_is_a_minus_sign():
    assert normalise("净利润—70.4亿元，营收5亿元—8亿元") == "净利润-70.4亿元，营收5亿元—8亿元"
    assert normalise("目标——2025年") == "目标——2025年"
