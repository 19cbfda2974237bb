"""CCKS 2021, causes and effects in financial text: event types of cause and effect, products, regions, trades.

A text has one or more pairs (type of the cause, type of the effect), each with the products, regions and trades of
either side. Three measures: the pairs; the arguments of a pair that is given, as the published task tags them
(role and text, empty roles not counted); and everything at once, an argument counting only under the right pair.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality.score import Options, Report, Score
from extraction.mentions import shipped_lexicon
from extraction.patterns.move_owners import names_in, owners_of_link, region_of_move
from extraction.patterns.move_pairs import link_moves
from extraction.patterns.moves import find_moves
from extraction.training.causal_examples import CausalExample
from extraction.training.causal_model import CausalModel, fit
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from extraction.patterns.move_owners import Name
    from extraction.patterns.move_pairs import Link
    from extraction.patterns.moves import Move

Pair = tuple[str, str]
Argument = tuple[str, str]  # role, text

ROLES = tuple(f"{side}_{role}" for side in ("reason", "result") for role in ("product", "region", "industry"))
# Liantu's kinds of factor under the set's names: of a rise, of a fall.
_MOVES = {
    "price": ("市场价格提升", "市场价格下降"),
    "supply": ("供给增加", "供给减少"),
    "demand": ("需求增加", "需求减少"),
    "sales": ("销量（消费）增加", "销量（消费）减少"),
    "cost": ("运营成本提升", "运营成本下降"),
    "profit": ("产品利润增加", "产品利润下降"),
    "import": ("进口增加", "进口下降"),
    "export": ("出口增加", "出口下降"),
    "condition": ("正向影响", "负向影响"),
}
_HAPPENINGS = {
    "curb": "限产",
    "swine_fever": "猪瘟",
    "foot_and_mouth": "猪口蹄疫",
    "avian_flu": "禽流感",
    "animal_disease": "其他畜牧疫情",
    "drought": "干旱",
    "flood": "洪涝",
    "typhoon": "台风",
    "earthquake": "地震",
    "cold_wave": "寒潮",
    "frost": "霜冻",
    "hail": "冰雹",
    "disaster": "其他自然灾害",
    "trade_friction": "其他贸易摩擦",
    "dumping_duty": "对华反倾销",
}
_NAMES = {
    **{f"{kind} {way}": names[way == "down"] for kind, names in _MOVES.items() for way in ("up", "down")},
    **_HAPPENINGS,
}
_TYPES = {name: kind for kind, name in _NAMES.items()}
_SUFFIX = re.compile("行业|产品|业(?!务|绩)|板块|产业|地区")
_TRADE = re.compile(
    "(?:业|板块|养殖|房地产|地产|基建|电力|屠宰|化工|焦化|炼油|加工|海运|航运|旅游|快递|航空|物流|造纸|运输|纺织|行业)$"
)
_TIED = 3.5  # points from which a further pair of a text is told; the best of a text always is


def measure(options: Options) -> Report:
    """Measure the untrained reader, or, with training files, the model fitted on them."""
    texts = [text for path in options.files for text in load(path)][: options.limit or None]
    pairs = Score("cause type, effect type", at_least=0.66 if options.train else 0.42)
    given = Score("arguments, pair given", at_least=0.82 if options.train else 0.60)
    tied = Score("pair with its arguments")
    report = Report([pairs, given, tied], texts=len(texts))
    reader = _Trained(options.train, report) if options.train else _Untrained()
    for text, gold in texts:
        read = reader.read(text)
        pairs.add(gold, read)
        for pair, arguments in reader.arguments(text, gold).items():
            given.add(gold[pair], arguments)
        tied.add(_flat(gold), _flat(read))
        _faults(report, text, gold, read)
    return report


def load(path: Path) -> list[tuple[str, dict[Pair, set[Argument]]]]:
    """Read a file of the set: its texts with the arguments of each pair."""
    return [(row["raw_text"], _gold(row)) for row in json.loads(path.read_text(encoding="utf-8"))]


def _gold(row: dict[str, Any]) -> dict[Pair, set[Argument]]:
    out: dict[Pair, set[Argument]] = {}
    for result in row["result"]:
        arguments = out.setdefault((result["reason_type"], result["result_type"]), set())
        arguments |= {(role, item[0]) for role in ROLES for item in result[role] if item[0]}
    return out


def _flat(read: dict[Pair, set[Argument]]) -> set[tuple[Pair, Argument]]:
    return {(pair, argument) for pair, arguments in read.items() for argument in arguments}


def _faults(report: Report, text: str, gold: dict[Pair, set[Argument]], read: dict[Pair, set[Argument]]) -> None:
    for pair in sorted(gold.keys() - read.keys()):
        shown = f"{text[:160]} | {pair} | {sorted(read)}"
        if (pair[1], pair[0]) in read:
            report.fault("wrong direction (cause and effect swapped)", shown)
        elif any(pair[0] == cause for cause, _ in read):
            report.fault("wrong effect", shown)
        elif any(pair[1] == effect for _, effect in read):
            report.fault("wrong cause", shown)
        else:
            report.fault("missed pair", shown)
    for pair in sorted(gold.keys() & read.keys()):
        missed, extra = gold[pair] - read[pair], read[pair] - gold[pair]
        for role, name in sorted(missed):
            near = any(each == role and (name in other or other in name) for each, other in extra)
            report.fault(
                "wrong boundary" if near else "missed argument", f"{text[:160]} | {role} {name} | {sorted(extra)}"
            )


class _Untrained:
    """Liantu's own reader of movements, its kinds of factor renamed."""

    def __init__(self) -> None:
        self._lexicon = shipped_lexicon()

    def read(self, text: str) -> dict[Pair, set[Argument]]:
        names = names_in(text, self._lexicon)
        out: dict[Pair, set[Argument]] = {}
        for index, link in enumerate(link_moves(text, find_moves(text))):
            if index and link.score < _TIED:
                break
            out.setdefault(_label(link), _arguments(text, link, names))
        return out

    def arguments(self, text: str, pairs: Iterable[Pair]) -> dict[Pair, set[Argument]]:
        """Return the arguments of pairs that are given: those of the best tied movements of their types."""
        links, names = link_moves(text, find_moves(text)), names_in(text, self._lexicon)
        out: dict[Pair, set[Argument]] = {}
        for pair in pairs:
            # max is stable: of links that fit equally well the best tied one is the first
            fits = [sum(a == b for a, b in zip(_label(link), pair, strict=True)) for link in links]
            out[pair] = _arguments(text, links[fits.index(max(fits))], names) if links else set()
        return out


class _Trained:
    """The causal model, fitted on training files first; saved and loaded, as `liantu` would."""

    def __init__(self, files: tuple[Path, ...], report: Report) -> None:
        examples = [
            CausalExample(text, {_typed(pair): _sides(arguments) for pair, arguments in gold.items()})
            for path in files
            for text, gold in load(path)
        ]
        begun = time.perf_counter()
        fitted = fit(examples)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "causal.npz"
            fitted.save(path)
            seconds, size = time.perf_counter() - begun, path.stat().st_size / 1e6
            report.notes.append(
                f"fitted on {len(examples):,} texts ({fitted.data_hash[:12]}) in {seconds:.0f} s; {size:.1f} MB stored"
            )
            self._model = CausalModel.load(path)

    def read(self, text: str) -> dict[Pair, set[Argument]]:
        return self.arguments(text, [_untyped(told.pair) for told in self._model.read(text)])

    def arguments(self, text: str, pairs: Iterable[Pair]) -> dict[Pair, set[Argument]]:
        """Return the arguments of pairs that are given."""
        wanted = {_typed(pair): pair for pair in pairs}
        return {
            wanted[typed]: {
                (f"{side}_{role}", name)
                for side, found in zip(("reason", "result"), sides, strict=True)
                for role, name in found
            }
            for typed, sides in self._model.arguments(text, wanted).items()
        }


def _typed(pair: Pair) -> Pair:
    """Write a pair of the set in Liantu's types; what Liantu has no kind for keeps its name."""
    return _TYPES.get(pair[0], pair[0]), _TYPES.get(pair[1], pair[1])


def _untyped(pair: Pair) -> Pair:
    return _NAMES.get(pair[0], pair[0]), _NAMES.get(pair[1], pair[1])


def _sides(arguments: set[Argument]) -> tuple[frozenset[Argument], frozenset[Argument]]:
    sides = [
        frozenset((role.removeprefix(f"{side}_"), name) for role, name in arguments if role.startswith(side))
        for side in ("reason", "result")
    ]
    return sides[0], sides[1]


def _label(link: Link) -> Pair:
    return _name(link.cause), _name(link.effect)


def _name(move: Move) -> str:
    return _MOVES[move.kind][move.direction < 0] if move.direction else _HAPPENINGS[move.kind]


def _arguments(text: str, link: Link, names: list[Name]) -> set[Argument]:
    out: set[Argument] = set()
    owners = owners_of_link(text, link, names)
    for side, move, owned in zip(("reason", "result"), (link.cause, link.effect), owners, strict=True):
        out |= {_argument(text, side, name) for name in (*owned, *region_of_move(text, move, names))}
    return out


def _argument(text: str, side: str, name: Name) -> Argument:
    """Write a name as the set does: with 行业 and 产品 behind it, a trade being what is called one."""
    suffix = _SUFFIX.match(text, name.end)
    spelled = text[name.start : suffix.end() if suffix else name.end]
    if name.kind == Kind.REGION:
        return f"{side}_region", spelled
    return f"{side}_{'industry' if _TRADE.search(spelled) else 'product'}", spelled
