"""Memory-mapped files of named arrays, written atomically and verified by checksum.

A file is a sequence of arrays in NumPy's .npy format, each on a multiple of 64 bytes; the first is a header as JSON
(key, names, checksum of the arrays). It is synced under a temporary name, then renamed.
"""

from __future__ import annotations

import json
import os
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

_ALIGNMENT = 64
_BLOCK = 1 << 24
_VERSION = (1, 0)


def save(path: Path, key: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write a file atomically; return False when the folder is not writable or the disk is full.

    Args:
        path: target; an existing file is replaced, or kept when writing fails.
        key: what the arrays were built from, JSON-serialisable; `load` must be given an equal key.
        arrays: one-dimensional arrays by name.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    checksum = 0
    for array in arrays.values():
        checksum = _update_checksum(np.ascontiguousarray(array), checksum)
    header = json.dumps({"key": key, "names": list(arrays), "checksum": checksum}).encode()
    try:
        path.parent.mkdir(exist_ok=True)
        _sweep(path.parent)
        with temporary.open("wb") as file:
            for array in (np.frombuffer(header, dtype=np.uint8), *arrays.values()):
                file.write(b"\0" * (-file.tell() % _ALIGNMENT))
                npy.write_array(file, np.ascontiguousarray(array), version=_VERSION, allow_pickle=False)
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
        with path.open("rb") as file:
            mapped = np.memmap(file, dtype=np.uint8, mode="r")
            file.seek(0)
            header = _header(file)
            if header["key"] != json.loads(json.dumps(key)):
                return None
            found = {name: _next(file, mapped) for name in header["names"]}
    except (OSError, ValueError, KeyError, TypeError):  # the file is missing, or is not what `save` writes
        return None
    checksum = 0
    for array in found.values():
        checksum = _update_checksum(array, checksum)
    return found if checksum == header["checksum"] else None


def key_of(path: Path) -> dict[str, Any] | None:
    """Return the key stored in a file, or None when it cannot be read."""
    try:
        with path.open("rb") as file:
            key: dict[str, Any] = _header(file)["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return key if isinstance(key, dict) else None


def _header(file: BinaryIO) -> dict[str, Any]:
    shape, dtype = _layout(file)
    if dtype != np.uint8:
        raise ValueError(f"a header of {dtype}")
    header: dict[str, Any] = json.loads(file.read(min(shape[0], _BLOCK)))
    return header


def _next(file: BinaryIO, mapped: NDArray[np.uint8]) -> NDArray[Any]:
    """Return the array that begins at the next multiple of 64 bytes."""
    file.seek(-file.tell() % _ALIGNMENT, os.SEEK_CUR)
    shape, dtype = _layout(file)
    start = file.tell()
    end = file.seek(shape[0] * dtype.itemsize, os.SEEK_CUR)
    if dtype.hasobject or end > len(mapped):
        raise ValueError(f"an array of {dtype} ends at {end} of {len(mapped)} bytes")
    return np.asarray(mapped[start:end]).view(dtype)


def _layout(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[Any]]:
    if npy.read_magic(file) != _VERSION:
        raise ValueError("another version of the format")
    shape, _, dtype = npy.read_array_header_1_0(file)
    if len(shape) != 1:
        raise ValueError(f"an array of shape {shape}")
    return shape, dtype


def _update_checksum(array: NDArray[Any], checksum: int) -> int:
    data = array.view(np.uint8).reshape(-1).data
    for start in range(0, len(data), _BLOCK):
        checksum = zlib.crc32(data[start : start + _BLOCK], checksum)
    return checksum
