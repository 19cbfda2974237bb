"""The finder against a plain search, on random texts."""

from hypothesis import given
from hypothesis import strategies as st

from kg.securities.finder import NameFinder
from kg.securities.master import Master
from kg.securities.records import MasterRows, Name

NAMES = ["甲乙", "甲乙丙", "乙丙丁", "丙A", "AB科", "ABC"]


def build():
    rows = MasterRows()
    for number, text in enumerate(NAMES):
        rows.add_name(f"60000{number}.SH", Name(text))
    return NameFinder(Master.from_rows(rows))


FINDER = build()


def is_latin(text, place):
    return 0 <= place < len(text) and text[place].isascii() and text[place].isalnum()


def stands_alone(text, start, end):
    begins_inside = is_latin(text, start) and is_latin(text, start - 1)
    ends_inside = is_latin(text, end - 1) and is_latin(text, end)
    return not begins_inside and not ends_inside


def search_plainly(text):
    """Leftmost, longest, no overlaps; a name that touches Latin letters is passed over after it was matched."""
    found, place = [], 0
    patterns = sorted(FINDER.patterns, key=len, reverse=True)
    while place < len(text):
        match = next((pattern for pattern in patterns if text.startswith(pattern, place)), None)
        if match is None:
            place += 1
            continue
        if stands_alone(text, place, place + len(match)):
            found.append((place, place + len(match)))
        place += len(match)
    return found


@given(st.text(alphabet="甲乙丙丁科ABC Ａ𠮷，", max_size=30))
def test_finds_what_a_plain_search_finds(text):
    assert [(hit.start, hit.end) for hit in FINDER.find(text)] == search_plainly(text)
