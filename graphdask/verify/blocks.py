"""Blocks, the biconnected components of an undirected graph, proved in linear time, distributed.

The answer names a parent of each vertex and a class of the edge to it; the class of any other edge is that of either
end. The vertices of a class are those that have its label, and its head, the parent of the highest of them.

1. Parents are those of breadth-first search from the smallest id of each of the c components of the graph: distances
   satisfy their equations, and each parent is the smallest id that is nearer to the root.
2. A class has one head. So its tree edges connect it, and the sum of (vertices - 1) over all classes is n - c: classes
   that share vertices form a forest, and no cycle leads through two classes. Other edges join vertices of one label, so
   they too are within a class. Therefore each block lies within one class.
3. A *link* is an edge whose ends have parents' edges on one cycle: an edge beside the tree, whose ends breadth-first
   search makes no ancestors of each other, or one from a child to a parent p if an edge leads from the child's subtree
   out of that of p. Links connect the vertices of a label. Therefore each class lies within one block.
4. For 3, subtrees are ranges of numbers: those of the children fill that of the parent, except for its first. The least
   and greatest number that edges of a subtree lead to satisfy their equations, which have one solution.
5. A label is the smallest id that has it.

Distances, numbers and what edges lead to come from the code of the algorithm. They are witnesses: each is checked by
equations between neighbours, which take a fixed number of rounds, and nothing is proved by finding it twice.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.blocks import with_edges
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.search_tree import SearchTree, numbers_beside
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, RankContext, RankResult
from graphdask.engine.owners import Owners, least_at, sum_at
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.build import row_of_each
from graphdask.partition.neighbours import edge_blocks, firsts
from graphdask.partition.part import Part
from graphdask.verify import components
from graphdask.verify.triangles import first_where


class BlocksProof:
    """The proof of labels and parents of own vertices, as ids; and the class of each stored edge. Every rank makes one.

    Attributes
    ----------
    failed : bool
        Whether any rank found a violation.
    violation : Violation or None
        That of this rank.
    row : array
        The own vertex of each stored edge.
    edge_class : array
        Its class, an id; without meaning for self-loops.
    """

    def __init__(self, context: RankContext, part: Part, label: Array, parent: Array):
        self.context, self.part, self.env = context, part, context.environment("selective")
        self.owners = Owners(part, self.env)
        self.label, self.parent = label, parent
        self.failed = any(self._fails(step()) for step in (self._columns, self._components, self._tree, self._numbers,
                                                           self._classes, self._links))  # fmt: skip

    def _fails(self, mine: Violation | None) -> bool:
        self.violation = mine
        return first_of_all(self.context, mine)

    def _columns(self) -> Violation | None:
        part, label, parent = self.part, self.label, self.parent
        n, self.child = part.num_vertices, parent != part.ids
        wrong = (parent < 0) | (parent >= n) | (label < -1) | (label >= n) | (self.child != (label >= 0))
        return first_where(part, wrong, "vertex {vertex} has a parent or a label that is no vertex, or one of both")

    def _components(self) -> Violation | None:
        """Each component of the graph has one root, its smallest id."""
        self.component = self.env.run(self.part, ConnectedComponents()).columns["label"]
        return self._labels(self.part, self.component) or first_where(
            self.part, self.child == (self.component == self.part.ids),
            "vertex {vertex} is a root, or has a parent, unlike the smallest id of a component",
        )  # fmt: skip

    def _labels(self, part: Part, label: Array) -> Violation | None:
        return components.verify(self.context, part, ConnectedComponents(), RankResult({"label": label}))

    def _tree(self) -> Violation | None:
        part, env, xp = self.part, self.env, self.env.xp
        self.tree = SearchTree.of(part, env, xp.flatnonzero(~self.child).astype(part.vertex_map.dtype))
        depth, ids = env.fetch_ghosts(part, [self.tree.depth, part.ids])
        own = depth[: part.num_owned]
        nearest, nearer = xp.full_like(own, part.num_vertices), xp.full_like(part.ids, part.num_vertices)
        for block in edge_blocks(env.backend, part):
            beyond = depth[block.slots]
            beyond[beyond < 0] = part.num_vertices
            nearest = xp.minimum(nearest, least_at(xp, len(own), block.rows, beyond))
            closer = beyond < own[block.rows]
            nearer = xp.minimum(nearer, least_at(xp, len(own), block.rows[closer], ids[block.slots[closer]]))
        wrong = xp.where(self.child, (own <= 0) | (nearest != own - 1), own != 0)
        return first_where(
            part, wrong, "the distance of vertex {vertex} from its root is not one more than its nearest neighbour's"
        ) or first_where(
            part, self.child & (self.parent != nearer),
            "the parent of vertex {vertex} is not its smallest neighbour that is nearer to the root",
        )  # fmt: skip

    def _numbers(self) -> Violation | None:
        """Subtrees are ranges of numbers, and what their edges lead to; sets which vertices have linked parents."""
        part, env, xp, tree, owners = self.part, self.env, self.env.xp, self.tree, self.owners
        self.above = part.vertex_map.lookup(env.backend, part.num_owned)(self.parent).astype(part.vertex_map.dtype)
        above, child = self.above[self.child], self.child
        number, size = tree.numbers(env)
        least, greatest = tree.reach(part, env, number)
        vertex, first, length = owners.send(above, [number[child], size[child]])
        order = xp.argsort(first, kind="stable")
        order = order[xp.argsort(vertex[order], kind="stable")]
        vertex, first, length = vertex[order], first[order], length[order]
        ends = xp.concatenate([first[:1], (first + length)[:-1]])
        begins = xp.where(firsts(xp, vertex), number[vertex] + 1, ends)
        wrong = size != 1 + sum_at(xp, part.num_owned, vertex, length)
        wrong[vertex[first != begins]] = True
        some, others = numbers_beside(part, env, number)
        n = part.num_vertices
        some = xp.minimum(some, owners.least(above, least[child]))
        others = n - xp.minimum(n - others, owners.least(above, n - greatest[child]))
        wrong |= (some != least) | (others != greatest)
        first, length = owners.ask(self.above, [number, size])
        self.linked = child & ((least < first) | (greatest >= first + length))
        return first_where(part, wrong, "the numbers of the subtree of vertex {vertex}, by which the proof goes, are "
                           "wrong")  # fmt: skip

    def _classes(self) -> Violation | None:
        """Each class has one head."""
        part, env, owners, most = self.part, self.env, self.owners, self.part.num_vertices
        (label,) = owners.ask(self.above, [self.label])
        highest = self.child & (label != self.label)
        head = self.parent[highest].astype(np.int64)
        at = positions(part, env, self.label[highest])
        first, last = owners.least(at, head), most - owners.least(at, most - head)
        return first_where(part, (first < most) & (first != last),
                           "the component {vertex} has two vertices nearest to the root")  # fmt: skip

    def _links(self) -> Violation | None:
        """Links connect exactly the vertices of a label, which is the smallest of their ids."""
        part, env, xp, csr = self.part, self.env, self.env.xp, self.part.out
        named = xp.where(self.child, self.label, part.ids)
        ids, above, linked, label = env.fetch_ghosts(part, [part.ids, self.parent, self.linked, named])
        self.row, slot = row_of_each(env.backend, csr, 0), csr.indices
        up, down = above[self.row] == ids[slot], above[slot] == ids[self.row]
        links = (self.row != slot) & (~up | linked[self.row]) & (~down | linked[slot])
        self.edge_class = xp.where(down, label[slot], label[self.row])
        return self._labels(with_edges(part, csr.only(xp, links)), named)


def positions(part: Part, env: Environment, ids: Array) -> Array:
    """Where vertices stand."""
    at: Array = part.vertex_map.lookup(env.backend, len(ids))(ids)
    return at.astype(part.vertex_map.dtype)
