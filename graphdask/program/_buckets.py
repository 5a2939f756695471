"""Buckets of the vertices of a program whose states do not depend on the order in which vertices send: the best states
are sent first (kernels/program/program_buckets.py).

Source: Dong, Gu, Sun, Zhang: Efficient stepping algorithms and implementations for parallel shortest paths, SPAA 2021.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphdask.engine.loop import Environment
from graphdask.kernels.program.program_pack import BUCKET, BUCKET_EDGES, BUCKET_LIMIT, BUCKET_SIGN
from graphdask.partition.part import Part
from graphdask.program._free_order import extent_of
from graphdask.program.tuning import PROGRAM

NAME = "extent of weights"
"""Among the tables of a partition."""


def use_buckets(program: Any, part: Part, state: Any, env: Environment) -> None:
    """Let the best states of a program be sent first, if the order is free and that takes less time; before a run, or
    where one goes on. All vertices that are to send are far then."""
    if state.loop is None or not _may_order(program, part, state, env):
        return
    xp, pack, owned = env.xp, state.pack, part.num_owned
    listed = xp.arange(owned, dtype=state.changed.dtype) if state.everywhere else state.changed[: state.count]
    bucket, bounds = np.zeros(len(BUCKET)), np.zeros(2, np.int64)
    bucket[BUCKET_LIMIT], bucket[BUCKET_EDGES] = -math.inf, -1.0
    bucket[BUCKET_SIGN] = 1.0 if program.definition.combine == "min" else -1.0
    pack.assign(waits=xp.zeros_like(pack.marks), bucket=env.backend.from_host(bucket))
    kernels = env.kernels("codec", index_t=part.vertex_map.dtype)
    kernels.codec_set_bits(len(listed), listed, pack.waits, part.num_slots)
    if env.backend.name == "cpu":
        pack.far = xp.empty_like(state.changed)
        pack.far[: len(listed)] = listed
        pack.set_counters(far=len(listed))
    else:
        pack.bounds = env.backend.from_host(bounds)
    state.ordered, state.everywhere, state.count, state.pulls = True, False, 0, False


def waiting(state: Any, env: Environment) -> Any:
    """A byte for each own vertex: whether it has changed, is far and has yet to send."""
    bits = env.backend.to_host(state.pack.waits).view(np.uint8)
    return env.backend.from_host(np.unpackbits(bits, bitorder="little")[: state.pack.owned])


def _may_order(program: Any, part: Part, state: Any, env: Environment) -> bool:
    of, rows = program.definition, state.rows[0]
    free = of.free_order
    if free is None or program.most is not None or program.until is not None:
        return False
    least = PROGRAM.flooded_edges if free.alike else PROGRAM.ordered_edges
    if rows.num_edges < least[env.backend.name]:
        return False
    if not free.reads_weights:
        return True
    kept = part.tables.get(NAME)
    if kept is None or kept[0] is not rows.weights:
        kept = part.tables.keep(NAME, (rows.weights, extent_of(rows.weights)), 0)
    first = state.fields[of.keeps] if of.state[of.keeps].kind == "int" else None
    return free.holds(kept[1], first, part.num_owned)
