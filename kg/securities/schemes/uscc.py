"""统一社会信用代码, the registration number of every Chinese organisation.

Source: GB 32100-2015, check character: GB/T 17710 Mod 31.
"""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"  # without I O S V Z, which are easily misread
_SHAPE = re.compile(rf"[{ALPHABET}]{{2}}\d{{6}}[{ALPHABET}]{{10}}")
_WEIGHTS = tuple(pow(3, place, 31) for place in range(17))


def compact(text: str) -> str:
    """Remove spaces and hyphens and convert to upper case."""
    return re.sub(r"[\s-]", "", unicodedata.normalize("NFKC", text)).upper()


def check_character(body: str) -> str:
    """Return the check character for the first seventeen characters.

    >>> check_character("91440300192185379")
    'H'
    """
    total = sum(ALPHABET.index(char) * weight for char, weight in zip(body, _WEIGHTS, strict=True))
    return ALPHABET[-total % 31]


def validate(text: str) -> str:
    """Check a number and return it compacted.

    Raises:
        InvalidCode: wrong shape or check character.

    >>> validate("91440300192185379H")
    '91440300192185379H'
    """
    number = compact(text)
    if not _SHAPE.fullmatch(number):
        raise InvalidCode(text, "a 统一社会信用代码 has 18 characters: registrar, kind, six digits of region, ten more")
    if check_character(number[:-1]) != number[-1]:
        raise InvalidCode(text, f"the check character should be {check_character(number[:-1])}")
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
