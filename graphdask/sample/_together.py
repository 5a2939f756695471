"""Traversal sampling of many small instances on a GPU: all hops of an instance in one go, by a few threads of a warp.

Where the numbers of neighbours are constant, and small, all that an instance can reach fits shared memory. So it takes
two launches for all hops, one that draws edges into room for the most that there can be and one that puts them
together, and one number that the host reads between them (kernels/hops.cu). The samples are those of the general way,
bit for bit.

Sources: Pandey et al., c-saw, Section V-A; Hamilton, Ying, Leskovec, Inductive representation learning on large graphs
(2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.part import Csr, Part
from graphdask.partition import VertexMap
from graphdask.sample._choosing import refuse_beyond_memory
from graphdask.sample._fanouts import FEW, LAUNCH, METHODS, Fanouts

MOST_HOPS, MOST_DRAWN = 8, 255
"""Numbers of neighbours come to a kernel as the bytes of one word."""
MOST_EXPANDED = 1024
"""Vertices that an instance expands at most, whose place in shared memory is 12 KiB, or 16."""
THREADS, BLOCKS = 128, 16
"""Of a block, and blocks of a processor."""
SHARED = 32 << 10
"""Bytes of shared memory of a block."""


@dataclass
class Shape:
    """How large instances get."""

    seeds: int
    room: int
    """Vertices that one expands at most."""
    frontier: int
    """Of them at the last hop."""
    edges: int

    def slots(self, hops: int) -> int:
        return 0 if hops == 1 else 2 * self.room

    def width(self, instances: int, hops: int, index: int, processors: int) -> int:
        """Threads for each: few where instances are many, for most threads wait while the first hops are drawn."""
        width = 4
        while width < min(16, self.frontier // 8):
            width *= 2
        while width < min(32, self.frontier) and 2 * width * instances <= processors * THREADS * BLOCKS:
            width *= 2
        while width < 32 and self.shared(width, hops, index) > SHARED:
            width *= 2
        return width

    def shared(self, width: int, hops: int, index: int) -> int:
        """Bytes of shared memory of a block."""
        return THREADS // width * (-(-(self.room * index + 4 * self.slots(hops)) // 8) * 8)


def shape_of(sampler: Fanouts[Any], part: Part, env: Environment) -> Shape | None:
    """How large instances get, if all are small and the whole graph is on this GPU; else None."""
    fanouts, most = sampler.fanouts, MOST_DRAWN if sampler.replace else FEW
    if env.backend.name == "cpu" or part.size > 1 or type(part.vertex_map) is not VertexMap or sampler.burn:
        return None
    if not 1 <= len(fanouts) <= MOST_HOPS or not all(0 <= fanout <= most for fanout in fanouts):
        return None
    if not sampler.instances:
        return None
    seeds = 1 if sampler.one_each else int(np.diff(_bounds(sampler)).max())
    frontiers = [seeds]
    for fanout in fanouts:
        frontiers.append(frontiers[-1] * fanout)
    room = sum(frontiers[:-1])
    shape = Shape(seeds, max(room, 1), frontiers[-2], sum(frontiers[1:]))
    held = shape.shared(32, len(fanouts), part.vertex_map.dtype.itemsize)
    return shape if room <= MOST_EXPANDED and held <= getattr(env.backend, "shared_memory", 0) else None


def drawn_together(
    sampler: Fanouts[Any], part: Part, env: Environment, rows: Csr, sums: Array | None, shape: Shape
) -> dict[str, Array]:
    """The edges of all instances.

    Raises
    ------
    OverBudget, DeadlineExceeded
    """
    xp, dtype, n, hops = env.xp, part.vertex_map.dtype, sampler.instances, len(sampler.fanouts)
    kernels, seeds, bounds = env.kernels("hops", index_t=dtype), sampler.seeds, None
    if sampler.one_each:
        seeds = sampler.of(seeds, sampler.first, sampler.last)
    else:
        of_each = _bounds(sampler)
        seeds = seeds[of_each[0] : of_each[-1]]
        bounds = env.backend.from_host(of_each - of_each[0])
    seeds = env.backend.from_host(seeds.astype(dtype))
    fanouts = np.uint64(sum(fanout << 8 * hop for hop, fanout in enumerate(sampler.fanouts)))
    method = -1 if sampler.bias is None and sampler.method == "auto" else METHODS.index(sampler.method)
    width = shape.width(n, hops, dtype.itemsize, getattr(env.backend, "processors", 1))
    drawing = (
        rows.indptr, rows.indices, sums, fanouts, hops, int(sampler.replace), method,
        np.uint64(sampler.seed & (2**64 - 1)), width, shape.room, shape.slots(hops),
    )  # fmt: skip
    how = {
        "per_item": width, "threads": THREADS, "per_processor": BLOCKS,
        "shared": shape.shared(width, hops, dtype.itemsize),
    }  # fmt: skip
    draw = kernels.hops_draw if method < 0 else kernels.hops_draw_biased
    at_once, made = max(1, LAUNCH // max(shape.edges, 1)), []
    for a in range(0, n, at_once):
        if a:
            env.backend.synchronize()
            env.check_deadline(sampler.name)
        b = min(a + at_once, n)
        begins = (seeds[a:b], None) if bounds is None else (seeds, bounds[a : b + 1])
        room = (b - a) * shape.edges
        drawn = xp.empty(room, dtype), xp.empty(room, dtype), xp.empty((b - a) * hops, np.int32)
        ends = xp.empty(b - a, np.int64)
        draw(b - a, sampler.first + a, *begins, *drawing, shape.edges, *drawn, ends, **how)
        xp.cumsum(ends, out=ends)
        total = int(ends[-1])
        refuse_beyond_memory(env, sampler.name, f"hop {hops - 1}", total, 2 * dtype.itemsize + 12)
        columns = tuple(xp.empty(total, of) for of in (dtype, dtype, np.int32, np.int64))
        kernels.hops_place(b - a, sampler.first + a, hops, shape.edges, *drawn, ends, *columns, per_item=32)
        made.append(columns)
    joined = made[0] if len(made) == 1 else map(xp.concatenate, zip(*made, strict=True))
    return dict(zip(("src", "dst", "hop", "instance"), joined, strict=True))


def _bounds(sampler: Fanouts[Any]) -> np.ndarray:
    return sampler.of(sampler.bounds, sampler.first, sampler.last + 1)
