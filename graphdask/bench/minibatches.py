"""Minibatches of the loader, drawn in one go and hop by hop: an epoch of them, as its user gets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphdask.bench.harness import repeat
from graphdask.sample.neighbor_loader import NeighborLoader
from graphdask.sample.traversal import NumberedTraversal


class HopByHop(NeighborLoader):
    """The loader as it draws where the batches of a run do not fit in one go."""

    _traversal = NumberedTraversal


WAYS = {"in one go": NeighborLoader, "hop by hop": HopByHop}
AT_ONCE = (None, 20)
"""Batches that are drawn together; None for as many as the loader takes."""


def minibatches(
    graph: Any, sizes: tuple[tuple[int, int, tuple[int, ...]], ...], repeats: int, **options: Any
) -> Iterator[dict[str, Any]]:
    """A record for each bias, way and number of batches that are drawn together."""
    for count, size, fanouts in sizes:
        seeds = np.random.default_rng(options["seed"]).permutation(graph.num_vertices)[: count * size]
        for bias in (None, "weight"):
            for at_once in AT_ONCE:
                for way, kind in WAYS.items():
                    loader = kind(
                        graph, fanouts, seeds, batch_size=size, bias=bias, batches_per_run=at_once, **options
                    )  # fmt: skip
                    row = {"sampler": "loader", "bias": bias, "method": way, "instances": len(loader)}
                    yield row | {"size": list(fanouts), "at_once": at_once} | _measured(loader, repeats)


def _measured(loader: NeighborLoader, repeats: int) -> dict[str, Any]:
    def epoch() -> int:
        loader.epoch = 0
        return sum(sum(batch.num_sampled_edges) for batch in loader)

    runs = repeat(epoch, repeats)
    rate = runs.result / runs.median / 1e6
    return {"edges": runs.result, "first_ms": 1e3 * runs.first, "ms": 1e3 * runs.median, "mseps": rate}
