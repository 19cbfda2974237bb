"""`liantu doctor`: what is installed, missing or shadowed."""

from __future__ import annotations

import importlib.util
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

import click
from packaging.requirements import Requirement

_OWN = ("kg", "extraction", "communities", "viz")
_LEAST_SQLITE = (3, 35)


@click.command()
def doctor() -> None:
    """检查安装：依赖是否齐全，包名是否被别的包遮住。"""
    faults = [fault for check in (_python, _sqlite, _shadowed, _missing) for fault in check()]
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


def _shadowed() -> list[str]:
    """kg, viz, extraction and communities are taken names elsewhere: ours must be the ones that are imported."""
    home = Path(__file__).resolve().parents[2]
    faults = []
    for name in _OWN:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            faults.append(f"找不到包 {name}")
        elif Path(spec.origin).resolve().parent != home / name:
            faults.append(f"包 {name} 被 {spec.origin} 遮住；请把 liantu 装进单独的环境")
    return faults


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
