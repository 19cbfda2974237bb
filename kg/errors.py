"""Every fault a user can cause, each class the owner of its message.

KgError
├── SettingsError          liantu.toml or a KG_* variable
├── VocabularyError        relations.yaml
├── DocumentError          one input file; the rest of the run goes on
├── JudgementRefused       a merge, split or revocation that cannot be
├── StoreError
│   ├── StoreMissing       no knowledge base at that path
│   ├── StoreTooNew        written by a later version
│   ├── StoreLocked        another writer holds it
│   └── StoreUnusable      not a knowledge base, corrupt, read-only, disk full
└── QuestionError
    ├── UnknownName        nothing in the view is called that
    ├── UnknownDocument    no document of that id or path
    └── EmptyBase          a job on a base without documents
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class KgError(Exception):
    """A fault with one clear line: what, where, what to do."""


class SettingsError(KgError):
    """A setting that cannot be used."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(f"setting {name}: {cause}")


class VocabularyError(KgError):
    """A line of relations.yaml that does not fit."""

    def __init__(self, where: str, cause: str) -> None:
        super().__init__(f"relations.yaml: {where}: {cause}")


class DocumentError(KgError):
    """One input that cannot be read; `advice` says what its owner can do."""

    def __init__(self, source: str, cause: str, advice: str) -> None:
        self.source, self.cause, self.advice = source, cause, advice
        super().__init__(f"{source}: {cause}; {advice}")


class JudgementRefused(KgError):
    """A judgement on who is who that would make nonsense of the graph."""


class StoreError(KgError):
    """A knowledge base that cannot serve."""


class StoreMissing(StoreError):
    """No knowledge base where one was asked for."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(f"{path}: no knowledge base here; make one with `liantu ingest REPORTS/ --kb {path}`")


class StoreTooNew(StoreError):
    """A knowledge base of a later version of Liantu."""

    def __init__(self, path: Path | str, found: int, known: int) -> None:
        super().__init__(f"{path}: written with schema {found}, this version knows {known}; upgrade liantu")


class StoreLocked(StoreError):
    """A knowledge base that another writer holds."""

    def __init__(self, path: Path | str, holder: str = "") -> None:
        super().__init__(f"{path}: {holder or 'another process'} is writing; wait until it ends and run again")


class StoreUnusable(StoreError):
    """A file that is no knowledge base, or one that the system lets nobody use."""

    def __init__(self, path: Path | str, cause: str) -> None:
        super().__init__(f"{path}: {cause}")


class QuestionError(KgError):
    """A question that cannot be answered as it stands."""


class UnknownName(QuestionError):
    """A name that nothing in the view bears."""

    def __init__(self, text: str, near: Sequence[str] = ()) -> None:
        self.text, self.near = text, tuple(near)
        hint = f"；相近的名称：{'、'.join(near)}" if near else ""
        super().__init__(f"未找到「{text}」{hint}")


class EmptyBase(QuestionError):
    """A job that needs documents was run on a base without any."""

    def __init__(self) -> None:
        super().__init__("知识库里（到这一天为止）还没有文档：请先运行 `liantu ingest REPORTS/ --kb KB`，或换一天")


class UnknownDocument(QuestionError):
    """A document that is not in the base."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text}：知识库里没有这个编号或路径的文档")
