"""Codes in every spelling, and codes in running text."""

import pytest

from kg.securities.codes import Code, find_codes, is_bare, parse_code, spellings
from kg.securities.errors import InvalidCode
from kg.securities.schemes import ashare, foreign, hongkong, usa

SPELLINGS = {
    "600519.SH": ["600519", "600519.SH", "SH600519", "600519.SS", "sh.600519", "sh600519", "６００５１９", "600519 CH"],
    "300750.SZ": ["300750", "300750.SZ", "sz300750", "300750.XSHE"],
    "835185.BJ": ["835185", "835185.BJ", "bj835185"],
    "920185.BJ": ["920185", "920185.BJ"],
    "00700.HK": ["0700.HK", "00700", "700 HK", "00700.HK", "HK.00700", "hk00700", "700.HK"],
    "AAPL.US": ["AAPL", "AAPL.O", "AAPL US", "NASDAQ:AAPL", "aapl.us", "AAPL.OQ"],
    "BRK-B.US": ["BRK.B", "BRK-B.US"],
    "005930.KS": ["005930.KS", "005930 KS"],
    "7203.T": ["7203.T"],
}


@pytest.mark.parametrize(("canonical", "text"), [(code, text) for code, texts in SPELLINGS.items() for text in texts])
def test_every_common_spelling_is_read(canonical, text):
    assert str(parse_code(text)) == canonical


@pytest.mark.parametrize(
    "text", ["", "700", "123456", "600000吨", "茅台", "600519.SZ", "12345678", "aapl", "AI产业", "1.5"]
)
def test_what_is_no_code_is_not_read_as_one(text):
    assert parse_code(text) is None


@pytest.mark.parametrize("code", [Code("600519", "SH"), Code("00700", "HK"), Code("TSLA", "US"), Code("000660", "KS")])
def test_all_spellings_read_back(code):
    assert {parse_code(text) for text in spellings(code)} == {code}


def test_bare_spellings_are_distinguished():
    assert is_bare("600519")
    assert is_bare("AAPL")
    assert not is_bare("AAPL.US")


IN_TEXT = {
    "宁德时代（300750.SZ）发布": ["300750.SZ"],
    "腾讯控股(00700.HK)和阿里巴巴（BABA.N）": ["00700.HK", "BABA.US"],
    "天赐材料(002709)、多氟多（002407，买入）": ["002709.SZ", "002407.SZ"],
    "产量600000吨，金额300750元": [],
    "（600000）": [],
    "年产（600000吨）": [],
    "证券代码：600519 证券简称：贵州茅台": ["600519.SH"],
    "SK海力士（000660.KS）与台积电(2330.TW)": ["000660.KS", "2330.TW"],
    "特斯拉（NASDAQ: TSLA）": ["TSLA.US"],
    "美团-W（3690.HK）、小米(1810 HK)": ["03690.HK", "01810.HK"],
    "SH600519与sz.000001": ["600519.SH", "000001.SZ"],
    "版本2.600519.SH": [],
    "净利0.600519": [],
    "中信证券(600030.SH/6030.HK)": ["600030.SH", "06030.HK"],
    "**三生制药**（01530.HK）": ["01530.HK"],
}


@pytest.mark.parametrize(("text", "codes"), IN_TEXT.items())
def test_codes_in_text(text, codes):
    found = find_codes(text)
    assert [str(code) for _, _, code in found] == codes
    for start, end, code in found:
        assert code.number.lstrip("0").split("-")[0] in text[start:end]


VALID = [(ashare, "600519"), (hongkong, "700"), (usa, "AAPL.O"), (foreign, "ASML.AS")]
INVALID = [
    (ashare, "123456", "range"), (ashare, "60051", "six digits"), (ashare, "600519.SZ", "belongs to SH"),
    (hongkong, "00000", "zero"), (hongkong, "AAPL", "digits"), (usa, "TOOLONG", "letters"),
    (foreign, "005930.XX", "suffix"), (foreign, "12.T", "format"),
]  # fmt: skip


@pytest.mark.parametrize(("scheme", "text"), VALID)
def test_a_canonical_code_stays_as_it_is(scheme, text):
    assert scheme.validate(scheme.validate(text)) == scheme.validate(text)


@pytest.mark.parametrize(("scheme", "text", "reason"), INVALID)
def test_invalid_numbers_say_why(scheme, text, reason):
    with pytest.raises(InvalidCode, match=reason):
        scheme.validate(text)
