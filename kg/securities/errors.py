"""What can go wrong with codes and masters.

KgError
└── SecuritiesError
    ├── InvalidCode      a code that is not one, with the reason
    └── MasterFault      a row of a securities master that cannot be read, with file and line
"""

from __future__ import annotations

from kg.errors import KgError


class SecuritiesError(KgError):
    """Anything wrong with securities codes or the securities master."""


class InvalidCode(SecuritiesError):
    """A text that is not a valid code of the scheme."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reason = reason
        super().__init__(f"{text!r} is not a valid code: {reason}")


class MasterFault(SecuritiesError):
    """A row of a securities master that cannot be read."""

    def __init__(self, source: str, line: int, reason: str) -> None:
        self.source = source
        self.line = line
        self.reason = reason
        super().__init__(f"{source}:{line}: {reason}")
