"""Codes of other exchanges whose issuers appear in Chinese research, with the suffixes of data vendors.

Source: exchange suffixes of Reuters and Yahoo (.KS Seoul, .T Tokyo, .TW Taipei, .DE Xetra ...).
"""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

EXCHANGES = {
    "KS": r"\d{6}", "KQ": r"\d{6}", "T": r"\d{3}[0-9A-Z]", "TW": r"\d{4}", "TWO": r"\d{4}", "DE": r"[A-Z0-9]{2,5}",
    "PA": r"[A-Z]{2,5}", "AS": r"[A-Z]{2,5}", "L": r"[A-Z]{2,4}", "SW": r"[A-Z]{2,5}", "MI": r"[A-Z]{2,5}",
    "MC": r"[A-Z]{2,4}", "ST": r"[A-Z]{2,6}(?:-[AB])?", "CO": r"[A-Z]{2,6}(?:-[AB])?", "OL": r"[A-Z]{2,6}",
    "HE": r"[A-Z]{2,6}", "BR": r"[A-Z]{2,5}", "VI": r"[A-Z]{2,4}", "AX": r"[A-Z0-9]{3}", "TO": r"[A-Z]{1,4}",
    "NS": r"[A-Z]{2,10}", "SA": r"[A-Z]{4}\d", "SI": r"[A-Z0-9]{3}",
}  # fmt: skip


def compact(text: str) -> str:
    """Normalise width, case and spaces: `005930.ks` becomes `005930.KS`."""
    plain = unicodedata.normalize("NFKC", text).strip().upper()
    return re.sub(r"\s+", ".", plain)


def validate(text: str) -> str:
    """Check a code and return its canonical form.

    Raises:
        InvalidCode: missing or unknown suffix, or a number in the wrong format for the exchange.

    >>> validate("005930 KS"), validate("7203.T")
    ('005930.KS', '7203.T')
    """
    number, _, suffix = compact(text).rpartition(".")
    if suffix not in EXCHANGES:
        raise InvalidCode(text, f"unknown exchange suffix {suffix!r}")
    if not re.fullmatch(EXCHANGES[suffix], number):
        raise InvalidCode(text, f"{number!r} is not in the format of {suffix} codes")
    return f"{number}.{suffix}"
