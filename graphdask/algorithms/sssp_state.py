"""What a search for shortest paths keeps besides the state of its buckets, and whether it finds parents on its way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buckets import BucketState
from graphdask.partition.part import Part


@dataclass(kw_only=True)
class SsspState(BucketState):
    labels: Array
    """Per slot, see kernels/sssp/sssp.py; the largest integer or infinity where not reached."""
    weights: Array
    each: int
    """-1 where each edge has its own weight, 0 where all have one."""
    parent: Array | None = None
    """Per slot: its parent, where the search finds these as it goes on (kernels/sssp/sssp.py)."""
    level: Array | None = None
    """int64, shape (1,), with `parent`: whether that is of no use."""

    def find_parents(self, part: Part, sources: Array) -> None:
        """Let a search that begins on a CPU with the whole graph find parents."""
        assert self.frontier is not None
        dtype = part.vertex_map.dtype
        self.parent, self.level = np.full(part.num_slots, np.iinfo(dtype).max, dtype), np.zeros(1, np.int64)
        self.parent[sources] = part.ids[sources]
        self.frontier.search.assign(parent=self.parent, level=self.level)

    @property
    def parents(self) -> Array | None:
        """The parents of all slots; None where they are to be found from the distances."""
        return None if self.level is None or self.level[0] else self.parent


def finds_parents(primitive: Any, part: Part) -> bool:
    """Whether a search for paths finds parents as it relaxes edges: of floats, by a CPU that has the whole graph, if it
    goes on to the end."""
    whole = part.size == 1 and isinstance(part.out.indptr, np.ndarray)
    return whole and primitive.finds_parents and primitive.distance.kind == "f" and not primitive.stops
