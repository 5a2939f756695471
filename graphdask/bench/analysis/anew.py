"""What runs have made of a graph and left with its partitions, forgotten, so that the next one is as the first."""

from __future__ import annotations

from typing import Any

from graphdask.engine.loop import RankContext
from graphdask.partition.part import Part


def forget_tables(graph: Any) -> bool:
    """Let the partitions of a graph, which has them, keep nothing but the graph; False where they kept nothing else."""
    built = graph.built
    kept = built.gang.run(_forget, built.parts, summary=bool, label="forgetting tables", show=False)
    return any(kept.summary)


def _forget(context: RankContext, part: Part) -> int:
    forgotten = 0
    while part.tables.forget():
        forgotten += 1
    return forgotten
