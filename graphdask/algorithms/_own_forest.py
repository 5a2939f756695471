"""The minimum spanning forest of the edges that one rank has, by Boruvka's rounds (kernels/forest/).

The first round takes the first edge of each own vertex. The lightest edges are then listed and contracted, and after
them the others, of which few still join two trees (Filter-Kruskal). Without weights, edges are ordered by their rows
alone, and the edges of the first rows are the lightest.

Sources: Osipov, Sanders, Singler, The Filter-Kruskal minimum spanning tree algorithm (2009); Fallin, Gonzalez, Seo,
Burtscher, A high-performance MST implementation for GPUs (2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms.tuning import FOREST
from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.buffers import most_deferred
from graphdask.engine.loop import Environment
from graphdask.kernels.forest.forest_pack import COUNTS, Growing
from graphdask.partition.part import Part

SAMPLE = 1 << 14
"""Edges from which the bound of the light edges is estimated."""
LEAST, GREATEST = -(2**63), 2**63 - 1
"""The range of keys."""
WEIGHTS = {"int32": "ints", "int64": "longs", "float32": "floats", "float64": "doubles"}
"""The field of the kernels for weights of each type."""


def memory_of_list(part: Part) -> int:
    """Bytes of the longest list of edges. An edge between own vertices is stored twice and listed once."""
    listed = part.out.num_edges // (2 if part.size == 1 else 1)
    return listed * (3 * part.vertex_map.dtype.itemsize + (8 if part.out.weights is None else 16))


def own_forest(part: Part, env: Environment) -> tuple[dict[str, Array], Array]:
    """The edges of the forest by their ends, weights and rows, in any order; and the root of each slot's tree."""
    forest = _Forest(part, env)
    forest.take_nearest()
    for low, high in _classes(part, env):
        forest.list_edges(low, high)
        forest.contract()
    return forest.edges(), forest.pack.root


def keys_of(values: np.ndarray) -> np.ndarray:
    """Integers in the order of weights or rows, as kernels compute them; int64."""
    if values.dtype.kind == "i":
        return values.astype(np.int64)
    bits = (values.astype(np.float64) + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ np.int64(GREATEST))


def _classes(part: Part, env: Environment) -> list[tuple[int, int]]:
    """Ranges of keys: those of the light edges, then those of the others; a single one if there are few edges."""
    csr, light = part.out, 2 * FOREST.light * part.num_slots
    if csr.num_edges <= 2 * light:
        return [(LEAST, GREATEST)]
    values = csr.rows if csr.weights is None else csr.weights
    assert values is not None
    sample = np.sort(keys_of(env.backend.to_host(values[:: max(1, csr.num_edges // SAMPLE)])))
    bound = int(sample[len(sample) * light // csr.num_edges])
    return [(LEAST, bound), (bound + 1, GREATEST)] if bound < GREATEST else [(LEAST, GREATEST)]


class _Forest:
    """A forest that grows."""

    def __init__(self, part: Part, env: Environment):
        xp, csr, dtype, slots = env.xp, part.out, part.vertex_map.dtype, part.num_slots
        assert csr.rows is not None
        self.part, self.env = part, env
        self.kernels = env.kernels("forest", index_t=dtype)
        narrow = csr.rows.dtype == np.int32
        self.ties = csr.weights is not None or not narrow
        weights: dict[str, Any] = {} if csr.weights is None else {WEIGHTS[csr.weights.dtype.name]: csr.weights}
        self.pack = Growing(
            owned=part.num_owned, root=xp.arange(slots, dtype=dtype),
            best=xp.full(slots, GREATEST, np.int64), least=xp.full(slots, GREATEST, np.int64) if self.ties else None,
            forest_source=xp.empty(slots, dtype), forest_place=xp.empty(slots, np.int64),
            hubs=xp.empty(most_deferred(csr), dtype), capacity=0, counters=xp.zeros(len(COUNTS), np.int64),
            **{"rows" if narrow else "wide_rows": csr.rows}, **weights,
        )  # fmt: skip

    def take_nearest(self) -> None:
        """Let each own vertex take its first edge."""
        self._visit("forest_nearest")
        if self.ties:
            self._visit("forest_nearest_ties")
        self.kernels.forest_hook(self.part.num_owned, self.pack)
        self._flatten()

    def list_edges(self, low: int, high: int) -> None:
        """List the edges of a range of keys that join two trees. A list that is too short is made again."""
        pack, num_edges = self.pack, self.part.out.num_edges // (2 if self.part.size == 1 else 1)
        pack.assign(low=low, high=high)
        self._reserve(max(1, pack.capacity, min(num_edges, FOREST.listed * self.part.num_slots)))
        while True:
            pack.set_counters(listed=0)
            self._visit("forest_select")
            self.listed = pack.read_counters(self.env.backend).listed
            if self.listed <= pack.capacity:
                return
            self._reserve(self.listed)

    def contract(self) -> None:
        """Let each tree take the first of the listed edges that leave it, until no edge leaves any."""
        pack, kernels = self.pack, self.kernels
        while True:
            pack.set_counters(live=0)
            kernels.forest_least(self.listed, pack)
            if self.ties:
                kernels.forest_ties(self.listed, pack)
            counters = pack.read_counters(self.env.backend)
            self.listed = min(self.listed, counters.listed)
            if not counters.live:
                return
            self.env.check_deadline("minimum spanning forest")
            kernels.forest_join(self.part.num_slots, pack)
            self._flatten()

    def edges(self) -> dict[str, Array]:
        """The edges of the forest."""
        csr, pack, joined = self.part.out, self.pack, self.pack.read_counters(self.env.backend).joined
        assert csr.rows is not None
        pack.release("best", "least", "one", "other", "source", "place", "keys", "hubs")
        place = pack.forest_place[:joined]
        weight = self.env.xp.ones(joined, np.int64) if csr.weights is None else csr.weights[place]
        return {"one": pack.forest_source[:joined], "other": csr.indices[place], "weight": weight,
                "row": csr.rows[place]}  # fmt: skip

    def _visit(self, kernel: str) -> None:
        """Run a kernel over all rows, and then over those that it deferred."""
        of_hubs = getattr(self.kernels, f"{kernel}_hubs")
        advance(getattr(self.kernels, kernel), of_hubs, self.part.out, self.part.num_owned, self.pack)

    def _flatten(self) -> None:
        while True:
            self.pack.set_counters(deep=0)
            self.kernels.forest_flatten(self.part.num_slots, self.pack)
            if not self.pack.read_counters(self.env.backend).deep:
                return

    def _reserve(self, capacity: int) -> None:
        """Make a list of so many edges, if it is not as long yet."""
        xp, pack, dtype = self.env.xp, self.pack, self.part.vertex_map.dtype
        if capacity > pack.capacity:
            pack.release("one", "other", "source", "place", "keys")
            pack.assign(**{name: xp.empty(capacity, dtype) for name in ("one", "other", "source")})
            pack.assign(place=xp.empty(capacity, np.int64), capacity=capacity)
            if self.part.out.weights is not None:
                pack.keys = xp.empty(capacity, np.int64)
