"""Boruvka's contraction: every tree takes the lightest edge that leaves it, until no edge leaves any.

Edges are ordered by weight, then by their rows, so no two are equal and the lightest spanning forest is one. The edges
are those of all ranks, of which none holds more than its own.

Source: Boruvka (1926), as in Nesetril, Milkova, Nesetrilova, Otakar Boruvka on minimum spanning tree problem (2001).
"""

from __future__ import annotations

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.owners import Owners, least_of_each
from graphdask.partition.part import Part


class Contraction:
    """Trees of all ranks, which begin as single vertices, and the edges of this rank between them.

    Parameters
    ----------
    one, other : arrays
        Positions of the ends of this rank's edges. An edge stands on one rank at least.
    weights, rows : arrays
        By which edges are ordered.
    """

    def __init__(self, part: Part, env: Environment, one: Array, other: Array, weights: Array, rows: Array):
        self.owners, self.env = Owners(part, env), env
        self.root = self.owners.own()
        self.columns = {"weight": weights, "row": rows, "one": one, "other": other}
        self.a, self.b = one, other

    def grow(self) -> dict[str, Array] | None:
        """Let every tree take its lightest edge, and join the trees; None if no edge leaves any.

        Returns the edges by the own roots, `tree` as a slot, that took them, with `joins` where the root is one no
        more: of two trees that took the same edge one remains. `root` then has the new roots of own vertices.
        """
        xp, owners = self.env.xp, self.owners
        leaving = self.a != self.b
        self.columns = {name: column[leaving] for name, column in self.columns.items()}
        self.a, self.b = self.a[leaving], self.b[leaving]
        if self.env.least(-len(self.a)) == 0:
            return None
        trees, beyond = xp.concatenate([self.a, self.b]), xp.concatenate([self.b, self.a])
        twice = {name: xp.concatenate([column, column]) for name, column in self.columns.items()}
        best = least_of_each(xp, trees, [twice["row"], twice["weight"]])
        names = list(twice)
        tree, beyond, *came = owners.send(trees[best], [beyond[best], *(twice[name][best] for name in names)])
        best = least_of_each(xp, tree, [came[names.index("row")], came[names.index("weight")]])
        found = dict(zip(names, (column[best] for column in came), strict=True))
        tree, beyond = tree[best], beyond[best]
        parent, own = owners.own(), owners.own()
        parent[tree] = beyond
        (back,) = owners.ask(beyond, [parent])
        joins = (back != own[tree]) | (own[tree] > beyond)
        parent[tree[~joins]] = own[tree[~joins]]
        parent = owners.roots(parent)
        (self.root,) = owners.ask(self.root, [parent])
        (self.a,) = owners.ask(self.a, [parent])
        (self.b,) = owners.ask(self.b, [parent])
        return found | {"tree": tree, "joins": joins}
