"""StreamedGraph: a graph on disk that algorithms go through a chunk at a time, and what runs them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.display.notebook import bar_class, is_watched
from graphdask.display.tuning import DISPLAY
from graphdask.errors import InputError, Unsupported, shown
from graphdask.graph.graph import Graph
from graphdask.io.addresses import refuse_address
from graphdask.partition.blocks import parse_size
from graphdask.partition.sources import Edges
from graphdask.partition.vertex_map import Plan, index_dtype
from graphdask.stream.host import HostChunks, Shelf
from graphdask.stream.own_chunks import Own
from graphdask.stream.store import Store

MOST_AHEAD = 64
PASSES = ("exact", "one")


class StreamedGraph(Graph):
    """A graph on disk, of which as much is in memory as `memory` says; made by `graphdask.stream.open` and `build`.

    It goes where a Graph goes. Most algorithms stream it, and most samplers of `gd.sample` draw from it: in this
    process or on the workers of a Dask client, each of which opens the file under the same name and streams its own
    rows, or what it draws from, through its CPU or GPU. What has no streamed form says so, and takes `in_memory()`.
    """

    def __init__(
        self,
        store: Store,
        memory: int,
        read_ahead: int | None = None,
        passes: str = "exact",
        device: str | None = None,
        host_memory: int | None = None,
    ):
        super().__init__(StoredSource(store), store.vertex_ids(), bool(store.header["directed"]))
        if store.header.get("columns"):
            from graphdask.stream.columns import stored_attributes  # it imports pyarrow

            self.edge_attributes = stored_attributes(store)
            self.vertex_attributes = stored_attributes(store, self.ids)
        self.store, self.memory, self.read_ahead, self.passes = store, memory, read_ahead, passes
        self.device, self.host_memory = device, host_memory
        self._host: Shelf | None = None
        self.report = {"self_loops": store.header["self_loops"], "format": "layered", "bytes": store.size}

    @property
    def chunks(self) -> int:
        """Number of chunks, of one direction."""
        return len(self.store.sections["out"])

    @property
    def layers(self) -> int | None:
        """Number of layers; None where rows stand in the order of vertices."""
        found: int | None = self.store.header["layers"]
        return found

    @property
    def nbytes(self) -> int:
        """Of the file."""
        return self.store.size

    def __enter__(self) -> StreamedGraph:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, and of chunks in memory; a graph that is not closed is when nobody has it any more."""
        self._host = None
        self.store.close()
        self.built = None

    def host_chunks(self, backend: Backend) -> HostChunks:
        """Chunks in main memory for a device to take; they stay there from one run to the next."""
        if self._host is None:
            self._host = Shelf(self.store, Own.whole(self.store), self.host_memory, Config.load().memory_fraction)
        return self._host(backend)

    def partition(self, parts: int | None = None, *arguments: Any, **named: Any) -> StreamedGraph:
        """Return the same graph, to be streamed by so many ranks; each takes up to `memory`.

        Every rank opens the file and streams the chunks of its own rows, ranges about alike in bytes, through its GPU
        where it has one. Without a Dask client the ranks are threads of this process, which share its GPUs.

        Parameters
        ----------
        parts : int, optional
            How many. Default: one for each worker of the client, or one.
        arguments, named
            The others of a Graph, which have no meaning here.

        Raises
        ------
        Unsupported
            For another argument than `parts`.
        InputError
            For a number of parts below 1.

        Examples
        --------
        >>> import graphdask as gd, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     S = gd.stream.build(gd.from_edges([0, 1], [1, 2]), f"{folder}/path.gdl")
        ...     r = gd.bfs(S.partition(2), 0)
        ...     print(r.depth.tolist(), r.stats.ranks)
        [0, 1, 2] 2
        """
        if arguments or any(value is not None for value in named.values()):
            raise Unsupported(
                f"the rows of {self.store.path} are divided as they stand in it, by bytes, on the device that it was "
                "opened for; give the number of parts alone, or take S.in_memory().partition(...)"
            )
        other = StreamedGraph(self.store, self.memory, self.read_ahead, self.passes, self.device, self.host_memory)
        other.plan = Plan(parts)
        return other

    def to_undirected(self, *, multi_edges: str = "keep") -> Graph:
        """As that of a Graph; the result is one in memory.

        Parameters
        ----------
        multi_edges : {"keep", "merge"}

        Raises
        ------
        InputError
            For another value.
        """
        return self.in_memory().to_undirected(multi_edges=multi_edges)

    def reverse(self) -> Graph:
        """As that of a Graph; of a directed graph the result is one in memory."""
        return self.in_memory().reverse() if self.directed else self

    def in_memory(self) -> Graph:
        """Return the same graph as one whose partitions are built in memory.

        Examples
        --------
        >>> import graphdask as gd, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     S = gd.stream.build(gd.from_edges([0, 1], [1, 2]), f"{folder}/path.gdl")
        ...     print(S.in_memory())
        <Graph: 3 vertices, 2 edges, directed>
        """
        columns = {"edge_attributes": self.edge_attributes, "vertex_attributes": self.vertex_attributes}
        return Graph(self.source, self.ids, self.directed, dict(self.report), **columns)

    def verify(self, *, client: Any = None, progress: bool | None = None) -> StreamedGraph:
        """Read the whole file in this process and compare every checksum; return the graph.

        Parameters
        ----------
        client : None
            For a Graph in memory, whose workers prove their partitions. Here it is refused.
        progress : bool, optional
            Show a progress bar. Default: in a terminal or a notebook.

        Raises
        ------
        Unsupported
            For a client.
        FormatError
            Naming what is damaged.
        """
        if client is not None:
            raise Unsupported(
                f"client= is for a graph in memory; {self.store.path} is read and checked in this process, so leave it "
                "out"
            )
        with bar_class()(
            total=self.store.num_chunks, desc="verifying", unit=" chunks", leave=False, delay=DISPLAY.delay,
            disable=not is_watched(Config.load(progress=progress).progress),
        ) as bar:  # fmt: skip
            self.store.verify(bar.update)
        return self

    @property
    def stays_because(self) -> str:
        """Why the graph does not travel."""
        return f"{self.store.path} is open in this process and does not travel; open it where it is needed"

    def __getstate__(self) -> dict[str, Any]:
        raise InputError(self.stays_because)  # Dask hides an Unsupported of what it pickles

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = f", weights {self.store.weights}" if self.weighted else ""
        layers = "" if self.layers is None else f"{self.layers:,} layers in "
        return (
            f"<StreamedGraph: {self.num_vertices:,} vertices, {self.num_edges:,} edges, {kind}{weights}, "
            f"{layers}{self.chunks:,} chunks, memory {self.memory / 2**30:.4g} GiB>"
        )


def open_(
    path: str | os.PathLike[str],
    memory: int | str = "2GiB",
    *,
    read_ahead: int | None = None,
    passes: str = "exact",
    device: str | None = None,
    host_memory: int | str | None = None,
) -> StreamedGraph:
    """Open a layered edge list, to be streamed within a memory budget.

    Parameters
    ----------
    path : path-like
        What `graphdask.stream.build` has made.
    memory : int or str
        Bytes of the device that a call may take, besides what Python and its libraries do: arrays per vertex, buffers
        for chunks that are read ahead, and in what is left the chunks that are wanted most often, which stay. With
        several workers, or parts, each of them may take as much.
    read_ahead : int, optional
        Chunks that are read, or copied to a GPU, while another one is worked on, if memory allows; 0: none. Default:
        2; for samples 1, on a GPU 8. Searches and components through a GPU copy no chunks if host memory can hold all
        of them, unless `read_ahead` is given.
    passes : {"exact", "one"}
        Sweep over the file until nothing changes; or, as WolfPath does, go through it once and in the order of layers.
        One pass gives the exact answer where a vertex is in the layer of its depth and all edges have the same length:
        for `bfs`, and for `sssp` without weights, from the `root` of a file in the order of layers, by one rank.
        Whatever else it would be asked for, where edges can lead back and be the shorter way, is refused.
    device : {"auto", "cpu", "cuda"}, optional
        Where it is worked on: on workers each has its GPU. Default: the setting graphdask.device.
    host_memory : int or str, optional
        For GPUs: bytes of main memory of each rank in which its chunks stay, page-locked, from where its GPU takes
        them. Default: as much as the setting graphdask.memory-fraction allows of what is free at the first call, shared
        among the ranks of a machine.

    Returns
    -------
    StreamedGraph
        It goes where a Graph goes. On a CPU every call reads the file anew, from a fast disk past the operating
        system's cache; chunks are checked when they are first read.

    Raises
    ------
    FormatError
        For what is no such file, of another version, truncated or damaged.
    InputError
        For an address; for a `memory` that is no number of bytes, a `read_ahead` that is no number of chunks, other
        `passes`, another `device`, or `host_memory` on a CPU. Where a GPU is asked for that is not there, the call that
        needs it says so.

    Notes
    -----
    Answers are those in memory, bit for bit, with any `memory`: `bfs` takes 18 bytes per vertex and a chunk or more,
    `connected_components` 16, `sssp` 22, or 37 with floating weights, with zeros among them or distances of 64 bits,
    `pagerank` 52; on a GPU 20, 20, 24 or 40, and 68. There `bfs`, `sssp` without weights, and `connected_components` of
    an undirected graph, on one rank whose `host_memory` holds all chunks, have the GPU read the rows that it needs
    where they are: no chunk has to fit. A search that stops takes 2 bytes more on a GPU; it and one from several
    sources copy chunks. With several workers each keeps the state of all vertices: 38, 24, 38 or 73,
    and 80 bytes; on a GPU 28, 24, 28 or 40, and 96. `betweenness` takes 98 bytes and 26 for each source that is
    searched at a time (42 with several workers; on a GPU 29, or 36 if they are more than 8, and with several workers
    45, or 52): up to 64, or as many as take half of `memory`; with fewer the last bits of scores may differ, which are
    those in memory on the same device. By weight it takes 120 bytes and 40 for each source (56 with several workers),
    on a CPU or a GPU, and scores have the same bits with any number of sources at a time; a GPU takes 48 bytes besides
    for each edge of a chunk.

    Programs (`gd.run`) take what their states and messages do: with up to two fields each 28 to 93 bytes per vertex,
    with several workers up to 36 more. `eigenvector_centrality`, `katz_centrality` and `hits` are programs too.

    `core_number` takes 13 bytes per vertex, `label_propagation` 20, `strongly_connected_components` 26,
    `maximal_independent_set` and `greedy_coloring` 28, `modularity` 36, `triangles` and `local_clustering_coefficient`
    41, with several workers 8 more, and all of them what the largest rows take. These are computed by the CPU, for GPUs
    too, in as many bytes of main memory as `memory` says. After a pass over the edges, their workers exchange the
    values of every vertex. An iteration of labels is a pass; core numbers, and rounds of strong components, skip chunks
    in which nothing changes; triangles take two passes, and one more for each time that 5 bytes for each pair of
    neighbours fill half of what is left of `memory`. So do independent sets and colours, with 4 bytes for each edge, or
    12 with several workers. One worker proves results (`verify`) from disk. It receives the values of all workers,
    which count as part of its `memory`. Of labels the last iteration is proved, as in memory.

    Samples are those of `in_memory()`, bit for bit. `gd.sample.random_walk`, its kin with restart and jump,
    `metropolis_hastings`, `node2vec`, `neighbors`, `temporal_neighbors`, `snowball`, `forest_fire` and the `saint_`
    functions read the chunk where most is to be drawn, and keep those that are drawn from most; the others raise
    Unsupported. A chunk is read whole for whatever waits there, so many walks in one call read little more than a few.
    Those that are likely to be next are read meanwhile: 1 on a CPU, 8 for a GPU, or `read_ahead`; a GPU takes chunks
    from main memory, and tables for biased draws are made there. They take 4 bytes per vertex, 8 in the order of
    layers, and 8 more where they ask for degrees, that is for `bias="degree"` and by `metropolis_hastings`; besides
    `memory` there are the samples and, of neighbourhoods, what a hop is sorted with. On a GPU walks that do not fit
    into an eighth of `memory` are made in batches, which go to main memory. `gd.sample.in_chunks` draws some at a time.
    With several workers each draws its share of the instances, from the whole file, through its CPU or GPU.

    Examples
    --------
    >>> import graphdask as gd, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/path.gdl"
    ...     S = gd.stream.build(gd.from_edges([0, 1, 2], [1, 2, 3]), path)
    ...     S = gd.stream.open(path, memory="1MiB")
    ...     print(gd.bfs(S, 1).depth.tolist())
    [-1, 0, 1, 2]
    """
    refuse_address(path, "a streamed graph is read from disk again and again")
    budget = parse_size(memory, "memory")
    whole = isinstance(read_ahead, int | np.integer) and not isinstance(read_ahead, bool)
    if read_ahead is not None and not (whole and 0 <= read_ahead <= MOST_AHEAD):
        raise InputError(f"read_ahead={shown(read_ahead)} is not a whole number from 0 to {MOST_AHEAD}")
    if passes not in PASSES:
        raise InputError(f"passes={passes!r} is not one of {', '.join(PASSES)}")
    host_bytes = None if host_memory is None else parse_size(host_memory, "host_memory")
    chosen = Config.load(device=device).device  # that workers have a GPU is seen when they are asked
    if host_bytes is not None and chosen != "cuda" and get_backend(chosen).name == "cpu":
        raise InputError(f"host_memory={shown(host_memory)} is for a GPU; on a CPU memory= is all that a call takes")
    return StreamedGraph(
        Store(path), budget, None if read_ahead is None else int(read_ahead), passes, device, host_bytes
    )


class StoredSource:
    """The edges of a store as those of any graph: a piece is a run of chunks."""

    drops_self_loops = False
    skewed = True

    def __init__(self, store: Store):
        self.store = store
        self.num_vertices, self.num_edges = store.num_vertices, int(store.header["num_edges"])
        self.weight_dtype = store.weights

    @property
    def rows_given(self) -> int:
        """How many edges the file was built from, where it holds the rows of its edges."""
        rows = self.store.header.get("edge_rows")
        return self.num_edges if rows is None else int(rows["given"])

    def check_edge_rows(self) -> None:
        """Raise Unsupported where the file does not hold the rows of its edges."""
        if self.store.edge_rows is None:
            raise Unsupported(
                f"{self.store.path} does not hold which row of what it was built from each edge is; build it with "
                f"edge_rows=True (graphdask stream build --edge-rows)"
            )

    def piece(self, rank: int, size: int) -> StoredPiece:
        count = len(self.store.sections["out"])
        return StoredPiece(self.store, range(count * rank // size, count * (rank + 1) // size))


@dataclass(frozen=True)
class StoredPiece:
    store: Store
    chunks: Sequence[int]

    def edges(self, backend: Backend) -> Edges:
        """Each edge once, by vertex numbers."""
        return self._made(backend, None)[:3]

    def numbered_edges(self, backend: Backend, dtype: np.dtype) -> tuple[Array, Array, Array | None, Array]:
        """The same, and the row of each in what the file was built from."""
        src, dst, weights, numbers = self._made(backend, dtype)
        assert numbers is not None
        return src, dst, weights, numbers

    def _made(self, backend: Backend, numbered: np.dtype | None) -> tuple[Array, Array, Array | None, Array | None]:
        store, section = self.store, self.store.sections["out"]
        dtype = index_dtype(store.num_vertices)
        number = np.arange(store.num_vertices, dtype=dtype)
        for first, ids in store.order():
            number[first : first + len(ids)] = ids
        made: list[tuple[Array, Array, Any]] = []
        numbers: list[np.ndarray] = [] if numbered is None else [np.zeros(0, numbered)]
        for chunk_number in self.chunks:
            chunk = store.read(section, chunk_number, np.empty(sum(section.sizes(chunk_number)), np.uint8))
            rows = np.arange(chunk.first, chunk.first + len(chunk.degrees), dtype=dtype)
            src, dst = number[np.repeat(rows, chunk.degrees)], number[chunk.targets]
            once = slice(None) if store.header["directed"] else src <= dst
            made.append((src[once], dst[once], chunk.weights[once] if store.weights is not None else None))
            if numbered is not None:
                numbers.append(store.edge_numbers(section, chunk_number)[once])
        if not made:
            none = None if store.weights is None else np.zeros(0, store.weights)
            made = [(np.zeros(0, dtype), np.zeros(0, dtype), none)]
        weights = None if store.weights is None else backend.from_host(np.concatenate([part[2] for part in made]))
        src, dst = (backend.from_host(np.concatenate([part[end] for part in made])) for end in (0, 1))
        if numbered is None:
            return src, dst, weights, None
        return src, dst, weights, backend.from_host(np.concatenate(numbers).astype(numbered, copy=False))
