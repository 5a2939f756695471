"""Minibatches of links of one type in a graph with types, as PyTorch Geometric's LinkNeighborLoader of a HeteroData.

Negatives have sources and destinations of the types of the links. The seeds of a batch are the ends of its links and
negatives, each vertex once and in ascending order by type; or, disjoint, one for each end.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.type_names import EdgeType, found_type
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import flag
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.partition.sources import ArraySource
from graphdask.sample._loading import Seen, Ways
from graphdask.sample._negatives import Negatives, NegativeSampling, checked_negatives
from graphdask.sample._typed_batches import TypedLinkBatch
from graphdask.sample._typed_loading import Given, TypedLoader, TypedRun
from graphdask.sample.link_ends import Blocks, distinct
from graphdask.sample.link_loader import OfLinks, checked_labels
from graphdask.sample.sampler import Placement


@public
class TypedLinkNeighborLoader(OfLinks, TypedLoader):
    """Iterates over minibatches of links of one type with sampled neighbourhoods of all types.

    As `torch_geometric.loader.LinkNeighborLoader` does of a `HeteroData`. Every pass over the loader is an epoch, and
    `epoch` the number of the next one. Negatives are drawn as by `LinkNeighborLoader` on the graph of the type of the
    links, with sources and destinations of its two types of vertices. So a seed says all batches of all epochs,
    whatever the placement, the devices and the number of workers.

    Parameters
    ----------
    G : TypedGraph
        Made by `graphdask.from_frames`.
    edge_label_index : type of edges, or pair of such and (array of ids, array of ids)
        The type of the links, and the caller's ids of their sources and destinations; pairs may also be an array of
        shape (2, links). Without pairs: all edges of the type, in the order of its table.
    edge_label : array of numbers, shape (links, ...), optional
        As for `LinkNeighborLoader`.
    edge_label_time : number, or array-like with one for each link, optional
        The time of each link, in the unit of `times`. With it neighbours are drawn along edges that are not later than
        the link; a negative has the time of its link. Every end of a link then has a neighbourhood of its own.
    neg_sampling : {"binary", "triplet"}, dict or NegativeSampling, optional
        How negative links are drawn. `src_weight` and `dst_weight` have a number for each vertex of the type of the
        sources and of the destinations, in the order of `G.ids_of(type)`; "degree" counts edges of the type of the
        links, and `only_non_edges` leaves out these. Default: none are drawn.
    neg_sampling_ratio : float, optional
        As for `LinkNeighborLoader`.
    disjoint : bool
        Give every end of a link and of a negative a neighbourhood of its own.
    batch_size : int
        Links of a batch, without negatives; the last one has what is left.

    Attributes
    ----------
    epoch : int
        Number of the next pass; 0 at first.

    Raises
    ------
    VertexNotFound
        For an end of a link that is no vertex of its type.
    InputError
        For an argument value that is not allowed, or negatives that do not exist.

    References
    ----------
    Fey, Lenssen, Fast graph representation learning with PyTorch Geometric, ICLR workshop 2019.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_frames({("user", "rates", "item"): (["ann", "bob", "bob"], [7, 7, 8])}, reverse=True)
    >>> loader = gd.sample.TypedLinkNeighborLoader(G, [1], ("rates", (["bob", "ann"], [8, 7])), batch_size=2)
    >>> (batch,) = loader
    >>> batch.n_id["user"].tolist(), batch.n_id["item"].tolist(), batch.edge_label_index.tolist()
    (['ann', 'bob'], [7, 8], [[1, 0], [1, 0]])
    """

    def __init__(
        self,
        G: TypedGraph,
        num_neighbors: Any,
        edge_label_index: Any,
        edge_label: Any = None,
        edge_label_time: Any = None,
        *,
        neg_sampling: str | dict[str, Any] | NegativeSampling | None = None,
        neg_sampling_ratio: float | None = None,
        subgraph_type: str = "directional",
        disjoint: bool = False,
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
            bias=bias, direction=direction, method=method, seed=seed, in_time=edge_label_time is not None,
        )  # fmt: skip
        self._disjoint = flag("disjoint", disjoint) or edge_label_time is not None
        self._asked = asked = checked_negatives(neg_sampling, neg_sampling_ratio)
        self._links_type, self._links = _links_of(G, edge_label_index)
        self._negatives = None if asked is None else _negatives(G, self._links_type, asked, self._options["seed"])
        if self._negatives is not None:
            self._negatives.check(partial(G.named, self._links_type[0]), self._links[0])
        count = len(self._links[0])
        self._labels = checked_labels(edge_label, count, asked)
        self._refuse_ends_of_any_time = asked is not None
        inputs = count, "links", "link"
        self._time = self._see_types(("edge_label_time", edge_label_time), inputs, times, temporal_strategy)
        self._seen = None if self._time is None else Seen(self._time.given, self._time.last)
        self._divide(count, 2 if asked is None else self._seeds_of(1), batches_per_run)

    def __repr__(self) -> str:
        return (
            f"<TypedLinkNeighborLoader: {len(self)} batches of {self.batch_size} of {len(self._links[0])} links of "
            f"type {self._links_type}, {self._asked or 'no negatives'}>"
        )

    def _sources_of(self, links: int) -> int:
        """Ends of the links of a batch and of their negatives that are sources."""
        return links + (0 if self._of_triplets else self._negatives_of(links))

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Any:
        begin, end = first * self.batch_size, min(last * self.batch_size, len(order))
        places = order[begin:end]
        src, dst = (side[places] for side in self._links)
        negative = None if self._negatives is None else self._negatives.drawn(epoch, begin, src)
        blocks = Blocks(self.batch_size, len(places), self._negatives_of)
        ends, offsets = blocks.ends(src, dst, negative, self._of_triplets), blocks.offsets(self._seeds_of)
        within = np.arange(len(ends)) - np.repeat(offsets[:-1], np.diff(offsets))
        sources = within < np.repeat(np.diff(blocks.offsets(self._sources_of)), np.diff(offsets))
        one, _, other = self._links_type
        sides = {one: sources, other: ~sources} if one != other else {one: np.ones(len(ends), bool)}
        seeds, numbers = {}, np.zeros(len(ends), np.int64)
        for name, side in sides.items():
            before = np.concatenate(([0], np.cumsum(side)))  # ends of this type before each
            if self._disjoint:
                seeds[name] = ends[side], before
                numbers[side] = (before[:-1] - np.repeat(before[offsets[:-1]], np.diff(offsets)))[side]
            else:
                vertices, starts, numbers[side] = distinct(ends[side], before[offsets], self.typed.num_vertices)
                seeds[name] = vertices, starts
        beside = {"input_id": (places, blocks.bounds), "ends": (numbers, offsets)} | self._facts(blocks, places)
        if not self._disjoint:
            return TypedRun(seeds, epoch * self._count + first, np.arange(len(offsets)), beside)
        times = 1 if self._of_triplets else 2  # of pairs, what belongs to links stands there twice
        inputs = blocks.repeated(places, times, lambda links: self._seeds_of(links) // times)
        whole, rest = divmod(min(self._count * self.batch_size, len(order)), self.batch_size)
        per = self._seeds_of(self.batch_size)
        of_epoch = whole * per + self._seeds_of(rest)
        return TypedRun(seeds, epoch * of_epoch + first * per, offsets, beside, inputs)

    def _made(self, beside: Any, common: dict[str, Any]) -> TypedLinkBatch:
        beside = dict(beside)
        ends, links = beside.pop("ends"), len(beside["input_id"])
        if common["batch"] is not None:
            common["batch"] = {
                name: self._link_of(instances, len(ends), links) for name, instances in common["batch"].items()
            }
        return TypedLinkBatch(
            input_type=self._links_type, batch_size=links, **self._indices(ends, links), **beside, **common
        )


def _links_of(G: TypedGraph, given: Any) -> tuple[EdgeType, tuple[np.ndarray, np.ndarray]]:
    """The type of the links, and the vertex numbers of their ends, int64."""
    name, pairs = given, None
    if isinstance(given, tuple | list) and len(given) == 2:
        name, pairs = given
    kind = found_type(G.edge_types, name, "edge_label_index: ")
    if pairs is None:
        rows, source = G.rows_of(kind), G.source
        assert isinstance(source, ArraySource)
        return kind, (source.src[rows].astype(np.int64), source.dst[rows].astype(np.int64))
    if not isinstance(pairs, tuple | list):
        pairs = given_array("edge_label_index", pairs)
    if len(getattr(pairs, "shape", (2, 2))) != 2 or len(pairs) != 2:
        raise InputError(
            f"edge_label_index: {shown(pairs)} is not a pair of arrays of ids, sources and destinations, or an array "
            f"of shape (2, links)"
        )
    ends = [given_array(f"edge_label_index: {what}", side) for what, side in zip(("sources", "destinations"), pairs,
                                                                                 strict=True)]  # fmt: skip
    if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
        raise InputError(
            f"edge_label_index has sources of the shape {ends[0].shape} and destinations of {ends[1].shape}; each link "
            f"has one of both"
        )
    return kind, (G.number(kind[0], ends[0]), G.number(kind[2], ends[1]))


def _negatives(G: TypedGraph, kind: EdgeType, asked: NegativeSampling, seed: int) -> Negatives:
    """Draws negatives of a type: their ends are of the types of its sources and destinations."""
    ends, weights = _links_of(G, kind)[1], dict[str, Any]()
    for side, name in (("src_weight", kind[0]), ("dst_weight", kind[2])):
        given = getattr(asked, side)
        if (side == "src_weight" and asked.mode == "triplet") or isinstance(given, str):
            continue
        own = np.ones(G.count(name), np.int64) if given is None else given_array(side, given)
        if len(own) != G.count(name):
            raise InputError(
                f"{side} has the shape {own.shape}; one for each of {G.count(name)} vertices of type {name!r} is needed"
            )
        bad = np.flatnonzero(~(np.isfinite(own) & (own >= 0)))
        if len(bad):
            vertex = G.ids_of(name)[bad[0]]
            raise InputError(f"{side} of vertex {vertex} is {own[bad[0]]}; weights are finite, and not negative")
        every = np.zeros(G.num_vertices, own.dtype if own.dtype.kind in "if" else np.float64)
        every[G.number(name, G.ids_of(name))] = own
        weights[side] = every
    return Negatives(G.of_type(kind), replace(asked, **weights), seed, lambda: ends)
