"""Errors that users can cause; each class defines its message.

KgError
├── SettingsError          liantu.toml or a KG_* variable
├── VocabularyError        relations.yaml
├── DocumentError          one input file; the run continues with the others
├── ExtraMissing           a package that an extra brings is not installed
├── JudgementRefused       an impossible merge, split or revocation
├── StoreError
│   ├── StoreMissing       no knowledge base at that path
│   ├── StoreTooNew        written by a later version
│   ├── StoreLocked        locked by another writer
│   └── StoreUnusable      not a knowledge base, corrupt, read-only, disk full
└── QuestionError
    ├── UnknownName        no entity in the view has that name
    ├── UnknownRelation    no such relation in the vocabulary
    ├── UnknownDocument    no document with that id or path
    └── EmptyBase          a base without documents
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kg.messages.words import Listed, rendered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kg.messages.words import Lang


def printable(path: str) -> str:
    r"""Return a path as one printable line; what is not printable, and bytes that are not UTF-8, as escapes.

    >>> printable("研报\n.md")
    '研报\\n.md'
    """
    plain = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in plain)


class KgError(Exception):
    """Base class; the message is one line: what failed, where, and what to do.

    It is written in English, as a template with parameters; `worded` returns it in a language, `str()` in `lang`.
    """

    lang: Lang = "en"

    def __init__(self, template: str = "", /, **parts: object) -> None:
        self.template, self.parts = template, parts
        super().__init__(rendered(template, parts, "en"))

    def __str__(self) -> str:
        return self.worded(self.lang)

    def worded(self, lang: Lang) -> str:
        """Return the message in a language; what phrases.zh.yaml does not have stays English."""
        return rendered(self.template, self.parts, lang)


class SettingsError(KgError):
    """An invalid setting."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__("setting {name}: {cause}", name=name, cause=cause)


class VocabularyError(KgError):
    """An invalid entry in relations.yaml."""

    def __init__(self, where: str, cause: str) -> None:
        super().__init__("relations.yaml: {where}: {cause}", where=where, cause=cause)


class DocumentError(KgError):
    """An unreadable input; `advice` states what the user can do."""

    def __init__(self, source: str, cause: str, advice: str) -> None:
        self.source, self.cause, self.advice = source, cause, advice
        super().__init__("{source}: {cause}; {advice}", source=printable(source), cause=cause, advice=advice)

    def __reduce__(self) -> tuple[type[DocumentError], tuple[str, str, str]]:
        """Pickle the arguments: errors travel between processes."""
        return type(self), (self.source, self.cause, self.advice)


class ExtraMissing(KgError):
    """A package that an extra brings is not installed."""

    def __init__(self, missing: ModuleNotFoundError, extra: str) -> None:
        template = "{package} is not installed; run `pip install 'liantu[{extra}]'`"
        super().__init__(template, package=missing.name or "", extra=extra)


class JudgementRefused(KgError):
    """A judgement on identity that would make the graph inconsistent."""


class StoreError(KgError):
    """A knowledge base that cannot be used."""


class StoreMissing(StoreError):
    """No knowledge base at the given path."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(
            "{path}: no knowledge base here; create one with `liantu ingest REPORTS/ --kb {path}`", path=str(path)
        )


class StoreTooNew(StoreError):
    """A knowledge base written by a later version of Liantu."""

    def __init__(self, path: Path | str, found: int, known: int) -> None:
        template = "{path}: written with schema {found}, this version knows {known}; upgrade liantu"
        super().__init__(template, path=str(path), found=found, known=known)


class StoreLocked(StoreError):
    """A knowledge base locked by another writer."""

    def __init__(self, path: Path | str, holder: str = "") -> None:
        template = "{path}: {holder} is writing; wait until it ends and run again"
        super().__init__(template, path=str(path), holder=holder or "another process")


class StoreUnusable(StoreError):
    """A file that is not a knowledge base, or is corrupt or inaccessible."""

    def __init__(self, path: Path | str, cause: str) -> None:
        super().__init__("{path}: {cause}", path=str(path), cause=cause)


class QuestionError(KgError):
    """A question that cannot be answered."""


class UnknownName(QuestionError):
    """A name that no entity in the view has."""

    def __init__(self, text: str, near: Sequence[str] = ()) -> None:
        self.text, self.near = text, tuple(near)
        if near:
            super().__init__("nothing is called “{name}”; similar names: {near}", name=text, near=Listed(near))
        else:
            super().__init__("nothing is called “{name}”", name=text)


class UnknownRelation(QuestionError):
    """A relation that relations.yaml does not have."""

    def __init__(self, text: str, known: Sequence[str]) -> None:
        super().__init__("no relation {name}; known: {known}", name=text[:100], known=Listed(known))


class EmptyBase(QuestionError):
    """An operation that needs documents, on a base without any."""

    def __init__(self) -> None:
        super().__init__(
            "the knowledge base has no documents up to that day; "
            "run `liantu ingest REPORTS/ --kb KB`, or choose a later day"
        )


class UnknownDocument(QuestionError):
    """A document that is not in the base."""

    def __init__(self, text: str) -> None:
        super().__init__("{name}: no document with this id or path in the knowledge base", name=text)
