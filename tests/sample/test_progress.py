"""Samplers tell how far they are while they run, wherever the graph is, and all that they went along in the end."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.display.tuning import DISPLAY
from graphdask.gang import progress
from graphdask.sample.tuning import SAMPLE

sample = gd.sample
RING = gd.from_edges(np.arange(40), np.roll(np.arange(40), 1), np.ones(40, np.int64), directed=False)
STARTS = np.arange(40)
DRAWN = {
    "random walk": lambda G, **where: sample.random_walk(G, STARTS, 12, **where),
    "node2vec": lambda G, **where: sample.node2vec(G, STARTS, 12, 2.0, 0.5, **where),
    "metapath walk": lambda G, **where: sample.metapath_walk(G, STARTS, 12, metapath=[1], **where),
    "frontier sampling": lambda G, **where: sample.frontier_sampling(G, STARTS.reshape(20, 2), 12, **where),
    "neighbour sampling": lambda G, **where: sample.neighbors(G, STARTS, [1, 1, 1, 1], replace=True, **where),
    "forest fire sampling": lambda G, **where: sample.forest_fire(G, STARTS, 0.9, 4, **where),
    "layer sampling": lambda G, **where: sample.layer(G, STARTS, [1, 1, 1, 1], **where),
    "temporal neighbour sampling": lambda G, **where: sample.temporal_neighbors(
        G, STARTS, [1, 1, 1, 1], seed_times=3, **where
    ),
    "personalised PageRank": lambda G, **where: sample.personalized_pagerank(G, STARTS, 10, restart=0.1, **where),
    "sampling by a spec": lambda G, **where: sample.run(G, sample.Spec(neighbor_size=[2, 2, 2, 2]), STARTS, **where),
}


@pytest.mark.parametrize("placement", ["replicated", "partitioned", "streamed"])
@pytest.mark.parametrize("name", DRAWN)
def test_progress_while_it_runs(name, placement, watched, tuned, capsys):
    reported: dict[int, list[tuple[int, int]]] = {}

    def noting(bar, rank, superstep, frontier, edges, done):
        if bar.label == name:
            reported.setdefault(rank, []).append((superstep, edges))

    watched(progress.Progress, "note", noting)
    tuned(DISPLAY, delay=0)
    tuned(SAMPLE, walk_launch=(80, 4))
    graph = RING.partition(2 if placement == "partitioned" else 1, device="cpu")
    found = DRAWN[name](graph, placement=placement, progress=True)
    shown = capsys.readouterr().err
    assert f"{name}: superstep" in shown
    assert len(reported) == found.stats.ranks
    for steps in reported.values():
        numbers, edges = zip(*steps, strict=True)
        assert list(numbers) == list(range(numbers[0], numbers[0] + len(steps)))
        assert len(set(edges)) > 2  # more than once while it ran
        assert list(edges) == sorted(edges)
    assert sum(steps[-1][1] for steps in reported.values()) == found.stats.edges > 0
    DRAWN[name](graph, placement=placement, progress=False)
    assert capsys.readouterr().err == ""
