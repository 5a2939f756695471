"""Minibatches of neighbourhoods in a graph with types, as PyTorch Geometric's NeighborLoader makes of a HeteroData.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph
from graphdask.graph.type_names import checked_vertex_type
from graphdask.graph.typed import TypedGraph
from graphdask.interface.suggest import public
from graphdask.partition.conversions import class_of
from graphdask.partition.given import given_array
from graphdask.sample._loading import Loader, Ways, each_once
from graphdask.sample._minibatches import rows_of
from graphdask.sample._typed_batches import CONVERT, TypedBatch, by_vertex_type, checked_columns
from graphdask.sample.hops import typed_options
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import Placement, drawn
from graphdask.sample.traversal import Traversal
from graphdask.sample.typed import TypedNeighborhoods, drawn_by_type


@dataclass
class _Drawn:
    """A batch, but for the rows of attributes."""

    sample: TypedNeighborhoods
    place: int
    """Which of its instances."""
    input_id: np.ndarray


@public
class TypedNeighborLoader(Loader):
    """Iterates over minibatches of sampled neighbourhoods of a graph with types.

    As `torch_geometric.loader.NeighborLoader` does of a `HeteroData`. Every pass over the loader is an epoch, and
    `epoch` the number of the next one. Batch b of epoch e is instance e * len(loader) + b of `neighbors` with the same
    seed, so a seed says all batches of all epochs, whatever the placement, the devices and the number of workers.

    Parameters
    ----------
    G : TypedGraph
        Made by `graphdask.from_frames`.
    num_neighbors : sequence of int, or mapping of types of edges to such
        Neighbours of a vertex at each hop along the edges of each type; -1 for all of them. A mapping has numbers for
        every type.
    input_nodes : str, or (str, array of vertex ids, or of bool with an element for each vertex of the type)
        The type of the vertices that batches are made for, and which of them; without these all.
    batch_size : int
        Input vertices of a batch; the last one has what is left.
    shuffle : bool
        Put the input vertices in another order in every epoch, as `NeighborLoader` does.
    drop_last : bool
        Leave out a last batch of fewer than `batch_size`.
    replace, bias, method
        As for `neighbors`; a bias by weight needs weights of every type of edges.
    direction : {"in", "out"}
        `in`: vertices that edges come from are drawn, and messages go along the edges. `out`: the other way round.
    seed : int
        0 to 2**64 - 1.
    x, y : mapping of str to array with a row for each vertex of the type, in the order of `G.ids_of(type)`, optional
        A batch gets the rows of its vertices.
    vertex_columns : mapping of str to list of str, optional
        By type: names of columns of the graph, of which a batch gets the rows of its vertices.
    edge_columns : mapping of types of edges to list of str, optional
        By type: names of columns of the graph, of which a batch gets the rows of its edges; needs `edge_rows`.
    transform : callable, optional
        Called with each batch, of the kind that `output` says; what it returns is the batch. With `prefetch` it is
        called in another thread.
    output : {"arrays", "torch", "pyg"}
        What batches hold: arrays; tensors; or a `torch_geometric.data.HeteroData` of tensors.
    prefetch : int
        Runs that are made ahead, in a thread; with 0 everything happens when a batch is asked for.
    batches_per_run : int, optional
        Batches that are drawn together. Default: as many as have about 8 million edges. It changes no batch.
    edge_rows : bool
        Whether batches have `e_id`.
    placement, client
        As for `neighbors`.

    Attributes
    ----------
    epoch : int
        Number of the next pass; 0 at first.

    Raises
    ------
    VertexNotFound
        For an input vertex that is none of its type.
    InputError
        For an argument value that is not allowed, an input vertex that is there twice, or an `x` of another length.
    MissingDependency
        Without PyTorch or PyTorch Geometric, where `output` asks for them.

    References
    ----------
    Fey, Lenssen, Fast graph representation learning with PyTorch Geometric, ICLR workshop 2019.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_frames({("user", "rates", "item"): ([1, 2, 2], [7, 7, 8])}, reverse=True)
    >>> loader = gd.sample.TypedNeighborLoader(G, [2, 2], ("item", [7, 8]))
    >>> first, second = loader
    >>> first.n_id["item"].tolist(), first.n_id["user"].tolist()
    ([7, 8], [1, 2])
    >>> first.edge_index["user", "rates", "item"].tolist(), first.e_id["user", "rates", "item"].tolist()
    ([[0, 1], [0, 0]], [0, 1])
    """

    def __init__(
        self,
        G: TypedGraph,
        num_neighbors: Any,
        input_nodes: Any,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        bias: str | None = None,
        method: str = "auto",
        direction: str = "in",
        seed: int = 0,
        x: Mapping[str, Any] | None = None,
        y: Mapping[str, Any] | None = None,
        vertex_columns: Mapping[str, Any] | None = None,
        edge_columns: Mapping[Any, Any] | None = None,
        transform: Callable[[Any], Any] | None = None,
        output: str = "arrays",
        prefetch: int = 1,
        batches_per_run: int | None = None,
        edge_rows: bool = True,
        placement: Placement = "auto",
        client: Any = None,
    ):
        if not isinstance(G, TypedGraph):  # of whatever a caller gives
            raise InputError(f"G is a {class_of(G)}, not a TypedGraph; gd.from_frames makes one")
        ways = Ways(
            batch_size, shuffle, drop_last, placement, client, edge_rows, None, None, transform, output, prefetch,
            batches_per_run, "directional",
        )  # fmt: skip
        self._by_type = typed_options(G, num_neighbors, "num_neighbors", replace, bias, direction, method, seed)
        by_hop = zip(*(options["fanouts"] for options in self._by_type.values()), strict=True)
        most = [-1 if -1 in sizes else sum(sizes) for sizes in by_hop]
        self._prepare(G, most, ways, replace=replace, bias=None, direction=direction, method=method, seed=seed)
        self.typed = G
        names = [kind for kind, ids in G.vertex_ids_by_type.items() if not ids.are_numbers]
        if self._output != "arrays" and names:
            raise InputError(
                f"output={shown(output)} is for ids that are whole numbers; those of the type {names[0]!r} are strings"
            )
        self._input_type, self._seeds = _input_of(G, input_nodes)
        self._attributes = by_vertex_type(G, "x", x), by_vertex_type(G, "y", y)
        self._columns = checked_columns(G, vertex_columns, edge_columns, output, self._numbered)
        self._divide(len(self._seeds), 1, batches_per_run)

    def __repr__(self) -> str:
        return (
            f"<TypedNeighborLoader: {len(self)} batches of {self.batch_size} of {len(self._seeds)} vertices of type "
            f"{self._input_type!r}>"
        )

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Any:
        return order, epoch, first, last

    def _drawn(self, run: Any) -> Any:
        """The batches of one run, but for rows of attributes."""
        order, epoch, first, last = run
        bounds = np.minimum(np.arange(first, last + 1) * self.batch_size, len(order))
        inputs, starts = order[bounds[0] : bounds[-1]], bounds - bounds[0]

        def draw(graph: Graph, sampler: Traversal) -> Neighborhoods:
            sampler.numbered = self._numbered
            found: Neighborhoods = drawn(graph, sampler, self._placement, self._client, False)
            return found

        sample = drawn_by_type(
            self.typed, self._input_type, self._seeds[inputs], starts, self._by_type, draw, epoch * len(self) + first
        )
        return [_Drawn(sample, place, inputs[starts[place] : starts[place + 1]]) for place in range(last - first)]

    def _finished(self, drawn: Any) -> Any:
        """A batch as the caller wants it."""
        made = CONVERT[self._output](self._batch(drawn))
        return made if self._transform is None else self._transform(made)

    def _batch(self, drawn: _Drawn) -> TypedBatch:
        sample, place = drawn.sample, drawn.place
        nodes = {name: slice(*offsets[place : place + 2]) for name, offsets in sample.node_offsets.items()}
        edges = {kind: slice(*offsets[place : place + 2]) for kind, offsets in sample.edge_offsets.items()}
        inward = all(options["direction"] == "in" for options in self._by_type.values())
        ends = (sample.col, sample.row) if inward else (sample.row, sample.col)
        x, y = (
            {name: rows_of(values, sample.places[name][nodes[name]]) for name, values in given.items()}
            for given in self._attributes
        )
        rows = {kind: sample.edge[kind][here] for kind, here in edges.items()} if self._numbered else {}
        return TypedBatch(
            input_type=self._input_type,
            n_id={name: sample.nodes[name][here].copy() for name, here in nodes.items()},
            edge_index={kind: np.stack([end[kind][here] for end in ends]) for kind, here in edges.items()},
            e_id={kind: own.copy() for kind, own in rows.items()},
            batch_size=len(drawn.input_id),
            input_id=drawn.input_id,
            num_sampled_nodes={name: sizes[place].tolist() for name, sizes in sample.node_sizes.items()},
            num_sampled_edges={kind: sizes[place].tolist() for kind, sizes in sample.edge_sizes.items()},
            x=x,
            y=y,
            vertex_columns=self._columns.of_vertices({name: sample.places[name][nodes[name]] for name in nodes}),
            edge_columns=self._columns.of_edges(rows),
        )


def _input_of(G: TypedGraph, given: Any) -> tuple[str, np.ndarray]:
    """The type and the vertex numbers of the input vertices, each once."""
    if isinstance(given, str):
        name, ids = given, None
    elif isinstance(given, tuple | list) and len(given) == 2 and isinstance(given[0], str):
        name, ids = given
    else:
        raise InputError(
            f"input_nodes={shown(given)} does not say the type; give it, as {G.vertex_types[0]!r}, or a pair such as "
            f"({G.vertex_types[0]!r}, ids)"
        )
    if ids is None:
        every = G.ids_of(checked_vertex_type(G, name))
        return name, G.number(name, every)
    asked = given_array("input_nodes", ids)
    if asked.ndim != 1:
        raise InputError(f"input_nodes has {asked.ndim} dimensions; it is a list of vertices, or of bool for each")
    if asked.dtype == bool:
        every = G.ids_of(checked_vertex_type(G, name))
        if len(asked) != len(every):
            raise InputError(
                f"input_nodes has {len(asked)} elements of bool; there are {len(every)} vertices of type {name!r}"
            )
        return name, G.number(name, every[asked])
    numbers = G.number(name, asked)
    return name, each_once("input_nodes", asked, numbers)
