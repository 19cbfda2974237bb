"""Train the shipped models: `python -m benchmarks.training edges|pairs|answers|nearest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kg.errors import KgError

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.group()
def train() -> None:
    """Train the shipped models (needs pip install '.[train]')."""


def _note_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what training on annotated notes needs."""
    for option in (
        click.option("--device", default="cpu", show_default=True, help="PyTorch device, such as cuda"),
        click.option("--seed", default=1, show_default=True, help="random seed"),
        click.option(
            "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="folder for the model"
        ),
        click.option(
            "--calibrate", multiple=True, required=True, type=_FILE,
            help="annotations only for calibration (JSONL), repeatable",
        ),
        click.option("--texts", multiple=True, required=True, type=_FOLDER, help="folder of texts <id>.md, repeatable"),
        click.argument("annotations", nargs=-1, required=True, type=_FILE),
    ):  # fmt: skip
        command = option(command)
    return command


@train.command()
@_note_options
@click.option("--vocabulary", multiple=True, type=_FOLDER, help="more text for the vocabulary")
@click.option(
    "--epochs", default=12, show_default=True, type=click.IntRange(1, 100), help="passes over the training set"
)
def edges(**options: Any) -> None:
    """Train the edge model with annotated notes ANNOTATIONS (JSONL) and write it to --out."""
    try:
        from benchmarks.training.recipe import Recipe, train as run  # noqa: PLC0415, I001 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install '.[train]'") from missing
    run(Recipe(**options), click.echo)


@train.command()
@_note_options
@click.option("--model", default="shipped", show_default=True, help="the model to extend: shipped or a folder")
@click.option(
    "--epochs", default=3, show_default=True, type=click.IntRange(1, 100), help="passes over the training set"
)
def pairs(model: str, **options: Any) -> None:
    """Train a second reading of the edge model, which judges the candidates of a text together; write both to --out."""
    try:
        from benchmarks.training.pairs import train as run  # noqa: PLC0415 -- the extra `train`
        from benchmarks.training.recipe import Recipe  # noqa: PLC0415
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install '.[train]'") from missing
    run(Recipe(**options), model, click.echo)


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
        from benchmarks.training.answers import AnswerRecipe, train as run  # noqa: PLC0415, I001 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install '.[train]'") from missing
    run(AnswerRecipe(questions, calibrate, kb, out, **options), click.echo)  # type: ignore[arg-type]


@train.command()
@click.argument("questions", nargs=-1, required=True, type=_FILE)
@click.option(
    "--kb", required=True, type=click.Path(path_type=Path, exists=True), help="base with the documents of the questions"
)
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="folder for the encoder")
@click.option("--epochs", default=8, show_default=True, type=click.IntRange(1, 100), help="passes over the questions")
@click.option("--seed", default=1, show_default=True, help="random seed")
def nearest(questions: tuple[Path, ...], kb: Path, out: Path, epochs: int, seed: int) -> None:
    """Train the encoder that finds sentences by meaning with readers' QUESTIONS (JSONL: question, quotes, near)."""
    try:
        from benchmarks.training.nearest import train as run  # noqa: PLC0415 -- the extra `train`
    except ImportError as missing:
        raise KgError(f"training needs {missing.name}: pip install '.[train]'") from missing
    run(questions, kb, out, epochs=epochs, seed=seed, log=click.echo)


if __name__ == "__main__":
    train()
