"""Walks by a spec over the whole graph: many steps of many walkers in one launch, without pools.

A spec walks where every instance begins with one vertex, takes one edge of it and goes on from what that puts into the
pool. Random numbers are those of the same steps taken one by one (graphdask.sample.steps), and so are the edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.readback import Readback, readback_of
from graphdask.engine.loop import Environment
from graphdask.kernels.functions.functions_walk_pack import FunctionWalks
from graphdask.sample._expand import Expander
from graphdask.sample.walkers import launches, threads_for, together_for

UNIFORM, SUMMED, TRIED, ALIASED, KEYED = 0, 1, 2, 3, 4
"""As in kernels/functions/functions_walk.py."""
HOW = {"uniform": UNIFORM, "inverse": SUMMED, "rejection": TRIED, "alias": ALIASED, "reservoir": KEYED}
AHEAD = 2
"""Launches under way at the same time."""
LOOKS = 16
"""After so many launches, and after the last one, the host asks whether a function has failed."""


@dataclass
class WalkState:
    expander: Expander
    how: int
    launch: Callable[..., None]
    """The kernel."""
    pack: FunctionWalks
    """What it works on; but the arrays of walks, which are those of a launch."""
    given: np.ndarray
    """Vertices where walks start, on the host."""
    starts: Array
    here: Array
    before: Array
    dst: Array
    """Vertices that the edges of each walk lead to, index dtype, shape (walks, depth)."""
    put: Array
    """And what they put into the pool; the same array where no function says."""
    lengths: Array
    reported: Array
    """uint64, shape (1,): edges of all walks so far."""
    readback: Readback
    nothing: dict[str, Array]
    """Records for nobody."""
    todo: deque[tuple[int, int, int, int]]
    """Launches to come: first walk, last + 1, steps made, steps to have made."""
    under_way: deque[tuple[int, int]] = field(default_factory=deque)
    """What is read back after each launch that the host has not received yet, and how many walks are in it."""
    edges: int = 0
    """That the host has received."""

    @property
    def left(self) -> int:
        """How many launches the host has not received yet."""
        return len(self.todo) + len(self.under_way)


def one_by_one(sampler: Any) -> bool:
    """Whether instances are walks."""
    return bool(
        sampler.replace
        and sampler.revisit
        and sampler.per == "vertex"
        and not {"vertex_bias", "neighbor_size"} & set(sampler.functions)
        and all(fanout == 1 for fanout, _ in sampler.runs)
        and (sampler.one_each or bool((np.diff(sampler.bounds) == 1).all()))
        and sampler.how.name in HOW
    )


def begun(sampler: Any, expander: Expander, env: Environment) -> WalkState | None:
    """The walks before their first steps; None where they are to be made step by step."""
    method, xp, n, depth, dtype = expander.method, env.xp, sampler.instances, len(sampler.fanouts), expander.dtype
    if expander.mapped or not one_by_one(sampler) or (method.name == "inverse" and expander.sums is None):
        return None
    how = HOW[method.name]
    dst = xp.empty((n, depth), dtype)
    put = xp.empty((n, depth), dtype) if "update" in sampler.functions else dst
    starts, here, before = (xp.empty(n, dtype) for _ in range(3))
    functions = {name: expander.functions[name] for name in ("edge_bias", "update") if name in expander.functions}
    kernels, bias = expander.kernels(*functions, family="functions_walk", gd_how=how)
    reported = xp.zeros(1, np.uint64)
    pack = FunctionWalks(
        **expander.drawn_by(how, bias), undirected=int(expander.undirected), depth=depth, reported=reported
    )
    launch = kernels.functions_walk_keyed if how == KEYED else kernels.functions_walk
    return WalkState(
        expander, how, launch, pack, starts_of(sampler), starts, here, before, dst, put,
        xp.zeros(n, np.int32), reported, readback_of(env.backend, 1, AHEAD),
        {"number": xp.empty(0, np.int64), "vertex": starts[:0], "other": starts[:0]},
        deque(launches(env.backend.name, n, depth) if depth else ()),
    )  # fmt: skip


def starts_of(sampler: Any) -> np.ndarray:
    """The vertices that the instances here begin with."""
    if sampler.one_each:
        return np.asarray(sampler.of(sampler.seeds, sampler.first, sampler.last))
    of_each = sampler.of(sampler.bounds, sampler.first, sampler.last + 1)
    return np.asarray(sampler.seeds[of_each[0] : of_each[-1]])


def advanced(sampler: Any, state: WalkState, env: Environment) -> tuple[int, int]:
    """Make a launch, and begin the next one; returns how many walks are in it, and their edges."""
    while state.todo and len(state.under_way) < AHEAD:
        _launch(sampler, state, env, *state.todo.popleft())
    number, walks = state.under_way.popleft()
    before, state.edges = state.edges, int(state.readback.read(number)[0])
    if state.left % LOOKS == 0:
        state.expander.refuse_failures()
    return walks, state.edges - before


def _launch(sampler: Any, state: WalkState, env: Environment, a: int, b: int, begin: int, end: int) -> None:
    if begin == 0:  # while the walks before are under way
        state.starts[a:b] = env.backend.from_host(state.given[a:b].astype(state.starts.dtype))
    state.pack.assign(
        seeds=state.starts[a:b], here=state.here[a:b], before=state.before[a:b], dst=state.dst[a:b],
        put=state.put[a:b], lengths=state.lengths[a:b],
    )  # fmt: skip
    blocks = together_for(env, b - a) if state.how == KEYED else {"threads": threads_for(env, b - a)}
    state.launch(b - a, sampler.first + a, begin, end, state.pack, **blocks)
    state.under_way.append((state.readback.send(state.reported), b - a))


def finished(sampler: Any, state: WalkState, env: Environment) -> dict[str, Array]:
    """The edges, one walk after the other."""
    xp, n, dtype, total = env.xp, len(state.lengths), state.dst.dtype, state.edges
    offsets = xp.zeros(n + 1, np.int64)
    xp.cumsum(state.lengths, out=offsets[1:])
    src, dst = xp.empty(total, dtype), xp.empty(total, dtype)
    hop, instance = xp.empty(total, np.int32), xp.empty(total, np.int64)
    env.kernels("neighbors", index_t=dtype).neighbors_walked(
        n, sampler.first, state.dst.shape[1], offsets, state.starts, state.dst, state.put, src, dst, hop, instance,
        per_item=32,
    )  # fmt: skip
    return {"src": src, "dst": dst, "hop": hop, "instance": instance}
