"""Minibatches of the neighbourhoods of links, in the shape of PyTorch Geometric's LinkNeighborLoader.

The seeds of a batch are the ends of its links and of the negative links that are drawn for these, each vertex once and
in ascending order; or, disjoint, one for each end. From there on a batch is one of `NeighborLoader`.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import flag
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.sample._blocks import Layered
from graphdask.sample._column_names import is_of_vertices, weighted_by
from graphdask.sample._loading import Fields, Loader, Run, Seen, Ways
from graphdask.sample._minibatches import Drawn
from graphdask.sample._negatives import Negatives, NegativeSampling, checked_negatives
from graphdask.sample._typed_batches import PAIRS, TRIPLETS
from graphdask.sample.link_ends import Blocks, distinct
from graphdask.sample.sampler import Placement


@dataclass(repr=False)
class LinkBatch(Layered, Fields):
    """One minibatch of links. Arrays are NumPy's, or CuPy's where the graph is on a GPU; or tensors of PyTorch."""

    n_id: Any
    """int64, shape (nodes,): the caller's id of each vertex; seeds first, then in the order in which edges reach them.
    Strings where the ids are."""
    edge_index: Any
    """int64, shape (2, edges): numbers of the neighbour and of the vertex it was drawn for, as messages go."""
    e_id: Any
    """int64, shape (edges,): the row of each edge in what the graph was made of. None with `edge_rows=False`."""
    input_id: Any
    """int64, shape (links,): place of each link among the input links."""
    num_sampled_nodes: list[int]
    """Seeds, then the vertices that each hop reached first."""
    num_sampled_edges: list[int] | None
    """Edges of each hop; None unless `subgraph_type` is "directional"."""
    edge_label_index: Any = None
    """int64, shape (2, links + negatives): numbers, among the vertices of the batch, of the ends of the links, and of
    the negatives after them. None with triplets."""
    edge_label: Any = None
    """Shape (links + negatives, ...): the label of each; 0 for negatives. None where there are no labels."""
    edge_label_time: Any = None
    """int64 or float64, shape (links + negatives,): the time of each; with times, and without triplets."""
    src_index: Any = None
    """int64, shape (links,): the number of the source of each link; of triplets."""
    dst_pos_index: Any = None
    """int64, shape (links,): the number of the destination of each link; of triplets."""
    dst_neg_index: Any = None
    """int64, shape (links, amount), or (links,) if that is 1: numbers of the negative destinations; of triplets."""
    seed_time: Any = None
    """int64 or float64, shape (links,): the time of each link; of triplets with times."""
    x: Any = None
    """Rows of `x` for the vertices."""
    y: Any = None
    """Rows of `y` for the vertices."""
    batch: Any = None
    """int64, shape (nodes,): number in the batch of the link that each vertex was reached for; where disjoint."""
    direction: str = field(default="in", repr=False)
    """The `direction` of the loader; neither shown nor in `Data` of PyTorch Geometric."""

    @property
    def metadata_fields(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the fields that a sampler output of PyTorch Geometric has as metadata."""
        return PAIRS if self.src_index is None else TRIPLETS


class OfLinks:
    """What loaders of links have: the numbers of their ends, labels and times, with those of negatives."""

    _asked: NegativeSampling | None
    _labels: np.ndarray | None
    _seen: Seen | None

    @property
    def _of_triplets(self) -> bool:
        return self._asked is not None and self._asked.mode == "triplet"

    def _negatives_of(self, links: int) -> int:
        return 0 if self._asked is None else int(np.ceil(links * self._asked.amount))

    def _seeds_of(self, links: int) -> int:
        """Ends of so many links of a batch and of their negatives."""
        return 2 * links + (1 if self._of_triplets else 2) * self._negatives_of(links)

    def _facts(self, blocks: Blocks, places: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Labels and times of the links and negatives of batches."""
        if self._of_triplets:
            return {} if self._seen is None else {"seed_time": (self._seen.limits[places], blocks.bounds)}

        def all_of(links: int) -> int:
            return links + self._negatives_of(links)

        offsets, facts = blocks.offsets(all_of), {}
        if self._labels is not None:
            facts["edge_label"] = blocks.labels(self._labels[places]), offsets
        if self._seen is not None:
            facts["edge_label_time"] = blocks.repeated(self._seen.limits[places], 1, all_of), offsets
        return facts

    def _link_of(self, instances: Any, ends: int, links: int) -> Any:
        """The link of a batch that instances belong to; of pairs, the sources come before the destinations."""
        return instances % (ends if self._of_triplets else ends // 2) % links

    def _indices(self, ends: Any, links: int) -> dict[str, Any]:
        """The fields of a batch that have the numbers of ends."""
        if not self._of_triplets:
            return {"edge_label_index": ends.reshape(2, -1)}
        assert self._asked is not None
        negative = ends[2 * links :].reshape(self._asked.of_each, links).T.copy()
        return {
            "src_index": ends[:links].copy(), "dst_pos_index": ends[links : 2 * links].copy(),
            "dst_neg_index": negative[:, 0].copy() if negative.shape[1] == 1 else negative,
        }  # fmt: skip


@public
class LinkNeighborLoader(OfLinks, Loader):
    """Iterates over minibatches of links with sampled neighbourhoods, as `torch_geometric.loader.LinkNeighborLoader`.

    Every pass over the loader is an epoch, and `epoch` the number of the next one. Batch b of epoch e is instance
    e * len(loader) + b of `neighbors` with the same seed, whose seeds are the ends of the links and negatives of the
    batch. Negative j of the link that stands at place p of an epoch is drawn with the number p * ceil(amount) + j of
    Philox 4x64 with the key (seed, 0x4E47): number q is word q % 4 of the block with the counter (1 + q // 4, 0, side,
    epoch), where the side is 0 for sources and 1 for destinations. So a seed says all batches of all epochs, whatever
    the placement, the devices and the number of workers, and, unless `amount` is a fraction, the same negatives for
    every `batch_size`.

    Parameters
    ----------
    G : Graph
    edge_label_index : array of vertex ids, shape (2, links), optional
        Sources and destinations of the links that batches are made for; of a TypedGraph their numbers. Default: all
        edges of the graph, in the order of `G.edges()`, where an undirected edge stands once.
    edge_label : array of numbers, shape (links, ...), optional
        A label for each link. With binary negatives and a least label of 0, 1 is added to each of them, so that 0
        stands for negatives; without labels, links have the label 1.0. Refused with triplets.
    edge_label_time : number, or array-like with one for each link, optional
        The time of each link, in the unit of `times`. With it neighbours are drawn as by `temporal_neighbors`, along
        edges that are not later than the link; a negative has the time of its link. Every end of a link then has a
        neighbourhood of its own, as with `disjoint=True`.
    neg_sampling : {"binary", "triplet"}, dict or NegativeSampling, optional
        How negative links are drawn; a dictionary holds arguments of `NegativeSampling`. PyTorch Geometric's
        `NegativeSampling` is accepted too. Default: none are drawn.
    neg_sampling_ratio : float, optional
        The same as `neg_sampling=NegativeSampling("binary", ratio)`; 0 for no negatives.
    disjoint : bool
        Give every end of a link and of a negative vertices of its own.
    batch_size : int
        Links of a batch, without negatives; the last one has what is left.
    time_attr : str, optional
        As for `NeighborLoader`; a column of the vertices only without negatives.

    Attributes
    ----------
    epoch : int
        Number of the next pass; 0 at first.

    Raises
    ------
    VertexNotFound
        For an end of a link that is no vertex.
    InputError
        For an argument value that is not allowed, for labels with triplets, for negatives of a graph with types whose
        weights are not arrays, and with `only_non_edges=True` for a source of a triplet that has an edge to every
        vertex that could be drawn, or if every pair is an edge.
    OverBudget
        If the rows for `only_non_edges=True` do not fit into the memory of this process.

    Notes
    -----
    The links themselves are among the edges that neighbours are drawn from, as in PyTorch Geometric; to train without,
    make the graph of the other edges. A negative pair may have two equal ends, unless `exclude_self_loops=True`. With
    times `only_non_edges=True` leaves out edges of all times.

    Disjoint, the seeds of a batch are the sources of its links and negatives and then the destinations; of triplets the
    sources, the destinations, and the negatives number by number. Seed s of epoch e, counted from 0, is instance
    e * (seeds of an epoch) + s.

    References
    ----------
    Fey, Lenssen, Fast graph representation learning with PyTorch Geometric, ICLR workshop 2019. Hamilton, Ying,
    Leskovec, NeurIPS 2017.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([1, 2, 3, 3], [0, 0, 1, 2])
    >>> loader = gd.sample.LinkNeighborLoader(G, [1], [[1, 3], [0, 2]], batch_size=2)
    >>> (batch,) = loader
    >>> batch.n_id.tolist(), batch.edge_label_index.tolist()
    ([0, 1, 2, 3], [[1, 3], [0, 2]])

    A negative destination for each source, to which it has no edge:

    >>> negatives = gd.sample.NegativeSampling("triplet", only_non_edges=True)
    >>> (batch,) = gd.sample.LinkNeighborLoader(G, [1], batch_size=4, neg_sampling=negatives)
    >>> batch.n_id[batch.src_index].tolist(), batch.n_id[batch.dst_pos_index].tolist()
    ([1, 2, 3, 3], [0, 0, 1, 2])
    """

    def __init__(
        self,
        G: Graph,
        num_neighbors: Sequence[int],
        edge_label_index: Any = None,
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
        x: Any = None,
        y: Any = None,
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
            batch_size, shuffle, drop_last, placement, client, edge_rows, x, y, transform, output, prefetch,
            batches_per_run, subgraph_type, transform_sampler_output,
        )  # fmt: skip
        G, bias = weighted_by(checked_graph(G), weight_attr, bias, edge_label_time is not None or time_attr is not None)
        self._prepare(
            G, num_neighbors, ways, replace=replace, bias=bias, direction=direction, method=method, seed=seed
        )  # fmt: skip
        self._disjoint = flag("disjoint", disjoint) or edge_label_time is not None
        self._asked = asked = checked_negatives(neg_sampling, neg_sampling_ratio)
        ends = cache(lambda: _ends(G, client))
        self._links = ends() if edge_label_index is None else _given_links(G, edge_label_index)
        self._negatives = None if asked is None else Negatives(G, asked, self._options["seed"], ends)
        if self._negatives is not None:
            _check_types(G, self._negatives.asked)
            self._negatives.check(G.ids.to_caller, self._links[0])
        count = len(self._links[0])
        self._labels = checked_labels(edge_label, count, asked)
        if asked is not None and is_of_vertices(G, time_attr):
            raise InputError(
                f"time_attr={shown(time_attr)} is a column of the vertices, and negatives would have ends of any time; "
                f"name a column of the edges, or leave neg_sampling out"
            )
        self._seen = self._see(
            ("edge_label_time", edge_label_time), (count, "link"), times, time_attr, temporal_strategy
        )  # fmt: skip
        self._divide(count, 2 if asked is None else self._seeds_of(1), batches_per_run)

    def __repr__(self) -> str:
        return (
            f"<LinkNeighborLoader: {len(self)} batches of {self.batch_size} of {len(self._links[0])} links, neighbours "
            f"{list(self._options['fanouts'])}, {self._asked or 'no negatives'}>"
        )

    def _run(self, order: np.ndarray, epoch: int, first: int, last: int) -> Run:
        begin, end = first * self.batch_size, min(last * self.batch_size, len(order))
        places = order[begin:end]
        src, dst = (side[places] for side in self._links)
        negative = None if self._negatives is None else self._negatives.drawn(epoch, begin, src)
        blocks = Blocks(self.batch_size, len(places), self._negatives_of)
        beside = {"input_id": (places, blocks.bounds)} | self._facts(blocks, places)
        ends, offsets = blocks.ends(src, dst, negative, self._of_triplets), blocks.offsets(self._seeds_of)
        if not self._disjoint:
            seeds, starts, numbers = distinct(ends, offsets, self.graph.num_vertices)
            beside["ends"] = numbers, offsets
            return Run(self._sampler(seeds, starts, epoch * self._count + first, None), beside)
        beside["ends"] = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)), offsets
        limits = None
        if self._seen is not None:  # of pairs, what belongs to links stands there twice: sources and destinations
            times = 1 if self._of_triplets else 2
            limits = blocks.repeated(self._seen.limits[places], times, lambda links: self._seeds_of(links) // times)
        whole, rest = divmod(min(self._count * self.batch_size, len(order)), self.batch_size)
        per = self._seeds_of(self.batch_size)
        of_epoch = whole * per + self._seeds_of(rest)
        return Run(self._sampler(ends, None, epoch * of_epoch + first * per, limits), beside, per)

    def _made(self, drawn: Drawn, common: dict[str, Any]) -> LinkBatch:
        beside = dict(drawn.beside)
        ends, links = beside.pop("ends"), len(beside["input_id"])
        if common["batch"] is not None:  # of pairs, the sources come before the destinations
            common["batch"] = self._link_of(common["batch"], len(ends), links)
        return LinkBatch(**self._indices(ends, links), **beside, **common)


def _check_types(G: Graph, asked: NegativeSampling) -> None:
    """Refuse negatives whose ends would be of any type."""
    sides = ["dst_weight"] if asked.mode == "triplet" else ["src_weight", "dst_weight"]
    open_sides = [f"{side}=" for side in sides if getattr(asked, side) is None or isinstance(getattr(asked, side), str)]
    if isinstance(G, TypedGraph) and open_sides:
        raise InputError(
            f"G has types of vertices, and the ends of negatives would be of any of them; give NegativeSampling "
            f"{' and '.join(open_sides)} as an array with a number for each vertex, which is 0 for other types"
        )


def _ends(G: Graph, client: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers of the ends of all edges, int64, in the order of `G.edges()`."""
    edges = G.edges("cpu", client=client if G.merge else None, progress=False)
    src, dst = (G.ids.to_internal(side, "edge").astype(np.int64, copy=False) for side in (edges.src, edges.dst))
    return src, dst


def _given_links(G: Graph, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers of the ends of links, int64."""
    if isinstance(given, tuple | list) and len(given) == 2 and getattr(given[1], "ndim", 0) == 2:
        raise InputError(
            "edge_label_index is one array of shape (2, links) and names no type of edges; TypedLinkNeighborLoader "
            "takes a type and ids"
        )
    asked = given_array("edge_label_index", given)
    if asked.ndim != 2 or len(asked) != 2:
        raise InputError(
            f"edge_label_index has the shape {asked.shape}; it is of shape (2, links), sources before destinations"
        )
    if not asked.shape[1]:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    src, dst = (G.ids.to_internal(np.ascontiguousarray(side), "end of a link") for side in asked)
    return src.astype(np.int64, copy=False), dst.astype(np.int64, copy=False)


def checked_labels(given: Any, count: int, asked: NegativeSampling | None) -> np.ndarray | None:
    """The labels of links; with binary negatives, 0 is none of them."""
    if given is None:
        return np.ones(count, np.float32) if asked is not None and asked.mode == "binary" else None
    if asked is not None and asked.mode == "triplet":
        raise InputError("edge_label= says nothing with triplets; src_index and the like say what is a negative")
    labels = given_array("edge_label", given)
    if not labels.ndim or len(labels) != count:
        raise InputError(f"edge_label has the shape {labels.shape}; one for each of the {count} links is needed")
    if labels.dtype.kind not in "buif":
        raise InputError(f"edge_label has the dtype {labels.dtype}; labels are numbers")
    if asked is not None and labels.size and labels.min() == 0:
        return labels + 1
    return labels
