"""Decide which way a factor moves, by the words beside its name; where no word states a direction, there is none.

「铜价上涨」, 「推高铜价」 rise, 「需求不及预期」 falls, 「供给紧张」 is less supply, 「铜价波动」 has no direction.
"""

from __future__ import annotations

import re

from msgspec import Struct

from extraction.certainty.effect_words import (
    AVERTED_BEFORE,
    BURDEN,
    CALLED_OFF,
    CALLED_OFF_BEFORE,
    MEASURE_MOVES,
    MEASURES,
    MOVES,
    MOVES_BEFORE,
    PHRASES,
    SCARCITY,
    STEPS,
    TURNS,
    UNCLEAR,
    VERDICTS,
)
from extraction.text.clauses import clause_end

_REACH = 12  # characters between a name and the word that moves it
_BEFORE = 8
_END = re.compile(r"[，。；、：|！？（）]|且|并(?=[降提增减推拉压扩])")
_BETTER = re.compile(r"改善|修复|好转|向好")
_BURDEN = re.compile(r"(?:风险|压力|成本|费用|亏损|损失|不良率|负债率|赤字)(?:水平)?$")
_REASON = re.compile(r"(?:则|也|将|或|仍)?(?:因|由于|受(?!限))")
_LEVEL = re.compile(r"高位|低位|高企|低迷|低谷")
_SUPPLY = re.compile(r"(?:供给|供应|产能|产量|库存|存栏量?|货源|开工率|产出|运力)$")


class Move(Struct, frozen=True):
    """A direction, +1, -1 or 0 where the words state none, and the offset where its words end.

    A `level` (估值处于低位) is where a factor is, not where it goes.
    """

    sign: int
    end: int
    level: bool = False


def move_of(text: str, start: int, end: int, *, name: str = "") -> Move | None:
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
    if AVERTED_BEFORE.search(text, max(0, start - _BEFORE), start):
        return Move(0, end)
    before = MOVES_BEFORE.search(text, max(0, start - _BEFORE), start)
    if before and len(before[0]) > 1 and text.startswith("或", end):  # 「阻碍出口或提升成本」: of two objects
        return Move(1 if before["raised"] else -1, end)
    after = _behind_reason(text, end) or _after(text, end, name or text[start:end])
    if after is not None:
        held_back = before and before["lowered"] and after.sign > 0  # 「抑制锡价上行」
        return Move(-1, after.end) if held_back else after
    return Move(1 if before["raised"] else -1, end) if before else None


def denied_after(text: str, start: int, end: int) -> bool:
    """Whether the event text[start:end] does not come: 「减产得不到执行」, 「取消关税」, 「降息不及预期」."""
    return bool(
        CALLED_OFF.match(text, end, end + _REACH) or CALLED_OFF_BEFORE.search(text, max(0, start - _BEFORE), start)
    )


def effect_sign(rest: str) -> int:
    """Return what a clause says happens to its parties: +1 they gain, −1 they lose, 0 nothing.

    >>> [effect_sign(text) for text in ("推高电池成本", "带动毛利率回升", "利好天齐锂业", "成本端改善", "投产")]
    [-1, 1, 1, 1, 0]
    """
    verdict, best = VERDICTS.search(rest), 0
    if verdict:
        denied = PHRASES["denied_before"].search(rest, 0, verdict.start())
        best = (1 if verdict["gains"] else -1) * (-1 if denied else 1)
        if verdict[0] in {"承压", "受益", "受损"}:
            return best
    for noun in MEASURES.finditer(rest):
        value = 1 if noun["gain"] else -1
        if (noun["gain"] and BURDEN.match(rest, noun.end())) or rest.startswith("的", noun.end()):
            continue  # 利润压力 is a burden; 「压缩利润的竞争环境」 says what the environment is
        after = MEASURE_MOVES.match(rest, noun.end())
        if after and after["better"]:
            return 1
        if after and (after["rise"] or after["fall"]) not in {"低位", "高位"}:
            return value * (1 if after["rise"] else -1)
        verb = last_step(rest, 0, noun.start())
        if verb is None or best or verb["lead"]:
            continue
        return -1 if verb[0] in {"影响", "冲击", "制约"} else value * (1 if verb["raise"] else -1)
    return best


def last_step(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the verb of effect nearest before an offset."""
    return max(STEPS.finditer(text, start, end), key=lambda found: found.start(), default=None)


def _behind_reason(text: str, end: int) -> Move | None:
    """Return the move behind the move that is its reason: 「钴价因供给放量而大幅下跌」."""
    stop = clause_end(text, end)
    moves = list(MOVES.finditer(text, end, stop)) if _REASON.match(text, end) else []
    if len(moves) <= 1:
        return None
    doubt = UNCLEAR.search(text, moves[-2].end(), stop) or TURNS.search(text, moves[-2].end(), stop)
    doubtful = doubt or text[moves[-1].start() - 1] in "未没不"
    return Move(0 if doubtful else -1 if moves[-1]["fall"] else 1, moves[-1].end())


def _after(text: str, end: int, name: str) -> Move | None:
    """Return the move that the words after a name state, up to the next mark or verb of effect."""
    mark = _END.search(text, end, end + 2 * _REACH)
    stop = mark.start() if mark else min(len(text), end + 2 * _REACH)
    move = MOVES.search(text, end, stop)
    verb = STEPS.search(text, end, stop)
    if verb and (move is None or verb.start() < move.start()):
        stop, move = verb.start(), None
    elif verb and move and verb.start() >= move.end():
        stop = verb.start()  # what follows is said of the effect: 「消费下滑导致需求不及预期」
    if move and _LEVEL.fullmatch(move[0]) and (onward := MOVES.search(text, move.end(), stop)):
        move = onward  # 「高位回调」
    if move and move.start() - end > _REACH:
        move = None
    if UNCLEAR.search(text, end, stop if move is None else min(stop, move.end() + 6)):
        return Move(0, stop if move is None else move.end())
    scarce = SCARCITY.search(text, end, stop)
    if scarce and (move is None or scarce.start() <= move.start()) and scarce.start() - end <= _REACH:
        sign = 1 if scarce["tight"] else -1
        return Move(-sign if _SUPPLY.search(name) else sign, scarce.end())
    turned = TURNS.search(text, end, stop)
    if move is None and turned is None:
        return None
    if move and _BETTER.fullmatch(move[0]) and _SUPPLY.search(name):
        return Move(0, move.end())  # whether an improved supply is more or less
    if move and _BETTER.fullmatch(move[0]) and _BURDEN.search(name):
        return Move(1 if turned else -1, move.end())
    sign = -1 if move and move["fall"] else 1
    last = max(found.end() for found in (move, turned) if found)
    return Move(-sign if turned else sign, last, level=bool(move and _LEVEL.fullmatch(move[0])))
