"""Result: values per vertex that stay with the partitions until they are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from graphdask import execute
from graphdask.engine.loop import RankResult
from graphdask.errors import GraphdaskError, MissingDependency, Unsupported
from graphdask.graph.graph import Graph
from graphdask.interface.suggest import public
from graphdask.partition.vertex_map import VertexMap
from graphdask.results.attributes import with_columns
from graphdask.results.collection import DaskValues
from graphdask.results.columns import (
    CallerColumn,
    Glance,
    PickColumn,
    PickColumns,
    column_of,
    joined,
)
from graphdask.results.stats import Stats
from graphdask.results.tables import VertexTable, arrow_ready


class Kept(Protocol):
    """One value for each rank, kept where it was made."""

    summary: list[Any]
    """Per rank, what the client received of the value."""

    def fetch(self, select: Callable[[Any], Any]) -> list[Any]:
        """Return `select(value)` of every rank, in rank order; runs where the value is."""

    def delayed(self, select: Callable[[Any], Any]) -> list[Any]:
        """The same as Dask delayed objects."""


class Arrived:
    """The values of a result that was sent here."""

    def __init__(self, values: list[RankResult]):
        self.values, self.summary = values, [value.without_columns() for value in values]

    def fetch(self, select: Callable[[Any], Any]) -> list[Any]:
        return [select(value) for value in self.values]

    def delayed(self, select: Callable[[Any], Any]) -> list[Any]:
        from dask import delayed

        return [delayed(select, pure=False)(value) for value in self.values]


@dataclass(frozen=True)
class Elsewhere:
    """In place of the partitions that a result was made from."""

    vertex_map: VertexMap


def _arrived(
    values: list[RankResult], graph: Graph, kind: type[Result], primitive: Any, vertex_map: VertexMap, stats: Stats
) -> Result:
    return kind(graph, primitive, Arrived(values), Elsewhere(vertex_map), stats)


def checked_home(made: Any) -> None:
    """Raise Unsupported where a result or samples are not where they were made."""
    if isinstance(made.parts, Arrived):
        raise Unsupported("it was sent here without the partitions that it was made from; verify it where it was made")


def dask_dataframes() -> Any:
    """Dask's data frames, or MissingDependency."""
    try:
        import dask.dataframe
    except ImportError as error:
        raise MissingDependency('to_dask_dataframe needs pip install "graphdask[dataframe]"') from error
    return dask.dataframe


def _vertex_frame(columns: dict[str, np.ndarray], rank: int, facts: tuple[VertexMap, Any, tuple[str, ...]]) -> Any:
    """The data frame of a rank; runs beside its values."""
    from graphdask.device.backend import get_backend

    vertex_map, ids, vertex_valued = facts
    owned = vertex_map.owned_ids(get_backend("cpu"), rank).astype(np.int64)
    return _framed(ids, {"vertex": owned, **columns}, ("vertex", *vertex_valued))


def _framed(ids: Any, columns: dict[str, np.ndarray], vertex_valued: tuple[str, ...]) -> Any:
    import pandas

    named = {name: ids.to_caller(values) if name in vertex_valued else values for name, values in columns.items()}
    return pandas.DataFrame({name: pandas_ready(values) for name, values in named.items()})


def pandas_ready(values: np.ndarray) -> Any:
    """A column for pandas: strings as its own type, rows of a 2-D array as Arrow's lists, which Dask leaves alone."""
    import pandas

    if values.ndim == 1:
        return pandas.array(values, dtype="str") if values.dtype == object else values
    import pyarrow

    lists = pyarrow.array(arrow_ready(values.reshape(-1)), from_pandas=True)
    for axis in range(values.ndim - 1, 0, -1):
        ends = np.arange(int(np.prod(values.shape[:axis])) + 1, dtype=np.int64) * values.shape[axis]
        lists = pyarrow.LargeListArray.from_arrays(ends, lists)
    return pandas.arrays.ArrowExtensionArray(lists)


HEAD = 5
"""Rows of a result that a notebook shows."""


@public
class Result(VertexTable, DaskValues):
    """Values per vertex.

    Attributes
    ----------
    stats : Stats
        What the run did, superstep by superstep.
    parts : Kept
        The values where they were computed, one RankResult for each partition, in its local order of vertices.
    """

    columns: tuple[str, ...] = ()
    """Names of the value arrays, each an attribute."""
    vertex_valued: tuple[str, ...] = ()
    """Those whose values are vertex ids."""

    def __init__(self, graph: Graph, primitive: Any, parts: Kept, built: Any, stats: Stats):
        self.graph, self.primitive, self.parts, self.built, self.stats = graph, primitive, parts, built, stats
        self._vertex_map: VertexMap = built.vertex_map
        self._gathered: dict[str, np.ndarray] = {}

    def _internal(self, name: str) -> np.ndarray:
        """A column in graphdask's vertex numbers, in their order."""
        if name not in self._gathered:
            self._gathered[name] = joined(self.parts.fetch(PickColumn(name)), self._vertex_map)
        return self._gathered[name]

    @cached_property
    def _order(self) -> np.ndarray:
        """Vertex numbers in the order of the ranks' values."""
        from graphdask.device.backend import get_backend

        positions = np.arange(self.graph.num_vertices, dtype=self._vertex_map.dtype)
        return self._vertex_map.to_id(get_backend("cpu"), positions)

    def _column(self, name: str) -> np.ndarray:
        values = self._internal(name)
        return self.graph.ids.to_caller(values) if name in self.vertex_valued else values

    def column(self, name: str, device: str | None = None) -> Any:
        """Return a column where it was computed, or on the device that is named.

        Parameters
        ----------
        name : str
            One of `columns`.
        device : {"cpu", "cuda"}, optional
            The host, or the GPU of this process. Default: the GPU if the values were computed there in this process,
            else the host.

        Returns
        -------
        numpy.ndarray or cupy.ndarray, shape (num_vertices,)
            In the order of `G.vertex_ids`. Both have `__dlpack__`, by which PyTorch, JAX and others take them without a
            copy. If one partition has the values in this order, they are not copied either: they are the result's own,
            so copy them before you write to them. Several partitions are assembled on the device.

        Raises
        ------
        InputError
            For a name that is no column's, or another device.
        Unsupported
            For `"cuda"` without a GPU in this process, or if the values are names.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.bfs(gd.from_edges([0, 1], [1, 2]), 0).column("depth", device="cpu").tolist()
        [0, 1, 2]
        """
        return column_of(self, name, device, self._vertex_map)

    def verify(self) -> Result:
        """Prove the result on the workers, in linear time but for triangles, which are counted again; return it.

        Raises
        ------
        VerificationError
            Naming the first vertex or edge that breaks an invariant.
        Unsupported
            Where the result was sent here by another process.
        """
        checked_home(self)
        execute.verify(self)
        return self

    def to_frame(self, columns: Any = ()) -> Any:
        """Return a pandas DataFrame with the columns `vertex` and the result's own, a row for each vertex.

        Parameters
        ----------
        columns : list of str
            More columns: those of the graph's `vertex_columns`, all of them for None. Default: none.

        Raises
        ------
        MissingDependency
            Without pandas.
        InputError
            For a column that the graph's vertices do not have, or whose name is one of the result's own columns.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependency('to_frame() needs pandas: pip install "graphdask[dataframe]"') from error
        data = {"vertex": self.graph.vertex_ids}
        frame = pandas.DataFrame(data | {name: self._column(name) for name in self.columns})
        return with_columns(frame, columns, self.graph.vertex_attributes, self._columns_of_vertices)

    def _columns_of_vertices(self, names: list[str]) -> Any:
        from graphdask.graph.attributes import pandas_frame

        return pandas_frame(self.graph.vertex_attributes.of_vertices(self.graph.ids, names))

    def to_dask(self) -> dict[str, Any]:
        """Return a Dask array for each column and for `vertex`, a chunk for each partition that has vertices, in order.

        The chunks are made where the partitions are; `vertex` says which vertex each value belongs to, by the
        caller's id.
        """
        import dask.array

        lengths = np.diff(self._vertex_map.offsets)
        filled = np.flatnonzero(lengths) if lengths.any() else np.arange(1)
        lengths = lengths[filled]
        arrays = {}
        for name in self.columns:
            dtype = self._column_dtype(name)
            select = CallerColumn(name, self.graph.ids if name in self.vertex_valued else None)
            pieces = self.parts.delayed(select)
            chunks = [
                dask.array.from_delayed(pieces[rank], (int(length),), dtype)
                for rank, length in zip(filled, lengths, strict=True)
            ]
            arrays[name] = dask.array.concatenate(chunks)
        vertex = self.graph.ids.to_caller(self._order)
        arrays["vertex"] = dask.array.from_array(vertex, chunks=(tuple(int(x) for x in lengths),))
        return arrays

    def to_dask_dataframe(self) -> Any:
        """Return a lazy Dask DataFrame with the columns `vertex` and the result's own.

        A partition for each of the graph's that has vertices, in their order there, made where the values are. So
        nothing passes through this process, and `persist()` and `Client.publish_dataset` keep it on the workers.

        Raises
        ------
        MissingDependency
            Without Dask's data frames: `pip install "graphdask[dataframe]"`.
        """
        frames = dask_dataframes()
        from dask import delayed

        lengths = np.diff(self._vertex_map.offsets)
        filled = np.flatnonzero(lengths).tolist() or [0]
        columns = self.parts.delayed(PickColumns(self.columns))
        facts = delayed((self._vertex_map, self.graph.ids, self.vertex_valued), traverse=False)
        made = [delayed(_vertex_frame, pure=False)(columns[rank], rank, facts) for rank in filled]
        none = {name: np.zeros(0, self.parts.summary[0].dtypes[name]) for name in self.columns}
        ids = np.zeros(0, np.int64)
        meta = _framed(self.graph.ids, {"vertex": ids, **none}, ("vertex", *self.vertex_valued))
        return frames.from_delayed(made, meta=meta, verify_meta=False)

    def _restored(self) -> tuple[Callable[..., Result], tuple[Any, ...]]:
        """As `DaskValues` asks for it."""
        return _arrived, (type(self), self.primitive, self._vertex_map, self.stats)

    def _column_dtype(self, name: str) -> np.dtype:
        dtype = self.parts.summary[0].dtypes[name]
        return self.graph.ids.to_caller(np.zeros(0, dtype)).dtype if name in self.vertex_valued else dtype

    def _value(self, name: str) -> Any:
        """A number of the whole run."""
        return self.parts.summary[0].values[name]

    def to_parquet(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the columns `vertex` and the result's own to one Parquet file; nothing is left half-written.

        Parameters
        ----------
        path : path-like
        overwrite : bool
            Replace a file that is there, once the new one is whole. Default: raise OutputExists.

        Raises
        ------
        OutputExists
            Where the file is there, without `overwrite=True`.
        InputError
            Where it cannot be written.
        WriteError
            Where the disk is full or fails; nothing is left of the file then.
        """
        import pyarrow.parquet

        from graphdask.io.outputs import file_output

        out = file_output(path, overwrite)
        table = self.to_arrow()
        with out.unfinished() as unfinished:
            pyarrow.parquet.write_table(table, unfinished)

    def _repr_html_(self) -> str:
        """The run, the values of the first vertices, and the range of each column, which the workers find."""
        from graphdask.display.html import of_result, shown

        ids, n = self.graph.ids, self.graph.num_vertices
        wanted = [self._vertex_map.locate(vertex) for vertex in range(min(n, HEAD))]
        try:
            ranks = self.parts.fetch(Glance(self.columns, tuple(place for _, place in wanted)))
        except GraphdaskError as error:
            return of_result(self, ("vertex", *self.columns), (), f"The values cannot be had: {error}")
        columns = [ids.to_caller(np.arange(len(wanted))).tolist()]
        last: list[Any] = ["range"]
        for name in self.columns:
            values = [ranks[rank][name][3][row] for row, (rank, _) in enumerate(wanted)]
            ends = [end for rank in ranks for end in rank[name][1:3] if end is not None]
            last.append(f"{shown(min(ends))} to {shown(max(ends))}" if ends else "")
            if name in self.vertex_valued:
                values = ids.to_caller(np.array(values, np.int64)).tolist()
                last[-1] = ""
            columns.append(values)
        note = "" if n <= HEAD else f"{n - HEAD:,} more; r.to_frame(), r.to_dask() and r.{self.columns[0]} have all"
        rows = list(zip(*columns, strict=True))
        return of_result(
            self, ("vertex", *self.columns), [*rows, tuple(last)] if rows else rows, note, self._begun_at()
        )

    def _begun_at(self) -> list[tuple[str, str]]:
        """Where a search began, for a notebook."""
        first = getattr(self.primitive, "sources", None)
        if first is None:
            return []
        if len(first) > HEAD:
            return [("from", f"{len(first):,} vertices")]
        return [("from", ", ".join(map(str, self.graph.ids.to_caller(np.array(first, np.int64)))))]

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {', '.join(self.columns)} of {self.graph.num_vertices:,} vertices; "
            f"{len(self.stats)} supersteps, {self.stats.ranks} ranks over {self.stats.transport}, "
            f"{self.stats.seconds:.3g} s>"
        )
