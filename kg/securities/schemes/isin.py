"""International securities identification numbers. Source: ISO 6166, check digit: Luhn, with letters as numbers."""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

_SHAPE = re.compile(r"[A-Z]{2}[A-Z0-9]{9}\d")


def compact(text: str) -> str:
    """Remove spaces and hyphens and convert to upper case."""
    return re.sub(r"[\s-]", "", unicodedata.normalize("NFKC", text)).upper()


def check_digit(body: str) -> str:
    """Return the check digit for the first eleven characters.

    >>> check_digit("CNE0000018R")
    '8'
    """
    digits = [int(digit) for char in body for digit in str(int(char, 36))]
    doubled = [digit * 2 if place % 2 == 0 else digit for place, digit in enumerate(reversed(digits))]
    return str(-sum(value // 10 + value % 10 for value in doubled) % 10)


def validate(text: str) -> str:
    """Check an ISIN and return it compacted.

    Raises:
        InvalidCode: wrong shape or check digit.

    >>> validate("CNE0000018R8")
    'CNE0000018R8'
    """
    number = compact(text)
    if not _SHAPE.fullmatch(number):
        raise InvalidCode(text, "an ISIN has two letters, nine letters or digits and a check digit")
    if check_digit(number[:-1]) != number[-1]:
        raise InvalidCode(text, f"the check digit should be {check_digit(number[:-1])}")
    return number


def is_valid(text: str) -> bool:
    """Whether `validate` accepts the text."""
    try:
        validate(text)
    except InvalidCode:
        return False
    return True


def format(text: str) -> str:  # noqa: A001 - common interface of all schemes
    """Return the number as printed, without spaces."""
    return validate(text)
