"""What traversal samplers are asked for: fan-outs, a bias, a direction; and the memory that it takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeVar

import numpy as np

from graphdask.engine.buffers import Allocation
from graphdask.graph.graph import Graph
from graphdask.kernels.common.tuning import FEW_DRAWN as FEW
from graphdask.partition.part import Csr, Part, WeightFacts
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample.biases import EdgeBiases, checked_biases
from graphdask.sample.sampler import Sampler
from graphdask.sample.tuning import SAMPLE

S = TypeVar("S")

METHODS = ("auto", "repeated", "updated", "bipartite", "reservoir")
"""In the order of their numbers in kernels/neighbors/successive.py, which has all but the last."""
REDRAWN = ("repeated", "bipartite")
"""Methods that draw again what is drawn already."""
COLLISIONS = ("auto", "linear", "bitmap", "strided")
BITS = {"bitmap": 8, "strided": 16}
"""What is added to the number of a method for kernels (kernels/neighbors/successive.py), by how collisions are seen."""


class Fanouts(Sampler[S]):
    """Of a sampler of neighbourhoods all but the drawing."""

    burn = 0

    def __init__(
        self, seeds: np.ndarray, bounds: np.ndarray | None, fanouts: Sequence[int], *, replace: bool = False,
        bias: str | None = None, direction: str = "out", method: str = "auto", seed: int = 0, burn: int = 0,
        collisions: str = "auto",
    ):  # fmt: skip
        self.seeds, self.first, self.last = seeds, 0, (len(seeds) if bounds is None else len(bounds) - 1)
        self._bounds = bounds
        self.fanouts, self.replace, self.bias, self.direction = tuple(fanouts), replace, bias, direction
        self.method, self.seed, self.burn, self.collisions = method, seed, burn, collisions

    @property
    def alike(self) -> bool:
        """Whether neighbours are drawn by Floyd's algorithm, or with replacement."""
        return self.bias is None and self.method == "auto"

    @property
    def in_few_launches(self) -> bool:
        """Whether the kernels that draw hop after hop know its way to draw."""
        return self.method != "reservoir"

    @property
    def way(self) -> int:
        """The number of its method for kernels that draw up to FEW neighbours."""
        return METHODS.index(self.method) + (BITS.get(self.collisions, 0) if self.method in REDRAWN else 0)

    def marked(self, fanout: int) -> bool:
        """Whether a bit says of a neighbour that it is chosen, where so many are asked for."""
        if self.method not in REDRAWN or self.collisions == "linear":
            return False
        return self.collisions != "auto" or fanout > FEW or fanout < 0

    def only(self, first: int, last: int) -> Self:
        some = super().only(first, last)
        some.origin = first
        if self.one_each:
            some.seeds = self.of(self.seeds, first, last)
            return some
        of_each = self.of(self.bounds, first, last + 1)
        some.seeds, some._bounds = self.seeds[of_each[0] : of_each[-1]], of_each - of_each[0]
        return some

    @property
    def one_each(self) -> bool:
        """Whether every seed is an instance of its own."""
        return self._bounds is None

    @property
    def bounds(self) -> np.ndarray:
        """int64: where the seeds of each instance begin, and their number."""
        return np.arange(len(self.seeds) + 1) if self._bounds is None else self._bounds

    def check(self, graph: Graph, weights: WeightFacts | None) -> None:
        if self.bias == "weight" and weights is not None:
            checked_biases(graph, weights)

    @property
    def inward(self) -> bool:
        return self.direction == "in"

    @property
    def work(self) -> int:
        return int(self._edges_at_most(self.last - self.first, 10.0)[1])

    def edges_at_most(self, degree: float) -> float:
        """About how many edges there will be, where rows are as long as `degree` in the mean."""
        return self._edges_at_most(self.instances, degree)[1]

    def seeds_of(self, instances: float) -> float:
        """About how many seeds so many instances have."""
        if self._bounds is None:
            return float(instances)
        return len(self.seeds) * instances / max(len(self._bounds) - 1, 1)

    def _edges_at_most(self, instances: int, degree: float, reached: float | None = None) -> tuple[float, float]:
        """Vertices in all frontiers but the last, and edges.

        Rows of seeds are reckoned to be as long as `degree` in the mean, those of vertices that edges reach as
        `reached`, by default the same.
        """
        items = self.seeds_of(instances)
        expanded = edges = 0.0
        burning = self.burn / (2**64 - self.burn) if self.burn else np.inf
        for fanout in self.fanouts:
            drawn = items * (min(degree, burning) if fanout < 0 else fanout)
            expanded, edges, items = expanded + items, edges + drawn, drawn
            degree = degree if reached is None else reached
        return expanded, edges

    def _row_lengths(self, part: Part, rows: Csr) -> tuple[float, float]:
        """The mean length of rows: of the seeds' as far as they are here, and of those that a random edge leads to."""
        stored = rows.num_edges * part.size
        mean = stored / max(part.num_vertices, 1)
        if min(self.fanouts, default=0) >= 0 or not rows.num_edges:
            return mean, mean
        # Of a random edge's end, rows are longer than in the mean, on skewed graphs a hundred times.
        lengths = rows.indptr[1:] - rows.indptr[:-1]
        reached = float((lengths.astype(np.float64) ** 2).sum()) / rows.num_edges
        if part.size == 1 and type(part.vertex_map) is VertexMap and isinstance(lengths, np.ndarray) and self.instances:
            of_each = self.of(self.bounds, self.first, self.last + 1)
            seeds = self.seeds[of_each[0] : of_each[-1]]
            mean = float(lengths[seeds].mean()) if len(seeds) else mean
        return mean, max(mean, reached)

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes for edges (drawn, sorted by requester, returned), tables of visited vertices, and biases.

        If all neighbours of a vertex are taken, or a random number of them, the estimate assumes rows of the mean
        length of those that a random edge leads to. Each hop checks the free memory before it draws.
        """
        rows, width = part.inward if self.inward and part.inward else part.out, part.vertex_map.dtype.itemsize
        share = -(-self.instances // part.size)
        stored = rows.num_edges * part.size
        mean, reached = self._row_lengths(part, rows)
        expanded, edges = self._edges_at_most(share, mean, reached)
        buffered = min(edges, SAMPLE.edge_launch)  # for edges of small instances, before they are put together
        edges = min(edges, share * float(stored) * (max(self.fanouts, default=0) if self.replace else 1))
        expanded = min(expanded, share * float(part.num_vertices))
        each = 4 * width + 28 + (3 * (width + 8) + 8 if part.size > 1 else 0)
        each += (16 + (24 if part.size > 1 else 0)) if self.numbered else 0
        biases = launch = 0
        if (self.burn or max(self.fanouts, default=0) > FEW) and not self.replace:
            if not self.alike:
                launch = int(8 * min(SAMPLE.tree_launch, expanded * reached)) + 32 * int(expanded)
            elif not isinstance(rows.indptr, np.ndarray):
                launch = int(24 * min(edges, SAMPLE.tree_launch))
        if part.size == 1 and not isinstance(rows.indptr, np.ndarray):
            launch = max(launch, int(2 * width * buffered))
        if self.method == "reservoir":
            launch += 8 * int(expanded)
        elif self.marked(0):
            launch = max(launch, int(4 * min(SAMPLE.tree_launch, expanded * (1 + reached / 32))) + 32 * int(expanded))
        if self.bias is not None and self._table not in part.tables:
            filtered = rows.num_edges * (9 + width + (0 if rows.weights is None else rows.weights.itemsize))
            biases = EdgeBiases.memory(rows, self.bias, "inverse") + filtered + 16 * part.num_slots
            biases += 8 * rows.num_edges
        return int(each * edges + (4 * width + 40) * expanded) + 16 * share * (len(self.fanouts) + 2) + biases + launch

    @property
    def _table(self) -> tuple[str, ...]:
        """Its name among those that the partition keeps."""
        return ("rows and sums", str(self.bias), self.direction)
