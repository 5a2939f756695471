"""Proofs of results and of partitions, on the gang that made them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.display.notebook import is_watched
from graphdask.engine.loop import RankContext, RankResult
from graphdask.errors import VerificationError
from graphdask.gang import edge_rows
from graphdask.gang.arguments import PerRank
from graphdask.gang.building import Built
from graphdask.gang.in_memory import with_partitions
from graphdask.gang.local import itself
from graphdask.gang.recovery import whole
from graphdask.graph.graph import Graph
from graphdask.partition.part import Part
from graphdask.results.columns import PickColumn
from graphdask.sample.sampler import Sampler
from graphdask.stream import sampling
from graphdask.stream.graph import StreamedGraph
from graphdask.stream.shared_store import StreamedPart
from graphdask.verify.graph import raise_violation
from graphdask.verify.graph import verify as verify_part


def verify(result: Any) -> None:
    """Check a result or samples, or raise VerificationError."""
    primitive, built = result.primitive, result.built
    if isinstance(result.graph, StreamedGraph):
        sampling.refuse_proof(result.graph, primitive)
    config = Config.load()
    show = is_watched(config.progress)
    label = f"verifying {primitive.name}"

    def proof() -> None:
        built.gang.use(config)
        kept = built.gang.run(_verify, built.parts, primitive, result.parts, summary=itself, label=label, show=show)
        _refuse(result, kept)
        if isinstance(primitive, Sampler) and "edge" in result.columns and not isinstance(result.graph, StreamedGraph):
            _refuse(result, edge_rows.proved(result, show))

    whole(result, proof)


def verify_graph(graph: Graph, client: Any, progress: bool | None) -> None:
    """Check the partitions of a graph against its lineage, or raise VerificationError."""
    config = Config.load(progress=progress)

    def check(built: Built, restarts: int) -> None:
        size = built.gang.size
        pieces = PerRank([graph.source.piece(rank, size) for rank in range(size)])
        kept = built.gang.run(
            verify_part,
            built.parts,
            pieces,
            graph.directed,
            graph.merge,
            summary=itself,
            label="verifying the graph",
            show=is_watched(config.progress),
        )
        raise_violation(kept.summary)

    with_partitions(graph, client, config, check)


def _verify(context: RankContext, part: Part, primitive: Any, result: RankResult) -> Any:
    """On each rank: its first violation, or None."""
    if context.backend.name == "cpu":  # where what was drawn on a device from this host's memory is verified too
        result = replace(result, columns={name: PickColumn(name)(result) for name in result.columns})
    if isinstance(part, StreamedPart):
        from graphdask.stream.verify import verify as verify_streamed

        return verify_streamed(context, part, primitive, result)
    from graphdask.verify.table import verifier_of  # loads every verifier, which only a proof needs

    return verifier_of(primitive)(context, part, primitive, result)


def _refuse(result: Any, kept: Any) -> None:
    """Raise VerificationError if a rank has found a violation."""
    found = [violation for violation in kept.summary if violation is not None]
    if found:
        first = min(found)
        vertex, other = (_shown(result.graph, number) for number in (first.vertex, first.other))
        raise VerificationError(f"{result.primitive.name}: " + first.message.format(vertex=vertex, other=other))


def _shown(graph: Graph, number: int) -> str:
    """A vertex by the caller's id, or what stands where a vertex number should."""
    if 0 <= number < graph.num_vertices:
        return str(graph.ids.to_caller(np.array([number]))[0])
    return "none" if number == -1 else f"number {number} (no vertex)"
