from __future__ import annotations

from benchmarks.training.gold import find_name


def test_a_name_is_found_exactly_or_by_likeness_or_in_two_parts():
    text = "周报▸生猪行业▸国内供给收缩，带动生猪的价格回升。"
    body = text.index("国内")
    assert find_name("国内供给", text, body) == (3.0, (body, body + 4), None)
    how, span, scope = find_name("国内供给端收缩", text, body) or (0, (0, 0), None)
    assert (how > 0, text[slice(*span)], scope) == (True, "国内供给收缩", None)
    how, span, scope = find_name("生猪供给", text, body) or (0, (0, 0), (0, 0))
    assert (how, text[slice(*span)], text[slice(*(scope or (0, 0)))]) == (2.5, "供给", "生猪")
