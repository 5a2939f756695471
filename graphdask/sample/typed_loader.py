"""Minibatches of neighbourhoods in a graph with types, as PyTorch Geometric's NeighborLoader makes of a HeteroData.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.type_names import checked_vertex_type
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import flag
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.sample._loading import Ways, each_once
from graphdask.sample._typed_batches import TypedBatch
from graphdask.sample._typed_loading import Given, TypedLoader, TypedRun
from graphdask.sample.sampler import Placement


@public
class TypedNeighborLoader(TypedLoader):
    """Iterates over minibatches of sampled neighbourhoods of a graph with types.

    As `torch_geometric.loader.NeighborLoader` does of a `HeteroData`. Every pass over the loader is an epoch, and
    `epoch` the number of the next one. Batch b of epoch e is instance e * len(loader) + b of `neighbors` with the same
    seed, so a seed says all batches of all epochs, whatever the placement, the devices and the number of workers.
    Disjoint, seed s of epoch e, counted from 0, is instance e * (seeds of an epoch) + s.

    Parameters
    ----------
    G : TypedGraph
        Made by `graphdask.from_frames`.
    input_nodes : str, or (str, array of vertex ids, or of bool with an element for each vertex of the type)
        The type of the vertices that batches are made for, and which of them; without these all. Each once; disjoint
        or with times as often as wanted.
    input_time : number, or array-like with one for each input vertex, optional
        The time of each input vertex, in the unit of `times`. With it neighbours are drawn as by `temporal_neighbors`,
        along edges that are not later than the seed, at every hop. Every seed then has a neighbourhood of its own, as
        with `disjoint=True`. Default: the times of the input vertices, if `time_attr` is a column of vertices.
    disjoint : bool
        Give every seed a neighbourhood of its own: a vertex that two seeds reach stands in the batch twice.
    batch_size : int
        Input vertices of a batch; the last one has what is left.

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
        input_time: Any = None,
        disjoint: bool = False,
        subgraph_type: str = "directional",
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        replace: bool = False,
        bias: str | None = None,
        weight_attr: str | None = None,
        method: str = "auto",
        direction: str = "in",
        seed: int = 0,
        times: Any = None,
        time_attr: str | None = None,
        temporal_strategy: str = "uniform",
        x: Mapping[str, Any] | None = None,
        y: Mapping[str, Any] | None = None,
        vertex_columns: Mapping[str, Any] | None = None,
        edge_columns: Mapping[Any, Any] | None = None,
        transform: Callable[[Any], Any] | None = None,
        transform_sampler_output: Callable[[Any], Any] | None = None,
        output: str = "arrays",
        prefetch: int = 1,
        batches_per_run: int | None = None,
        edge_rows: bool = True,
        placement: Placement = "auto",
        client: Any = None,
    ):
        ways = Ways(
            batch_size, shuffle, drop_last, placement, client, edge_rows, None, None, transform, output, prefetch,
            batches_per_run, subgraph_type, transform_sampler_output,
        )  # fmt: skip
        self._prepare_types(
            G, num_neighbors, ways, Given(x, y, vertex_columns, edge_columns, weight_attr, time_attr), replace=replace,
            bias=bias, direction=direction, method=method, seed=seed, in_time=input_time is not None,
        )  # fmt: skip
        self._disjoint = flag("disjoint", disjoint) or input_time is not None or time_attr is not None
        self._input_type, self._seeds = input_of(G, input_nodes, self._disjoint)
        self._time = self._see_types(
            ("input_time", input_time), (len(self._seeds), "input vertices", "input vertex"), times, temporal_strategy,
            (self._input_type, self._seeds),
        )  # fmt: skip
        self._divide(len(self._seeds), 1, batches_per_run)

    def __repr__(self) -> str:
        return (
            f"<TypedNeighborLoader: {len(self)} batches of {self.batch_size} of {len(self._seeds)} vertices of type "
            f"{self._input_type!r}>"
        )

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Any:
        bounds = np.minimum(np.arange(first, last + 1) * self.batch_size, len(order))
        inputs, starts = order[bounds[0] : bounds[-1]], bounds - bounds[0]
        seeds, beside = self._seeds[inputs], {"input_id": (inputs, starts)}
        if not self._disjoint:
            return TypedRun(
                {self._input_type: (seeds, starts)}, epoch * len(self) + first, np.arange(len(starts)), beside
            )
        per_epoch = min(self._count * self.batch_size, len(order))
        alone = {self._input_type: (seeds, np.arange(len(seeds) + 1))}
        if self._time is not None:
            beside["seed_time"] = self._time.given[inputs], starts
        return TypedRun(alone, epoch * per_epoch + int(bounds[0]), starts, beside, inputs)

    def _made(self, beside: Any, common: dict[str, Any]) -> TypedBatch:
        return TypedBatch(input_type=self._input_type, batch_size=len(beside["input_id"]), **beside, **common)


def input_of(G: TypedGraph, given: Any, again_too: bool) -> tuple[str, np.ndarray]:
    """The type and the vertex numbers of the input vertices; each once, unless they may be there again too."""
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
    return name, numbers if again_too else each_once("input_nodes", asked, numbers)
