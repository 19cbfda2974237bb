"""Traditional characters become simplified ones, place for place."""

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.tables.simplified import in_simplified_text, read_pairs
from kg.ids import normal_name
from kg.simplified import simplified, table


@given(st.text())
def test_places_stay_and_twice_is_once(text):
    once = simplified(text)
    assert len(once) == len(text)
    assert simplified(once) == once


def test_a_character_of_simplified_text_stays_as_it_is():
    assert simplified("乾照光电著") == "乾照光电著"
    assert not any(in_simplified_text(chr(code)) for code in table())


def test_a_product_has_one_id_in_both_scripts():
    assert normal_name("鋰電池") == normal_name("锂电池")


def test_the_script_keeps_the_first_form_of_single_characters():
    assert read_pairs(["# c", "鋰\t锂", "乾\t干 乾", "發\t发", "㑯\t㑔"]) == [("㑯", "㑔"), ("發", "发"), ("鋰", "锂")]
