"""Breadth-first search by the GPUs of a host together: all levels in one launch on each (kernels/bfs_team.cu)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.algorithms._direction import ALPHA, BETA, Direction
from graphdask.algorithms._search_memory import FEW
from graphdask.backend import Array
from graphdask.buffers import put_aside
from graphdask.engine import Environment, Superstep
from graphdask.kernels import bfs_team as at
from graphdask.part import Part
from graphdask.team import MOST_STEPS, Peers, TeamMemory, TeamRun


def most_aside(part: Part, pulls: bool) -> int:
    """How many rows are put aside at most."""
    if not pulls:
        return put_aside(part.out)
    assert part.inward is not None
    return max(put_aside(part.out), min(part.num_owned, part.inward.num_edges // FEW))


def search_arrays(
    part: Part,
    depth: Array,
    parent: Array,
    seen: Array,
    queues: tuple[Array, Array],
    waiting: tuple[Array, Array] | None,
    ghost_queue: Array,
    long_rows: Array,
) -> dict[int, Array | None]:
    """What the kernel works on, by the places of kernels/bfs_team.py; `waiting` is None where it never pulls."""
    inward = None if waiting is None else part.inward
    return {
        at.INDPTR: part.out.indptr, at.INDICES: part.out.indices, at.IDS: part.ids,
        at.IN_INDPTR: inward and inward.indptr, at.IN_INDICES: inward and inward.indices,
        at.DEPTH: depth, at.PARENT: parent, at.SEEN: seen, at.QUEUES: queues[0], at.QUEUES + 1: queues[1],
        at.WAITING: waiting and waiting[0], at.WAITING + 1: waiting and waiting[1], at.GHOST_QUEUE: ghost_queue,
        at.LONG_ROWS: long_rows,
    }  # fmt: skip


class TeamSearch(TeamRun):
    """The part of one rank. Every rank makes it, from `init`.

    Parameters
    ----------
    count : int
        How many sources this rank has, in the queue of level 0.
    weight : int64 array, shape (1,)
        Their out-edges, on the device.
    direction : Direction
    arrays : dict of int to array or None
        By the places of kernels/bfs_team.py, but for the counters.
    levels : int, optional
        After which it stops, even if more vertices are to be found.
    """

    name = "BFS"
    kinds: ClassVar[tuple[str, ...]] = ("list", "bitmap")

    @staticmethod
    def memory(peers: Peers, part: Part, env: Environment, said: Sequence[int] = ()) -> TeamMemory:
        """For lists of ghosts and their parents, and for bits."""
        return TeamMemory(peers, part, env, ((2 * part.vertex_map.dtype.itemsize, 0), (0, 1)), said)

    def __init__(
        self,
        memory: TeamMemory,
        part: Part,
        env: Environment,
        count: int,
        weight: Array,
        direction: Direction,
        arrays: dict[int, Array | None],
        levels: int | None = None,
    ):
        dtype = part.vertex_map.dtype
        counters = np.zeros((3, at.BFS_ROW), np.int64)
        counters[0, at.FOUND], counters[0, at.EDGES] = count, part.out.num_edges
        on_device = env.backend.from_host(counters)
        on_device[0, at.WEIGHT : at.WEIGHT + 1] = weight
        kernel = env.kernels("bfs_team", cooperative=True, index_t=dtype).bfs_team
        super().__init__(memory, part, env, kernel, {**arrays, at.COUNTERS: on_device})
        self.direction, self.level, self.pulled = direction, 0, False
        self.most, self.stops = levels or MOST_STEPS, levels is not None

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        may_pull = {"push": 0, "auto": 1, "pull": 2}[self.direction.mode]
        pulls, unexplored, found = int(may_pull == 2), 0.0, 0.0
        if ends is not None:
            pulls = int(ends[at.END_PULLS])
            unexplored, found = ends[[at.END_UNEXPLORED, at.END_FOUND]].view(np.float64).tolist()
        vertices = float(self.direction.num_vertices)
        return self.level, self.most, pulls, may_pull, unexplored, found, vertices, ALPHA, BETA

    def _superstep(self, line: list[int]) -> Superstep:
        self.level += 1
        self.pulled = self.pulled or bool(line[0])
        return super()._superstep(line)
