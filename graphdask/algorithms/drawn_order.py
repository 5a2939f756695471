"""An order of the vertices by degree and random numbers, and the edges that lead from a vertex to earlier ones.

The random number of a vertex is a one-to-one function of its number, so no two are equal, and the order depends on the
seed alone. Algorithms that are sequential along the order give the same answer, whatever is computed at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.neighbours import edge_blocks
from graphdask.partition.part import Part
from graphdask.partition.sources import mixed
from graphdask.partition.tuning import PARTITION

GOLDEN = 0x9E3779B97F4A7C15
STRATEGIES = ("random", "largest_first")


def drawn_of(ids: Array, seed: int) -> Array:
    """Return the random numbers of vertices, uint64; vertices of larger ones come first."""
    begin = mixed(np.array([(seed + GOLDEN) % 2**64], np.uint64))[0]
    return mixed(ids.astype(np.uint64) * np.uint64(GOLDEN) + begin)


@dataclass
class DrawnOrder:
    """The order, as arrays over the slots of a rank."""

    drawn: Array
    """uint64."""
    degree: Array | None
    """Stored edges of the vertex, int64; vertices of more come first. None: only `drawn` counts."""

    @classmethod
    def of(cls, part: Part, env: Environment, seed: int, strategy: str = "random") -> DrawnOrder:
        """The order of a seed. Every rank calls it, from `init`."""
        columns = [part.ids]
        if strategy == "largest_first":
            columns.append(part.out.indptr[1:] - part.out.indptr[:-1])
        ids, *degree = env.fetch_ghosts(part, columns)
        return cls(drawn_of(ids, seed), degree[0] if degree else None)

    def precedes(self, one: Array, other: Array) -> Array:
        """Whether slots come before other ones; False for the same ones."""
        first = self.drawn[one] > self.drawn[other]
        if self.degree is None:
            return first
        degree, others = self.degree[one], self.degree[other]
        return (degree > others) | ((degree == others) & first)

    def edges(self, part: Part, env: Environment, later: bool = False) -> tuple[Array, Array]:
        """Own vertices, ascending, and their earlier neighbours, of every edge that has one; or the later ones."""
        rows, slots = [part.ids[:0]], [part.out.indices[:0]]
        for block in edge_blocks(env.backend, part):
            ends = block.slots, block.rows
            kept = self.precedes(*reversed(ends)) if later else self.precedes(*ends)
            rows.append(block.rows[kept])
            slots.append(block.slots[kept])
        return env.xp.concatenate(rows), env.xp.concatenate(slots)

    @staticmethod
    def memory(part: Part) -> int:
        """Bytes of the order, and of the edges while they are found: about half of those that are stored."""
        item, arcs = part.vertex_map.dtype.itemsize, part.out.num_edges
        return (16 + 2 * item) * part.num_slots + 2 * item * arcs + (3 * item + 36) * min(PARTITION.block_edges, arcs)
