"""One level of a push of breadth-first search: from the edges of the frontier to what they reach for the first time.

One kernel visits the edges and keeps what is new. For comparison, the benchmark of choices can run a push as two
kernels: an advance stores where every edge leads, and a filter reads that. This takes one more launch, and an array as
long as the edges of the frontier, up to all edges.

Source: Pan et al., Multi-GPU Graph Analytics, Section VI-C (kernel fusion).
"""

from __future__ import annotations

from graphdask.algorithms._bfs_state import State
from graphdask.engine.buffers import Allocation, Buffer
from graphdask.engine.loop import HUB_THREADS, Environment
from graphdask.kernels.common.tuning import HUB
from graphdask.partition.part import Part

LONG = 1 << 40
"""What a row of very many edges adds to a weight beside them."""


def led_memory(part: Part, allocation: Allocation) -> int:
    """Return the bytes of `advance_buffer` at first."""
    return part.vertex_map.dtype.itemsize * allocation.first(2 * part.out.num_edges)


def advance_buffer(part: Part, env: Environment) -> Buffer:
    """Return the buffer between advance and filter."""
    what = "the array between advance and filter of BFS, two entries for each edge of a level,"
    return env.buffer(what, 2 * part.out.num_edges, part.vertex_map.dtype)


def make_room(part: Part, state: State, either_way: bool) -> None:
    """In the next level, for what the edges of the frontier lead to at most; where memory is allocated in part."""
    edges = state.weight % LONG
    if either_way and len(part.directions) > 1:
        edges = part.num_slots
    state.queue_buffer.fit(min(edges, state.unreached))
    state.ghost_queue.fit(edges)
    if state.led is not None:
        state.led.fit(2 * edges)


def push(part: Part, state: State, here: object, either_way: bool, env: Environment) -> None:
    """Queue what the frontier, which is in `here`, reaches, with the smallest id that reaches it."""
    search, hubs_too = state.search, either_way or not 0 <= state.weight <= HUB
    search.own_queue, search.ghost_queue, search.counters = state.queue, state.ghost_queue.array, state.counters
    for turn, csr in enumerate(part.directions if either_way else [part.out]):
        search.indptr, search.indices = csr.indptr, csr.indices
        search.hubs = state.hubs.fit(min(state.count, csr.num_edges // HUB))
        if state.led is None:
            state.kernels.bfs_push(state.count, here, turn, search)
            if hubs_too:
                state.kernels.bfs_push_hubs(HUB_THREADS, turn, search)
            continue
        kernels, led = env.kernels("bfs_unfused", index_t=part.vertex_map.dtype), state.led.array
        kernels.bfs_advance(state.count, here, turn, led, search)
        if hubs_too:
            kernels.bfs_advance_hubs(HUB_THREADS, turn, led, search)
        kernels.bfs_filter(min(len(led) // 2, HUB_THREADS), turn, led, search)
