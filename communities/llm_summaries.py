"""Summaries by a model: facts within a budget go in, checked sentences come out; what fails the check is refused."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from kg.ids import digest
from kg.llm.port import Request, tokens
from kg.model import Summary, SummaryLine
from kg.query.wording import claim_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from communities.theme_facts import Content
    from kg.llm.port import Model
    from kg.model import Fact
    from kg.query.session import QuerySession

TEMPLATE = "theme.md.j2"
_REPLY_TOKENS = 1024
_QUOTE = 80
_ROW_TOKENS = 8  # handle and separators
_MOST_MEMBERS = 24
_MOST_LINES, _LONGEST_LINE = 12, 160
_FAMILIES = {"chain": "产业链", "causal": "因果", "structure": "关系", "measured": "数据"}
_LABELS = {"chain": "产业链", "cause": "因果", "figure": "数据", "outlook": "展望", "disagreement": "分歧"}
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_SPACES = re.compile(r"\s+")


class PromptFact(NamedTuple):
    """A fact as the prompt shows it."""

    family: str
    text: str
    quote: str
    many: bool


@dataclass(frozen=True, slots=True)
class Task:
    """One summary to be written: the request, its key, and the facts behind the handles it may cite."""

    key: str
    request: Request
    composed: Summary
    facts: Mapping[str, Fact]
    rows: Mapping[str, PromptFact]
    opposed: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """A reply that was not published, and why."""

    title: str
    cause: str


def task(
    session: QuerySession, content: Content, composed: Summary, *, children: Sequence[Summary], model: str, budget: int
) -> Task:
    """Return what to ask a model about one theme.

    Args:
        session: words the facts.
        content: what there is to tell.
        composed: the summary that needs no model; it gives the title, and is published when the reply is refused.
        children: summaries of a higher level's parts.
        model: its name, part of the key.
        budget: most tokens of the facts (an estimate, kg/llm/port.py).
    """
    chosen = choose(session, content, budget)
    # In the order of their ids, not of their strength: one more witness must not make the same facts another prompt.
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
        members=sorted(_flat(session.name(member)) for member in content.members[:_MOST_MEMBERS]),
        children=[_flat(f"{child.title}：{child.lines[0].text}") for child in children if child.lines],
        facts=list(rows.items()),
        opposed=opposed,
    )
    request = Request((("user", text),), _REPLY_TOKENS)
    key = "summary:" + digest((model, text, str(_REPLY_TOKENS)))
    return Task(key, request, composed, handles, rows, opposed)


def choose(session: QuerySession, content: Content, budget: int) -> list[Fact]:
    """Return the facts that fit a budget: opposed ones first, then by weight, halved for each end told of already.

    Greedy by marginal worth (maximal marginal relevance, Carbonell and Goldstein 1998), so that no one pair fills it.
    """
    first = [fact for pair in content.opposed for fact in pair]
    left = list(dict.fromkeys((*content.facts, *content.figures)))
    told: dict[str, int] = {}
    chosen: list[Fact] = []
    spent = 0
    while first or left:
        best = first.pop(0) if first else max(left, key=lambda fact: (_worth(session, fact, told), fact.id))
        left = [fact for fact in left if fact.id != best.id]
        cost = sum(tokens(part) for part in row(session, best)[:3]) + _ROW_TOKENS
        if best in chosen or spent + cost > budget:
            continue
        chosen.append(best)
        spent += cost
        for end in (best.subject, best.object):
            told[end] = told.get(end, 0) + 1
    return chosen


def _worth(session: QuerySession, fact: Fact, told: Mapping[str, int]) -> float:
    repeated = told.get(fact.subject, 0) + told.get(fact.object, 0)
    return float(fact.witnesses * fact.confidence * session.words[fact.relation].weight * 0.5**repeated)


def row(session: QuerySession, fact: Fact) -> PromptFact:
    """Return a fact for the prompt, on one line whatever its source wrote."""
    quote = _flat(min(fact.evidence, key=lambda item: (item.published_on, item.document, item.start)).quote)
    short = quote if len(quote) <= _QUOTE else f"{quote[:_QUOTE]}…"
    return PromptFact(
        _FAMILIES[session.words[fact.relation].family], _flat(claim_text(session, fact)), short, fact.witnesses > 1
    )


def answer(model: Model, tasks: Sequence[Task], *, parallel: int, done: Callable[[], None]) -> list[str]:
    """Ask a model about all tasks, some at once, and return the replies in order.

    Raises:
        ModelError: the first that comes up; what is under way is finished, nothing new is asked.
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


def accept(item: Task, reply: str) -> Summary | RefusedReply:
    """Return the summary that a reply is, or why it is refused.

    Every sentence cites facts that it was given, every number in it stands in one of them, and facts that contradict
    each other are set side by side.
    """
    try:
        lines = _parsed(reply)
        problems = [problem for line in lines for problem in _faults(item, *line)]
        cited = [set(handles) for _, _, handles in lines]
        problems += (f"分歧 {a}、{b} 未并列" for a, b in item.opposed if not any({a, b} <= each for each in cited))
    except ValueError as error:
        problems, lines = [str(error)], []
    if problems:
        return RefusedReply(item.composed.title, "；".join(problems[:3]))
    told = tuple(
        SummaryLine(f"{label}：{text}", tuple(item.facts[handle].id for handle in dict.fromkeys(handles)))
        for label, text, handles in lines
    )
    # Roles and parts are ours: they are read off the graph, not told.
    kept = tuple(line for line in item.composed.lines[1:] if line.text.split("：", 1)[0] not in _LABELS.values())
    return Summary(item.key, item.composed.title, (told[0], *kept, *told[1:]), item.composed.period)


def _faults(item: Task, label: str, text: str, handles: Sequence[str]) -> Iterable[str]:
    unknown = [handle for handle in handles if handle not in item.facts]
    if unknown or not handles:
        yield f"「{text[:20]}」引用了不存在的事实 {'、'.join(unknown)}" if unknown else f"「{text[:20]}」没有引用"
        return
    sources = [item.rows[handle] for handle in handles]
    full = [evidence.quote for handle in handles for evidence in item.facts[handle].evidence]
    said = set(_NUMBER.findall(_plain(" ".join([*(source.text for source in sources), *full]))))
    invented = [number for number in _NUMBER.findall(_plain(text)) if number not in said]
    if invented:
        yield f"「{text[:20]}」的数字 {'、'.join(invented)} 不在所引事实中"
    if label == _LABELS["disagreement"] and len(set(handles)) < 2:  # noqa: PLR2004 -- two sides
        yield f"「{text[:20]}」只引了分歧的一方"


def _parsed(reply: str) -> list[tuple[str, str, list[str]]]:
    """Read the first JSON object of a reply, whatever stands around it; the gist comes first."""
    begin, end = reply.find("{"), reply.rfind("}")
    try:
        data = json.loads(reply[begin : end + 1])
        entries = [("概要", data["gist"]), *((_LABELS[entry["kind"]], entry) for entry in data["lines"])]
        found = [(label, _sentence(entry["text"]), _handles(entry["facts"])) for label, entry in entries]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("回复不是所要求的 JSON") from error
    if len(found) > _MOST_LINES:
        raise ValueError(f"多于 {_MOST_LINES} 句")
    return found


def _sentence(text: Any) -> str:
    said = _flat(text) if isinstance(text, str) else ""
    if not 0 < len(said) <= _LONGEST_LINE:
        raise ValueError("空句或过长的句子")
    return said


def _handles(given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(handle, str) for handle in given):
        raise TypeError
    return given


def _plain(text: str) -> str:
    return text.replace(",", "").replace("，", " ")


def _flat(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


@cache
def _template() -> Any:
    # Plain text for a model, not HTML: nothing to escape; hostile text is data by the template's own words and checks.
    environment = Environment(
        loader=PackageLoader("communities", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 -- a prompt is no HTML
    )
    return environment.get_template(TEMPLATE)
