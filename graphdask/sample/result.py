"""Samples: rows of samples that stay with the workers until they are asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.errors import GraphdaskError, MissingDependency
from graphdask.graph.columns import GraphColumns
from graphdask.graph.graph import Graph
from graphdask.interface.suggest import public
from graphdask.io.outputs import FolderOutput, folder_output, readable_write
from graphdask.results.attributes import on_device, with_columns
from graphdask.results.collection import DaskValues
from graphdask.results.columns import CallerColumn, Glance, PickColumn, PickColumns, column_of
from graphdask.results.result import (
    HEAD,
    Arrived,
    Kept,
    checked_home,
    dask_dataframes,
    pandas_ready,
)
from graphdask.results.stats import Stats
from graphdask.results.tables import EdgeTable, arrow_column, listed
from graphdask.sample._edge_weights import weights_at

MARK = b"graphdask"
"""In the metadata of the Parquet files of samples, which only then are replaced."""
EDGES = b"graphdask.edges"
"""Beside it the edges that the run went along, of which a file has the rows of a worker."""
PART = re.compile(r"part-\d{5,}(-\d{5,})?\.parquet")
"""Their names."""


@public
class Samples(EdgeTable, DaskValues):
    """What a sampler returns.

    Attributes
    ----------
    stats : Stats
        What the run did.
    parts : Kept
        The samples where they were drawn, one RankResult for each worker.
    placement : str
        `replicated` (every worker held the whole graph), `partitioned`, `streamed` (every worker's host held it),
        or `on disk` (a graph of `graphdask.stream`).
    """

    _called = "s"
    columns: tuple[str, ...] = ()
    """Names of the arrays, each an attribute; their first axes are of one length."""
    vertex_valued: tuple[str, ...] = ()
    """Those whose values are vertex ids; -1 stands for none."""

    def __init__(self, graph: Graph, sampler: Any, parts: Kept, built: Any, stats: Stats, placement: str):
        self.graph, self.sampler, self.parts, self.built, self.stats = graph, sampler, parts, built, stats
        self.placement = placement
        self._gathered: dict[str, np.ndarray] = {}
        if "edge" in parts.summary[0].dtypes and "edge" not in self.columns:
            self.columns = (*self.columns, "edge")

    @property
    def primitive(self) -> Any:
        """The sampler, as `verify` finds it."""
        return self.sampler

    @property
    def _rows(self) -> list[int]:
        """Rows of each worker."""
        return [int(rows) for rows in self.parts.fetch(_CountRows(self.columns[0]))]

    def _internal(self, name: str) -> np.ndarray:
        """A column in graphdask's vertex numbers."""
        if name not in self._gathered:
            pieces = self.parts.fetch(PickColumn(name))
            values = pieces[0].view() if len(pieces) == 1 else np.concatenate(pieces)
            values.flags.writeable = False
            self._gathered[name] = values
        return self._gathered[name]

    def _column(self, name: str) -> np.ndarray:
        values = self._internal(name)
        return self.graph.ids.to_caller(values) if name in self.vertex_valued else values

    def column(self, name: str, device: str | None = None) -> Any:
        """Return a column where it was drawn, or on the device that is named, as `Result.column` does.

        Parameters
        ----------
        name : str
            One of `columns`, or of the graph's `edge_columns`, whose values are those of each edge, taken by `edge`.
        device : {"cpu", "cuda"}, optional
            The host, or the GPU of this process. Default: the GPU if the samples were drawn there in this process,
            else the host, where the graph's columns are.

        Returns
        -------
        numpy.ndarray or cupy.ndarray
            Of a column of the graph as `Graph.edge_column` returns it; without a value for a step along no edge.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1], [2, 1, 2], edge_columns={"time": [7, 8, 9]})
        >>> gd.sample.snowball(G, [0], depth=2).column("time").tolist()
        [8, 7, 9]
        """
        if isinstance(name, str) and name not in self.columns and name in self.graph.edge_columns:
            return on_device(name, self._of_edges(name), device)
        return column_of(self, name, device, None, type(self)._internal is Samples._internal)

    @property
    def edge(self) -> np.ndarray:
        """int64: the row of each edge in the arrays, the file or the data frame that the graph was made of, so that
        `feat[s.edge]` are the features of the edges. Where samples have none, the first use finds them; see
        `with_edges`.

        Of walks and frontier sampling it has the shape (instances, length): the edge of each step, -1 where a step
        went along none.
        """
        if "edge" in self.columns:
            return self._column("edge")
        if "_with_edges" not in self.__dict__:
            self._with_edges = self.with_edges()
        return self._with_edges._column("edge")

    @property
    def weight(self) -> Any:
        """numpy.ndarray: the weight of each edge, found by `edge`, in its order and of the weight dtype of the graph.

        Of walks and frontier sampling float64 of the shape (instances, length), NaN where a step went along no edge.
        """
        return weights_at(self.graph, self.edge)

    def with_edges(self) -> Samples:
        """Return the same samples with the column `edge`, which the workers keep, send and write as the others.

        Samples that were drawn with `edge_rows=True` have it. Others are drawn once more, by the workers that have
        them; these first find the row of every edge that they store, and keep it with the graph: 4 bytes for each, 8
        where there are 2^31 or more.

        Returns
        -------
        Samples

        Raises
        ------
        OverBudget
            If there is no memory for it.
        Unsupported
            If the samples are no edges, were sent here by another process, or are of a graph that does not know its
            rows, as a file of `graphdask.stream` that was built without them.

        Notes
        -----
        Both directions of an undirected edge have the same row. Edges that were dropped or merged count as well; one
        that others were merged into has its own row. Of parallel edges, the row is that of the one which was drawn.
        A step of a walk that goes back to the start, jumps or stays goes along no edge, and has the row -1.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.from_edges([0, 0, 1], [2, 1, 2])
        >>> s = gd.sample.snowball(G, [0], depth=2)
        >>> s.dst.tolist(), s.edge.tolist()
        ([1, 2, 2], [1, 0, 2])
        """
        if "edge" in self.columns:
            return self
        checked_home(self)
        found: Samples = execute.edge_rows(self)
        return found

    def verify(self) -> Samples:
        """Prove in linear time, on the workers, that every sampled edge exists and every budget holds; return self.

        Where the samples have the column `edge`, or it was asked for, it is proved too: the arrays, the file or the
        data frame that the graph was made of have that edge in that row, and no row stands twice in what was drawn
        without replacement. For that the edges are made again from their lineage.

        Raises
        ------
        VerificationError
            Naming the first edge or instance that breaks an invariant.
        Unsupported
            If the samples were sent here by another process.
        """
        checked_home(self)
        execute.verify(self)
        if "_with_edges" in self.__dict__:
            execute.verify(self._with_edges)
        return self

    def to_dask(self) -> dict[str, Any]:
        """Return a Dask array for each column, a chunk for each worker that has rows; the chunks are made there."""
        import dask.array

        rows = self._rows
        filled = [rank for rank, count in enumerate(rows) if count] or [0]
        arrays = {}
        for name in self.columns:
            ids = self.graph.ids if name in self.vertex_valued else None
            select = CallerColumn(name, ids)
            pieces = self.parts.delayed(select)
            tail = tuple(self.parts.summary[0].values.get(f"{name}.shape", ()))
            dtype = self.parts.summary[0].dtypes[name]
            dtype = dtype if ids is None else ids.to_caller(np.zeros(0, dtype)).dtype
            chunks = [dask.array.from_delayed(pieces[rank], (rows[rank], *tail), dtype) for rank in filled]
            arrays[name] = dask.array.concatenate(chunks)
        return arrays

    def to_dask_dataframe(self) -> Any:
        """Return a lazy Dask DataFrame with the columns, a partition for each worker that has rows, made there.

        A row of a 2-D array becomes a list, in a column of Arrow's type for them. `persist()` and
        `Client.publish_dataset` keep the frame on the workers.

        Raises
        ------
        MissingDependency
            Without Dask's data frames: `pip install "graphdask[dataframe]"`.
        """
        frames = dask_dataframes()
        from dask import delayed

        filled = [rank for rank, count in enumerate(self._rows) if count] or [0]
        columns = self.parts.delayed(PickColumns(self.columns))
        facts = delayed((self.graph.ids, self.vertex_valued), traverse=False)
        made = [delayed(_rows_frame, pure=False)(columns[rank], facts) for rank in filled]
        summary = self.parts.summary[0]
        shapes = {name: tuple(summary.values.get(f"{name}.shape", ())) for name in self.columns}
        none = {name: np.zeros((0, *shapes[name]), summary.dtypes[name]) for name in self.columns}
        meta = _rows_frame(none, (self.graph.ids, self.vertex_valued))
        return frames.from_delayed(made, meta=meta, verify_meta=False)

    def _restored(self) -> tuple[Callable[..., Samples], tuple[Any, ...]]:
        """As `DaskValues` asks for it."""
        return _arrived, (type(self), self.sampler, self.stats, self.placement)

    def _of_edges(self, name: str) -> np.ndarray:
        """Values of a column of the graph for the edges, in the shape of `edge`."""
        edge = self.edge
        return GraphColumns.edge_column(self.graph, name, edge.reshape(-1)).reshape(edge.shape)  # one with types too

    def to_frame(self, columns: Any = ()) -> Any:
        """Return a pandas DataFrame with the columns; a 2-D array becomes a column of lists.

        Parameters
        ----------
        columns : list of str
            More columns: those of the graph's `edge_columns`, whose values are taken by `edge`; None for
            all of them. Default: none.

        Raises
        ------
        MissingDependency
            Without pandas.
        InputError
            For a column that the graph's edges do not have, or whose name is one of the samples' own columns.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependency('to_frame() needs pandas: pip install "graphdask[dataframe]"') from error
        frame = pandas.DataFrame({name: listed(self._column(name)) for name in self.columns})
        return with_columns(frame, columns, self.graph.edge_attributes, self._columns_of_edges)

    def _columns_of_edges(self, names: list[str]) -> Any:
        from graphdask.graph.attributes import pandas_frame

        edge = self.edge
        if edge.ndim == 1:
            return pandas_frame(self.graph.edge_attributes.take(edge, names))
        return {name: [list(row) for row in self._of_edges(name)] for name in names}

    def to_parquet(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a folder of Parquet files, one for each worker that has rows, each written by its worker.

        Parameters
        ----------
        path : path-like
            A folder on a disk that all workers share. It is there when it is whole, or not at all.
        overwrite : bool
            Replace a folder of samples that is there. Default: raise OutputExists. An empty one is filled.

        Raises
        ------
        OutputExists
            If the folder is not empty and `overwrite` is False, or if it holds anything but samples.
        InputError
            If it cannot be written.
        WriteError
            If the disk is full or fails. Nothing is left of the folder then.
        """
        out = sample_folder(path, overwrite)
        with out.filling() as folder:
            self.write_into(folder, "part", out)

    def write_into(self, folder: Path, prefix: str, out: FolderOutput) -> int:
        """Write Parquet files into a folder that becomes an output; how many rows they have together."""
        ids = {name: self.graph.ids if name in self.vertex_valued else None for name in self.columns}
        edges = int(self.stats.edges)
        return sum(self.parts.fetch(_WriteParquet(str(folder), prefix, ids, edges, (str(out.path), out.left))))

    def _repr_html_(self) -> str:
        """The run and the first rows, which the workers send."""
        from graphdask.display.html import of_result

        instances = (("instances", f"{self.sampler.instances:,}, {self.placement}"),)
        try:
            ranks = self.parts.fetch(Glance(self.columns, tuple(range(HEAD))))
        except GraphdaskError as error:
            return of_result(self, self.columns, (), f"The samples cannot be had: {error}", instances)
        total = sum(rank[self.columns[0]][0] for rank in ranks)
        first = next((rank for rank in ranks if rank[self.columns[0]][0]), ranks[0])
        count, columns = min(first[self.columns[0]][0], HEAD), []
        for name in self.columns:
            values = first[name][3][:count]
            if name in self.vertex_valued:
                values = [self.graph.ids.to_caller(np.array(value, np.int64)).tolist() for value in values]
            columns.append(values)
        rest = f"{total - count:,} more rows; " if total > count else ""
        note = f"{rest}s.to_frame(), s.to_dask() and s.{self.columns[0]} have all" if rest else ""
        return of_result(self, self.columns, list(zip(*columns, strict=True)), note, instances)

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {', '.join(self.columns)} of {self.sampler.instances:,} instances; "
            f"{self.stats.ranks} ranks, {self.placement}, {self.stats.seconds:.3g} s>"
        )


def _arrived(
    values: list[Any], graph: Graph, kind: type[Samples], sampler: Any, stats: Stats, placement: str
) -> Samples:
    return kind(graph, sampler, Arrived(values), None, stats, placement)


def _rows_frame(columns: dict[str, np.ndarray], facts: tuple[Any, tuple[str, ...]]) -> Any:
    """The data frame of a worker; runs beside its rows."""
    import pandas

    ids, vertex_valued = facts
    named = {name: ids.to_caller(values) if name in vertex_valued else values for name, values in columns.items()}
    return pandas.DataFrame({name: pandas_ready(values) for name, values in named.items()})


def sample_folder(path: Any, overwrite: bool) -> FolderOutput:
    """A folder of samples that may be written; raises OutputExists where it may not."""
    return folder_output(path, overwrite, foreign=_no_samples)


def _no_samples(folder: Path, names: set[str]) -> set[str]:
    """The files of a folder that are none of `write_table`'s."""
    import pyarrow
    import pyarrow.parquet

    def own(name: str) -> bool:
        try:
            return MARK in (pyarrow.parquet.read_schema(folder / name).metadata or {})
        except (OSError, pyarrow.ArrowException):
            return False

    return {name for name in names if not (PART.fullmatch(name) and own(name))}


def write_table(columns: dict[str, np.ndarray], file: Path, more: dict[bytes, bytes] | None = None) -> None:
    """Write a Parquet file of samples, which says that it is one, with more metadata."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({name: arrow_column(column) for name, column in columns.items()})
    pyarrow.parquet.write_table(table.replace_schema_metadata({MARK: b"samples"} | (more or {})), file)


class _CountRows:
    """How many rows a rank has."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, value: Any) -> int:
        return len(value.columns[self.name])


class _WriteParquet:
    """Writes a rank's rows."""

    def __init__(self, folder: str, prefix: str, ids: dict[str, Any], edges: int, failing: tuple[str, str]):
        self.folder, self.prefix, self.ids, self.edges, self.failing = folder, prefix, ids, edges, failing

    def __call__(self, value: Any) -> int:
        arrays = {name: CallerColumn(name, ids)(value) for name, ids in self.ids.items()}
        rows = len(next(iter(arrays.values())))
        rank = value.values["rank"]
        if rows or rank == 0:
            file = Path(self.folder) / f"{self.prefix}-{rank:05d}.parquet"
            with readable_write(*self.failing):
                write_table(arrays, file, {EDGES: b"%d" % self.edges})
        return rows
