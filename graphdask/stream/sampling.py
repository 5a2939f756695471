"""Run a sampler over a store; each rank draws its share of the instances, and reads what these come to.

Through a device the chunks that are drawn from come into its memory, and what is to be drawn waits there; kernels are
those of partitions in memory.

Source: Pandey et al., c-saw, Section V (out-of-memory sampling).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from graphdask.comm.single import SingleCommunicator
from graphdask.engine.loop import RankContext, RankResult
from graphdask.errors import Unsupported
from graphdask.kernels.common.compiling import clock
from graphdask.partition.part import Csr
from graphdask.sample.sampler import Sampler
from graphdask.stream.graph import StreamedGraph
from graphdask.stream.own_chunks import Own
from graphdask.stream.rows import AHEAD, AHEAD_OF_DEVICE, ChunkEnvironment, StoredRows
from graphdask.stream.shared_store import StreamedPart, backend_of, part_of

PLACEMENT = "on disk"
"""What samples say of where they come from; chunks of them ask for it again."""
INSTEAD = "S.in_memory() is the same graph in memory"
SAMPLERS = (
    "random walks but for metapaths, node2vec, neighbour, temporal, snowball and forest fire sampling have, "
    "GraphSAINT's subgraphs, subgraphs of given vertices, ego graphs, k-hop neighbours and k-cores"
)


def check(graph: StreamedGraph, sampler: Any, placement: Any) -> None:
    """Raise Unsupported for what cannot be drawn from a store, before any work."""
    if not sampler.on_disk:
        why = f", because {sampler.needs_memory}" if sampler.needs_memory else f" ({SAMPLERS})"
        raise Unsupported(f"{sampler.name} has no form that streams a graph from disk{why}; {INSTEAD}")
    if getattr(sampler, "direction", "") == "both" and graph.directed:
        raise Unsupported(
            f"{sampler.name} of a directed graph on disk goes along edges or against them, and was to go both ways; "
            f"build the file undirected (directed=False). {INSTEAD}"
        )
    if sampler.placed and placement not in ("auto", PLACEMENT):
        raise Unsupported(
            f"placement={str(placement)!r} has no meaning for {graph.store.path}, whose rows are read from disk; leave "
            f"it out. {INSTEAD}"
        )
    if graph.passes == "one":
        raise Unsupported(f'passes="one" is no way of sampling; open {graph.store.path} with passes="exact"')
    if sampler.numbered and graph.store.edge_rows is None:
        raise Unsupported(
            f"{graph.store.path} does not hold which row of what it was built from each edge is; build it with "
            f"edge_rows=True (graphdask stream build --edge-rows), or sample without edge rows (edge_rows=False)"
        )
    if sampler.inward and graph.directed and "inward" not in graph.store.sections:
        raise Unsupported(
            f"{graph.store.path} was built without in-edges, which {sampler.name} goes along; build it with inward=True"
        )


def refuse_proof(graph: StreamedGraph, primitive: Any) -> None:
    """Raise Unsupported for what is proved in memory only."""
    if isinstance(primitive, Sampler):
        raise Unsupported(
            f"samples of {graph.store.path} are not proved from disk; draw them from S.in_memory(), which gives the "
            "same, and verify these"
        )


def execute(context: RankContext, part: StreamedPart, sampler: Any) -> RankResult:
    """Draw a rank's share of the samples; among the values is what was read, as `streamed`."""
    rank, size, started = context.comm.rank, context.comm.size, clock()
    mine, backend = sampler.share(rank, size), backend_of(context, part)
    host, before, memory, ahead = None, 0, part.memory, AHEAD
    with SingleCommunicator() as comm, backend.activate(), ExitStack() as stack:
        if backend.name == "cuda":
            assert part.chunks is not None
            host = part.chunks(backend)
            stack.enter_context(host.reading(Own.whole(part.store)))
            ahead = AHEAD_OF_DEVICE
            before, memory = host.nbytes, min(memory, int(backend.free_memory() * context.memory_share))
        env = ChunkEnvironment(
            backend, 0, 1, "selective", context.watchdog, context.memory_share, context.on_superstep, comm, host=host,
            ahead=ahead if part.read_ahead is None else part.read_ahead,
        )  # fmt: skip
        alone = part_of(part.store, 0, 1, memory, part.read_ahead)
        try:
            columns, stored, state = _form(mine)(mine, alone, env)
            backend.synchronize()
        finally:
            if env.stored is not None:
                env.stored.close()
    traffic = stored.traffic
    streamed = {"scheme": "chunks", "sweeps": len(env.history)} | traffic.to_dict(clock() - started)
    streamed["least"] = streamed["distinct"]  # a chunk is read whole for whatever is drawn from it
    if host is not None:
        streamed |= {"device": "cuda", "from_disk": host.nbytes - before}
    values = {"streamed": streamed, "rank": rank}
    values |= {f"{name}.shape": column.shape[1:] for name, column in columns.items()}
    return RankResult(
        columns, values, {name: column.dtype for name, column in columns.items()}, env.history, context.comm.name,
        backend.description, state + traffic.memory, state, state,
    )  # fmt: skip


def _form(sampler: Any) -> Callable[..., tuple[dict[str, Any], StoredRows, int]]:
    """The function that draws from a store for a sampler that is `on_disk`; imported when something is drawn."""
    from graphdask.sample.traversal import Traversal
    from graphdask.sample.walkers import Walkers
    from graphdask.stream import hops, subgraphs, walkers
    from graphdask.subgraphs.hops import Hops
    from graphdask.subgraphs.selected import Selected

    if isinstance(sampler, Traversal):
        return hops.run
    if isinstance(sampler, Hops | Selected):
        return subgraphs.around if isinstance(sampler, Hops) else subgraphs.between
    return walkers.run if isinstance(sampler, Walkers) else _degrees


def _degrees(sampler: Any, part: StreamedPart, env: ChunkEnvironment) -> tuple[dict[str, Any], StoredRows, int]:
    """Degrees of vertices, of which nothing but the rows' lengths is read."""
    stored = StoredRows(env, part.store, part.store.sections["out"], part.memory, sampler.name, 0, _no_tables, True)
    assert stored.degrees is not None
    degrees = env.xp.empty_like(stored.degrees)
    degrees[stored.numbers] = stored.degrees
    vertices = env.xp.arange(sampler.first, sampler.last, dtype=np.int32)
    return {"vertex": vertices, "degree": degrees[vertices]}, stored, stored.per_vertex * part.num_vertices


def _no_tables(csr: Csr) -> int:
    return 0
