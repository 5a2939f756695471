"""Walks proved in linear time, distributed.

1. A walk begins at its start, its vertices exist, and nothing follows the last one.
2. Every step is an edge whose bias is above 0; or it goes back to the start or to any vertex, if walks do that; or it
   stays, if they may.
3. A walk that is shorter than asked ended at a vertex without such edges.

The owner of a vertex checks the steps that leave it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Part
from graphdask.sample.sampler import routed
from graphdask.sample.walkers import Walkers, is_whole
from graphdask.verify.table import verifies

BATCH = 1 << 22
"""Steps that are checked together."""


@verifies(Walkers)
def verify(context: RankContext, part: Part, primitive: Walkers, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    mine = shaped(context, part, primitive, result)
    if first_of_all(context, mine):
        return mine
    values = edge_values(context, part, primitive.bias)
    return first_wrong_step(context, part, primitive, result.columns["walks"], values)


def shaped(context: RankContext, part: Part, primitive: Walkers, result: RankResult) -> Violation | None:
    """Return the first walk with a wrong shape, length, start or vertex, whatever its steps are."""
    xp = context.backend.xp
    walks, lengths = result.columns["walks"], result.columns["lengths"]
    bounds = primitive.homes(context.comm.size)
    first, last = int(bounds[context.comm.rank]), int(bounds[context.comm.rank + 1])
    if walks.shape != (last - first, primitive.length + 1) or lengths.shape != (last - first,):
        return Violation(-1, -1, f"walks {first} to {last - 1} have the shapes {walks.shape} and {lengths.shape}")
    never_ends = primitive.restart + primitive.jump > 0
    least = primitive.length if never_ends else 0
    columns = xp.arange(primitive.length + 1)
    inside = columns[None, :] <= lengths[:, None]
    starts = context.backend.from_host(primitive.of(primitive.starts, first, last).astype(np.int64))
    checks = (
        ((lengths < least) | (lengths > primitive.length), "has a length that no walk has"),
        (walks[:, 0] != starts, "does not begin at its start"),
        ((inside & ((walks < 0) | (walks >= part.num_vertices))).any(axis=1), "visits what is no vertex"),
        ((~inside & (walks != -1)).any(axis=1), "goes on behind its end"),
    )
    for wrong, message in checks:
        places = xp.flatnonzero(wrong)
        if len(places):
            place = int(places[0])
            return Violation(int(starts[place]), -1, f"walk {first + place}, from {{vertex}}, {message}")
    return None


def first_wrong_step(
    context: RankContext, part: Part, primitive: Walkers, walks: Array, values: Array | None
) -> Violation | None:
    """Return the first step of a walk that must be an edge whose value is above 0 and is none."""
    rows = max(1, BATCH // max(primitive.length, 1))
    batches = (_questions(primitive, walks[row : row + rows]) for row in range(0, len(walks), rows))
    return first_no_edge(context, part, values, -(-len(walks) // rows), batches)


def first_no_edge(
    context: RankContext, part: Part, values: Array | None, count: int, batches: Iterator[tuple[Array, Array]]
) -> Violation | None:
    """Return the first of (vertices, their successors) that is no edge of a value above 0.

    If the successor is -1, it is the first vertex that has such an edge. Every rank calls it with as many batches as it
    has, which is `count`.
    """
    xp, backend, dtype, found = context.backend.xp, context.backend, part.vertex_map.dtype, None
    ids = part.ids if is_whole(part) else fetch_ghosts(context.comm, backend, part, [part.ids])[0]
    kernels = backend.kernels("walk_check", index_t=dtype, bias_t=np.int32 if values is None else values.dtype)
    biases = xp.zeros(1, np.int32) if values is None else values
    if not is_whole(part):
        count = int(context.comm.allreduce(np.array([count], np.int64), "max")[0])
    for _ in range(count):
        source, target = next(batches, (part.ids[:0], part.ids[:0]))
        local = source
        if not is_whole(part):
            position = part.vertex_map.to_position(backend, source).astype(dtype, copy=False)
            position, target = _to_owners(context, part, position, target)
            local = position - dtype.type(part.first_position)
        wrong = xp.zeros(len(local), np.uint8)
        kernels.walk_check(
            len(local), local, target, part.out.indptr, part.out.indices, biases, int(values is not None), ids, wrong
        )
        places = xp.flatnonzero(wrong)
        if found is None and len(places):
            u, v = int(part.ids[int(local[places[0]])]), int(target[places[0]])
            message = "a walk goes from {vertex} to {other}, where no edge leads that it can take"
            found = Violation(u, v, message if v >= 0 else "a walk ends at {vertex}, which has edges that it can take")
    return found


def _questions(primitive: Any, walks: Array) -> tuple[Array, Array]:
    """Steps that have to be edges, and ends, whose target is -1."""
    source, target = walks[:, :-1], walks[:, 1:]
    asked = source >= 0
    if primitive.jump > 0:
        asked = asked & (target < 0)
    if primitive.restart > 0:
        asked = asked & (target != walks[:, :1])
    if primitive.method == "metropolis":
        asked = asked & (target != source)
    return source[asked], target[asked]


def _to_owners(context: RankContext, part: Part, position: Array, target: Array) -> tuple[Array, Array]:
    if part.size == 1:
        return position, target
    xp, env = context.backend.xp, context.environment("selective")
    owner = xp.searchsorted(context.backend.from_host(part.vertex_map.offsets[1:-1]), position, side="right")
    records, cuts = routed(env, owner, {"position": position, "target": target})
    arrived = []
    for column in records.values():
        pieces = [column[int(cuts[peer]) : int(cuts[peer + 1])] for peer in range(part.size)]
        arrived.append(xp.concatenate(context.comm.alltoallv(pieces)))
    return arrived[0], arrived[1]


def edge_values(context: RankContext, part: Part, bias: str | None) -> Array | None:
    """Return the biases of the edges; None if all edges count."""
    if bias == "degree":
        degrees = part.out.indptr[1:] - part.out.indptr[:-1]
        if not is_whole(part):
            (degrees,) = fetch_ghosts(context.comm, context.backend, part, [degrees])
        return degrees[part.out.indices]
    return part.out.weights if bias == "weight" else None
