"""What PageRank of a dynamic graph begins with, keeps, and returns; the primitive is dynamic_pagerank.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.rank_error import Residual, halves
from graphdask.device.backend import Array
from graphdask.device.readback import Readback
from graphdask.dynamic.rows import DynamicPart
from graphdask.engine.loop import Environment
from graphdask.errors import InputError
from graphdask.kernels.dynamic.dynamic_pack import COUNTS
from graphdask.results.result import Result

EVERY = 2**62
"""A count for the kernels that is more than any number of vertices."""


@dataclass
class Lists:
    """Own vertices that are ranked, or were: lists of those with few in-edges and with many, or one of them all."""

    of: list[Array]
    """Index dtype."""
    counts: list[Array]
    """uint64 on the device, shape (1,) or more: how many of each list count, or `State.every`."""
    edges: int = 0
    """Of all."""
    known: bool = True
    """Whether all of the lists count, and `edges` says how many edges they have; else the host does not know yet."""


@dataclass
class DynamicRanksState:
    rank: Array
    """float64 per own vertex."""
    inverse: Array
    """float64 per own vertex: 1 / out-degree, self-loop included."""
    loop: Array
    """uint8 per own vertex: whether the self-loop is stored."""
    x: Array
    """float64 per slot, contributions; 0 where this rank needs none."""
    reported: Array
    """float64 per own vertex, as other ranks know them; empty for one rank, and if all are sent every time."""
    sums: Array
    affected: Array
    """uint8 per slot, those of own vertices to be ranked, and of others until their owners are notified."""
    expand: Array
    """uint8 per own vertex: 1 where its out-neighbours are to be marked, 2 where they are and stay so."""
    visited: Array
    """uint8 per own vertex: whether it was ranked in this run."""
    seen: Array
    """uint8 per own vertex: whether a traversal has passed it; empty for other methods."""
    bounds: Array
    """int64, shape (ranks + 1,): slots [bounds[k], bounds[k+1]) are of rank (rank + k) % ranks."""
    shifts: Array
    """int64 per rank: the first slot that this rank's own vertices have there."""
    low: Array
    high: Array
    """Index dtype, lists of own vertices to be ranked."""
    mark_low: Array
    mark_high: Array
    """And of those whose out-neighbours are to be marked."""
    pieces: Array
    """int64, buffer for the parts of long rows of out-edges (kernels/dynamic/dynamic.py)."""
    counters: Array
    """uint64: COUNTS, and for several ranks behind them those of kernels/dynamic/dynamic_messages.py: changes for each,
    all, and marks."""
    every: Array
    """uint64, shape (1,): EVERY."""
    base: float
    """(1 - damping) / number of vertices."""
    num_vertices: int
    num_edges: int
    """Stored in-edges of this rank."""
    mode: str
    """The method of the next iteration."""
    everyone: bool
    """Whether that ranks all vertices, whatever the method."""
    left: Residual
    traversing: bool
    last: Array
    """Own vertices that were sent in the last step, which in the end nobody takes in any more."""
    marks: tuple[Array, Array, np.ndarray, np.ndarray] | None = None
    """What was sent in the last step, slots and contributions, and where the marks for each rank begin and end."""
    passes: int = 0
    """Steps of the traversal."""
    listed: tuple[int, int, int] | None = None
    """Lengths of `low` and `high` and their edges; None where the lists are to be made."""
    looked: int = 0
    """In-edges of the vertices that were ranked last on this rank."""
    sweep: Any = None
    """The Sweep that sums the rows of all vertices, where one does and all are ranked."""
    steps: dict[str, int] = field(default_factory=dict)
    """Iterations by method."""
    factor: float = 1.0
    """What the next iteration multiplies all ranks by before it begins."""
    unmarked: bool = False
    """Whether vertices whose out-neighbours are to be marked are listed only."""
    swept: bool = False
    """Whether the last iteration ranked all vertices."""
    all_edges: float = 0.0
    """Stored in-edges of all ranks."""
    affected_vertices: int = 0
    """Vertices of all ranks that were ranked in this run."""
    residual: float = math.inf
    readback: Readback | None = None
    """By which the host receives the sums of an iteration over all vertices while the next one's sums are under way."""
    ahead: bool = False
    """Whether the sums of the next iteration have been begun."""
    row_kinds: Array | None = None
    """What Sweep.count has counted."""

    @property
    def iterations(self) -> int:
        return sum(self.steps.values())


def listed_of(counters: Any) -> tuple[int, int, int]:
    """How many vertices are listed, low and high, and their edges."""
    counts = COUNTS.of(counters)
    return counts.low, counts.high, counts.edges


def votes_of(counters: np.ndarray, ranked: Lists, reached: int, state: DynamicRanksState) -> Sequence[float]:
    """What was counted, for all ranks; see `DynamicPageRank.votes` of dynamic_pagerank.py."""
    counts = COUNTS.of(counters)
    return (
        float(np.uint64(counts.largest).view(np.float64)), float(counts.first), float(reached), *halves(counts.spread),
        *halves(counts.unsent), float(ranked.edges + counts.mark_edges), float(state.num_edges), *halves(counts.mass),
    )  # fmt: skip


def every_of(part: DynamicPart, env: Environment) -> Array:
    """EVERY on the device, made once."""
    kept = part.tables.get("every")
    return part.tables.keep("every", env.xp.full(1, EVERY, np.uint64), 0) if kept is None else kept


def degrees_of(part: DynamicPart, env: Environment) -> tuple[Array, Array]:
    """Of the own vertices 1 / out-degree, self-loop included, and whether the self-loop is stored; looked up where the
    rows have changed since it was last done."""
    xp = env.xp
    if part.degrees is None:
        part.degrees = xp.empty(part.num_owned, np.float64), xp.empty(part.num_owned, np.uint8)
        part.stale = [xp.arange(part.num_owned, dtype=part.vertex_map.dtype)]
    inverse, loop = part.degrees
    out, kernels = part.outward, env.kernels("dynamic", index_t=part.vertex_map.dtype)
    for rows in part.stale:
        kernels.dynamic_degrees(
            len(rows), rows, part.ids, out.begin, out.length, out.indices, part.names, inverse, loop
        )
    part.stale = []
    return inverse, loop


def start_of(part: DynamicPart, env: Environment, method: str, given: Array | None) -> Array:
    """Ranks of the own vertices to begin with, not to be written to; 0 of those that have not appeared. `given` stand
    in for those of the last run."""
    xp = env.xp
    if given is None and method != "static" and part.ranked == part.alive:
        assert part.pagerank is not None
        return part.pagerank
    alive = part.ids < part.alive
    if given is not None:
        return xp.where(alive, given, 0.0)
    even = alive.astype(np.float64) / max(part.alive, 1)
    if method == "static":
        return even
    assert part.pagerank is not None
    return xp.where(part.ids < part.ranked, part.pagerank * (part.ranked / part.alive), even)


class DynamicPageRankResult(Result):
    """What `pagerank(D, method=...)` returns."""

    columns = ("rank",)

    @property
    def rank(self) -> np.ndarray:
        """The PageRank of every vertex; shape (num_vertices,), in the order of `vertex_ids` of the version it is of."""
        return self._column("rank")

    @property
    def method(self) -> str:
        """What was done: "static" also where there were no ranks to begin with; of the methods of several iterations
        the one that ranks most vertices, such as "nd" where all had to be ranked to keep the error."""
        return self._value("method")

    @property
    def steps(self) -> dict[str, int]:
        """How many iterations were done by which method."""
        return self._value("steps")

    @property
    def iterations(self) -> int:
        """How many iterations were done."""
        return self._value("iterations")

    @property
    def affected(self) -> int:
        """How many vertices were ranked anew at least once."""
        return self._value("affected")

    @property
    def residual(self) -> float:
        """The largest change of a rank in the last iteration."""
        return self._value("residual")

    @property
    def converged(self) -> bool:
        """Whether the residual came down to the tolerance, or the bound of the error to what was asked for."""
        return self._value("converged")

    @property
    def error(self) -> float:
        """A bound of the L1 distance to the exact ranks, rounding left aside; graphdask/algorithms/rank_error.py."""
        return self._value("error")

    def verify(self) -> DynamicPageRankResult:
        """Prove the result in linear time, on the workers; return it.

        Raises
        ------
        VerificationError
            Naming the first vertex that breaks an invariant.
        InputError
            Where the graph has changed since: the rows that the ranks are of are gone.
        """
        if self.built.rows.version != self.built.version:
            raise InputError("the graph has changed since these ranks were computed; verify them before the next batch")
        execute.verify(self)
        return self
