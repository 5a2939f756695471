"""Metapath walks: step i goes along an edge of the i-th type of a path of types, which is gone through again and again.

Rows of one type are rows of a graph, so a step is one of a first-order walk over those of its type.

Sources: Dong, Chawla, Swami, metapath2vec: scalable representation learning for heterogeneous networks (KDD 2017);
Pandey et al., c-saw, Section II-A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import InputError, shown
from graphdask.generate.arguments import integer
from graphdask.graph.edge_values import with_edge_values
from graphdask.graph.graph import Graph, checked_graph
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import checked_seed
from graphdask.interface.parameters import documented
from graphdask.partition.given import given_sequence
from graphdask.partition.part import Csr, Part
from graphdask.sample.arcs import arcs_memory, arcs_of
from graphdask.sample.sampler import Placement, checked_placement, numbered, sampled
from graphdask.sample.starts import Starts
from graphdask.sample.taken import Taken
from graphdask.sample.typed import typed_ids
from graphdask.sample.walkers import PartState, Walks, WholeState, biases_of, checked_length, checked_starts
from graphdask.sample.walks import FirstOrder, Rows


def of_type(xp: Any, csr: Csr, kind: int) -> Array:
    """Which edges are of a type, bool."""
    assert csr.weights is not None
    bounds = np.iinfo(csr.weights.dtype)
    return csr.weights == kind if bounds.min <= kind <= bounds.max else xp.zeros(csr.num_edges, bool)


class MetapathWalk(FirstOrder):
    """The sampler. Over partitions all walkers make a step, then those that have left travel."""

    name = "metapath walk"
    by_partitions = on_disk = False

    def __init__(self, starts: np.ndarray | Starts, length: int, seed: int, metapath: tuple[int, ...]):
        super().__init__(starts, length, seed, "uniform", None, 0.0, 0.0)
        self.metapath = metapath

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        made = super().taken(xp, columns, first)
        made.kinds = xp.array(self.metapath, np.int64)[made.step % len(self.metapath)]
        return made

    def rows(self, part: Part, env: Environment) -> list[Rows]:
        """Of each place in the metapath."""
        csr, made = part.out, {}
        for kind in set(self.metapath):
            name = self._table(kind)
            typed = part.tables.get(name)
            if typed is None:
                there = of_type(env.xp, csr, kind)
                typed = csr.only(env.xp, there)
                typed.weights, typed.rows = None, csr.rows[there] if self.numbered and csr.rows is not None else None
                part.tables.keep(name, typed, typed.nbytes)
            arcs = arcs_of(part, env.xp, typed, kind) if self.numbered else None
            made[kind] = Rows(typed, biases_of(part, env, None, "uniform"), env.xp.zeros(1, np.int64), arcs)
        return [made[kind] for kind in self.metapath]

    def _table(self, kind: int) -> tuple[Any, ...]:
        """What a partition keeps the edges of a type under."""
        return ("edges of type", kind, "with rows") if self.numbered else ("edges of type", kind)

    def rows_memory(self, part: Part) -> int:
        new = sum(self._table(kind) not in part.tables for kind in set(self.metapath))
        scratch = 10 * part.out.num_edges if new else 0
        if new and self.numbered:
            assert part.out.rows is not None
            scratch += arcs_memory(part) + part.out.rows.nbytes
        return 8 * (part.out.num_rows + 1) * new + part.out.indices.nbytes * min(new, 1) + scratch

    def walk(self, part: Part, env: Environment, state: WholeState, rows: slice, begin: int, end: int) -> None:
        for step in range(begin, max(end, begin + 1)):
            of = state.rows[step % len(self.metapath)]
            self.walk_over(of, part, env, state, rows, step, min(step + 1, end))

    def advance(
        self, part: Part, env: Environment, state: PartState, came: Mapping[str, Array]
    ) -> tuple[Array, Array, Array, dict[str, Array], Array | None]:
        step = len(env.history) - 1
        return self.advance_over(state.rows[step % len(self.metapath)], part, env, state, came, 1)


def _along_types(G: TypedGraph, metapath: Sequence[Any], starts: Any, steps: int) -> tuple[list[int], Any]:
    """The numbers of the types of a metapath of names, and those of the starts."""
    path = [G.edge_type(name) for name in metapath]
    again = [path[0]] if steps > len(path) else []
    for (kind, _, end), (begin, name, _) in pairwise([*path, *again]):
        if end != begin:
            raise InputError(
                f"metapath leads to vertices of type {end!r} by edges from {kind!r}, and goes on along {name!r}, whose "
                f"edges leave {begin!r}"
            )
    vertex_type, ids = typed_ids(G, "starts", starts)
    if vertex_type != path[0][0]:
        raise InputError(f"starts are of type {vertex_type!r}, and metapath begins with edges from {path[0][0]!r}")
    return [G.edge_types.index(kind) for kind in path], G.number(vertex_type, ids)


@documented
def metapath_walk(
    G: Graph,
    starts: Any,
    length: int,
    *,
    metapath: Sequence[Any],
    edge_types: Any = None,
    walks_per_start: int = 1,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Walks:
    """Random walks on typed edges: step i takes an edge of the type `metapath[i % len(metapath)]`, uniformly.

    Parameters
    ----------
    G : Graph
        An undirected edge has its type in both directions; parallel edges count as often as they stand there.
    starts : int, str or array-like of shape (k,)
        Where walks start, by the caller's ids; of a TypedGraph a pair of their type and the ids.
    length : int
        Steps of a walk, 0 or more; a metapath that is shorter is gone through again.
    metapath : sequence of int; of a TypedGraph of str or (str, str, str)
        Types, one at least. A number that no edge has ends walks there. Of a TypedGraph the types of edges, by their
        names or three parts; each leaves the type of vertices that the previous type leads to.
    edge_types : array-like of int, shape (G.num_edges,), or str, optional
        The type of each edge, in the order of `G.edges()`, of a graph made from arrays; or the name of one of its
        `edge_columns` of whole numbers. The partitions are made anew for such a call; where there are many, make the
        types the graph's weights. Default: the weights of the graph, which are whole numbers then. Not of a TypedGraph,
        whose edges have types.
    walks_per_start : int

    Returns
    -------
    Walks
        `walks` of shape (k * walks_per_start, length + 1) and `lengths`, as `random_walk` returns them. A walk ends at
        a vertex without an edge of the type whose turn it is. Of a TypedGraph `walks` has vertex numbers;
        `G.named(vertex_type, walks[:, i])` gives the ids of a step.

    Raises
    ------
    VertexNotFound
        If a start is not a vertex.
    InputError
        If types are missing, are not whole numbers, or are not one for each edge, or if an argument has a value that is
        not allowed.

    Notes
    -----
    The walks are those that `random_walk` makes where all edges are of one type that is asked for; they are the same
    for every number of workers, in both placements and on every device.

    References
    ----------
    Dong, Chawla, Swami: metapath2vec, KDD 2017. Pandey et al.: c-saw, SC 2020, Section II-A.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3])
    >>> gd.sample.metapath_walk(G, [0, 1], 2, metapath=[5, 6], edge_types=[4, 5, 6, 6]).walks.tolist()
    [[0, 2, 3], [1, -1, -1]]

    Along types by name:

    >>> G = gd.from_frames({("user", "rates", "item"): (["ann", "bob"], [7, 7])}, reverse=True)
    >>> w = gd.sample.metapath_walk(G, ("user", ["ann"]), 2, metapath=["rates", "rev_rates"], seed=2)
    >>> G.named("user", w.walks[:, [0, 2]]).tolist(), G.named("item", w.walks[:, 1]).tolist()
    ([['ann', 'bob']], [7])
    """
    where = checked_placement(placement)
    checked_graph(G)
    steps = checked_length(length)
    wanted = "not a sequence of one edge type or more"
    kinds = given_sequence("metapath", metapath, wanted)
    if not kinds:
        raise InputError(f"metapath={shown(metapath)} is {wanted}")
    if isinstance(G, TypedGraph):
        if edge_types is not None:
            raise InputError("edge_types= is for graphs without types; this graph has types of its own")
        kinds, starts = _along_types(G, kinds, starts, steps)
        G = G.with_type_numbers()
    numbers = checked_starts(G, starts, walks_per_start)
    path = tuple(integer(f"metapath[{place}]", kind) for place, kind in enumerate(kinds))
    sampler = MetapathWalk(numbers, steps, checked_seed(seed), path)
    typed = with_edge_values(G, "edge_types", edge_types, whole=True)
    walks: Walks = sampled(typed, numbered(sampler, edge_rows), where, client, progress)
    return walks
