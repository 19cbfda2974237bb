"""Codes of the Hong Kong exchange: up to five digits, zero-padded to five.

Source: HKEX, Stock Code Allocation Plan (00001-09999 equities, 80000-89999 RMB counters).
"""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

SUFFIXES = frozenset({"HK", "XHKG", "HKEX", "SEHK", "HKG"})
_SHAPE = re.compile(r"(?:(HK|XHKG|HKEX|SEHK|HKG)[.:]?)?(\d{1,5})(?:[.]?(HK|XHKG|HKEX|SEHK|HKG))?")


def compact(text: str) -> str:
    """Reduce any spelling to five digits.

    >>> compact("0700.HK"), compact("700 HK"), compact("HK:00700")
    ('00700', '00700', '00700')
    """
    plain = unicodedata.normalize("NFKC", text).strip().upper().replace(" ", "")
    shape = _SHAPE.fullmatch(plain)
    return shape[2].zfill(5) if shape else plain


def validate(text: str) -> str:
    """Check a code and return its canonical form.

    Raises:
        InvalidCode: not one to five digits with an optional HK mark, or zero.

    >>> validate("700 HK")
    '00700.HK'
    """
    number = compact(text)
    if not (number.isascii() and number.isdigit()):
        raise InvalidCode(text, "a Hong Kong code has one to five digits")
    if int(number) == 0:
        raise InvalidCode(text, "zero is not a Hong Kong code")
    return f"{number}.HK"


def is_valid(text: str) -> bool:
    """Whether `validate` accepts the text."""
    try:
        validate(text)
    except InvalidCode:
        return False
    return True
