"""Lines of JSON as rows: the quick reader and Python's own say the same of every line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg.interop.rows.fields import Fault, SourceRow, row_in, row_of, rows_in

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from((*SourceRow.__struct_fields__, "其他", "id")), _VALUES), st.booleans())
def test_every_object_is_read_as_python_reads_it(fields: dict[str, Any], ascii_only: bool):
    line = json.dumps(fields, ensure_ascii=ascii_only)
    assert repr(row_in(line)) == repr(row_of(json.loads(line)))


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('{"value": NaN}', "nan"),
        ('{"value": 1e999}', "inf"),
        ('{"value": 1, "value": 2}', "2"),
        (' {"value": 123456789012345678901234567890} ', "123456789012345678901234567890"),
        ('{"value": "\\ud800"}', "'\\ud800'"),
        ('{"value": 0.1, "other": [{"value": 3}]}', "0.1"),
        ("{}", "None"),
    ],
)
def test_an_odd_line_is_a_row(line: str, value: str):
    assert repr(row_in(line).value) == value


@pytest.mark.parametrize("line", ["", "{", "x", "{'value': 1}", '{"value": 01}', '{"value": 1} x', '{"value": "\t"}'])
def test_what_is_no_json_is_refused(line: str):
    with pytest.raises(ValueError, match=r"."):
        row_in(line)


@pytest.mark.parametrize("line", ["[]", "1", "null", '"x"', "NaN"])
def test_what_is_no_object_is_distinguished(line: str):
    with pytest.raises(TypeError):
        row_in(line)


@given(
    st.lists(
        st.sampled_from(("{}", '{"value":1}', '{"value":2} {"value":3}', '{"value":', "4}", "{", "}", " ", "x", "[]"))
    )
)
def test_many_lines_are_read_as_each_by_itself(lines: list[str]):
    def alone(line: str) -> SourceRow | str:
        try:
            return row_in(line)
        except ValueError:
            return Fault("not valid JSON")
        except TypeError:
            return Fault("not a JSON object")

    assert list(rows_in(lines)) == list(map(alone, lines))
