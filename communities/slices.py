"""Detect themes over several weeks coupled in time (Mucha et al. 2010) with leidenalg, an optional extra (GPL-3.0).

Earlier weeks influence this week's partition, so themes are more stable; detection takes far longer.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import igraph
import numpy as np

from communities.projection import project
from kg.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from communities.detection import DetectionOptions, Labels
    from communities.projection import Projection
    from kg.graph.snapshot import Snapshot

_COUPLING = 0.1  # weight of a node's edge to itself a week later; ordinary pairs weigh about 0.2 to 1


def coupled(snapshots: Sequence[Snapshot], last: Projection, options: DetectionOptions) -> Labels:
    """Return a label for each node of the last projection, detected over all weeks.

    Args:
        snapshots: weekly snapshots, oldest first; the last is this week's.
        last: projection of the last snapshot.
        options: the top level's resolution and the seed.

    Raises:
        SettingsError: when leidenalg is not installed.
    """
    library = _leidenalg()
    graphs = [_graph(snapshot, project(snapshot)) for snapshot in snapshots[:-1]] + [_graph(snapshots[-1], last)]
    memberships, _ = library.find_partition_temporal(
        graphs,
        library.RBConfigurationVertexPartition,
        interslice_weight=_COUPLING,
        slice_attr="slice",
        vertex_id_attr="id",
        edge_type_attr="type",
        weight_attr="weight",
        n_iterations=4,
        seed=options.seed,
        resolution_parameter=options.resolutions[0],
    )
    return np.array(memberships[-1], dtype=np.int64)


def _graph(snapshot: Snapshot, projection: Projection) -> igraph.Graph:
    graph = igraph.Graph(n=len(projection.nodes), edges=projection.pairs)
    graph.vs["id"] = [snapshot.entity_ids[node] for node in projection.nodes.tolist()]
    graph.es["weight"] = projection.weights.tolist()
    return graph


def _leidenalg() -> Any:
    try:
        return import_module("leidenalg")
    except ModuleNotFoundError as error:
        raise SettingsError("--slices", "leidenalg is not installed; run `pip install 'liantu[slices]'`") from error
