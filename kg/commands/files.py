"""Files that a command writes for its user: whole or not at all, and never over a knowledge base."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

_BASE = b"SQLite format 3\0"  # https://sqlite.org/fileformat.html, 1.3


class FileUnwritable(KgError):
    """A file that cannot be put where it was asked for."""

    def __init__(self, path: Path, cause: str) -> None:
        super().__init__("{path}: cannot be written: {cause}; choose another place", path=str(path), cause=cause)


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Lend a file that takes the place of what stands there when the block has ended well, and only then.

    Enter it before a base is opened: looking whether a base stands there would drop SQLite's locks on that base.

    Raises:
        FileUnwritable: when it cannot be written, or a database stands there; what stood there stays.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():  # a device or a pipe is no file to be replaced
            with target.open("w", encoding="utf-8", newline="\n") as file:
                yield file
            return
        refuse_database(path)
        _remove_left(target)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise FileUnwritable(path, error.strerror or type(error).__name__) from error


def _remove_left(target: Path) -> None:
    """Remove what commands that were killed wrote for this file."""
    for path in target.parent.glob(f".{escape(target.name)}.*.new"):
        process = path.name.split(".")[-2]
        if process.isdecimal() and not Path("/proc", process).exists() and Path("/proc/self").exists():
            path.unlink(missing_ok=True)


def refuse_database(path: Path) -> None:
    """Refuse a path at which a database stands; call it before a base is opened, for the reason `replacing` gives.

    Raises:
        FileUnwritable: a database stands there, or owns that name.
    """
    if is_database(Path(os.path.realpath(path))):
        raise FileUnwritable(path, "a knowledge base or another database stands there, or owns that name")


def is_database(path: Path) -> bool:
    """Return whether a database stands at a path, or the path belongs to one: its log, lock or journal."""
    for suffix in ("-wal", "-shm", "-journal", "-lock"):
        if path.name.endswith(suffix) and is_database(path.with_name(path.name.removesuffix(suffix))):
            return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_BASE)) == _BASE
