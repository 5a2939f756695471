"""Expected values by SciPy: depths, distances, parents, labels of a graph given as vertex numbers, each edge once."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.sparse import csgraph


def adjacency(n: int, src: np.ndarray, dst: np.ndarray, directed: bool) -> sp.csr_array:
    """A one for each pair of neighbours; of parallel edges their number."""
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    if not directed:
        other = src != dst
        src, dst = np.concatenate([src, dst[other]]), np.concatenate([dst, src[other]])
    return sp.coo_array((np.ones(len(src), np.int64), (src, dst)), shape=(n, n)).tocsr()


def search(matrix: sp.csr_array, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Hops from the source, -1 where unreachable, and the smallest neighbour one level nearer of each vertex."""
    hops = csgraph.shortest_path(matrix, method="D", unweighted=True, indices=source)
    depth = np.where(np.isinf(hops), -1, hops).astype(np.int64)
    coo = matrix.tocoo()
    tree = (depth[coo.row] >= 0) & (depth[coo.col] == depth[coo.row] + 1)
    parent = np.full(len(depth), len(depth), np.int64)
    np.minimum.at(parent, coo.col[tree], coo.row[tree])
    parent[depth < 0] = -1
    parent[source] = source
    return depth, parent


def lightest(n: int, src: np.ndarray, dst: np.ndarray, weights: np.ndarray, directed: bool) -> sp.csr_array:
    """The smallest weight between each pair of neighbours, float64; a zero is stored."""
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    weights = np.asarray(weights, np.float64)
    if not directed:
        src, dst, weights = np.concatenate([src, dst]), np.concatenate([dst, src]), np.tile(weights, 2)
    order = np.lexsort((weights, dst, src))
    src, dst, weights = src[order], dst[order], weights[order]
    first = np.ones(len(src), bool)
    first[1:] = (src[1:] != src[:-1]) | (dst[1:] != dst[:-1])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src[first], minlength=n))])
    return sp.csr_array((weights[first], dst[first], indptr), shape=(n, n))


def shortest(matrix: sp.csr_array, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Lengths from the source by Dijkstra, inf where unreachable, and the parents that `sssp` promises."""
    distance = csgraph.dijkstra(matrix, indices=source)
    n = len(distance)
    u, v, weight = np.repeat(np.arange(n), np.diff(matrix.indptr)), matrix.indices, matrix.data
    tight = np.isfinite(distance[u]) & (distance[u] + weight == distance[v]) & (u != v)
    nearer = tight & (distance[u] < distance[v])
    parent = np.full(n, n, np.int64)
    parent[source] = source
    np.minimum.at(parent, v[nearer], u[nearer])
    level = tight & (distance[u] == distance[v])
    u, v = u[level], v[level]
    while len(step := np.flatnonzero((parent[u] < n) & (parent[v] == n))):
        np.minimum.at(parent, v[step], u[step])
    parent[~np.isfinite(distance)] = -1
    return distance, parent


def smallest_of_component(matrix: sp.csr_array, connection: str = "weak") -> np.ndarray:
    """The smallest vertex of each vertex's weak (or "strong") component."""
    n = matrix.shape[0]
    if n == 0:
        return np.zeros(0, np.int64)
    count, component = csgraph.connected_components(matrix, directed=True, connection=connection)
    smallest = np.full(count, n, np.int64)
    np.minimum.at(smallest, component, np.arange(n))
    return smallest[component]


def power_iteration(
    matrix: sp.csr_array,
    damping: float = 0.85,
    iterations: int = 200,
    personalization: np.ndarray | None = None,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """PageRank after a number of iterations; rank of vertices without out-edges goes where walkers start anew."""
    n = matrix.shape[0]
    share = np.full(n, 1 / n) if personalization is None else personalization / personalization.sum()
    rank = np.full(n, 1 / n) if start is None else start / start.sum()
    out = np.asarray(matrix.sum(axis=1), float).reshape(-1)
    inward = matrix.T.tocsr().astype(float)
    inverse = np.divide(1.0, out, out=np.zeros(n), where=out > 0)
    for _ in range(iterations):
        lost = rank[out == 0].sum()
        rank = damping * (inward @ (rank * inverse) + lost * share) + (1 - damping) * share
    return rank


def simple(matrix: sp.csr_array) -> sp.csr_array:
    """A one for each ordered pair of different vertices with an edge from the first to the second."""
    coo = matrix.tocoo()
    other = coo.row != coo.col
    ones = np.ones(int(other.sum()), np.int64)
    found = sp.coo_array((ones, (coo.row[other], coo.col[other])), shape=matrix.shape).tocsr()
    found.data[:] = 1
    return found


def triangle_counts(matrix: sp.csr_array) -> np.ndarray:
    """Triangles through each vertex, directions left out."""
    either = simple(matrix + matrix.T)
    return np.asarray((either @ either).multiply(either).sum(axis=1)).reshape(-1) // 2


def local_clustering(matrix: sp.csr_array) -> np.ndarray:
    """The share of the possible edges among each vertex's neighbours, in either direction, that exist (LDBC)."""
    edges, either = simple(matrix), simple(matrix + matrix.T)
    links = np.asarray((either @ edges).multiply(either).sum(axis=1)).reshape(-1)
    degree = np.diff(either.indptr)
    return links / np.maximum(degree * (degree - 1), 1)


def propagated_labels(matrix: sp.csr_array, directed: bool, iterations: int) -> np.ndarray:
    """Labels after a number of synchronous iterations, each the most frequent among the neighbours (LDBC's CDLP)."""
    n = matrix.shape[0]
    votes = (matrix + matrix.T if directed else matrix).tocsr()
    label = np.arange(n)
    for _ in range(iterations):
        holders = sp.coo_array((np.ones(n, np.int64), (np.arange(n), label)), shape=(n, n)).tocsr()
        counts = (votes @ holders).tocoo()
        order = np.lexsort((counts.col, -counts.data, counts.row))
        rows, first = np.unique(counts.row[order], return_index=True)
        label = label.copy()
        label[rows] = counts.col[order][first]
    return label


def kruskal(n: int, src: np.ndarray, dst: np.ndarray, weights: np.ndarray) -> list[int]:
    """Rows of the forest in which edges are taken by weight, then by row."""
    sets, rows = nx.utils.UnionFind(range(n)), []
    for row in np.lexsort((np.arange(len(src)), weights)).tolist():
        one, other = int(src[row]), int(dst[row])
        if sets[one] != sets[other]:
            sets.union(one, other)
            rows.append(row)
    return sorted(rows)


class Drawn(random.Random):
    """Draws what it is told to; for NetworkX."""

    def __init__(self, chosen):
        super().__init__(0)
        self.chosen = chosen

    def sample(self, population, k):
        assert k == len(self.chosen)
        return list(self.chosen)
