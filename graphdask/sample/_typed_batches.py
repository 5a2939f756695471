"""A minibatch of a graph with types: what it holds, in arrays, tensors or a HeteroData, and rows of columns.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from graphdask.errors import InputError, shown
from graphdask.graph.arrow_tables import checked_names
from graphdask.graph.type_names import EdgeType, checked_vertex_type, found_type
from graphdask.graph.typed import TypedGraph
from graphdask.partition.conversions import class_of
from graphdask.sample._loading import Fields
from graphdask.sample._minibatches import checked_rows, rows_of

OF_BATCHES = (
    "x", "y", "n_id", "e_id", "edge_index", "num_nodes", "num_sampled_nodes", "num_sampled_edges", "input_id",
    "batch_size", "batch", "seed_time", "edge_label_index", "edge_label", "edge_label_time", "src_index",
    "dst_pos_index", "dst_neg_index",
)  # fmt: skip
"""Names of what batches have."""


PAIRS = ("input_id", "edge_label_index", "edge_label", "edge_label_time")
TRIPLETS = ("input_id", "src_index", "dst_pos_index", "dst_neg_index", "seed_time")
"""Fields of batches of links that PyTorch Geometric has as metadata."""


@dataclass(repr=False)
class TypedBatch(Fields):
    """One minibatch of a graph with types. Arrays are NumPy's, or tensors of PyTorch."""

    INPUTS: ClassVar[str] = "seeds"
    input_type: Any
    """The type of the seeds."""
    n_id: Mapping[str, Any]
    """By type of vertices: the caller's ids, int64 or strings; of the type of the seeds, seeds first."""
    edge_index: Mapping[Any, Any]
    """By type of edges: int64, shape (2, edges), numbers of the source and the destination among those of their types,
    as messages go."""
    e_id: Mapping[Any, Any]
    """By type of edges: int64, the row of each edge in the table of its type; without `edge_rows` no type has one."""
    batch_size: int
    """How many seeds there are."""
    input_id: Any
    """int64, shape (batch_size,): place of each seed among the input vertices."""
    num_sampled_nodes: Mapping[str, list[int]]
    """By type of vertices: seeds, then the vertices that each hop reached first."""
    num_sampled_edges: Mapping[Any, list[int]] | None
    """By type of edges: edges of each hop; None unless `subgraph_type` is "directional"."""
    x: Mapping[str, Any]
    """By type of vertices: rows of `x`."""
    y: Mapping[str, Any]
    """By type of vertices: rows of `y`."""
    vertex_columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By type of vertices: rows of the columns that were asked for, by name."""
    edge_columns: Mapping[Any, Mapping[str, Any]] = field(default_factory=dict)
    """By type of edges: rows of the columns that were asked for, by name."""
    batch: Mapping[str, Any] | None = None
    """By type of vertices: int64, number in the batch of the seed that each was reached for; where disjoint."""
    seed_time: Any = None
    """int64 or float64, shape (batch_size,): the time of each seed; with times."""

    def put(self, data: Any, tensors: Any) -> None:
        """Put the facts of seeds, which are tensors, into a HeteroData."""
        of_seeds = data[self.input_type]
        of_seeds.input_id, of_seeds.batch_size = tensors.input_id, self.batch_size
        if tensors.seed_time is not None:
            of_seeds.seed_time = tensors.seed_time

    @property
    def num_nodes(self) -> int:
        """Vertices of the batch, of all types."""
        return sum(map(len, self.n_id.values()))

    def __repr__(self) -> str:
        vertices = ", ".join(f"{len(ids):,} {name}" for name, ids in self.n_id.items())
        edges = ", ".join(f"{index.shape[1]:,} {' '.join(kind)}" for kind, index in self.edge_index.items())
        inputs = f"{self.batch_size} {self.INPUTS} of type {self.input_type!r}"
        return f"{type(self).__name__}({inputs}; vertices {vertices}; edges {edges})"


@dataclass(repr=False)
class TypedLinkBatch(TypedBatch):
    """One minibatch of links of a graph with types. `input_type` is the type of the links, `batch_size` their number.

    Numbers of ends are those among the vertices of their type in the batch.
    """

    INPUTS: ClassVar[str] = "links"
    edge_label_index: Any = None
    """int64, shape (2, links + negatives): sources and destinations of the links, and of the negatives after them."""
    edge_label: Any = None
    """Shape (links + negatives, ...): the label of each; 0 for negatives. None where there are no labels."""
    edge_label_time: Any = None
    """int64 or float64, shape (links + negatives,): the time of each; with times, and without triplets."""
    src_index: Any = None
    """int64, shape (links,): the source of each link; of triplets."""
    dst_pos_index: Any = None
    """int64, shape (links,): the destination of each link; of triplets."""
    dst_neg_index: Any = None
    """int64, shape (links, amount), or (links,) if that is 1: negative destinations; of triplets."""

    @property
    def metadata_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the fields that a sampler output of PyTorch Geometric has as metadata."""
        return PAIRS if self.src_index is None else TRIPLETS

    def put(self, data: Any, tensors: Any) -> None:
        """Put the facts of links, which are tensors, into a HeteroData."""
        super().put(data, tensors)
        kind = self.input_type
        for of, names in (
            (kind, ("edge_label_index", "edge_label", "edge_label_time")),
            (kind[0], ("src_index",)), (kind[2], ("dst_pos_index", "dst_neg_index")),
        ):  # fmt: skip
            for name in names:
                if getattr(tensors, name) is not None:
                    data[of][name] = getattr(tensors, name)


def by_vertex_type(G: TypedGraph, name: str, given: Any) -> dict[str, Any]:
    """Arrays of attributes by type of vertices."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"{name} is a {class_of(given)}; it is a mapping of types of vertices to arrays")
    return {
        checked_vertex_type(G, kind, f"{name}: "): checked_rows(f"{name}[{shown(kind)}]", values, G.count(kind))
        for kind, values in given.items()
    }


@dataclass(frozen=True)
class Columns:
    """Columns that batches have, as arrays with a row for each vertex or edge of a type."""

    vertices: Mapping[str, Mapping[str, Any]]
    edges: Mapping[EdgeType, Mapping[str, Any]]

    def of_vertices(self, places: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Rows of the vertices of a batch, by type and name."""
        return _rows(self.vertices, places)

    def of_edges(self, rows: Mapping[EdgeType, Any]) -> dict[EdgeType, dict[str, Any]]:
        """Rows of the edges of a batch, by type and name."""
        return _rows(self.edges, rows)


def _rows(columns: Mapping[Any, Mapping[str, Any]], rows: Mapping[Any, Any]) -> dict[Any, dict[str, Any]]:
    return {kind: {name: rows_of(own[name], rows[kind]) for name in own} for kind, own in columns.items()}


def checked_columns(G: TypedGraph, vertex_columns: Any, edge_columns: Any, output: str, edge_rows: bool) -> Columns:
    """Return the columns of a graph that batches have.

    Raises
    ------
    InputError
        For a type or a column that is not there, a name of what batches have already, and columns that no tensor holds
        where batches are tensors; for columns of edges without rows of edges.
    """
    if edge_columns is not None and not edge_rows:
        raise InputError("edge_columns= are found by the rows of edges; leave edge_rows=False out")
    made: list[dict[Any, dict[str, Any]]] = []
    sides: tuple[tuple[str, Any, Any, Any], ...] = (
        ("vertex_columns", vertex_columns, checked_vertex_type, G.vertex_column),
        ("edge_columns", edge_columns, lambda G, kind, where: found_type(G.edge_types, kind, where), G.edge_column),
    )
    for what, given, of_type, values in sides:
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"{what} is a {class_of(given)}; it is a mapping of types to names of columns")
        columns: dict[Any, dict[str, Any]] = {}
        for key, names in (given or {}).items():
            kind, label = of_type(G, key, f"{what}: "), f"{what}[{shown(key)}]"
            columns[kind] = {}
            for name in checked_names(label, names):
                if name in OF_BATCHES:
                    raise InputError(f"{label}: batches have {name!r} of their own; rename the column")
                try:
                    column = values(kind, name)
                except InputError as error:
                    raise InputError(f"{label}: {error}") from None
                if output != "arrays" and column.dtype.kind not in "biuf":
                    raise InputError(
                        f"{label}: no tensor holds the column {name!r}, whose values are of the dtype {column.dtype}; "
                        f"convert it to numbers without missing values, or take output='arrays'"
                    )
                columns[kind][name] = column
        made.append(columns)
    return Columns(*made)


def to_torch(batch: Any) -> Any:
    """A batch with tensors, which share the memory of its arrays."""
    from_dlpack = importlib.import_module("torch").from_dlpack

    def tensors(values: Mapping[Any, Any]) -> dict[Any, Any]:
        return {kind: from_dlpack(value) if hasattr(value, "__dlpack__") else value for kind, value in values.items()}

    return replace(
        batch, **_plain_tensors(batch, from_dlpack), n_id=tensors(batch.n_id), edge_index=tensors(batch.edge_index),
        e_id=None if batch.e_id is None else tensors(batch.e_id), x=tensors(batch.x), y=tensors(batch.y),
        vertex_columns={name: tensors(rows) for name, rows in batch.vertex_columns.items()},
        edge_columns={kind: tensors(rows) for kind, rows in batch.edge_columns.items()},
        batch=None if batch.batch is None else tensors(batch.batch),
    )  # fmt: skip


def _plain_tensors(batch: Any, from_dlpack: Any) -> dict[str, Any]:
    """The fields that are arrays, as tensors."""
    values = {each.name: getattr(batch, each.name) for each in fields(batch)}
    return {name: from_dlpack(value) for name, value in values.items() if hasattr(value, "__dlpack__")}


def _to_pyg(batch: Any) -> Any:
    """A torch_geometric.data.HeteroData of it."""
    data = importlib.import_module("torch_geometric.data").HeteroData()
    tensors = to_torch(batch)
    for name, ids in tensors.n_id.items():
        data[name].n_id, data[name].num_nodes = ids, len(ids)
        if batch.num_sampled_nodes is not None and name in batch.num_sampled_nodes:
            data[name].num_sampled_nodes = list(batch.num_sampled_nodes[name])
        for attribute, rows in (("x", tensors.x), ("y", tensors.y)):
            if name in rows:
                data[name][attribute] = rows[name]
    if tensors.batch is not None:
        for name, of_seeds in tensors.batch.items():
            data[name].batch = of_seeds
    batch.put(data, tensors)
    for kind, index in tensors.edge_index.items():
        data[kind].edge_index = index
        if batch.num_sampled_edges is not None and kind in batch.num_sampled_edges:
            data[kind].num_sampled_edges = list(batch.num_sampled_edges[kind])
        if tensors.e_id is not None and tensors.e_id.get(kind) is not None:
            data[kind].e_id = tensors.e_id[kind]
    for columns in (tensors.vertex_columns, tensors.edge_columns):
        for kind, rows in columns.items():
            for name, values in rows.items():
                data[kind][name] = values
    return data


CONVERT: dict[str, Callable[[Any], Any]] = {
    "arrays": lambda batch: batch, "torch": to_torch, "pyg": _to_pyg,
}  # fmt: skip
"""By the kind of output."""
