"""Searches over a store whose chunks are all in the host's memory: a device reads the rows that it needs over the bus.

Nothing is copied but what stands once for each vertex, and the host is asked for nothing but chunks that are not in its
memory yet. In an undirected graph a level of many edges is pulled: who is not reached looks for its first neighbour at
that level, which is the one of the smallest number, and most often in the first bytes of its row. So a fraction of the
edges moves.

Source: Min et al., EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs (2020).
"""

from __future__ import annotations

import numpy as np

from graphdask.backend import Array
from graphdask.kernels import layered_search as at
from graphdask.stream.on_device import Run
from graphdask.stream.window import Traffic

QUEUES = 4
"""The largest frontier that is listed has so many edges for each 32 vertices: lists take a byte per vertex."""
SECTOR = 32
"""Bytes that travel at least."""


class InPlace:
    """A search in place: what the device is given, and what it takes.

    Parameters
    ----------
    pulls : bool
        Whether levels may be pulled, where rows are those of in-edges too.
    """

    def __init__(self, run: Run, pulls: bool):
        store, section = run.store, run.store.sections["out"]
        n = store.num_vertices
        self._run, self._section, self._pulls = run, section, pulls and not store.header["directed"]
        self._room, self._many = n * QUEUES // 32 + 1, section.num_edges // at.HUB + 1
        self.tables = 8 * (4 * len(section) + at.STATE) + 4 * self._many
        """Bytes of the device beside 17 for each vertex."""

    @property
    def possible(self) -> bool:
        """Whether nobody asks for copies or for one pass, all chunks stay in the host's memory, and tables find room
        besides what is kept per vertex."""
        run, edges = self._run, self._section.table["edges"]
        fits = self.tables + 17 * run.store.num_vertices + 64 <= run.memory and int(edges.max(initial=0)) < 2**32
        return fits and run.ahead is None and not run.once and run.host.all_stay

    def labels(self, source: int) -> tuple[Array, Array | None]:
        """Labels by position, as those of `graphdask.stream.paths.search`, and vertex numbers by position."""
        run, section, xp = self._run, self._section, self._run.xp
        n, edges = run.store.num_vertices, section.table["edges"].astype(np.int64)
        ids, host = run.ids(), run.host
        place = source if ids is None else int((ids == source).argmax())
        degrees, ends = host.column("degrees"), xp.zeros(n + 1, np.uint32)
        xp.cumsum(run.sent(degrees).view(np.uint32), dtype=np.uint32, out=ends[1:])
        labels = xp.full(n, np.iinfo(np.int64).max, np.int64)
        labels[place] = source
        queues, hubs = xp.empty(2 * self._room, np.int32), xp.empty(self._many, np.int32)
        queues[0] = place
        words = np.zeros(at.STATE + len(section), np.uint64)
        words[[at.LISTED, at.FOUND]] = 1
        words[at.LEFT], words[at.EDGES] = edges.sum(), degrees[place]
        state, begins = run.sent(words), run.sent(np.cumsum(edges) - edges)
        firsts = run.sent(section.table["first"].astype(np.int64))
        bases = np.array(
            [self._address(number) if host.ready(section, number) else 0 for number in range(len(section))]
        )
        kernels = run.backend.kernels("layered_search", cooperative=True, index_t=np.int32)
        traffic = Traffic(memory=self.tables, nbytes=4 * n * (1 if ids is None else 2))
        run.log.traffic.append(traffic)
        while True:
            kernels.layered_search(
                n, len(section), firsts, begins, run.sent(bases.astype(np.uint64)), ends, ids, int(self._pulls), labels,
                queues, self._room, hubs, state[: at.STATE], state[at.STATE :],
                per_item=max(1, section.num_edges // (4 * n)),
            )  # fmt: skip
            before, words = words, run.backend.to_host(state)
            run.log.sweep(*(int(words[word] - before[word]) for word in (at.WORKED, at.LOOKED)))
            asked = words[at.STATE :] > 0
            if not words[at.MISSING : at.STATE].any():
                break
            words[[at.ARRIVED, *range(at.HUBS, at.STATE)]] = 0
            state.set(words)
            self._read(np.flatnonzero(asked & (bases == 0)).tolist(), bases)
        traffic.in_place = SECTOR * int(words[at.SECTORS])
        traffic.nbytes += traffic.in_place
        traffic.least = sum(sum(section.sizes(number)) for number in np.flatnonzero(asked).tolist())
        traffic.skipped = len(section) - int(asked.sum())
        return labels, ids

    def _read(self, numbers: list[int], bases: np.ndarray) -> None:
        """Read chunks from the file, and say where they are."""
        for number in numbers:
            self._run.host.ask(self._section, number)
        for number in numbers:
            bases[number] = self._address(number)
            self._run.log.check()

    def _address(self, number: int) -> int:
        """Where the edges of a chunk begin in the host's memory."""
        memory = self._run.host.in_place(self._section, number)
        return self._run.backend.address(memory) + self._section.sizes(number)[0]
