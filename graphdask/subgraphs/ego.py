"""Ego graphs: the subgraph of what is within some hops of each source.

Source: Everett, Borgatti, Ego network betweenness (2005).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import whole
from graphdask.interface.parameters import documented
from graphdask.sample.sampler import drawn, numbered, sampled
from graphdask.subgraphs.given import check_edge_rows, given_sets, same_members
from graphdask.subgraphs.hops import Hops
from graphdask.subgraphs.result import HopsResult, SubgraphResult
from graphdask.subgraphs.selected import Selected


class EgoResult(SubgraphResult):
    """Subgraphs of the neighbourhoods of sources."""

    hops: HopsResult
    """The vertices within the radius of each source, and the number of hops to each."""

    def verify(self) -> EgoResult:
        """Prove which vertices are within the radius, and that the edges are all between these; return self."""
        self.hops.verify()
        same_members(self, *members_around(self.hops, self.sampler.center))
        super().verify()
        return self


class Ego(Selected):
    """The sampler of ego graphs of what a search found, of which the sources are left out without `center`.

    One rank of this process takes the vertices where the search left them, without a copy on the host.
    """

    name = "ego graph"
    result_type = EgoResult

    def __init__(self, hops: HopsResult, center: bool):
        self._hops: HopsResult | None = hops
        self._num_vertices = max(hops.graph.num_vertices, 1)
        self.center, self.first, self.last = center, 0, hops.sampler.instances
        if self._near() is None:
            _ = self._members  # before ranks ask for it, each in a thread of its own

    @cached_property
    def _members(self) -> tuple[np.ndarray, np.ndarray]:
        assert self._hops is not None
        return members_around(self._hops, self.center)

    @property
    def members(self) -> np.ndarray:  # type: ignore[override]
        """Vertex numbers of all ego graphs, ascending in each."""
        return self._members[0]

    @property
    def bounds(self) -> np.ndarray:  # type: ignore[override]
        """Where those of each begin, and their number."""
        return self._members[1]

    @property
    def num_members(self) -> int:
        near = self._near()
        return len(self.members) if near is None else len(near["vertex"])

    def _near(self) -> Mapping[str, Array] | None:
        """What the search found, where that is in the memory of the one rank."""
        hops = self._hops
        if hops is None or hops.placement != "partitioned" or hops.built.gang.kind != "local" or hops.stats.ranks > 1:
            return None
        (columns,) = hops.parts.fetch(attrgetter("columns"))
        return columns  # type: ignore[no-any-return]

    def on_device(self, env: Environment, dtype: np.dtype) -> tuple[Array, Array, Array]:
        near = self._near()
        if near is None:
            return super().on_device(env, dtype)
        n = self._num_vertices
        keys = near["instance"] * n + near["vertex"]
        if not self.center:
            keys = keys[near["hop"] > 0]
        if not len(keys):  # CuPy's searches refuse an empty array
            return keys.astype(dtype), keys, env.xp.zeros(self.instances + 1, np.int64)
        keys.sort()
        sets = keys // n
        bounds = env.xp.searchsorted(keys, env.xp.arange(self.instances + 1) * n)
        return (keys - sets * n).astype(dtype), sets, bounds

    def __getstate__(self) -> dict[str, Any]:
        """The sampler travels with its vertices, not with the search."""
        return {**self.__dict__, "_members": self._members, "_hops": None}


@documented
def ego_graph(
    G: Graph,
    sources: Any,
    radius: int = 1,
    *,
    center: bool = True,
    undirected: bool = False,
    edge_rows: bool = False,
    client: Any = None,
    progress: bool | None = None,
) -> EgoResult:
    """Return for each source the subgraph induced by the vertices within a radius of it.

    Parameters
    ----------
    G : Graph
    sources : int, str, array of vertex ids, or sequence of arrays
        Every vertex gives a subgraph. With a sequence of arrays, each array gives one, of the vertices within the
        radius of any of them.
    radius : int
        Hops, 0 or more, along the direction of the edges.
    center : bool
        True: the sources are in their subgraphs. False: they are left out, with their edges.
    undirected : bool
        True: hops ignore the direction of the edges. The edges of the subgraph keep theirs.

    Returns
    -------
    EgoResult
        As `subgraph` returns, with the subgraphs numbered in the order of the sources; `hops` holds the number of hops
        to each vertex.

    Raises
    ------
    VertexNotFound
        If a source is not a vertex.
    InputError
        If `G` is not a Graph, or an argument has no such value.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 2], [1, 2, 3, 0])
    >>> s = gd.ego_graph(G, [0, 2])
    >>> s.vertices.tolist(), s.vertex_offsets.tolist()
    ([0, 1, 0, 2, 3], [0, 2, 5])
    >>> s.src.tolist(), s.dst.tolist(), s.edge_offsets.tolist()
    ([0, 2, 2], [1, 0, 3], [0, 1, 3])
    """
    checked_graph(G)
    check_edge_rows(G, edge_rows)
    sets, direction = given_sets(G, "sources", sources), "both" if undirected else "out"
    around = Hops.searches(*sets, whole("radius", radius, 0), direction)
    hops: HopsResult = drawn(G, around, "partitioned", client, progress)
    found: EgoResult = sampled(G, numbered(Ego(hops, center), edge_rows), "partitioned", client, progress)
    found.hops = hops
    return found


def members_around(hops: HopsResult, center: bool) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of each search, ascending, and where those of each begin; without the sources if not `center`."""
    vertex, instance = hops._internal("vertex").astype(np.int64), hops._internal("instance")
    if not center:
        kept = hops._internal("hop") > 0
        vertex, instance = vertex[kept], instance[kept]
    order = np.lexsort((vertex, instance))
    return vertex[order], np.searchsorted(instance[order], np.arange(hops.sampler.instances + 1))
