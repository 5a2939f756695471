"""A minimum spanning forest proved by the cut property, distributed.

1. Every edge of the result is an edge of the graph: of these ends, this weight and this row.
2. The labels are the smallest ids of the components of the graph, which a search of its own finds.
3. There are as many edges as vertices less components.
4. Edges of the result alone are contracted, tree by tree. Each edge of the result is, among all edges of the graph that
   leave some tree, the first one by weight and row. So it is in every minimum spanning forest for this order of edges;
   that is one, and it has as many edges as 3 says.

The third check shows that nothing is missing. What finds the trees of 4 needs no trust: whichever sets of vertices they
are, the first edge that leaves a set is in the forest. It takes O(m) for each of at most log n rounds.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.lightest import Contraction
from graphdask.algorithms.spanning_forest import SpanningForest
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, RankContext, RankResult, run_primitive
from graphdask.engine.owners import Owners
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.neighbours import edge_blocks
from graphdask.partition.part import Part
from graphdask.verify.table import verifies
from graphdask.verify.triangles import check_sum, first_where


@verifies(SpanningForest)
def verify(context: RankContext, part: Part, primitive: SpanningForest, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env, columns = context.environment("selective"), result.columns
    label, ids = columns["label"], [columns["source"], columns["destination"]]
    n = part.num_vertices
    for end in ids:
        wrong = context.backend.xp.flatnonzero((end < 0) | (end >= n))
        mine = Violation(int(end[wrong[0]]), -1, "an end of an edge is no vertex") if len(wrong) else None
        if first_of_all(context, mine):
            return mine
    found = run_primitive(context.comm, part, ConnectedComponents(), context.environment("selective"))
    mine = first_where(part, found.columns["label"] != label, "vertex {vertex} has another label than its component")
    if first_of_all(context, mine):
        return mine
    roots = int((label == part.ids).sum()) if len(label) else 0
    count = context.backend.xp.asarray([len(columns["row"]) + roots])
    wrong_sum = check_sum(context, count, n, "the edges and components are {} in all, not {}, the vertices")
    if wrong_sum:
        return wrong_sum
    position = part.vertex_map.lookup(context.backend, 2 * len(columns["row"]))
    ends = [position(end).astype(part.vertex_map.dtype) for end in ids]
    mine = _unknown(part, env, ends[0], columns)
    if first_of_all(context, mine):
        return mine
    return _unproved(context, part, env, ends, columns)


def _unknown(part: Part, env: Environment, source: Array, columns: dict[str, Array]) -> Violation | None:
    """An edge of the result that the graph has not. Every rank calls it; owners of the sources have these edges."""
    xp, csr = env.xp, part.out
    (ids,) = env.fetch_ghosts(part, [part.ids])
    came = Owners(part, env).send(source, [columns[name] for name in ("row", "destination", "weight")])
    order = xp.argsort(came[1], kind="stable")
    vertex, row, other, weight = (column[order] for column in came)
    seen = xp.zeros(len(row), bool)
    assert csr.rows is not None
    for block in edge_blocks(env.backend, part):
        begin, end = (int(csr.indptr[place]) for place in (block.first, block.last))
        if not len(row):
            break
        rows = csr.rows[begin:end]
        place = xp.minimum(xp.searchsorted(row, rows), len(row) - 1)
        right = (row[place] == rows) & (vertex[place] == block.rows) & (other[place] == ids[block.slots])
        right &= weight[place] == (1 if csr.weights is None else csr.weights[begin:end])
        seen[place[right]] = True
    wrong = xp.flatnonzero(~seen)
    if not len(wrong):
        return None
    first = int(wrong[0])
    return Violation(int(ids[vertex[first]]), int(other[first]), "the graph has no edge from {vertex} to {other} of "
                     "this row and weight, or it is in the result twice")  # fmt: skip


def _unproved(
    context: RankContext, part: Part, env: Environment, ends: list[Array], columns: dict[str, Array]
) -> Violation | None:
    """An edge of the result that is the first one to leave no tree, or an edge of the graph before such one."""
    xp, weight, row = env.xp, columns["weight"], columns["row"]
    contraction = Contraction(part, env, ends[0], ends[1], weight, row)
    owners, proved = contraction.owners, xp.zeros(len(row), bool)
    while True:
        tree = contraction.root
        grown = contraction.grow()
        if grown is None:
            break
        at_root = xp.zeros(part.num_owned, weight.dtype), xp.full(part.num_owned, -1, np.int64)
        at_root[0][grown["tree"]], at_root[1][grown["tree"]] = grown["weight"], grown["row"]
        lightest = tree, *owners.ask(tree, at_root)
        mine = _lighter(part, env, *lightest)
        if first_of_all(context, mine):
            return mine
        one, other = (owners.ask(end, lightest) for end in ends)
        takes = [(each[1] == weight) & (each[2] == row) for each in (one, other)]
        proved |= (one[0] != other[0]) & (takes[0] | takes[1])
    wrong = xp.flatnonzero(~proved)
    if not len(wrong):
        return None
    first = int(wrong[0])
    return Violation(int(columns["source"][first]), int(columns["destination"][first]), "the edge from {vertex} to "
                     "{other} closes a cycle of the result")  # fmt: skip


def _lighter(part: Part, env: Environment, trees: Array, weight: Array, row: Array) -> Violation | None:
    """An edge that leaves a tree and comes before the edge that the tree took, by weight and row."""
    xp, csr = env.xp, part.out
    tree, ids = env.fetch_ghosts(part, [trees, part.ids])
    assert csr.rows is not None
    for block in edge_blocks(env.backend, part):
        begin, end = (int(csr.indptr[place]) for place in (block.first, block.last))
        limit, first = weight[block.rows], row[block.rows]
        weights = xp.ones(end - begin, np.int64) if csr.weights is None else csr.weights[begin:end]
        before = (weights < limit) | ((weights == limit) & (csr.rows[begin:end] < first))
        bad = xp.flatnonzero(before & (first >= 0) & (tree[block.rows] != tree[block.slots]))
        if len(bad):
            vertex, other = int(ids[block.rows[bad[0]]]), int(ids[block.slots[bad[0]]])
            return Violation(vertex, other, "the edge from {vertex} to {other} can replace a heavier one of the result")
    return None
