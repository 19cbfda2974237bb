"""Define the commands `liantu train edges` and `liantu train answers`, which train the shipped models."""

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


@train.command()
@click.argument("questions", nargs=-1, required=True, type=_FILE)
@click.option("--kb", required=True, type=click.Path(path_type=Path, exists=True), help="问题所问资料的知识库")
@click.option("--calibrate", multiple=True, required=True, type=_FILE, help="只用于校准概率的问题（JSONL），可多次给出")
@click.option("--annotations", multiple=True, type=_FILE, help="标注了关系的笔记（JSONL），据以自动造题，可多次给出")
@click.option("--texts", multiple=True, type=_FOLDER, help="存放这些笔记原文 <id>.md 的文件夹，可多次给出")
@click.option("--reports", multiple=True, type=_FILE, help="标注了指标的报告（JSON），据以自动造题，可多次给出")
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="写出模型的文件夹")
@click.option("--epochs", default=2, show_default=True, type=click.IntRange(1, 100), help="遍历问题的次数")
@click.option("--seed", default=1, show_default=True, help="随机种子")
def answers(questions: tuple[Path, ...], calibrate: tuple[Path, ...], kb: Path, out: Path, **options: object) -> None:
    """用读者写的问题 QUESTIONS（JSONL，附原文引句）训练问答模型，写到 --out。"""
    try:
        from extraction.training.answers import AnswerRecipe, train as run  # noqa: PLC0415, I001 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install 'liantu[train]'") from missing
    run(AnswerRecipe(questions, calibrate, kb, out, **options), click.echo)  # type: ignore[arg-type]
