"""Give the names of a document that mean different things in different chains (电池, 铜箔) the entity that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from extraction.names.gazetteer import shipped_lexicon
from kg.ids import entity_id
from kg.kinds import kind_of
from kg.model import Kind
from kg.text.homonyms import sense_of, senses

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from extraction.sentence import AnnotatedSentence, Claim, EntityMention

_NEAR = 14  # characters around a name that decide first
_THINGS = frozenset({Kind.PRODUCT, Kind.INDUSTRY, Kind.INDICATOR})


class Senses:
    """Distinguishes the homonyms of one document."""

    def __init__(self, title: str, text: str) -> None:
        self._title, self._text = title, text
        self._homonyms = {name for name in senses() if name in text or name in title}

    def tell_apart(self, refs: Iterable[EntityMention], text: str, headings: Sequence[str] = ()) -> list[EntityMention]:
        """Return the names of a sentence with what they mean; `headings` are those above it, the nearest last."""
        return [self.tell(ref, text, headings) for ref in refs]

    def tell(self, ref: EntityMention, text: str, headings: Sequence[str] = ()) -> EntityMention:
        """Return a name of a sentence with what it means."""
        if not self._homonyms or ref.kind not in _THINGS:
            return ref
        owner = bool(ref.about) and ref.kind == Kind.INDICATOR
        end = ref.owner_end if owner else ref.end
        written = text[ref.start : end] if 0 <= ref.start < end else ""
        name = written if written in self._homonyms else ref.owner if owner else ref.name
        if name not in self._homonyms:
            return ref
        near = [text[max(0, ref.start - _NEAR) : end + _NEAR]] if written else []
        sense = sense_of(name, [*near, text, *reversed(headings), self._title], self._text)
        if not owner:
            term = shipped_lexicon().terms.get(sense)
            about, trade = (term.about, term.owner) if term and ref.kind == Kind.PRODUCT else (ref.about, ref.owner)
            return structs.replace(ref, entity=entity_id(ref.kind, sense), name=sense, about=about, owner=trade)
        measure = ref.name.removeprefix(ref.owner)
        return structs.replace(
            ref,
            entity=entity_id(Kind.INDICATOR, sense + measure),
            name=sense + measure,
            about=entity_id(kind_of(ref.about), sense),
            owner=sense,
        )

    def of_claim(self, claim: Claim, sentence: AnnotatedSentence) -> Claim:
        """Return a claim whose ends are what they mean, unless that would make them one."""
        subject, object_ = self.tell_apart((claim.subject, claim.object), sentence.text, sentence.heading)
        return structs.replace(claim, subject=subject, object=object_) if subject.entity != object_.entity else claim
