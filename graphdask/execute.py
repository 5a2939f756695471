"""Execution, for the packages that ask for it: one function for each kind of work.

Algorithms, samplers, graphs and results call these functions; `graphdask/gang/calls.py`, which stands above them all,
defines them, and makes the one choice by where a graph lives: in memory, on disk, or in rows that change. A function is
declared here, so that what calls it imports nothing that stands above; its definition has the same signature, which
mypy holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


class Declared(Protocol[Parameters, Returned]):
    """A function that a package above defines, once, when graphdask is imported."""

    definition: Callable[Parameters, Returned] | None

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned: ...

    def defined(self, definition: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
        """Take the definition; a decorator."""
        ...


def declared(signature: Callable[Parameters, Returned]) -> Declared[Parameters, Returned]:
    """Return a function of this signature and docstring, which calls its definition."""

    @wraps(signature)
    def function(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        if itself.definition is None:
            raise NotImplementedError(f"{signature.__name__} has no definition; import graphdask")
        return itself.definition(*args, **kwargs)

    def defined(definition: Callable[Parameters, Returned]) -> Callable[Parameters, Returned]:
        itself.definition = definition
        return definition

    itself = cast(Declared[Parameters, Returned], function)
    itself.definition = None
    itself.defined = defined  # type: ignore[method-assign]
    return itself


@declared
def persist(graph: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Build the partitions of a graph and keep them where they are; of a graph on disk, open it on every rank."""


@declared
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
    """Run a primitive over a graph.

    Parameters
    ----------
    graph : Graph, DynamicGraph or StreamedGraph
        Its partitions are built first, if they are not kept.
    primitive : graphdask.engine.Primitive
        The algorithm, with its arguments.
    exchange, allocation, checkpoint, every, client, progress
        As the functions of algorithms take them, such as `gd.bfs` and `gd.pagerank`.

    Returns
    -------
    Result
        Of the class that the primitive names; its columns stay with the ranks until they are read.

    Raises
    ------
    OverBudget
        If the partitions and the state need more memory than there is.
    PeerLost
        If workers are lost more often than the configuration `retries` allows.
    Unsupported
        If the graph is on disk and the primitive has no streamed form, or it is asked for checkpoints and has none.
    DeadlineExceeded
        If the run makes no progress for as long as the configuration `deadline` says.
    """


@declared
def rank(graph: Any, primitive: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Run a primitive over the rows of a DynamicGraph and return its Result."""


@declared
def sample(graph: Any, sampler: Any, placement: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Run a sampler over a graph and return its Samples."""


@declared
def sample_chunks(
    graph: Any, sampler: Any, chunk: int, placement: Any, client: Any = None, progress: bool | None = None
) -> Iterator[Any]:
    """Iterate over the Samples of `chunk` instances each, drawn one after the other."""
    raise NotImplementedError


@declared
def edge_rows(samples: Any) -> Any:
    """Return the same Samples with the row of each edge in what the caller gave, as the column `edge`."""


@declared
def verify(result: Any) -> None:
    """Check a result, or raise VerificationError."""


@declared
def verify_graph(graph: Any, client: Any = None, progress: bool | None = None) -> None:
    """Check the partitions of a graph against its lineage, or raise VerificationError."""


@declared
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


@declared
def count_edges(graph: Any, device: str, client: Any = None, progress: bool | None = None) -> Any:
    """Make all edges of a graph that needs no partitions, and drop them; return how many there were."""


@declared
def edge_blocks(graph: Any, max_edges: int, client: Any = None, progress: bool | None = None) -> Any:
    """Iterate over the edges of built partitions, as (src, dst, weights) in vertex numbers."""


@declared
def delayed_edges(graph: Any, client: Any = None, progress: bool | None = None) -> list[tuple[Any, int]]:
    """Return for each partition the Dask task that gives its edges, and their number."""
    raise NotImplementedError


@declared
def dynamic_rows(graph: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Build the rows of a DynamicGraph and keep them where they are."""


@declared
def update(graph: Any, batch: Any, alive: int, taken: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Apply a batch to a DynamicGraph, which then has `alive` vertices; return `taken(there, timer)`.

    `there` says which edges of the batch existed before, and `timer` is the Timer of the batch.
    """


@declared
def neighbours(graph: Any, vertex: int, direction: str, client: Any = None, progress: bool | None = None) -> Any:
    """Return the numbers of the distinct neighbours of a vertex, from the rank that owns it."""


@declared
def edge_counts(graph: Any, src: Any, dst: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Return how many edges lead from each vertex of `src` to the one of `dst` beside it, from the owners of `src`."""


@declared
def edge_values(
    graph: Any, src: int, dst: int, rows: bool, client: Any = None, progress: bool | None = None
) -> tuple[Any, Any]:
    """Return the rows and weights of the edges from one vertex to another, from the owner of the first."""
    raise NotImplementedError


@declared
def degrees(graph: Any, direction: str, client: Any = None, progress: bool | None = None) -> Any:
    """Return the degree of each vertex, from the rank that owns it."""


@declared
def subgraph(graph: Any, vertices: Any, client: Any = None, progress: bool | None = None) -> Any:
    """Return the subgraph induced by some vertices as a Graph."""
