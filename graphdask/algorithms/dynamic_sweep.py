"""Sums over all rows of in-edges of a large dynamic graph on a GPU, as the ordinary PageRank does them (pull.py): where
all vertices are ranked, and where so many are that their rows alone would not take less.

Which rows have few edges, and the chunks of the others, are listed once after a batch; so chunks of about one length
are summed side by side, a row of very many edges by whoever is free, and the contributions that are read most often,
those of the first slots of each rank, out of shared memory. The order of additions in a row is that of the other
kernels (lanes.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.algorithms import pull
from graphdask.algorithms.dynamic_ranks import State
from graphdask.algorithms.pull import Chunks
from graphdask.backend import Array
from graphdask.dynamic_rows import DynamicPart
from graphdask.engine import Environment

NAME = "rows of in-edges, listed"
"""Of the table that a part keeps."""
MANY = 0.75
"""Share of the in-edges from which on all are summed over."""
KINDS = 10
"""Of rows and chunks, by their lengths; kernels/dynamic_sweep.py."""


@dataclass(frozen=True)
class Sweep:
    """The rows of in-edges of a part, as they were after so many batches."""

    few: Array
    """Own vertices with 1 to pull.FEW in-edges, index dtype; the sums of those with none stay 0."""
    long: Chunks
    """Of the others."""
    partial: Array
    """float64, for the sums of parts of long rows."""
    hot: int
    """How many contributions, of each rank from its first slot on, chunks find in shared memory."""
    ranges: tuple[int, int]
    """Of how many ranks, this one and the next ones, and how far apart they begin; see _ranges."""
    batches: int

    @property
    def nbytes(self) -> int:
        return self.few.nbytes + self.long.nbytes + self.partial.nbytes

    @staticmethod
    def memory(part: DynamicPart) -> int:
        """Bytes that lists take at most while they are made; 0 where they are there, or of no use."""
        rows, index = part.backward, part.ids.itemsize
        if isinstance(part.ids, np.ndarray) or rows.used < pull.STAGED_FROM or _kept(part) is not None:
            return 0
        chunks = min(part.num_owned, rows.used // (pull.FEW + 1)) + rows.used // pull.CHUNK
        return part.num_owned * index + chunks * (8 + index) + rows.used // pull.CHUNK * (24 + index)

    @classmethod
    def of(cls, part: DynamicPart, state: State, env: Environment) -> Sweep | None:
        """What the part keeps, or else what is made now; None where other kernels do as well."""
        room, least = env.backend.shared_memory, pull.STAGED_FROM * env.backend.processors
        if not room or state.num_edges < least:
            return None
        sweep = _kept(part)
        if sweep is None:
            few, long = _lists(part, env)
            staged = min(state.num_edges, pull.CHUNK * len(long.chunks)) >= least
            ranges, width = _ranges(part)
            hot = min(min(pull.STAGED, room) // 8 // ranges, width) if staged else 0
            sweep = cls(few, long, env.xp.empty(long.partials), hot, (ranges, width), part.batches)
            part.tables.keep(NAME, sweep, sweep.nbytes)
        return sweep

    def sum(self, part: DynamicPart, state: State, env: Environment) -> None:
        """Write to `state.sums` what each row gathers from `state.x`."""
        dtype, rows, long = part.ids.dtype, part.backward, self.long
        kernels = env.kernels("pagerank", index_t=dtype, real_t=np.float64, weight_t=np.float32)
        blocks = {**pull.STAGING, "shared": self.hot * self.ranges[0] * 8} if self.hot else {}
        kernels.pagerank_sum_chunks(
            pull.LANES * len(long.chunks), long.chunks, long.targets, rows.indices, None, 0, state.x, self.hot,
            *self.ranges, state.sums, self.partial, **blocks,
        )  # fmt: skip
        env.kernels("dynamic", index_t=dtype).dynamic_sum(
            len(self.few), state.every, self.few, rows.begin, rows.length, rows.indices, state.x, state.sums
        )
        kernels.pagerank_sum_partials(
            pull.LANES * len(long.many), long.many, long.first_chunk, self.partial, state.sums
        )


def _lists(part: DynamicPart, env: Environment) -> tuple[Array, Chunks]:
    """The rows of few in-edges, and those of more in chunks, those of about one length together."""
    xp, dtype, rows, owned = env.xp, part.ids.dtype, part.backward, part.num_owned
    kernels, counts = env.kernels("dynamic_sweep", index_t=dtype), xp.zeros(KINDS + 1, np.uint64)
    kernels.dynamic_sweep_count(owned, rows.length, counts)
    few, *sizes, many, partials = env.backend.to_host(counts).tolist()
    size = sum(sizes)
    lists = (
        xp.empty(few, dtype), xp.zeros(size + -size % 4, np.int64), xp.zeros(size + -size % 4, dtype),
        xp.full(many + -many % 4, -1, dtype), xp.zeros(many + 1, np.int64),
    )  # fmt: skip
    kernels.dynamic_sweep_list(owned, rows.begin, rows.length, counts, xp.zeros(KINDS, np.uint64), *lists)
    return lists[0], Chunks(*lists[1:], partials)


def _ranges(part: DynamicPart) -> tuple[int, int]:
    """So many ranges of x, as far apart, that each begins where the slots of a rank do, or less than `size` before;
    only the own slots, and what follows, where ranks have not as many vertices as each other."""
    size, width = part.size, part.num_vertices // part.size
    shifts = part.slot_bounds[:-1] - width * np.arange(size)
    return (size, width) if width and ((shifts >= 0) & (shifts < size)).all() else (1, part.num_slots)


def _kept(part: DynamicPart) -> Sweep | None:
    sweep: Sweep | None = part.tables.get(NAME)
    return sweep if sweep is not None and sweep.batches == part.batches else None
