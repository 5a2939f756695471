"""Edges in the order of time: a graph of the first ones, and batches of those that follow.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank for dynamic graphs, 2024,
Section 5.1.4: 90 % of the edges are there at the start, batches are a share of all edges.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.display.phases import phase, progress_over
from graphdask.errors import InputError, shown
from graphdask.graph.construct import from_edges
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import whole
from graphdask.interface.suggest import public
from graphdask.partition.ids import is_whole


@public
@dataclass(frozen=True)
class EdgeStream:
    """What `read_stream` returns: iterate over it for the batches, `(src, dst)` in the caller's ids."""

    src: np.ndarray
    """In the order of time, as is `dst`."""
    dst: np.ndarray
    first: int
    """Edges of the graph to begin with."""
    size: int
    """Edges of a batch."""
    batches: int
    directed: bool
    appear: bool

    @property
    def graph(self) -> Graph:
        """The graph to begin with, an ordinary one."""
        vertices = None if self.appear else np.unique(np.concatenate([self.src, self.dst]))
        src, dst = self.src[: self.first], self.dst[: self.first]
        return from_edges(src, dst, directed=self.directed, vertices=vertices)

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for k in range(self.batches):
            cut = slice(self.first + k * self.size, self.first + (k + 1) * self.size)
            yield self.src[cut], self.dst[cut]


def read_stream(
    path: str | os.PathLike[str],
    *,
    preload: float = 0.9,
    batch: float = 1e-4,
    batches: int | None = None,
    directed: bool = True,
    appear: bool = False,
    ids: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    na_values: Any = None,
    columns: Any = None,
    delimiter: str | None = None,
    comment: str | None = None,
) -> EdgeStream:
    """Read a file of edges with times, to follow a graph as it grew.

    Parameters
    ----------
    path : path-like
        Lines of `source destination time`, also compressed.
    preload : float
        Share of the edges, the earliest, that the graph begins with.
    batch : float
        Share of all edges in a batch, one edge at least.
    batches : int, optional
        At most. Default: until the edges end.
    directed : bool
    appear : bool
        Whether vertices appear with their first edge. Default: all are there from the start.
    ids : {"int", "str"}, optional
        How to read ids, as in `graphdask.io.read_edges`.
    header, skip_rows, na_values, columns, delimiter, comment : optional
        Whether there is a header, lines to pass over, words for missing ids, which columns are source, target and time,
        what is between them, and what begins a comment, as in `graphdask.io.read_edges`.

    Returns
    -------
    EdgeStream
        With `graph`, to begin with; its batches are what `DynamicGraph.update(insert=...)` takes.

    Raises
    ------
    InputError
        For shares that cannot be, or where no edge is left for a batch.
    FormatError
        For a line that is none.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import graphdask as gd
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "times.txt"
    >>> _ = file.write_text("".join(f"{k} {k + 1} {k}\\n" for k in range(10)))
    >>> stream = gd.read_stream(file, preload=0.7, batch=0.1)
    >>> D = gd.DynamicGraph(stream.graph)
    >>> [D.update(insert=edges).inserted for edges in stream]
    [1, 1, 1]
    """
    from graphdask.io import read_edges

    if not _is_share(preload) or not 0 <= preload < 1:
        raise InputError(f"preload={shown(preload)} is not a share of 0 or more and below 1")
    if not _is_share(batch) or not 0 < batch <= 1:
        raise InputError(f"batch={shown(batch)} is not a share above 0 and up to 1")
    if batches is not None:
        batches = whole("batches", batches, 1)
    for name, value in (("directed", directed), ("appear", appear)):
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{name}={shown(value)} must be True or False")
    with progress_over(path, ("reading", "building")):
        edges = read_edges(
            path, format="temporal", ids=ids, header=header, skip_rows=skip_rows, na_values=na_values, columns=columns,
            delimiter=delimiter, comment=comment,
        )  # fmt: skip
        assert edges.times is not None
        with phase("building"):
            order = np.argsort(edges.times, kind="stable")
            src, dst = edges.src[order], edges.dst[order]
    first = round(preload * len(order))
    size = max(1, round(batch * len(order)))
    number = -(-(len(order) - first) // size)
    if not number:
        raise InputError(f"{path}: no edge is left of {len(order)} for a batch; take a smaller preload")
    number = number if batches is None else min(number, batches)
    return EdgeStream(src, dst, first, size, number, directed, appear)


def _is_share(value: Any) -> bool:
    return is_whole(value) or isinstance(value, float | np.floating)
