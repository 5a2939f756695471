"""Traversal sampling of many small instances on a GPU: one kernel draws all hops, one or more instances by a warp.

If the numbers of neighbours are constant and small, all that an instance can reach fits shared memory. So all hops need
two launches: one draws edges into a buffer of the largest possible size, and one compacts them, and finds their rows in
the caller's input if these are asked for. The host reads one number between the two (kernels/neighbors/hops.cu). The
samples are bit for bit those of the general traversal.

Sources: Pandey et al., c-saw, Section V-A; Hamilton, Ying, Leskovec, Inductive representation learning on large graphs
(2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.neighbors.hops_pack import NeighborHops, PlacedHops
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample._choosing import refuse_beyond_memory
from graphdask.sample.fanouts import BITS, FEW, Fanouts
from graphdask.sample.tuning import SAMPLE

MOST_HOPS, MOST_DRAWN = 8, 255
"""Numbers of neighbours come to a kernel as the bytes of one word."""
MOST_EXPANDED = 1024
"""Vertices that an instance expands at most, whose place in shared memory is 12 KiB, or 16."""
THREADS, BLOCKS, STAGED = 128, 16, 16
"""Of a block, and blocks of a processor; neighbours of a vertex that come by way of shared memory (hops.cu)."""
WARPS, ROUNDS = 20, 2
"""That run on a processor at the same time, and rounds of them that make them end together."""
SHARED = 30 << 10
"""Bytes of shared memory of a block, where instances are many: those of 28 warps fit."""


@dataclass
class Shape:
    """How large instances get."""

    seeds: int
    expanded: int
    """Vertices that one expands at most."""
    edges: int
    lists: int = 1
    """How much is kept of each of these: its number, or that of its predecessor, too."""

    def slots(self, hops: int) -> int:
        return 0 if hops == 1 else 2 * self.expanded

    def together(self, instances: int, hops: int, index: int, processors: int) -> int:
        """Of instances for each warp: fewer where some warps would have none, or too much in shared memory."""
        together = 32
        while together > 1 and (
            instances < ROUNDS * processors * WARPS * together or self.shared(together, hops, index) > SHARED
        ):
            together //= 2
        return together

    def shared(self, together: int, hops: int, index: int) -> int:
        """Bytes of shared memory of a block."""
        of_warp = (32 * STAGED + self.lists * together * self.expanded) * index + together * 4 * self.slots(hops)
        return THREADS // 32 * (-(-of_warp // 8) * 8)


def shape_of(sampler: Fanouts[Any], part: Part, env: Environment, most: int, traced: bool = False) -> Shape | None:
    """How large instances get, if all are small and the whole graph is on this GPU; else None. `most` is how many
    neighbours of a vertex a thread draws at most."""
    fanouts = sampler.fanouts
    memory = getattr(env.backend, "shared_memory", 0)  # none on a CPU
    if not memory or part.size > 1 or type(part.vertex_map) is not VertexMap:
        return None
    if not 1 <= len(fanouts) <= MOST_HOPS or not all(0 <= fanout <= most for fanout in fanouts):
        return None
    if not sampler.instances:
        return None
    seeds = 1 if sampler.one_each else int(np.diff(_bounds(sampler)).max())
    frontiers = [seeds]
    for fanout in fanouts:
        frontiers.append(frontiers[-1] * fanout)
    expanded = sum(frontiers[:-1])
    shape = Shape(seeds, max(expanded, 1), sum(frontiers[1:]), 1 + traced)
    held = shape.shared(1, len(fanouts), part.vertex_map.dtype.itemsize)
    return shape if expanded <= MOST_EXPANDED and held <= memory else None


@dataclass
class Numbered:
    """What the edges of rows are called."""

    kept: Array | None
    """int64: where each edge was before those of bias 0 were left out; None where none were."""
    rows: Array
    """int32 or int64: the row of each edge in what the caller gave."""


def neighbors_together(
    sampler: Fanouts[Any], part: Part, env: Environment, rows: Csr, sums: Array | None, numbered: Numbered | None
) -> dict[str, Array] | None:
    """The edges of all instances of neighbour sampling; None where they are drawn hop by hop.

    With `numbered` there is a column `edge`, the row of each edge in what the caller gave.
    """
    if sampler.burn or not sampler.in_few_launches:
        return None
    shape = shape_of(sampler, part, env, MOST_DRAWN if sampler.replace else FEW)
    if shape is None:
        return None
    kernels = env.kernels("hops", index_t=part.vertex_map.dtype)
    method = -1 if sampler.alike else sampler.way
    draw = kernels.hops_draw_biased
    if method < 0:
        draw = kernels.hops_draw if numbered is None else kernels.hops_draw_places
    if method >= min(BITS.values()):
        draw = kernels.hops_draw_by_bits
    draws = NeighborHops(
        indptr=rows.indptr, indices=rows.indices, sums=sums, replace=int(sampler.replace), method=method,
        seed=np.uint64(sampler.seed), placed=int(numbered is not None),
    )  # fmt: skip
    placed = PlacedHops()
    if numbered is not None:
        wide = numbered.rows.dtype.itemsize == 8
        placed.indices, placed.kept = rows.indices, numbered.kept
        placed.rows, placed.long_rows = (None, numbered.rows) if wide else (numbered.rows, None)
    return drawn_together(sampler, part, env, shape, draw, draws, placed)


def drawn_together(
    sampler: Fanouts[Any],
    part: Part,
    env: Environment,
    shape: Shape,
    draw: Callable[..., None],
    draws: Any,
    placed: PlacedHops,
) -> dict[str, Array]:
    """Return the edges of all instances, drawn by the kernel `draw`.

    Its pack `draws` holds the graph and how edges are drawn, `placed` what their rows are found by if they are asked
    for; the fields of `HopDraws` are set here.

    Raises
    ------
    OverBudget, DeadlineExceeded
    """
    xp, dtype, n, hops = env.xp, part.vertex_map.dtype, sampler.instances, len(sampler.fanouts)
    seeds, bounds, index = sampler.seeds, None, dtype.itemsize
    if sampler.one_each:
        seeds = sampler.of(seeds, sampler.first, sampler.last)
    else:
        of_each = _bounds(sampler)
        seeds = seeds[of_each[0] : of_each[-1]]
        bounds = env.backend.from_host(of_each - of_each[0])
    seeds = env.backend.from_host(seeds.astype(dtype))
    draws.fanouts = np.uint64(sum(fanout << 8 * hop for hop, fanout in enumerate(sampler.fanouts)))
    together = shape.together(n, hops, index, getattr(env.backend, "processors", 1))
    draws.hops, draws.together, draws.most = hops, together, shape.edges
    draws.places, draws.slots = shape.expanded, shape.slots(hops)
    placed.assign(hops=hops, together=together, most=shape.edges)
    place, numbered = env.kernels("hops", index_t=dtype), placed.indices is not None
    each, shared = 32 // together, shape.shared(together, hops, index)
    at_once, made = max(1, SAMPLE.edge_launch // max(shape.edges, 1)), []
    for a in range(0, n, at_once):
        if a:
            env.backend.synchronize()
            env.check_deadline(sampler.name)
        b = min(a + at_once, n)
        draws.seeds, draws.bounds = (seeds[a:b], None) if bounds is None else (seeds, bounds[a : b + 1])
        placed.src, placed.dst = draws.src, draws.dst = [xp.empty((b - a) * shape.edges, dtype) for _ in range(2)]
        placed.upto, placed.starts = draws.upto, draws.starts = [xp.empty((b - a) * hops, np.int32) for _ in range(2)]
        placed.ends = draws.counts = xp.empty(b - a, np.int64)
        draw(b - a, sampler.first + a, draws, per_item=each, threads=THREADS, per_processor=BLOCKS, shared=shared)
        xp.cumsum(placed.ends, out=placed.ends)
        total = int(placed.ends[-1])
        refuse_beyond_memory(env, sampler.name, f"hop {hops - 1}", total, 2 * index + 12 + 8 * numbered)
        kinds = (dtype, dtype, np.int32, np.int64, *([np.int64] if numbered else []))
        columns = tuple(xp.empty(total, of) for of in kinds)
        placed.out_src, placed.out_dst, placed.out_hop, placed.out_instance = columns[:4]
        placed.out_edge = columns[4] if numbered else None
        place.hops_place(b - a, sampler.first + a, placed, per_item=each)
        made.append(columns)
    joined = made[0] if len(made) == 1 else map(xp.concatenate, zip(*made, strict=True))
    return dict(zip(("src", "dst", "hop", "instance", "edge"), joined, strict=False))


def _bounds(sampler: Fanouts[Any]) -> np.ndarray:
    return sampler.of(sampler.bounds, sampler.first, sampler.last + 1)
