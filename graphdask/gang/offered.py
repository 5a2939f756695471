"""What is offered where a graph lacks memory, or is on disk and would have to be in memory.

These stand apart from what streams a graph, which takes long to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from graphdask.errors import OverBudget, Unsupported
from graphdask.partition.larger import of_graph
from graphdask.stream.graph import StreamedGraph


@contextmanager
def offered(graph: Any) -> Iterator[None]:
    """Where a graph needs more memory than there is, say what it would take to stream it."""
    try:
        yield
    except MemoryError as error:
        if isinstance(error, OverBudget) and ("memory-fraction" not in str(error) or "stream.build" in str(error)):
            raise
        what = str(error) if isinstance(error, OverBudget) else f"memory has run out ({error or 'MemoryError'})"
        raise OverBudget(what + of_graph(graph.num_vertices)) from error


def refuse(graph: Any, what: str) -> None:
    """Raise Unsupported where a graph is on disk, and what is asked for needs its partitions."""
    if isinstance(graph, StreamedGraph):
        raise Unsupported(f"{what} {graph.store.path} needs it in memory: take S.in_memory()")
