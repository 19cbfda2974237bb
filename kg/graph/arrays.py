"""Named arrays in one file: written whole or not at all, mapped and not read, and never trusted when torn or foreign.

Layout: magic, length of the header (8 bytes), header as JSON (key, arrays, checksum of the data), then the arrays, each
on a multiple of 64 bytes. The file appears under its name by a rename after it has reached the disk.
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
_ALIGNED = 64
_BLOCK = 1 << 24
_HEAD = len(_MAGIC) + 8


def save(path: Path, key: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write a file; False when the folder does not let us, or the disk is full: then there is none, or the old one.

    Args:
        path: where; a file there is replaced.
        key: what the arrays were made from, as JSON knows it; `load` asks for the same.
        arrays: one-dimensional arrays by name.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(exist_ok=True)
        _sweep(path.parent)
        with temporary.open("wb") as file:
            places, checksum, offset = [], 0, 0
            for name, array in arrays.items():
                data = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
                checksum = _checked(data, checksum)
                places.append([name, array.dtype.str, len(array), offset])
                offset += -(-len(data) // _ALIGNED) * _ALIGNED
            header = json.dumps({"key": key, "arrays": places, "checksum": checksum, "bytes": offset}).encode()
            header += b" " * (-(_HEAD + len(header)) % _ALIGNED)
            file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
            for array in arrays.values():
                data = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
                file.write(data)
                file.write(b"\0" * (-len(data) % _ALIGNED))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        return False
    return True


def _sweep(folder: Path) -> None:
    """Remove what processes left half-written when they were killed."""
    for left in folder.glob("*.new"):
        owner = left.suffixes[-2].lstrip(".") if len(left.suffixes) > 1 else ""
        if owner.isdigit() and not _alive(int(owner)):
            left.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def load(path: Path, key: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
    """Map a file's arrays; None when there is none, it was made from something else, or it is damaged."""
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
        checksum = _checked(part.data, checksum)
        found[name] = np.asarray(part).view(kind)
    return found if checksum == header["checksum"] else None


def key_of(path: Path) -> dict[str, Any] | None:
    """Return the key that a file was written with; None when there is no such file."""
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
    whole = isinstance(header, dict) and _HEAD + length + header.get("bytes", -1) == len(mapped)
    return header if whole else None


def _checked(data: memoryview, checksum: int) -> int:
    for start in range(0, len(data), _BLOCK):
        checksum = zlib.crc32(data[start : start + _BLOCK], checksum)
    return checksum
