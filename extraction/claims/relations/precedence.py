"""Weigh the readers of a document against each other: what a rule reads exactly, no guess contradicts.

Frames decide who sells to whom, patterns which product is upstream and what a clause says a company makes. The edge
model finds more, but it takes customers for makers, turns chains round and gives a product to the neighbour's item.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct, field, structs

from extraction.claims.relations.frames import FRAME
from extraction.sentence import PATTERNS
from extraction.text.clauses import clause_end, clause_start
from extraction.text.lexicon import phrases
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import Kind, Polarity
from kg.relations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from extraction.sentence import AnnotatedSentence, Claim, EntityMention

    ClaimRow = tuple[Claim, AnnotatedSentence]
    Pair = tuple[str, str]

_MAKES = frozenset({"produces", "operates"})
_WEAKER = frozenset({"partners_with", "trades_with"})  # what a supply is often taken for
_ROLES = (FRAME, "table.customers", "table.suppliers", "table.buyers")  # patterns that know who buys
_PLACED = "belongs.midstream"  # patterns that place a stage within a chain
_FLOWS = frozenset({"upstream_of", "part_of"})
_MOST = 0.95
_BEHIND = 24  # characters behind a frame in which its goods are named
_NEAR = 4  # characters behind two companies that say what joins them: 「获乙投资」
_FAR = frozenset("，。；：（）|")  # marks between a company and what its clause does not give it
_PHRASES = phrases("relations/precedence")
_MOVERS, _NO_FIRM, _REGULATOR, _SIDE = (_PHRASES[name] for name in ("movers", "no_firm", "regulator", "side"))
_IS_INPUT, _HAS_INPUT, _IS_BOUGHT, _GOES_INTO, _OWN_VERB, _NO_SALE = (
    _PHRASES[name] for name in ("is_input", "has_input", "is_bought", "goes_into", "own_verb", "no_sale")
)
_MOVES, _RIVALS, _LONGER, _NOTES_LIST = (_PHRASES[name] for name in ("moves", "rivals", "longer", "notes_list"))
_LISTED_AS = re.compile(r"(?:上游|中游|下游|终端)[^，。；：]{0,6}?(?:为|是|包括)[^，。；：]*$")
_AS_CUSTOMER = re.compile("客户(?:资源|群体)?(?:主要)?(?:包括|涵盖|覆盖|为|有|是|：)[^，。；]*$")
_UP, _MIDDLE = 0, 1  # sides, from the first
_SHARES = re.compile("[持控]|股[权份东]")
_TRADES = frozenset({"supplies", "competes_with"})
# words of which one has to be in the sentence, so that a guess counts
_WORDS = {name: _PHRASES[name] for name in ("acquires", "holds_stake_in", "subsidiary_of")}
_INTENT, _HELD, _BOUGHT, _BRANCH = (_PHRASES[name] for name in ("intent", "held", "bought", "branch"))
_FLAT = re.compile(r"https?://|链接[：:]")
_YEAR = re.compile(r"(?:19|20)\d\d")  # a row of a flattened table: 「甲公司2007收购乙公司」
_FAR_APART = 40
_BETWEEN_FIRMS = _TRADES | {"acquires", "holds_stake_in", "subsidiary_of", "partners_with"}


class _Read(Struct):
    """What rules read in one sentence: pairs of companies, who buys, what its companies make, what goes into what."""

    pairs: dict[Pair, Claim] = field(default_factory=dict)
    flows: list[Claim] = field(default_factory=list)
    buys: list[Claim] = field(default_factory=list)
    makes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


class _Document(Struct):
    """What rules read in a document: supplies and flows by pair, and all of it by sentence."""

    sold: set[Pair] = field(default_factory=set)
    flows: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    sentences: dict[int, _Read] = field(default_factory=lambda: defaultdict(_Read))

    def flows_to(self, start: str, end: str) -> bool:
        """Whether a chain of patterns leads from one thing down to another."""
        seen, todo = {start}, [start]
        while todo:
            fresh = self.flows.get(todo.pop(), set()) - seen
            if end in fresh:
                return True
            seen |= fresh
            todo += sorted(fresh)
        return False


def settled(rows: Sequence[ClaimRow]) -> list[ClaimRow]:
    """Return the claims of a document without those that contradict or repeat what a rule reads exactly.

    Where another reader agrees with a frame, the frame's claim becomes surer.
    """
    rows = [(_in_full(claim, sentence.text), sentence) for claim, sentence in rows]
    read = _read(rows)
    agreed: dict[int, Claim] = {}
    named = [row for row in rows if not (_has_no_firm(row[0]) or _is_no_holder(*row) or _is_unfounded(*row))]
    kept = [row for row in named if row[0].pattern.startswith(FRAME) or not _is_settled(row, read, agreed)]
    return [(agreed.get(id(claim), claim), sentence) for claim, sentence in kept]


def _read(rows: Iterable[ClaimRow]) -> _Document:
    found = _Document()
    for claim, sentence in rows:
        pair = claim.subject.entity, claim.object.entity
        here = found.sentences[sentence.sentence.start]
        role = claim.pattern.startswith(_ROLES) and claim.relation in ("supplies", "uses")
        if role or (claim.reader == PATTERNS and claim.relation == "uses"):
            here.buys.append(claim)
        if claim.pattern.startswith(FRAME):
            here.pairs[pair] = claim
            if claim.relation == "supplies":
                found.sold.add(pair)
                goods = dict(claim.qualifiers).get("product", "")
                here.makes[pair[0]] |= {entity_id(Kind.PRODUCT, name) for name in goods.split("、") if name}
        elif claim.reader == PATTERNS and claim.relation == "upstream_of":
            found.flows[pair[0]].add(pair[1])
            here.flows.append(claim)
        elif claim.reader == PATTERNS and claim.pattern.startswith(_PLACED):
            here.flows.append(claim)
        elif claim.reader == PATTERNS and claim.relation in _MAKES and claim.object.start >= 0:
            here.makes[pair[0]].add(pair[1])
    return found


def _in_full(claim: Claim, text: str) -> Claim:
    """Return a maker's claim with its product in full: 「TOPCon整线设备」 is no TOPCon."""
    product = claim.object
    found = _LONGER.match(text, product.end) if claim.relation in _MAKES and product.start >= 0 else None
    if found is None or product.kind not in (Kind.PRODUCT, Kind.INDUSTRY):
        return claim
    name = product.name + found[0]
    whole = structs.replace(
        product, entity=entity_id(Kind.PRODUCT, name), kind=Kind.PRODUCT, name=name, end=found.end(), about="", owner=""
    )
    return structs.replace(claim, object=whole, end=max(claim.end, found.end()))


def _has_no_firm(claim: Claim) -> bool:
    """Whether a company of a relation is a kind of firm (科技企业), a flow of funds, or a regulator that trades."""
    if claim.relation not in _BETWEEN_FIRMS | _MAKES | {"invests_in"}:
        return False
    names = [end.name for end in (claim.subject, claim.object) if end.entity.startswith(("org:", "institution:"))]
    kinds = {kind_of(end.entity) for end in (claim.subject, claim.object)}
    if kinds == {Kind.INSTITUTION} and claim.relation in _BETWEEN_FIRMS:
        return True
    trades = claim.relation in _TRADES
    return any(_NO_FIRM.search(name) or (trades and _REGULATOR.search(name)) for name in names)


def _is_no_holder(claim: Claim, sentence: AnnotatedSentence) -> bool:
    """Whether a guess makes an owner of a person without a word of shares in the clause: 「张某1993年加入甲公司」."""
    if claim.reader == PATTERNS or claim.relation != "holds_stake_in" or kind_of(claim.subject.entity) != Kind.PERSON:
        return False
    between = sentence.text[claim.subject.end : claim.object.start] if claim.subject.start >= 0 else ""
    return bool(between) and ("，" in between or not _SHARES.search(between))


def _is_unfounded(claim: Claim, sentence: AnnotatedSentence) -> bool:
    """Whether a relation between firms is only considered, or guessed from a sentence without a word for it."""
    if claim.relation not in _BETWEEN_FIRMS:
        return False
    text, ends = sentence.text, (claim.subject, claim.object)
    begin = clause_start(text, max(min(end.start for end in ends), 0))
    stop = clause_end(text, max(end.end for end in ends))
    if _INTENT.search(text, begin, stop):
        return True
    branch = any(end.start >= 0 and _BRANCH.search(text[end.start : end.end + _NEAR * 3]) for end in ends)
    if branch or _is_flattened(claim, text):
        return True
    if claim.reader == PATTERNS:
        return False
    if claim.relation == "acquires" and kind_of(claim.object.entity) in (Kind.PRODUCT, Kind.INDUSTRY):
        return True
    words = _WORDS.get(claim.relation)
    if (words and not words.search(text)) or (claim.relation == "acquires" and _HELD.match(text, claim.object.end)):
        return True
    if claim.relation == "partners_with" and any(_is_bought(text, end) for end in ends):
        return True
    opener = next((ref for ref in sentence.refs if ref.start == 0 and ref.kind is Kind.COMPANY), None)
    absent = min(end.start for end in ends) < 0
    return absent and opener is not None and opener.entity not in {end.entity for end in ends}


def _is_flattened(claim: Claim, text: str) -> bool:
    """Whether a claim joins cells of a flattened table: beside links, far apart, or over a bare year."""
    low, high = sorted((claim.subject, claim.object), key=lambda end: end.start)
    if low.start < 0:
        return False
    event = claim.pattern.startswith("event.")
    if event and (high.start - low.end > _FAR_APART or _FLAT.search(text)):
        return True
    return _YEAR.match(text, low.end) is not None and text[low.end + 4 : low.end + 5] not in tuple("年-/.QH")


def _is_bought(text: str, end: EntityMention) -> bool:
    """Whether the text says that a company was bought: 「收购乙」, 「从乙收购」."""
    return end.start >= 0 and bool(_BOUGHT.match(text, end.end) or _BOUGHT.match(text, max(0, end.start - 2)))


def _is_settled(row: ClaimRow, read: _Document, agreed: dict[int, Claim]) -> bool:
    """Whether rules settle a claim: they read the opposite, the same, or something else for its subject."""
    claim, sentence = row
    here = read.sentences[sentence.sentence.start]
    pair = claim.subject.entity, claim.object.entity
    if claim.relation in _MAKES:
        return _is_not_its_own(claim, sentence, here)
    turned = pair[::-1] in read.sold and pair not in read.sold
    if claim.relation == "supplies" and (turned or _is_supplied_otherwise(claim, here, sentence.text)):
        return True
    if claim.relation in _FLOWS and claim.reader != PATTERNS:
        if _is_turned(claim, sentence.text):
            agreed[id(claim)] = structs.replace(claim, subject=claim.object, object=claim.subject)
            return read.flows_to(*pair)
        return read.flows_to(pair[1], pair[0]) or _is_misplaced(claim, sentence, here)
    frame = here.pairs.get(pair) or here.pairs.get(pair[::-1])
    if frame is None:
        return False
    same = frame.relation == claim.relation
    if same and (vocabulary()[claim.relation].symmetric or pair in here.pairs):
        agreed[id(frame)] = _agreed(agreed.get(id(frame), frame), claim)
    return same or (frame.relation == "supplies" and claim.relation in _WEAKER)


def _is_supplied_otherwise(claim: Claim, here: _Read, text: str) -> bool:
    """Whether a guessed supply is none, or a frame reads another one in the sentence that leaves no room for it.

    A frame names all sellers of its buyer and the direction of each; it leaves another buyer in the seller's clause.
    """
    pair = claim.subject.entity, claim.object.entity
    sold = [read for read, frame in here.pairs.items() if frame.relation == "supplies"]
    if pair in sold:
        return False
    low, high = sorted((claim.subject, claim.object), key=lambda end: end.start)
    between = text[low.end : high.start] if low.start >= 0 else "，"
    if claim.reader != PATTERNS and low.start >= 0 and _NO_SALE.search(text[low.end : high.end + _NEAR]):
        return True
    sellers, buyers = {seller for seller, _ in sold}, {buyer for _, buyer in sold}
    if pair[0] in buyers or pair[1] in buyers | sellers:
        return True
    return bool(sold) and "，" in between


def _is_misplaced(claim: Claim, sentence: AnnotatedSentence, here: _Read) -> bool:
    """Whether a flow joins two things that rules place otherwise, or leads against the sides of the sentence."""
    placed = {end.entity for flow in here.flows for end in (flow.subject, flow.object)}
    pair = claim.subject.entity, claim.object.entity
    if len(here.flows) > 1 and placed.issuperset(pair):
        read = {(flow.subject.entity, flow.object.entity) for flow in here.flows if flow.relation in _FLOWS}
        return pair not in read
    source, target = (_side(sentence.text, end.start) for end in (claim.subject, claim.object))
    if target is None:
        return source is not None and source != _UP
    return target == _UP if source is None else source > target


def _is_turned(claim: Claim, text: str) -> bool:
    """Whether a flow leads against the side that a sentence gives one end of it: 「甲的下游为乙」 is 甲 → 乙."""
    first = _SIDE.search(text)
    if first is None or min(claim.subject.start, claim.object.start) < 0:
        return False
    owner, far = sorted((claim.subject, claim.object), key=lambda end: end.start)
    side = _side(text, far.start)
    if side is None or owner.end > first.start() or not _FAR.isdisjoint(text[owner.end : first.start()]):
        return False
    return side > _MIDDLE if far == claim.subject else side == _UP


def _side(text: str, at: int) -> int | None:
    """Return the side of a chain that a place of a sentence is on: of the marker before it, None before any.

    >>> text = "甲产业链上游为乙，下游为丙"
    >>> _side(text, text.index("甲")), _side(text, text.index("乙")), _side(text, text.index("丙"))
    (None, 0, 2)
    """
    before = [found[1] for found in _SIDE.finditer(text, 0, max(at, 0))]
    return ("上游", "中游", "下游", "终端").index(before[-1]) if before else None


def _agreed(frame: Claim, claim: Claim) -> Claim:
    """Return the claim of a frame, surer by another that states the same, with what only that one says."""
    confidence = min(_MOST, 1 - (1 - frame.confidence) * (1 - claim.confidence))
    by_rule = claim.reader == PATTERNS
    denied = by_rule and claim.polarity is Polarity.NEGATIVE
    return structs.replace(
        frame,
        confidence=round(confidence, 3),
        value=frame.value or claim.value,
        qualifiers=tuple(sorted({**dict(claim.qualifiers), **dict(frame.qualifiers)}.items())),
        modality=frame.modality or (claim.modality if by_rule else None),
        polarity=frame.polarity or (Polarity.NEGATIVE if denied else None),
    )


def _is_not_its_own(claim: Claim, sentence: AnnotatedSentence, here: _Read) -> bool:
    """Whether a maker is a buyer of the goods, a price mover, or in a clause that gives it another product."""
    if any(_buys_it(bought, claim) for bought in here.buys):
        return True
    if claim.reader == PATTERNS:
        return False
    text = sentence.text
    low, high = sorted((claim.subject, claim.object), key=lambda end: end.start)
    between = text[low.end : high.start] if low.start >= 0 else text
    apart = not _FAR.isdisjoint(between)
    if claim.relation == "operates" and _MOVERS.search(between):
        return True
    if _is_bought_or_listed(claim, text) or ((low.start < 0 or apart) and _is_anothers(claim, text)):
        return True
    if _is_elsewhere(claim, sentence) if claim.object.start < 0 else _is_of_others(claim, sentence):
        return True
    own = here.makes.get(claim.subject.entity, set())
    if not own or claim.object.entity in own:
        return False
    if any(text.startswith(each.partition(":")[2], claim.object.start) for each in own if claim.object.start >= 0):
        return True  # 「主营铝边框」 is no 铝
    return apart if low.start >= 0 else not any(claim.object.name in heading for heading in sentence.heading)


def _is_elsewhere(claim: Claim, sentence: AnnotatedSentence) -> bool:
    """Whether a product is made that its sentence does not name, or stands only in the title above a note's list."""
    ending = claim.object.name[-2:]
    if claim.subject.start < 0 or ending in sentence.text or any(ending in heading for heading in sentence.heading):
        return False
    return claim.relation == "produces" or (not sentence.heading and bool(_NOTES_LIST.match(sentence.text)))


def _is_of_others(claim: Claim, sentence: AnnotatedSentence) -> bool:
    """Whether the clause of a product begins with another company, sets it against a rival, or moves the company.

    In 「甲公司供应乙料，丙公司供应丁料」 and 「丁料扩产带动甲公司订单增长」 甲 makes no 丁料.
    """
    text, subject, product = sentence.text, claim.subject, claim.object
    if subject.start > product.start:
        between = text[product.end : subject.start]
        return _FAR.isdisjoint(between) and bool(_MOVES.search(between))
    begin = max(text.rfind(mark, 0, product.start) for mark in "，；。") + 1
    first = next((ref for ref in sentence.refs if ref.start == begin and ref.kind is Kind.COMPANY), None)
    if 0 <= subject.end < begin and first is not None and first.entity != subject.entity:
        return True
    return text[product.start - 1 : product.start] == "与" and bool(_RIVALS.match(text, product.end))


def _is_bought_or_listed(claim: Claim, text: str) -> bool:
    """Whether a sentence says who buys a product (乙料的主要采购方), what goods go into (应用于光刻机), or lists goods.

    「乙料的上游为甲料、丙水」 is such a list.
    """
    product = claim.object
    if product.start >= 0 and (_IS_BOUGHT.match(text, product.end) or _GOES_INTO.search(text, 0, product.start)):
        return True
    if claim.subject.start >= 0 and _AS_CUSTOMER.search(text, 0, claim.subject.start):
        return True
    unlisted = claim.subject.entity.startswith("org:") and claim.subject.start >= 0
    is_owner = unlisted and _side(text, claim.object.start) is None
    return is_owner and bool(_LISTED_AS.search(text, 0, claim.subject.start))


def _is_anothers(claim: Claim, text: str) -> bool:
    """Whether a product beyond a company's clause is an input or what it goes into, or precedes what the company does.

    In 「甲公司：乙料是丙件的原材料」 甲 makes neither, in 「乙公司主营丙件，甲公司运营电站」 no 丙件.
    """
    thing = claim.object
    if thing.start >= 0:
        name = re.escape(text[thing.start : thing.end])  # wherever it stands in the sentence
        has_input = re.search(rf"[是为系]{name}{_HAS_INPUT.pattern}", text)
        if has_input or _IS_INPUT.match(text, thing.end):
            return True
    does = _OWN_VERB.match(text, claim.subject.end)
    if does is None or claim.object.start > claim.subject.start:
        return False
    return claim.object.name[-2:] not in text[does.end() : does.end() + _BEHIND]


def _buys_it(bought: Claim, claim: Claim) -> bool:
    """Whether a rule has a company buy what another reader takes for its own product."""
    if bought.relation == "uses":
        same = bought.pattern.startswith(_ROLES) or bought.object.entity == claim.object.entity
        return same and bought.subject.entity == claim.subject.entity
    if bought.object.entity != claim.subject.entity:
        return False
    if bought.start == bought.end == 0 or claim.object.start < 0:
        return True  # a table's row, or goods named elsewhere
    inside = bought.start <= claim.object.start < bought.end + _BEHIND
    return inside or claim.object.name in dict(bought.qualifiers).get("product", "").split("、")
