"""The words that passages are found by: the same cut for what is stored and for what is asked."""

from __future__ import annotations

import re
import unicodedata

import rjieba

_LETTERS = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """Cut a text to folded words, with the shorter words inside long ones: 碳酸锂价格 → 碳酸, 碳酸锂, 价格.

    A term is letters and digits only, so that no query syntax survives and any tokenizer leaves it whole.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    found: list[str] = []
    for word in rjieba.cut_for_search(folded):
        if word.isalnum():
            found.append(word)
        else:
            found += _LETTERS.findall(word)
    return found
