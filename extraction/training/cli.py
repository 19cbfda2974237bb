"""Define the commands `liantu train edges` and `liantu train answers`, which train the shipped models."""

from __future__ import annotations

from pathlib import Path

import click

from kg.errors import KgError

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group()
def train() -> None:
    """Train the shipped models (needs pip install 'liantu[train]')."""


@train.command()
@click.argument("annotations", nargs=-1, required=True, type=_FILE)
@click.option("--texts", multiple=True, required=True, type=_FOLDER, help="folder of texts <id>.md, repeatable")
@click.option("--vocabulary", multiple=True, type=_FOLDER, help="more text for the vocabulary")
@click.option(
    "--calibrate", multiple=True, required=True, type=_FILE, help="annotations only for calibration (JSONL), repeatable"
)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="folder for the model")
@click.option(
    "--epochs", default=12, show_default=True, type=click.IntRange(1, 100), help="passes over the training set"
)
@click.option("--seed", default=1, show_default=True, help="random seed")
@click.option("--device", default="cpu", show_default=True, help="PyTorch device, such as cuda")
def edges(
    annotations: tuple[Path, ...], calibrate: tuple[Path, ...], texts: tuple[Path, ...], out: Path, **options: object
) -> None:
    """Train the edge model with annotated notes ANNOTATIONS (JSONL) and write it to --out."""
    try:
        from extraction.training.recipe import Recipe, train as run  # noqa: PLC0415, I001 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install 'liantu[train]'") from missing
    run(Recipe(annotations, calibrate, texts, out, **options), click.echo)  # type: ignore[arg-type]


@train.command()
@click.argument("questions", nargs=-1, required=True, type=_FILE)
@click.option(
    "--kb", required=True, type=click.Path(path_type=Path, exists=True), help="base with the documents of the questions"
)
@click.option(
    "--calibrate", multiple=True, required=True, type=_FILE, help="questions only for calibration (JSONL), repeatable"
)
@click.option(
    "--annotations",
    multiple=True,
    type=_FILE,
    help="notes with annotated relations (JSONL) to make questions from, repeatable",
)
@click.option("--texts", multiple=True, type=_FOLDER, help="folder of the texts <id>.md of these notes, repeatable")
@click.option(
    "--reports",
    multiple=True,
    type=_FILE,
    help="reports with annotated figures (JSON) to make questions from, repeatable",
)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="folder for the model")
@click.option("--epochs", default=2, show_default=True, type=click.IntRange(1, 100), help="passes over the questions")
@click.option("--seed", default=1, show_default=True, help="random seed")
def answers(questions: tuple[Path, ...], calibrate: tuple[Path, ...], kb: Path, out: Path, **options: object) -> None:
    """Train the answer model with readers' QUESTIONS (JSONL with quotes) and write it to --out."""
    try:
        from extraction.training.answers import AnswerRecipe, train as run  # noqa: PLC0415, I001 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install 'liantu[train]'") from missing
    run(AnswerRecipe(questions, calibrate, kb, out, **options), click.echo)  # type: ignore[arg-type]
