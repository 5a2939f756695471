"""`method="auto"` looks at no more edges than naive-dynamic does for the same error, whatever the size of a batch.

Counted are edges over which vertices are ranked and over which they are marked, of all ranks and iterations.
"""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.algorithms.dynamic_pagerank import DynamicPageRank

GRAPHS = {
    "rmat": lambda: gd.generate.rmat(11, 16, seed=1),
    "even": lambda: gd.generate.erdos_renyi(3000, 24_000, seed=3),
    "attached": lambda: gd.generate.preferential_attachment(3000, degree=6, seed=2),
}
SHARES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Of the edges, that a batch changes: half of it inserts edges anywhere, half deletes some that there are."""


@pytest.fixture
def edges(watched):
    """Edges that were looked at since it was cleared."""
    return watched(DynamicPageRank, "ends", lambda primitive, state, votes: float(votes[:, 7].sum()))


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("error", [1e-4, 1e-7])
@pytest.mark.parametrize("name", GRAPHS)
def test_what_is_chosen_looks_at_no_more_edges_than_naive_dynamic(name, error, parts, edges):
    src, dst, _ = GRAPHS[name]().edges(device="cpu")
    n, rng = int(max(src.max(), dst.max())) + 1, np.random.default_rng(5)
    G = gd.from_edges(src, dst, num_vertices=n).partition(parts, device="cpu")
    graphs = {method: gd.DynamicGraph(G) for method in ("auto", "nd")}
    for D in graphs.values():
        gd.pagerank(D, method="static", error=error)
    total = dict.fromkeys(graphs, 0.0)
    for share in SHARES:
        half = max(1, int(share * len(src) / 2))
        gone = rng.integers(0, len(src), half)
        batch = {"insert": rng.integers(0, n, (2, half)), "delete": (src[gone], dst[gone])}
        taken = {}
        for method, D in graphs.items():
            D.update(**batch)
            edges.clear()
            assert gd.pagerank(D, method=method, error=error).error <= error
            taken[method] = sum(edges)
            total[method] += taken[method]
        # of how an iteration over a frontier ends, nobody knows before it
        assert taken["auto"] <= 1.15 * taken["nd"], share
    assert total["auto"] < total["nd"]
