"""A triangle count proved by counting again, distributed.

1. No vertex has more triangles than pairs of distinct neighbours.
2. A fixed random sample of the vertices, all of them in a small graph, is counted again in another way: everyone learns
   the neighbours of the vertex, and counts the edges among them in its own rows.
3. All vertices are counted again by another order, so that triangles are found at other vertices and by other ranks.
   Every count must be the same.
4. The counts of all vertices add up to three times the number of triangles.

So every count that was changed, lost or sent wrong is found and named, whatever others are. What 3 assumes is that the
kernel, which is the same, does not make the same error in both orders; 2 does not use it. It takes as long as the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from graphdask.algorithms.triangles import Triangles
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.build import from_cyclic, row_of_each, tally, to_cyclic_positions
from graphdask.partition.ghosts import entries_of, known_slots
from graphdask.partition.neighbours import distinct_blocks, firsts
from graphdask.partition.part import Csr, Part
from graphdask.partition.tuning import PARTITION
from graphdask.verify.table import verifies

SAMPLE = 32
"""Vertices counted again."""


@verifies(Triangles)
def verify(context: RankContext, part: Part, primitive: Triangles, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    count = result.columns["count"]
    degree = distinct_degrees(context, part)
    pairs = degree * (degree - 1) // 2
    mine = first_where(part, (count < 0) | (count > pairs), "vertex {vertex} has a negative count, or more triangles "
                       "than pairs of neighbours")  # fmt: skip
    if first_of_all(context, mine):
        return mine
    mine = check_sample(context, part, 2 * count, "vertex {{vertex}} has {} edges among its neighbours, not {}")
    if first_of_all(context, mine):
        return mine
    mine = check_again(
        context, part, Triangles(again=True), "count", count, "vertex {{vertex}} has {} triangles, not {}"
    )
    if first_of_all(context, mine):
        return mine
    total = 3 * int(result.values["triangles"])
    return check_sum(context, count, total, "the counts of all vertices add up to {}, not to {}")


def sampled(n: int) -> Sequence[int] | np.ndarray:
    """The vertices that are counted again."""
    return range(n) if n <= SAMPLE else np.unique(np.random.default_rng(n).integers(0, n, SAMPLE))


def distinct_degrees(context: RankContext, part: Part) -> Array:
    """How many distinct neighbours each own vertex has, in either direction; int64."""
    xp = context.backend.xp
    degree = xp.zeros(part.num_owned, np.int64)
    for block in distinct_blocks(context.backend, part):
        rows = block.rows - block.rows.dtype.type(block.first)
        degree[block.first : block.last] = tally(context.backend, rows, block.last - block.first)
    return degree


def first_where(part: Part, wrong: Array, message: str) -> Violation | None:
    """The vertex of the smallest id for which `wrong`."""
    places = wrong.nonzero()[0] if len(wrong) else wrong
    return Violation(int(part.ids[places].min()), -1, message) if len(places) else None


def check_sum(context: RankContext, values: Array, expected: int, message: str) -> Violation | None:
    """Whether the values of all ranks add up; all ranks find the same."""
    total = int(values.sum()) if len(values) else 0
    halves = np.array([total >> 32, total & 0xFFFFFFFF], np.int64)
    high, low = (int(x) for x in context.comm.allreduce(halves, "sum"))
    found = (high << 32) + low
    return None if found == expected else Violation(-1, -1, message.format(found, expected))


def check_sample(context: RankContext, part: Part, links: Array, message: str) -> Violation | None:
    """Whether `links`, the directed edges among the neighbours of a vertex, are right for the sampled vertices."""
    chosen = sampled(part.num_vertices)
    found = np.array([_edges_among_neighbours(context, part, int(id_)) for id_ in chosen], np.int64)
    total = context.comm.allreduce(found, "sum")
    for id_, edges in zip(chosen, total.tolist(), strict=True):
        rank, local = part.vertex_map.locate(int(id_))
        if rank == part.rank and int(links[local]) != edges:
            return Violation(int(id_), -1, message.format(int(links[local]), edges))
    return None


def check_again(
    context: RankContext, part: Part, primitive: Triangles, column: str, given: Array, message: str
) -> Violation | None:
    """Whether a column of another run of the primitive is what was given."""
    found = run_primitive(context.comm, part, primitive, context.environment("selective")).columns[column]
    wrong = (given != found).nonzero()[0] if len(found) else found
    if not len(wrong):
        return None
    place = int(wrong[part.ids[wrong].argmin()])
    return Violation(int(part.ids[place]), -1, message.format(int(given[place]), int(found[place])))


def _edges_among_neighbours(context: RankContext, part: Part, id_: int) -> int:
    """Distinct out-edges of this rank's vertices between neighbours of the vertex; every rank must call it."""
    backend, xp = context.backend, context.backend.xp
    rank, local = part.vertex_map.locate(id_)
    positions = part.ids[:0]
    if rank == part.rank:
        pieces = [csr.indices[int(csr.indptr[local]) : int(csr.indptr[local + 1])] for csr in part.directions]
        slots = xp.concatenate(pieces)
        slots = xp.unique(slots[slots != local]) if len(slots) else slots
        positions = from_cyclic(part, to_cyclic_positions(part, slots))
    positions = context.comm.alltoallv([positions if rank == part.rank else positions[:0]] * part.size)[rank]
    if not len(positions):
        return 0
    slots, known = known_slots(backend, part, positions)
    slots = slots[known]
    among = xp.zeros(part.num_slots, bool)
    among[slots] = True
    own = slots[slots < part.num_owned] if len(slots) else slots
    if not len(own):
        return 0
    lengths = part.out.indptr[own + 1] - part.out.indptr[own]
    begins = xp.cumsum(lengths) - lengths
    total = int(lengths.sum())
    if total == 0:
        return 0
    cuts = [*backend.to_host(xp.searchsorted(begins, xp.arange(0, total, PARTITION.block_edges))).tolist(), len(own)]
    edges = 0
    for first, last in pairwise(cuts):
        if first == last:
            continue
        some = own[first:last]
        indptr = xp.concatenate([begins[first:last], xp.asarray([total if last == len(own) else int(begins[last])])])
        neighbours = part.out.indices[entries_of(backend, part.out, some)]
        rows = row_of_each(backend, Csr(indptr - indptr[0], neighbours), 0)
        kept = among[neighbours] & (neighbours != some[rows])
        key = rows[kept].astype(np.int64) * part.num_slots + neighbours[kept]
        if len(key):
            key.sort()
            edges += int(firsts(xp, key).sum())
    return edges
