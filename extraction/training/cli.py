"""`liantu train`: a local relation model from labelled pairs, laid beside the knowledge base."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from kg.commands.options import kb_option
from kg.errors import DocumentError


@click.command()
@click.option(
    "--from",
    "files",
    multiple=True,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="标注文件，逐行 JSON：text、subject、object、relation；可给多个",
)
@kb_option
def train(files: tuple[Path, ...], kb: Path) -> None:
    """用标注的公司对训练本地关系模型，存于知识库旁；此后的 ingest 即用它复核与补充公司间的关系。"""
    from extraction.training.examples import read_examples  # noqa: PLC0415 -- imported when called
    from extraction.training.rescoring import model_beside  # noqa: PLC0415 -- imported when called

    try:
        from extraction.training.model import RelationModel  # noqa: PLC0415 -- imported when called

        examples = [example for file in files for example in read_examples(file)]
        model = RelationModel.fit(examples)
    except ImportError as error:
        raise DocumentError("liantu train", f"{error.name} is not installed", "pip install 'liantu[train]'") from error
    path = model_beside(kb)
    model.save(path)
    counts = Counter(example.relation or "none" for example in examples)
    click.echo(
        f"{len(examples)} 条标注，{len(counts)} 种关系：{'，'.join(f'{k} {v}' for k, v in counts.most_common())}"
    )
    click.echo(f"训练数据 SHA-256 {model.trained_on} → {path}（{path.stat().st_size / 1e6:.1f} MB）")
