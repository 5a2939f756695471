"""What `graphdask.execute` declares: where each kind of work is done.

A graph lives in memory, on disk, or in rows that change; the functions here choose by that:

- `in_memory.py`: a graph in memory. Its partitions are on a gang: threads of this process, or tasks of Dask.
- `on_disk.py`: a graph on disk, which the ranks of a gang stream.
- `dynamic.py`: the rows of a DynamicGraph, which change in batches.
- `queries.py`: questions about some vertices, which only the ranks that own them answer.
- `stream/questions.py`: the same questions to a graph on disk, which this process answers from the file.

This module is imported with graphdask itself; what it calls is imported in its functions, as that takes a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphdask import execute
from graphdask.gang import forked as forked  # notes from now on which clients are of a process before a fork


def _streamed(graph: Any) -> bool:
    """Whether a graph lives on disk."""
    from graphdask.stream.graph import StreamedGraph

    return isinstance(graph, StreamedGraph)


@execute.persist.defined
def persist(graph: Any, client: Any = None, progress: bool | None = None) -> Any:
    if _streamed(graph):
        from graphdask.gang import on_disk

        return on_disk.persist(graph, client, progress)
    from graphdask.gang import in_memory

    return in_memory.persist(graph.present, client, progress)


@execute.run.defined
def run(
    graph: Any,
    primitive: Any,
    *,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> Any:
    from graphdask.gang import in_memory, on_disk

    graph = graph.present
    return (on_disk if _streamed(graph) else in_memory).run(
        graph, primitive, exchange=exchange, allocation=allocation, checkpoint=checkpoint, every=every, client=client,
        progress=progress,
    )  # fmt: skip


@execute.rank.defined
def rank(graph: Any, primitive: Any, client: Any = None, progress: bool | None = None) -> Any:
    from graphdask.gang import dynamic

    return dynamic.rank(graph, primitive, client, progress)


@execute.sample.defined
def sample(graph: Any, sampler: Any, placement: Any, client: Any = None, progress: bool | None = None) -> Any:
    graph = graph.present
    if _streamed(graph):
        from graphdask.gang import on_disk

        return on_disk.sample(graph, sampler, placement, client, progress)
    from graphdask.gang import sampling

    return sampling.sample(graph, sampler, placement, client, progress)


@execute.sample_chunks.defined
def sample_chunks(
    graph: Any, sampler: Any, chunk: int, placement: Any, client: Any = None, progress: bool | None = None
) -> Iterator[Any]:
    from graphdask.gang import chunking

    return chunking.chunks(graph, sampler, chunk, placement, client, progress)


@execute.edge_rows.defined
def edge_rows(samples: Any) -> Any:
    from graphdask.gang import edge_rows

    return edge_rows.found(samples)


@execute.verify.defined
def verify(result: Any) -> None:
    from graphdask.gang import proofs

    proofs.verify(result)


@execute.verify_graph.defined
def verify_graph(graph: Any, client: Any = None, progress: bool | None = None) -> None:
    from graphdask.gang import proofs

    proofs.verify_graph(graph.present, client, progress)


@execute.write.defined
def write(
    graph: Any,
    path: Any,
    format: str | None,
    files: int | None,
    overwrite: bool,
    device: str,
    client: Any = None,
    progress: bool | None = None,
) -> Any:
    from graphdask.gang import output

    return output.write(graph.present, path, format, files, overwrite, device, client, progress)


@execute.count_edges.defined
def count_edges(graph: Any, device: str, client: Any = None, progress: bool | None = None) -> Any:
    from graphdask.gang import output

    return output.count(graph.present, device, client, progress)


@execute.edge_blocks.defined
def edge_blocks(graph: Any, max_edges: int, client: Any = None, progress: bool | None = None) -> Any:
    from graphdask.gang import output

    return output.stored_blocks(persist(graph, client, progress), graph.directed, max_edges)


@execute.delayed_edges.defined
def delayed_edges(graph: Any, client: Any = None, progress: bool | None = None) -> list[tuple[Any, int]]:
    from graphdask.gang import output

    return output.delayed_edges(persist(graph, client, progress), graph.directed)


@execute.dynamic_rows.defined
def dynamic_rows(graph: Any, client: Any = None, progress: bool | None = None) -> Any:
    from graphdask.gang import dynamic

    return dynamic.dynamic_rows(graph, client, progress)


@execute.update.defined
def update(graph: Any, batch: Any, alive: int, taken: Any, client: Any = None, progress: bool | None = None) -> Any:
    from graphdask.gang import dynamic

    return dynamic.update(graph, batch, alive, taken, client, progress)


def _questions(graph: Any) -> Any:
    """The module that answers questions to a graph."""
    if _streamed(graph):
        from graphdask.stream import questions

        return questions
    from graphdask.gang import queries

    return queries


@execute.neighbours.defined
def neighbours(graph: Any, vertex: int, direction: str, client: Any = None, progress: bool | None = None) -> Any:
    return _questions(graph).neighbours(graph.present, vertex, direction, client, progress)


@execute.edge_counts.defined
def edge_counts(graph: Any, src: Any, dst: Any, client: Any = None, progress: bool | None = None) -> Any:
    return _questions(graph).edge_counts(graph.present, src, dst, client, progress)


@execute.edge_values.defined
def edge_values(
    graph: Any, src: int, dst: int, rows: bool, client: Any = None, progress: bool | None = None
) -> tuple[Any, Any]:
    found: tuple[Any, Any] = _questions(graph).edge_values(graph.present, src, dst, rows, client, progress)
    return found


@execute.degrees.defined
def degrees(graph: Any, direction: str, client: Any = None, progress: bool | None = None) -> Any:
    return _questions(graph).degrees(graph.present, direction, client, progress)


@execute.subgraph.defined
def subgraph(graph: Any, vertices: Any, client: Any = None, progress: bool | None = None) -> Any:
    from graphdask.subgraphs.subgraph import subgraph

    return subgraph(graph, vertices, client=client, progress=progress).to_graph()
