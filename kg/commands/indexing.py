"""`liantu index`: vectors of passages beside a base."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 -- click reads it

import click

from kg.commands.options import configured_encoder, kb_option
from kg.errors import StoreUnusable


@click.command()
@kb_option
@click.option("--anew", is_flag=True, help="弃旧重建，用于更换编码模型")
def index(kb: Path, *, anew: bool) -> None:
    """向量：为知识库中新增或改变的段落编码，供 passages --mode vectors 与 fused；可随时中断，再次运行即继续。

    用离线编码器（需 pip install 'liantu[vectors]'），或设置 embed_url 与 embed_model 指定的端点。
    """
    from kg.service.base import open_kb  # noqa: PLC0415 -- imported when called

    with open_kb(kb, encoder=configured_encoder()) as base:
        if base.vectors is None:
            raise StoreUnusable(kb, "a base in memory has no place for an index of vectors")
        done = base.vectors.index.update(base.store, base.vectors.encoder, anew=anew, show=_show)
    click.echo(f"编码 {done.encoded} 段，移除 {done.removed} 段，共 {done.rows} 段 → {base.vectors.index.folder}")


def _show(done: int, total: int) -> None:
    end = "\n" if done == total else "\r"
    if sys.stderr.isatty() or done == total:
        click.echo(f"  {done}/{total} 段{end}", err=True, nl=False)
