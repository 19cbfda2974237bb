"""Convert traditional characters and radicals to simplified Chinese, one for one, so that text offsets are preserved.

Regional variants of a word (軟體, 软件) remain different; a synonym list can join them.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from importlib import resources

# Radicals that PDF tools write for the characters of the same shape and that Unicode does not map to them; the Kangxi
# radicals (⾦) and compatibility ideographs it does.
_RADICALS = dict(
    zip(
        "⺀⺁⺂⺃⺄⺅⺆⺇⺈⺉⺊⺋⺌⺍⺎⺏⺐⺑⺒⺓⺔⺕⺖⺗⺘⺙⺛⺜⺝⺞⺟⺠⺡⺢⺣⺤⺥⺧⺩⺪⺫⺬⺮⺯⺰⺲⺵⺷⺺⺻⺼⺽⺾⻁⻂⻃⻄⻅⻆⻇⻈⻉⻊⻋⻌⻍⻎⻏⻐⻑⻒⻓⻔⻕⻖⻗⻘⻙⻚⻛⻜⻝⻟⻠⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳",
        "冫厂乙乙乙亻冂几刀刂卜卩小小兀尢尢尢巳幺彑彐忄心扌攵旡日月歹母民水水火爪爪牛王疋目示竹糸糸网网羊聿聿月臼艹虎衣西西见角角讠贝足车辶辶辶邑钅长长长门阜阜雨青韦页风飞食食饣马骨鬼鱼鸟卤麦黄黾齐齐齿齿龙龙龟龟龟",
        strict=True,
    )
)
_MAPPED = (*range(0x2F00, 0x2FD6), *range(0xF900, 0xFB00))


@cache
def table() -> dict[int, int]:
    """Return the mapping of traditional characters and radicals to simplified code points for `str.translate`."""
    lines = (resources.files(__package__) / "simplified.txt").read_text(encoding="utf-8").splitlines()
    forms = {ord(old): ord(new) for old, new in zip(lines[1], lines[2], strict=True)}
    plain = {old: ord(new) for old, new in radicals().items()}
    return forms | {old: forms.get(new, new) for old, new in plain.items()}


@cache
def radicals() -> dict[int, str]:
    """Return the characters of radicals (⻓, ⾦) and compatibility ideographs by code point, one for one."""
    mapped = {code: unicodedata.normalize("NFKC", chr(code)) for code in _MAPPED}
    found = {ord(old): new for old, new in _RADICALS.items()} | mapped
    return {code: char for code, char in found.items() if len(char) == 1 and char != chr(code)}


def simplified(text: str) -> str:
    """Return the text with every traditional character replaced.

    >>> simplified("寧德時代與乾照光电")
    '宁德时代与乾照光电'
    """
    # Most texts are already simplified, and this check is twenty times faster than translating.
    return text if text.isascii() or _characters().isdisjoint(text) else text.translate(table())


@cache
def _characters() -> frozenset[str]:
    return frozenset(map(chr, table()))
