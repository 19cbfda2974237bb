"""Questions on causes and effects: `impact`, `causes`, `history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kg.messages.words import word
from kg.query.answers import ImpactAnswer
from kg.query.history import HistoryAnswer, history
from kg.query.pictures import factor_picture
from kg.query.questions.parameters import SIGNS, Direction, Name, SureQuestion
from kg.query.text_output import MOST_PATHS, citation_lines, head, link_lines
from kg.query.walks.impact import causes, impact
from kg.query.wording import ROLES, behind, coded, direction_text, party_text, path_citations, path_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kg.query.answers import Party
    from kg.query.pictures import Picture
    from kg.query.session import QuerySession

_DRAWN_HOPS = 3  # of a picture, each way


class DirectedQuestion(SureQuestion):
    """A question on a rise or a fall."""

    answers = ImpactAnswer

    direction: Direction = "up"

    @staticmethod
    def text(session: QuerySession, answer: ImpactAnswer) -> Iterator[str]:
        """Yield who gains and pays, the paths, the exposed and the counter-evidence."""
        lang = session.lang
        moved = behind(answer.topic.name, direction_text(answer.direction, answer.topic.kind, lang), lang)
        yield word("print.effects" if answer.forward else "print.causes", lang, factor=moved)
        yield from _party_lines(session, answer.parties)
        if not answer.paths and not answer.parties:
            yield word("print.no_paths", lang)
        for path in answer.paths[:MOST_PATHS]:
            first = answer.direction if answer.forward else answer.direction * path.sign
            yield f"\n  {path_text(session, path, first)}{word('print.strength', lang, weight=f'{path.weight:.2f}')}"
            yield from citation_lines(session, path_citations(path, first))
        if answer.exposed:
            yield head(session, word("print.exposed", lang), word("print.exposed_note", lang))
        for exposure in sorted(answer.exposed, key=lambda each: list(ROLES).index(each.role)):
            role = word("role." + exposure.role, lang) + word("colon", lang)
            yield f"  {role}{coded(exposure.node.entity, lang)}"
            yield from citation_lines(session, exposure.links[0].citations[:1])
        if answer.counter:
            yield head(session, word("print.opposite", lang))
        for link in answer.counter:
            yield from link_lines(session, link)
        if answer.paths:
            yield "\n" + word("print.strength_means", lang)


def _party_lines(session: QuerySession, parties: Sequence[Party]) -> Iterator[str]:
    """Yield who gains, then who pays: stated before inferred, each with the reason and a sentence."""
    lang = session.lang
    for sign, name in ((1, "gains"), (-1, "loses")):
        some = [party for party in parties if party.sign == sign]
        if some:
            yield head(session, word(f"exposure.{name}", lang))
        for party in some:
            yield f"  {party_text(party, lang)}"
            yield from citation_lines(session, party.citations[:1])
            if party.contested:
                yield "      ↔"
                yield from citation_lines(session, party.against[:1], indent=8)


class ImpactQuestion(DirectedQuestion):
    """一个因素的变动会传导到哪里 · what a factor's rise or fall leads to, as signed paths."""

    key = "impact"

    factor: Name

    def answer(self, session: QuerySession) -> ImpactAnswer:
        """Return the effects."""
        return impact(session, self.factor, SIGNS[self.direction])

    def picture(self, session: QuerySession) -> Picture:
        """Return what moves the factor on the left, what it moves on the right."""
        return _factor_picture(session, self.factor, self.direction)


class CausesQuestion(DirectedQuestion):
    """什么引起一个结果 · what makes an effect rise or fall, as signed paths."""

    key = "causes"

    effect: Name

    def answer(self, session: QuerySession) -> ImpactAnswer:
        """Return the causes."""
        return causes(session, self.effect, SIGNS[self.direction])

    def picture(self, session: QuerySession) -> Picture:
        """Return what moves the effect on the left, what it moves in turn on the right."""
        return _factor_picture(session, self.effect, self.direction)


def _factor_picture(session: QuerySession, name: str, direction: Literal["up", "down"]) -> Picture:
    before, after = (walk(session, name, SIGNS[direction], hops=_DRAWN_HOPS) for walk in (causes, impact))
    return factor_picture(before, after)


class HistoryQuestion(SureQuestion):
    """一个因素历来怎样影响一个对象 · how a factor affected a subject before, by episode, oldest first."""

    key = "history"
    answers = HistoryAnswer

    factor: Name
    subject: Name

    def answer(self, session: QuerySession) -> HistoryAnswer:
        """Return what sources said."""
        return HistoryAnswer(*history(session, self.factor, self.subject))

    @staticmethod
    def text(session: QuerySession, answer: HistoryAnswer) -> Iterator[str]:
        """Yield the links by episode."""
        names = (coded(each, session.lang) for each in (answer.factor, answer.subject))
        yield word("print.relate", session.lang, **dict(zip(("first", "second"), names, strict=True)))
        if not answer.episodes:
            yield word("nothing", session.lang)
        for episode in answer.episodes:
            yield head(session, episode.label)
            for link in episode.links:
                yield from link_lines(session, link)
