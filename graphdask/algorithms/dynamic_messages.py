"""Messages between ranks in PageRank of a dynamic graph.

If all vertices are ranked, a rank receives the contributions of all vertices of which it has out-neighbours, in an
order that both sides keep until edges change. If few are ranked, it receives the contributions that changed, with their
slots on that rank, and the marks of vertices that it owns, as bits of words. It keeps what it received in one call for
the next one.
"""

from __future__ import annotations

import numpy as np

from graphdask.algorithms.dynamic_ranks import DynamicRanksState, Lists
from graphdask.device.backend import Array
from graphdask.dynamic.rows import Audience, DynamicPart
from graphdask.engine.loop import Environment, Inbox
from graphdask.kernels.dynamic.dynamic_messages_pack import ChangedContributions
from graphdask.kernels.dynamic.dynamic_pack import COUNTS


def slots_of_others(part: DynamicPart, env: Environment) -> tuple[Array, Array]:
    """Return where the slots of each rank's vertices are here, and where those of own vertices are there.

    They are `bounds` and `shifts` of State.
    """
    first = part.vertex_map.offsets[: part.size]
    shifts = (first[part.rank] - first) % max(part.num_vertices, 1)
    return env.backend.from_host(part.slot_bounds), env.backend.from_host(shifts)


def audience(part: DynamicPart, env: Environment) -> Audience:
    """Return which rank needs which vertices; every rank must call it if edges have changed."""
    if part.audience is None:
        xp, size, dtype = env.xp, part.size, part.vertex_map.dtype
        own = [part.ids[:0] if r == part.rank else xp.flatnonzero(part.held[r]).astype(dtype) for r in range(size)]
        came = env.alltoall(own)
        for step in range(1, size):
            came[(part.rank + step) % size] += dtype.type(int(part.slot_bounds[step]))
        bounds = np.append(0, np.cumsum([len(each) for each in own]))
        part.audience = Audience(xp.concatenate(own), bounds, xp.concatenate(came))
    return part.audience


def everything(part: DynamicPart, state: DynamicRanksState, env: Environment) -> tuple[np.ndarray, dict[str, Array]]:
    """Return where the records for each rank begin, and the contributions of all own vertices that ranks need."""
    known = audience(part, env)
    contribution = env.xp.empty(len(known.own), np.float64)
    kernels = env.kernels("dynamic_messages", index_t=part.vertex_map.dtype)
    kernels.dynamic_messages_gather(len(known.own), known.own, state.x, contribution)
    return known.bounds, {"contribution": contribution}


def count_changes(part: DynamicPart, state: DynamicRanksState, env: Environment, ranked: Lists) -> None:
    """Count the changes of `ranked` vertices and the words of marks, behind the other counters; the counts were 0."""
    kernels, counters = env.kernels("dynamic_messages", index_t=part.vertex_map.dtype), state.counters[len(COUNTS) :]
    for listed, count in zip(ranked.of, ranked.counts, strict=True):
        kernels.dynamic_messages_count(
            len(listed),
            count,
            listed,
            state.x,
            state.reported,
            part.held,
            part.num_owned,
            part.size,
            part.rank,
            counters,
        )
    kernels.dynamic_messages_marks_count(
        part.num_slots, state.affected, state.bounds, part.size, part.rank, counters[part.size + 1 :]
    )


def changes(
    part: DynamicPart, state: DynamicRanksState, env: Environment, ranked: list[Array], counters: np.ndarray
) -> tuple[np.ndarray, dict[str, Array]]:
    """Return where the records for each rank begin, and the records that were counted: contributions, then marks."""
    xp, size, dtype = env.xp, part.size, part.vertex_map.dtype
    kernels, found = env.kernels("dynamic_messages", index_t=dtype), counters[len(COUNTS) :].astype(np.int64)
    counts, marks = found[:size], found[size + 1 :]
    bounds = np.append(0, np.cumsum(counts + marks))
    begins, ends = bounds[:-1] + counts, bounds[1:]
    vertex, contribution = xp.empty(int(bounds[-1]), dtype), xp.empty(int(bounds[-1]), np.float64)
    state.last, state.marks = xp.empty(int(found[size]), dtype), (vertex, contribution, begins, ends)
    places = env.backend.from_host(np.concatenate([bounds[:-1], [0], begins]).astype(np.uint64))
    if len(state.last):
        for listed in ranked:
            kernels.dynamic_messages_fill(
                len(listed), ChangedContributions(
                    listed=listed, x=state.x, reported=state.reported, held=part.held, shifts=state.shifts,
                    owned=part.num_owned, size=size, rank=part.rank, next=places, vertex=vertex,
                    contribution=contribution, last=state.last,
                ),
            )  # fmt: skip
    if marks.any():
        kernels.dynamic_messages_marks(
            part.num_slots, state.affected, state.bounds, size, part.rank, places[size + 1 :], vertex,
            contribution,
        )  # fmt: skip
    return bounds, {"vertex": vertex, "contribution": contribution}


def take_in(part: DynamicPart, state: DynamicRanksState, inbox: Inbox, env: Environment) -> None:
    """Take in what other ranks have sent."""
    kernels, contribution = (
        env.kernels("dynamic_messages", index_t=part.vertex_map.dtype),
        inbox.records["contribution"],
    )
    if "vertex" in inbox.records:
        kernels.dynamic_messages_take(len(contribution), inbox.records["vertex"], contribution, state.x, state.affected)
    else:
        kernels.dynamic_messages_put(len(contribution), audience(part, env).received, contribution, state.x)


def take_back(part: DynamicPart, state: DynamicRanksState, env: Environment) -> None:
    """Undo the last message, which no rank takes in any more: its changes and marks are to be sent again."""
    state.reported[state.last] = -1.0
    if state.marks is not None:
        vertex, words, begins, ends = state.marks
        kernels = env.kernels("dynamic_messages", index_t=part.vertex_map.dtype)
        for step in range(1, part.size):
            peer = (part.rank + step) % part.size
            reported, flags = slice(int(begins[peer]), int(ends[peer])), state.affected[int(part.slot_bounds[step]) :]
            kernels.dynamic_messages_take(
                int(ends[peer] - begins[peer]), vertex[reported], words[reported], state.x, flags
            )
