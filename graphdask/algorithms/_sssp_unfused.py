"""The steps of a superstep of shortest paths as separate kernels, which the benchmark of choices compares.

A step relaxes the edges of the near vertices. An advance stores the vertex that each edge leads to and the label that
the edge offers; a filter reads these and lowers labels. If no vertices are near, the step splits the far ones instead.
The host reads the counters after each step. A superstep of fused kernels is one launch; here a step is three launches
or more. Besides the queues there is an array with an entry for each edge of a step, up to all edges.

Source: Pan et al., Multi-GPU Graph Analytics, Section VI-C (kernel fusion).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphdask.algorithms._sssp_state import (
    ACTED,
    COUNTERS,
    FAR,
    GHOSTS,
    HUBS,
    LED,
    NEAR,
    SPLIT,
    STEP,
    Between,
    SsspState,
    Work,
)
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import HUB_THREADS, Environment
from graphdask.kernels.sssp.sssp_unfused_pack import Stepping
from graphdask.partition.part import Part


def between_memory(part: Part, allocation: Allocation, label: np.dtype) -> int:
    """Return the bytes of the buffers between advance and filter, at first."""
    return allocation.first(part.out.num_edges) * (part.vertex_map.dtype.itemsize + label.itemsize)


def between(part: Part, env: Environment, label: np.dtype, distance: np.dtype) -> Between:
    """Return the buffers between advance and filter."""
    edges, what = part.out.num_edges, "the array between advance and filter of SSSP, an entry for each edge of a step,"
    led, offered = env.buffer(what, edges, part.vertex_map.dtype), env.buffer(what, edges, label)
    return Between(led, offered, env.xp.empty(1, distance))


def advance(
    part: Part, state: SsspState, kernels: Any, env: Environment, splits: int, enough: int, nearest: float,
    delta: float, most: float,
) -> np.ndarray:  # fmt: skip
    """Do what `sssp_advance` does (sssp.py), step by step; return the words of `Work.control` after it."""
    work = state.work
    assert work is not None
    assert work.between is not None
    pack = work.stepping = work.stepping or _stepping(part, state, work, work.between)
    step, split, mark, acted = state.step, state.split, state.superstep, 0
    _clear(work, GHOSTS + mark % 2)
    while True:
        found = env.backend.to_host(work.control).copy()
        length, waiting = int(found[NEAR + step % 3]), int(found[FAR + split % 3])
        closest = float(found[COUNTERS + split % 3 :][:1].view(np.float64)[0])
        start = nearest if step == state.step else closest
        ends = length == 0 and (split == state.split + splits or not start < most)
        if ends or (acted and length >= enough):
            found[[STEP, SPLIT, ACTED]] = step, split, state.acted + acted
            return found
        near, step = work.near[step % 2], step + 1
        _clear(work, NEAR + step % 3)
        pack.near = work.near[step % 2]
        if length:
            acted += length
            pack.far = work.far[split % 2]
            _lead(part, work, kernels, env, near[:length], pack)
            kernels.sssp_filter(min(part.out.num_edges, HUB_THREADS), step, split, mark, pack)
            continue
        far, split = work.far[split % 2], split + 1
        _clear(work, FAR + split % 3)
        work.least[split % 3 : split % 3 + 1] = math.inf
        pack.far = work.far[split % 2]
        kernels.sssp_split(max(1, min(waiting, HUB_THREADS)), step, split, mark, start, delta, most, far, waiting, pack)
        work.limit[:] = work.between.after


def _stepping(part: Part, state: SsspState, work: Work, between: Between) -> Stepping:
    """What the kernels work on, without the near and far vertices."""
    return Stepping(
        indptr=part.out.indptr, indices=part.out.indices, weights=state.weights, each=state.each, ids=part.ids,
        labels=state.labels, stamp=work.stamp, limit=work.limit, after=between.after, owned=part.num_owned,
        led=between.led.array, offered=between.offered.array, ghost_queue=work.ghost_queue, hubs=work.hubs,
        counters=work.counters, least=work.least,
    )  # fmt: skip


def _lead(part: Part, work: Work, kernels: Any, env: Environment, near: Any, pack: Stepping) -> None:
    """Write down the edges of the near vertices."""
    csr, between = part.out, work.between
    assert between is not None
    if env.allocation.partial:
        edges = int((csr.indptr[near + 1] - csr.indptr[near]).sum())
        pack.release("led", "offered")
        between.led.fit(edges), between.offered.fit(edges)
        pack.led, pack.offered = between.led.array, between.offered.array
    _clear(work, LED)
    _clear(work, HUBS)
    kernels.sssp_lead(len(near), near, pack)
    kernels.sssp_lead_hubs(HUB_THREADS, pack)


def _clear(work: Work, place: int) -> None:
    work.counters[place : place + 1] = 0
