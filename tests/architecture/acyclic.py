"""An import contract: no modules of a package import each other in a circle; `lint-imports` runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from grimp import ImportGraph


class AcyclicContract(Contract):
    """The modules of a package, and of the packages below it, have an order in which each imports only earlier ones."""

    type_name = "acyclic"
    package = fields.StringField()

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002 -- set by import-linter
        """Look for circles."""
        home = f"{self.package}."
        imports = nx.DiGraph(
            (module, other)
            for module in graph.modules
            if module.startswith(home)
            for other in graph.find_modules_directly_imported_by(module)
            if other.startswith(home)
        )
        circles = sorted(sorted(each) for each in nx.strongly_connected_components(imports) if len(each) > 1)
        return ContractCheck(kept=not circles, metadata={"circles": circles})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the circles."""
        for circle in check.metadata["circles"]:
            output.print_error(f"circle: {', '.join(circle)}")
