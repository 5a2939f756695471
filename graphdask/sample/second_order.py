"""Second-order random walks: node2vec, in which the next vertex depends on the predecessor as well.

The predecessor is the vertex from which the walk came. Over partitions, whether a candidate is a neighbour of it is
checked in the row of the predecessor or, if the graph is undirected, of the candidate. If this rank has no such row,
the walker is sent as a question. In an undirected graph it goes to the owner of the candidate, where the walk goes on
if the candidate is accepted. In a directed graph it goes to the owner of the predecessor.

Sources: Grover, Leskovec: node2vec: scalable feature learning for networks (KDD 2016); Yang et al., KnightKing: a fast
distributed graph random walk engine (SOSP 2019), Sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import INDEX, Environment
from graphdask.errors import InputError, shown
from graphdask.generate.arguments import flag
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import checked_seed
from graphdask.interface.parameters import documented
from graphdask.kernels.common.tuning import ONE
from graphdask.kernels.walks.second_order_pack import FactorRows, PartSecondWalks, WholeSecondWalks
from graphdask.partition.part import Part
from graphdask.sample.arcs import arc_types, arcs_memory, arcs_of
from graphdask.sample.biases import checked_bias, method_for
from graphdask.sample.sampler import Placement, checked_placement, numbered, sampled
from graphdask.sample.starts import Starts
from graphdask.sample.tuning import SAMPLE
from graphdask.sample.walkers import (
    PartState,
    Walkers,
    Walks,
    WholeState,
    biases_memory,
    biases_of,
    checked_length,
    checked_starts,
    expected_reuse,
    given_starts,
    threads_for,
    together_for,
)
from graphdask.sample.walks import Rows

MOST = 2.0**20
"""What p and q, and one over them, may be: a walk draws up to as many candidates for a step."""


class SecondOrder(Walkers):
    """The sampler."""

    name = "node2vec"
    on_disk = True
    travelling: ClassVar[Mapping[str, Any]] = {
        "instance": np.int64, "step": np.int32, "draw": np.int32, "at": INDEX, "previous": INDEX, "here": INDEX,
        "candidate": INDEX,
    }  # fmt: skip

    def __init__(
        self, starts: np.ndarray | Starts, length: int, seed: int, method: str, bias: str | None, p: float, q: float,
        directed: bool,
    ):  # fmt: skip
        super().__init__(starts, length, seed)
        self.method, self.bias, self.p, self.q, self.directed = method, bias, p, q, directed

    @property
    def record_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What records hold; where rows are asked for, also that of the edge to the candidate."""
        return {**self.travelling, "row": np.int64} if self.numbered else self.travelling

    @property
    def factors(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The factors of the predecessor, its neighbours, and others, divided by the greatest, in units of 2^-63."""
        factors = 1.0 / self.p, 1.0, 1.0 / self.q
        back, common, distant = (np.uint64(min(ONE, round(factor / max(factors) * ONE))) for factor in factors)
        return back, common, distant

    def rows(self, part: Part, env: Environment) -> Rows:
        arcs = arcs_of(part, env.xp, part.out) if self.numbered else None
        return Rows(part.out, biases_of(part, env, self.bias, self.method), env.xp.zeros(1, np.int64), arcs)

    def rows_memory(self, part: Part) -> int:
        return biases_memory(part, self.bias, self.method) + (arcs_memory(part) if self.numbered else 0)

    def walk(self, part: Part, env: Environment, state: WholeState, rows: slice, begin: int, end: int) -> None:
        n, reservoir, of = rows.stop - rows.start, self.method == "reservoir", state.rows
        types = {"index_t": part.vertex_map.dtype, "bias_t": of.biases.dtype, **arc_types(of.arcs)}
        kernels = env.kernels("second_order", **types)
        launched = together_for(env, n) if reservoir else {"threads": threads_for(env, n)}
        kernel = kernels.second_order_reservoir if reservoir else kernels.second_order
        pack = state.of(rows, self.pack(WholeSecondWalks, of))
        kernel(n, self.first + rows.start, begin, end, pack, **launched)

    def pack(self, kind: type[FactorRows], of: Rows) -> Any:
        """What kernels walk over and how, without the walkers; `of` keeps it for the launches that follow."""
        if of.pack is None:
            back, common, distant = self.factors
            of.pack = kind(
                length=self.length, seed=self.seed, back=back, common=common, distant=distant,
                undirected=int(not self.directed), indptr=of.csr.indptr, indices=of.csr.indices, **of.biases.fields,
                arcs=of.arcs,
            )  # fmt: skip
        return of.pack

    def departures(self, env: Environment, instance: Array) -> dict[str, Array]:
        xp, n = env.xp, len(instance)
        none = xp.full(n, -1, np.int64)
        row = {"row": none} if self.numbered else {}
        return {
            "instance": instance.astype(np.int64, copy=False), "step": xp.zeros(n, np.int32),
            "draw": xp.zeros(n, np.int32), "previous": none, "here": none, "candidate": none, **row,
        }  # fmt: skip

    def advance(
        self, part: Part, env: Environment, state: PartState, came: Mapping[str, Array]
    ) -> tuple[Array, Array, Array, dict[str, Array], Array | None]:
        xp, dtype, n = env.xp, part.vertex_map.dtype, len(came["at"])
        path, made = xp.empty((n, min(SAMPLE.walk_steps, self.length)), dtype), xp.empty(n, np.int32)
        target, of = xp.empty(n, dtype), state.rows
        edges = None if of.arcs is None else xp.empty(path.shape, np.int64)
        kernels = env.kernels("second_order", index_t=dtype, bias_t=of.biases.dtype, **arc_types(of.arcs))
        reservoir = self.method == "reservoir"
        pack = self.pack(PartSecondWalks, of)
        columns = "instance", "step", "draw", "at", "previous", "here", "candidate"
        for name in columns:
            setattr(pack, name, came[name])
        pack.previous_slot, pack.taken = self._own_slots(part, env, came["previous"]), came.get("row")
        pack.ids, pack.owned, pack.budget, pack.path, pack.made = state.ids, part.num_owned, path.shape[1], path, made
        pack.target, pack.edges = target, edges
        launched = together_for(env, n) if reservoir else {}
        (kernels.second_order_part_reservoir if reservoir else kernels.second_order_part)(n, pack, **launched)
        pack.release(*columns, "previous_slot", "taken", "path", "made", "target", "edges")
        return path, made, target, {name: column for name, column in came.items() if name != "at"}, edges

    @staticmethod
    def _own_slots(part: Part, env: Environment, ids: Array) -> Array:
        """Slots of those vertices that are this rank's own; -1 for others, and for -1."""
        xp, dtype = env.xp, part.vertex_map.dtype
        position = part.vertex_map.to_position(env.backend, xp.maximum(ids, dtype.type(0)))
        local = position.astype(dtype, copy=False) - dtype.type(part.first_position)
        mine = (ids >= 0) & (local >= 0) & (local < part.num_owned)
        return xp.where(mine, local, dtype.type(-1))


@documented
def node2vec(
    G: Graph,
    starts: Any,
    length: int,
    p: float = 1.0,
    q: float = 1.0,
    *,
    weighted: bool | None = None,
    method: str = "auto",
    walks_per_start: int = 1,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Walks:
    """Second-order random walks of node2vec.

    A walk that came from u to v goes on to x with a probability proportional to the weight of the edge from v to x
    times 1/p if x is u, 1 if there is an edge from u to x, and 1/q otherwise. Its first step is that of a first-order
    walk.

    Parameters
    ----------
    G : Graph
        Parallel edges count as often as they stand there.
    starts : int, str or array-like of shape (k,)
        Where walks start, by the caller's ids.
    length : int
        Steps of a walk, 0 or more.
    p, q : float
        The return and the in-out parameter, 2**-20 to 2**20. A step draws max(1, 1/p, 1/q) / (mean factor of the
        neighbours) candidates on average.
    weighted : bool, optional
        Whether weights count. Default: where there are any.
    method : {"auto", "rejection", "inverse", "alias", "reservoir"}
        How candidates of weighted graphs are drawn, as in `random_walk`.
    walks_per_start : int
        Walks from each start.
    seed : int
        Of the random numbers, 0 to 2**64 - 1. By weight, "auto" chooses the method by how many steps there are
        to be made, and the method decides what is drawn.
    placement : {"auto", "replicated", "partitioned", "streamed"} or Streamed
        Where the graph is, as in `random_walk`. The walks are the same. "streamed" reads all edges in the host's
        memory, as `Streamed` says, because a step searches the neighbours of the predecessor, which may be in any
        partition.

    Returns
    -------
    Walks
        As `random_walk` returns, identical bit for bit for every number of workers, in both placements and on every
        device. A walk ends at a vertex without out-edges, or whose weights are all 0. With p = q = 1 the walks are
        those of `random_walk` with the same seed.

    Raises
    ------
    VertexNotFound
        If a start is not a vertex.
    InputError
        If a weight is negative or infinite (naming the edge), `weighted` is asked of a graph without weights, or an
        argument has a value that is not allowed.

    References
    ----------
    Grover, Leskovec: node2vec: scalable feature learning for networks, KDD 2016. Yang et al.: KnightKing: a fast
    distributed graph random walk engine, SOSP 2019. Mei et al.: FlowWalker, VLDB 2024.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gd.sample.node2vec(G, 0, 3, p=2**20).walks.tolist()
    [[0, 1, 2, 3]]
    """
    checked_graph(G)
    p, q = _parameter("p", p), _parameter("q", q)
    counts = G.weighted if weighted is None else flag("weighted", weighted)
    bias = "weight" if counts else None
    starts = given_starts(starts)
    kind = method_for(bias, method, expected_reuse(G, starts, length, walks_per_start))
    where = checked_placement(placement)
    numbers, steps = checked_starts(G, starts, walks_per_start), checked_length(length)
    sampler = SecondOrder(numbers, steps, checked_seed(seed), kind, bias, p, q, G.directed)
    checked_bias(G, bias)
    walks: Walks = sampled(G, numbered(sampler, edge_rows), where, client, progress)
    return walks


def _parameter(name: str, value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}={shown(value)} is not a number above 0") from None
    if not 1 / MOST <= number <= MOST:
        raise InputError(f"{name}={number} must be from 2**-20 to 2**20")
    return number
