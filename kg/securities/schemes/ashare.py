"""Codes of the mainland exchanges: six digits with a prefix that identifies the exchange.

Source: 上海证券交易所《证券代码段分配指南》, 深圳证券交易所《证券代码区间》,
北京证券交易所 2024-04 notice on code range 920.
"""

from __future__ import annotations

import unicodedata

from kg.securities.errors import InvalidCode

SUFFIXES = {
    "SH": "SH", "SS": "SH", "XSHG": "SH", "SSE": "SH", "SHA": "SH",
    "SZ": "SZ", "XSHE": "SZ", "SZSE": "SZ", "SHE": "SZ",
    "BJ": "BJ", "XBSE": "BJ", "BSE": "BJ", "NQ": "BJ",
}  # fmt: skip

_RANGES = {
    "600": "SH", "601": "SH", "603": "SH", "605": "SH", "688": "SH", "689": "SH", "900": "SH",
    "000": "SZ", "001": "SZ", "002": "SZ", "003": "SZ", "004": "SZ", "300": "SZ", "301": "SZ", "302": "SZ",
    "200": "SZ", "201": "SZ",
    "920": "BJ",
}  # fmt: skip
_BEIJING_OLD = ("43", "83", "87", "88")  # ranges in use until the move to 920xxx on 2025-10-09
_DIGITS = 6


def exchange_of(number: str) -> str | None:
    """Return the exchange of a six-digit number.

    >>> exchange_of("600519"), exchange_of("835185"), exchange_of("123456")
    ('SH', 'BJ', None)
    """
    if len(number) != _DIGITS or not (number.isascii() and number.isdigit()):
        return None
    if number.startswith(_BEIJING_OLD):
        return "BJ"
    return _RANGES.get(number[:3])


def compact(text: str) -> str:
    """Reduce any spelling to six digits and, where stated, the exchange.

    >>> compact("sh.600519"), compact("600519.SS"), compact("SH600519"), compact("６００５１９")
    ('600519.SH', '600519.SH', '600519.SH', '600519')
    """
    plain = unicodedata.normalize("NFKC", text).strip().upper().replace(" ", "").replace(":", ".")
    digits = "".join(char for char in plain if char.isdigit())
    letters = "".join(char for char in plain if char.isalpha())
    suffix = SUFFIXES.get(letters, letters)
    return f"{digits}.{suffix}" if suffix and suffix != "CH" else digits


def validate(text: str) -> str:
    """Check a code and return its canonical form.

    Raises:
        InvalidCode: not six digits, a number range no exchange uses, or a suffix that contradicts the number.

    >>> validate("SZ300750")
    '300750.SZ'
    """
    number, _, suffix = compact(text).partition(".")
    if len(number) != _DIGITS:
        raise InvalidCode(text, f"a mainland code has six digits, not {len(number)}")
    exchange = exchange_of(number)
    if exchange is None:
        raise InvalidCode(text, f"no mainland exchange uses the range {number[:3]}")
    if suffix and suffix != exchange:
        raise InvalidCode(text, f"{number} belongs to {exchange}, not to {suffix}")
    return f"{number}.{exchange}"
