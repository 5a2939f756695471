"""A result that has values of edges besides those of vertices."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from graphdask.results.columns import PickColumn
from graphdask.results.result import Result


class EdgeValuesResult(Result):
    """Its columns of edges, of which `row` is one, stay with the ranks until they are read."""

    def _of_edges(self, name: str) -> np.ndarray:
        """Values of edges in the order of their rows in what the graph was made of."""
        return np.concatenate(self.parts.fetch(PickColumn(name)))[self._by_row]

    @cached_property
    def _by_row(self) -> np.ndarray:
        return np.argsort(np.concatenate(self.parts.fetch(PickColumn("row"))))


class EdgesResult(EdgeValuesResult):
    """Its edges are in the order of their rows."""

    @property
    def source(self) -> np.ndarray:
        """Where each edge begins; in an undirected graph the smaller id; shape (edges,)."""
        return self.graph.ids.to_caller(self._of_edges("source"))

    @property
    def destination(self) -> np.ndarray:
        """The other end of each edge; shape (edges,)."""
        return self.graph.ids.to_caller(self._of_edges("destination"))

    @property
    def row(self) -> np.ndarray:
        """Which row of what the graph was made of each edge is, ascending; shape (edges,)."""
        return self._of_edges("row")
