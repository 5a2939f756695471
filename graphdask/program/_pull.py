"""Supersteps in which many vertices send, on one GPU that has a whole undirected graph: every vertex goes over its row.

Pushing takes an atomic operation for each edge, all over the memory. Where the vertices that send have an eighth of all
edges, or more, it takes less time to read every edge in the order in which it lies (graphdask.engine.slices), and what
vertices send in the order of those that are read most, which caches keep. The edges are laid out once for all runs over
a partition. Messages that are pushed come to the same in any order, so both ways have the same bits.

Source: Beamer et al., Direction-optimizing breadth-first search, SC 2012.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.codes import Codes
from graphdask.engine.loop import Environment
from graphdask.engine.row_lists import RowLists
from graphdask.engine.row_sums import Chunks, places
from graphdask.engine.slices import WARP, Slices
from graphdask.kernels.program.program_pack import COUNTS
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.partition.part import Csr, Part
from graphdask.program.definition import Definition
from graphdask.program.tuning import PROGRAM

PULLED_FROM = 8
"""One of so many edges is of a vertex that sends: then vertices pull."""
NAME = "layout of messages"
"""Among the tables of a partition."""
WHOLE = 1 << 53
"""Up to which floats, as which weights are laid out, are whole numbers."""


def may_pull(of: Definition, part: Part, env: Environment, directed: bool) -> bool:
    """Whether vertices of a program that is pushed may pull."""
    if env.size > 1 or directed or env.frugal or not of.pushes:
        return False
    if of.sends_columns:  # which are not laid out
        return False
    return part.out.num_edges >= PROGRAM.pulled_edges[env.backend.name]


@dataclass(frozen=True)
class Layout:
    """The edges of a partition in slices, and those of rows of several chunks."""

    slices: Slices
    many: Array
    first_part: Array
    parts: int
    place: Array
    """Where the values of each slot stand."""
    made_of: tuple[Any, Any]
    """Indices and weights of the edges; where others have taken their place, this is of no use."""

    @property
    def nbytes(self) -> int:
        """Bytes besides the partition's."""
        return self.slices.nbytes + self.many.nbytes + self.first_part.nbytes + self.place.nbytes

    @classmethod
    def kept(cls, part: Part, weighted: bool) -> Layout | None:
        """The one that the partition keeps."""
        made_of = part.out.indices, part.out.weights if weighted else None
        kept: Layout | None = part.tables.get((NAME, weighted))
        if kept is None or any(a is not b for a, b in zip(kept.made_of, made_of, strict=True)):
            return None
        return kept

    @classmethod
    def memory_of(cls, part: Part, weighted: bool) -> int:
        """Bytes at most of a layout, and while it is made; 0 where it is there."""
        if cls.kept(part, weighted) is not None:
            return 0
        lists, listing = Chunks.memory(part.out)
        kept, making, preparing = Slices.memory(part.out, 8 if weighted else 0)
        ordering = part.num_slots * (3 * part.vertex_map.dtype.itemsize + 14)
        return kept + lists + max(making, listing, preparing) + ordering

    @classmethod
    def of(cls, part: Part, env: Environment, weighted: bool) -> Layout | None:
        """The one that the partition keeps, or else a new one; None where weights cannot be laid out."""
        csr, kept = part.out, cls.kept(part, weighted)
        if kept is not None:
            return kept
        if weighted and not _fit(csr.weights):
            return None
        place, _ = places(part, env)
        lists = RowLists.of(env.backend, csr, None)
        codes = Codes.of(env, csr.weights, np.float64) if weighted and csr.weights is not None else None
        slices = Slices.of(env, csr, np.float64, codes, place, None, lists)
        made_of = csr.indices, csr.weights if weighted else None
        layout = cls(slices, lists.many, lists.first_chunk, lists.partials, place, made_of)
        part.tables.keep((NAME, weighted), layout, layout.nbytes)
        return layout


def _fit(weights: Any) -> bool:
    """Whether floats hold all weights."""
    wide = weights.dtype.kind in "iu" and weights.dtype.itemsize == 8
    return not wide or (int(weights.min()) >= -WHOLE and int(weights.max()) <= WHOLE)


@dataclass
class Pull:
    """Of one run."""

    definition: Definition
    csr: Csr
    layout: Layout | None = None
    """None before the first such superstep."""
    kernels: Any = None
    active: Array | None = None
    """uint32 words, a bit for each place: whether the vertex sends."""
    marked: bool = False
    """Whether `marks` has the bits of the vertices that send next: many, which then are gone through in their order."""

    @staticmethod
    def memory(of: Definition, part: Part) -> int:
        """Bytes at most, with the layout."""
        fields = of.message_dtypes if of.by_source else [of.state[i].stored for i in of.sent]
        asked = 16 + part.vertex_map.dtype.itemsize
        per_slot = sum(dtype.itemsize for dtype in fields) + asked + 1
        return Layout.memory_of(part, of.reads_weights) + per_slot * part.num_slots + 12 * (part.out.num_edges >> 7)

    @property
    def dense(self) -> int:
        """Edges of the vertices that send, from which on vertices pull."""
        return max(self.csr.num_edges // PULLED_FROM, 1)

    def prepare(self, part: Part, env: Environment, pack: Pack, kernels: Callable[[str, Any], Any]) -> bool:
        """Before the first such superstep, lay out the edges and give the pack what it needs; return whether there can
        be one. `kernels` are made of a family and of what has the weights."""
        if self.layout is not None:
            return True
        xp, of, layout = env.xp, self.definition, Layout.of(part, env, self.definition.reads_weights)
        if layout is None:
            return False
        slots, slices, self.layout = part.num_slots, layout.slices, layout
        pack.assign(
            place=layout.place, unit=slices.unit, parts=xp.empty(layout.parts, of.message_dtypes[0]),
            part_counts=xp.empty(layout.parts, np.int32), first_part=layout.first_part,
        )  # fmt: skip
        if of.by_source:
            pack.placed_value = xp.zeros(slots, of.message_dtypes[0])
        else:
            for i in of.sent:
                setattr(pack, f"placed{i}", xp.zeros(slots, of.state[i].stored))
            for name in ("ids", "out_degree", "in_degree"):
                fact = getattr(pack, name)
                if fact is not None:
                    placed = xp.empty_like(fact)
                    placed[layout.place] = fact
                    setattr(pack, f"placed_{name}", placed)
        self.kernels, self.active = kernels("program_pull", slices), xp.zeros((slots + 31) // 32, np.uint32)
        return True

    def goes_on(self, state: Any) -> bool:
        """Whether the vertices that changed last send in such a superstep."""
        return state.count > 0 and state.progress.edges >= self.dense

    def run(self, state: Any) -> None:
        """Go through a superstep, in which those vertices send that are `changed`, or all, and others change."""
        assert self.layout is not None
        assert self.active is not None
        pack, kernels, layout, slices, of = state.pack, self.kernels, self.layout, self.layout.slices, self.definition
        kept = {name: getattr(pack, name) for name in ("indices", "weights", "active")}
        everywhere, marked = state.everywhere and not (of.may_be_silent and of.by_source), self.marked
        listed = None if marked or state.everywhere else state.changed
        pack.assign(
            active=self.active, everywhere=int(everywhere), listed=listed,
            failure=pack.failure_to_send, indices=slices.indices,
            weights=slices.weights if len(slices.weights) else None,
        )  # fmt: skip
        if not everywhere:
            self.active.fill(0)
        if pack.extent is not None:
            pack.extent[:] = state.no_extent
        kernels.program_place(pack.owned if marked else state.count, int(marked), pack)
        if marked:
            pack.marks.fill(0)
        pack.progress.fill(0)
        pack.set_counters(changed=0)
        chunks, rows, many = slices.first_of_chunks, slices.first_of_rows, len(layout.first_part) - 1
        pack.assign(slices=chunks, items=slices.chunks, targets=slices.targets)
        kernels.program_pull_chunks(WARP * (len(chunks) - 1), pack)
        pack.assign(slices=rows, items=len(slices.goes), targets=slices.goes)
        kernels.program_pull_rows(WARP * (len(rows) - 1), pack)
        pack.assign(items=many, targets=layout.many)
        kernels.program_pull_parts(WARP * many, pack)
        pack.assign(**kept)

    def take(self, state: Any) -> tuple[int, int, tuple[int, int]]:
        """Take over what the host has read of the superstep; return how many vertices sent, the edges visited, and that
        others pulled once."""
        visited, state.count = state.count, state.found[COUNTS.place.changed]
        state.done, state.everywhere, state.unsent = state.done + 1, False, True
        self.marked = self.goes_on(state)
        if not self.marked:
            state.pack.marks.fill(0)
        return int(visited), self.csr.num_edges, (0, 1)
