"""Layout: the edges of a partition as PageRank's iterations read them, which the partition keeps for the calls to come.

Contributions stand in an order of their own, those of vertices of many out-edges first, which the caches then keep.
Nothing here depends on ranks, damping or where walkers jump to, and nothing of it is written once it is made: a later
call finds it and has the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.advance import advance
from graphdask.engine.bins import Shape
from graphdask.engine.buffers import most_deferred
from graphdask.engine.codes import Codes
from graphdask.engine.loop import Environment
from graphdask.engine.row_lists import RowTotals, inverse_degrees
from graphdask.engine.row_sums import CHUNK, Chunks, Rows, binned, laid_out, out_degrees, places, sliced
from graphdask.engine.slices import Slices
from graphdask.errors import InputError
from graphdask.kernels.pagerank.pagerank_pack import LOOPS, SelfLoops
from graphdask.partition.part import Part

OUT_WEIGHTS = {"float64": (1e-150, 1e150), "float32": (1e-20, 1e20)}
"""Sums of out-weights with which contributions neither overflow nor vanish."""


@dataclass(frozen=True)
class Layout:
    """What is kept."""

    rows: Rows
    """Of in-edges, into x."""
    order: Array
    """Per own vertex its number in the order of x, in which whatever is per own vertex stands here."""
    at: Array
    """Where their contributions stand in x."""
    inverse: Array
    """float64 per own vertex: 1 / out-weight, 0 where there are no out-edges."""
    extra: Array
    """uint8 per own vertex: whether it is given a self-loop; empty where none is."""
    ghosts: Array
    """Where in x the contributions of the ghosts stand, by slot."""
    received: Array
    """The same, those of each owner in ascending order."""
    mirror: Array
    """Of which own vertices the other ranks have ghosts, rank after rank as in `Part.mirrored`, in the order of x."""
    made_of: tuple[Array, Array]
    """The out- and in-edges; where others have taken their place, this is of no use."""

    @property
    def nbytes(self) -> int:
        """Bytes besides the partition's."""
        rows = self.rows
        arrays = (
            rows.indices, rows.weights, self.order, self.at, self.inverse, self.extra, self.ghosts, self.received,
            self.mirror,
        )  # fmt: skip
        begin = rows.csr.indptr.nbytes if rows.csr.indices is rows.indices else 0  # else the partition's
        warps = sum(each.nbytes for each in (rows.bins, rows.slices) if each is not None)
        return begin + warps + rows.long.nbytes + sum(array.nbytes for array in arrays)


@dataclass(frozen=True)
class Layouts:
    """Finds the layout for runs of a kind, or makes it."""

    real: Any
    """dtype of ranks and contributions."""
    weighted: bool
    self_loops: bool
    """Whether vertices that have none are given a self-loop."""

    def kept(self, part: Part) -> Layout | None:
        """The one that the partition keeps."""
        layout: Layout | None = part.tables.get(self._name)
        if layout is not None and all(old is new for old, new in zip(layout.made_of, _edges(part), strict=True)):
            return layout
        return None

    @property
    def _name(self) -> tuple[Any, ...]:
        return "layout of ranks", np.dtype(self.real).name, self.weighted, self.self_loops

    def shape(self, part: Part, env: Environment) -> Shape | None:
        """How edges are divided into bins; None where they are not. Slots without out-edges may be counted in."""
        assert part.inward is not None
        return None if env.frugal else binned(env.backend, part.inward.num_edges, self.real, _read(part))

    def codes(self, part: Part, env: Environment) -> Codes | None:
        """How a GPU holds the weights of edges; None where there are none, and on a CPU."""
        assert part.inward is not None
        if not self.weighted or part.inward.weights is None or not sliced(part.inward):
            return None
        return Codes.of(env, part.inward.weights, self.real)

    def memory(self, part: Part, shape: Shape | None, codes: Codes | None) -> tuple[int, int]:
        """Bytes at most, where none is kept: of a layout, and while it is made."""
        assert part.inward is not None
        index, real = part.vertex_map.dtype.itemsize, np.dtype(self.real).itemsize
        owned, slots, edges = part.num_owned, part.num_slots, part.inward.num_edges
        weight = wide = 0
        if self.weighted and part.inward.weights is not None:
            weight = wide = 4
            if real == 8 and part.inward.weights.dtype != np.float32:
                weight, wide = 8, 12  # both widths are there while one is made from the other
        lists, listing = Chunks.memory(part.inward)
        narrowing, binning = edges * (wide - weight), 0
        if codes is not None:
            weight, narrowing = codes.dtype.itemsize, 0
        if shape is not None:
            kept, making = shape.memory(edges, index)
            binning = making - kept + lists  # the lists are there twice
            rows = kept + edges * weight + owned * (4 + index) + lists
        elif sliced(part.inward):
            kept, binning, preparing = Slices.memory(part.inward, weight)
            rows, listing = kept + edges // (CHUNK // 2) * 8, max(listing, preparing)
        else:
            rows = edges * (index + weight) + lists
        rows += 8 * (owned + 1) * int(laid_out(part.inward, self.weighted))
        made = rows + owned * (2 * index + 8 + int(self.self_loops))
        made += (slots - owned) * index * 13 // 4  # as many mirrors as ghosts, or a few more
        places = (slots + 2 * owned) * index  # the order among them, which is kept
        ordering = slots * (2 * index + 2 + 8 + 4) + owned * 8
        weighing = max(owned * 8 + slots * real + edges // CHUNK * 8, owned * (3 * 8 + 3))
        if self.weighted and part.out is not part.inward:
            lists, listing_out = Chunks.memory(part.out)
            weighing = max(weighing + part.out.num_edges * wide + lists, listing_out)
        if self.weighted and shape is not None:
            weighing += 32 * shape.packets(edges)
        making = max(
            made + places - owned * index,
            ordering,
            places + listing,
            rows + places + max(weighing, narrowing, binning),
        )
        return made, making

    def of(self, part: Part, env: Environment) -> Layout:
        """The one that is kept, or else a new one. Every rank calls it, from `init` only."""
        layout = self.kept(part)
        asked = part.size > 1 and not env.least(int(layout is not None))
        if layout is None:
            layout = self.made(part, env)
            part.tables.keep(self._name, layout, layout.nbytes)
        elif asked:
            out_degrees(part, env)  # for those that make one
        return layout

    def made(self, part: Part, env: Environment) -> Layout:
        xp, owned = env.xp, part.num_owned
        assert part.inward is not None
        place, slot = _places(part, env)
        order = xp.empty(owned, place.dtype)
        order[slot] = xp.arange(owned, dtype=place.dtype)
        how = self.shape(part, env), self.codes(part, env)
        rows = Rows.of(env, part.inward, self.weighted, self.real, place, order, *how)
        extra = without_loop(part, env)[slot] if self.self_loops else xp.zeros(0, np.uint8)
        if self.weighted:
            inverse = self._inverse_weights(part, env, rows, order, extra)
        else:
            inverse = inverse_degrees(env.backend, part.out, slot, extra if self.self_loops else None)
        return Layout(rows, order, place[slot], inverse, extra, *_reported(part, place, order), _edges(part))

    def _inverse_weights(self, part: Part, env: Environment, rows: Rows, order: Array, extra: Array) -> Array:
        """1 / out-weight of the own vertices in the order of their contributions, float64, 0 without out-edges."""
        xp = env.xp
        sums = xp.zeros(part.num_owned, np.float64)
        out = rows if part.out is part.inward else Rows.of(env, part.out, True, self.real, goes=order)
        out.sum(xp.ones(part.num_slots, self.real), sums, out.workspace(xp))
        if self.self_loops:
            sums += extra
        refuse_extremes(sums, self.real, xp)
        with np.errstate(divide="ignore"):
            return xp.where(sums > 0, 1.0 / sums, 0.0)


def refuse_extremes(out_weight: Array, real: Any, xp: Any) -> None:
    """Raise InputError where contributions would overflow or vanish."""
    least, most = OUT_WEIGHTS[np.dtype(real).name]
    wrong = xp.flatnonzero((out_weight > 0) & ((out_weight < least) | (out_weight > most)))
    if len(wrong):
        raise InputError(
            f"the out-edges of a vertex weigh {float(out_weight[wrong[0]]):g} together; in {np.dtype(real)} "
            f"pagerank takes {least:g} to {most:g}, and 0: scale the weights"
        )


def _edges(part: Part) -> tuple[Array, Array]:
    assert part.inward is not None
    return part.out.indices, part.inward.indices


def _read(part: Part) -> int:
    """How many of x are read at most, where those of vertices with out-edges stand first."""
    ghosts = part.num_slots - part.num_owned
    totals = RowTotals.of(part.out)
    return ghosts + totals.few + totals.long


def without_loop(part: Part, env: Environment) -> Array:
    """1 for each own vertex that has no self-loop, uint8."""
    xp, csr = env.xp, part.out
    loop = xp.zeros(part.num_owned, np.uint8)
    if part.counts.get("self_loops", 1):
        kernels = env.kernels("pagerank", index_t=csr.indices.dtype, real_t=np.float64, weight_t=np.float32)
        hubs, counters = xp.empty(most_deferred(csr), part.vertex_map.dtype), xp.zeros(len(LOOPS), np.int64)
        rows = SelfLoops(loop=loop, hubs=hubs, counters=counters)
        advance(kernels.pagerank_loops, kernels.pagerank_loops_hubs, csr, part.num_owned, rows)
    return 1 - loop


def _places(part: Part, env: Environment) -> tuple[Array, Array]:
    """Where contributions stand; and the slots of the own vertices in that order."""
    place, by_place = places(part, env)
    if part.num_slots > part.num_owned:
        by_place = by_place[by_place < part.num_owned]
    return place, by_place.astype(place.dtype, copy=False)


def _reported(part: Part, place: Array, order: Array) -> tuple[Array, Array, Array]:
    """`ghosts`, `received` and `mirror` of a layout: senders and receivers have the same order, that of x."""
    owned = part.num_owned
    ghosts = place[owned:].copy()
    if part.size == 1:
        return ghosts, ghosts, order[:0].copy()
    assert part.mirrors is not None
    assert part.mirrored is not None
    received, mirror, begin = ghosts.copy(), order[part.mirrored], 0
    for step in range(1, part.size):
        first, last = (int(bound) - owned for bound in part.slot_bounds[step : step + 2])
        received[first:last].sort()
        end = begin + len(part.mirrors[(part.rank + step) % part.size])
        mirror[begin:end].sort()
        begin = end
    return ghosts, received, mirror
