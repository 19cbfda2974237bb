"""Memory-mapped files of named arrays, written atomically and verified by checksum.

Layout: magic, length of the header (8 bytes), header as JSON (key, arrays, checksum of the data), then the arrays, each
on a multiple of 64 bytes. The file is synced under a temporary name, then renamed.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_MAGIC = b"LTARRAY1"
_ALIGNMENT = 64
_BLOCK = 1 << 24
_HEAD = len(_MAGIC) + 8


def save(path: Path, key: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write a file atomically; return False when the folder is not writable or the disk is full.

    Args:
        path: target; an existing file is replaced, or kept when writing fails.
        key: what the arrays were built from, JSON-serialisable; `load` must be given an equal key.
        arrays: one-dimensional arrays by name.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        _sweep(path.parent)
        with temporary.open("wb") as file:
            layout, checksum, offset = [], 0, 0
            for name, array in arrays.items():
                data = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
                checksum = _update_checksum(data, checksum)
                layout.append([name, array.dtype.str, len(array), offset])
                offset += -(-len(data) // _ALIGNMENT) * _ALIGNMENT
            header = json.dumps({"key": key, "arrays": layout, "checksum": checksum, "bytes": offset}).encode()
            header += b" " * (-(_HEAD + len(header)) % _ALIGNMENT)
            file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
            for array in arrays.values():
                data = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
                file.write(data)
                file.write(b"\0" * (-len(data) % _ALIGNMENT))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        return False
    return True


def _sweep(folder: Path) -> None:
    """Remove temporary files of processes that no longer run."""
    for leftover in folder.glob("*.new"):
        owner = leftover.suffixes[-2].lstrip(".") if len(leftover.suffixes) > 1 else ""
        if owner.isdigit() and not _alive(int(owner)):
            leftover.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def load(path: Path, key: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
    """Map the arrays of a file; return None when it is missing, damaged, or has another key."""
    try:
        mapped = np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError):  # ValueError: an empty file cannot be mapped
        return None
    header = _header(mapped)
    if header is None or header.get("key") != json.loads(json.dumps(key)):
        return None
    data = mapped[len(mapped) - header["bytes"] :] if header["bytes"] else mapped[:0]
    found: dict[str, NDArray[Any]] = {}
    checksum = 0
    for name, dtype, length, offset in header["arrays"]:
        kind = np.dtype(dtype)
        part = data[offset : offset + length * kind.itemsize]
        if kind.hasobject or len(part) != length * kind.itemsize:
            return None
        checksum = _update_checksum(part.data, checksum)
        found[name] = np.asarray(part).view(kind)
    return found if checksum == header["checksum"] else None


def key_of(path: Path) -> dict[str, Any] | None:
    """Return the key stored in a file, or None when it cannot be read."""
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD)
            if len(start) < _HEAD or start[: len(_MAGIC)] != _MAGIC:
                return None
            header = json.loads(file.read(min(int.from_bytes(start[len(_MAGIC) :], "little"), _BLOCK)))
    except (OSError, ValueError):
        return None
    key = header.get("key") if isinstance(header, dict) else None
    return key if isinstance(key, dict) else None


def _header(mapped: NDArray[np.uint8]) -> dict[str, Any] | None:
    start = mapped[:_HEAD].tobytes()
    if len(start) < _HEAD or start[: len(_MAGIC)] != _MAGIC:
        return None
    length = int.from_bytes(start[len(_MAGIC) :], "little")
    try:
        header: dict[str, Any] = json.loads(mapped[_HEAD : _HEAD + min(length, _BLOCK)].tobytes())
    except ValueError:
        return None
    is_complete = isinstance(header, dict) and _HEAD + length + header.get("bytes", -1) == len(mapped)
    return header if is_complete else None


def _update_checksum(data: memoryview, checksum: int) -> int:
    for start in range(0, len(data), _BLOCK):
        checksum = zlib.crc32(data[start : start + _BLOCK], checksum)
    return checksum
