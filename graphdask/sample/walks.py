"""First-order random walks: where a walk goes next depends on where it is, and on nothing before.

A walker takes one step after the other: to a neighbour drawn uniformly or by a bias, to a neighbour or nowhere by the
rule of Metropolis and Hastings, and with given probabilities back to its start or to any vertex.

Sources: Pandey et al., c-saw, Section II-A and Table I; the papers named at each function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import INDEX, Environment
from graphdask.errors import InputError, Unsupported
from graphdask.generate.arguments import probability
from graphdask.graph.graph import Graph, checked_graph, checked_undirected
from graphdask.interface.kinds import checked_seed
from graphdask.interface.parameters import documented
from graphdask.kernels.common.tuning import ONE
from graphdask.kernels.walks.walk_pack import MovingRows, PartWalks, WholeWalks
from graphdask.partition.part import Csr, Part
from graphdask.sample.arcs import arc_types, arcs_memory, arcs_of
from graphdask.sample.biases import EdgeBiases, checked_bias, method_for
from graphdask.sample.sampler import Placement, checked_placement, numbered, sampled
from graphdask.sample.starts import Starts
from graphdask.sample.streamed import Streamed
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

METROPOLIS = 4
"""As kernels/walks/walk.py has it."""


@dataclass
class Rows:
    """What kernels read of the graph."""

    csr: Csr
    biases: EdgeBiases
    degrees: Array
    """Of each slot, int64; of shape (1,) where nobody asks."""
    arcs: Array | None = None
    """Edges beside their rows (graphdask.sample.arcs), where these are asked for."""
    pack: Any = None
    """The pack of a sampler's kernels, once it has been made."""


class FirstOrder(Walkers):
    """The sampler."""

    name = "random walk"
    by_partitions = on_disk = True
    record_columns: ClassVar[Mapping[str, Any]] = {"instance": np.int64, "step": np.int32, "at": INDEX}

    def __init__(
        self,
        starts: np.ndarray | Starts,
        length: int,
        seed: int,
        method: str,
        bias: str | None,
        restart: float,
        jump: float,
    ):
        super().__init__(starts, length, seed)
        self.method, self.bias, self.restart, self.jump = method, bias, restart, jump

    @property
    def moves(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """Probabilities of going back, of that or of jumping, and of going back from where there are no edges."""
        leave = self.restart + self.jump
        back = self.restart / leave if leave else 0.0
        return _of_63_bits(self.restart), _of_63_bits(leave), _of_63_bits(back)

    def rows(self, part: Part, env: Environment) -> Any:
        csr, degrees = part.out, env.xp.zeros(1, np.int64)
        if self.asks_degrees:
            (degrees,) = env.fetch_ghosts(part, [csr.indptr[1:] - csr.indptr[:-1]])
        arcs = arcs_of(part, env.xp, csr) if self.numbered else None
        return Rows(csr, biases_of(part, env, self.bias, self.method, degrees), degrees, arcs)

    @property
    def asks_degrees(self) -> bool:
        """Whether a step depends on the degrees of neighbours."""
        return self.method == "metropolis" or self.bias == "degree"

    def rows_memory(self, part: Part) -> int:
        degrees = 8 * (part.num_slots + part.num_owned) if self.asks_degrees else 0
        arcs = arcs_memory(part) if self.numbered else 0
        return degrees + arcs + biases_memory(part, self.bias, self.method)

    def pack(self, kind: type[MovingRows], of: Rows, part: Part) -> Any:
        """What kernels walk over and how, without the walkers; `of` keeps it for the launches that follow."""
        if of.pack is None:
            restart, leave, dead = self.moves
            of.pack = kind(
                length=self.length, seed=self.seed, restart=restart, leave=leave, dead=dead, vertices=part.num_vertices,
                indptr=of.csr.indptr, indices=of.csr.indices, **of.biases.fields, degrees=of.degrees, arcs=of.arcs,
            )  # fmt: skip
            if self.method == "metropolis":
                of.pack.method = METROPOLIS
        return of.pack

    def walk(self, part: Part, env: Environment, state: WholeState, rows: slice, begin: int, end: int) -> None:
        self.walk_over(state.rows, part, env, state, rows, begin, end)

    def walk_over(
        self, of: Rows, part: Part, env: Environment, state: WholeState, rows: slice, begin: int, end: int
    ) -> None:
        """The same along the edges of `of`."""
        types = {"index_t": part.vertex_map.dtype, "bias_t": of.biases.dtype, **arc_types(of.arcs)}
        kernels, n = env.kernels("walk", **types), rows.stop - rows.start
        reservoir = self.method == "reservoir"
        launched = together_for(env, n) if reservoir else {"threads": threads_for(env, n)}
        pack = state.of(rows, self.pack(WholeWalks, of, part))
        (kernels.walk_reservoir if reservoir else kernels.walk)(
            n, self.first + rows.start, begin, end, pack, **launched
        )

    def departures(self, env: Environment, instance: Array) -> dict[str, Array]:
        return {"instance": instance.astype(np.int64, copy=False), "step": env.xp.zeros(len(instance), np.int32)}

    def advance(
        self, part: Part, env: Environment, state: PartState, came: Mapping[str, Array]
    ) -> tuple[Array, Array, Array, dict[str, Array], Array | None]:
        return self.advance_over(state.rows, part, env, state, came, SAMPLE.walk_steps)

    def advance_over(
        self, of: Rows, part: Part, env: Environment, state: PartState, came: Mapping[str, Array], budget: int
    ) -> tuple[Array, Array, Array, dict[str, Array], Array | None]:
        """The same along the edges of `of`, a number of steps at most."""
        n, dtype = len(came["at"]), part.vertex_map.dtype
        path, made = env.xp.empty((n, min(budget, self.length)), dtype), env.xp.empty(n, np.int32)
        edges, reservoir = None if of.arcs is None else env.xp.empty(path.shape, np.int64), self.method == "reservoir"
        kernels = env.kernels("walk", index_t=dtype, bias_t=of.biases.dtype, **arc_types(of.arcs))
        pack = self.pack(PartWalks, of, part)
        pack.first_instance, pack.starts, pack.ids, pack.owned = self.first, state.starts, state.ids, part.num_owned
        pack.instance, pack.step, pack.at = came["instance"], came["step"], came["at"]
        pack.budget, pack.path, pack.made, pack.edges = path.shape[1], path, made, edges
        launched = together_for(env, n) if reservoir else {}
        (kernels.walk_part_reservoir if reservoir else kernels.walk_part)(n, pack, **launched)
        pack.release("instance", "step", "at", "path", "made", "edges")
        return path, made, came["at"], {"instance": came["instance"], "step": came["step"]}, edges


def _of_63_bits(share: float) -> np.uint64:
    return np.uint64(min(ONE, round(share * ONE)))


@documented
def random_walk(
    G: Graph,
    starts: Any,
    length: int,
    *,
    bias: str | None = None,
    method: str = "auto",
    restart: float = 0.0,
    jump: float = 0.0,
    walks_per_start: int = 1,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Walks:
    """Random walks along out-edges, all independent of each other: simple, biased, with restart, with jump.

    Parameters
    ----------
    G : Graph
        Parallel edges count as often as they stand there; a self-loop is an edge to the vertex itself.
    starts : int, str or array-like of shape (k,)
        Where walks start, by the caller's ids; a vertex may stand there more than once. A `range`, such as one of all
        vertices, goes to workers as it is, in no time.
    length : int
        Steps of a walk, 0 or more.
    bias : {None, "weight", "degree"}
        A neighbour is drawn uniformly, or with a probability proportional to the weight of the edge to it, or to its
        own out-degree (biased DeepWalk).
    method : {"auto", "rejection", "inverse", "alias", "reservoir"}
        How a biased neighbour is drawn: by candidates that are refused or taken, by a search in prefix sums (8 bytes an
        edge), from an alias table (12 bytes an edge), or by exponential keys of all edges, of which the smallest is
        taken, which needs no table and does not stream. Each has the same law and draws other walks. Default: alias
        where there are many steps for each edge, else rejection.
    restart, jump : float
        The probability that a step goes back to the start, or to a vertex drawn uniformly from the whole graph, instead
        of along an edge. Their sum is at most 1.
    walks_per_start : int
        Walks from each start.
    seed : int
        Of the random numbers, 0 to 2**64 - 1. The walks depend on it, on the graph, on the method and on their own
        numbers alone; with a bias, "auto" chooses the method by how many steps there are to be made.
    edge_rows : bool
        Whether walks have the column `edge` from the beginning: the row of the edge of each step in what the graph was
        made of, -1 where a step goes along none. It takes 8 bytes a step and, beside the rows, 8 or 16 an edge. The
        walks are the same. Without it, `s.edge` draws the walks once more when it is first used.

    Returns
    -------
    Walks
        `walks` of shape (k * walks_per_start, length + 1) by the caller's ids, -1 after the last vertex (None among
        string ids), and `lengths`, the steps that were made. The walks of one start stand together.

    Raises
    ------
    VertexNotFound
        If a start is not a vertex.
    InputError
        If a weight is negative or infinite (naming the edge), a weight bias is asked of a graph without weights, or
        an argument has a value that is not allowed.

    Notes
    -----
    A walk ends at a vertex without out-edges, or whose edges all have the bias 0; where restart or jump is above 0 the
    step is one of these two, in the proportion of their probabilities. Walks are identical bit for bit for every number
    of workers, in both placements and on every device; biases that are floats are rounded to whole multiples of a small
    number for that, the same for all edges of a vertex.

    References
    ----------
    Perozzi, Al-Rfou, Skiena: DeepWalk, KDD 2014. Cochez et al.: Biased graph walks for RDF graph embeddings, WIMS 2017.
    Pandey et al.: c-saw, SC 2020. Salmon et al.: Parallel random numbers: as easy as 1, 2, 3, SC 2011.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([10, 20, 30], [20, 30, 40])
    >>> gd.sample.random_walk(G, [10, 30], 2).walks.tolist()
    [[10, 20, 30], [30, 40, -1]]
    """
    checked_graph(G)
    starts = given_starts(starts)
    kind = method_for(bias, method, expected_reuse(G, starts, length, walks_per_start))
    restart, jump = probability("restart", restart), probability("jump", jump)
    if restart + jump > 1:
        raise InputError(f"restart={restart} and jump={jump} are together above 1")
    made = (length, seed, kind, bias, restart, jump)
    return _sampled(G, starts, walks_per_start, made, edge_rows, placement, client, progress)


def _sampled(
    G: Graph, starts: Any, each: Any, made: tuple[Any, ...], edge_rows: Any, placement: Any, client: Any,
    progress: bool | None,
) -> Walks:  # fmt: skip
    """Check what all walks are given, and draw them."""
    length, seed, method, bias, restart, jump = made
    where = checked_placement(placement)
    if method == "reservoir" and isinstance(where, Streamed):
        raise Unsupported(
            'method="reservoir" reads all edges of a vertex at each step, so it does not go with placement="streamed": '
            'use method="rejection"'
        )
    numbers, steps = checked_starts(G, starts, each), checked_length(length)
    sampler = FirstOrder(numbers, steps, checked_seed(seed), method, bias, restart, jump)
    checked_bias(G, bias)
    walks: Walks = sampled(G, numbered(sampler, edge_rows), where, client, progress)
    return walks


@documented
def metropolis_hastings(
    G: Graph,
    starts: Any,
    length: int,
    *,
    walks_per_start: int = 1,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Walks:
    """Metropolis-Hastings random walks, whose stationary law is uniform over the vertices of a component.

    From v a neighbour u is drawn uniformly; the walk goes there with the probability min(1, degree(v) / degree(u)),
    else it stays at v for this step.

    Parameters
    ----------
    G : Graph
        Undirected. A self-loop counts once in the degree, a parallel edge as often as it stands there.
    starts, length, walks_per_start
        As in `random_walk`. A step that stays has the row -1.

    Returns
    -------
    Walks
        As `random_walk` returns. A walk from a vertex without edges ends there.

    Raises
    ------
    VertexNotFound
        If a start is not a vertex.
    InputError
        If `G` is directed, or an argument has a value that is not allowed.

    References
    ----------
    Li, Yu, Qin, Mao, Jin: On random walk based graph sampling, ICDE 2015. Hastings: Monte Carlo sampling methods using
    Markov chains and their applications, Biometrika 57 (1970).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 0], [1, 2, 3], directed=False)
    >>> gd.sample.metropolis_hastings(G, 0, 4).lengths.tolist()
    [4]
    """
    checked_undirected(G, "metropolis_hastings")
    made = (length, seed, "metropolis", None, 0.0, 0.0)
    return _sampled(G, starts, walks_per_start, made, edge_rows, placement, client, progress)


@documented
def random_walk_with_restart(
    G: Graph,
    starts: Any,
    length: int,
    p: float,
    *,
    bias: str | None = None,
    method: str = "auto",
    walks_per_start: int = 1,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Walks:
    """Random walks that go back to their start with the probability `p` at each step.

    The shares of vertices visited estimate the personalised PageRank of the start with damping 1 - p.

    Parameters
    ----------
    G, starts, length, bias, method, walks_per_start
        As in `random_walk`.
    p : float
        0 to 1.

    Returns
    -------
    Walks
        As `random_walk` returns. From a vertex without out-edges a walk goes back to its start, if `p` is above 0.

    Raises
    ------
    VertexNotFound
        If a start is not a vertex.
    InputError
        If an argument has a value that is not allowed.

    References
    ----------
    Tong, Faloutsos, Pan: Fast random walk with restart and its applications, ICDM 2006.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1], [1, 2])
    >>> gd.sample.random_walk_with_restart(G, 0, 3, 1.0).walks.tolist()
    [[0, 0, 0, 0]]
    """
    return random_walk(
        G, starts, length, bias=bias, method=method, restart=probability("p", p), walks_per_start=walks_per_start,
        seed=seed, edge_rows=edge_rows, placement=placement, client=client, progress=progress,
    )  # fmt: skip


@documented
def random_walk_with_jump(
    G: Graph,
    starts: Any,
    length: int,
    p: float,
    *,
    bias: str | None = None,
    method: str = "auto",
    walks_per_start: int = 1,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> Walks:
    """Random walks that jump to a vertex drawn uniformly from the whole graph with the probability `p` at each step.

    Parameters
    ----------
    G, starts, length, bias, method, walks_per_start
        As in `random_walk`.
    p : float
        0 to 1.

    Returns
    -------
    Walks
        As `random_walk` returns. From a vertex without out-edges a walk jumps, if `p` is above 0.

    Raises
    ------
    VertexNotFound
        If a start is not a vertex.
    InputError
        If an argument has a value that is not allowed.

    References
    ----------
    Tzevelekas, Oikonomou, Stavrakakis: Random walk with jumps in large-scale random geometric graphs, Computer
    Communications 33 (2010). Dead ends as in the random surfer of Page, Brin, Motwani, Winograd: The PageRank citation
    ranking, 1999.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1], [1, 2])
    >>> gd.sample.random_walk_with_jump(G, [0, 2], 10, 0.5).lengths.tolist()
    [10, 10]
    """
    return random_walk(
        G, starts, length, bias=bias, method=method, jump=probability("p", p), walks_per_start=walks_per_start,
        seed=seed, edge_rows=edge_rows, placement=placement, client=client, progress=progress,
    )  # fmt: skip
