"""Sums over all rows of in-edges of a large dynamic graph on a GPU, as those of PageRank (engine/row_sums.py): where
all vertices are ranked, and where so many are that their rows alone would not take less.

Which rows have few edges, and the chunks of the others, are listed once after a batch; so chunks of about one length
are summed side by side, a row of very many edges by whoever is free, and the contributions that are read most often,
those of the first slots of each rank, out of shared memory. The order of additions in a row is that of the other
kernels (lanes.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.algorithms.dynamic_ranks import DynamicRanksState
from graphdask.device.backend import Array
from graphdask.dynamic.rows import DynamicPart
from graphdask.engine import row_sums
from graphdask.engine.loop import Environment
from graphdask.engine.row_sums import Chunks
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common.tuning import ROW_FEW
from graphdask.kernels.common.tuning import SWEEP_KINDS as KINDS
from graphdask.kernels.pagerank.pagerank_pack import RankRows

NAME = "rows of in-edges, listed"
"""Of the table that a part keeps."""
MANY = 0.75
"""Share of the in-edges from which on all are summed over."""


@dataclass(frozen=True)
class Sweep:
    """The rows of in-edges of a part, as they were after so many batches."""

    few: Array
    """Own vertices with 1 to ROW_FEW in-edges, index dtype; the sums of those with none stay 0."""
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
        if isinstance(part.ids, np.ndarray) or rows.used < ENGINE.staged_from or _kept(part) is not None:
            return 0
        chunks = min(part.num_owned, rows.used // (ROW_FEW + 1)) + rows.used // row_sums.CHUNK
        return part.num_owned * index + chunks * (8 + index) + rows.used // row_sums.CHUNK * (24 + index)

    @staticmethod
    def count(part: DynamicPart, env: Environment) -> Array | None:
        """Have rows counted that are going to be listed, while the host does something else; None where none are."""
        if not env.backend.shared_memory or part.num_in_edges < _least(env) or _kept(part) is not None:
            return None
        counts = env.xp.zeros(KINDS + 1 + KINDS, np.uint64)
        kernels = env.kernels("dynamic_sweep", index_t=part.vertex_map.dtype)
        kernels.dynamic_sweep_count(part.num_owned, part.backward.length, counts)
        return counts

    @classmethod
    def of(cls, part: DynamicPart, state: DynamicRanksState, env: Environment) -> Sweep | None:
        """What the part keeps, or else what is made now; None where other kernels do as well."""
        shared, least = env.backend.shared_memory, _least(env)
        if not shared or state.num_edges < least:
            return None
        sweep = _kept(part)
        if sweep is None:
            few, long = _lists(part, state, env)
            staged = min(state.num_edges, row_sums.CHUNK * len(long.chunks)) >= least
            ranges, width = _ranges(part)
            hot = min(min(row_sums.STAGED, shared) // 8 // ranges, width) if staged else 0
            sweep = cls(few, long, env.xp.empty(long.partials), hot, (ranges, width), part.batches)
            part.tables.keep(NAME, sweep, sweep.nbytes)
        return sweep

    def sum(self, part: DynamicPart, state: DynamicRanksState, env: Environment, goes: Array | None = None) -> None:
        """Write to `state.sums` what each row gathers from `state.x`, unless `goes`, one uint64, is 0."""
        dtype, rows, long = part.ids.dtype, part.backward, self.long
        kernels = env.kernels("pagerank", index_t=dtype, real_t=np.float64, weight_t=np.float32)
        blocks = {**row_sums.STAGING, "shared": self.hot * self.ranges[0] * 8} if self.hot else {}
        kernels.pagerank_sum_chunks(
            row_sums.LANES * len(long.chunks), RankRows(
                chunks=long.chunks, targets=long.targets, indices=rows.indices, weighted=0, x=state.x, hot=self.hot,
                ranges=self.ranges[0], width=self.ranges[1], sums=state.sums, partial=self.partial, goes=goes,
            ), **blocks,
        )  # fmt: skip
        env.kernels("dynamic", index_t=dtype).dynamic_sum(
            len(self.few), state.every if goes is None else goes, self.few, rows.begin, rows.length, rows.indices,
            state.x, state.sums,
        )  # fmt: skip
        kernels.pagerank_sum_partials(
            row_sums.LANES * len(long.many), long.many, long.first_chunk, self.partial, state.sums
        )


def _least(env: Environment) -> int:
    """Edges from which on it pays."""
    return ENGINE.staged_from * env.backend.processors


def _lists(part: DynamicPart, state: DynamicRanksState, env: Environment) -> tuple[Array, Chunks]:
    """The rows of few in-edges, and those of more in chunks, those of about one length together."""
    xp, dtype, rows, owned = env.xp, part.ids.dtype, part.backward, part.num_owned
    counts = Sweep.count(part, env) if state.row_kinds is None else state.row_kinds
    assert counts is not None
    state.row_kinds = None
    few, *sizes, many, partials = env.backend.to_host(counts)[: KINDS + 1].tolist()
    size = sum(sizes)
    lists = (
        xp.empty(few, dtype), xp.empty(size + -size % 4, np.int64), xp.empty(size + -size % 4, dtype),
        xp.empty(many + -many % 4, dtype), xp.empty(many + 1, np.int64),
    )  # fmt: skip
    kernels = env.kernels("dynamic_sweep", index_t=dtype)
    kernels.dynamic_sweep_list(owned, rows.begin, rows.length, counts, counts[KINDS + 1 :], *lists)
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
