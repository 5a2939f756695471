"""The one door through which a graph, an algorithm or a result asks for execution.

Graphs and algorithms state what is to be done; `graphdask.gang` knows where and does it. It stands to their right, so
it is found here when a call needs it, not imported by them.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol


class Runtime(Protocol):
    """What execution offers."""

    def persist(self, graph: Any, client: Any = None, progress: bool | None = None) -> Any:
        """Build the partitions of a graph and keep them where they are."""

    def run(self, graph: Any, primitive: Any, **options: Any) -> Any:
        """Run a primitive over a graph and return its Result."""

    def sample(self, graph: Any, sampler: Any, placement: Any, **options: Any) -> Any:
        """Run a sampler over a graph and return its Samples."""

    def sample_chunks(self, graph: Any, sampler: Any, chunk: int, placement: Any, **options: Any) -> Any:
        """Iterate over the Samples of `chunk` instances each, drawn one after the other."""

    def edge_rows(self, samples: Any) -> Any:
        """The same Samples with the row of each edge in what the caller gave, as the column `edge`."""

    def verify_graph(self, graph: Any, client: Any = None, progress: bool | None = None) -> None:
        """Check the partitions of a graph against its lineage, or raise VerificationError."""

    def write(
        self,
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

    def edge_blocks(self, graph: Any, max_edges: int, client: Any = None, progress: bool | None = None) -> Any:
        """Iterate over the edges of built partitions, as (src, dst, weights) in vertex numbers."""

    def delayed_edges(self, graph: Any, client: Any = None, progress: bool | None = None) -> list[tuple[Any, int]]:
        """For each partition the Dask task that gives its edges, and their number."""

    def dynamic_rows(self, graph: Any, client: Any = None, progress: bool | None = None) -> Any:
        """Build the rows of a dynamic graph and keep them where they are."""

    def update(
        self, graph: Any, batch: Any, alive: int, taken: Any, client: Any = None, progress: bool | None = None
    ) -> Any:
        """Apply a batch to a dynamic graph; `taken(there, timer)`, which of its edges were there before, and the
        Timer of it, makes the graph follow, and says what is returned."""

    def rank(self, graph: Any, primitive: Any, client: Any = None, progress: bool | None = None) -> Any:
        """Run a primitive over the rows of a dynamic graph and return its Result."""

    def verify(self, result: Any) -> None:
        """Check a result, or raise VerificationError."""


def runtime() -> Runtime:
    """Return the installed runtime."""
    return importlib.import_module("graphdask.gang").RUNTIME
