"""Greedy colouring: neighbours have different colours, and each vertex the smallest that its earlier neighbours leave.

Vertices stand in an order (`drawn_order`), and a vertex waits for its earlier neighbours. In a superstep all vertices
that wait for no one are coloured, and their later neighbours wait for one vertex less. The smallest free colour of a
vertex of d earlier neighbours is at most d, so d + 1 bits for each vertex show which colours are taken; they are set
as neighbours get their colours (kernels/coloring/coloring.py). Every edge is visited once. This gives the colours of a
sequential program that goes through the vertices in this order.

Sources: Jones, Plassmann, A parallel graph coloring heuristic (1993); Hasenplaugh, Kaler, Schardl, Leiserson, Ordering
heuristics for parallel graph coloring (2014), Section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.drawn_order import STRATEGIES, DrawnOrder
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation, most_deferred
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.kinds import checked_seed, choice
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import Option, algorithm
from graphdask.kernels.coloring.coloring_pack import COUNTS, Coloring
from graphdask.partition.build import tally
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result

BITS = 64
"""Bits of a word of colours."""
PER_PROCESSOR = 2
"""Blocks of the launch, which wait for each other after each round."""


class ColoringResult(Result):
    """What `greedy_coloring` returns."""

    columns = ("color",)

    @property
    def color(self) -> np.ndarray:
        """The colour of each vertex, 0 or more; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("color")

    @property
    def num_colors(self) -> int:
        """The number of colours."""
        return int(self.color.max(initial=-1)) + 1


class GreedyColoring(Primitive[Coloring]):
    """The primitive, for undirected graphs."""

    name = "greedy colouring"
    columns: ClassVar[Mapping[str, Any]] = {"color": INDEX}
    result_type = ColoringResult
    notifies_ghosts = True
    queues = False

    def __init__(self, seed: int, strategy: str):
        self.seed, self.strategy = seed, strategy

    def memory(self, part: Part, allocation: Allocation) -> int:
        item, arcs = part.vertex_map.dtype.itemsize, part.out.num_edges
        return DrawnOrder.memory(part) + (3 * item + 16) * arcs + (3 * item + 24) * part.num_slots + 40 * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[Coloring, Messages]:
        xp, dtype, order = env.xp, part.vertex_map.dtype, DrawnOrder.of(part, env, self.seed, self.strategy)
        rows, slots = order.edges(part, env)
        waiting = tally(env.backend, rows, part.num_owned)
        begin, later = _ends(xp, waiting // BITS + 1), self._later(part, order, rows, slots, env)
        state = Coloring(
            indptr=later.indptr, indices=later.indices, color=xp.full(part.num_slots, -1, dtype),
            waiting=waiting.astype(dtype), begin=begin, taken=xp.zeros(int(begin[-1]), np.uint64),
            queue=xp.empty(part.num_slots, dtype), hubs=xp.empty(most_deferred(later), dtype),
            deferring=int(most_deferred(later) > 0), counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        first = places_of(xp, waiting == 0).astype(dtype)
        state.color[first] = 0
        return state, self._color(part, state, first, 0, env)

    def _later(self, part: Part, order: DrawnOrder, rows: Array, slots: Array, env: Environment) -> Csr:
        """Later neighbours: of own vertices from their rows, of ghosts by sorting the edges to earlier neighbours."""
        xp, owned, lengths = env.xp, part.num_owned, env.xp.zeros(part.num_slots, np.int64)
        ghosts = slots >= owned
        rows, slots = rows[ghosts], slots[ghosts]
        rows = rows[xp.argsort(slots, kind="stable")]
        lengths[owned:] = tally(env.backend, slots, part.num_slots)[owned:]
        own, later = order.edges(part, env, later=True)
        here = later < owned
        lengths[:owned] = tally(env.backend, own[here], owned)
        return Csr(_ends(xp, lengths), xp.concatenate([later[here], rows]))

    def superstep(self, part: Part, state: Coloring, inbox: Inbox, env: Environment) -> Messages:
        inbox.put("color", state.color)
        return self._color(part, state, inbox.slots, len(inbox.slots), env)

    def _color(self, part: Part, state: Coloring, fresh: Array, ghosts: int, env: Environment) -> Messages:
        """Mark fresh colours, the first of them of ghosts, colour the vertices that waited only for them, and so on."""
        kernels = env.kernels("coloring", cooperative=True, index_t=part.vertex_map.dtype)
        start = state.read_counters(env.backend).queue
        tail = start + len(fresh)
        state.queue[start:tail] = fresh
        state.counters.fill(0)
        state.set_counters(queue=tail)
        kernels.coloring_mark(HUB_THREADS, start, tail, state, per_processor=PER_PROCESSOR)
        tail, edges, *_ = state.read_counters(env.backend)
        own = state.queue[start + ghosts : tail]
        return Messages(own, own[:0], {"color": state.color}, False, len(own), edges, to="ghosts")

    def result(self, part: Part, state: Coloring, env: Environment) -> dict[str, Any]:
        return {"color": state.color[: part.num_owned].copy()}


def _ends(xp: Any, lengths: Array) -> Array:
    """Where rows of these lengths begin and end."""
    indptr = xp.zeros(len(lengths) + 1, np.int64)
    indptr[1:] = xp.cumsum(lengths)
    return indptr


def _summary(result: Any) -> dict[str, Any]:
    return {"colors": result.num_colors, "vertices": result.graph.num_vertices}


def _words(found: dict[str, Any]) -> str:
    return f"{terminal.count(found['colors'], 'color')} for {terminal.count(found['vertices'], 'vertex')}"


@algorithm(
    "coloring", ColoringResult, "Greedy colouring of an undirected graph.", summary=_summary, words=_words,
    undirected=True,
    options={
        "seed": Option("Of the order of the vertices.", least=0),
        "strategy": Option("Which vertices are coloured first.", choices=STRATEGIES),
    },
    also="color coloring colouring greedy_color graph_coloring vertex_coloring chromatic_number",
)  # fmt: skip
@of_undirected
def greedy_coloring(
    G: Graph,
    seed: int = 0,
    strategy: str = "random",
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> ColoringResult:
    """Colour the vertices so that neighbours have different colours.

    The colours are those of a sequential program that goes through the vertices in an order, and gives each vertex the
    smallest colour that none of its neighbours has. So there are at most as many colours as the largest degree plus 1,
    and no vertex has a colour above its number of distinct neighbours. Self-loops do not count. The vertices of colour
    0 are those of `maximal_independent_set` with the same seed, if the strategy is "random".

    Parameters
    ----------
    seed : int
        Of the random order, 0 to 2**64 - 1.
    strategy : {"random", "largest_first"}
        The order. "random", the default: a random one. "largest_first": vertices of more edges first, at random among
        those of equally many, which mostly takes fewer colours. Parallel edges count as several.

    Returns
    -------
    ColoringResult
        With `color`, int32 of shape (num_vertices,) (int64 above 2**31 - 2 vertices), in the order of `G.vertex_ids`,
        and `num_colors`. The same seed gives the same colours for every number of partitions and on every device.

    References
    ----------
    Jones, Plassmann: A parallel graph coloring heuristic, SIAM Journal on Scientific Computing 14 (1993). Hasenplaugh,
    Kaler, Schardl, Leiserson: Ordering heuristics for parallel graph coloring, SPAA 2014.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False)
    >>> gd.greedy_coloring(G).num_colors
    3
    """
    checked_undirected(G, "greedy_coloring")
    strategy = choice("strategy", strategy, STRATEGIES)
    primitive = GreedyColoring(checked_seed(seed), strategy)
    return execute.run(G, primitive, exchange=exchange, client=client, progress=progress)
