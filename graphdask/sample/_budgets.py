"""Budget sampling of the heterogeneous graph transformer: vertices of each type at each hop, drawn by importance.

A vertex that is sampled adds to the budget of each in-neighbour, along the edges of each type, one by the number of its
edges of the type. A hop draws vertices of each type without replacement in proportion to the squares of their budgets.
Squares become whole numbers of 62 bits together, and a draw is by inverse transform with a number of Philox, again
until enough distinct vertices are found; so the law is that of draws one after the other among those that are left, and
the bits are the same everywhere.

Source: Hu, Dong, Wang, Sun, Heterogeneous graph transformer (2020), Section 3.4, algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from graphdask.graph.type_names import EdgeType
from graphdask.graph.typed import TypedGraph
from graphdask.sample.traversal import Traversal
from graphdask.sample.typed import Draw, Reached, Seeds, TypedNeighborhoods, put_edges, put_vertices
from graphdask.sample.words import raw_words, scaled, units

BUDGET = np.uint64(0x4847)
"""Half of the key of the numbers that vertices are drawn by; the other half is the seed."""


class _Budget:
    """The budgets of the vertices of one type that instances have seen and not sampled."""

    def __init__(self, num_vertices: int):
        self.num_vertices = num_vertices
        self.keys = np.zeros(0, np.int64)
        """instance * vertices + vertex, ascending."""
        self.values: np.ndarray = np.zeros(0)

    def add(self, instances: np.ndarray, vertices: np.ndarray, values: np.ndarray) -> None:
        """Add values, those of a vertex in the order given."""
        keys = np.concatenate([self.keys, instances * self.num_vertices + vertices])
        values = np.concatenate([self.values, values])
        self.keys, places = np.unique(keys, return_inverse=True)
        self.values = np.bincount(places.reshape(-1), values, len(self.keys))

    def drawn(self, count: int, instances: int, words: Callable[[int], Callable[[int, int], np.ndarray]]) -> np.ndarray:
        """Draw vertices of each instance and take them out; return their keys.

        Parameters
        ----------
        words : callable
            `words(instance)(first, count)` gives 64-bit numbers of an instance.
        """
        bounds = np.searchsorted(self.keys, np.arange(instances + 1) * self.num_vertices)
        places = [
            begin + successive(units(self.values[begin:end] ** 2), count, words(instance))
            for instance, (begin, end) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
        ]
        taken = np.concatenate([np.zeros(0, np.int64), *places])
        keys, left = self.keys[taken], np.ones(len(self.keys), bool)
        left[taken] = False
        self.keys, self.values = self.keys[left], self.values[left]
        return keys


def successive(weights: np.ndarray, count: int, words: Callable[[int, int], np.ndarray]) -> np.ndarray:
    """Draw places without replacement, one after the other in proportion to the weights that are left.

    Parameters
    ----------
    weights : int64 array
        Above 0, with a sum below 2**63.
    count : int
        How many; all places, in order, if there are not more.
    words : callable
        `words(first, count)` gives 64-bit numbers of a sequence.
    """
    if count >= len(weights):
        return np.arange(len(weights))
    left, found, used = weights.copy(), np.zeros(0, np.int64), 0
    while len(found) < count:
        missing = count - len(found)
        sums = np.cumsum(left)
        hit = np.searchsorted(sums, scaled(words(used, 2 * missing), sums[-1]), side="right")
        used += 2 * missing
        _, first = np.unique(hit, return_index=True)
        fresh = hit[np.sort(first)][:missing]
        found = np.concatenate([found, fresh])
        left[fresh] = 0
    return found


def drawn_by_budget(
    G: TypedGraph, seeds: Seeds, sizes: Mapping[str, Sequence[int]], draw: Draw, seed: int, first: int = 0
) -> TypedNeighborhoods:
    """Draw vertices hop after hop, and take all edges between those of an instance.

    Parameters
    ----------
    seeds : mapping of str to pair of int64 arrays
        Vertex numbers, each once in its instance, and where those of each instance begin.
    sizes : mapping of str to sequence of int
        Vertices of each type at each hop.
    draw : callable
        Runs a sampler on the graph of a type.
    seed, first : int
        The seed, and the number of the first instance.

    Returns
    -------
    TypedNeighborhoods
        The hop of an edge is that of its destination: 0 for edges that lead to seeds.
    """
    instances, n = len(next(iter(seeds.values()))[1]) - 1, G.num_vertices
    hops = len(next(iter(sizes.values()))) if sizes else 0
    reached = {name: Reached(n, instances) for name in G.vertex_types}
    budgets = {name: _Budget(n) for name in G.vertex_types}
    for name, of_type in reached.items():
        vertices, bounds = seeds.get(name, (np.zeros(0, np.int64), np.zeros(instances + 1, np.int64)))
        of_type.take([(np.repeat(np.arange(instances), np.diff(bounds)), vertices)])
    made = TypedNeighborhoods(G, next(iter(seeds)), instances)
    edges: dict[EdgeType, list[tuple[np.ndarray, ...]]] = {kind: [] for kind in G.edge_types}
    for hop in range(hops + 1):
        for kind in G.edge_types:
            found = _in_edges(G, kind, reached[kind[2]].hops[hop], instances, draw, made, hop)
            if not len(found[0]):
                continue
            edges[kind].append((*found, np.full(len(found[0]), hop, np.int32)))
            if hop < hops:
                near, far, of = found[:3]
                _, inverse, degrees = np.unique(of * n + near, return_inverse=True, return_counts=True)
                fresh = ~reached[kind[0]].has(of, far)
                budgets[kind[0]].add(of[fresh], far[fresh], (1 / degrees)[inverse.reshape(-1)][fresh])
        if hop == hops:
            break
        for place, (name, budget) in enumerate(budgets.items()):
            step = hop * len(budgets) + place

            def words(instance: int, step: int = step) -> Callable[[int, int], np.ndarray]:
                return lambda begin, count: raw_words(seed, BUDGET, (first + instance, step), begin, count)

            keys = budget.drawn(sizes[name][hop], instances, words)
            reached[name].take([(keys // max(n, 1), keys % max(n, 1))])
    for name, of_type in reached.items():
        put_vertices(made, name, of_type, hops)
    for kind, of_kind in edges.items():
        sources = reached[kind[0]]
        inside = [tuple(column[sources.has(each[2], each[1])] for column in each) for each in of_kind]
        put_edges(made, kind, inside, reached[kind[2]], sources, hops + 1)
    return made


def _in_edges(
    G: TypedGraph, kind: EdgeType, fresh: tuple[np.ndarray, np.ndarray], instances: int, draw: Draw,
    made: TypedNeighborhoods, hop: int,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    """Destinations, sources, instances and rows of all edges of a type that lead to the vertices of a hop."""
    here, vertices = fresh
    if not len(here):
        return tuple(np.zeros(0, np.int64) for _ in range(4))
    starts = np.searchsorted(here, np.arange(instances + 1))
    index = G.of_type(kind).source.src.dtype  # type: ignore[attr-defined]
    sample = draw(G.of_type(kind), Traversal(vertices.astype(index), starts, (-1,), seed=0, direction="in"))
    made.samples.append((kind, hop, sample))
    ends = [sample._internal(column).astype(np.int64, copy=False) for column in ("src", "dst", "instance")]
    return *ends, sample._internal("edge").astype(np.int64, copy=False)
