"""Traversal sampling over a store, hop by hop.

The vertices of a frontier are put in the order of their chunks; those with work are entered one after the other, first
those that are in memory, then the one where most is to be drawn; and the edges are put back in the order of the
frontier.

Source: Pandey et al., c-saw, Section V.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.kernels.common.compiling import clock
from graphdask.partition.part import Csr, Part
from graphdask.sample.biases import EdgeBiases
from graphdask.sample.streamed import record
from graphdask.sample.traversal import Edges, Traversal, TraversalState, in_order
from graphdask.stream.rows import ChunkEnvironment, StoredRows
from graphdask.stream.shared_store import StreamedPart

TIMED = 48
"""Bytes of an edge, at most, while rows are put in the order of time."""


def run(sampler: Traversal, part: StreamedPart, env: ChunkEnvironment) -> tuple[dict[str, Any], StoredRows, int]:
    """Samples of a sampler; also the rows that were gone through, and bytes of what is per vertex."""
    section = part.store.sections["inward" if sampler.inward and part.store.header["directed"] else "out"]

    def tables(csr: Csr) -> int:
        weights = 0 if csr.weights is None else csr.weights.itemsize
        if sampler.bias is not None:
            return EdgeBiases.memory(csr, sampler.bias, "inverse") + csr.num_edges * (17 + 4 + weights)
        return (TIMED + weights) * csr.num_edges if hasattr(sampler, "limits") else 0

    stored = StoredRows(
        env, part.store, section, part.memory, sampler.name, sampler.work, tables, sampler.bias == "degree",
        sampler.numbered,
    )  # fmt: skip
    columns = _drawn(sampler, part, env, stored)
    return columns, stored, stored.per_vertex * part.num_vertices


def _drawn(sampler: Traversal, part: StreamedPart, env: ChunkEnvironment, stored: StoredRows) -> dict[str, Any]:
    kernels, none = env.kernels("neighbors", index_t=part.vertex_map.dtype), env.xp.zeros(0, np.int64)
    state = TraversalState(Csr(none, none), None, kernels)
    state.frontiers.append(sampler._seeds_at_home(part, env))
    for hop in range(len(sampler.fanouts)):
        started = clock()
        edges = _hop(sampler, state, env, stored, hop)
        state.hops.append(edges)
        frontier = len(state.frontiers[-1].vertices)
        if hop + 1 < len(sampler.fanouts):
            state.frontiers.append(sampler._fresh(part, state, env))
        env.backend.synchronize()
        record(env, sampler.name, frontier, len(edges.dst), started)
    return sampler.result(part, state, env)


def _hop(sampler: Traversal, state: TraversalState, env: ChunkEnvironment, stored: StoredRows, hop: int) -> Edges:
    """The edges of a frontier."""
    here, xp = state.frontiers[-1], env.xp
    positions = stored.positions(here.vertices)
    of_frontier, reached, numbers = [positions[:0].astype(np.int64)], [here.vertices[:0]], [here.instances[:0]]
    for which, part, chunk in pieces_of(positions, env, stored, lambda part: sampler._prepared(part, env)):
        rows = positions[which] - np.int32(part.first_position)
        _, slots, places_of, _, drawn = sampler.draw_hop(
            chunk, env, rows, here.vertices[which], here.instances[which], which, hop
        )
        env.check_deadline(sampler.name, f"hop {hop}")
        if drawn is not None:
            numbers.append(drawn)
        of_frontier.append(places_of)
        reached.append(stored.numbers[slots])
        del part, chunk  # the next one may take their place
    of_graph = xp.concatenate(numbers) if sampler.numbered else None
    return in_order(xp, here, xp.concatenate(of_frontier), xp.concatenate(reached), of_graph)


def pieces_of(
    positions: Array, env: ChunkEnvironment, stored: StoredRows, prepared: Callable[[Part], Any]
) -> Iterator[tuple[Array, Part, Any]]:
    """The pieces with some positions: which of these, the piece as a partition, and what is made of it."""
    xp, places = env.xp, stored.pieces(positions)
    order = xp.argsort(places, kind="stable")
    bounds = env.backend.to_host(xp.searchsorted(places[order], xp.arange(len(stored) + 1, dtype=np.int32)))
    waiting = np.diff(bounds)
    turns = _in_turn(stored, waiting)
    for at, number in enumerate(turns):
        stored.ask(turns[at:])
        part = stored.enter(number, waiting)
        waiting[number] = 0
        made = prepared(part)
        stored.settle(number)
        stored.read_ahead(turns[at + 1 :], waiting)
        yield order[int(bounds[number]) : int(bounds[number + 1])], part, made
        del part, made  # the next one may take their place


def _in_turn(stored: StoredRows, waiting: np.ndarray) -> list[int]:
    """Chunks with work: those that are in memory, then the most active ones first."""
    held = set(stored.held)
    return sorted(np.flatnonzero(waiting).tolist(), key=lambda k: (k not in held, -int(waiting[k]), k))
