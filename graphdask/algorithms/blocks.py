"""Biconnected components by a search tree: the base of the primitives of `biconnected`, and what they have in common.

A breadth-first search from the smallest id of each component gives every other vertex a parent. A vertex is *fenced* if
no edge leads from its subtree out of the subtree of its parent. Without the edges between such vertices and their
parents, two vertices are connected exactly if the edges to their parents are in one biconnected component. No edge
joins a vertex to an ancestor but its parent, because the tree is one of breadth-first search.

Sources: Tarjan, Vishkin, An efficient parallel biconnectivity algorithm (1985); Dong, Wang, Gu, Sun, Provably fast and
space-efficient parallel biconnectivity (FAST-BCC, 2023), Section 4, whose fence edges these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.search_tree import SearchTree
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.partition.build import row_of_each, tally
from graphdask.partition.part import Csr, Part, Tables


class Biconnected(WithoutSupersteps[None]):
    """The base of the primitives, for undirected graphs; all is done in `result`, which runs others."""

    columns: ClassVar[Mapping[str, Any]] = {}
    queues = False
    edge_rows = True
    needs_memory = (
        "edges of a search tree are matched with all others in memory; gd.k_core(S, 2).to_graph() has all cycles, and "
        "the edges outside are bridges"
    )

    def memory(self, part: Part, allocation: Allocation) -> int:
        return 32 * part.out.num_edges + 250 * part.num_slots

    def result(self, part: Part, state: None, env: Environment) -> dict[str, Any]:
        label = env.run(part, ConnectedComponents()).columns["label"]
        roots = env.xp.flatnonzero(label == part.ids).astype(part.vertex_map.dtype)
        return self.found(Blocks(part, env, SearchTree.of(part, env, roots)))

    def found(self, blocks: Blocks) -> dict[str, Any]:
        """The columns of the result."""
        raise NotImplementedError


class Blocks:
    """The biconnected components that a search tree shows."""

    def __init__(self, part: Part, env: Environment, tree: SearchTree):
        self.part, self.env, self.tree = part, env, tree
        self.child = tree.depth > 0
        self.edges = TreeEdges.of(part, env, tree.owners.own(), tree.parent)
        number, size = tree.numbers(env)
        least, greatest = tree.reach(part, env, number)
        first, length = tree.owners.ask(tree.parent, [number, size])
        self.fenced = self.child & (first <= least) & (greatest < first + length)
        self.links = self.edges.without(part, env, self.fenced)
        self.label = labels(part, env, self.links)
        """The component of the edge to the parent, named by the smallest of its ids but that of the highest vertex."""

    def bridge(self) -> Array:
        """Whether the edge to the parent is a bridge, of own vertices."""
        ups = tally(self.env.backend, self.edges.row[self.edges.up], self.part.num_owned)
        return self.fenced & (self.links.indptr[1:] == self.links.indptr[:-1]) & (ups == 1)

    def articulation(self) -> Array:
        """Whether own vertices are articulation points."""
        owners, most = self.tree.owners, self.part.num_vertices
        (above,) = owners.ask(self.tree.parent, [self.label])
        below = self.child & (above != self.label)  # the parent joins the component to others
        parent, label = self.tree.parent[below], self.label[below].astype(np.int64)
        first, last = owners.least(parent, label), most - owners.least(parent, most - label)
        return (first < most) & (self.child | (first != last))


class TreeEdges:
    """The stored edges of a partition by their place in a search tree."""

    row: Array
    """The own vertex of each."""
    simple: Array
    """bool: whether it is no self-loop."""
    up: Array
    """bool: whether it leads to the parent."""
    below: Array
    """Slot of that end whose component is the edge's: the child; of edges beside the tree, the own vertex."""
    tied: Array
    """bool: whether it joins a child and a parent."""

    @classmethod
    def of(cls, part: Part, env: Environment, position: Array, parent: Array) -> TreeEdges:
        """Compare names of own vertices with those of parents. Every rank calls it."""
        self, slot = cls(), part.out.indices
        name, above = env.fetch_ghosts(part, [position, parent])
        self.row = row_of_each(env.backend, part.out, 0)
        self.simple = self.row != slot
        self.up = self.simple & (above[self.row] == name[slot])
        down = self.simple & (above[slot] == name[self.row])
        self.below, self.tied = env.xp.where(down, slot, self.row), self.up | down
        return self

    def without(self, part: Part, env: Environment, cut: Array) -> Csr:
        """The rows without self-loops and edges between the vertices in `cut` and their parents."""
        (cuts,) = env.fetch_ghosts(part, [cut])
        return part.out.only(env.xp, self.simple & ~(self.tied & cuts[self.below]))


def labels(part: Part, env: Environment, csr: Csr) -> Array:
    """The smallest ids of the components of these edges alone."""
    return env.run(with_edges(part, csr), ConnectedComponents()).columns["label"]


def with_edges(part: Part, csr: Csr) -> Part:
    """The partition with other edges."""
    return replace(part, out=csr, inward=csr, tables=Tables())
