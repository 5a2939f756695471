"""What ranks of a dynamic graph tell each other in an iteration, and how often they wait for their devices."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import CpuBackend


@pytest.mark.parametrize("parts", [2, 7])
def test_ranks_are_sent_what_they_need_and_not_of_whom_it_is(parts):
    src, dst = np.random.default_rng(3).integers(0, 200, (2, 300))
    D = gd.DynamicGraph(gd.from_edges(src, dst, num_vertices=200).partition(parts))
    for method in ("static", "nd"):
        found = gd.pagerank(D, method=method)
        owner = np.array([D.rows.rows_map.locate(v)[0] for v in range(D.num_vertices)])
        pairs = {(u, owner[v]) for u, v in zip(*D.edges(device="cpu")[:2], strict=True) if owner[u] != owner[v]}
        first, *later = (step["bytes_sent"] for step in found.stats)
        assert set(later) == {8 * len(pairs)}
        assert first > 8 * len(pairs)  # and before it, who needs whom
        D.update(insert=(np.arange(190, 230), np.arange(40)))  # who knows of whom has changed


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("method", ["dfp", "nd"])
def test_a_rank_waits_for_the_device_once_in_an_iteration(method, parts, watched):
    src, dst = np.random.default_rng(3).integers(0, 300, (2, 1200))
    D = gd.DynamicGraph(gd.from_edges(src, dst, num_vertices=300).partition(parts, device="cpu"))
    gd.pagerank(D, method="static")
    D.update(insert=([7, 8], [200, 3]))
    reads = watched(CpuBackend, "to_host")
    found = gd.pagerank(D, method=method)
    assert found.iterations > 3
    # and before the first one: for what is told then, and of one rank for how many it is to rank
    assert len(reads) == parts * (found.iterations + 1) + (parts == 1)
