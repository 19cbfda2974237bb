"""Questions on entities: `relate`, `profile`, `neighbours`, `resolve`, `entities`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from kg.messages.words import listed, word
from kg.query.answers import ProfileAnswer, RelateAnswer
from kg.query.browse.neighbours import NeighbourFilter, NeighboursAnswer, Side, neighbours
from kg.query.browse.profile import group_of, profile
from kg.query.browse.search import EntityMatch, NameIndex, search
from kg.query.pictures import relate_picture
from kg.query.questions.parameters import (
    DatedQuestion,
    Modalities,
    Name,
    Relations,
    SureQuestion,
    Text,
    name_field,
)
from kg.query.resolve import ResolveAnswer, resolve_name
from kg.query.text_output import head, link_lines, path_lines, weak_mark
from kg.query.walks.relate import relate
from kg.query.wording import coded, group_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kg.query.answers import EntityRef
    from kg.query.pictures import Picture
    from kg.query.session import QuerySession


class RelateQuestion(SureQuestion):
    """两个实体间最可信的路径 · the most credible paths between two entities."""

    key = "relate"
    answers = RelateAnswer

    first: Name
    second: Name

    def answer(self, session: QuerySession) -> RelateAnswer:
        """Return the paths."""
        return relate(session, self.first, self.second)

    def picture(self, session: QuerySession) -> Picture:
        """Return the paths from left to right."""
        return relate_picture(self.answer(session))

    @staticmethod
    def text(session: QuerySession, answer: RelateAnswer) -> Iterator[str]:
        """Yield the paths."""
        lang = session.lang
        yield word("print.relate", lang, first=coded(answer.first, lang), second=coded(answer.second, lang))
        if not answer.paths:
            yield word("print.no_relation", lang)
        yield from path_lines(session, answer.paths)
        if answer.paths:
            yield "\n" + word("print.strength_means", lang)


class ProfileQuestion(SureQuestion):
    """名称、代码与各类事实 · names, codes and facts of one entity."""

    key = "profile"
    answers = ProfileAnswer

    name: Name

    def answer(self, session: QuerySession) -> ProfileAnswer:
        """Return the profile."""
        return profile(session, self.name)

    @staticmethod
    def text(session: QuerySession, answer: ProfileAnswer) -> Iterator[str]:
        """Yield names, codes and facts by relation."""
        entity, lang = answer.entity, session.lang
        yield f"{coded(entity, lang)}  [{session.words.kinds[entity.kind][lang]}]"
        names = [alias.name for alias in entity.aliases]
        if names:
            yield word("print.names", lang, names=listed(names, lang))
        if len(entity.codes) > 1:
            yield word("print.codes", lang, codes=listed(entity.codes, lang))
        for (_, incoming), links in groupby(answer.links, key=lambda link: group_of(session, entity.id, link)):
            group = list(links)
            yield head(session, group_text(session, group[0].relation, incoming=incoming))
            for link in group:
                yield from link_lines(session, link)


class NeighboursQuestion(SureQuestion):
    """展开一个实体的邻居 · the strongest neighbours of an entity, with what is stated between them."""

    key = "neighbours"
    answers = NeighboursAnswer

    name: Name
    relation: Relations = Field(default=[])
    direction: Annotated[Side, Field(description="该实体为主语、宾语或两者 · as subject, as object or both")] = "both"
    modality: Modalities = Field(default=[])
    limit: Annotated[int, Field(ge=1, le=300, description="最多几个相邻实体 · most neighbours")] = 30

    def answer(self, session: QuerySession) -> NeighboursAnswer:
        """Return the neighbours."""
        wanted = NeighbourFilter(tuple(self.relation), self.direction, tuple(self.modality), self.limit)
        return neighbours(session, self.name, wanted)

    @staticmethod
    def text(session: QuerySession, answer: NeighboursAnswer) -> Iterator[str]:
        """Yield one line an edge."""
        named = {each.id: _ref_text(session, each) for each in (answer.entity, *answer.nodes)}
        yield named[answer.entity.id]
        for edge in answer.edges:
            contested = word("print.contested", session.lang) if edge.contested else ""
            yield f"  {named[edge.source]} {edge.wording} {named[edge.target]}{contested}{weak_mark(session, edge)}"


class ResolveQuestion(DatedQuestion):
    """一个名称指谁，为什么 · which entities a name may mean, and why."""

    key = "resolve"
    answers = ResolveAnswer

    name: Name

    def answer(self, session: QuerySession) -> ResolveAnswer:
        """Return the candidates."""
        return resolve_name(session, self.name)

    @staticmethod
    def text(session: QuerySession, answer: ResolveAnswer) -> Iterator[str]:
        """Yield the candidates, or similar names."""
        for each in answer.candidates:
            yield f"{_ref_text(session, each.entity)}  {word(f'resolve.{each.reason}', session.lang)}"
        if not answer.candidates:
            yield word("nothing", session.lang)
        if answer.near:
            yield word("ask.near", session.lang, names=listed(answer.near, session.lang))


class EntitiesQuestion(DatedQuestion):
    """按名称、代码或拼音首字母查找 · search by name, code or pinyin initials."""

    key = "entities"
    answers = list[EntityMatch]

    q: Annotated[str, Text, name_field("名称、代码或拼音首字母 · a name, code or pinyin initials", "twgf")]
    limit: Annotated[int, Field(ge=1, le=100, description="最多几个 · most entities")] = 10

    def answer(self, session: QuerySession) -> list[EntityMatch]:
        """Return the entities, best match first."""
        return search(session, session.kept(_name_index), self.q, limit=self.limit)

    @staticmethod
    def text(session: QuerySession, answer: list[EntityMatch]) -> Iterator[str]:
        """Yield one line an entity."""
        if not answer:
            yield word("nothing", session.lang)
        for ref in session.refs([each.id for each in answer]):
            yield _ref_text(session, ref)


def _name_index(session: QuerySession) -> NameIndex:
    return NameIndex(session.view.names())


def _ref_text(session: QuerySession, ref: EntityRef) -> str:
    kinds = {kind.value: names for kind, names in session.words.kinds.items()}
    code = word("brackets", session.lang, text=ref.code) if ref.code else ""
    return f"{ref.name}{code}" + (f" [{kinds[ref.kind][session.lang]}]" if ref.kind in kinds else "")
