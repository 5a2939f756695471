"""Greedy colouring: neighbours have different colours, and each vertex the smallest that its earlier neighbours leave.

Vertices stand in an order (`_drawn_order`), and a vertex waits for its earlier neighbours. In a superstep all vertices
that wait for no one are coloured, and their later neighbours wait for one vertex less. The smallest free colour of a
vertex of d earlier neighbours is at most d, so d + 1 marks for each vertex show which colours are taken. Every edge is
handled twice in all. This gives the colours of a sequential program that goes through the vertices in this order.

Sources: Jones, Plassmann, A parallel graph coloring heuristic (1993); Hasenplaugh, Kaler, Schardl, Leiserson, Ordering
heuristics for parallel graph coloring (2014), Section 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms._drawn_order import STRATEGIES, DrawnOrder
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.kinds import checked_seed, choice
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.partition.build import tally
from graphdask.partition.ghosts import entries_and_turns, entries_of
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Csr, Part
from graphdask.results.result import Result


@dataclass
class ColoringState:
    color: Array
    """Per slot; -1 if it is not coloured yet."""
    earlier: Csr
    """For each own vertex, its earlier neighbours."""
    later: Csr
    """For each slot, the own vertices that are later neighbours."""
    waiting: Array
    """Per own vertex, how many edges lead to earlier neighbours without a colour; int64."""


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


class GreedyColoring(Primitive[ColoringState]):
    """The primitive, for undirected graphs."""

    name = "greedy colouring"
    columns: ClassVar[Mapping[str, Any]] = {"color": INDEX}
    result_type = ColoringResult
    tells_ghosts = True
    queues = False

    def __init__(self, seed: int, strategy: str):
        self.seed, self.strategy = seed, strategy

    def memory(self, part: Part, allocation: Allocation) -> int:
        item, arcs = part.vertex_map.dtype.itemsize, part.out.num_edges
        return DrawnOrder.memory(part) + (4 * item + 16) * arcs + (item + 16) * part.num_slots + 40 * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[ColoringState, Messages]:
        xp, order = env.xp, DrawnOrder.of(part, env, self.seed, self.strategy)
        rows, slots = order.edges(part, env)
        color = xp.full(part.num_slots, -1, part.vertex_map.dtype)
        waiting = tally(env.backend, rows, part.num_owned)
        earlier = Csr(_ends(xp, waiting), slots)
        state = ColoringState(color, earlier, self._later(part, order, rows, slots, env), waiting)
        return state, self._color(part, state, places_of(xp, waiting == 0).astype(color.dtype), 0, env)

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

    def superstep(self, part: Part, state: ColoringState, inbox: Inbox, env: Environment) -> Messages:
        inbox.put("color", state.color)
        ready, edges = self._released(part, state, inbox.slots, env)
        return self._color(part, state, ready, edges, env)

    def _released(self, part: Part, state: ColoringState, colored: Array, env: Environment) -> tuple[Array, int]:
        """Own vertices that wait for no one any more, now that these slots have colours; and the edges visited."""
        rows = state.later.indices[entries_of(env.backend, state.later, colored)]
        state.waiting -= tally(env.backend, rows, part.num_owned)
        ready = rows[state.waiting[rows] == 0]
        return env.xp.unique(ready) if len(ready) else ready, len(rows)

    def _color(self, part: Part, state: ColoringState, ready: Array, edges: int, env: Environment) -> Messages:
        """Colour vertices, then those of this rank that waited only for them, and so on."""
        colored = [ready]
        while len(ready):
            env.check_deadline(self.name)
            state.color[ready] = self._smallest_free(state, ready, env)
            ready, visited = self._released(part, state, ready, env)
            edges += visited
            colored.append(ready)
        own = env.xp.concatenate(colored)
        return Messages(own, own[:0], {"color": state.color}, False, len(own), edges, to="ghosts")

    def _smallest_free(self, state: ColoringState, ready: Array, env: Environment) -> Array:
        xp, earlier = env.xp, state.earlier
        places, turn = entries_and_turns(env.backend, earlier, ready)
        length = earlier.indptr[ready + 1] - earlier.indptr[ready] + 1
        begin = xp.cumsum(length) - length
        taken = state.color[earlier.indices[places]]
        low = taken < length[turn]
        free = xp.ones(int(length.sum()), bool)
        free[(begin[turn] + taken)[low]] = False
        free = places_of(xp, free)
        return (free[xp.searchsorted(free, begin)] - begin).astype(state.color.dtype)

    def result(self, part: Part, state: ColoringState, env: Environment) -> dict[str, Any]:
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
@documented
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
    G : Graph
        Undirected; `G.to_undirected()` makes one of a directed graph.
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

    Raises
    ------
    InputError
        If `G` is not a Graph or is directed, or an argument has no such value.

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
