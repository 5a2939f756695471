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

from graphdask.algorithms._sssp_state import SsspState, Work
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation, Buffer
from graphdask.engine.loop import HUB_THREADS, Environment, Messages
from graphdask.engine.team import Peers
from graphdask.kernels.sssp.sssp_pack import COUNTS
from graphdask.kernels.sssp.sssp_unfused_pack import Stepping
from graphdask.partition.part import Part

AT = COUNTS.place


@dataclass
class SteppedWork(Work):
    led: Buffer
    """Where edges lead."""
    offered: Buffer
    """The label that each offers."""
    stepping: Stepping
    """What the kernels work on."""


class UnfusedPaths(ShortestPaths):
    """A search whose superstep is many steps: one relaxes the edges of the near vertices or, if there are none, splits
    the far ones. The host reads the counters after each."""

    finds_parents = False

    def _memory(self, part: Part, allocation: Allocation, exchange: int) -> int:
        entry = part.vertex_map.dtype.itemsize + self.label.itemsize
        return super()._memory(part, allocation, exchange + allocation.first(part.out.num_edges) * entry)

    def _peers(self, part: Part, env: Environment) -> Peers | None:
        return None

    def init(self, part: Part, env: Environment) -> tuple[SsspState, Messages]:
        state, messages = super().init(part, env)
        work, edges = state.work, part.out.num_edges
        assert work is not None
        relaxing = work.relaxing
        what = "the array between advance and filter of SSSP, an entry for each edge of a step,"
        led, offered = env.buffer(what, edges, part.vertex_map.dtype), env.buffer(what, edges, self.label)
        stepping = Stepping(
            indptr=part.out.indptr, indices=part.out.indices, weights=state.weights, each=state.each, ids=part.ids,
            labels=state.labels, stamp=relaxing.stamp, limit=relaxing.limit, after=env.xp.empty(1, self.distance),
            owned=part.num_owned, led=led.array, offered=offered.array, ghost_queue=work.ghosts.array,
            hubs=work.hubs.array, counters=relaxing.counters, least=relaxing.least,
        )  # fmt: skip
        state.work = SteppedWork(**vars(work), led=led, offered=offered, stepping=stepping)
        return state, messages

    def _relax(
        self, part: Part, state: SsspState, env: Environment, splits: int, enough: int, nearest: float, delta: float,
        most: float,
    ) -> np.ndarray:  # fmt: skip
        work, kernels = state.work, self._kernels(part, state, env, "sssp_unfused")
        assert isinstance(work, SteppedWork)
        pack, step, split, mark, acted = work.stepping, state.step, state.split, state.superstep, 0
        _clear(work, AT.ghosts.start + mark % 2)
        while True:
            found: np.ndarray = env.backend.to_host(work.control).copy()
            length, waiting = int(found[AT.near.start + step % 3]), int(found[AT.far.start + split % 3])
            closest = float(found[len(COUNTS) + split % 3 :][:1].view(np.float64)[0])
            start = nearest if step == state.step else closest
            ends = length == 0 and (split == state.split + splits or not start < most)
            if ends or (acted and length >= enough):
                found[[AT.step, AT.split, AT.acted]] = step, split, state.acted + acted
                return found
            near, step = work.queues[step % 2].array, step + 1
            _clear(work, AT.near.start + step % 3)
            pack.near = work.queues[step % 2].array
            if length:
                acted += length
                pack.far = work.far[split % 2]
                _lead(part, work, kernels, env, near[:length])
                kernels.sssp_filter(min(part.out.num_edges, HUB_THREADS), step, split, mark, pack)
                continue
            far, split = work.far[split % 2], split + 1
            _clear(work, AT.far.start + split % 3)
            pack.least[split % 3 : split % 3 + 1] = math.inf
            pack.far = work.far[split % 2]
            threads = max(1, min(waiting, HUB_THREADS))
            kernels.sssp_split(threads, step, split, mark, start, delta, most, far, waiting, pack)
            pack.limit[:] = pack.after


def _lead(part: Part, work: SteppedWork, kernels: Any, env: Environment, near: Array) -> None:
    """Store where the edges of the near vertices lead."""
    csr, pack = part.out, work.stepping
    if env.allocation.partial:
        edges = int((csr.indptr[near + 1] - csr.indptr[near]).sum())
        pack.release("led", "offered")
        pack.led, pack.offered = work.led.fit(edges), work.offered.fit(edges)
    _clear(work, AT.led)
    _clear(work, AT.hubs.start)
    kernels.sssp_lead(len(near), near, pack)
    kernels.sssp_lead_hubs(HUB_THREADS, pack)


def _clear(work: Work, place: int) -> None:
    work.relaxing.counters[place : place + 1] = 0
