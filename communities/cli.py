"""`liantu weekly`: the themes of a week, found and published."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click
from rich.console import Console

from kg.commands.options import Day, kb_option

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

_STAGES = {"project": "投影", "detect": "发现社区", "summarise": "撰写摘要", "publish": "发布"}


@click.command()
@kb_option
@click.option("--as-of", type=Day(), help="只看这一天（含）以前发表的内容；默认为库中最新一天")
def weekly(kb: Path, as_of: date | None) -> None:
    """每周任务：发现主题并写摘要，一次发布；重复运行不改变结果。"""
    from communities.weekly import run_week  # noqa: PLC0415 -- imported when called
    from kg.store.open import open_store  # noqa: PLC0415 -- imported when called

    began = time.perf_counter()
    store = open_store(kb)
    try:
        with Console(stderr=True).status("…") as status:
            week = run_week(store, as_of, progress=lambda stage: status.update(_STAGES[stage]))
    finally:
        store.close()
    run, quality, took = week.run, week.run.quality, time.perf_counter() - began
    top = sum(community.level == 0 for community in run.communities)
    click.echo(
        f"{run.as_of}：{top} 个主题（共 {len(run.communities)} 个社区），摘要新写 {week.written}、沿用 {week.carried}；"
        f"模块度 {quality['modularity']:.3f}，稳定度 {quality['stability']:.2f}，用时 {took:.1f} 秒"
    )
