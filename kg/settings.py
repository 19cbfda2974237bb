"""Settings from KG_* variables and liantu.toml; the only reader of the environment."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from kg.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

_PREFIX = "KG_"
_FILE = "liantu.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults of the commands. `workers` 0 means one a processor; `ner` off reads faster and finds fewer unlisted names."""

    kb: Path = Path("kb.liantu")
    lang: str = "zh"
    workers: int = 0
    ner: bool = True
    master: Path | None = None


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Return the settings: a KG_* variable goes before liantu.toml, that before the default.

    Raises:
        SettingsError: naming the setting and what is wrong with it.
    """
    given = dict(_from_file((folder or Path()) / _FILE))
    source = os.environ if environment is None else environment
    for field in fields(Settings):
        if (value := source.get(_PREFIX + field.name.upper())) is not None:
            given[field.name] = value
    unknown = sorted(set(given) - {field.name for field in fields(Settings)})
    if unknown:
        raise SettingsError(unknown[0], "no such setting")
    return Settings(
        kb=Path(str(given.get("kb", Settings.kb))),
        lang=_choice("lang", given.get("lang", "zh"), ("zh", "en")),
        workers=_whole("workers", given.get("workers", 0)),
        ner=_flag("ner", given.get("ner", True)),
        master=Path(str(given["master"])) if given.get("master") else None,
    )


def _from_file(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(str(path), f"not valid TOML: {error}") from error


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


def _flag(name: str, value: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError:
        raise SettingsError(name, f"{value!r} is neither on nor off") from None
