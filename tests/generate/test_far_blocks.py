"""Blocks of graphs larger than any memory: made alone, consumed and dropped, right at every vertex."""

import numpy as np
import pytest

from graphdask.generate.preferential_attachment import PreferentialAttachment, first_edge, targets
from graphdask.verify.preferential_attachment import Definition, check, recompute

HUGE = [
    PreferentialAttachment(1 << 40, 4, 0.5, 1),
    PreferentialAttachment(1 << 40, 4, 0.01, 2, "merge"),
    PreferentialAttachment(1 << 40, 4, 0.0, 3, "redraw"),
    PreferentialAttachment((1 << 61) - 1, 4, 0.5, 4),
    PreferentialAttachment((1 << 63) - 1, 1, 0.5, 5),
    PreferentialAttachment(((1 << 63) - 1) // 128, 128, 0.3, 6, "redraw"),
]


@pytest.mark.parametrize("graph", HUGE, ids=str)
def test_the_ranges_of_a_million_workers_follow_each_other(graph):
    size = 1_000_000
    ranks = (0, 1, 2, 499_999, 500_000, size - 2, size - 1)
    for rank in ranks:
        start, stop = graph.vertices(rank, size)
        assert stop == (graph.vertices(rank + 1, size)[0] if rank + 1 < size else graph.n)
        load = first_edge(stop, graph.degree) - first_edge(start, graph.degree)
        assert abs(load - graph.num_edges / size) <= graph.degree + 1
    assert graph.vertices(0, size)[0] == 0


@pytest.mark.parametrize("graph", HUGE, ids=str)
def test_blocks_of_a_huge_graph_hold_what_recomputing_a_vertex_gives(backend, graph):
    size = graph.num_edges // 20_000
    for rank in (0, size // 2, size - 1):
        start, stop = graph.vertices(rank, size)
        src, dst = graph.block(backend, rank, size)
        check(backend, graph, start, stop, dst, sample=16)
        src, dst = backend.to_host(src), backend.to_host(dst)
        assert src.dtype == dst.dtype == np.int64
        assert ((dst >= 0) & (dst < src)).all()
        chosen = [start, start + 1, (start + stop) // 2, stop - 1]
        for v, row in zip(chosen, recompute(graph, chosen), strict=True):
            np.testing.assert_array_equal(dst[src == v], row)


@pytest.mark.parametrize(("degree", "p"), [(4, 0.5), (3, 0.0), (300, 0.7)])
def test_the_boundary_of_32_bits_shows_in_no_id(backend, degree, p):
    far = 1 << 31
    whole = backend.to_host(targets(backend, far + 400, degree, p, 7, far - 400, far + 400))
    parts = [(far - 400, far - 399), (far - 399, far), (far, far + 1), (far + 1, far + 400)]
    made = [backend.to_host(targets(backend, 1 << 45, degree, p, 7, *part)) for part in parts]
    np.testing.assert_array_equal(np.concatenate(made), whole)
    narrow = targets(backend, far - 2, degree, p, 7, far - 400, far - 2)
    assert narrow.dtype == np.int32
    np.testing.assert_array_equal(backend.to_host(narrow), whole[: 398 * degree])
    for v in (far - 1, far, far + 1):
        expected = recompute(PreferentialAttachment(1 << 45, degree, p, 7), [v])[0]
        begin = (v - (far - 400)) * degree
        np.testing.assert_array_equal(whole[begin : begin + degree], expected)


@pytest.mark.parametrize("n", [1 << 20, 500_000_000, 1 << 30])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
def test_walks_are_as_long_as_theory_has_them(n, p):
    """From v a walk takes 1/p - (1-p)/p (degree/v)^p steps on average, and 1 + ln(v/degree) at p = 0."""
    degree, samples = 4, 3000
    definition = Definition(PreferentialAttachment(n, degree, p, 9))
    lengths = []
    for v in range(n - samples, n):
        edge, ended, steps = v % degree, False, 0
        while not ended:
            v, edge, ended = definition.step(v, edge)
            steps += 1
        lengths.append(steps)
    mean = 1 + np.log(n / degree) if p == 0 else 1 / p - (1 - p) / p * (degree / n) ** p
    assert np.mean(lengths) == pytest.approx(mean, abs=5 * np.std(lengths) / np.sqrt(samples) + 0.01)
    assert max(lengths) < 1 + np.e * np.log(n)
