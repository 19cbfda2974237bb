"""How full the answers about everyday topics are: `python -m benchmarks.topics --kb KB [TOPIC …]`.

A row has the stages, companies and links of the chain, and the paths that lead to the topic and leave it.
"""

from __future__ import annotations

from pathlib import Path

import click

from kg.errors import QuestionError
from kg.service.base import open_kb

TOPICS = (
    *("锂电池", "光伏", "储能", "机器人", "创新药", "半导体设备", "光模块", "AI算力", "白酒", "生猪"),
    *("铜", "黄金", "煤炭", "航运", "低空经济", "商业航天", "券商", "房地产", "固态电池", "PCB"),
)


@click.command()
@click.argument("topics", nargs=-1)
@click.option("--kb", "path", type=click.Path(path_type=Path, exists=True), required=True)
def main(topics: tuple[str, ...], path: Path) -> None:
    """Ask `chain`, `causes` and `impact` about each topic and print a table."""
    print("| topic | stages | companies | links | causes | effects |\n|---|---|---|---|---|---|")
    with open_kb(path) as kb:
        for topic in topics or TOPICS:
            try:
                chain = kb.chain(topic)
                stages = [stage for layer in chain.layers for stage in layer.stages]
                firms = {node.entity.id for stage in stages for node in stage.companies}
                moved = [len(ask(topic).paths) for ask in (kb.causes, kb.impact)]
                cells = [chain.topic.name, len(stages), len(firms), len(chain.graph.links), *moved]
            except QuestionError as error:
                cells = [topic, str(error)]
            print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
