"""Decide which way a factor moves, by the words beside its name; where no word states a direction, there is none.

「铜价上涨」, 「推高铜价」 rise, 「需求不及预期」 falls, 「供给紧张」 is less supply, 「铜价波动」 has no direction.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from extraction.text.lexicon import table

_REACH = 12  # characters between a name and the word that moves it
_BEFORE = 8
_END = re.compile(r"[，。；、：|！？（）]")
_SUPPLY = re.compile(r"(?:供给|供应|产能|产量|库存|存栏量?|货源|开工率|产出|运力)$")


class Move(Struct, frozen=True):
    """A direction, +1, -1 or 0 where the words state none, and the offset where its words end."""

    sign: int
    end: int


def move_of(text: str, start: int, end: int, name: str = "") -> Move | None:
    """Return the move of the factor text[start:end], or None where no word beside it speaks of one.

    Args:
        text: one normalised sentence.
        start: start offset of the factor's name.
        end: end offset of its name, exclusive.
        name: its canonical name, which decides what scarcity means of it.

    >>> [move_of(text, 0, 2).sign for text in ("铜价上涨推高成本", "需求增长不及预期", "铜价维持震荡", "供给偏紧")]
    [1, -1, 0, -1]
    >>> move_of("降息推高铜价", 4, 6).sign
    1
    """
    words = _words()
    after = words.after(text, end, name or text[start:end])
    if after is not None:
        return after
    before = words.before.search(text, max(0, start - _BEFORE), start)
    if before:
        return Move(1 if before["raised"] else -1, end)
    return None


def denied_after(text: str, start: int, end: int) -> bool:
    """Whether the event text[start:end] does not come: 「减产得不到执行」, 「取消关税」, 「降息不及预期」."""
    words = _words()
    return bool(
        words.called_off.match(text, end, end + _REACH)
        or words.called_off_before.search(text, max(0, start - _BEFORE), start)
    )


class _Words(Struct, frozen=True):
    rise_or_fall: re.Pattern[str]
    before: re.Pattern[str]
    turns: re.Pattern[str]
    scarcity: re.Pattern[str]
    unclear: re.Pattern[str]
    verbs: re.Pattern[str]
    called_off: re.Pattern[str]
    called_off_before: re.Pattern[str]

    def after(self, text: str, end: int, name: str) -> Move | None:
        """Return the move that the words after a name state, up to the next mark or verb of effect."""
        mark = _END.search(text, end, end + 2 * _REACH)
        stop = mark.start() if mark else min(len(text), end + 2 * _REACH)
        move = self.rise_or_fall.search(text, end, stop)
        verb = self.verbs.search(text, end, stop)
        if verb and (move is None or verb.start() < move.start()):
            stop, move = verb.start(), None
        if move and move.start() - end > _REACH:
            move = None
        if self.unclear.search(text, end, stop if move is None else min(stop, move.end() + 6)):
            return Move(0, stop if move is None else move.end())
        scarce = self.scarcity.search(text, end, stop)
        if scarce and (move is None or scarce.start() <= move.start()) and scarce.start() - end <= _REACH:
            sign = 1 if scarce["tight"] else -1
            return Move(-sign if _SUPPLY.search(name) else sign, scarce.end())
        turned = self.turns.search(text, end, stop)
        if move is None and turned is None:
            return None
        sign = -1 if move and move["fall"] else 1
        last = max(found.end() for found in (move, turned) if found)
        return Move(-sign if turned else sign, last)


@cache
def _words() -> _Words:
    read = table("effects")

    def joined(section: str, end: str = "") -> re.Pattern[str]:
        groups = (f"(?P<{key.replace(' ', '_')}>{entry['pattern']}){end}" for key, entry in read[section].items())
        return re.compile("|".join(groups))

    return _Words(
        rise_or_fall=joined("moves"),
        before=joined("moves_before", "$"),
        turns=joined("turns"),
        scarcity=joined("scarcity"),
        unclear=joined("unclear"),
        verbs=joined("verbs"),
        called_off=joined("called_off"),
        called_off_before=joined("called_off_before", "$"),
    )
