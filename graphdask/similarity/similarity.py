"""Jaccard, overlap, cosine and Sorensen similarity of the neighbourhoods of vertices: what the caller sees.

Sources: Jaccard, Etude comparative de la distribution florale (1901); Sorensen, A method of establishing groups of
equal amplitude in plant sociology (1948); Liben-Nowell, Kleinberg, The link-prediction problem for social networks
(2007).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphdask.algorithms.by_weight import checked_weight
from graphdask.algorithms.lengths import fit_weights
from graphdask.device.arrays import is_array
from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import Own, whole
from graphdask.interface.parameters import ERRORS, SHARED, described
from graphdask.partition.given import given_array, given_sequence
from graphdask.sample.sampler import sampled
from graphdask.similarity.result import SimilarityResult
from graphdask.similarity.samplers import OfPairs, WithinTwoHops
from graphdask.subgraphs.given import given_sets


def _similar(
    measure: str, G: Graph, pairs: Any, vertices: Any, topk: Any, per_vertex: Any, weight: Any, client: Any,
    progress: bool | None,
) -> SimilarityResult:  # fmt: skip
    """Check the arguments and run a sampler."""
    checked_graph(G)
    checked_weight(weight)
    if not isinstance(per_vertex, bool | np.bool_):
        raise InputError(f"per_vertex={shown(per_vertex)} is neither True nor False")
    best = None if topk is None else whole("topk", topk, 1)
    weighted = bool(G.weighted and weight is not None)
    if pairs is None:
        sampler: Any = WithinTwoHops(measure, weighted, _sources(G, vertices), best, bool(per_vertex))
    elif vertices is not None or topk is not None or per_vertex:
        raise InputError("pairs says which vertices are compared; leave out vertices, topk and per_vertex")
    else:
        sampler = OfPairs(measure, weighted, *_ends(G, pairs))
    if weighted:
        fit_weights(G, "; similarities need weights of 0 or more", client, progress)
    found: SimilarityResult = sampled(G, sampler, "partitioned", client, progress)
    return found


def _sources(G: Graph, vertices: Any) -> np.ndarray | None:
    """Numbers of given vertices, each once."""
    if vertices is None:
        return None
    flat, bounds = given_sets(G, "vertices", vertices)
    if bounds is not None:
        raise InputError("vertices is a sequence of arrays; give one array of vertex ids")
    return np.unique(flat)


PAIRS = """
G : Graph
    Directed or undirected. The neighbours of a vertex are the ends of its out-edges; parallel edges count once, and a
    vertex with a self-loop is its own neighbour.
pairs : array of shape (k, 2) or sequence of pairs of vertex ids, optional
    Compare these. Default: all pairs of different vertices that share a neighbour other than the two.
vertices : int, str, or array of vertex ids, optional
    List pairs from each of these vertices to the vertices that it shares a neighbour with. Default: each pair once,
    the vertex that comes first in `vertex_ids` as `first`.
topk : int, optional
    Return only so many of the pairs that share a neighbour, those of the highest scores; of equal scores those that
    come first by `first`, then by `second`, in `vertex_ids`. Default: all of them.
per_vertex : bool
    True: list pairs from each vertex to the vertices that it shares a neighbour with, so that each pair stands twice;
    `topk` is then for each vertex. False: each pair once, unless `vertices` is given; `topk` is for all pairs together.
weight : {"weight", None}
    "weight" (default) scores by the weights of the edges, if the graph has any (Notes). They must be neither negative
    nor infinite, and those of parallel edges are added up. None ignores the weights.
"""
SCORES = """
SimilarityResult
    `first`, `second`, `score`, `common`, a row for each pair: as given, or in the order of the two vertices in
    `vertex_ids`, or with `topk` by descending scores. Identical for every number of partitions and on every device.
"""
REFUSED = """
VertexNotFound
    If one of `pairs` or `vertices` is not a vertex.
InputError
    If `G` is not a Graph, an argument has no such value, `pairs` is given with an option of other pairs, or a weight is
    negative or infinite (naming the edge).
OverBudget
    If the pairs do not fit the memory; before any are counted, if a lower bound of their number shows it.
"""
_comparing = partial(described, shared=PAIRS + SHARED, errors=REFUSED + ERRORS, returns=SCORES)


def _ends(G: Graph, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the first and the second vertex of each pair."""
    if not is_array(pairs):
        pairs = given_sequence("pairs", pairs, "neither an array nor a sequence of pairs of vertices")
    given = given_array("pairs", pairs)
    if given.size == 0:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise InputError(f"pairs has the shape {given.shape}; it needs two vertex ids in each row")
    first, second = G.ids.to_internal(given.reshape(-1), "pairs: vertex").reshape(-1, 2).T
    return first.astype(np.int64), second.astype(np.int64)


@_comparing
def jaccard(
    G: Graph,
    pairs: Any = None,
    *,
    vertices: Any = None,
    topk: Own[int | None] = None,
    per_vertex: bool = False,
    weight: Own[str | None] = "weight",
    client: Any = None,
    progress: bool | None = None,
) -> SimilarityResult:
    """Jaccard similarity of the neighbourhoods of vertices: the common neighbours as a share of all neighbours.

    The score of u and v is their number of common neighbours divided by the number of vertices that are neighbours of u
    or v; 0 if there are none. The common neighbours leave out u and v themselves, so that the score is that of
    NetworkX's `jaccard_coefficient`.

    See Also
    --------
    overlap : another measure.
    cosine : another measure.
    sorensen : another measure.

    Notes
    -----
    With w(u, x) the weight of the edge from u to x, 0 if there is none, the score by weight is the sum over x of
    min(w(u, x), w(v, x)) divided by the sum over x of max(w(u, x), w(v, x)). The numerator leaves out x = u and x = v,
    as without weights. With weights of 1 the scores are those without weights.

    Weights are multiplied by a power of two and rounded to whole numbers, so that the largest number of edges of a
    vertex times the largest weight is less than 2**61, unless they are integers for which this holds already. Scores
    are those of the rounded weights.

    References
    ----------
    cuGraph: coefficients with `use_weight=True`. Ioffe: Improved consistent sampling, weighted minhash and L1 sketching
    (2010).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 1, 3], [1, 2, 2, 3, 2], directed=False)
    >>> gd.jaccard(G, [(0, 3), (0, 1)]).score.round(3).tolist()
    [1.0, 0.25]
    >>> r = gd.jaccard(G, topk=2)
    >>> r.first.tolist(), r.second.tolist(), r.score.round(3).tolist()
    ([0, 1], [3, 2], [1.0, 0.5])
    """
    return _similar("jaccard", G, pairs, vertices, topk, per_vertex, weight, client, progress)


@_comparing
def overlap(
    G: Graph,
    pairs: Any = None,
    *,
    vertices: Any = None,
    topk: Own[int | None] = None,
    per_vertex: bool = False,
    weight: Own[str | None] = "weight",
    client: Any = None,
    progress: bool | None = None,
) -> SimilarityResult:
    """Overlap similarity of the neighbourhoods of vertices: the common neighbours as a share of the smaller one.

    The score of u and v is their number of common neighbours, u and v left out, divided by the smaller of their numbers
    of neighbours; 0 if that is 0.

    See Also
    --------
    jaccard : another measure.
    cosine : another measure.
    sorensen : another measure.

    Notes
    -----
    With w(u, x) the weight of the edge from u to x, 0 if there is none, the score by weight is the sum over x other
    than u and v of min(w(u, x), w(v, x)), divided by the smaller of the sums over x of w(u, x) and of w(v, x), as in
    cuGraph. Weights are rounded as in `jaccard`.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 1, 3], [1, 2, 2, 3, 2], directed=False)
    >>> gd.overlap(G, [(0, 3), (0, 1)]).score.round(3).tolist()
    [1.0, 0.5]
    >>> r = gd.overlap(G, topk=2)
    >>> r.first.tolist(), r.second.tolist(), r.score.round(3).tolist()
    ([0, 1], [3, 2], [1.0, 0.667])
    """
    return _similar("overlap", G, pairs, vertices, topk, per_vertex, weight, client, progress)


@_comparing
def cosine(
    G: Graph,
    pairs: Any = None,
    *,
    vertices: Any = None,
    topk: Own[int | None] = None,
    per_vertex: bool = False,
    weight: Own[str | None] = "weight",
    client: Any = None,
    progress: bool | None = None,
) -> SimilarityResult:
    """Cosine similarity of the neighbourhoods of vertices, as vectors of zeros and ones.

    The score of u and v is their number of common neighbours, u and v left out, divided by the square root of the
    product of their numbers of neighbours; 0 if that is 0.

    See Also
    --------
    jaccard : another measure.
    overlap : another measure.
    sorensen : another measure.

    Notes
    -----
    With w(u, x) the weight of the edge from u to x, 0 if there is none, the score by weight is the sum over x other
    than u and v of w(u, x) * w(v, x), divided by the square root of the product of the sums over x of w(u, x)**2 and of
    w(v, x)**2. Weights are rounded as in `jaccard`. Products are rounded to multiples of 2**-62 times a power of two,
    which is at most four times the product of the sums over x of w(u, x) and of w(v, x).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 1, 3], [1, 2, 2, 3, 2], directed=False)
    >>> gd.cosine(G, [(0, 3), (0, 1)]).score.round(3).tolist()
    [1.0, 0.408]
    >>> r = gd.cosine(G, topk=2)
    >>> r.first.tolist(), r.second.tolist(), r.score.round(3).tolist()
    ([0, 1], [3, 2], [1.0, 0.667])
    """
    return _similar("cosine", G, pairs, vertices, topk, per_vertex, weight, client, progress)


@_comparing
def sorensen(
    G: Graph,
    pairs: Any = None,
    *,
    vertices: Any = None,
    topk: Own[int | None] = None,
    per_vertex: bool = False,
    weight: Own[str | None] = "weight",
    client: Any = None,
    progress: bool | None = None,
) -> SimilarityResult:
    """Sorensen (Dice) similarity of the neighbourhoods of vertices: twice the common neighbours by the sum of sizes.

    The score of u and v is twice their number of common neighbours, u and v left out, divided by the sum of their
    numbers of neighbours; 0 if that is 0.

    See Also
    --------
    jaccard : another measure.
    overlap : another measure.
    cosine : another measure.

    Notes
    -----
    With w(u, x) the weight of the edge from u to x, 0 if there is none, the score by weight is twice the sum over x
    other than u and v of min(w(u, x), w(v, x)), divided by the sum over x of w(u, x) + w(v, x), as in cuGraph. Weights
    are rounded as in `jaccard`.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 1, 3], [1, 2, 2, 3, 2], directed=False)
    >>> gd.sorensen(G, [(0, 3), (0, 1)]).score.round(3).tolist()
    [1.0, 0.4]
    >>> r = gd.sorensen(G, topk=2)
    >>> r.first.tolist(), r.second.tolist(), r.score.round(3).tolist()
    ([0, 1], [3, 2], [1.0, 0.667])
    """
    return _similar("sorensen", G, pairs, vertices, topk, per_vertex, weight, client, progress)
