"""Execution, for the packages that ask for it: one function for each kind of work, and the one choice of where.

A graph lives in memory, on disk, or in rows that change. `run`, `sample`, `persist` and `verify` choose by that, and
call `graphdask.gang`, which stands above the packages that call here:

- `gang/in_memory.py`: a graph in memory. Its partitions are on a gang: threads of this process, or tasks of Dask.
- `gang/on_disk.py`: a graph on disk, which the ranks of a gang stream.
- `gang/dynamic.py`: the rows of a DynamicGraph, which change in batches.
- `gang/queries.py`: questions about some vertices, which only the ranks that own them answer.
- `stream/questions.py`: the same questions to a graph on disk, which this process answers from the file.

So the imports of this module stand inside its functions, which no other module may do (tests/helpers/layers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def _streamed(graph: Any) -> bool:
    """Whether a graph lives on disk."""
    from graphdask.stream.graph import StreamedGraph

    return isinstance(graph, StreamedGraph)


def persist(graph: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Build the partitions of a graph and keep them where they are; of a graph on disk, open it on every rank."""
    from graphdask.gang import in_memory, on_disk

    if _streamed(graph):
        return on_disk.persist(graph, client, progress)
    return in_memory.persist(graph.present, client, progress)


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
    """Run a primitive over a graph and return its Result."""
    from graphdask.gang import checkpoints, in_memory, on_disk

    graph = graph.present
    wanted = checkpoints.wanted(graph, primitive, checkpoint, every)
    if _streamed(graph):
        return on_disk.run(graph, primitive, exchange=exchange, allocation=allocation, client=client, progress=progress)
    return in_memory.run(
        graph, primitive, exchange=exchange, allocation=allocation, checkpoints=wanted, client=client, progress=progress
    )


def rank(graph: Any, primitive: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Run a primitive over the rows of a DynamicGraph and return its Result."""
    from graphdask.gang import dynamic

    return dynamic.rank(graph, primitive, client, progress)


def sample(graph: Any, sampler: Any, placement: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Run a sampler over a graph and return its Samples."""
    from graphdask.gang import on_disk, sampling

    graph = graph.present
    call = on_disk.sample if _streamed(graph) else sampling.sample
    return call(graph, sampler, placement, client, progress)


def sample_chunks(
    graph: Any, sampler: Any, chunk: int, placement: Any, client: Any = None, progress: bool | None = None
) -> Iterator[Any]:
    """Iterate over the Samples of `chunk` instances each, drawn one after the other."""
    from graphdask.gang import chunking

    return chunking.chunks(graph, sampler, chunk, placement, client, progress)


def edge_rows(samples: Any) -> Any:
    """Return the same Samples with the row of each edge in what the caller gave, as the column `edge`."""
    from graphdask.gang import edge_rows

    return edge_rows.found(samples)


def verify(result: Any) -> None:
    """Check a result, or raise VerificationError."""
    from graphdask.gang import proofs

    proofs.verify(result)


def verify_graph(graph: Any, client: Any = None, progress: bool | None = None) -> None:
    """Check the partitions of a graph against its lineage, or raise VerificationError."""
    from graphdask.gang import proofs

    proofs.verify_graph(graph.present, client, progress)


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
    """Write the edges of a graph to files."""
    from graphdask.gang import output

    return output.write(graph.present, path, format, files, overwrite, device, client, progress)


def count_edges(graph: Any, device: str, client: Any = None, progress: bool | None = None) -> Any:
    """Make all edges of a graph that needs no partitions, and drop them; return how many there were."""
    from graphdask.gang import output

    return output.count(graph.present, device, client, progress)


def edge_blocks(graph: Any, max_edges: int, client: Any = None, progress: bool | None = None) -> Any:
    """Iterate over the edges of built partitions, as (src, dst, weights) in vertex numbers."""
    from graphdask.gang import output

    return output.stored_blocks(persist(graph, client, progress), graph.directed, max_edges)


def delayed_edges(graph: Any, client: Any = None, progress: bool | None = None) -> list[tuple[Any, int]]:
    """Return for each partition the Dask task that gives its edges, and their number."""
    from graphdask.gang import output

    return output.delayed_edges(persist(graph, client, progress), graph.directed)


def dynamic_rows(graph: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Build the rows of a DynamicGraph and keep them where they are."""
    from graphdask.gang import dynamic

    return dynamic.dynamic_rows(graph, client, progress)


def update(graph: Any, batch: Any, alive: int, taken: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Apply a batch to a DynamicGraph, which then has `alive` vertices; return `taken(there, timer)`.

    `there` says which edges of the batch existed before, and `timer` is the Timer of the batch.
    """
    from graphdask.gang import dynamic

    return dynamic.update(graph, batch, alive, taken, client, progress)


def _questions(graph: Any) -> Any:
    """The module that answers questions to a graph."""
    from graphdask.gang import queries
    from graphdask.stream import questions

    return questions if _streamed(graph) else queries


def neighbours(graph: Any, vertex: int, direction: str, client: Any = None, progress: bool | None = None) -> Any:
    """Return the numbers of the distinct neighbours of a vertex, from the rank that owns it."""
    return _questions(graph).neighbours(graph.present, vertex, direction, client, progress)


def edge_counts(graph: Any, src: Any, dst: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Return how many edges lead from each vertex of `src` to the one of `dst` beside it, from the owners of `src`."""
    return _questions(graph).edge_counts(graph.present, src, dst, client, progress)


def edge_values(
    graph: Any, src: int, dst: int, rows: bool, client: Any = None, progress: bool | None = None
) -> tuple[Any, Any]:
    """Return the rows and weights of the edges from one vertex to another, from the owner of the first."""
    found: tuple[Any, Any] = _questions(graph).edge_values(graph.present, src, dst, rows, client, progress)
    return found


def degrees(graph: Any, direction: str, client: Any = None, progress: bool | None = None) -> Any:
    """Return the degree of each vertex, from the rank that owns it."""
    return _questions(graph).degrees(graph.present, direction, client, progress)


def subgraph(graph: Any, vertices: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Return the subgraph induced by some vertices as a Graph."""
    from graphdask.subgraphs.subgraph import subgraph

    return subgraph(graph, vertices, client=client, progress=progress).to_graph()
