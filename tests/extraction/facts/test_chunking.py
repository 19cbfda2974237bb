from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.facts.chunking import ChunkOptions, chunk_document
from kg.model import Block, BlockKind, Chunk, ChunkKind, Document, Removed

OPTIONS = ChunkOptions(window=20, shortest=10, longest=60)
KINDS = [BlockKind.PARAGRAPH, BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.HEADING, BlockKind.TABLE]
SENTENCE = st.text(alphabet="碳酸锂价格下跌组件上涨白酒动销1A，：。。\n ", min_size=1, max_size=50)


def document_of(*parts: tuple[str, str]) -> Document:
    """Build a document from (mark, text): # ## headings, - items, | tables, x removed, "" paragraphs."""
    text, blocks, removed = "", [], []
    for mark, content in parts:
        start, end = len(text), len(text) + len(content)
        if mark == "x":
            removed.append(Removed(start, end, "footer"))
        elif mark.startswith("#"):
            blocks.append(Block(start, end, BlockKind.HEADING, len(mark)))
        else:
            kind = {"-": BlockKind.ITEM, "|": BlockKind.TABLE}.get(mark, BlockKind.PARAGRAPH)
            blocks.append(Block(start, end, kind, html="<table></table>" if mark == "|" else ""))
        text += content + "\n"
    return Document(
        "doc:1", "题目", date(2025, 6, 4), text, blocks=tuple(blocks), removed=tuple(removed), pages=(0, 30)
    )


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    marks = st.sampled_from(["#", "##", "###", "-", "-", "|", "x", "", "", ""])
    return document_of(
        *draw(st.lists(st.tuples(marks, st.lists(SENTENCE, min_size=1, max_size=6).map("".join)), max_size=12))
    )


@given(documents())
def test_chunks_are_cut_out_of_the_document_and_cover_it(document: Document):
    chunks = chunk_document(document, OPTIONS)
    at = 0
    covered = set()
    for chunk in chunks:
        assert at <= chunk.start < chunk.end
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.kind is ChunkKind.TABLE or chunk.end - chunk.start <= OPTIONS.longest
        assert not any(gone.start < chunk.end and chunk.start < gone.end for gone in document.removed)
        walls = [b for b in document.blocks if b.kind in (BlockKind.HEADING, BlockKind.TABLE)]
        inside = [b for b in walls if b.start < chunk.end and chunk.start < b.end]
        assert all(b.start <= chunk.start and chunk.end <= b.end for b in inside)
        at = chunk.end
        covered.update(range(chunk.start, chunk.end))
    for block in document.blocks:
        if block.kind is not BlockKind.HEADING:
            assert all(at in covered or document.text[at].isspace() for at in range(block.start, block.end))
    assert chunk_document(document, OPTIONS) == chunks
    assert len({chunk.id for chunk in chunks}) == len(chunks)


def test_headings_are_walls_and_give_the_path():
    document = document_of(
        ("#", "# 一、锂电"),
        ("##", "## 1. **碳酸锂**"),
        ("", "碳酸锂价格下跌。"),
        ("##", "## 2. 隔膜"),
        ("", "碳酸锂价格下跌。"),
    )
    first, second = chunk_document(document)
    assert (first.heading, second.heading) == (("一、锂电", "1.碳酸锂"), ("一、锂电", "2.隔膜"))
    assert first.meta == "题目 · 2025-06-04 · 一、锂电 › 1.碳酸锂"
    assert first.search_text == "一、锂电\n1.碳酸锂\n碳酸锂价格下跌。"
    assert (first.page, second.page) == (1, 2)


def test_a_heading_with_nothing_below_is_a_chunk():
    document = document_of(("#", "黄金：金价推高矿企利润"), ("#", "白银"), ("##", "供给"), ("", "银矿减产。"))
    assert texts(chunk_document(document)) == ["黄金：金价推高矿企利润", "银矿减产。"]


def test_one_theme_stays_together_and_the_next_begins_anew():
    lithium = "碳酸锂价格环比下跌12%。碳酸锂库存价格承压。碳酸锂价格下跌使锂盐厂亏损。"
    liquor = "白酒动销平淡。白酒批价动销平淡。名优白酒批价稳定。"
    document = document_of(("", lithium), ("", liquor))
    assert texts(chunk_document(document, ChunkOptions(shortest=20))) == [lithium, liquor]


def test_a_gap_between_two_of_a_theme_is_filled():
    text = "碳酸锂价格环比下跌12%。天气转凉需求走弱明显。碳酸锂价格继续环比下跌3%。"
    document = document_of(("", text), ("", "名优白酒批价稳定，动销平淡，渠道观望。"))
    assert texts(chunk_document(document, ChunkOptions(shortest=10)))[0] == text


def test_a_long_theme_is_cut_at_its_weakest_link():
    lithium = [f"碳酸锂价格第{n}周环比下跌。" for n in "一二三"]
    liquor = [f"白酒批价第{n}周动销平淡。" for n in "一二三"]
    document = document_of(("", "".join(lithium + liquor)))
    options = ChunkOptions(shortest=10, longest=60, likeness=0.01)
    assert texts(chunk_document(document, options)) == ["".join(lithium), "".join(liquor)]


def test_a_label_joins_its_neighbour_and_items_their_lead_in():
    document = document_of(
        ("", "硅料价格上涨带动组件价格上涨。"),
        ("", "风险提示："),
        ("-", "政策不及预期"),
        ("-", "汇率"),
        ("", "单位：万元"),
    )
    options = ChunkOptions(shortest=6)
    assert texts(chunk_document(document, options)) == [
        "硅料价格上涨带动组件价格上涨。",
        "风险提示：\n政策不及预期\n汇率\n单位：万元",
    ]


def test_a_bold_title_goes_with_what_follows():
    gold = "美国财政赤字扩大，信用弱化。央行购金243.7吨。"
    document = document_of(("", gold), ("", "**白银：供需缺口修复**"), ("", "白银库存处于低位，供给减少。"))
    texts_found = texts(chunk_document(document, ChunkOptions(shortest=10)))
    assert texts_found == [gold, "**白银：供需缺口修复**\n白银库存处于低位，供给减少。"]


def test_one_sentence_too_long_is_cut_after_a_clause():
    document = document_of(("", "甲" * 40 + "，" + "乙" * 40))
    assert texts(chunk_document(document, OPTIONS)) == ["甲" * 40 + "，", "乙" * 40]


def test_a_table_is_one_chunk_without_digits_for_search():
    table = "表1：价格\n产品 | 2024年价格\n硅料① | 3.5\n注：含税，单位为12%"
    chunk = chunk_document(document_of(("#", "1. 2025Q1价格"), ("|", table)))[0]
    assert (chunk.kind, chunk.text, chunk.html) == (ChunkKind.TABLE, table, "<table></table>")
    assert not any(char.isdigit() for char in chunk.search_text)
    assert all(word in chunk.search_text for word in ("Q价格", "产品", "年价格", "硅料", "含税"))


def test_removed_stretches_are_walls():
    document = document_of(("", "硅料价格上涨。"), ("x", "请阅读免责声明"), ("", "硅料价格上涨。"))
    assert texts(chunk_document(document)) == ["硅料价格上涨。", "硅料价格上涨。"]


def test_a_document_without_blocks_is_read_whole():
    document = Document(
        "doc:1", "题目", date(2025, 6, 4), "硅料涨价。免责声明。", removed=(Removed(5, 10, "disclaimer"),)
    )
    assert texts(chunk_document(document)) == ["硅料涨价。"]


@pytest.mark.parametrize("sentence", ["碳酸锂价格下跌。", "a。", "12。"])
def test_hostile_repetition_ends_soon(sentence: str):
    assert len(chunk_document(document_of(("", sentence * 3000)))) > 1
