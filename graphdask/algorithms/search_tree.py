"""Trees of a breadth-first search, whose subtrees are reached by pointers to ancestors at distances 2**k.

Vertices are numbered in the order in which a walk through their tree enters them, so a subtree is a range of numbers.
Values of subtrees are collected in log(depth) rounds: in round k every vertex adds what it knows to the ancestor at
distance 2**k.

Source: Tarjan, Vishkin, An efficient parallel biconnectivity algorithm (1985), with pointers in place of Euler tours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from graphdask.algorithms.bfs import SearchFrom
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import Owners, least_at
from graphdask.partition.neighbours import edge_blocks, firsts
from graphdask.partition.part import Part


@dataclass
class SearchTree:
    """Search trees, of own vertices; positions stand for vertices."""

    parent: Array
    """A root is its own parent."""
    depth: Array
    jumps: list[Array]
    """The ancestors at distances 1, 2, 4, ...; what stands for vertices that are not so deep has no meaning."""
    owners: Owners

    @classmethod
    def of(cls, part: Part, env: Environment, roots: Array) -> SearchTree:
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

    def reach(self, part: Part, env: Environment, number: Array) -> tuple[Array, Array]:
        """The least and the greatest number of the vertices of each subtree and their neighbours."""
        least, greatest = numbers_beside(part, env, number)
        n, xp = part.num_vertices, env.xp
        least = self.of_subtrees(least, self.owners.least, xp.minimum)
        return least, n - self.of_subtrees(n - greatest, self.owners.least, xp.minimum)


def numbers_beside(part: Part, env: Environment, number: Array) -> tuple[Array, Array]:
    """The least and the greatest number of each own vertex and its neighbours; int64, 0 to n. Every rank calls it."""
    xp, n = env.xp, part.num_vertices
    (numbers,) = env.fetch_ghosts(part, [number])
    least, rest = number, n - number
    for block in edge_blocks(env.backend, part):
        beyond = numbers[block.slots]
        least = xp.minimum(least, least_at(xp, len(least), block.rows, beyond))
        rest = xp.minimum(rest, least_at(xp, len(rest), block.rows, n - beyond))
    return least, n - rest
