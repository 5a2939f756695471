"""Graph: a description of a graph and its lineage.

A Graph is cheap to make and to send; its edges become partitions on the workers when something first needs them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.errors import InputError
from graphdask.graph.collection import DaskGraph
from graphdask.graph.columns import GraphColumns
from graphdask.graph.frames import to_dask_array, to_dask_dataframe
from graphdask.graph.queries import GraphQueries
from graphdask.interface.suggest import public
from graphdask.partition.blocks import EdgeArrays, all_edges, edge_blocks
from graphdask.partition.conversions import class_of, conversion
from graphdask.partition.ids import VertexIds
from graphdask.partition.sources import EdgeSource
from graphdask.partition.vertex_map import Plan, checked_owners


@public
@dataclass(eq=False)
class Graph(GraphQueries, GraphColumns, DaskGraph):
    """A graph: what it is, where its edges come from, how it is partitioned.

    Made by `graphdask.read_graph`, `from_edges`, `from_scipy`, `from_networkx`, `from_dask_dataframe` and
    `graphdask.generate`; never changed afterwards.
    """

    source: EdgeSource
    ids: VertexIds
    directed: bool
    report: dict[str, Any] = field(default_factory=dict)
    """What reading and building changed or met, counted."""
    plan: Plan = field(default_factory=Plan)
    merge: bool = False
    """Whether parallel edges are merged when the partitions are built."""
    built: Any = field(default=None, repr=False)
    """The partitions where they exist; owned by the runtime."""
    replicas: Any = field(default=None, repr=False)
    """The whole graph on every worker, where samplers made it; owned by the runtime."""
    on_host: Any = field(default=None, repr=False)
    """The same graph in host memory, from which samplers stream it to a device; owned by the runtime."""
    edge_attributes: Any = field(default=None, repr=False)
    """Columns of the edges, by their rows in what the graph was made of; None without any."""
    vertex_attributes: Any = field(default=None, repr=False)  # columns of the vertices

    @property
    def num_vertices(self) -> int:
        """Number of vertices, isolated ones included."""
        return self.source.num_vertices

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once. If workers merge or drop edges, this builds them."""
        if not self._changed_by_workers:
            return self.source.num_edges
        return (self.built or self.persist().built).num_edges  # wherever it was built

    @property
    def present(self) -> Graph:
        """The graph itself; of one that changes, its present version."""
        return self

    @property
    def _changed_by_workers(self) -> str:
        """What is done to the edges on the workers, so that only they know the number; empty where it is known."""
        if self.merge:
            return "merged"
        return "counted" if self.source.drops_self_loops else ""

    @property
    def weighted(self) -> bool:
        """Whether edges carry weights."""
        return self.source.weight_dtype is not None

    @property
    def vertex_ids(self) -> np.ndarray:
        """The caller's vertex ids in the order of every result array, shape (num_vertices,)."""
        return self.ids.values

    def partition(
        self,
        parts: int | None = None,
        by: Any = None,
        ghosts: str | None = None,
        *,
        device: str = "auto",
        seed: int | None = None,
        id_width: int | None = None,
    ) -> Graph:
        """Return the same graph with a plan of how to divide it among workers.

        Parameters
        ----------
        parts : int, optional
            Number of partitions; default: one for each worker; in this process one on its GPU, or without a GPU one
            for each core where the graph is large. More partitions than workers or vertices are fine.
        by : {"range", "random", "biased-random", "metis"} or array of int, shape (num_vertices,), optional
            Partitioner, or the owner of each vertex in the order of `vertex_ids`. Default: contiguous ranges balanced
            by edges, after a hash shuffle where a few vertices hold many of the edges.
        ghosts : {"all", "1-hop"}, optional
            Slots for every remote vertex, or for neighbours only. Default: what the first algorithm names.
        device : {"auto", "cpu", "cuda"}
            Where partitions live; `auto`: on GPUs where there are any.
        seed : int, optional
            Seed of `random` and `biased-random`, and of the shuffle that the default may make, 0 to 2**64 - 1. Default:
            0.
        id_width : {32, 64}, optional
            Bits of a vertex id in partitions and messages. Default: 32 below 2**31 - 1 vertices, else 64. With 64,
            integer results such as depths and parents are int64; their values are the same. Where a row begins takes
            64 bits always: a word for each vertex, while its edges take one each.

        Raises
        ------
        InputError
            For an unknown name, an owner out of range, a seed of a partitioner that draws nothing, or ids that 32 bits
            are too few for.

        Notes
        -----
        Answers do not depend on the partitioning. Sources: Pan et al., Multi-GPU Graph Analytics, Section III.
        """
        drawn = by is None or (isinstance(by, str) and by not in ("range", "metis"))
        if seed is not None and not drawn:
            how = f"by={by!r}" if isinstance(by, str) else "by= of owners"
            raise InputError(
                f"seed={seed!r} is of by='random' and 'biased-random'; {how} draws nothing, so leave seed= out"
            )
        plan = Plan(parts, by, ghosts, device, 0 if seed is None else seed, id_width)
        if by is not None and not isinstance(by, str):
            owners = checked_owners(by, self.num_vertices, parts)
            plan = replace(plan, by=owners, parts=parts or max(int(owners.max(initial=0)) + 1, 1))
        return replace(self, plan=plan, report=dict(self.report), built=None, replicas=None, on_host=None)

    def to_undirected(self, *, multi_edges: str = "keep") -> Graph:
        """Return the graph without the directions of its edges; an undirected graph is returned as it is.

        Parameters
        ----------
        multi_edges : {"keep", "merge"}
            How to treat u -> v and v -> u. "keep", the default: they become two parallel edges. "merge": they become
            one edge of the smaller weight, and other parallel edges are merged too.

        Raises
        ------
        InputError
            For another value.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.from_edges([0, 1, 1], [1, 0, 2]).to_undirected()
        <Graph: 3 vertices, 3 edges, undirected>
        """
        if multi_edges not in ("keep", "merge"):
            raise InputError(f"multi_edges={multi_edges!r} is not one of keep, merge")
        merge = self.merge or multi_edges == "merge"
        if not self.directed and merge == self.merge:
            return self
        report = {name: count for name, count in self.report.items() if not name.startswith("parallel_edges")}
        return replace(self, directed=False, merge=merge, report=report, built=None, replicas=None, on_host=None)

    def persist(self, *, client: Any = None, progress: bool | None = None) -> Graph:
        """Build the partitions now and keep them on the workers (or in this process); return the graph itself."""
        execute.persist(self, client=client, progress=progress)
        return self

    def edges(self, device: str = "auto", *, client: Any = None, progress: bool | None = None) -> EdgeArrays:
        """Return all edges as arrays.

        Parameters
        ----------
        device : {"auto", "cpu", "cuda"}
            `cuda`: CuPy arrays on the GPU. Else NumPy arrays, with `auto` made on a GPU where there is one.
        client : distributed.Client, optional
            Where to build a graph whose parallel edges are merged during the build. The edges of other graphs are made
            in this process, and a client is refused.
        progress : bool, optional
            Show a progress bar. Default: in a terminal or a notebook.

        Returns
        -------
        EdgeArrays
            `src`, `dst` of shape (num_edges,) in the caller's ids, and `weights` or None. An undirected edge stands
            once.

        Raises
        ------
        InputError
            For a device that is not one of these, or a client where nothing is built.
        OverBudget
            If the arrays do not fit into the free memory; `edge_blocks`, `to_dask_dataframe` and `write` need memory
            for a block only.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.from_edges([10, 20], [20, 40]).edges().dst
        array([20, 40])
        """
        return all_edges(self, device, client, progress)

    def edge_blocks(
        self,
        max_bytes: int | str = "256MiB",
        device: str = "auto",
        *,
        client: Any = None,
        progress: bool | None = None,
    ) -> Iterator[EdgeArrays]:
        """Iterate over the edges in blocks that are made one at a time, so that no graph is too large.

        Parameters
        ----------
        max_bytes : int or str
            Approximate size of a block; chunks of a file or a data frame are cut to it once they are read. A block is
            made while the caller still has the previous block, so two are in memory at a time.
        device, client
            As in `edges`.
        progress : bool, optional
            Show a progress bar while such a graph is built. Blocks are made as they are taken, without one.

        Yields
        ------
        EdgeArrays
            `src`, `dst`, `weights` of some edges; together they are the edges of the graph, whatever the size.

        Raises
        ------
        InputError
            For a size that is none, or a client where nothing is built.

        Examples
        --------
        >>> import graphdask as gd
        >>> G = gd.generate.preferential_attachment(2**40, degree=2)
        >>> next(G.edge_blocks("1MiB")).src[:3].tolist()
        [1, 2, 2]
        """
        return edge_blocks(self, max_bytes, device, client, progress)

    def to_dask_dataframe(
        self,
        partitions: int | None = None,
        *,
        device: str = "auto",
        client: Any = None,
        progress: bool | None = None,
    ) -> Any:
        """Return the edges as a lazy Dask DataFrame with the columns `src`, `dst` and, with weights, `weight`.

        Parameters
        ----------
        partitions : int, optional
            Default: as many as have 128 MiB each.
        device : {"auto", "cpu"}
            Where a worker makes what is generated; the frames are pandas'.
        client : distributed.Client, optional
            Where a graph is built now whose parallel edges are merged then. Edges of others are made by the tasks of
            the collection, and a client is refused.
        progress : bool, optional
            Show a progress bar while such a graph is built.

        Returns
        -------
        dask.dataframe.DataFrame
            Each partition is a pure task that makes its own edges on the worker that runs it.

        Raises
        ------
        MissingDependency
            Without Dask's data frames: `pip install "graphdask[dataframe]"`.
        InputError
            For a number that is none, or a client where nothing is built.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.from_edges([10, 20], [20, 40]).to_dask_dataframe().compute().src.tolist()
        [10, 20]
        """
        return to_dask_dataframe(self, partitions, device, client, progress)

    def to_dask_array(
        self,
        partitions: int | None = None,
        *,
        device: str = "auto",
        client: Any = None,
        progress: bool | None = None,
    ) -> Any:
        """Return the edges as a lazy Dask array of shape (num_edges, 2): a row is an edge, source first.

        Parameters
        ----------
        partitions, client, progress
            As in `to_dask_dataframe`.
        device : {"auto", "cpu", "cuda"}
            `cuda`: chunks are CuPy arrays on the GPU of the worker that makes them; not of a graph whose parallel edges
            are merged.

        Returns
        -------
        dask.array.Array
            Chunk lengths are NaN only where they are not known before the edges are made, as those of a data frame's
            partitions.

        Raises
        ------
        InputError
            For a number that is none.

        Examples
        --------
        >>> import graphdask as gd
        >>> gd.from_edges([10, 20], [20, 40]).to_dask_array().compute().tolist()
        [[10, 20], [20, 40]]
        """
        return to_dask_array(self, partitions, device, client, progress)

    def write(
        self,
        path: str | os.PathLike[str],
        format: str | None = None,
        *,
        files: int | None = None,
        overwrite: bool = False,
        device: str = "auto",
        client: Any = None,
        storage_options: Mapping[str, Any] | None = None,
        progress: bool | None = None,
    ) -> Any:
        """Write the edges, each worker its own share, whole or not at all; `read_graph` reads the same graph back.

        Parameters
        ----------
        path : path-like
            A name that ends as its format does (`graph.parquet`, `graph.txt.gz`) is one file. A name without such an
            ending, or with a slash at the end, or `files` above 1, is a folder of parts, `part-00000.parquet` and so
            on, with a description, `_graph.json`. An address such as "s3://bucket/graph.parquet" gets what was written
            to the temporary folder (TMPDIR). On a cluster: on a disk that all workers share.
        format : {"edgelist", "csv", "parquet", "npz", "native", "gexf", "graphml"}, optional
            Default: as the name says; .gz, .xz, .bz2 compress edge lists and CSV. GEXF, GraphML: up to 1,000,000 edges.
        files : int, optional
            Number of parts. Default: one file, or in a folder one part for each worker. All workers write one file
            together, but for Parquet, which has one writer.
        overwrite : bool
            Replace a file, or a folder that holds a graph, once the new one is complete.
        device : {"auto", "cpu", "cuda"}
            Where what is generated is made; of a graph whose parallel edges are merged that is the device of its
            partitions, and no other is taken.
        client : distributed.Client, optional
            Default: the one that is open; with none, the cores of this host write.
        storage_options : mapping, optional
            What fsspec is given for an address: credentials, a region, a proxy.
        progress : bool, optional

        Returns
        -------
        Written
            `path`, `format`, `files`, `edges`, `bytes`, `seconds`, `writers`.

        Raises
        ------
        InputError
            If the target exists or cannot be written, or the format cannot hold the ids.
        WriteError
            If the disk is full or fails; no partial file is left then.

        Warns
        -----
        GraphdaskWarning
            For each thing that a single file does not keep: vertices without edges (CSV; edge lists and Parquet where
            ids are not consecutive), the type of 32-bit weights (CSV), and that ids are names where some look like
            numbers or missing ids (CSV). A folder of parts, NPZ and the native format keep all of this.
            CSV and Parquet files keep columns of edges; native, NPZ, GEXF, GraphML files and folders all columns.

        Notes
        -----
        Edges are made and written a block at a time, so that a graph may be larger than all memory; one whose parallel
        edges are merged is built first, and this process writes columns. Parts get the target's name at the end.

        Examples
        --------
        >>> import graphdask as gd, tempfile
        >>> G = gd.from_edges([10, 20], [20, 40])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     G.write(f"{folder}/graph.txt").edges
        2
        """
        from graphdask.io.sent import write_sent

        how = format, files, overwrite, device, client, progress
        return write_sent(lambda place: execute.write(self, place, *how), path, overwrite, storage_options)

    def verify(self, *, client: Any = None, progress: bool | None = None) -> Graph:
        """Prove on the workers, in linear time, that the partitions hold exactly the edges of the graph; return it.

        The edges are read or generated again and compared by number and by a 64-bit hash; a sample of a generated
        graph is computed from the generator's definition.

        Raises
        ------
        VerificationError
            Saying what differs.
        """
        execute.verify_graph(self, client=client, progress=progress)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """A graph is pickled as its description; the partitions stay where they are and are rebuilt elsewhere."""
        return {**self.__dict__, "built": None, "replicas": None, "on_host": None}

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = f", weights {self.source.weight_dtype}" if self.weighted else ""
        unknown = self._changed_by_workers if self.built is None else ""
        edges = f"{unknown} on the workers" if unknown else f"{self.num_edges:,}"
        return f"<Graph: {self.num_vertices:,} vertices, {edges} edges, {kind}{weights}>"

    def _repr_html_(self) -> str:
        from graphdask.display.html import of_graph

        return of_graph(self)


def checked_graph(G: Any, name: str = "G") -> Graph:
    """Return a Graph that was given under some name, or raise InputError if it is not one."""
    if not isinstance(G, Graph):
        raise InputError(f"{name} is a {class_of(G)}, not a Graph of graphdask; {conversion(G)}")
    return G


def checked_undirected(G: Any, what: str) -> Graph:
    """Return G, or raise InputError if it is not an undirected graph."""
    if checked_graph(G).directed:
        raise InputError(
            f"{what} is defined on undirected graphs, and G is directed; directed=False where the graph is made leaves "
            f"the directions out, as G.to_undirected() does"
        )
    return G
