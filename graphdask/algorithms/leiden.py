"""Communities of high modularity by the method of Leiden: Louvain's, whose communities are refined before they join.

Within each community that local moving found, the vertices of the level begin again, each on its own. In a round those
that are still on their own join the neighbouring group of the largest gain in the same community, but none that joins
another one in this round. So a group stays connected. The groups become the vertices of the next level, which begins
with the communities of local moving: their parts can still go to other communities there.

At the end communities that are not connected, of which few are left, are divided into their components, which raises
the modularity.

Sources: Traag, Waltman, van Eck, From Louvain to Leiden: guaranteeing well-connected communities (2019); Sahu,
GVE-Leiden: fast Leiden algorithm for community detection in shared memory setting (2023), for choosing the largest gain
and for dividing at the end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphdask import execute
from graphdask.algorithms._communities_found import (
    OPTIONS,
    LouvainResult,
    checked_arguments,
    of_communities,
    summary,
    words,
)
from graphdask.algorithms.communities import Arcs
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.louvain import Louvain, LouvainState
from graphdask.algorithms.modularity import checked_weights, measured
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.registry import algorithm
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Part, Tables


class LeidenResult(LouvainResult):
    """What `leiden` returns."""


class Leiden(Louvain):
    """The primitive."""

    name = "leiden"
    result_type = LeidenResult
    refined = True

    def result(self, part: Part, state: LouvainState, env: Environment) -> dict[str, Any]:
        found = super().result(part, state, env)
        (labels,) = env.fetch_ghosts(part, [found["label"]])
        label = env.run(within(env.backend, part, labels), ConnectedComponents()).columns["label"]
        return found | {"label": label} | measured(part, env, Arcs.of(part, env), label, self.resolution)


def within(backend: Any, part: Part, label: Array) -> Part:
    """The partition with those edges only whose ends have the same label, of an array over slots."""
    rows = row_of_each(backend, part.out, 0)
    edges = part.out.only(backend.xp, label[rows] == label[part.out.indices])
    return replace(part, out=edges, inward=edges, tables=Tables())


@algorithm(
    "leiden", LeidenResult, "Connected communities of high modularity (Leiden).", summary=summary, words=words,
    undirected=True, weights=True, options=OPTIONS, example=lambda G: {"passes": 2},
    also="leiden leiden_communities community_leiden find_partition leidenalg",
)  # fmt: skip
@of_communities
def leiden(
    G: Graph,
    resolution: float = 1.0,
    seed: int = 0,
    *,
    passes: int | None = None,
    exchange: str | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> LeidenResult:
    """Find connected communities of high modularity in an undirected graph by the method of Leiden.

    It is the method of `louvain`, except that communities are refined before they become the vertices of the next
    level. Communities are connected, and their modularity is mostly higher; it takes longer.

    Returns
    -------
    LeidenResult
        `label`, the smallest vertex id of each vertex's community, in the order of `G.vertex_ids`; `modularity`,
        `num_communities`, `passes`, and `levels` up to these communities. All are identical for every number of
        partitions and on every device.

    Notes
    -----
    Weights are rounded as `modularity` says. A vertex without edges is a community of its own. An edge connects,
    whatever its weight. A vertex joins the group of the largest gain, and not one at random as in the original method.
    One worker processes a graph of up to 2**20 edges by itself, on its CPU, with passes as `louvain` describes.

    References
    ----------
    Traag, Waltman, van Eck: From Louvain to Leiden: guaranteeing well-connected communities, Scientific Reports 9
    (2019). Sahu: GVE-Leiden: fast Leiden algorithm for community detection in shared memory setting (2023).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], directed=False)
    >>> gd.leiden(G).label.tolist()
    [0, 0, 0, 3, 3, 3]
    """
    checked_undirected(G, "leiden")
    primitive = Leiden(*checked_arguments(resolution, seed, passes))
    checked_weights(G, client, progress)
    return execute.run(
        G, primitive, exchange=exchange, checkpoint=checkpoint, every=every, client=client, progress=progress
    )
