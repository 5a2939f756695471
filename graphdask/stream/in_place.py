"""Rows of a store whose chunks are all in the host's memory, as a device reads them over the bus: those that it needs.

Nothing is copied but what stands once for each vertex. A kernel that meets a chunk which is not in memory yet goes on
without it and says so; it is launched again once the chunk has been read.

Source: Min et al., EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs (2020).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.kernels.stream.in_place_pack import RowsThere
from graphdask.stream.device_runs import Run
from graphdask.stream.window import Traffic

SECTOR = 32
"""Bytes that travel at least."""


def possible(run: Run, per_vertex: int, more: int = 0) -> bool:
    """Return whether a run can read rows in place.

    It can if it asks neither for copies nor for one pass, all chunks stay in the host's memory and have fewer than 2^32
    edges each, and the tables fit the run's memory on the device.

    Parameters
    ----------
    per_vertex, more : int
        Bytes of the device per vertex and besides, with the 4 of where rows end.
    """
    table = run.store.sections["out"].table
    fits = per_vertex * run.store.num_vertices + more + _tables(len(table)) <= run.memory
    few = int(table["edges"].max(initial=0)) < 2**32
    return fits and few and run.ahead is None and not run.once and run.host.all_stay


def _tables(chunks: int) -> int:
    return 8 * (4 * chunks + 64)


class RowsInPlace:
    """What kernels are given to find rows of out-edges (kernels/stream/in_place_pack.py), and what they have read.

    Parameters
    ----------
    more : int
        Bytes of the device that the caller uses in addition to its bytes per vertex.
    """

    def __init__(self, run: Run, more: int = 0):
        self._run, self._section = run, run.store.sections["out"]
        n, section, xp = run.store.num_vertices, self._section, run.xp
        edges = section.table["edges"].astype(np.int64)
        self.degrees, self.num_edges = run.host.column("degrees"), int(edges.sum())
        self.ends = xp.zeros(n + 1, np.uint32)
        xp.cumsum(run.sent(self.degrees).view(np.uint32), dtype=np.uint32, out=self.ends[1:])
        self._firsts = run.sent(section.table["first"].astype(np.int64))
        self._begins, self._asked = run.sent(np.cumsum(edges) - edges), xp.zeros(len(section), np.uint64)
        there = [self._address(k) if run.host.ready(section, k) else 0 for k in range(len(section))]
        self._bases = np.array(there, np.uint64)
        self._traffic = Traffic(memory=_tables(len(section)) + more, nbytes=4 * n)
        run.log.traffic.append(self._traffic)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of `RowsThere`, but for `bases`."""
        return {"chunks": len(self._section), "firsts": self._firsts, "begins": self._begins, "ends": self.ends,
                "asked": self._asked}  # fmt: skip

    def until_there(self, kernel: Callable[..., None], n: int, pack: RowsThere, cleared: list[int | slice]) -> Any:
        """Launch a kernel until no chunk that it asks for is missing; return what it counted, by name.

        Parameters
        ----------
        cleared : list
            The places of counters that are 0 before each launch.
        """
        run, counts = self._run, pack.counter_fields["counters"]
        while True:
            pack.bases = run.sent(self._bases)
            kernel(n, pack)
            words = run.backend.to_host(pack.counters)
            if not words[counts.place.missing].any():
                return counts.of(words)
            for place in cleared:
                words[place] = 0
            pack.counters = run.sent(words)
            wanted = np.flatnonzero((run.backend.to_host(self._asked) > 0) & (self._bases == 0)).tolist()
            for number in wanted:
                run.host.ask(self._section, number)
            for number in wanted:
                self._bases[number] = self._address(number)
                run.log.check()

    def _address(self, number: int) -> int:
        """Where the edges of a chunk begin in the host's memory."""
        memory = self._run.host.in_place(self._section, number)
        return self._run.backend.address(memory) + self._section.sizes(number)[0]

    def settle(self, sectors: int) -> None:
        """Reckon up what was read, with the vertex numbers that are sent."""
        traffic, section = self._traffic, self._section
        asked = np.flatnonzero(self._run.backend.to_host(self._asked)).tolist()
        traffic.in_place = SECTOR * sectors
        traffic.nbytes += traffic.in_place + (0 if self._run.store.by_number else 4 * self._run.store.num_vertices)
        traffic.distinct = sum(sum(section.sizes(number)) for number in asked)
        traffic.edges = int(section.table["edges"][asked].sum())
        traffic.skipped = len(section) - len(asked)
