"""A graph's edges as lazy Dask collections: each partition is a pure task that makes its own piece where it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, MissingDependency
from graphdask.interface.kinds import whole
from graphdask.partition.blocks import (
    Share,
    Translation,
    caller_dtype,
    edge_bytes,
    maker_of,
    refuse_client,
    refuse_device,
    to_host,
)
from graphdask.partition.ids import VertexIds
from graphdask.partition.sources import ChunkSource, Edges, GeneratedSource
from graphdask.partition.vertex_map import index_dtype

TASK_BYTES = 1 << 10
"""About what a task takes where the collection is made."""
PARTITION_BYTES = 128 << 20
"""Of a partition where the caller does not say how many there are to be."""


@dataclass(frozen=True)
class EdgeTask:
    """Makes the edges of one partition, in the caller's ids."""

    share: Share
    ids: VertexIds
    device: str

    def arrays(self, on_device: bool = False) -> tuple[Array, Array, Array | None]:
        """Sources, destinations and weights; NumPy arrays unless `on_device`."""
        source = self.share.source
        backend = maker_of(source, self.device)
        blocks: Iterator[Edges] = self.share.blocks(backend, max(1, PARTITION_BYTES // edge_bytes(source, self.ids)))
        if not on_device:
            blocks = to_host(blocks, backend)
            backend = maker_of(source, "cpu")
        made = list(Translation(self.ids, backend).blocks(blocks))
        if len(made) == 1:
            return made[0]
        dtype = caller_dtype(self.ids, index_dtype(source.num_vertices))
        xp = backend.xp
        src, dst = (xp.concatenate([xp.zeros(0, dtype), *(block[k] for block in made)]) for k in (0, 1))
        if source.weight_dtype is None:
            return src, dst, None
        return src, dst, xp.concatenate([xp.zeros(0, source.weight_dtype), *(block[2] for block in made)])


def _stored(edges: Edges, ids: VertexIds, shape: str) -> Any:
    """A partition from the edges that a built partition stores."""
    src, dst = ids.to_caller(edges[0]), ids.to_caller(edges[1])
    return edge_frame(src, dst, edges[2]) if shape == "frame" else np.stack([src, dst], axis=1)


def edge_frame(src: Array, dst: Array, weights: Array | None) -> Any:
    """Edges as a pandas DataFrame with the columns `src`, `dst` and, with weights, `weight`."""
    import pandas

    columns: dict[str, Any] = {}
    for name, values in (("src", src), ("dst", dst), ("weight", weights)):
        if values is not None:
            columns[name] = pandas.array(values, dtype="str") if values.dtype == object else values
    return pandas.DataFrame(columns)


def _frame_of(task: EdgeTask) -> Any:
    return edge_frame(*task.arrays())


def _array_of(task: EdgeTask) -> Any:
    on_device = task.device == "cuda"
    src, dst, _ = task.arrays(on_device)
    return maker_of(task.share.source, "cuda" if on_device else "cpu").xp.stack([src, dst], axis=1)


def to_dask_dataframe(graph: Any, partitions: int | None, device: str, client: Any, progress: bool | None) -> Any:
    """Carry out `Graph.to_dask_dataframe`."""
    try:
        import dask.dataframe
    except ImportError as error:
        raise MissingDependency('to_dask_dataframe needs pip install "graphdask[dataframe]"') from error
    _check(partitions, ("auto", "cpu"), device)
    refuse_client(graph, client)
    refuse_device(graph, device)
    none = np.zeros(0, caller_dtype(graph.ids, index_dtype(graph.num_vertices)))
    weights = None if graph.source.weight_dtype is None else np.zeros(0, graph.source.weight_dtype)
    meta = edge_frame(none, none, weights)
    if graph.merge:
        from dask import delayed

        parts = _built(graph, partitions, client, progress)
        made = [delayed(_stored, pure=False)(part, graph.ids, "frame") for part, _ in parts]
        return dask.dataframe.from_delayed(made, meta=meta, verify_meta=False)
    return dask.dataframe.from_map(_frame_of, _tasks(graph, partitions, device), meta=meta, label="graph-edges")


def to_dask_array(graph: Any, partitions: int | None, device: str, client: Any, progress: bool | None) -> Any:
    """Carry out `Graph.to_dask_array`."""
    import dask.array
    from dask import delayed

    _check(partitions, ("auto", "cpu", "cuda"), device)
    refuse_client(graph, client)
    refuse_device(graph, device)
    if graph.merge and device == "cuda":
        raise InputError('device="cuda": edges that are merged in partitions come as NumPy arrays; leave device= out')
    dtype = caller_dtype(graph.ids, index_dtype(graph.num_vertices))
    meta = None
    made: list[tuple[Any, float]]
    if graph.merge:
        made = [
            (delayed(_stored, pure=False)(part, graph.ids, "array"), count)
            for part, count in _built(graph, partitions, client, progress)
        ]
    else:
        if device == "cuda":
            backend = maker_of(graph.source, device)
            Translation(graph.ids, backend)
            meta = backend.xp.zeros((0, 2), dtype)
        tasks = _tasks(graph, partitions, device)
        made = [(delayed(_array_of, pure=True)(task), _length(task.share)) for task in tasks]
    arrays = [dask.array.from_delayed(piece, (length, 2), dtype, meta) for piece, length in made]
    return arrays[0] if len(arrays) == 1 else dask.array.concatenate(arrays, allow_unknown_chunksizes=True)


def _check(partitions: Any, devices: tuple[str, ...], device: str) -> None:
    if device not in devices:
        raise InputError(f"device={device!r} is not one of {', '.join(devices)}")
    if partitions is None:
        return
    whole("partitions", partitions, 1)


def _tasks(graph: Any, partitions: int | None, device: str) -> list[EdgeTask]:
    source = graph.source
    if partitions is None:
        partitions = -(-source.num_edges * edge_bytes(source, graph.ids) // PARTITION_BYTES)
        if isinstance(source, ChunkSource):
            partitions = len(source.chunks)
    count = max(partitions, 1)
    refuse_beyond_memory(f"partitions={count:,} tasks", TASK_BYTES * count, "ask for fewer, larger partitions")
    return [EdgeTask(Share.of(source, number, count), graph.ids, device) for number in range(count)]


def _built(graph: Any, partitions: int | None, client: Any, progress: bool | None) -> list[tuple[Any, float]]:
    """The edges of the graph's partitions as tasks, with their numbers."""
    from graphdask import execute

    if partitions is not None and graph.plan.parts != partitions:
        graph = graph.partition(partitions, device=graph.plan.device)
    return [(part, count) for part, count in execute.delayed_edges(graph, client=client, progress=progress)]


def _length(share: Share) -> float:
    """Edges of a share; NaN if it is known only once they are made."""
    source = share.source
    if isinstance(source, ChunkSource):
        return float("nan")
    if isinstance(source, GeneratedSource):
        count = source.block_edges(share.number, share.count)
        return float("nan") if count is None else count
    return source.num_edges
