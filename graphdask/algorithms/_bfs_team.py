"""Breadth-first search by the GPUs of a host together: all levels in one launch on each (kernels/bfs_team.cu).

What `bfs` does superstep by superstep with mail between, kernels do here by themselves: they write into each other's
memory and meet there. It is used where ranks can (`Communicator.peers`), for a selective exchange with room for all
vertices; the answer is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms._direction import ALPHA, BETA, Direction
from graphdask.backend import Array
from graphdask.comm.peers import Peers
from graphdask.engine import Environment, Superstep
from graphdask.ghosts import mirrors
from graphdask.kernels import bfs_team as at
from graphdask.part import Part

THREADS = 1 << 24
"""More than run at the same time: as many as can take part."""
MOST_LEVELS = 1 << 10
"""Of a launch: some ten milliseconds, after which the host looks at its deadline."""
FIRST_READ = 512
"""Words of the log that are read at once: that of some sixty levels."""
ALIGNED = 256


def _room(nbytes: int) -> int:
    return -(-nbytes // ALIGNED) * ALIGNED


class TeamSearch:
    """The part of one rank. Every rank makes it, in `init`.

    Parameters
    ----------
    peers : Peers
    part : Part
    env : Environment
    arrays : dict of str to (array or None)
        Under the names of kernels/bfs_team.py, in lower case: depth, parent, seen, ghost_queue, long_rows; queues and
        waiting as pairs, the latter None where it never pulls.
    """

    def __init__(self, peers: Peers, part: Part, env: Environment, arrays: dict[str, Any]):
        self.peers, self.part, self.env = peers, part, env
        dtype, size, rank = part.vertex_map.dtype, part.size, part.rank
        self.kernels = env.kernels("bfs_team", cooperative=True, index_t=dtype)
        self.counters = env.xp.zeros((3, at.BFS_ROW), np.int64)
        self.log = env.xp.zeros(at.END_WORDS + MOST_LEVELS * at.LOG_WORDS, np.int64)
        whole = part.ghosts is None
        held = [] if whole else mirrors(env.comm, env.backend, part)  # type: ignore[arg-type]
        steps = range(1, size)
        counts = [0] + [part.num_owned if whole else len(held[(rank + step) % size]) for step in steps]
        known = [0, *np.diff(part.slot_bounds)[1:].tolist()]
        places, end = np.zeros((2, size), np.int64), 0
        for step in steps:
            peer = (rank + step) % size
            places[0, peer], end = end, end + _room(2 * counts[step] * dtype.itemsize)
            places[1, peer], end = end, end + _room((known[step] + 31) // 32 * 4)
        addresses, told = peers.memory(end, places.reshape(-1))
        told = told.reshape(size, 2, size)
        row = self.row = np.zeros(at.ROW, np.int64)
        row[at.OWNED], row[at.SLOTS] = part.num_owned, part.num_slots
        csr = part.inward if arrays["waiting"] is not None else None
        self._kept: list[Array] = []
        self._numbers: tuple[Any, ...] = ()
        for name, array in (
            (at.INDPTR, part.out.indptr), (at.INDICES, part.out.indices), (at.IDS, part.ids),
            (at.IN_INDPTR, csr and csr.indptr), (at.IN_INDICES, csr and csr.indices), (at.DEPTH, arrays["depth"]),
            (at.PARENT, arrays["parent"]), (at.SEEN, arrays["seen"]), (at.GHOST_QUEUE, arrays["ghost_queue"]),
            (at.LONG_ROWS, arrays["long_rows"]), (at.COUNTERS, self.counters), (at.LOG, self.log),
        ):  # fmt: skip
            row[name] = self._address(array)
        for name, pair in ((at.QUEUES, arrays["queues"]), (at.WAITING, arrays["waiting"] or (None, None))):
            row[name : name + 2] = [self._address(array) for array in pair]
        row[at.BOUNDS : at.BOUNDS + size + 1] = part.slot_bounds
        for step in steps:
            peer = (rank + step) % size
            row[at.HELD + step] = counts[step]
            if counts[step] < part.num_owned:
                row[at.MIRRORS + step] = self._address(held[peer])
            row[at.LISTS + step], row[at.BITS + step] = addresses[peer] + told[peer, :, rank]
            row[at.IN_LISTS + step], row[at.IN_BITS + step] = addresses[rank] + places[:, peer]

    def _address(self, array: Array | None) -> int:
        if array is None:
            return 0
        self._kept.append(array)
        return self.env.backend.address(array)

    def run(self, count: int, weight: Array, direction: Direction) -> tuple[int, bool]:
        """Go through all levels.

        Parameters
        ----------
        count : int
            How many sources this rank has, in the queue of level 0.
        weight : int64 array, shape (1,)
            Their out-edges, on the device.
        direction : Direction

        Returns
        -------
        int
            The level at the end.
        bool
            Whether any level was pulled.
        """
        env, pulled, row_words, level = self.env, False, at.ROW, 0
        counters = np.zeros((3, at.BFS_ROW), np.int64)
        counters[0, at.FOUND], counters[0, at.EDGES] = count, self.part.out.num_edges
        self.counters.set(counters)
        self.counters[0, at.WEIGHT : at.WEIGHT + 1] = weight
        may_pull = {"push": 0, "auto": 1, "pull": 2}[direction.mode]
        pulls, unexplored, found = int(may_pull == 2), 0.0, 0.0
        while True:
            self._numbers = (
                row_words, level, MOST_LEVELS, pulls, may_pull, unexplored, found, float(direction.num_vertices), ALPHA,
                BETA,
            )  # fmt: skip
            self.peers.run(self.row, self._launch)
            told = env.backend.to_host(self.log[:FIRST_READ])
            ends, levels = told[: at.END_WORDS], int(told[at.END_LEVELS])
            if ends[at.END_DONE] == 2:
                raise self.peers.late()
            if at.END_WORDS + levels * at.LOG_WORDS > FIRST_READ:
                told = env.backend.to_host(self.log)
            for line in told[at.END_WORDS :][: levels * at.LOG_WORDS].reshape(levels, -1).tolist():
                env.record(self._superstep(line))
                pulled = pulled or bool(line[at.LOG_PULLS])
            level += levels
            if ends[at.END_DONE]:
                return level, pulled
            pulls = int(ends[at.END_PULLS])
            unexplored, found = ends[[at.END_UNEXPLORED, at.END_FOUND]].view(np.float64).tolist()
            env.check_deadline("BFS", f"level {level}")

    def _launch(self, rows: Array, teams: int) -> None:
        self.kernels.bfs_team(THREADS, rows, *self._numbers, teams=teams)

    def _superstep(self, line: list[int]) -> Superstep:
        told = "bitmap" if line[at.LOG_PULLS] else "list"
        return Superstep(
            number=len(self.env.history),
            frontier=line[at.LOG_FRONTIER],
            edges=line[at.LOG_EDGES],
            messages=line[at.LOG_SENT],
            bytes_sent=line[at.LOG_BYTES],
            codes=(told,) if line[at.LOG_BYTES] else (),
            compute=line[at.LOG_COMPUTE] / 1e9,
            code=0.0,
            exchange=line[at.LOG_EXCHANGE] / 1e9,
            wait=line[at.LOG_WAIT] / 1e9,
        )
