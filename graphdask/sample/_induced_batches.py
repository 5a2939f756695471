"""Minibatches with all edges of the graph between their vertices, instead of those that the vertices were drawn along.

A second run takes the induced subgraphs of the vertices of each batch; or, of disjoint batches, of each seed's. With
disjoint seeds these are the subgraphs of ShaDow.

Source: Zeng et al., Decoupling the depth and scope of graph neural networks (2021), for a subgraph for each seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.sample._minibatches import Drawn
from graphdask.sample.induced import Induced


def induced_batches(drawn: list[Drawn], num_vertices: int, numbered: bool, run: Callable[[Any], Any]) -> list[Drawn]:
    """The same batches with the edges of induced subgraphs, in the order of the vertices that they leave.

    Parameters
    ----------
    numbered : bool
        Whether the row of each edge is asked for.
    run : callable
        Draws the samples of a sampler.
    """
    sets, order, nodes_of, sets_of = [], [], [], []
    before = 0
    for batch in drawn:
        numbers = _on_host(batch.numbers).astype(np.int64)
        owners = np.zeros(len(numbers), np.int64) if batch.batch is None else _on_host(batch.batch)
        sets.append((owners + before) * num_vertices + numbers)
        nodes_of.append(len(numbers))
        sets_of.append(int(owners.max(initial=-1)) + 1)
        before += sets_of[-1]
        place = np.argsort(sets[-1], kind="stable")
        order.append(place)
        sets[-1] = sets[-1][place]
    keys, number_of = np.concatenate(sets), np.concatenate(order)
    owners = keys // num_vertices
    bounds = np.searchsorted(owners, np.arange(before + 1))
    sampler = Induced(keys - owners * num_vertices, bounds)
    sampler.numbered = numbered
    result = run(sampler)
    names = ("src", "dst", "instance", *(["edge"] if numbered else []))
    src, dst, instance, *edge = (result._internal(name) for name in names)
    row, col = (number_of[np.searchsorted(keys, instance * num_vertices + ends)] for ends in (src, dst))
    starts = np.searchsorted(instance, np.concatenate(([0], np.cumsum(sets_of)))).tolist()
    made = []
    for batch, begin, end in zip(drawn, starts[:-1], starts[1:], strict=True):
        edge_index = np.stack([row[begin:end], col[begin:end]])
        e_id = batch.backend.from_host(edge[0][begin:end].copy()) if numbered else None
        made.append(
            replace(batch, edge_index=batch.backend.from_host(edge_index), e_id=e_id, num_sampled_edges=None)
        )  # fmt: skip
    return made


def _on_host(values: Array) -> np.ndarray:
    return values.get() if hasattr(values, "get") else np.asarray(values)
