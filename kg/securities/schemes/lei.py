"""Legal entity identifiers. Source: ISO 17442, check digits: ISO 7064 Mod 97-10."""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

_SHAPE = re.compile(r"[A-Z0-9]{18}\d{2}")
_MODULUS = 97


def compact(text: str) -> str:
    """Remove spaces and hyphens and convert to upper case."""
    return re.sub(r"[\s-]", "", unicodedata.normalize("NFKC", text)).upper()


def check_digits(body: str) -> str:
    """Return the check digits for the first eighteen characters.

    >>> check_digits("HWUPKR0MPOU8FGXBT3")
    '94'
    """
    value = int("".join(str(int(char, 36)) for char in body) + "00")
    return f"{98 - value % _MODULUS:02d}"


def validate(text: str) -> str:
    """Check an LEI and return it compacted.

    Raises:
        InvalidCode: wrong shape or check digits.

    >>> validate("HWUPKR0MPOU8FGXBT394")
    'HWUPKR0MPOU8FGXBT394'
    """
    number = compact(text)
    if not _SHAPE.fullmatch(number):
        raise InvalidCode(text, "an LEI has eighteen letters or digits and two check digits")
    if check_digits(number[:-2]) != number[-2:]:
        raise InvalidCode(text, f"the check digits should be {check_digits(number[:-2])}")
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
