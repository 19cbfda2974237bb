"""Load and validate the closed vocabulary in relations.yaml."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 -- pydantic reads it from the annotation
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from kg.errors import UnknownRelation, VocabularyError
from kg.messages.words import Lang  # noqa: TC001 -- pydantic reads it from the annotation
from kg.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class _KindEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")
    zh: str = Field(min_length=1)
    en: str = Field(min_length=1)
    note: str = Field(min_length=1)


End = Literal["subject", "object"]
Role = Literal[
    "makes",
    "member",
    "flow",
    "use",
    "supply",
    "control",
    "stake",
    "deal",
    "peer",
    "place",
    "effect",
    "figure",
    "rating",
    "event",
    "opinion",
    "untyped",
]
"""What a relation is to code, which never asks for a name: the readers alone know names."""


class Relation(BaseModel):
    """One relation of the vocabulary; relations.yaml explains each field."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    note: str = Field(min_length=1)
    subject: frozenset[Kind] = Field(min_length=1)
    object: frozenset[Kind] = Field(min_length=1)
    family: Literal["structure", "chain", "causal", "measured"]
    role: Role
    zh: str = Field(min_length=1)
    en: str = Field(min_length=1)
    zh_inverse: str = Field(min_length=1)
    en_inverse: str = Field(min_length=1)
    cardinality: Literal["many", "one"] = "many"
    one_per: End = "subject"
    symmetric: bool = False
    signed: bool = False
    stage: Literal["upstream", "downstream", "same", ""] = ""
    sections: dict[End, tuple[int, str]] = Field(default_factory=dict)
    frames: dict[End, str] = Field(default_factory=dict)
    whole: bool = False
    company_link: bool = False
    timeless: bool = False
    timeline: bool = False
    sample: End | None = None
    exposure: dict[End, Literal["maker", "buyer", "substitute"]] = Field(default_factory=dict)
    holds: bool = False
    ask: dict[Lang, str] = Field(default_factory=dict)
    half_life: int = Field(gt=0)
    weight: float = Field(gt=0, le=1)
    cut: float = Field(default=0.65, ge=0, le=1)
    weak: float = Field(default_factory=lambda entry: entry["cut"], ge=0, le=1)

    @cached_property
    def wording(self) -> Mapping[str, str]:
        """The fact from subject to object, by language."""
        return {"zh": self.zh, "en": self.en}

    @cached_property
    def inverse(self) -> Mapping[str, str]:
        """The same fact from object to subject, by language."""
        return {"zh": self.zh_inverse, "en": self.en_inverse}

    @model_validator(mode="after")
    def _consistent(self) -> Relation:
        if self.symmetric and self.subject != self.object:
            raise ValueError("a symmetric relation needs the same kinds at both ends")
        if self.weak > self.cut:
            raise ValueError("facts are weak below the cut: weak must not be larger than cut")
        return self

    def allows(self, subject: Kind, object_: Kind) -> bool:
        """Whether the relation allows these kinds as its ends."""
        return subject in self.subject and object_ in self.object


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kinds: dict[Kind, _KindEntry]
    relations: dict[str, Relation] = Field(min_length=1)

    @field_validator("relations", mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        return {name: {"name": name, **entry} for name, entry in given.items()} if isinstance(given, dict) else given


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All kinds and relations by name, in file order."""

    kinds: Mapping[Kind, Mapping[str, str]]
    relations: Mapping[str, Relation]

    def __getitem__(self, name: str) -> Relation:
        return self.relations[name]

    def check(self, names: Iterable[str]) -> None:
        """Raise UnknownRelation when a name is not in the vocabulary."""
        for name in names:
            if name not in self.relations:
                raise UnknownRelation(name, list(self.relations))

    def of_role(self, *roles: Role) -> tuple[str, ...]:
        """Return the names of the relations with these roles."""
        return tuple(name for name, relation in self.relations.items() if relation.role in roles)

    def of_family(self, *families: str) -> tuple[str, ...]:
        """Return the names of the relations in these families."""
        return tuple(name for name, relation in self.relations.items() if relation.family in families)


class _Loader(yaml.SafeLoader):
    """YAML loader that rejects duplicate keys, which YAML silently accepts."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise VocabularyError(f"line {key.start_mark.line + 1}", f"duplicate key {key.value}")
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary shipped with Liantu."""
    return parse(resources.files(__package__).joinpath("relations.yaml").read_text(encoding="utf-8"))


def load(path: Path) -> Vocabulary:
    """Read a vocabulary from a file.

    Raises:
        VocabularyError: with the place and the cause.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise VocabularyError(str(path), f"cannot be read: {error}") from error
    return parse(text)


def parse(text: str) -> Vocabulary:
    """Check and build a vocabulary.

    Raises:
        VocabularyError: with the place and the cause.
    """
    try:
        entries = _File.model_validate(yaml.load(text, _Loader))  # noqa: S506 -- a SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise VocabularyError(f"line {mark.line + 1}" if mark else "file", "not valid YAML") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise VocabularyError(
            " → ".join(str(part) for part in first["loc"]) or "file", first["msg"].removeprefix("Value error, ")
        ) from error
    except ValueError as error:  # an invalid date scalar: 2024-13-45
        raise VocabularyError("file", f"not valid YAML: {error}") from error
    missing = [kind.value for kind in Kind if kind not in entries.kinds]
    if missing:
        raise VocabularyError("kinds", f"{', '.join(missing)} missing")
    kinds = {kind: {"zh": entry.zh, "en": entry.en} for kind, entry in entries.kinds.items()}
    return Vocabulary(kinds, entries.relations)
