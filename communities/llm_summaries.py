"""Write summaries with a language model and reject replies whose sentences the cited facts do not support."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from kg.ids import digest
from kg.llm.port import Request, tokens
from kg.model import Summary, SummaryLine
from kg.query.grounding.checking import SentenceCheck
from kg.query.grounding.context import context_item
from kg.query.grounding.prose import fault_text
from kg.query.wording import claim_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from communities.content import Content
    from kg.llm.port import Model
    from kg.model import Fact
    from kg.query.answers import ContextItem
    from kg.query.grounding.checking import KnownNames
    from kg.query.session import QuerySession

TEMPLATE = "theme.md.j2"
_REPLY_TOKENS = 1024
_QUOTE = 80
_CITED = 4  # sentences of a fact that a line may rest on
_CONSIDERED = 60  # strongest facts of a theme to choose from
_ROW_TOKENS = 8  # handle and separators
_MAX_MEMBERS = 24
_MAX_LINES, _MAX_LINE_LENGTH = 12, 160
_FAMILIES = {"chain": "产业链", "causal": "因果", "structure": "关系", "measured": "数据"}
_LABELS = {"chain": "产业链", "cause": "因果", "figure": "数据", "outlook": "展望", "disagreement": "分歧"}
_REPLACED = frozenset({*_LABELS.values(), "概要", "近期", "驱动", "日程"})  # lines that the model's sentences replace
_SPACES = re.compile(r"\s+")


class PromptFact(NamedTuple):
    """A fact as shown in the prompt; `many` is set for several independent sources."""

    family: str
    text: str
    quote: str
    many: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One summary to write: the request, its key, and the facts of the citable handles."""

    key: str
    request: Request
    composed: Summary
    facts: Mapping[str, Fact]
    rows: Mapping[str, PromptFact]
    items: tuple[ContextItem, ...]
    opposed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """A rejected reply and the reason."""

    title: str
    cause: str


def task(
    session: QuerySession, content: Content, composed: Summary, *, children: Sequence[Summary], model: str, budget: int
) -> Task:
    """Return the model request for one theme.

    Args:
        session: session used to word the facts.
        content: members and facts of the theme.
        composed: the rule-based summary; supplies the title and replaces a rejected reply.
        children: summaries of the sub-themes.
        model: name of the model, part of the key.
        budget: maximum tokens of the facts (an estimate, kg/llm/port.py).
    """
    chosen = choose(session, content, budget)
    # Sorted by id, not by strength, so that one more source of a known fact does not change the prompt.
    handles = {f"F{number}": fact for number, fact in enumerate(sorted(chosen, key=lambda fact: fact.id), start=1)}
    handle_of = {fact.id: handle for handle, fact in handles.items()}
    opposed = tuple(
        (handle_of[one.id], handle_of[other.id])
        for one, other in content.opposed
        if one.id in handle_of and other.id in handle_of
    )
    rows = {handle: row(session, fact) for handle, fact in handles.items()}
    text = _template().render(
        title=_flat(composed.title),
        members=sorted(_flat(session.name(member)) for member in content.members[:_MAX_MEMBERS]),
        children=[_flat(f"{child.title}：{child.lines[0].text}") for child in children if child.lines],
        facts=list(rows.items()),
        opposed=opposed,
    )
    request = Request((("user", text),), _REPLY_TOKENS)
    key = "summary:" + digest((model, text, str(_REPLY_TOKENS)))
    items = []
    for handle, fact in handles.items():
        cited = session.citations([fact], _CITED)
        items.append(replace(context_item("fact", rows[handle].text, cited, facts=[fact], session=session), id=handle))
    return Task(key, request, composed, handles, rows, tuple(items), opposed)


def choose(session: QuerySession, content: Content, budget: int) -> list[Fact]:
    """Return the facts that fit a budget: contradictions first, then by weight, halved per entity already covered.

    Greedy by marginal value (maximal marginal relevance, Carbonell and Goldstein 1998), so that no single pair of
    entities fills the budget.
    """
    first = [fact for pair in content.opposed for fact in pair]
    left = list(dict.fromkeys((*content.facts[:_CONSIDERED], *content.figures[: _CONSIDERED // 4])))
    covered: dict[str, int] = {}
    chosen: list[Fact] = []
    spent = 0
    while first or left:
        best = first.pop(0) if first else max(left, key=lambda fact: (_marginal_value(session, fact, covered), fact.id))
        left = [fact for fact in left if fact.id != best.id]
        cost = sum(tokens(part) for part in row(session, best)[:3]) + _ROW_TOKENS
        if best in chosen or spent + cost > budget:
            continue
        chosen.append(best)
        spent += cost
        for end in (best.subject, best.object):
            covered[end] = covered.get(end, 0) + 1
    return chosen


def _marginal_value(session: QuerySession, fact: Fact, covered: Mapping[str, int]) -> float:
    repeated = covered.get(fact.subject, 0) + covered.get(fact.object, 0)
    return float(fact.witnesses * fact.confidence * session.words[fact.relation].weight * 0.5**repeated)


def row(session: QuerySession, fact: Fact) -> PromptFact:
    """Return a fact for the prompt, with line breaks removed."""
    quote = _flat(min(fact.evidence, key=lambda item: (item.published_on, item.document, item.start)).quote)
    short = quote if len(quote) <= _QUOTE else f"{quote[:_QUOTE]}…"
    return PromptFact(
        _FAMILIES[session.words[fact.relation].family], _flat(claim_text(session, fact)), short, fact.witnesses > 1
    )


def answer(model: Model, tasks: Sequence[Task], *, parallel: int, done: Callable[[], None]) -> list[str]:
    """Send all tasks to a model in parallel and return the replies in order.

    Raises:
        ModelError: the first failure; requests in flight finish, no new ones are sent.
    """
    pool = ThreadPoolExecutor(max(1, parallel))
    futures = [pool.submit(model.complete, item.request) for item in tasks]
    try:
        replies = []
        for future in futures:
            replies.append(future.result().text)
            done()
        return replies
    finally:
        pool.shutdown(cancel_futures=True)


def accept(item: Task, reply: str, names: KnownNames) -> Summary | RefusedReply:
    """Return the summary parsed from a reply, or the reason for rejecting it.

    Every sentence must cite given facts that support it (kg/query/grounding/checking.py), and contradictory facts must
    be cited together.
    """
    check = SentenceCheck(item.items, names)
    try:
        lines = _parsed(reply)
        problems = [problem for line in lines for problem in _faults(item, check, *line)]
        cited = [set(handles) for _, _, handles in lines]
        problems += (f"分歧 {a}、{b} 未并列" for a, b in item.opposed if not any({a, b} <= each for each in cited))
    except ValueError as error:
        problems, lines = [str(error)], []
    if problems:
        return RefusedReply(item.composed.title, "；".join(problems[:3]))
    written = tuple(
        SummaryLine(f"{label}：{text}", tuple(item.facts[handle].id for handle in dict.fromkeys(handles)))
        for label, text, handles in lines
    )
    # Roles and sub-themes come from the graph, not from the model.
    kept = tuple(line for line in item.composed.lines if line.text.split("：", 1)[0] not in _REPLACED)
    return Summary(item.key, item.composed.title, (written[0], *kept, *written[1:]), item.composed.period)


def _faults(item: Task, check: SentenceCheck, label: str, text: str, handles: Sequence[str]) -> Iterable[str]:
    unknown = [handle for handle in handles if handle not in item.facts]
    if unknown or not handles:
        yield f"「{text[:20]}」引用了不存在的事实 {'、'.join(unknown)}" if unknown else f"「{text[:20]}」没有引用"
        return
    if label == _LABELS["disagreement"] and len(set(handles)) < 2:  # noqa: PLR2004 -- two sides
        yield f"「{text[:20]}」只引了分歧的一方"
    for fault in check.verdict(text, list(dict.fromkeys(handles))).faults:
        yield f"「{text[:20]}」{fault_text(fault, 'zh')}"


def _parsed(reply: str) -> list[tuple[str, str, list[str]]]:
    """Parse the JSON object in a reply, ignoring surrounding text; the gist comes first."""
    begin, end = reply.find("{"), reply.rfind("}")
    try:
        data = json.loads(reply[begin : end + 1])
        entries = [("概要", data["gist"]), *((_LABELS[entry["kind"]], entry) for entry in data["lines"])]
        found = [(label, _sentence(entry["text"]), _handles(entry["facts"])) for label, entry in entries]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("回复不是所要求的 JSON") from error
    if len(found) > _MAX_LINES:
        raise ValueError(f"多于 {_MAX_LINES} 句")
    return found


def _sentence(text: Any) -> str:
    sentence = _flat(text) if isinstance(text, str) else ""
    if not 0 < len(sentence) <= _MAX_LINE_LENGTH:
        raise ValueError("空句或过长的句子")
    return sentence


def _handles(given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(handle, str) for handle in given):
        raise TypeError
    return given


def _flat(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


@cache
def _template() -> Any:
    # Plain text, not HTML. The template declares facts as data, and `accept` checks the reply.
    environment = Environment(
        loader=PackageLoader(__package__, "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 -- a prompt is not HTML
    )
    return environment.get_template(TEMPLATE)
