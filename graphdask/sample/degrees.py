"""Out-degrees of all vertices, from where the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Messages
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.graph.graph import Graph
from graphdask.partition.part import Part
from graphdask.sample.result import Samples
from graphdask.sample.sampler import Placement, Sampler, drawn


class _Degrees(Samples):
    columns = ("vertex", "degree")


class OutDegrees(WithoutSupersteps[dict[str, Array]], Sampler[dict[str, Array]]):
    """Not random: instance i is a vertex; a rank has those of its rows."""

    name = "degrees"
    on_disk = True
    result_type = _Degrees
    record_columns: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, num_vertices: int):
        self.first, self.last = 0, num_vertices

    def memory(self, part: Part, allocation: Allocation) -> int:
        return 20 * part.num_owned

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Array], Messages]:
        rows = slice(self.first, self.last) if part.size == 1 else slice(None)
        degrees = (part.out.indptr[1:] - part.out.indptr[:-1])[rows]
        state = {"vertex": part.ids[rows].copy(), "degree": degrees}
        return state, Messages.none(part.size)


def out_degrees(G: Graph, placement: Placement, client: Any, progress: bool | None) -> np.ndarray:
    """int64, shape (vertices,): edges of each vertex; of an undirected one at either end."""
    found = drawn(G, OutDegrees(G.num_vertices), placement, client, progress)
    degrees = np.zeros(G.num_vertices, np.int64)
    degrees[found._internal("vertex")] = found._internal("degree")
    return degrees
