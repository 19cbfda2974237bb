from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from extraction.documents.table import Table, skeleton_of, table_from_rows, table_from_text
from kg.text.table_rows import placed_rows


def _table() -> Table:
    rows = [["公司", "2023A", "2024E"], ["天齐锂业", "8.1", "9,002"], ["赣锋锂业(002460)", "-5.5%", "（1.2）"]]
    table = table_from_rows(rows, title="图表3：锂盐产能（万吨）", notes=["注：2024年为预测"])
    assert table is not None
    return table


def cells_of(text: str) -> list[list[str]]:
    rows = placed_rows(text, 0, len(text))[1]
    assert all(text[start:end] == cell for row in rows for start, end, cell in row.placed)
    return [list(row.cells) for row in rows]


def test_text_is_title_rows_and_notes():
    assert _table().to_text().split("\n") == [
        "图表3：锂盐产能（万吨）",
        "公司 | 2023A | 2024E",
        "天齐锂业 | 8.1 | 9,002",
        "赣锋锂业(002460) | -5.5% | （1.2）",
        "注：2024年为预测",
    ]


def test_text_is_read_back():
    assert table_from_text(_table().to_text()) == _table()
    assert cells_of("没有表格") == []


def test_the_skeleton_has_heads_and_no_digit():
    skeleton = _table().to_skeleton()
    assert not re.search(r"\d", skeleton)
    assert "锂盐产能（万吨）" in skeleton
    assert "天齐锂业" in skeleton
    assert skeleton_of(_table().to_text()) == skeleton


def test_html_is_escaped():
    table = table_from_rows([["<script>", "b"], ["c", "d&"]], title="<b>")
    assert table is not None
    assert "<script>" not in table.to_html()
    assert "<b>" not in table.to_html()
    assert "d&amp;" in table.to_html()


def test_empty_rows_and_columns_go_and_the_rest_must_be_a_grid():
    table = table_from_rows([["a", "", "b"], [None, None, ""], ["c", "", "d"]])
    assert table == Table("", ("a", "b"), (("c", "d"),))
    assert table_from_rows([["a"], ["b"]]) is None
    assert table_from_rows([]) is None


def test_a_wrapped_head_is_joined():
    table = table_from_rows([["", "2021年底装", "平均每年新"], ["", "机", "增"], ["英国", "12.52", "4.16"]])
    assert table is not None
    assert table.header == ("", "2021年底装机", "平均每年新增")


def test_bars_in_cells_do_not_split_them():
    table = table_from_rows([["a|b", "c"], ["d", "e"]])
    assert table is not None
    assert cells_of(table.to_text()) == [["a｜b", "c"], ["d", "e"]]


CELL = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters="|"), min_size=1, max_size=8
)


@given(
    st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(CELL, min_size=width, max_size=width), min_size=2, max_size=6)
    )
)
def test_any_table_survives_its_text(rows):
    table = table_from_rows(rows)
    assert table is not None
    assert cells_of(table.to_text()) == [list(table.header), *map(list, table.rows)]


@given(st.text(max_size=200))
def test_no_text_breaks_the_skeleton(text):
    assert not re.search(r"[0-9]", skeleton_of(text))
