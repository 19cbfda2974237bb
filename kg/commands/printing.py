"""Answers as text for a terminal; every claim with the sentence it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kg.query.wording import ROLES, claim_text, direction_text, path_citations, path_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kg.model import Community, Entity
    from kg.query.answers import (
        AskAnswer,
        ChainAnswer,
        Citation,
        ImpactAnswer,
        Link,
        Node,
        Passage,
        Path,
        ProfileAnswer,
        RelateAnswer,
        ThemeAnswer,
    )
    from kg.query.session import QuerySession
    from kg.query.stats import BaseStats
    from kg.query.themes.biography import Biography

_QUOTE = 120
_STATS = {
    "zh": {
        "documents": "文档：",
        "publishers": "发布者：",
        "facts": "事实：",
        "below": "把握不足、不用于作答的事实：",
        "names": "主要名称：",
        "questions": "可以问：",
    },
    "en": {
        "documents": "Documents: ",
        "publishers": "Publishers: ",
        "facts": "Facts: ",
        "below": "Facts below the confidence of answers: ",
        "names": "Main names: ",
        "questions": "Try asking: ",
    },
}
_LINKS = 24
_PATHS = 12
_AFFECTED = 20
_AGAINST = 3
_ASK = {
    "zh": {
        "question": "问：",
        "understood": "理解为：",
        "as_of": "截至 {day}",
        "corrected": "「{written}」按「{meant}」理解",
        "answered": "答：",
        "partial": "没有找到直接的答案；相关原文：",
        "not_found": "未找到相关信息。",
        "ambiguous": "这个名称可以指几家公司，请写明是哪一家：",
        "near": "相近的名称：{names}",
        "covered": "库中文档的日期：{first} 至 {last}",
    },
    "en": {
        "question": "Question: ",
        "understood": "Understood as: ",
        "as_of": "as of {day}",
        "corrected": "read {written} as {meant}",
        "answered": "Answer:",
        "partial": "No direct answer found; related passages:",
        "not_found": "Nothing found.",
        "ambiguous": "This name may mean several companies; say which:",
        "near": "Similar names: {names}",
        "covered": "Documents in this base: {first} to {last}",
    },
}
_ARROWS = {1: "↑", -1: "↓", 0: "↕"}


def print_chain(session: QuerySession, answer: ChainAnswer) -> None:
    """Print the layers, then the links with their evidence."""
    click.echo(f"{label(answer.topic)} 产业链")
    if not answer.layers:
        click.echo("  图谱中还没有它的上下游")
    for layer in answer.layers:
        click.echo(f"\n【{layer.name}】")
        for stage in layer.stages:
            names = "、".join(label(node.entity) for node in stage.companies)
            click.echo(f"  {stage.node.entity.name}{'：' if names else ''}{names}")
    _print_links(session, answer.graph.links)


def print_impact(session: QuerySession, answer: ImpactAnswer) -> None:
    """Print the paths, the affected and the counter-evidence."""
    moved = f"{answer.topic.name}{direction_text(answer.direction, answer.topic.kind)}"
    click.echo(f"{moved} {'会影响' if answer.forward else '的原因'}")
    if not answer.paths:
        click.echo("  图谱中没有因果路径")
    for path in answer.paths[:_PATHS]:
        first = answer.direction if answer.forward else answer.direction * path.sign
        click.echo(f"\n  {path_text(session, path, first)}  （强度 {path.weight:.2f}）")
        _print_citations(path_citations(path, first))
    if answer.affected:
        click.echo("\n【可能受影响】" if answer.forward else "\n【涉及】")
        click.echo("  " + "  ".join(_moved(node) for node in answer.affected[:_AFFECTED]))
    if answer.exposed:
        click.echo("\n【产业链上的相关方】（来源说的是产业链关系，不是因果）")
    for role, named in ROLES.items():
        for exposure in [each for each in answer.exposed if each.role == role]:
            click.echo(f"  {named}：{label(exposure.node.entity)}")
            _print_citations(exposure.links[0].citations[:1])
    if answer.counter:
        click.echo("\n【相反的说法】")
        for link in answer.counter:
            _print_link(session, link)


def print_relate(session: QuerySession, answer: RelateAnswer) -> None:
    """Print the paths between two entities."""
    click.echo(f"{label(answer.first)} 与 {label(answer.second)}")
    if not answer.paths:
        click.echo("  图谱中没有四步以内的路径")
    _print_paths(session, answer.paths)


def print_profile(session: QuerySession, answer: ProfileAnswer) -> None:
    """Print names, codes and facts by relation."""
    entity = answer.entity
    click.echo(f"{label(entity)}  [{session.words.kinds[entity.kind][session.lang]}]")
    names = [alias.name for alias in entity.aliases]
    if names:
        click.echo(f"  又称：{'、'.join(names)}")
    if len(entity.codes) > 1:
        click.echo(f"  代码：{'、'.join(entity.codes)}")
    relation = ""
    for link in answer.links:
        if link.relation != relation:
            relation = link.relation
            click.echo(f"\n【{session.words[relation].wording[session.lang]}】")
        _print_link(session, link)


def print_themes(_: QuerySession, communities: Sequence[Community]) -> None:
    """Print one line a theme."""
    for community in communities:
        title = community.summary.title if community.summary else ""
        click.echo(f"{community.id[:14]}  {title}  （{len(community.members)}）")


def print_theme(session: QuerySession, answer: ThemeAnswer) -> None:
    """Print the summary of a theme, each line with its first quote."""
    summary = answer.community.summary
    if summary is None:
        return
    click.echo(
        f"{summary.title}  [{answer.community.id}]  {len(answer.community.members)} 个实体  {summary.period or ''}"
    )
    for line in summary.lines:
        click.echo(f"\n  {line.text}")
        facts = list(session.view.facts(ids=line.facts[:2]))
        _print_citations(session.citations(facts, 2))
    if answer.community.changes:
        click.echo("\n【本周新增】")
    for line in answer.community.changes:
        click.echo(f"  {line.text}")
    if answer.biography:
        _print_biography(answer.biography)


def _print_biography(life: Biography) -> None:
    click.echo("\n【传记】")
    for episode in life.episodes:
        click.echo(f"  {episode.as_of}  {episode.text}")
        for claim in episode.claims:
            click.echo(f"              {claim}")
        _print_citations(episode.citations[:1], indent=14)
    click.echo("\n【名称】")
    for day, name in life.names:
        click.echo(f"  {day}  {name}")
    click.echo("\n【各周成员数】")
    click.echo("  " + "，".join(f"{day} {size}" for day, size in life.sizes))


def print_passages(_: QuerySession, found: Sequence[Passage]) -> None:
    """Print passages with their documents."""
    if not found:
        click.echo("未找到相关信息")
    for passage in found:
        page = f" 第{passage.chunk.page}页" if passage.chunk.page else ""
        click.echo(
            f"\n{passage.title}（{passage.publisher or '来源不详'}，{passage.published_on}{page}，{passage.score:.2f}）"
        )
        click.echo(
            f"  {' › '.join(passage.chunk.heading)}" if passage.chunk.heading else "", nl=bool(passage.chunk.heading)
        )
        click.echo(f"  {passage.chunk.text}")


def print_ask(session: QuerySession, answer: AskAnswer) -> None:
    """Print an answer with what was understood and its citations; or what the base has instead."""
    words = _ASK[session.lang]
    asked = answer.understood
    said = [*(label(entity) for entity in asked.entities), *([str(asked.period)] if asked.period else [])]
    if asked.as_of:
        said.append(words["as_of"].format(day=asked.as_of))
    said += [words["corrected"].format(written=written, meant=meant) for written, meant in asked.corrections]
    click.echo(f"{words['question']}{answer.question}")
    if said:
        click.echo(f"{words['understood']}{' · '.join(said)}")
    click.echo(words[answer.status])
    for line in (*answer.lines, *answer.passages):
        quoted = line.source == "text"
        if not quoted or not line.citations or line.text != line.citations[0].quote:
            click.echo(f"{'  ' * line.indent}{line.text}")
        _print_citations(line.citations, indent=2 * line.indent + 4, quoted=not quoted)
    if answer.near:
        click.echo(words["near"].format(names="、".join(answer.near)))
    if answer.covered:
        click.echo(words["covered"].format(first=answer.covered[0], last=answer.covered[1]))


def print_stats(session: QuerySession, found: BaseStats) -> None:
    """Print what a base holds."""
    words = _STATS[session.lang]
    wording = {relation: session.words[relation].wording[session.lang] for relation, _ in found.facts}
    rows = (
        ("documents", f"{found.documents}" + (f"（{found.first} … {found.last}）" if found.first else "")),
        ("publishers", "、".join(f"{name} {count}" for name, count in found.publishers)),
        ("facts", "、".join(f"{wording[relation]} {count}" for relation, count in found.facts)),
        ("below", f"{found.below}"),
        ("names", "、".join(label(entity) for entity in found.names)),
        ("questions", "；".join(found.questions)),
    )
    for name, value in rows:
        click.echo(f"{words[name]}{value}")


def label(entity: Entity) -> str:
    """Return a name with its first code."""
    return f"{entity.name}（{entity.codes[0]}）" if entity.codes else entity.name


def _moved(node: Node) -> str:
    return f"{label(node.entity)}{_ARROWS[node.direction]}"


def _print_paths(session: QuerySession, paths: Sequence[Path]) -> None:
    for path in paths[:_PATHS]:
        click.echo(
            f"\n  {'；'.join(claim_text(session, link.facts[0]) for link in path.links)}  （强度 {path.weight:.2f}）"
        )
        for link in path.links:
            _print_citations(link.citations[:1])
            _print_against(session, link)


def _print_links(session: QuerySession, links: Iterable[Link]) -> None:
    ranked = sorted(links, key=lambda link: (-link.weight, link.source, link.target))[:_LINKS]
    if ranked:
        click.echo("\n【依据】")
    for link in ranked:
        _print_link(session, link)


def _print_link(session: QuerySession, link: Link) -> None:
    witnesses = max(fact.witnesses for fact in link.facts)
    many = f"（{witnesses} 个独立来源）" if witnesses > 1 else ""
    click.echo(f"  {claim_text(session, link.facts[0])}{many}{'（有分歧）' if link.contested else ''}")
    _print_citations(link.citations[:1])
    _print_against(session, link)


def _print_against(session: QuerySession, link: Link) -> None:
    """Print what cannot hold together with a link, each with its newest sentence."""
    if not link.contested:
        return
    against = {other.id: other for fact in link.facts for other in session.opposing(fact)}
    for _, fact in sorted(against.items())[:_AGAINST]:
        click.echo(f"      ↔ {claim_text(session, fact)}")
        _print_citations(session.citations([fact], 1), indent=8)


def _print_citations(citations: Iterable[Citation], indent: int = 6, *, quoted: bool = True) -> None:
    for citation in citations:
        quote = citation.quote.replace("\n", " ")
        quote = quote if len(quote) <= _QUOTE or not quoted else f"{quote[:_QUOTE]}…"
        page = f" 第{citation.page}页" if citation.page else ""
        speaker = citation.speaker or citation.publisher
        click.echo(f"{' ' * indent}「{quote}」—— {citation.title}，{speaker}，{citation.published_on}{page}")
