"""Exceptions for securities codes and masters.

KgError
└── SecuritiesError
    ├── InvalidCode      an invalid code, with the reason
    └── MasterFault      an unreadable row of a securities master, with file and line
"""

from __future__ import annotations

from kg.errors import KgError


class SecuritiesError(KgError):
    """Base class for errors in securities codes or the securities master."""


class InvalidCode(SecuritiesError):
    """A text that is not a valid code of the scheme."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__("{code} is not a valid code: {reason}", code=repr(text), reason=reason)


class MasterFault(SecuritiesError):
    """An unreadable row of a securities master."""

    def __init__(self, source: str, line: int, reason: str) -> None:
        self.source = source
        self.line = line
        self.reason = reason
        super().__init__("{source}:{line}: {reason}", source=source, line=line, reason=reason)
