"""Shortest paths with advance and filter as separate kernels, which the benchmark compares.

An advance stores where every edge of the frontier leads, and a filter reads that. This takes more launches, and arrays
as long as these edges, up to all edges. The answers are the same.

Source: Pan et al., Multi-GPU Graph Analytics, Section VI-C (kernel fusion).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.sssp_state import SsspState
from graphdask.device.backend import Array
from graphdask.engine.bucket_search import Bucket
from graphdask.engine.buckets import Buckets
from graphdask.engine.buffers import Allocation, Buffer
from graphdask.engine.loop import HUB_THREADS, Environment
from graphdask.engine.team import Peers
from graphdask.kernels.common.buckets_pack import COUNTS
from graphdask.kernels.sssp.sssp_unfused_pack import Stepping
from graphdask.partition.part import Part

AT = COUNTS.place


@dataclass
class SteppedBuckets(Buckets):
    led: Buffer
    """Where edges lead."""
    offered: Buffer
    """The label that each offers."""
    stepping: Stepping
    """What the kernels frontier on."""


class UnfusedPaths(ShortestPaths):
    """A search whose superstep is many steps: one relaxes the edges of the near vertices or, if there are none, splits
    the far ones. The host reads the counters after each."""

    finds_parents = False

    def _memory(self, part: Part, allocation: Allocation, exchange: int) -> int:
        entry = part.vertex_map.dtype.itemsize + self.label.itemsize
        return super()._memory(part, allocation, exchange + allocation.first(part.out.num_edges) * entry)

    def peers(self, part: Part, env: Environment) -> Peers | None:
        return None

    def before(self, part: Part, env: Environment, sources: Array, peers: Peers | None, together: bool) -> SsspState:
        state = super().before(part, env, sources, peers, together)
        frontier, edges = state.frontier, part.out.num_edges
        assert frontier is not None
        search = frontier.search
        what = "the array between advance and filter of SSSP, an entry for each edge of a step,"
        led, offered = env.buffer(what, edges, part.vertex_map.dtype), env.buffer(what, edges, self.label)
        stepping = Stepping(
            indptr=part.out.indptr, indices=part.out.indices, weights=state.weights, each=state.each, ids=part.ids,
            labels=state.labels, stamp=search.stamp, limit=search.limit, after=env.xp.empty(1, self.distance),
            owned=part.num_owned, led=led.array, offered=offered.array, ghost_queue=frontier.ghosts.array,
            hubs=frontier.hubs.array, counters=search.counters, least=search.least,
        )  # fmt: skip
        state.frontier = SteppedBuckets(**vars(frontier), led=led, offered=offered, stepping=stepping)
        return state

    def relax(self, part: Part, state: SsspState, bucket: Bucket, env: Environment) -> np.ndarray:
        frontier, kernels = state.frontier, self._kernels(part, state, env, "sssp_unfused")
        assert isinstance(frontier, SteppedBuckets)
        pack, step, split, mark, acted = frontier.stepping, state.step, state.split, state.superstep, 0
        _clear(frontier, AT.ghosts.start + mark % 2)
        while True:
            found: np.ndarray = env.backend.to_host(frontier.control).copy()
            length, waiting = int(found[AT.near.start + step % 3]), int(found[AT.far.start + split % 3])
            closest = float(found[len(COUNTS) + split % 3 :][:1].view(np.float64)[0])
            start = bucket.nearest if step == state.step else closest
            ends = length == 0 and (split == state.split + bucket.splits or not start < bucket.most)
            if ends or (acted and length >= bucket.enough):
                found[[AT.step, AT.split, AT.acted]] = step, split, state.acted + acted
                return found
            near, step = frontier.queues[step % 2].array, step + 1
            _clear(frontier, AT.near.start + step % 3)
            pack.near = frontier.queues[step % 2].array
            if length:
                acted += length
                pack.far = frontier.far[split % 2]
                _lead(part, frontier, kernels, env, near[:length])
                kernels.sssp_filter(min(part.out.num_edges, HUB_THREADS), step, split, mark, pack)
                continue
            far, split = frontier.far[split % 2], split + 1
            _clear(frontier, AT.far.start + split % 3)
            pack.least[split % 3 : split % 3 + 1] = math.inf
            pack.far = frontier.far[split % 2]
            threads = max(1, min(waiting, HUB_THREADS))
            kernels.sssp_split(threads, step, split, mark, start, bucket.width, bucket.most, far, waiting, pack)
            pack.limit[:] = pack.after


def _lead(part: Part, frontier: SteppedBuckets, kernels: Any, env: Environment, near: Array) -> None:
    """Store where the edges of the near vertices lead."""
    csr, pack = part.out, frontier.stepping
    if env.allocation.partial:
        edges = int((csr.indptr[near + 1] - csr.indptr[near]).sum())
        pack.release("led", "offered")
        pack.led, pack.offered = frontier.led.fit(edges), frontier.offered.fit(edges)
    _clear(frontier, AT.led)
    _clear(frontier, AT.hubs.start)
    kernels.sssp_lead(len(near), near, pack)
    kernels.sssp_lead_hubs(HUB_THREADS, pack)


def _clear(frontier: Buckets, place: int) -> None:
    frontier.search.counters[place : place + 1] = 0
