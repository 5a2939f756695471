"""Rows of edges that samples name by their ends: found afterwards, by the owners of the vertices that they leave.

An edge without parallel ones is known by its ends. Which of parallel ones was taken is drawn here, by the law that the
sampler has, given the ends: each draw for itself, alike or in proportion to the weights; or, of those that an instance
takes at a step without replacement, every set of them alike. It depends on the seed, the instance, the step and the
ends alone. Where the law depends on weights in another way, parallel edges of different weights are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment
from graphdask.ghosts import fetch_ghosts
from graphdask.part import Csr, Part
from graphdask.partition import VertexMap
from graphdask.sample.sampler import owners, routed
from graphdask.sources import mixed

BATCH = 1 << 22
"""Edges that are looked for together."""
LISTED = 1 << 20
"""Parallel edges that are looked at together, where they are not alike."""
WHICH = np.uint64(0xED6E)
"""Of the numbers that parallel edges are chosen by, beside the seed."""


@dataclass
class Taken:
    """Edges that a sampler took, by their ends; all arrays are of shape (edges,)."""

    src: Array
    """Vertex numbers, index dtype; -1 for none."""
    dst: Array
    instance: Array
    """int64."""
    step: Array
    """int64."""
    again: bool
    """Whether an instance may take an edge twice at a step."""
    law: str = "alike"
    """How parallel edges are drawn: `alike`; by `weight`; or `unknown`, but alike where their weights are."""
    kinds: Array | None = None
    """int64: the weight that an edge has, where only such are taken."""
    shape: tuple[int, ...] = (-1,)
    """Of the column that it makes."""


def listed(columns: Mapping[str, Array], again: bool, law: str) -> Taken:
    """Edges that stand one below the other, with their hops and instances."""
    step = columns["hop"].astype(np.int64)
    return Taken(columns["src"], columns["dst"], columns["instance"], step, again, law)


def in_turn(xp: Any, src: Array, dst: Array, first: int, law: str) -> Taken:
    """Edges that instances from `first` on took one after the other; a row for each instance."""
    n, length = src.shape
    instance = xp.repeat(xp.arange(first, first + n, dtype=np.int64), length)
    step = xp.tile(xp.arange(length, dtype=np.int64), n)
    src, dst = xp.ascontiguousarray(src), xp.ascontiguousarray(dst)
    return Taken(src.reshape(-1), dst.reshape(-1), instance, step, True, law, shape=(n, length))


def _is_whole(part: Part) -> bool:
    """Whether slots, positions and ids are one."""
    return part.size == 1 and type(part.vertex_map) is VertexMap


def rows_of_taken(
    part: Part, env: Environment, rows: Csr, taken: Taken, seed: int
) -> tuple[Array, tuple[int, int] | None]:
    """The row of each edge, int64, -1 where there is none; every rank calls it. And the ends of parallel edges, by
    vertex numbers, of which nobody knows here how they were drawn."""
    xp, n = env.xp, len(taken.src)
    turn, times = _turns(xp, taken)
    columns = {"src": taken.src, "dst": taken.dst, "instance": taken.instance, "step": taken.step, "turn": turn,
               "times": times}  # fmt: skip
    if taken.kinds is not None:
        columns["kind"] = taken.kinds
    found = xp.full(n, -1, np.int64)
    asked = xp.flatnonzero((taken.src >= 0) & (taken.dst >= 0))
    finder, batches = _Finder(part, env, rows, taken, seed), -(-len(asked) // BATCH)
    for batch in range(batches if _is_whole(part) or part.size == 1 else -env.least(-batches)):
        places = asked[batch * BATCH : (batch + 1) * BATCH]
        found[places] = finder({name: column[places] for name, column in columns.items()})
    return found, finder.unknown


def _turns(xp: Any, taken: Taken) -> tuple[Array, Array]:
    """Of each edge, how often the same pair was taken before, by its instance at its step; and how often in all."""
    n = len(taken.src)
    if taken.again or not n:
        return xp.zeros(n, np.int64), xp.zeros(n, np.int64)
    keys = (taken.dst, taken.src, taken.step, taken.instance)
    order = xp.argsort(keys[0], kind="stable")
    for key in keys[1:]:
        order = order[xp.argsort(key[order], kind="stable")]
    new = xp.ones(n, bool)
    new[1:] = False
    for key in keys:
        new[1:] |= key[order][1:] != key[order][:-1]
    begins, of_group = xp.flatnonzero(new), xp.cumsum(new) - 1
    lengths = xp.diff(xp.concatenate([begins, xp.full(1, n, begins.dtype)]))
    turn, times = xp.empty(n, np.int64), xp.empty(n, np.int64)
    turn[order], times[order] = xp.arange(n) - begins[of_group], lengths[of_group]
    return turn, times


class _Finder:
    """Looks edges up at the owners of their sources."""

    def __init__(self, part: Part, env: Environment, rows: Csr, taken: Taken, seed: int):
        self.part, self.env, self.rows, self.taken = part, env, rows, taken
        self.seed = np.uint64(seed & (2**64 - 1))
        self.unknown: tuple[int, int] | None = None
        assert rows.rows is not None
        self.numbers = rows.rows
        if _is_whole(part):
            self.ids = part.ids
        else:
            assert env.comm is not None
            (self.ids,) = fetch_ghosts(env.comm, env.backend, part, [part.ids])

    def __call__(self, asked: dict[str, Array]) -> Array:
        part, env = self.part, self.env
        if _is_whole(part):
            return self._answer(asked["src"], asked)
        dtype = part.vertex_map.dtype
        position = part.vertex_map.to_position(env.backend, asked["src"]).astype(dtype, copy=False)
        if part.size == 1:
            return self._answer(position, asked)
        xp, comm = env.xp, env.comm
        assert comm is not None
        asked = {**asked, "position": position, "place": xp.arange(len(position))}
        sent, cuts = routed(env, owners(env, part, position), asked)
        bounds = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        came: dict[str, Array] = {}
        lengths: list[int] = []
        for name, column in sent.items():
            if name != "place":
                pieces = comm.alltoallv([xp.ascontiguousarray(column[a:b]) for a, b in bounds])
                came[name], lengths = xp.concatenate(pieces), [len(piece) for piece in pieces]
        answers = self._answer(came["position"] - dtype.type(part.first_position), came)
        ends = np.cumsum(lengths).tolist()
        back = comm.alltoallv([answers[end - length : end] for end, length in zip(ends, lengths, strict=True)])
        found = xp.empty(len(position), np.int64)
        found[sent["place"]] = xp.concatenate(back)
        return found

    def _answer(self, local: Array, asked: dict[str, Array]) -> Array:
        """The rows of edges that leave own vertices."""
        xp, rows, n = self.env.xp, self.rows, len(local)
        first, count = xp.empty(n, np.int64), xp.empty(n, np.int64)
        dtype = self.part.vertex_map.dtype
        self.env.kernels("edge_find", index_t=dtype).edge_find(
            n, xp.ascontiguousarray(local.astype(dtype, copy=False)), xp.ascontiguousarray(asked["dst"]), rows.indptr,
            rows.indices, self.ids, first, count,
        )  # fmt: skip
        several = xp.flatnonzero(count > 1)
        if len(several):
            some = {name: column[several] for name, column in asked.items()}
            first[several] = self._chosen(first[several], count[several], some)
        found = xp.full(n, -1, np.int64)
        there = xp.flatnonzero(first >= 0)
        found[there] = self.numbers[first[there]]
        return found

    def _chosen(self, first: Array, count: Array, asked: dict[str, Array]) -> Array:
        """Which of some parallel edges each one is."""
        xp, taken, weights = self.env.xp, self.taken, self.rows.weights
        drawn = self._drawn(asked)
        unlike = xp.zeros(len(first), bool)
        if weights is not None and (taken.law != "alike" or taken.kinds is not None):
            unlike = weights[first] != weights[first + count - 1]  # they stand in the order of their weights
        if taken.law == "unknown" and bool(unlike.any()):
            place = int(xp.flatnonzero(unlike)[0])
            self.unknown = int(asked["src"][place]), int(asked["dst"][place])
        if taken.again:
            at = _below(xp, drawn, count)
        else:
            at = asked["turn"] % count
            unlike |= asked["times"] < count  # some of them, every set alike
        at = first + at
        listed = xp.flatnonzero(unlike)
        done = 0
        ends = xp.cumsum(count[listed])
        while done < len(listed):
            before = int(ends[done - 1]) if done else 0
            last = max(int(xp.searchsorted(ends, before + LISTED, side="right")), done + 1)
            some = listed[done:last]
            kinds = None if taken.kinds is None else asked["kind"][some]
            at[some] = self._one_of(first[some], count[some], drawn[some], asked["turn"][some], kinds)
            done = last
        return at

    def _one_of(self, first: Array, count: Array, drawn: Array, turn: Array, kinds: Array | None) -> Array:
        """Of each list of edges that are not alike, or of which some are taken, the one that is taken."""
        xp, weights = self.env.xp, self.rows.weights
        ends = xp.cumsum(count)
        of = xp.searchsorted(ends, xp.arange(int(ends[-1])), side="right")
        place = xp.arange(len(of)) - (ends - count)[of]
        at = first[of] + place
        if not self.taken.again:  # in the order of keys of their own
            keys = mixed(drawn[of] ^ mixed(place.astype(np.uint64) + np.uint64(1)))
            order = xp.argsort(keys, kind="stable")
            order = order[xp.argsort(of[order], kind="stable")]
            return at[order][ends - count + turn % count]
        assert weights is not None
        share = weights[at].astype(np.float64) / weights[first + count - 1].astype(np.float64)[of]
        if kinds is not None:
            share = (weights[at] == kinds[of]).astype(np.float64)
        upto = xp.cumsum(share)
        base = xp.concatenate([xp.zeros(1, np.float64), upto])[ends - count]
        total = upto[ends - 1] - base
        wanted = base + (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53 * total
        chosen = xp.minimum(xp.maximum(xp.searchsorted(upto, wanted, side="right"), ends - count), ends - 1)
        most = xp.searchsorted(upto, upto[ends - 1], side="left")  # where rounding leads to one of no share, the last
        return at[xp.where(share[chosen] > 0, chosen, most)]

    def _drawn(self, asked: dict[str, Array]) -> Array:
        """A number of 64 bits for each edge, which depends on what is drawn alone."""
        made = mixed(asked["instance"].astype(np.uint64) ^ mixed(self.env.xp.full(1, self.seed ^ WHICH, np.uint64)))
        for name in ("step", "src", "dst"):
            made = mixed(made ^ mixed(asked[name].astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)))
        return made


def _below(xp: Any, drawn: Array, count: Array) -> Array:
    """Numbers below counts, which are less than 2^32, of random ones of 64 bits: multiplied, and the high half."""
    high, low = drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)
    times = count.astype(np.uint64)
    return ((high * times + (low * times >> np.uint64(32))) >> np.uint64(32)).astype(np.int64)
