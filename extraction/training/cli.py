"""Define the command `liantu train edges`, which trains the edge model."""

from __future__ import annotations

from pathlib import Path

import click

from kg.errors import KgError

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group()
def train() -> None:
    """训练随包的模型（需 pip install 'liantu[train]'）。"""


@train.command()
@click.argument("annotations", nargs=-1, required=True, type=_FILE)
@click.option("--texts", multiple=True, required=True, type=_FOLDER, help="存放原文 <id>.md 的文件夹，可多次给出")
@click.option("--vocabulary", multiple=True, type=_FOLDER, help="另供词表使用的文本文件夹")
@click.option("--calibrate", multiple=True, required=True, type=_FILE, help="只用于校准概率的标注（JSONL），可多次给出")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="写出模型的文件夹")
@click.option("--epochs", default=12, show_default=True, type=click.IntRange(1, 100), help="遍历训练集的次数")
@click.option("--seed", default=1, show_default=True, help="随机种子")
@click.option("--device", default="cpu", show_default=True, help="PyTorch 设备，如 cuda")
def edges(
    annotations: tuple[Path, ...], calibrate: tuple[Path, ...], texts: tuple[Path, ...], out: Path, **options: object
) -> None:
    """用标注的笔记 ANNOTATIONS（JSONL）训练关系模型，写到 --out。"""
    try:
        from extraction.training.recipe import Recipe, train as run  # noqa: PLC0415, I001 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install 'liantu[train]'") from missing
    run(Recipe(annotations, calibrate, texts, out, **options), click.echo)  # type: ignore[arg-type]
