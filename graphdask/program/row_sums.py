"""Sums of what all vertices send, where that is one float for each of them: as those of PageRank.

The edges are laid out once for all runs over a partition. The order of additions is that of kernels/common/lanes.py, so
sums have the same bits as if the vertices went over their edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.engine.row_sums import CHUNK, Chunks, Rows, laid_out, places, sliced
from graphdask.engine.slices import Slices
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.partition.part import Csr, Part

__all__ = ["CHUNK", "Layout", "Sums"]


@dataclass(frozen=True)
class Layout:
    """The edges of one direction."""

    rows: Rows
    place: Array
    """Where x has the value of each slot."""
    made_of: Array
    """The edges; where others have taken their place, this is of no use."""
    ordered: bool = False
    """Whether the rows stand in the order of `place`, and so do their sums: on a CPU rows of about one length then
    follow each other. It needs a rank that has the whole graph."""

    @property
    def nbytes(self) -> int:
        """Bytes besides the partition's."""
        rows = self.rows
        own = rows.csr.indptr.nbytes if rows.csr.indices is rows.indices else 0  # else the partition's
        slices = 0 if rows.slices is None else rows.slices.nbytes
        return own + rows.indices.nbytes + slices + rows.long.nbytes + self.place.nbytes

    @classmethod
    def kept(cls, part: Part, csr: Csr) -> Layout | None:
        """The layout that the partition keeps of its edges of a direction."""
        kept: Layout | None = part.tables.get(cls._name(part, csr))
        return kept if kept is not None and kept.made_of is csr.indices else None

    @staticmethod
    def _name(part: Part, csr: Csr) -> tuple[str, int]:
        return "layout of sums", int(csr is part.out)

    @classmethod
    def memory(cls, part: Part, csr: Csr) -> int:
        """Bytes at most of a layout, and while it is made; 0 if the partition keeps it."""
        if cls.kept(part, csr) is not None:
            return 0
        index = part.vertex_map.dtype.itemsize
        lists, listing = Chunks.memory(csr)
        ordering = part.num_slots * (2 * index + 2 + 8 + 4) + part.num_owned * index
        if sliced(csr):
            kept, making, preparing = Slices.memory(csr, 0)
            return kept + lists + max(making, listing, preparing) + ordering
        ordered = 16 * (part.num_owned + 1) if part.size == 1 else 0  # where rows begin, and their sums
        return csr.num_edges * index + lists + listing + ordering + ordered

    @classmethod
    def of(cls, part: Part, env: Environment, csr: Csr) -> Layout:
        """The layout that the partition keeps of its edges of a direction, or else a new one. Every rank calls it."""
        kept = cls.kept(part, csr)
        if env.least(int(kept is not None)):
            assert kept is not None
            return kept
        place, _ = places(part, env)
        ordered = part.size == 1 and laid_out(csr, False)
        rows = Rows.of(env, csr, False, np.float64, place, place if ordered else None)
        layout = cls(rows, place, csr.indices, ordered)
        part.tables.keep(cls._name(part, csr), layout, layout.nbytes)
        return layout


@dataclass
class Sums:
    """Of one run."""

    layout: Layout
    x: Array
    """float64: what each slot sends, in the order of the layout."""
    workspace: Array
    in_order: Array | None = None
    """float64: the sums, where rows stand in another order than vertices."""
    there: int = 0
    """Of how many slots, the first ones, the kernels of a program write it."""

    @classmethod
    def of(cls, part: Part, env: Environment, csr: Csr) -> Sums:
        """Every rank calls it, from `init` only."""
        layout = Layout.of(part, env, csr)
        in_order = np.zeros(part.num_owned) if layout.ordered else None
        return cls(layout, env.xp.zeros(part.num_slots, np.float64), layout.rows.workspace(env.xp), in_order)

    def take_from(self, pack: Pack) -> None:
        """Let the kernels of a program write what own vertices send."""
        pack.assign(x=self.x, place=self.layout.place)
        self.there = pack.owned

    def add(self, values: Array, sums: Array, wanted: Array | None = None) -> None:
        """Write the sum over each row of `values`, which are by slot; undefined if `wanted`, one word, is 0."""
        values, place = values[self.there :], self.layout.place[self.there :]
        if len(values):  # of ghosts
            self.layout.rows.kernels.pagerank_scatter(len(values), values, place, self.x)
        self.layout.rows.sum(self.x, sums if self.in_order is None else self.in_order, self.workspace, wanted)
        if self.in_order is not None:
            np.take(self.in_order, self.layout.place, out=sums, mode="clip")
