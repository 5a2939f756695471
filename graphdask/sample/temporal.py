"""Temporal neighbour sampling: an instance sees the edges that are not later than its seeds.

Rows stand in the order of time, so what an instance sees of a row is its beginning. A draw from that is one from a row
of a graph: each vertex of a frontier gets the row that it sees, and traversal sampling draws from these.

Sources: Rossi et al., Temporal graph networks for deep learning on dynamic graphs (2020), Section 4, and Fey, Lenssen,
Fast graph representation learning with PyTorch Geometric (2019), for uniform and latest neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment
from graphdask.errors import InputError, OverBudget
from graphdask.graph.edge_values import with_edge_values
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice
from graphdask.interface.parameters import documented
from graphdask.partition.build import row_of_each
from graphdask.partition.given import given_array
from graphdask.partition.part import Csr, Part
from graphdask.sample._edge_tables import edge_rows
from graphdask.sample.hops import checked_options, checked_seeds, checked_sizes, numbered
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import Placement, sampled
from graphdask.sample.traversal import Traversal, TraversalState

STRATEGIES = ("uniform", "last")


@dataclass
class TemporalState(TraversalState):
    limits: Array | None = None
    """int64 or float64, of the sampler's instances from its origin on."""


class TemporalNeighbors(Traversal):
    """The sampler: `fanouts[h]` of the edges that each vertex has until `limits[instance - origin]`."""

    name = "temporal neighbour sampling"
    by_partitions = False
    cut = ("limits",)

    def __init__(
        self,
        seeds: np.ndarray,
        bounds: np.ndarray | None,
        fanouts: Sequence[int],
        limits: np.ndarray,
        last: bool,
        **options: Any,
    ):
        super().__init__(seeds, bounds, fanouts, **options)
        self.limits, self.latest = limits, last

    @property
    def _table(self) -> tuple[str, ...]:
        return ("rows by time", self.direction, *(["numbered"] if self.numbered else []))

    def memory(self, part: Part, allocation: Allocation) -> int:
        rows = part.out
        expanded, _ = self._edges_at_most(-(-self.instances // part.size), rows.num_edges / max(rows.num_rows, 1))
        expanded = min(expanded, self.instances * float(part.num_vertices))
        table = 0 if self._table in part.tables else rows.nbytes + (40 if self.numbered else 32) * rows.num_edges
        return super().memory(part, allocation) + self.limits.nbytes + int(16 * expanded) + table

    def _prepared(self, part: Part, env: Environment) -> TemporalState:
        rows = part.inward if self.inward else part.out
        assert rows is not None
        numbers = edge_rows(part, rows) if self.numbered else None
        found = part.tables.get(self._table)
        if found is None:
            made, order = by_time(env, rows)
            found = made, order if self.numbered else None
            part.tables.keep(self._table, found, made.nbytes + (order.nbytes if self.numbered else 0))
        made, kept = found
        kernels = env.kernels("neighbors", index_t=part.vertex_map.dtype)
        return TemporalState(
            made, None, kernels, kept=kept, edge_rows=numbers, limits=env.backend.from_host(self.limits)
        )  # fmt: skip

    def _seen(
        self, state: TraversalState, env: Environment, rows: Array, instances: Array, hop: int
    ) -> tuple[TraversalState, Array]:
        n, dtype, times = len(rows), rows.dtype, state.rows.weights
        assert isinstance(state, TemporalState)
        assert times is not None
        assert state.limits is not None
        if 2 * n > np.iinfo(dtype).max:
            raise OverBudget(f"{n:,} vertices are to be expanded at once; take fewer seeds, or more workers")
        windows = env.xp.zeros(2 * n + 1, np.int64)
        most = self.fanouts[hop] if self.latest else -1
        env.kernels("temporal", index_t=dtype, bias_t=times.dtype, limit_t=state.limits.dtype).temporal_windows(
            n, rows, instances - self.origin, state.rows.indptr, times, state.limits, most, windows
        )
        return replace(state, rows=Csr(windows, state.rows.indices)), env.xp.arange(0, 2 * n, 2, dtype=dtype)


class NumberedTemporal(TemporalNeighbors):
    """The same, which says of every edge which row it is."""

    numbered = True


def by_time(env: Environment, rows: Csr) -> tuple[Csr, Array]:
    """The same rows, each in the order of time, and at the same time as it was; and where each edge was before."""
    assert rows.weights is not None
    xp, times = env.xp, rows.weights
    if times.dtype.kind == "f":
        times = times + times.dtype.type(0)  # -0 is 0
    order = xp.argsort(times, kind="stable")
    row = row_of_each(env.backend, rows, 0)[order]
    order = order[xp.argsort(row, kind="stable")]
    return Csr(rows.indptr, rows.indices[order], times[order]), order


@documented
def temporal_neighbors(
    G: Graph,
    seeds: Any,
    fanouts: Sequence[int] = (10, 10),
    *,
    seed_times: Any,
    times: Any = None,
    strategy: str = "uniform",
    replace: bool = False,
    direction: str = "out",
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Neighborhoods:
    """Neighbour sampling in time: along edges that are not later than the time of the seed.

    At every hop the bound is the time of the instance's seed, not that of the edge that led to a vertex; every instance
    is for itself. So `NeighborLoader` of PyTorch Geometric does with `time_attr`.

    Parameters
    ----------
    G : Graph
    seeds : array of vertex ids, shape (k,), or sequence of arrays
        As for `neighbors`: with an array, every seed is an instance of its own; seeds in one array have one time.
    fanouts : sequence of int
        Neighbours of a vertex at each hop; -1 for all of them.
    seed_times : number, or array-like of shape (instances,)
        The time of each instance, in the unit of `times`: whole numbers where these are.
    times : array-like of int or float, shape (G.num_edges,), or str, optional
        The time of each edge, in the order of `G.edges()`, of a graph made from arrays; or the name of one of its
        `edge_columns`, dates being whole numbers in the unit of their type. The partitions are made anew
        for such a call; where there are many, make the times the graph's weights. Default: the weights of the graph.
    strategy : {"uniform", "last"}
        Neighbours are drawn uniformly, or are the latest; of edges of one time those to larger ids are later.
    replace : bool
        Whether an edge may be drawn again; with "uniform" only.
    direction : {"out", "in"}
        Whether edges are followed or gone against.
    seed : int
        0 to 2**64 - 1. Same seed, same edges, whatever the placement, the devices and the number of workers.

    Returns
    -------
    Neighborhoods
        As `neighbors` returns. Edges of a vertex that gives all it sees, or its latest, stand in the order of time.

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    InputError
        For times that are not one for each edge or instance, or are NaN, and for what `neighbors` refuses.

    References
    ----------
    Rossi et al., Temporal graph networks for deep learning on dynamic graphs, 2020. Pandey et al., c-saw, SC 2020.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 0, 1], [1, 2, 3, 2], weights=[10, 20, 30, 15])
    >>> s = gd.sample.temporal_neighbors(G, [0, 0], [2, 2], seed_times=[10, 25])
    >>> s.src.tolist(), s.dst.tolist(), s.instance.tolist()
    ([0, 0, 0, 1], [1, 1, 2, 2], [0, 1, 1, 1])
    >>> gd.sample.temporal_neighbors(G, [0], [1], seed_times=25, strategy="last").dst.tolist()
    [2]
    """
    checked_graph(G)
    flat, bounds = checked_seeds(G, seeds)
    options = checked_options(
        G, checked_sizes(fanouts, "fanouts", -1), replace, None, direction, "auto", seed
    )  # fmt: skip
    last = checked_strategy("strategy", strategy, options["replace"])
    timed = with_edge_values(G, "times", times)
    instances = len(flat) if bounds is None else len(bounds) - 1
    limits = checked_limits("seed_times", seed_times, instances, "instances", timed.source.weight_dtype)
    sampler = TemporalNeighbors(flat, bounds, limits=limits, last=last, **options)
    found: Neighborhoods = sampled(timed, numbered(sampler, edge_rows), placement, client, progress)
    return found


def checked_strategy(name: str, strategy: Any, replace: bool) -> bool:
    """Whether the latest neighbours are taken."""
    last: bool = choice(name, strategy, STRATEGIES) == "last"
    if replace and last:
        raise InputError(f"with {name}='last' nothing is drawn; leave replace=True out")
    return last


def checked_limits(name: str, times: Any, count: int, what: str, dtype: np.dtype | None) -> np.ndarray:
    """The time of each of so many instances, int64 or float64."""
    assert dtype is not None
    given = given_array(name, times)
    if given.shape not in ((), (count,)):
        raise InputError(f"{name} has the shape {given.shape}; one for each of the {count} {what} is needed")
    if not given.size:
        return np.zeros(0, np.int64 if dtype.kind == "i" else np.float64)
    if given.dtype.kind not in ("iu" if dtype.kind == "i" else "iuf"):
        wanted = "whole numbers, as the times of the edges are" if dtype.kind == "i" else "numbers"
        raise InputError(f"{name} has the dtype {given.dtype}; they are {wanted}")
    if given.dtype.kind == "u" and given.max() > np.iinfo(np.int64).max:
        raise InputError(f"{name} has {given.max()}, which is above the latest time, 2**63 - 1")
    limits = given.astype(np.int64 if dtype.kind == "i" else np.float64)
    if np.isnan(limits).any():
        raise InputError(f"{name} has a NaN; each of the {what} needs a time")
    return np.array(np.broadcast_to(limits, (count,)))
