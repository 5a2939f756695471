"""Core numbers, labels, strong components, triangles and coefficients over a streamed graph are proved from disk."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS
from streams import changed

import graphdask as gd
from graphdask.stream.tuning import STREAM

CALLS = {
    "cores": gd.core_number, "labels": gd.label_propagation, "strong": gd.strongly_connected_components,
    "triangles": gd.triangles, "clustering": gd.local_clustering_coefficient, "set": gd.maximal_independent_set,
    "colors": gd.greedy_coloring,
}  # fmt: skip
UNDIRECTED = "cores", "triangles", "set", "colors"
NAMES = (
    "one vertex with a self-loop", "duplicates both ways", "isolated vertices", "no edges", "only self-loops",
    "star inward", "cycle", "path backward", "binary tree", "complete", "sparse random, directed",
    "dense random, directed", "dense random, undirected", "scale-free",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_right_results_are_proved(stored, name):
    n, src, dst, directed = GRAPHS[name]()
    for order in ("layers", "ids"):
        S = stored(gd.from_edges(src, dst, num_vertices=n, directed=directed), "4MiB", order=order)
        for call in CALLS.keys() - set(UNDIRECTED if directed else ()):
            CALLS[call](S).verify()
            CALLS[call](S.partition(3)).verify()
        for iterations in range(3):
            gd.label_propagation(S, iterations).verify()


@pytest.mark.slow
def test_proofs_keep_within_a_few_chunks(stored):
    for directed in (False, True):
        src, dst = np.random.default_rng(3).integers(0, 500, (2, 6000))
        S = stored(gd.from_edges(src, dst, num_vertices=500, directed=directed), "64KiB")
        for call in CALLS.keys() - set(UNDIRECTED if directed else ()):
            CALLS[call](S).verify()


def test_strong_components_behind_each_other_are_proved(stored, rng):
    n = 600  # rings of 20, each of which leads to the next ones
    order, ring = rng.permutation(n), np.arange(n)
    src = np.concatenate([order[ring], order[np.arange(0, n - 20, 20)]])
    dst = np.concatenate([order[np.where(ring % 20 == 19, ring - 19, ring + 1)], order[np.arange(29, n, 20)]])
    found = gd.strongly_connected_components(stored(gd.from_edges(src, dst, num_vertices=n), "64KiB")).verify()
    assert len(set(found.label.tolist())) == n // 20


def everywhere(result, name, values):
    """A result with another column."""
    return changed(result, **{name: (slice(None), values)})


PATH = [10, 11, 12, 12, 12], [11, 12, 10, 13, 14]
"""A triangle and two vertices that hang on it."""


@pytest.mark.parametrize(
    ("name", "columns", "reason"),
    [
        ("cores", {"core": (3, 2)}, "vertex 13 has fewer neighbours of its core number or more"),
        ("cores", {"core": (3, -1)}, "vertex 13 has fewer neighbours of its core number or more"),
        ("cores", {"core": (3, 0)}, "vertex 13 is in a larger core than its core number says"),
        ("cores", {"core": (slice(0, 3), 1)}, "vertex 10 is in a larger core than its core number says"),
        ("labels", {"label": (3, 3)}, "vertex 13 has not the most frequent label of its neighbours"),
        ("labels", {"label": (3, 9)}, "vertex 13 has a label that is no vertex"),
        ("labels", {"before": (3, 1)}, "vertex 13 does not begin with its own label"),
        ("triangles", {"count": (3, 1)}, "vertex 13 has a negative count, or more triangles than pairs"),
        ("triangles", {"count": (2, 2)}, "vertex 12 has 4 edges among its neighbours, not 2"),
        ("clustering", {"coefficient": (1, 0.5)}, "vertex 11 has another coefficient than"),
        ("clustering", {"degree": (1, 3)}, "vertex 11 has another number of distinct neighbours"),
        ("clustering", {"links": (3, 1)}, "vertex 13 has more edges among its neighbours than fit"),
        ("clustering", {"links": (2, 4), "coefficient": (2, 4 / 12)}, "vertex 12 has 4 edges among its neighbours"),
    ],
)
def test_wrong_results_are_found(stored, name, columns, reason):
    S = stored(gd.from_edges(*PATH, vertices=range(10, 16), directed=False), "2MiB")
    for graph in (S, S.partition(2)):
        call = (lambda graph: gd.label_propagation(graph, 1)) if name == "labels" else CALLS[name]
        result = call(graph).verify()
        if graph is S:
            with pytest.raises(gd.VerificationError, match=reason):
                changed(result, **columns).verify()


def test_a_run_of_labels_that_changed_at_last_is_found(stored):
    S = stored(gd.from_edges(*PATH, vertices=range(10, 16), directed=False), "2MiB")
    result = gd.label_propagation(S).verify()
    with pytest.raises(gd.VerificationError, match="vertex 13 changed its label in the last iteration"):
        changed(result, before=(3, 3)).verify()


@pytest.mark.parametrize(("call", "key"), [(gd.triangles, "triangles"), (gd.local_clustering_coefficient, "added")])
def test_a_sum_that_is_another_one_is_found(stored, call, key):
    S = stored(gd.from_edges(*PATH, directed=False), "2MiB")
    result = call(S).verify()
    result.parts.values[0].values[key] += 1
    with pytest.raises(gd.VerificationError, match="add up to"):
        result.verify()


def test_triangles_moved_between_vertices_are_found(stored, rng):
    S = stored(gd.generate.preferential_attachment(600, degree=16, p=0.5, seed=1), "2MiB")
    for u, v in rng.choice(600, (5, 2), replace=False):
        result, links = gd.triangles(S).verify(), gd.local_clustering_coefficient(S)
        count = result.count.copy()
        count[u] += 2
        count[v] -= 2
        with pytest.raises(gd.VerificationError, match=rf"vertex ({u}|{v}) has"):
            everywhere(result, "count", count).verify()
        column = links.parts.values[0].columns["links"].copy()
        column[u] += 2
        column[v] -= 2
        degree = links.parts.values[0].columns["degree"].astype(np.int64)
        spoilt = everywhere(links, "links", column)
        with pytest.raises(gd.VerificationError, match=rf"vertex ({u}|{v}) has"):
            everywhere(spoilt, "coefficient", column / np.maximum(degree * (degree - 1), 1)).verify()


@pytest.mark.parametrize(
    ("label", "reason"),
    [
        ([0, 0, 0, 4, 4, 5], "vertex 13 has the label 14, not one up to its own"),
        ([0, 0, 0, 0, 4, 5], "vertex 13 has the label 10, but does not reach it inside that label"),
        ([0, 0, 0, 3, 3, 0], "vertex 15 has the label 10, which does not reach it inside that label"),
        ([0, 0, 2, 3, 3, 5], "vertex 11 has the label 10, but does not reach it inside that label"),
        ([0, 1, 2, 3, 3, 5], "label 10 and another one reach each other"),
        ([0, 0, 0, 3, 4, 5], "label 13 and another one reach each other"),
    ],
)
def test_wrong_strong_components_are_found(stored, label, reason):
    """Rings of 10, 11, 12 and of 13, 14, the first of which leads to the second."""
    S = stored(gd.from_edges([10, 11, 12, 12, 13, 14], [11, 12, 10, 13, 14, 13], vertices=range(10, 16)), "2MiB")
    result = gd.strongly_connected_components(S).verify()
    assert result.label.tolist() == [10, 10, 10, 13, 13, 15]
    with pytest.raises(gd.VerificationError, match=reason):
        everywhere(result, "label", label).verify()


@pytest.mark.parametrize("directed", [True, False])
def test_rows_of_many_edges_are_counted(stored, tuned, directed):
    tuned(STREAM, counted_edges=8)
    src, dst = np.random.default_rng(3).integers(0, 300, (2, 3000))
    S = stored(gd.from_edges(src, dst, num_vertices=300, directed=directed), "256KiB")
    for iterations in (1, 2):
        result = gd.label_propagation(S, iterations).verify()
    with pytest.raises(gd.VerificationError, match="vertex 250 has not the most frequent label"):
        changed(result, label=(250, 299)).verify()
