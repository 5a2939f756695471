"""Independent sets and colourings along a drawn order, proved in linear time, distributed.

Along the order, every vertex must have what the sequential program gives it, if its earlier neighbours have what they
are claimed to have. The first vertex has no earlier neighbours; by induction all vertices have what the sequential
program gives them, which is one answer. Independence, maximality and different colours of neighbours follow.

1. A vertex is a member if and only if none of its earlier neighbours is one.
2. The colour of a vertex is the smallest one that none of its earlier neighbours has: no neighbour has the same colour,
   and the earlier neighbours have as many distinct smaller ones as the colour says.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.coloring import GreedyColoring
from graphdask.algorithms.drawn_order import DrawnOrder
from graphdask.algorithms.independent_set import IndependentSet
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.neighbours import edge_blocks, firsts
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where


@verifies(IndependentSet)
def verify_set(context: RankContext, part: Part, primitive: IndependentSet, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    backend, own = context.backend, result.columns["member"]
    order = DrawnOrder.of(part, context.environment("selective"), primitive.seed)
    (member,) = fetch_ghosts(context.comm, backend, part, [own])
    beside, before = (backend.xp.zeros(part.num_owned, bool) for _ in range(2))
    for block in edge_blocks(backend, part):
        rows = block.rows[member[block.slots] & (block.rows != block.slots)]
        beside[rows] = True
        slots = block.slots[member[block.slots] & (block.rows != block.slots)]
        before[rows[order.precedes(slots, rows)]] = True
    return (
        first_where(part, own & beside, "vertex {vertex} is in the set, and so is one of its neighbours")
        or first_where(part, ~own & ~beside, "vertex {vertex} and its neighbours are all outside the set")
        or first_where(part, ~own & ~before, "vertex {vertex} is outside the set, and no earlier neighbour is in it")
    )


@verifies(GreedyColoring)
def verify_colors(context: RankContext, part: Part, primitive: GreedyColoring, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    backend, xp, own = context.backend, context.backend.xp, result.columns["color"]
    mine = first_where(part, (own < 0) | (own >= part.num_vertices), "vertex {vertex} has no colour")
    if first_of_all(context, mine):
        return mine
    order = DrawnOrder.of(part, context.environment("selective"), primitive.seed, primitive.strategy)
    (color,) = fetch_ghosts(context.comm, backend, part, [own])
    same, smaller = xp.zeros(part.num_owned, bool), xp.zeros(part.num_owned, np.int64)
    for block in edge_blocks(backend, part):
        same[block.rows[(color[block.rows] == color[block.slots]) & (block.rows != block.slots)]] = True
        kept = order.precedes(block.slots, block.rows) & (color[block.slots] < color[block.rows])
        rows, slots = block.rows[kept], block.slots[kept]
        if not len(rows):
            continue
        key = rows.astype(np.int64) * part.num_vertices + color[slots]
        key.sort()
        key = key[firsts(xp, key)] // part.num_vertices
        first = firsts(xp, key)
        begins = xp.flatnonzero(first)
        smaller[key[first]] = xp.diff(xp.append(begins, len(key)))
    return first_where(part, same, "vertex {vertex} has the colour of a neighbour") or first_where(
        part, smaller != own, "vertex {vertex} has not the smallest colour that its earlier neighbours leave"
    )
