"""Articulation points, bridges and biconnected components, found again from another search tree, distributed.

The search begins at the largest id of each connected component instead of the smallest, so trees, numbers of subtrees
and the edges that are left out are others, and what does not depend on the tree must be the same:

1. The articulation points.
2. The bridges by their rows and ends, and the components without them.
3. The sets of edges that have one label: no label of the result is that of two components, and no component has two
   labels. Labels and parents of vertices belong to the first tree, and are found again from that.

Every wrong value is found. What is assumed is that both trees do not lead to the same error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms._biconnected import Biconnected
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, RankContext, RankResult, run_primitive
from graphdask.engine.owners import Owners
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where

NOT_THESE = Violation(-1, -1, "the rows or labels of edges are others when they are found again")


@verifies(Biconnected)
def verify(context: RankContext, part: Part, primitive: Biconnected, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    kind, columns = primitive.result_type, result.columns

    def found(again: bool) -> dict[str, Array]:
        env = context.environment("selective")
        return run_primitive(context.comm, part, Biconnected(kind, again), env).columns

    env, other = context.environment("selective"), found(again=True)
    if kind.wanted == "components":
        return _components(context, part, env, columns, found(again=False), other)
    name, message = {
        "points": ("articulation", "vertex {vertex} is an articulation point, or is none, unlike the second time"),
        "bridges": ("label", "vertex {vertex} is in another component without bridges when it is found again"),
    }[kind.wanted]  # fmt: skip
    mine = first_where(part, columns[name] != other[name], message)
    if kind.wanted == "points" or first_of_all(context, mine):
        return mine
    return _bridges(part, env, columns, other)


def _bridges(part: Part, env: Environment, columns: dict[str, Array], other: dict[str, Array]) -> Violation | None:
    """Compare the bridges, at the owners of their sources."""
    xp, owners, kept = env.xp, Owners(part, env), []
    for each in (columns, other):
        known = (each["source"] >= 0) & (each["source"] < part.num_vertices)
        source = xp.where(known, each["source"], each["source"].dtype.type(0))
        at = part.vertex_map.lookup(env.backend, len(source))(source).astype(part.vertex_map.dtype)
        came = owners.send(at, [each[name] for name in ("row", "source", "destination")])[1:]
        order = xp.argsort(came[0], kind="stable")
        kept.append([column[order] for column in came])
    (row, source, end), (rows, sources, ends) = kept
    if len(row) != len(rows):
        return Violation(-1, -1, f"{len(row)} bridges are given where {len(rows)} are found again")
    wrong = xp.flatnonzero((row != rows) | (source != sources) | (end != ends))
    if not len(wrong):
        return None
    first = int(wrong[0])
    return Violation(int(sources[first]), int(ends[first]), "the bridge from {vertex} to {other} is given otherwise")


def _components(
    context: RankContext, part: Part, env: Environment, columns: dict[str, Array], same: dict[str, Array],
    other: dict[str, Array],
) -> Violation | None:  # fmt: skip
    xp = env.xp
    mine = None
    for name, message in (
        ("parent", "vertex {vertex} has another parent when it is found again"),
        ("label", "vertex {vertex} has another component when it is found again"),
    ):
        mine = mine or first_where(part, columns[name] != same[name], message)
    for name in ("row", "edge_label"):
        given, expected = columns[name], same[name]
        if mine is None and (len(given) != len(expected) or bool((given != expected).any())):
            mine = NOT_THESE
    if first_of_all(context, mine):
        return mine
    labels = _positions(part, env, columns["edge_label"]), _positions(part, env, other["edge_label"])
    owners, most = Owners(part, env), part.num_vertices
    for one, another in (labels, labels[::-1]):
        values = another.astype(np.int64)
        least, last = owners.least(one, values), most - owners.least(one, most - values)
        wrong = (least < most) & (least != last)
        mine = first_where(part, xp.asarray(wrong), "the component {vertex} is not one when it is found again")
        if first_of_all(context, mine):
            return mine
    return None


def _positions(part: Part, env: Environment, ids: Array) -> Any:
    return part.vertex_map.lookup(env.backend, len(ids))(ids).astype(part.vertex_map.dtype)
