"""Keys of clients: several, each with a name and a rate, revocable while the service runs."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
import secrets
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from kg.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_LOG = logging.getLogger("liantu")
_HASH = re.compile(r"[0-9a-f]{64}")
_LOOKED_EVERY = 1.0  # seconds between looks at the file of keys
_BURST = 2.0  # seconds of its rate that a key may use at once


def hash_key(key: str) -> str:
    """Hash a key. Keys are random (`random_key`), so a fast hash is enough: there is no dictionary to try.

    A slow hash protects passwords that people choose; here it would let any stranger use up the processor.

    >>> hash_key("a key")[:8]
    '8fa3aab2'
    """
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def random_key() -> str:
    """Return a new random key of 256 bits."""
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class ClientKey:
    """The hash of a key, the client's name for the log, and its requests a second (0: no limit)."""

    hash: str
    name: str
    rate: float


def read_hashes(setting: str, rate: float = 0) -> tuple[ClientKey, ...]:
    """Read the hashes of keys from the setting `service_keys`, separated by spaces or commas.

    Raises:
        SettingsError: when one is not a hash.
    """
    hashes = setting.lower().replace(",", " ").split()
    if not all(map(_HASH.fullmatch, hashes)):
        raise SettingsError("service_keys", "not SHA-256 hashes; `liantu serve --new-key` makes a key and its hash")
    return tuple(ClientKey(each, each[:8], rate) for each in hashes)


def read_file(path: Path, rate: float = 0) -> tuple[ClientKey, ...]:
    """Read a file of keys: a line has a name, the hash of its key and, if wanted, requests a second; # begins a remark.

    Raises:
        SettingsError: when the file cannot be read or a line is not of this form.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--keys {path}", f"cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            name, hashed, own = words[0], words[1].lower(), float(words[2]) if words[2:] else rate
        except (IndexError, ValueError):
            hashed = ""
        if not _HASH.fullmatch(hashed) or len(words) > 3 or not 0 <= own < float("inf"):  # noqa: PLR2004
            raise SettingsError(f"--keys {path}", f"line {number}: write NAME HASH, or NAME HASH REQUESTS_A_SECOND")
        found.append(ClientKey(hashed, name, own))
    return tuple(found)


class KeyRing:
    """The keys that are accepted, and what each client may still ask.

    A file is read again when it changes: a key whose line is gone is refused within a second. A file that became
    unreadable or wrong leaves the keys as they were, and the log says so; one that is gone accepts no key.
    """

    def __init__(
        self,
        keys: Iterable[ClientKey] = (),
        *,
        file: Path | None = None,
        rate: float = 0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._fixed, self._file, self._rate, self._clock = tuple(keys), file, rate, clock
        self._read = read_file(file, rate) if file else ()
        self._seen, self._looked = self._stamp(), clock()
        self._left: dict[str, tuple[float, float]] = {}

    @property
    def required(self) -> bool:
        """Whether requests need a key."""
        return bool(self._fixed or self._file)

    def known(self, sent: str) -> ClientKey | None:
        """Return the client whose key was sent; compares with all in constant time."""
        self._refresh()
        hashed = hash_key(sent)
        found = [key for key in (*self._fixed, *self._read) if hmac.compare_digest(key.hash, hashed)]
        return found[0] if found else None

    def wait(self, key: ClientKey) -> float:
        """Count a request and return 0, or the seconds after which it will be answered: a token bucket for each key."""
        if not key.rate:
            return 0.0
        now, most = self._clock(), max(key.rate * _BURST, 1.0)
        left, since = self._left.get(key.hash, (most, now))
        left = min(most, left + (now - since) * key.rate)
        allowed = left >= 1
        self._left[key.hash] = (left - allowed, now)
        return 0.0 if allowed else (1 - left) / key.rate

    def _refresh(self) -> None:
        if self._file is None or self._clock() - self._looked < _LOOKED_EVERY:
            return
        self._looked, stamp = self._clock(), self._stamp()
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            self._read = read_file(self._file, self._rate) if stamp else ()
        except SettingsError as error:
            _LOG.error("%s; the keys stay as they were", error)

    def _stamp(self) -> tuple[int, int] | None:
        try:
            stat = self._file.stat() if self._file else None
        except OSError:
            return None
        return (stat.st_mtime_ns, stat.st_size) if stat else None
