"""`liantu train`: local models from labelled text beside the knowledge base: relations of pairs, causes, roles."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from kg.commands.options import kb_option
from kg.errors import DocumentError
from kg.settings import load


@click.command()
@click.option(
    "--from",
    "files",
    multiple=True,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="标注文件，逐行 JSON：text、subject、object、relation，或 text、causes，或 text、triples；可给多个",
)
@kb_option
def train(files: tuple[Path, ...], kb: Path) -> None:
    """用标注文本训练本地模型，存于知识库旁，此后的 ingest 即用它。

    三种标注各训一个：公司间的关系，因果（含 causes 的行），三元组（含 triples 的行）。
    """
    from extraction.training.labelled import holds  # noqa: PLC0415 -- imported when called

    causal = [file for file in files if holds(file, "causes")]
    roles = [file for file in files if holds(file, "triples")]
    pairs = [file for file in files if file not in (*causal, *roles)]
    try:
        if pairs:
            _relations(pairs, kb)
        if causal:
            _causes(causal, kb)
        if roles:
            _roles(roles, kb)
    except ImportError as error:
        raise DocumentError("liantu train", f"{error.name} is not installed", "pip install 'liantu[train]'") from error


def _relations(files: list[Path], kb: Path) -> None:
    from extraction.training.examples import read_examples  # noqa: PLC0415 -- imported when called
    from extraction.training.model import RelationModel  # noqa: PLC0415 -- imported when called
    from extraction.training.rescoring import model_beside  # noqa: PLC0415 -- imported when called

    examples = [example for file in files for example in read_examples(file)]
    model = RelationModel.fit(examples)
    path = model_beside(kb)
    model.save(path)
    counts = Counter(example.relation or "none" for example in examples)
    click.echo(
        f"{len(examples)} 条标注，{len(counts)} 种关系：{'，'.join(f'{k} {v}' for k, v in counts.most_common())}"
    )
    _told(model.trained_on, path)


def _causes(files: list[Path], kb: Path) -> None:
    from extraction.training.causal_claims import causal_beside  # noqa: PLC0415 -- imported when called
    from extraction.training.causal_examples import read_causal_examples  # noqa: PLC0415 -- imported when called
    from extraction.training.causal_model import fit  # noqa: PLC0415 -- imported when called
    from extraction.training.rescoring import model_beside  # noqa: PLC0415 -- imported when called

    examples = [example for file in files for example in read_causal_examples(file)]
    model, path = fit(examples), causal_beside(model_beside(kb))
    model.save(path)
    click.echo(f"{len(examples)} 条因果标注，{sum(len(example.pairs) for example in examples)} 对因果")
    _told(model.data_hash, path)


def _roles(files: list[Path], kb: Path) -> None:
    from extraction.pipeline import Extractor  # noqa: PLC0415 -- imported when called
    from extraction.training.rescoring import model_beside  # noqa: PLC0415 -- imported when called
    from extraction.training.role_examples import read_role_examples  # noqa: PLC0415 -- imported when called
    from extraction.training.role_reading import marked, roles_beside  # noqa: PLC0415 -- imported when called
    from extraction.training.roles import RoleModel  # noqa: PLC0415 -- imported when called
    from kg.securities.imported import master_for  # noqa: PLC0415 -- imported when called

    examples = [example for file in files for example in read_role_examples(file)]
    untrained = Extractor.default(master=master_for(kb, load().master), ner=load().ner)
    model, path = RoleModel.fit(marked(examples, untrained.annotate)), roles_beside(model_beside(kb))
    model.save(path)
    click.echo(f"{len(examples)} 段标注，{sum(len(example.triples) for example in examples)} 个三元组")
    _told(model.trained_on, path)


def _told(data_hash: str, path: Path) -> None:
    click.echo(f"训练数据 SHA-256 {data_hash} → {path}（{path.stat().st_size / 1e6:.1f} MB）")
