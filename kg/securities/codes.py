"""Parse securities codes in every common spelling and find them in running text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kg.securities.errors import InvalidCode
from kg.securities.schemes import ashare, foreign, hongkong, usa

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAINLAND = frozenset({"SH", "SZ", "BJ"})
_HONGKONG_DIGITS = 5


@dataclass(frozen=True, slots=True, order=True)
class Code:
    """The code of a listing: the number as written by its exchange, and the exchange (SH SZ BJ HK US KS T TW ...).

    >>> str(Code("600519", "SH"))
    '600519.SH'
    """

    number: str
    exchange: str

    def __str__(self) -> str:
        return f"{self.number}.{self.exchange}"


def parse_code(text: str) -> Code | None:
    """Parse a code in any common spelling; return None for other text.

    A bare `700` is not a code, a bare `00700` is a Hong Kong code, and bare capitals are a US ticker. Whether a bare
    spelling is meant as a code depends on its context (see `is_bare`).

    >>> [str(parse_code(text)) for text in ("600519", "sh.600519", "00700", "700 HK", "AAPL.O", "005930.KS")]
    ['600519.SH', '600519.SH', '00700.HK', '00700.HK', 'AAPL.US', '005930.KS']
    >>> parse_code("700") is None, parse_code("600000吨") is None
    (True, True)
    """
    plain = unicodedata.normalize("NFKC", text).strip()
    if not plain or not plain.isascii():
        return None
    digits = sum(char.isdigit() for char in plain)
    if digits == len(plain):
        return _parse_bare_number(plain)
    for validate in (ashare.validate, foreign.validate, hongkong.validate, _validate_usa):
        try:
            number, _, exchange = validate(plain).rpartition(".")
        except InvalidCode:
            continue
        return Code(number, exchange)
    return None


def is_bare(text: str) -> bool:
    """Whether the spelling names no exchange, so that its context decides whether it is a code.

    >>> is_bare("600519"), is_bare("AAPL"), is_bare("600519.SH")
    (True, True, False)
    """
    return bool(re.fullmatch(r"\d{1,6}|[A-Z]{1,5}", unicodedata.normalize("NFKC", text).strip()))


def spellings(code: Code) -> tuple[str, ...]:
    """Return every common spelling of a code, bare ones last; all but the shortest bare numbers parse back to it.

    >>> spellings(Code("00700", "HK"))
    ('00700.HK', '0700.HK', '700.HK', '00700 HK', '0700 HK', '700 HK', 'HK00700', 'HK0700', '00700')
    """
    number, exchange = code.number, code.exchange
    if exchange in _MAINLAND:
        yahoo = "SS" if exchange == "SH" else exchange
        forms = [f"{number}.{exchange}", f"{number}.{yahoo}", f"{exchange}{number}", f"{exchange.lower()}{number}"]
        forms += [f"{exchange}.{number}", f"{exchange.lower()}.{number}", f"{number} CH", number]
    elif exchange == "HK":
        widths = list(dict.fromkeys([number, str(int(number)).zfill(4), str(int(number))]))
        forms = [f"{width}.HK" for width in widths] + [f"{width} HK" for width in widths]
        forms += [f"HK{width}" for width in widths[:2]] + [number]
    elif exchange == "US":
        forms = [f"{number}.US", f"{number}.O", f"{number}.N", f"{number} US", number]
    else:
        forms = [f"{number}.{exchange}", f"{number} {exchange}"]
    return tuple(dict.fromkeys(forms))


_MAINLAND_MARK = "SH|SZ|BJ|SS|XSHG|XSHE"
_IN_TEXT = re.compile(
    rf"""
    (?<![0-9A-Za-z.])(?:
        (?P<suffixed>\d{{6}}\s?[.．]\s?(?:{_MAINLAND_MARK}|sh|sz|bj|KS|KQ)|\d{{6}}\sC[HGS])
      | (?P<prefixed>(?:SH|SZ|BJ|sh|sz|bj)[.:：]?\d{{6}})
      | (?P<hongkong>\d{{1,5}}\s?[.．]\s?(?:HK|hk)|HK\s?[.:：]?\s?\d{{4,5}}|\d{{1,5}}\sHK)
      | (?P<usa>(?:NASDAQ|NYSE|Nasdaq|纳斯达克|纽交所)\s?[:：]\s?[A-Z]{{1,5}}
              |[A-Z]{{1,5}}(?:[-/][AB])?(?:[.．](?:US|OQ?|N)|\sU[SNWQ]))
      | (?P<foreign>[0-9A-Z]{{3,5}}[.．](?:TW|T|DE|PA|AS|L|SW)|\d{{4}}\s(?:JP|TT))
      | (?P<labelled>(?<=代码[:：])\s?\d{{5,6}})
    )(?![0-9A-Za-z])
    | (?<=[^\s\d（(\[【][（(【\[])\s?(?P<bracketed>\d{{6}}|0\d{{4}})(?=\s?[,，、/;；)）】\]])
    """,
    re.VERBOSE,
)

# Digits may start a code when at least five end the word, or when letters follow a point or space.
_POSSIBLE_START = re.compile(
    r"[0-9][0-9A-Za-z]*+(?:(?<=[0-9]{5})|(?=\s?[.．]\s?[A-Za-z]|\s[A-Z]))|[A-Za-z纳纽][0-9A-Za-z]*+"
)


def find_codes(text: str) -> list[tuple[int, int, Code]]:
    """Return all codes in running text with their offsets, left to right.

    A spelling that names its exchange counts anywhere. A bare number counts only in brackets directly after a name, or
    after 代码：; in plain text it is an amount.

    >>> [str(code) for _, _, code in find_codes("宁德时代（300750.SZ）、天赐材料（002709），产量600000吨")]
    ['300750.SZ', '002709.SZ']
    """
    found = []
    for match in _possible_codes(text):
        spelling = match[0].strip()
        if match.lastgroup == "usa":
            spelling = re.sub(r"^(?:NASDAQ|NYSE|Nasdaq|纳斯达克|纽交所)\s?[:：]\s?", "", spelling)
        if match.lastgroup == "foreign":
            spelling = re.sub(r"\sJP$", ".T", re.sub(r"\sTT$", ".TW", spelling))
        code = parse_code(spelling)
        if code is not None:
            found.append((match.end() - len(match[0].lstrip()), match.end(), code))
    return found


def _possible_codes(text: str) -> Iterator[re.Match[str]]:
    """Yield possible codes; most text is skipped, because no code starts with a Chinese character."""
    end = 0
    for run in _POSSIBLE_START.finditer(text):
        start = run.start()
        after_space = text[start - 1 : start].isspace()  # a space may follow an opening bracket
        match = (_IN_TEXT.match(text, start - 1) if after_space else None) or _IN_TEXT.match(text, start)
        if match and start >= end:
            yield match
            end = match.end()


def _parse_bare_number(plain: str) -> Code | None:
    exchange = ashare.exchange_of(plain)
    if exchange is not None:
        return Code(plain, exchange)
    if len(plain) == _HONGKONG_DIGITS and hongkong.is_valid(plain):
        return Code(plain, "HK")
    return None


def _validate_usa(plain: str) -> str:
    """Validate a US code; lower-case letters without a market are words, not tickers."""
    if plain.islower() and plain.isalpha():
        raise InvalidCode(plain, "a bare ticker is written in capitals")
    return usa.validate(plain)
