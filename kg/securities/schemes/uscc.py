"""统一社会信用代码, the number every Chinese organisation has.

Source: GB 32100-2015, check character after GB/T 17710 Mod 31.
"""

from __future__ import annotations

import re
import unicodedata

from kg.securities.errors import InvalidCode

ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"  # no I O S V Z: the standard leaves out what is misread
_SHAPE = re.compile(rf"[{ALPHABET}]{{2}}\d{{6}}[{ALPHABET}]{{10}}")
_WEIGHTS = tuple(pow(3, place, 31) for place in range(17))


def compact(text: str) -> str:
    """Strip spaces and hyphens, capitalise."""
    return re.sub(r"[\s-]", "", unicodedata.normalize("NFKC", text)).upper()


def check_character(body: str) -> str:
    """The last character for the first seventeen.

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


def format(text: str) -> str:  # noqa: A001 - the four names every scheme has
    """The number as it is printed: without spaces."""
    return validate(text)
