"""Minimum spanning forest: the lightest edges that join what can be joined, without a cycle.

Edges are ordered by weight and, where weights are equal, by their rows in what the caller gave. No two edges are equal
then, so the forest is one, and depends on neither the partitions nor the order of events. Each rank first finds the
forest of its own edges (`_own_forest`), because an edge that is the heaviest of a cycle there is not in the whole
forest either. The edges that are left, fewer than the rank has vertices and ghosts, are contracted by all ranks
(`lightest`).

Sources: Boruvka (1926); Chung, Condon, Parallel implementation of Boruvka's minimum spanning tree algorithm (1996).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._own_forest import memory_of_list, own_forest
from graphdask.algorithms.lightest import Contraction
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.engine.owners import Owners, least_at, least_of_each
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
from graphdask.partition.part import Part
from graphdask.results.edge_values import EdgesResult


class SpanningForestResult(EdgesResult):
    """What `minimum_spanning_forest` returns. Its edges are in the order of their rows."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest id of the vertex's tree; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("label")

    @property
    def weight(self) -> np.ndarray:
        """The weight of each edge, 1 without weights; shape (edges,)."""
        return self._of_edges("weight")

    @property
    def total_weight(self) -> float:
        """The sum of the weights: exact if they are integers, else rounded once."""
        weight = self.weight
        return sum(weight.tolist()) if weight.dtype.kind == "i" else math.fsum(weight)

    @property
    def num_trees(self) -> int:
        """The number of trees, a vertex without edges being one."""
        return self.graph.num_vertices - len(self.row)


class SpanningForest(WithoutSupersteps[dict[str, Array]]):
    """The primitive, for undirected graphs. All is done in `init`, in which ranks ask each other."""

    name = "minimum spanning forest"
    columns: ClassVar[Mapping[str, Any]] = {}
    result_type = SpanningForestResult
    queues = False
    edge_rows = True
    needs_memory = "components join along edges in memory, until one is left; gd.connected_components(S) finds these"

    def memory(self, part: Part, allocation: Allocation) -> int:
        index = part.vertex_map.dtype.itemsize
        return memory_of_list(part) + (56 + 6 * index if part.size == 1 else 152 + 12 * index) * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        owners = Owners(part, env)
        edges, root = own_forest(part, env)
        one, other = owners.positions(edges.pop("one")), owners.positions(edges.pop("other"))
        if part.size > 1:
            joined = Contraction(part, env, one, other, edges["weight"], edges["row"])
            taken = []
            while (grown := joined.grow()) is not None:
                env.check_deadline(self.name)
                taken.append({name: column[grown["joins"]] for name, column in grown.items()})
            names = {name: joined.columns[name][:0] for name in joined.columns}
            edges = {name: env.xp.concatenate([none, *(each[name] for each in taken)]) for name, none in names.items()}
            one, other, root = edges["one"], edges["other"], joined.root
        ids = [part.vertex_map.to_id(env.backend, end) for end in (one, other)]
        found = {"source": env.xp.minimum(*ids), "destination": env.xp.maximum(*ids)}
        found |= {name: edges[name] for name in ("weight", "row")} | {"label": _labels(part, env, owners, root)}
        return found, Messages.none(part.size, frontier=part.num_owned, edges=part.out.num_edges)


def _labels(part: Part, env: Environment, owners: Owners, root: Array) -> Array:
    """The smallest id of each own vertex's tree, whose root is given as a position."""
    xp = env.xp
    if part.size == 1:
        label = xp.full(part.num_owned, np.iinfo(part.ids.dtype).max, part.ids.dtype)
        kernels = env.kernels("components", index_t=part.vertex_map.dtype)
        kernels.components_label(part.num_owned, part.ids, root, label)
        return label[root]
    best = least_of_each(xp, root, [part.ids])
    tree, ids = owners.send(root[best], [part.ids[best]])
    (label,) = owners.ask(root, [least_at(xp, part.num_owned, tree, ids)])
    return label


def _summary(result: Any) -> dict[str, Any]:
    return {"trees": result.num_trees, "edges": len(result.row), "weight": result.total_weight}


def _words(found: dict[str, Any]) -> str:
    edges = terminal.count(found["edges"], "edge")
    return f"{terminal.count(found['trees'], 'tree')}, {edges} of the weight {found['weight']:,}"


@algorithm(
    "forest", SpanningForestResult, "Minimum spanning forest of an undirected graph.", summary=_summary, words=_words,
    undirected=True, weights=True,
    also="mst msf minimum_spanning_tree minimum_spanning_edges spanning_tree boruvka kruskal prim",
)  # fmt: skip
@of_undirected
def minimum_spanning_forest(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> SpanningForestResult:
    """Find the minimum spanning forest: the edges of the least total weight that join what can be joined.

    The forest has a tree for each connected component. Of edges of equal weight, the one of the smaller row in what the
    graph was made of is taken first, so the forest is unique. Self-loops are never in it. Without weights, every edge
    has the weight 1. Weights may be negative.

    Returns
    -------
    SpanningForestResult
        Of each edge `source` and `destination`, the caller's ids, the smaller one first, `weight`, and `row`, its row
        in what the graph was made of; in ascending order of `row`. Of each vertex `label`, the smallest id of its
        tree, shape (num_vertices,), in the order of `G.vertex_ids`. `total_weight` and `num_trees`. All are identical
        for every number of partitions and on every device.

    Raises
    ------
    Unsupported
        If the rows of the edges are not known, as of a graph made from Dask data frames in batches.

    References
    ----------
    Osipov, Sanders, Singler: The Filter-Kruskal minimum spanning tree algorithm, ALENEX 2009. Chung, Condon: Parallel
    implementation of Boruvka's minimum spanning tree algorithm, IPPS 1996.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], [3.0, 1.0, 2.0, 5.0], directed=False)
    >>> r = gd.minimum_spanning_forest(G)
    >>> r.row.tolist(), r.total_weight
    ([1, 2, 3], 8.0)
    """
    checked_undirected(G, "minimum_spanning_forest")
    return execute.run(G, SpanningForest(), exchange=exchange, client=client, progress=progress)
