"""Content-hash ids; the only module that creates ids.

Equal content has the same id on every machine, so reading a document twice adds nothing. The hash is 16-byte BLAKE2b
over the length-prefixed parts (so that ("ab", "c") and ("a", "bc") differ).
"""

from __future__ import annotations

import hashlib
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from kg.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.judgement import Judgement
    from kg.model import Fact, Kind, Value
    from kg.period import Period

_DIGEST_BYTES = 16


def digest(parts: Iterable[str]) -> str:
    """Hash an ordered sequence of strings to 32 hex digits."""
    return hashlib.blake2b(_joined(parts), digest_size=_DIGEST_BYTES).hexdigest()


def document_id(content: bytes) -> str:
    """Return the id of a document from its bytes."""
    return "doc:" + hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def chunk_id(document: str, start: int, end: int) -> str:
    """Return the id of a chunk from its position."""
    return "chunk:" + digest((document, str(start), str(end)))


@lru_cache(maxsize=8192)  # names repeat within a document
def entity_id(kind: Kind, name: str) -> str:
    """Return the id of an entity without a code from its kind and name: `product:碳酸锂`; companies become `org:…`."""
    prefix = "org" if kind == "company" else str(kind)
    return f"{prefix}:{normal_name(name)}"


@lru_cache(maxsize=8192)
def normal_name(name: str) -> str:
    """Normalise width, case, spaces and traditional characters."""
    return simplified("".join(unicodedata.normalize("NFKC", name).casefold().split()))


def fact_id(fact: Fact) -> str:
    """Hash what a fact claims: ends, relation, sign, polarity, modality, stated period, value and qualifiers.

    Speaker, date and extractor belong to the evidence, so the same claim in two documents is one fact.
    """
    return fact_id_of(id_part(fact.subject), id_part(fact.relation), id_part(fact.object), claim=claim_key(fact))


def fact_id_of(subject: bytes, relation: bytes, object_: bytes, *, claim: bytes) -> str:
    """Return a fact id from the `id_part`s of its ends and relation and its `claim_key`."""
    return "fact:" + hashlib.blake2b(subject + relation + object_ + claim, digest_size=_DIGEST_BYTES).hexdigest()


@lru_cache(maxsize=8192)
def id_part(text: str) -> bytes:
    """Return the length-prefixed bytes of a part of an id, cached because parts repeat."""
    data = text.encode()
    return len(data).to_bytes(8, "big") + data


def claim_key(fact: Fact) -> bytes:
    """Return the part of a fact id that encodes the claim without ends and relation."""
    return said_key(
        fact.sign, fact.polarity, fact.modality, valid=fact.valid, value=fact.value, qualifiers=fact.qualifiers
    )


def said_key(
    sign: int,
    polarity: str,
    modality: str,
    *,
    valid: Period | None,
    value: Value | None,
    qualifiers: Iterable[tuple[str, str]],
) -> bytes:
    """Return the `claim_key` of a fact from its fields."""
    period = (str(valid.start), str(valid.end)) if valid else ()
    named = (f"{name}={word}" for name, word in qualifiers)
    parts = (str(sign), polarity, modality, "|valid", *period, "|value", *_value_parts(value), "|qualifiers", *named)
    return b"".join(map(id_part, parts))


def community_id(level: int, members: Iterable[str]) -> str:
    """Return the id of a community from its level and members."""
    return "theme:" + digest((str(level), *sorted(members)))


def judgement_id(judgement: Judgement) -> str:
    """Return the id of a judgement, including its author, dates and reason."""
    period = judgement.period
    scope = (*judgement.documents, "|period", *((str(period.start), str(period.end)) if period else ()))
    score = "" if judgement.score is None else f"{judgement.score:.10g}"
    what = (judgement.verdict, judgement.subject, judgement.object, judgement.name)
    when = (judgement.published_on.isoformat(), judgement.recorded_at.isoformat())
    return "judgement:" + digest((*what, *when, judgement.by, judgement.why, score, *scope))


def _value_parts(value: Value | None) -> tuple[str, ...]:
    if value is None:
        return ()
    high = "" if value.high is None else f"{value.high:.10g}"
    return (f"{value.number:.10g}", high, value.unit, value.change, value.basis)


def _joined(parts: Iterable[str]) -> bytes:
    pieces: list[bytes] = []
    for part in parts:
        data = part.encode()
        pieces += (len(data).to_bytes(8, "big"), data)
    return b"".join(pieces)
