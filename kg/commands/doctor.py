"""`liantu doctor`: what is installed, missing, shadowed or overwritten."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from base64 import urlsafe_b64encode
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

import click
from packaging.requirements import Requirement

from kg.commands.language import say, shown_lang
from kg.messages.words import translated
from liantu import shadowed

_LEAST_SQLITE = (3, 35)


@click.command()
def doctor() -> None:
    """Check the installation: missing dependencies, and packages that another one shadows or has overwritten."""
    faults = [fault for check in (_python, _sqlite, shadowed, _overwritten, _missing) for fault in check()]
    _extras()
    for fault in faults:
        click.echo(f"✗ {translated(fault, shown_lang())}")
    if faults:
        sys.exit(1)
    say("doctor.ready")


def _python() -> list[str]:
    click.echo(f"  Python {sys.version.split()[0]}  liantu {distribution('liantu').version}")
    return []


def _sqlite() -> list[str]:
    click.echo(f"  SQLite {sqlite3.sqlite_version}")
    if sqlite3.sqlite_version_info < _LEAST_SQLITE:
        return [f"SQLite {sqlite3.sqlite_version} is too old; {'.'.join(map(str, _LEAST_SQLITE))} or later is needed"]
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    return [] if "ENABLE_FTS5" in options else ["SQLite of this Python has no FTS5, so full-text search does not work"]


def _overwritten() -> list[str]:
    """Compare installed files with the hashes that the installer recorded; an editable install has almost none."""
    faults = []
    for file in distribution("liantu").files or []:
        place = Path(str(file.locate()))
        if file.hash is None or file.suffix not in {".py", ".yaml", ".csv"}:
            continue
        if not place.is_file():
            faults.append(f"file {place} is missing; reinstall liantu")
        elif _digest(place, file.hash.mode) != file.hash.value:
            faults.append(f"file {place} is not as installed; install liantu in an environment of its own")
    return faults


def _digest(place: Path, algorithm: str) -> str:
    """Return a digest as a wheel's RECORD writes it (PEP 376)."""
    return urlsafe_b64encode(hashlib.new(algorithm, place.read_bytes()).digest()).rstrip(b"=").decode()


def _extras() -> None:
    """Print for each extra what is missing of it."""
    for extra in distribution("liantu").metadata.get_all("Provides-Extra") or []:
        needed = [each for each in _requirements() if each.marker and each.marker.evaluate({"extra": extra})]
        lost = [each.name for each in needed if each.marker and not each.marker.evaluate({"extra": ""})]
        lost = [name for name in lost if not _installed(name)]
        if extra != "dev":
            say("doctor.extra" if lost else "doctor.extra_ready", extra=extra, missing=" ".join(lost))


def _requirements() -> list[Requirement]:
    return [Requirement(line) for line in requires("liantu") or []]


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _missing() -> list[str]:
    faults = []
    for requirement in _requirements():
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            try:
                version = distribution(requirement.name).version
            except PackageNotFoundError:
                faults.append(f"{requirement.name} is missing; reinstall liantu")
                continue
            click.echo(f"  {requirement.name} {version}")
            if version not in requirement.specifier:
                faults.append(f"{requirement.name} {version} does not meet {requirement.specifier}")
    return faults
