"""Articulation points, bridges and biconnected components, proved by blocks (`blocks.py`), distributed.

What has blocks is proved as it is. For the others, the proof finds blocks, proves these, and derives the answer:

1. An edge has the label of its class, and each edge but self-loops is listed once, with its row.
2. A vertex is an articulation point if its edges are of two classes or more.
3. An edge is a bridge if it is the only one of its class, so no parallel edge is. Vertices have one label exactly if
   other edges than bridges connect them, and it is the smallest of their ids.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.algorithms.articulation import ArticulationPoints
from graphdask.algorithms.biconnected import BiconnectedComponents
from graphdask.algorithms.blocks import Biconnected, Blocks, with_edges
from graphdask.algorithms.bridges import Bridges
from graphdask.algorithms.components import ConnectedComponents
from graphdask.device.backend import Array
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.owners import least_at
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.verify import components
from graphdask.verify.blocks import BlocksProof, positions
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where


class _Witness(Biconnected):
    """Blocks as labels and parents of own vertices."""

    name = "blocks for a proof"

    def found(self, blocks: Blocks) -> dict[str, Any]:
        label = blocks.env.xp.where(blocks.child, blocks.label, blocks.label.dtype.type(-1))
        return {"label": label, "parent": blocks.part.vertex_map.to_id(blocks.env.backend, blocks.tree.parent)}


def _proof_of_found(context: RankContext, part: Part) -> BlocksProof:
    """Return the proof of blocks that it finds by itself."""
    found = run_primitive(context.comm, part, _Witness(), context.environment("selective")).columns
    proof = BlocksProof(context, part, found["label"], found["parent"])
    if proof.violation:
        message = "of the blocks that the proof found: " + proof.violation.message
        proof.violation = replace(proof.violation, message=message)
    return proof


@verifies(BiconnectedComponents)
def verify(context: RankContext, part: Part, primitive: Biconnected, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    proof = BlocksProof(context, part, result.columns["label"], result.columns["parent"])
    return proof.violation if proof.failed else _other_edges(context, part, proof, result)


@verifies(ArticulationPoints)
def verify_points(context: RankContext, part: Part, primitive: Biconnected, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    proof = _proof_of_found(context, part)
    return proof.violation if proof.failed else _other_points(context, part, proof, result)


@verifies(Bridges)
def verify_bridges(context: RankContext, part: Part, primitive: Biconnected, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    proof = _proof_of_found(context, part)
    return proof.violation if proof.failed else _other_bridges(context, part, proof, result)


def _other_edges(context: RankContext, part: Part, proof: BlocksProof, result: RankResult) -> Violation | None:
    xp, csr = context.backend.xp, part.out
    (ids,) = proof.env.fetch_ghosts(part, [part.ids])
    one, other = ids[proof.row], ids[csr.indices]
    kept = one < other
    assert csr.rows is not None
    row, edge_class, ends = csr.rows[kept], proof.edge_class[kept], (one[kept], other[kept])
    given, label = result.columns["row"], result.columns["edge_label"]
    rows = 1 - proof.env.least(-(int(csr.rows.max()) if len(csr.rows) else -1))
    if len(given) != len(row) or len(label) != len(row) or result.values["rows"] != rows:
        return Violation(-1, -1, f"the labels of {len(label)} edges are given where there are {len(row)}, or of "
                         f"{result.values['rows']} rows where there are {rows}")  # fmt: skip
    wrong = xp.flatnonzero((given != row) | (label != edge_class))
    if not len(wrong):
        return None
    first = int(wrong[0])
    return Violation(int(ends[0][first]), int(ends[1][first]), f"the edge from {{vertex}} to {{other}} has row "
                     f"{int(given[first])} or component {int(label[first])} instead of {int(row[first])} and "
                     f"{int(edge_class[first])}, in numbers of vertices")  # fmt: skip


def _other_points(context: RankContext, part: Part, proof: BlocksProof, result: RankResult) -> Violation | None:
    xp, most = context.backend.xp, part.num_vertices
    simple = proof.row != part.out.indices
    row, classes = proof.row[simple], proof.edge_class[simple].astype(np.int64)
    first = least_at(xp, part.num_owned, row, classes)
    several = (first < most) & (first != most - least_at(xp, part.num_owned, row, most - classes))
    given = result.columns["articulation"]
    return first_where(
        part, ~given & several, "vertex {vertex} is in several biconnected components, but is no articulation point"
    ) or first_where(part, given & ~several, "vertex {vertex} is an articulation point, but in one biconnected "
                     "component at most")  # fmt: skip


def _other_bridges(context: RankContext, part: Part, proof: BlocksProof, result: RankResult) -> Violation | None:
    env, csr = proof.env, part.out
    (ids,) = env.fetch_ghosts(part, [part.ids])
    one, other = ids[proof.row], ids[csr.indices]
    once = one < other
    at = positions(part, env, proof.edge_class[once])
    count = proof.owners.total(at, context.backend.xp.ones(len(at), np.int64))
    at = positions(part, env, proof.edge_class)
    bridge = (proof.owners.ask(at, [count])[0] == 1) & (one != other)
    assert csr.rows is not None
    expected = {"row": csr.rows, "source": one, "destination": other}
    expected = {name: column[bridge & once] for name, column in expected.items()}
    mine = _listed(proof, {name: result.columns[name] for name in expected}, expected)
    if first_of_all(context, mine):
        return mine
    without = with_edges(part, csr.only(context.backend.xp, ~bridge))
    label = result.columns["label"]
    return components.verify(context, without, ConnectedComponents(), RankResult({"label": label}))


def _listed(proof: BlocksProof, given: dict[str, Array], expected: dict[str, Array]) -> Violation | None:
    """Compare bridges, at the owners of their smaller ends. Every rank calls it."""
    xp, part, kept = proof.env.xp, proof.part, []
    for each in (given, expected):
        source = each["source"]
        source = xp.where((source >= 0) & (source < part.num_vertices), source, source.dtype.type(0))
        came = proof.owners.send(positions(part, proof.env, source), list(each.values()))[1:]
        order = xp.argsort(came[0], kind="stable")
        kept.append([column[order] for column in came])
    (row, *ends), (rows, *bridges) = kept
    right = xp.zeros(len(row), bool)
    listed = xp.zeros(len(rows), bool)
    if len(rows):
        place = xp.minimum(xp.searchsorted(rows, row), len(rows) - 1)
        right = (rows[place] == row) & (bridges[0][place] == ends[0]) & (bridges[1][place] == ends[1])
        right[1:] &= row[1:] != row[:-1]
        listed[place[right]] = True
    for wrong, (one, other), message in (
        (~right, ends, "the edge from {vertex} to {other} is no bridge, or is listed twice, or has another row"),
        (~listed, bridges, "the bridge from {vertex} to {other} is not listed"),
    ):
        places = xp.flatnonzero(wrong)
        if len(places):
            return Violation(int(one[places[0]]), int(other[places[0]]), message)
    return None
