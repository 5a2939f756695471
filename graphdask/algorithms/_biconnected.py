"""Biconnected components by a search tree, whose subtrees are reached by pointers to ancestors at distances 2**k.

A breadth-first search from the smallest id of each component gives every other vertex a parent. Vertices are numbered
in the order in which a walk through the tree enters them, so a subtree is a range of numbers. A vertex is *apart* if no
edge leads from its subtree out of the subtree of its parent. Without the edges between such vertices and their
parents, two vertices are connected exactly if the edges to their parents are in one biconnected component. No edge
joins a vertex to an ancestor but its parent, because the tree is one of breadth-first search.

Numbers of subtrees, and what their edges lead to, are summed up in log(depth) rounds: in round k every vertex adds what
it knows to the ancestor at distance 2**k.

Sources: Tarjan, Vishkin, An efficient parallel biconnectivity algorithm (1985); Dong, Wang, Gu, Sun, Provably fast and
space-efficient parallel biconnectivity (FAST-BCC, 2023), Section 4, whose fence edges these are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.bfs import SearchFrom
from graphdask.algorithms.components import ConnectedComponents
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive
from graphdask.engine.owners import Owners, least_at
from graphdask.partition.build import tally
from graphdask.partition.neighbours import edge_blocks, firsts
from graphdask.partition.part import Part, Tables


@dataclass
class Tree:
    """A search tree, of own vertices; positions stand for vertices."""

    parent: Array
    """A root is its own parent."""
    depth: Array
    jumps: list[Array]
    """The ancestors at distances 1, 2, 4, ...; what stands for vertices that are not so deep has no meaning."""
    owners: Owners

    @classmethod
    def of(cls, part: Part, env: Environment, roots: Array) -> Tree:
        """Search from roots, slots of own vertices."""
        found, owners = env.run(part, SearchFrom(roots)).columns, Owners(part, env)
        parent = part.vertex_map.lookup(env.backend, part.num_owned)(found["parent"]).astype(part.vertex_map.dtype)
        depth = found["depth"]
        deepest = -env.least(-(int(depth.max()) if len(depth) else 0))
        jumps = [parent]
        while 2 ** len(jumps) <= deepest:
            jumps += owners.ask(jumps[-1], [jumps[-1]])
        return cls(parent, depth, jumps, owners)

    def of_subtrees(self, values: Array, collect: Callable[..., Array], join: Callable[..., Array]) -> Array:
        """Values of all vertices of each subtree, joined."""
        for k, jump in enumerate(self.jumps):
            deep = self.depth >= 2**k
            values = join(values, collect(jump[deep], values[deep]))
        return values

    def numbers(self, env: Environment) -> tuple[Array, Array]:
        """The number of each vertex in its tree, by which a subtree is a range, and the size of its subtree; int64."""
        xp, owners = env.xp, self.owners
        size = self.of_subtrees(xp.ones(len(self.parent), np.int64), owners.total, xp.add)
        child = self.depth > 0
        parent, position, sizes = owners.send(self.parent[child], [owners.own()[child], size[child]])
        order = xp.argsort(position, kind="stable")
        order = order[xp.argsort(parent[order], kind="stable")]
        ends = xp.cumsum(sizes[order])
        first = firsts(xp, parent[order])
        before = xp.concatenate([ends[:1] * 0, ends])[:-1]
        start = before[xp.flatnonzero(first)][xp.cumsum(first) - 1] if len(order) else before
        number = xp.zeros(len(size), np.int64)
        vertex, given = owners.send(position[order], [before - start + 1])
        number[vertex] = given
        for k, jump in enumerate(self.jumps):
            deep = self.depth >= 2**k
            (more,) = owners.ask(jump[deep], [number])
            number = number.copy()
            number[deep] += more
        return number, size


class Biconnected(Primitive[None]):
    """The primitive, for undirected graphs; all is done in `result`, which runs others.

    Parameters
    ----------
    result_type : type
        The Result, whose `wanted` is "points", "bridges" or "components".
    again : bool
        Search from the largest id of each component, as the proof does.
    """

    name = "biconnected components"
    columns: ClassVar[Mapping[str, Any]] = {}
    queues = False
    edge_rows = True

    def __init__(self, result_type: Any, again: bool = False):
        self.result_type, self.again = result_type, again

    def memory(self, part: Part, allocation: Allocation) -> int:
        return 32 * part.out.num_edges + 250 * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[None, Messages]:
        return None, Messages(part.ids[:0], part.ids[:0], {}, False)

    def superstep(self, part: Part, state: None, inbox: Inbox, env: Environment) -> Messages:
        raise AssertionError("nothing is sent")

    def result(self, part: Part, state: None, env: Environment) -> dict[str, Any]:
        label = env.run(part, ConnectedComponents()).columns["label"]
        roots = env.xp.flatnonzero(label == part.ids)
        if self.again:
            owners, to_position = Owners(part, env), part.vertex_map.lookup(env.backend, 2 * part.num_owned)
            last = owners.least(to_position(label), part.num_vertices - 1 - part.ids.astype(np.int64))
            last = part.num_vertices - 1 - last[roots]
            (roots,) = owners.send(to_position(last.astype(part.vertex_map.dtype)), [])
        return _Blocks(part, env, Tree.of(part, env, roots.astype(part.vertex_map.dtype))).found(
            self.result_type.wanted
        )


class _Blocks:
    """The biconnected components that a tree shows."""

    def __init__(self, part: Part, env: Environment, tree: Tree):
        self.part, self.env, self.tree = part, env, tree
        self.at = env.fetch_ghosts(part, [tree.owners.own(), tree.parent])
        self.child = tree.depth > 0
        self.apart = self._apart()
        kept = self._kept(self.apart)
        csr = part.out.only(env.xp, kept)
        self.alone = csr.indptr[1:] == csr.indptr[:-1]
        self.label = self._labels(csr)

    def _apart(self) -> Array:
        xp, part, env, tree = self.env.xp, self.part, self.env, self.tree
        number, size = tree.numbers(env)
        (numbers,) = env.fetch_ghosts(part, [number])
        n, low, high = part.num_vertices, number, part.num_vertices - number
        for block in edge_blocks(env.backend, part):
            beyond = numbers[block.slots]
            low = xp.minimum(low, least_at(xp, len(low), block.rows, beyond))
            high = xp.minimum(high, least_at(xp, len(low), block.rows, n - beyond))
        low = tree.of_subtrees(low, tree.owners.least, xp.minimum)
        high = n - tree.of_subtrees(high, tree.owners.least, xp.minimum)
        first, length = tree.owners.ask(tree.parent, [number, size])
        return self.child & (first <= low) & (high < first + length)

    def _ways(self, block: Any) -> tuple[Array, Array]:
        """Which edges lead to the parent, and which to a child."""
        position, parent = self.at
        other = block.rows != block.slots
        up = other & (parent[block.rows] == position[block.slots])
        return up, other & (parent[block.slots] == position[block.rows])

    def _kept(self, cut: Array) -> Array:
        """Mask of the stored edges without self-loops and edges between the vertices in `cut` and their parents."""
        xp, part, env = self.env.xp, self.part, self.env
        (cuts,) = env.fetch_ghosts(part, [cut])
        kept = [xp.zeros(0, bool)]
        for block in edge_blocks(env.backend, part):
            up, down = self._ways(block)
            kept.append((block.rows != block.slots) & ~(up & cuts[block.rows]) & ~(down & cuts[block.slots]))
        return xp.concatenate(kept)

    def _labels(self, csr: Any) -> Array:
        """The smallest ids of components of these edges alone."""
        some = replace(self.part, out=csr, inward=csr, tables=Tables())
        return self.env.run(some, ConnectedComponents()).columns["label"]

    def bridges(self) -> Array:
        """Whether the edge to the parent is a bridge, of own vertices."""
        xp, ups = self.env.xp, self.env.xp.zeros(self.part.num_owned, np.int64)
        for block in edge_blocks(self.env.backend, self.part):
            ups += tally(self.env.backend, block.rows[self._ways(block)[0]], len(ups))
        return xp.asarray(self.apart & self.alone & (ups == 1))

    def points(self) -> Array:
        """Whether own vertices are articulation points."""
        owners, most = self.tree.owners, self.part.num_vertices
        (above,) = owners.ask(self.tree.parent, [self.label])
        below = self.child & (above != self.label)  # the parent joins the component to others
        parent, label = self.tree.parent[below], self.label[below].astype(np.int64)
        first, last = owners.least(parent, label), most - owners.least(parent, most - label)
        return (first < most) & (self.child | (first != last))

    def found(self, wanted: str) -> dict[str, Any]:
        """The columns of a result."""
        if wanted == "points":
            return {"articulation": self.points()}
        if wanted == "bridges":
            bridge = self.bridges()
            return {"label": self._labels(self.part.out.only(self.env.xp, self._kept(bridge)))} | self._edges(bridge)
        label = self.env.xp.where(self.child, self.label, self.label.dtype.type(-1))
        parent = self.part.vertex_map.to_id(self.env.backend, self.tree.parent)
        return {"label": label, "parent": parent} | self._edges(None)

    def _edges(self, bridge: Array | None) -> dict[str, Any]:
        """Rows and ends of bridges; or of all edges but self-loops, once, rows and labels."""
        xp, part, env = self.env.xp, self.part, self.env
        ids, label = env.fetch_ghosts(part, [part.ids, self.label])
        csr = part.out
        assert csr.rows is not None
        first, second, rows = [ids[:0]], [ids[:0]], [csr.rows[:0]]
        for block in edge_blocks(env.backend, part):
            begin, end = (int(csr.indptr[row]) for row in (block.first, block.last))
            one, other = block.rows, block.slots
            up, down = self._ways(block)
            if bridge is not None:
                kept = up & bridge[one]
                first.append(xp.minimum(ids[one[kept]], ids[other[kept]]))
                second.append(xp.maximum(ids[one[kept]], ids[other[kept]]))
            else:
                kept = ids[one] < ids[other]
                first.append(xp.where(down, label[other], label[one])[kept])
            rows.append(csr.rows[begin:end][kept])
        joined: dict[str, Any] = {"row": xp.concatenate(rows)}
        if bridge is None:
            last = int(joined["row"].max()) if len(joined["row"]) else -1
            return joined | {"edge_label": xp.concatenate(first), "rows": 1 - env.least(-last)}
        return joined | {"source": xp.concatenate(first), "destination": xp.concatenate(second)}
