"""Induced subgraphs proved in n log n, distributed: they have all edges between their vertices, and no other.

1. Both ends of every edge are vertices of its subgraph. An undirected edge stands once, at its lower end.
2. Edges from u to v in a subgraph have weights that edges from u to v in the partition have, in ascending order, so
   none is there more often than in the graph.
3. From every vertex of a subgraph as many edges lead to vertices of it as the owner counts in its row. So none lacks.

Which vertices these are is the caller's choice, or proved by what chose them. Edges are looked up among sorted pairs;
the marks by which they were found have no part in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Part
from graphdask.sample.traversal import ids_of_slots
from graphdask.subgraphs.rows import places_in, row_blocks
from graphdask.subgraphs.selected import Selected, own_rows, set_keys
from graphdask.verify.table import verifies


@verifies(Selected)
def verify(context: RankContext, part: Part, primitive: Selected, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env, xp = context.environment("selective"), context.backend.xp
    members, instances = primitive.pairs(env, part.vertex_map.dtype)
    keys = set_keys(part, instances, members)
    src, dst, instance = (result.columns[name] for name in ("src", "dst", "instance"))
    wrong = (instance < 0) | (instance >= primitive.instances)
    wrong |= (src < 0) | (src >= part.num_vertices) | (dst < 0) | (dst >= part.num_vertices)
    if not primitive.directed(part):
        wrong |= src > dst
    found = first_edge(wrong, src, dst, "the edge from {vertex} to {other} is of no subgraph, or turned round")
    if found:
        return found
    inside = (
        places_in(xp, keys, set_keys(part, instance, src))[1] & places_in(xp, keys, set_keys(part, instance, dst))[1]
    )
    found = first_edge(~inside, src, dst, "the edge from {vertex} to {other} has an end that is not in its subgraph")
    found = found or missing(context, part, result)
    if found:
        return found
    rows, own = own_rows(part, env, part.vertex_map.to_position(env.backend, members))
    expected, there = xp.zeros(len(rows), np.int64), keys[own]
    for of_each, places in row_blocks(env, part.out, rows):
        ends = ids_of_slots(part, env, part.out.indices[places])
        kept = places_in(xp, keys, set_keys(part, instances[own][of_each], ends))[1]
        if not primitive.directed(part):
            kept &= part.ids[rows][of_each] <= ends
        first = int(of_each[0])
        counts = xp.bincount(of_each[kept] - first, minlength=int(of_each[-1]) - first + 1)
        expected[first : first + len(counts)] += counts
    listed = set_keys(part, instance, src)
    listed.sort()
    counts = xp.searchsorted(listed, there, side="right") - xp.searchsorted(listed, there)
    lost = xp.flatnonzero(counts != expected) if len(counts) else counts
    if len(lost):
        vertex, has = int(members[own][lost[0]]), (int(counts[lost[0]]), int(expected[lost[0]]))
        return Violation(vertex, -1, f"vertex {{vertex}} has {has[0]} edges in its subgraph, not {has[1]}")
    return None


def missing(context: RankContext, part: Part, result: RankResult) -> Violation | None:
    """Return the first edge of a result that the partition has not, not so often, or with another weight."""
    env, xp, csr = context.environment("selective"), context.backend.xp, part.out
    src, dst, instance = (result.columns[name] for name in ("src", "dst", "instance"))
    rows, own = own_rows(part, env, part.vertex_map.to_position(env.backend, src))
    if len(own) < len(src):
        elsewhere = xp.ones(len(src), bool)
        elsewhere[own] = False
        return first_edge(elsewhere, src, dst, "the edge from {vertex} to {other} is not where {vertex} is")
    ends = ids_of_slots(part, env, csr.indices)
    stored = set_keys(part, row_of_each(env.backend, csr, 0).astype(np.int64), ends)
    order = _sorted(xp, [*([] if csr.weights is None else [csr.weights]), stored])
    stored = stored[order]
    keys, weights = set_keys(part, rows.astype(np.int64), dst), result.columns.get("weight")
    asked = _sorted(xp, [*([] if weights is None else [weights]), keys, instance])
    keys, sets = keys[asked], instance[asked]
    begins = xp.ones(len(keys), bool)
    begins[1:] = (keys[1:] != keys[:-1]) | (sets[1:] != sets[:-1])
    numbers = xp.arange(len(keys))
    again = numbers - numbers[begins][xp.cumsum(begins) - 1] if len(keys) else numbers
    places = xp.searchsorted(stored, keys) + again
    known = places < len(stored)
    if len(stored):
        places = xp.minimum(places, len(stored) - 1)
        known &= stored[places] == keys
        if weights is not None and csr.weights is not None:
            known &= csr.weights[order][places] == weights[asked]
    return first_edge(
        ~known, src[asked], dst[asked], "the graph has no edge from {vertex} to {other}, not as often, or not of its "
        "weight",
    )  # fmt: skip


def first_edge(wrong: Array, src: Array, dst: Array, message: str) -> Violation | None:
    """The violation of the first edge for which `wrong`."""
    places = wrong.nonzero()[0] if len(wrong) else wrong
    return Violation(int(src[places[0]]), int(dst[places[0]]), message) if len(places) else None


def _sorted(xp: Any, columns: list[Array]) -> Array:
    """The order of rows by columns, the last one first."""
    order = xp.argsort(columns[0], kind="stable")
    for column in columns[1:]:
        order = order[xp.argsort(column[order], kind="stable")]
    return order
