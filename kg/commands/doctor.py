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

from liantu import shadowed

_LEAST_SQLITE = (3, 35)


@click.command()
def doctor() -> None:
    """检查安装：依赖是否齐全，包是否被别的包遮住或覆盖。"""
    faults = [fault for check in (_python, _sqlite, shadowed, _overwritten, _missing) for fault in check()]
    for fault in faults:
        click.echo(f"✗ {fault}")
    if faults:
        sys.exit(1)
    click.echo("✓ 一切就绪")


def _python() -> list[str]:
    click.echo(f"  Python {sys.version.split()[0]}  liantu {distribution('liantu').version}")
    return []


def _sqlite() -> list[str]:
    click.echo(f"  SQLite {sqlite3.sqlite_version}")
    if sqlite3.sqlite_version_info < _LEAST_SQLITE:
        return [f"SQLite {sqlite3.sqlite_version} 太旧，需要 {'.'.join(map(str, _LEAST_SQLITE))} 以上"]
    with sqlite3.connect(":memory:") as connection:
        options = {row[0] for row in connection.execute("PRAGMA compile_options")}
    connection.close()
    return [] if "ENABLE_FTS5" in options else ["这个 Python 的 SQLite 没有 FTS5，全文检索不可用"]


def _overwritten() -> list[str]:
    """Compare installed files with the hashes that the installer recorded; an editable install has almost none."""
    faults = []
    for file in distribution("liantu").files or []:
        place = Path(str(file.locate()))
        if file.hash is None or file.suffix not in {".py", ".yaml", ".csv"}:
            continue
        if not place.is_file():
            faults.append(f"缺少文件 {place}；请重新安装 liantu")
        elif _digest(place, file.hash.mode) != file.hash.value:
            faults.append(f"文件 {place} 与安装时不同，可能被别的包覆盖；请把 liantu 重新装进单独的环境")
    return faults


def _digest(place: Path, algorithm: str) -> str:
    """Return a digest as a wheel's RECORD writes it (PEP 376)."""
    return urlsafe_b64encode(hashlib.new(algorithm, place.read_bytes()).digest()).rstrip(b"=").decode()


def _missing() -> list[str]:
    faults = []
    for line in requires("liantu") or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            try:
                version = distribution(requirement.name).version
            except PackageNotFoundError:
                faults.append(f"缺少 {requirement.name}；请重新安装 liantu")
                continue
            click.echo(f"  {requirement.name} {version}")
            if version not in requirement.specifier:
                faults.append(f"{requirement.name} {version} 不满足 {requirement.specifier}")
    return faults
