"""Tickers of the US exchanges: one to five letters and an optional class letter.

Source: CTA and UTP plan symbol rules; suffixes of Reuters (.O .N .K), Bloomberg (US UN UW UQ) and Wind (.O .N).
"""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

SUFFIXES = frozenset({"US", "O", "N", "K", "OQ", "UN", "UW", "UQ", "UR", "NASDAQ", "NYSE", "AMEX", "OTC"})
_SHAPE = re.compile(
    r"(?:(?:US|NASDAQ|NYSE|AMEX)[.:])?([A-Z]{1,5})(?:[./-]([AB]))?(?:[.](?:US|OQ?|N|K|UN|UW|UQ|UR|NASDAQ|NYSE|AMEX|OTC))?"
)


def compact(text: str) -> str:
    """Reduce any spelling to the ticker.

    >>> compact("AAPL.O"), compact("aapl us"), compact("NASDAQ: AAPL"), compact("BRK.B")
    ('AAPL', 'AAPL', 'AAPL', 'BRK-B')
    """
    plain = unicodedata.normalize("NFKC", text).strip().upper()
    plain = re.sub(r"\s*:\s*", ":", plain)
    plain = re.sub(r"\s+", ".", plain)
    shape = _SHAPE.fullmatch(plain)
    if not shape:
        return plain
    return f"{shape[1]}-{shape[2]}" if shape[2] else shape[1]


def validate(text: str) -> str:
    """Check a ticker and return its canonical form.

    Raises:
        InvalidCode: not one to five letters with an optional class letter and market mark.

    >>> validate("AAPL.O")
    'AAPL.US'
    """
    ticker = compact(text)
    if not re.fullmatch(r"[A-Z]{1,5}(?:-[AB])?", ticker):
        raise InvalidCode(text, "a US ticker has one to five letters")
    return f"{ticker}.US"
