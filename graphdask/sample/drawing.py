"""Traversal sampling by the methods for it: which kernels draw the neighbours of some vertices of a frontier.

Sources: Pandey et al., c-saw, Section IV-B (repeated and updated sampling, bipartite region search, bitmaps); Vitter,
Random sampling with a reservoir (1985) (Algorithm R); Efraimidis, Spirakis, Weighted random sampling with a reservoir
(2006) (exponential keys).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import BLOCK, Array
from graphdask.engine.loop import Environment
from graphdask.kernels.neighbors.marked_pack import MarkedDraws
from graphdask.kernels.neighbors.reservoir_pack import Reservoirs
from graphdask.kernels.neighbors.successive_pack import SuccessiveDraws
from graphdask.partition.part import Csr
from graphdask.sample.fanouts import FEW, METHODS, Fanouts


def _marked(sampler: Fanouts[Any], env: Environment, fanout: int) -> bool:
    """Whether bits in memory say of a neighbour that it is chosen; on a GPU a register is enough for few."""
    return sampler.marked(fanout) and (env.backend.name == "cpu" or not 0 <= fanout <= FEW)


def loads_of(sampler: Fanouts[Any], env: Environment, csr: Csr, rows: Array, counts: Array, fanout: int) -> Array:
    """Where what is kept of rows begins while some are drawn: a bit for each edge, 32 in a word, or a word for each
    edge of rows of which many are drawn; empty where nothing is."""
    marked = _marked(sampler, env, fanout)
    if sampler.replace or not (marked or fanout > FEW or sampler.burn):
        return counts[:0]
    degrees = csr.indptr[rows + 1] - csr.indptr[rows]
    degrees *= (counts > (0 if marked else FEW)) & (counts < degrees)
    if marked:
        degrees = (degrees + 31) >> 5
    scratch_at = env.xp.zeros(len(counts) + 1, np.int64)
    env.xp.cumsum(degrees, out=scratch_at[1:])
    return scratch_at


def draw_successively(
    sampler: Any, state: Any, env: Environment, items: list[Array], offsets: Array, scratch_at: Array, fanout: int,
    seed: np.uint64, out: Any,
) -> None:  # fmt: skip
    """One after the other among what is left, or by a method for that, or with replacement."""
    xp, csr, words = env.xp, state.rows, 0
    if len(scratch_at):
        scratch_at = scratch_at - scratch_at[0]
        words = int(scratch_at[-1])
    tag, vertices, instances, tags = out[2], *items[1:]
    shared = {
        "rows": items[0], "vertices": vertices, "instances": instances, "tags": tags, "indptr": csr.indptr,
        "indices": sampler.targets(state), "offsets": offsets, "sums": state.sums, "seed": seed,
        "scratch_at": scratch_at, "src": out[0], "dst": out[1], "tag": tag,
    }  # fmt: skip
    if _marked(sampler, env, fanout):
        strided, marks = int(sampler.collisions != "bitmap"), xp.zeros(words, np.int32)
        pack = MarkedDraws(**shared, method=METHODS.index(sampler.method), strided=strided, marks=marks)
        env.kernels("marked", index_t=items[0].dtype).marked_draw(len(items[0]), pack, per_item=32)
        return
    draws = SuccessiveDraws(**shared, replace=int(sampler.replace), method=sampler.way, trees=xp.empty(words, np.int64))
    env.kernels("successive", index_t=items[0].dtype).successive_draw(len(items[0]), draws)


def draw_kept(
    sampler: Any, state: Any, env: Environment, items: list[Array], offsets: Array, seed: np.uint64, out: Any
) -> None:
    """In one pass over the rows: by Algorithm R, or the smallest exponential keys."""
    rows, vertices, instances, tags = items
    src, dst, tag = out
    pack = Reservoirs(
        rows=rows, vertices=vertices, instances=instances, tags=tags, indptr=state.rows.indptr,
        indices=sampler.targets(state), offsets=offsets, sums=state.sums, seed=seed, src=src, dst=dst, tag=tag,
    )  # fmt: skip
    launch_kept(env, "alike" if state.sums is None else "by_bias", len(rows), pack)


def launch_kept(env: Environment, way: str, n: int, pack: Reservoirs) -> None:
    """The kernel of kernels/neighbors/reservoir.py for a way, and on a GPU that for the long rows."""
    kernels, on_cpu = env.kernels("reservoir", index_t=pack.rows.dtype), env.backend.name == "cpu"
    pack.longs = env.xp.zeros(0 if on_cpu else n + 1, np.int64)
    getattr(kernels, f"reservoir_{way}")(n, pack, per_item=32)
    if not on_cpu:
        getattr(kernels, f"reservoir_{way}_long")(n, pack, per_item=BLOCK)
