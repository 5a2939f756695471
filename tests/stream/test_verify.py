"""Results over a streamed graph are proved, and a wrong one is found."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS
from streams import changed

import graphdask as gd

CALLS = {
    "bfs": lambda S: gd.bfs(S, S.vertex_ids[0]),
    "sssp": lambda S: gd.sssp(S, S.vertex_ids[0]),
    "components": gd.connected_components,
    "pagerank": gd.pagerank,
}


@pytest.mark.parametrize("kind", [None, "whole", "zeros", "floats"])
@pytest.mark.parametrize("name", ["dense random, directed", "sparse random, undirected", "only self-loops", "no edges"])
def test_right_results_are_proved(stored, name, kind):
    n, src, dst, directed = GRAPHS[name]()
    rng = np.random.default_rng(4)
    drawn = {
        "whole": rng.integers(1, 9, len(src)),
        "zeros": rng.integers(0, 2, len(src)),
        "floats": rng.random(len(src)),
    }
    S = stored(gd.from_edges(src, dst, drawn.get(kind), num_vertices=n, directed=directed))
    for call in CALLS.values():
        call(S).verify()
    gd.pagerank(S, dtype="float32", tol=1e-4, dangling="self-loop").verify()


@pytest.mark.parametrize(
    ("name", "columns", "reason"),
    [
        ("bfs", {"depth": (3, 2)}, "vertex 13 has no edge from its parent"),
        ("bfs", {"depth": (3, 4)}, "the edge from 12 to 13 can relax"),
        ("bfs", {"parent": (3, 0)}, "vertex 13 has no edge from its parent"),
        ("bfs", {"parent": (4, 0)}, "vertex 14 has a distance and no parent, or a parent"),
        ("bfs", {"depth": (0, 1)}, "source 10 must have distance 0"),
        ("sssp", {"distance": (3, 9)}, "the edge from 12 to 13 can relax"),
        ("sssp", {"distance": (3, 1)}, "vertex 13 has no edge from its parent"),
        ("components", {"label": (2, 1)}, "the label of vertex 12 has another label"),
        ("components", {"label": (3, 3)}, "the edge from 1[23] to 1[23] joins two labels"),
        ("components", {"label": (4, 0)}, "there are 2 components, and 1 labels"),
        ("pagerank", {"rank": (1, 0.5)}, "one more iteration changes"),
        ("pagerank", {"rank": (1, 0.0)}, "vertex 11 has a rank below its share"),
    ],
)
def test_wrong_results_are_found(stored, name, columns, reason):
    S = stored(gd.from_edges([10, 11, 12], [11, 12, 13], [1, 1, 1], vertices=range(10, 15), directed=False))
    result = CALLS[name](S).verify()
    with pytest.raises(gd.VerificationError, match=reason):
        changed(result, **columns).verify()


def test_parents_in_a_circle_are_found(stored):
    S = stored(gd.from_edges([0, 1, 2, 0], [1, 2, 1, 3], [0, 0, 0, 1], num_vertices=4))
    result = gd.sssp(S, 0).verify()
    assert result.parent.tolist() == [0, 0, 1, 0]
    with pytest.raises(gd.VerificationError, match="vertex 1 has a parent at the same distance, and so on in a circle"):
        changed(result, parent=(1, 2)).verify()
