"""Content-hash ids, made here and nowhere else.

Same content, same id, on every machine: reading a document twice adds nothing. BLAKE2b, 16 bytes, over a
length-prefixed joining of the parts (so that ("ab", "c") and ("a", "bc") differ).
"""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from kg.simplified import simplified

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kg.judgement import Judgement
    from kg.model import Fact, Kind, Value
    from kg.period import Period

_DIGEST_BYTES = 16
_EMPTY = hashlib.blake2b(digest_size=_DIGEST_BYTES)
_SIZES = [size.to_bytes(8, "big") for size in range(32)]


def digest(parts: Iterable[str]) -> str:
    """Hash an ordered sequence of strings to 32 hex digits."""
    return hashlib.blake2b(_joined(parts), digest_size=_DIGEST_BYTES).hexdigest()


def document_id(content: bytes) -> str:
    """Hash a document's bytes."""
    return "doc:" + hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def chunk_id(document: str, start: int, end: int) -> str:
    """Hash a chunk's place."""
    return "chunk:" + digest((document, str(start), str(end)))


@lru_cache(maxsize=8192)  # a document says the same names again and again
def entity_id(kind: Kind, name: str) -> str:
    """Return the typed, normalised id of an entity without a code: `product:碳酸锂`; companies become `org:…`."""
    prefix = "org" if kind == "company" else str(kind)
    return f"{prefix}:{normal_name(name)}"


@lru_cache(maxsize=8192)
def normal_name(name: str) -> str:
    """Fold width, case, spaces and traditional characters, so that one name is one string."""
    return simplified("".join(unicodedata.normalize("NFKC", name).casefold().split()))


def fact_id(fact: Fact) -> str:
    """Hash exactly what a fact claims: ends, relation, sign, polarity, modality, stated period, value and qualifiers.

    Who said it, when, and how it was read belong to the evidence, so the same claim in two documents is one fact.
    """
    return fact_id_of(id_part(fact.subject), id_part(fact.relation), id_part(fact.object), claim=claim_key(fact))


def fact_id_of(subject: bytes, relation: bytes, object_: bytes, *, claim: bytes) -> str:
    """Return the id of a claim; `claim` is the `claim_key` of any fact that claims the same, the rest `id_part`s."""
    return "fact:" + claim_digest(subject + relation + object_ + claim).hex()


def claim_digest(claimed: bytes) -> bytes:
    """Return the digest that `fact_id_of` writes in hex, of all that it is given, joined."""
    hashed = _EMPTY.copy()  # two thirds of the time of making one anew
    hashed.update(claimed)
    return hashed.digest()


def fact_ids(digests: bytes) -> list[str]:
    """Return the fact ids of joined digests.

    >>> fact_ids(bytes(16)) == ["fact:" + 32 * "0"]
    True
    """
    return ("fact:" + digests.hex(",", _DIGEST_BYTES).replace(",", ",fact:")).split(",") if digests else []


@lru_cache(maxsize=8192)
def id_part(text: str) -> bytes:
    """Return what a part gives to an id: worked out once for the many that share it, as an end, a day or a unit."""
    data = text.encode()
    return len(data).to_bytes(8, "big") + data


def claim_key(fact: Fact) -> bytes:
    """Return what of a fact's claim goes into its id, its ends and relation left out."""
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
    """Return the `claim_key` of a fact that is not yet made."""
    period = (str(valid.start), str(valid.end)) if valid else ()
    named = (f"{name}={word}" for name, word in qualifiers)
    parts = (str(sign), polarity, modality, "|valid", *period, "|value", *_value_parts(value), "|qualifiers", *named)
    return b"".join(map(id_part, parts))


def claim_key_around_value(fact: Fact) -> tuple[bytes, bytes]:
    """Return what stands before and after the value in `claim_key`, for facts that differ in nothing else."""
    whole = claim_key(replace(fact, value=None))
    after = _joined(("|qualifiers", *(f"{name}={value}" for name, value in fact.qualifiers)))
    return whole.removesuffix(after), after


def value_key(value: Value) -> bytes:
    """Return what a value gives to `claim_key`."""
    return _joined(_value_parts(value))


def number_key(number: float) -> bytes:
    """Return what the number of a value gives to `value_key`, which begins with it."""
    written = b"%.10g" % number
    return _SIZES[len(written)] + written  # 17 characters at most


def community_id(level: int, members: Iterable[str]) -> str:
    """Hash a community's level and sorted members."""
    return "theme:" + digest((str(level), *sorted(members)))


def judgement_id(judgement: Judgement) -> str:
    """Hash a judgement with who said it, when and why: the same words on another day are another judgement."""
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
