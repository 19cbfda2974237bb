"""Settings from KG_* variables and liantu.toml; the only module that reads the environment."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kg.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date, datetime

_PREFIX = "KG_"
_FILE = "liantu.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults of the commands.

    `workers` 0 means one per processor; `read_seconds` is the processor time that opening one file may take; `ner` off
    is faster and finds fewer unlisted names. `edge_model` is the relation model: `shipped`, `off`, or the folder of a
    trained model. `names` is a file of the user's names and synonyms (docs/identity.md). Facts below `min_confidence`
    are not stored, and those below `answer_confidence` are excluded from answers
    (docs/quality.md lists their precision). Of a filing, relations are read from `filing_pages` pages of prose; 0 reads
    none (docs/filings.md). User and password are for a Neo4j server; the password is never displayed. `llm_*` name a
    language model (docs/llm.md), `embed_*` an encoder in place of the offline one (docs/service.md). `service_keys` are
    hashes of the keys that `liantu serve` accepts. `market_zone` is the time zone in which an instant becomes a day.
    """

    kb: Path = Path("kb.liantu")
    lang: str = "zh"
    workers: int = 0
    ner: bool = True
    edge_model: str = "shipped"
    master: Path | None = None
    names: Path | None = None
    read_seconds: float = 180.0
    min_confidence: float = 0.2
    answer_confidence: float = 0.65
    filing_pages: int = 6
    llm_url: str = ""
    llm_model: str = ""
    llm_key: str = field(default="", repr=False)
    llm_timeout: float = 120.0
    llm_parallel: int = 8
    llm_mode: str = "text"
    llm_stream: bool = False
    llm_prices: Path | None = None
    embed_url: str = ""
    embed_model: str = ""
    embed_key: str = field(default="", repr=False)
    embed_question_prefix: str = ""
    embed_passage_prefix: str = ""
    neo4j_user: str = "neo4j"
    neo4j_password: str = field(default="", repr=False)
    service_keys: str = field(default="", repr=False)
    market_zone: str = "Asia/Shanghai"


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Return the settings. KG_* variables override liantu.toml, which overrides defaults; empty variables are ignored.

    Raises:
        SettingsError: with the setting and the cause.
    """
    names = {field.name for field in fields(Settings)}
    given = dict(_from_file((folder or Path()) / _FILE))
    if unknown := sorted(set(given) - names):
        raise SettingsError(unknown[0], "no such setting")
    source = os.environ if environment is None else environment
    given |= {name: value for name in names if (value := source.get(_PREFIX + name.upper()))}
    return replace(Settings(), **{name: _READERS[name](name, value) for name, value in sorted(given.items())})


def market_day(instant: datetime, zone: str = "") -> date:
    """Return the day of an instant in the market: in `zone`, else in that of the settings.

    An instant without a time zone keeps the day it is written with.

    >>> from datetime import UTC, datetime
    >>> market_day(datetime(2026, 1, 4, 16, tzinfo=UTC), "Asia/Shanghai")
    datetime.date(2026, 1, 5)
    """
    if instant.tzinfo is None:
        return instant.date()
    try:
        return instant.astimezone(ZoneInfo(zone or _market_zone())).date()
    except OverflowError:  # at either end of the calendar
        return instant.date()


@cache
def _market_zone() -> str:
    return load().market_zone


def share_metrics(folder: str) -> None:
    """Let the worker processes of this one count requests together; prometheus-client takes the folder from here."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder


def _from_file(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(str(path), f"cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(str(path), f"not valid TOML: {error}") from error


def _path(name: str, value: object) -> Path:
    if not isinstance(value, str) or not value or "\0" in value:
        raise SettingsError(name, f"{value!r} is not a path")
    return Path(value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise SettingsError(name, "is not a string")
    return value


def _zone(name: str, value: object) -> str:
    try:
        return ZoneInfo(_text(name, value)).key
    except (ValueError, OSError, ZoneInfoNotFoundError):
        raise SettingsError(name, f"{value!r} is not a time zone such as Asia/Shanghai") from None


def _lang(name: str, value: object) -> str:
    return _choice(name, value, ("zh", "en"))


def _mode(name: str, value: object) -> str:
    return _choice(name, value, ("text", "json", "tool"))


def _seconds(name: str, value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise SettingsError(name, f"{value!r} is not a number of seconds") from None
    if not 0 < number < float("inf"):
        raise SettingsError(name, "must be above 0")
    return number


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise SettingsError(name, f"{value!r} is not one of {', '.join(allowed)}")
    return str(value)


def _whole(name: str, value: object) -> int:
    try:
        number = int(str(value))
    except ValueError:
        raise SettingsError(name, f"{value!r} is not a whole number") from None
    if number < 0:
        raise SettingsError(name, "must not be negative")
    return number


def _share(name: str, value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        raise SettingsError(name, f"{value!r} is not a number") from None
    if not 0 <= number <= 1:
        raise SettingsError(name, "must lie between 0 and 1")
    return number


def _flag(name: str, value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError:
        raise SettingsError(name, f"{value!r} is not on or off") from None


_READERS: Mapping[str, Callable[[str, object], Any]] = {
    "kb": _path,
    "lang": _lang,
    "workers": _whole,
    "ner": _flag,
    "edge_model": _text,
    "master": _path,
    "names": _path,
    "read_seconds": _seconds,
    "min_confidence": _share,
    "answer_confidence": _share,
    "filing_pages": _whole,
    "llm_url": _text,
    "llm_model": _text,
    "llm_key": _text,
    "llm_timeout": _seconds,
    "llm_parallel": _whole,
    "llm_mode": _mode,
    "llm_stream": _flag,
    "llm_prices": _path,
    "embed_url": _text,
    "embed_model": _text,
    "embed_key": _text,
    "embed_question_prefix": _text,
    "embed_passage_prefix": _text,
    "neo4j_user": _text,
    "neo4j_password": _text,
    "service_keys": _text,
    "market_zone": _zone,
}
