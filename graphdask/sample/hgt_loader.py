"""Minibatches of a graph with types by budget sampling, as PyTorch Geometric's HGTLoader.

Source: Hu, Dong, Wang, Sun, Heterogeneous graph transformer (2020), Section 3.4, for what is sampled; Fey, Lenssen,
Fast graph representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.type_names import checked_vertex_type
from graphdask.graph.typed import TypedGraph
from graphdask.interface.suggest import public
from graphdask.sample._budgets import drawn_by_budget
from graphdask.sample._loading import Ways
from graphdask.sample._typed_batches import TypedBatch
from graphdask.sample._typed_loading import Given, TypedLoader, TypedRun, batches_of
from graphdask.sample.hops import checked_sizes
from graphdask.sample.sampler import Placement
from graphdask.sample.typed_loader import input_of


@public
class HGTLoader(TypedLoader):
    """Iterates over minibatches that have so many vertices of each type for each hop, and all edges between these.

    As `torch_geometric.loader.HGTLoader`. A hop draws vertices of each type from all in-neighbours of what was sampled
    before, without replacement, in proportion to the square of a budget. Each sampled vertex adds to the budget of its
    in-neighbours along the edges of a type one by the number of its edges of that type. All types of a hop draw from
    the budgets that the hop before left. Every pass over the loader is an epoch, and `epoch` the number of the next
    one. Batch b of epoch e is instance e * len(loader) + b, so a seed says all batches of all epochs, whatever the
    placement, the devices and the number of workers.

    Parameters
    ----------
    G : TypedGraph
        Made by `graphdask.from_frames`.
    num_samples : sequence of int, or mapping of str to such
        Vertices of each type at each hop; a mapping has numbers for every type. Where fewer have a budget, all of these
        are taken.
    input_nodes : str, or (str, array of vertex ids, or of bool with an element for each vertex of the type)
        The type of the vertices that batches are made for, and which of them; without these all.
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
        For an argument value that is not allowed, or an input vertex that is there twice.

    Notes
    -----
    All in-edges of the sampled vertices come to this process; the budget of a vertex is exact also where
    `torch_geometric` draws from the edges of vertices that have many. `num_sampled_edges` has one number more than
    there are hops: edges that lead to seeds, then those that lead to the vertices of each hop. Messages go along the
    edges.

    References
    ----------
    Hu, Dong, Wang, Sun, Heterogeneous graph transformer, WWW 2020, algorithms 1 and 2.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_frames({("user", "rates", "item"): ([1, 2, 3, 3], [7, 7, 7, 8])}, reverse=True)
    >>> (batch,) = gd.sample.HGTLoader(G, {"user": [2, 0], "item": [0, 1]}, ("item", [7]))
    >>> len(batch.n_id["user"]), batch.n_id["item"].tolist()
    (2, [7, 8])
    """

    def __init__(
        self,
        G: TypedGraph,
        num_samples: Any,
        input_nodes: Any,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        seed: int = 0,
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
            batches_per_run, "directional", transform_sampler_output,
        )  # fmt: skip
        self._prepare_types(
            G, [-1], ways, Given(x, y, vertex_columns, edge_columns), replace=False, bias=None, direction="in",
            method="auto", seed=seed,
        )  # fmt: skip
        self._sizes = _sizes(G, num_samples)
        self._input_type, self._seeds = input_of(G, input_nodes, False)
        self._divide(len(self._seeds), 1, batches_per_run)

    def __repr__(self) -> str:
        return (
            f"<HGTLoader: {len(self)} batches of {self.batch_size} of {len(self._seeds)} vertices of type "
            f"{self._input_type!r}>"
        )

    def _edges_of_a_batch(self, seeds: int) -> int:
        """About how many in-edges the vertices of a batch have, of a mean degree."""
        source = self.graph.source
        vertices = seeds + sum(map(sum, self._sizes.values()))
        return int(vertices * source.num_edges / max(source.num_vertices, 1))

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Any:
        bounds = np.minimum(np.arange(first, last + 1) * self.batch_size, len(order))
        inputs, starts = order[bounds[0] : bounds[-1]], bounds - bounds[0]
        seeds = {self._input_type: (self._seeds[inputs], starts)}
        return TypedRun(seeds, epoch * len(self) + first, np.arange(len(starts)), {"input_id": (inputs, starts)})

    def _drawn(self, run: Any) -> Any:
        """The batches of one run, but for rows of attributes."""

        return batches_of(
            drawn_by_budget(self.typed, run.seeds, self._sizes, self._draw(True), self._options["seed"], run.first), run
        )

    def _made(self, beside: Any, common: dict[str, Any]) -> TypedBatch:
        return TypedBatch(input_type=self._input_type, batch_size=len(beside["input_id"]), **beside, **common)


def _sizes(G: TypedGraph, given: Any) -> dict[str, tuple[int, ...]]:
    """Vertices of each type at each hop."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(G.vertex_types, checked_sizes(given, "num_samples", 0))
    made = {
        checked_vertex_type(G, name, "num_samples: "): checked_sizes(sizes, f"num_samples[{shown(name)}]", 0)
        for name, sizes in given.items()
    }
    missing = [name for name in G.vertex_types if name not in made]
    if missing:
        raise InputError(f"num_samples has no numbers for vertices of type {missing[0]!r}; zeros draw none")
    hops = {len(sizes) for sizes in made.values()}
    if len(hops) > 1:
        raise InputError(f"num_samples has {min(hops)} hops for one type and {max(hops)} for another; give zeros")
    return {name: made[name] for name in G.vertex_types}
