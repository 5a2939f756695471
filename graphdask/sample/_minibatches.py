"""What the loader of minibatches makes of sampled edges: batches with their vertices numbered, as arrays or tensors.

Vertices are numbered by the tables of kernels/neighbors/neighborhoods.py as they are drawn, where all hops are drawn in
one go; else afterwards, by such tables or, of edges on a GPU, by sorting. The numbers are the same. Batches stay where
their edges are.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from graphdask.device.arrays import is_array, module_of, on_host
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.errors import InputError, MissingDependency, shown
from graphdask.graph.graph import Graph
from graphdask.partition.build import tally
from graphdask.partition.given import given_where_it_is
from graphdask.results.columns import PickColumn, PickThere
from graphdask.sample.minibatch_traversal import NUMBERED
from graphdask.sample.neighborhoods import renumbered, sizes_of

NEEDED = {"arrays": (), "torch": ("torch",), "pyg": ("torch", "torch_geometric")}
"""Packages that the kinds of output need."""


@dataclass
class Drawn:
    """A batch, but for the rows of attributes."""

    n_id: Any
    numbers: Any
    """Vertex numbers."""
    edge_index: Any
    e_id: Any
    num_sampled_nodes: list[int]
    num_sampled_edges: list[int] | None
    """Edges of each hop; None where they are not those of hops."""
    batch: Any
    """Number of the instance that each vertex is of, among those of the batch; None where that is one."""
    beside: dict[str, Any]
    """What the loader gave besides."""
    backend: Backend
    """Of the arrays."""


Beside = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Arrays, and where the elements of each batch begin."""


def _columns(result: Any) -> tuple[Backend, dict[str, Array]]:
    """The columns of all ranks, and where they are: those of a single GPU of this process stay there."""
    parts, gang = result.parts, result.built.gang
    names = [name for name in (*NUMBERED, "src", "dst", "hop", "instance") if name in parts.summary[0].dtypes]
    if gang.kind == "local" and gang.size == 1 and result.graph.ids.table is None:
        columns = {name: parts.fetch(PickThere(name))[0] for name in names}
        drawn = columns["row" if "row" in columns else "dst"]
        return get_backend("cpu") if isinstance(drawn, np.ndarray) else gang.backends[0], columns
    return get_backend("cpu"), {name: np.concatenate(parts.fetch(PickColumn(name))) for name in names}


def drawn_batches(result: Any, beside: Beside, per: int | None = None) -> list[Drawn]:
    """The batches of a run, each with its share of what stands beside it.

    A batch is an instance; or `per` of them, each with vertices of its own.
    """
    backend, columns = _columns(result)
    with backend.activate():
        return _cut(backend, columns, result.sampler, result.graph, beside, per)


def _cut(
    backend: Backend, columns: dict[str, Array], sampler: Any, graph: Graph, beside: Beside, per: int | None
) -> list[Drawn]:
    xp, on_host, numbered = backend.xp, backend.name == "cpu", sampler.numbered
    if NUMBERED[0] in columns:
        nodes, row, col, _, node_sizes, edge_sizes = (columns[name] for name in NUMBERED)
    elif on_host:
        offsets = np.searchsorted(columns["instance"], np.arange(sampler.first, sampler.last + 1))
        nodes, _, row, col, seeds = renumbered(
            graph.num_vertices, sampler, offsets, 1, columns["src"], columns["dst"]
        )  # fmt: skip
        node_sizes, edge_sizes = sizes_of(seeds, len(sampler.fanouts), offsets, columns["hop"], row, col)
    else:
        nodes, row, col, node_sizes, edge_sizes = numbered_by_sorting(backend, sampler, graph.num_vertices, columns)
    owners = None
    edge = columns["edge"] if numbered else row  # in the second case for nothing but its length
    if per is not None:
        firsts = np.arange(0, sampler.instances, per)
        nodes, edge, row, col, owners = joined(backend, per, node_sizes, edge_sizes, nodes, edge, row, col)
        node_sizes, edge_sizes = (np.add.reduceat(sizes, firsts) for sizes in (node_sizes, edge_sizes))
    edges = np.concatenate(([0], np.cumsum(edge_sizes.sum(axis=1))))
    node_offsets = np.concatenate(([0], np.cumsum(node_sizes.sum(axis=1))))
    ids = caller_ids(graph, nodes, on_host)
    given = {name: (backend.from_host(values), bounds.tolist()) for name, (values, bounds) in beside.items()}
    inward, made = sampler.inward, []
    for i in range(len(node_sizes)):
        e, v = slice(int(edges[i]), int(edges[i + 1])), slice(int(node_offsets[i]), int(node_offsets[i + 1]))
        edge_index = xp.empty((2, e.stop - e.start), np.int64)
        edge_index[0], edge_index[1] = (col[e], row[e]) if inward else (row[e], col[e])
        e_id = edge[e].astype(np.int64) if numbered else None
        made.append(Drawn(
            ids[v].copy(), nodes[v].copy(), edge_index, e_id, node_sizes[i].tolist(), edge_sizes[i].tolist(),
            None if owners is None else owners[v].copy(),
            {name: values[begins[i] : begins[i + 1]].copy() for name, (values, begins) in given.items()},
            backend,
        ))  # fmt: skip
    return made


def caller_ids(graph: Graph, numbers: Array, on_host: bool) -> Array:
    """The caller's ids of vertices, int64 or strings; on a GPU there are only those that are numbers in order."""
    ids = graph.ids.to_caller(numbers) if on_host else numbers.astype(np.int64) + np.int64(graph.ids.start)
    return ids.astype(np.int64, copy=False) if ids.dtype.kind in "iu" else ids


def joined(
    backend: Backend, per: int, node_sizes: np.ndarray, edge_sizes: np.ndarray, nodes: Array, edge: Array, row: Array,
    col: Array,
) -> tuple[Array, Array, Array, Array, Array]:  # fmt: skip
    """Batches of `per` instances each: vertices and edges hop by hop, in each hop in the order of the instances.

    Returns
    -------
    nodes, edge : array
    row, col : array
        Of each edge, numbers among the vertices of its batch.
    owners : int64 array
        Of each vertex, the place of its instance in the batch.
    """
    xp, count = backend.xp, len(node_sizes)
    of_nodes, of_edges = node_sizes.sum(axis=1), edge_sizes.sum(axis=1)
    nodes_before = np.cumsum(of_nodes) - of_nodes
    batch_before = nodes_before[np.arange(count) // per * per]
    node_at, edge_at = _by_hop(backend, per, node_sizes), _by_hop(backend, per, edge_sizes)
    owner = _spread(backend, np.arange(count) % per, of_nodes)
    here, start = (_spread(backend, values, of_edges) for values in (nodes_before, batch_before))
    made = tuple(xp.empty_like(values) for values in (nodes, edge, row, col, owner))
    made[0][node_at], made[4][node_at], made[1][edge_at] = nodes, owner, edge
    made[2][edge_at], made[3][edge_at] = node_at[row + here] - start, node_at[col + here] - start
    return made


def _by_hop(backend: Backend, per: int, sizes: np.ndarray) -> Array:
    """Where what stands in the order of instances, and in each of hops, is in that of batches, hops and instances."""
    count, hops = sizes.shape
    per = min(per, max(count, 1))
    batches = -(-count // per)
    padded = np.zeros((batches * per, hops), np.int64)
    padded[:count] = sizes
    turned = padded.reshape(batches, per, hops).transpose(0, 2, 1)
    begins = np.cumsum(turned).reshape(turned.shape) - turned
    begins = begins.transpose(0, 2, 1).reshape(batches * per, hops)[:count].reshape(-1)
    flat = sizes.reshape(-1)
    return backend.xp.arange(int(flat.sum())) + _spread(backend, begins - (np.cumsum(flat) - flat), flat)


def _spread(backend: Backend, values: np.ndarray, counts: np.ndarray) -> Array:
    """Each of some values, on the host, so often as it counts."""
    if backend.name == "cpu":
        return np.repeat(values, counts)
    ends = backend.from_host(np.cumsum(counts))
    which = backend.xp.searchsorted(ends, backend.xp.arange(int(counts.sum())), side="right")
    return backend.from_host(values)[which]


def numbered_by_sorting(
    backend: Backend, sampler: Any, num_vertices: int, columns: dict[str, Array]
) -> tuple[Array, Array, Array, np.ndarray, np.ndarray]:
    """Vertices of all instances, row and column of each edge, and on the host the sizes by hop of both.

    Each instance is its seeds, then the destinations of its edges, one after the other; its vertices are what is there
    for the first time. All seeds of an instance differ.
    """
    xp, count, hops, first = backend.xp, sampler.instances, len(sampler.fanouts), sampler.first
    src, dst, hop, instance = (columns[name] for name in ("src", "dst", "hop", "instance"))
    home = instance - first
    of_each = np.diff(sampler.bounds)
    seeds = backend.from_host(sampler.seeds.astype(src.dtype))
    of_seeds = backend.from_host(np.repeat(np.arange(count), of_each))
    edges_before = xp.searchsorted(home, xp.arange(count + 1), side="left")
    of_seed = xp.arange(len(seeds)) + edges_before[of_seeds]
    of_edge = xp.arange(len(dst)) + backend.from_host(sampler.bounds[1:])[home]
    total = len(seeds) + len(dst)
    vertices, owners, reached = xp.empty(total, src.dtype), xp.empty(total, np.int64), xp.zeros(total, np.int64)
    vertices[of_seed], vertices[of_edge] = seeds, dst
    owners[of_seed], owners[of_edge] = of_seeds, home
    reached[of_edge] = hop + 1
    keys = owners * num_vertices + vertices
    order = xp.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = xp.ones(total, bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    places = xp.sort(order[begins])  # of each vertex the first
    known = xp.zeros(total, np.int64)
    known[places] = 1
    numbers = xp.cumsum(known) - 1
    distinct, number_of = ordered[begins], numbers[order[begins]]
    nodes_before = xp.searchsorted(owners[places], xp.arange(count + 1), side="left")

    def local(ends: Array) -> Array:
        found = xp.searchsorted(distinct, home * num_vertices + ends)
        return number_of[found] - nodes_before[home]

    def by_hop(owner: Array, at: Array, width: int) -> np.ndarray:
        if not len(owner) or not width:
            return np.zeros((count, width), np.int64)
        counted = tally(backend, owner * width + at, count * width)
        return backend.to_host(counted).reshape(count, width)

    node_sizes = by_hop(owners[places], reached[places], hops + 1)
    edge_sizes = by_hop(home, hop.astype(np.int64), hops)
    return vertices[places], local(src), local(dst), node_sizes, edge_sizes


def checked_output(output: Any, graph: Graph) -> str:
    """The kind of output, whose packages are there."""
    if not isinstance(output, str) or output not in NEEDED:
        raise InputError(f"output={shown(output)} is not one of {', '.join(NEEDED)}")
    for package in NEEDED[output]:
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingDependency(f"output={shown(output)} needs {package}: pip install {package}") from error
    if NEEDED[output] and not graph.ids.are_numbers:
        raise InputError(f"output={shown(output)} is for ids that are whole numbers; those of this graph are strings")
    return output


def checked_rows(name: str, values: Any, count: int) -> Any:
    """What has a row for each vertex and gives rows by their numbers, where it is; or None.

    Columns and tables of Arrow, pandas and polars, lists, and arrays that have DLPack only become arrays.
    """
    if values is None:
        return None
    is_table = any(hasattr(values, of) for of in ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "iloc"))
    takes_numbers = hasattr(values, "__getitem__") and isinstance(getattr(values, "shape", None), tuple)
    if is_table or isinstance(values, list) or (not takes_numbers and is_array(values)):
        values = given_where_it_is(name, values)
    elif not takes_numbers:
        raise InputError(f"{name} is a {type(values).__name__}; it is an array with a row for each vertex")
    if not len(values.shape) or values.shape[0] != count:
        raise InputError(f"{name} has the shape {tuple(values.shape)}; it has a row for each of {count} vertices")
    return values


def rows_of(values: Any, numbers: Array) -> Any:
    """The rows of vertices, where the values are."""
    if values is None:
        return None
    if _package_of(values) == "torch":
        torch = importlib.import_module("torch")
        return values[torch.from_dlpack(numbers).to(device=values.device, dtype=torch.int64)]
    on_device = hasattr(values, "get") and hasattr(values, "device")  # a Series has a `get` too
    return values[module_of(values).asarray(numbers) if on_device else on_host(numbers)]


def _package_of(values: Any) -> str:
    return type(values).__module__.partition(".")[0]


def as_tensor(values: Any) -> Any:
    """A tensor that shares the memory of an array; a tensor itself."""
    return values if _package_of(values) == "torch" else importlib.import_module("torch").from_dlpack(values)


def to_torch(batch: Any) -> Any:
    """A batch with tensors, which share the memory of its arrays."""
    from_dlpack = importlib.import_module("torch").from_dlpack
    names = [field.name for field in fields(batch) if hasattr(getattr(batch, field.name), "__dlpack__")]
    return replace(batch, **{name: from_dlpack(getattr(batch, name)) for name in names})


def to_pyg(batch: Any) -> Any:
    """A torch_geometric.data.Data of it, or another class there that batches of its kind are."""
    data = getattr(importlib.import_module("torch_geometric.data"), batch.PYG)
    tensors = to_torch(batch)
    of = {field.name: getattr(tensors, field.name) for field in fields(tensors) if field.repr}
    return data(num_nodes=batch.num_nodes, **{name: value for name, value in of.items() if value is not None})


CONVERT: dict[str, Callable[[Any], Any]] = {"arrays": lambda batch: batch, "torch": to_torch, "pyg": to_pyg}
"""By the kind of output."""
