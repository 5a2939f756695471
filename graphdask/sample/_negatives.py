"""Negative links: pairs of vertices that are drawn beside the links of a batch, by weights, of all pairs or non-edges.

A vertex is drawn by inverse transform of whole-number weights w, with one 64-bit number of Philox. The vertices that a
source has no edge to are not found by trial: row by row, `before` says of each neighbour how much of the weight of
non-neighbours comes before it. A search in the row says how many neighbours stand before the vertex drawn, and so how
much weight is to be skipped. This takes the logarithm of the degree, however few non-neighbours there are, and every
vertex has its probability: its weight by that of all non-neighbours.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), for the two modes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, Unsupported, shown
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import choice, flag
from graphdask.interface.suggest import public
from graphdask.partition.given import given_array
from graphdask.sample.tuning import SAMPLE
from graphdask.sample.words import BITS, raw_words, scaled, units

MODES = ("binary", "triplet")
NEGATIVE = np.uint64(0x4E47)
"""Half of the key of the numbers that negatives are drawn by; the other half is the seed."""


@public
@dataclass(frozen=True, eq=False)
class NegativeSampling:
    """How a `LinkNeighborLoader` draws negative links.

    Parameters
    ----------
    mode : {"binary", "triplet"}
        `binary`: pairs of vertices, which join the links of a batch with the label 0. `triplet`: destinations for the
        source of each link.
    amount : int or float
        Negatives for each link, above 0. With `binary` a batch of k links gets ceil(k * amount); with `triplet` it is a
        whole number.
    src_weight, dst_weight : "degree" or array of shape (vertices,), optional
        Sources (of `binary`) and destinations are drawn in proportion to these numbers, in the order of `G.vertex_ids`.
        `degree`: the number of edges that leave a vertex, or lead to it; of an undirected graph, its degree. Default:
        all vertices alike. Floats are rounded to multiples of a power of two so that their sum has at most 62 bits.
    only_non_edges : bool
        Draw no edge of the graph. Each pair of vertices that is no edge has the probability that it has among all such
        pairs. The loader keeps 16 bytes for each stored edge in the calling process, twice that if the graph is
        undirected. Default: False, as in PyTorch Geometric; a negative may be an edge.
    exclude_self_loops : bool
        Draw no pair of a vertex with itself. Each other pair has the probability that it has among all such pairs. The
        loader keeps 24 bytes for each vertex in the calling process. Default: False, as in PyTorch Geometric; both ends
        of a negative may be the same vertex.

    Raises
    ------
    InputError
        For a value that is not allowed.

    Examples
    --------
    >>> import graphdask as gd
    >>> gd.sample.NegativeSampling("triplet", amount=5, dst_weight="degree")
    NegativeSampling('triplet', amount=5, dst_weight='degree')
    """

    mode: str
    amount: float = 1
    src_weight: Any = None
    dst_weight: Any = None
    only_non_edges: bool = False
    exclude_self_loops: bool = False

    def __post_init__(self) -> None:
        choice("neg_sampling mode", self.mode, MODES)
        flag("only_non_edges", self.only_non_edges)
        flag("exclude_self_loops", self.exclude_self_loops)
        amount = self.amount
        if isinstance(amount, bool) or not isinstance(amount, int | float | np.number) or not 0 < amount < 2**20:
            raise InputError(f"amount={shown(amount)} is not a number above 0 and below 2**20")
        if self.mode == "triplet" and amount != ceil(amount):
            raise InputError(f"amount={shown(amount)} is not whole; with 'triplet' each source gets so many negatives")
        if self.mode == "triplet" and self.src_weight is not None:
            raise InputError("src_weight= says nothing with 'triplet', whose sources are those of the links")
        _given_weights("src_weight", self.src_weight)
        _given_weights("dst_weight", self.dst_weight)

    def __repr__(self) -> str:
        given = [f"{name}={_brief(getattr(self, name))}" for name in ("amount", "src_weight", "dst_weight")]
        given = [text for text in given if not text.endswith("=None")]
        given += [f"{name}=True" for name in ("only_non_edges", "exclude_self_loops") if getattr(self, name)]
        return f"NegativeSampling({', '.join([repr(self.mode), *given])})"

    @property
    def of_each(self) -> int:
        """Negatives of a link, at most."""
        return ceil(self.amount)


def _brief(value: Any) -> str:
    return f"<{type(value).__name__}>" if hasattr(value, "shape") else repr(value)


def checked_negatives(neg_sampling: Any, ratio: Any) -> NegativeSampling | None:
    """What the caller asks for, in one of the ways that PyTorch Geometric takes too."""
    if ratio is not None:
        if neg_sampling is not None:
            raise InputError("neg_sampling= and neg_sampling_ratio= both say how negatives are drawn; leave one out")
        if isinstance(ratio, bool) or not isinstance(ratio, int | float | np.number) or not 0 <= ratio < 2**20:
            raise InputError(f"neg_sampling_ratio={shown(ratio)} is not a number from 0 to 2**20")
        return NegativeSampling("binary", float(ratio)) if ratio else None
    if neg_sampling is None or isinstance(neg_sampling, NegativeSampling):
        return neg_sampling
    if isinstance(neg_sampling, str):
        return NegativeSampling(neg_sampling)
    if isinstance(neg_sampling, dict):
        try:
            return NegativeSampling(**neg_sampling)
        except TypeError as error:
            raise InputError(f"neg_sampling={shown(neg_sampling)}: {error}") from error
    mode = getattr(getattr(neg_sampling, "mode", None), "value", None)
    if not isinstance(mode, str):
        raise InputError(
            f"neg_sampling={shown(neg_sampling)} is not 'binary', 'triplet', a dictionary of arguments of "
            "gd.sample.NegativeSampling, or such an object"
        )
    return NegativeSampling(mode, neg_sampling.amount, neg_sampling.src_weight, neg_sampling.dst_weight)


class Drawing:
    """Draws vertices of a graph by weights."""

    def __init__(self, weights: np.ndarray | None, count: int):
        self.sums = None if weights is None else np.cumsum(weights)
        """int64, shape (vertices,): inclusive; None where all vertices are alike."""
        self.total = count if self.sums is None else int(self.sums[-1]) if count else 0

    def upto(self, vertices: np.ndarray) -> np.ndarray:
        """The weight of all vertices before some."""
        if self.sums is None:
            return vertices
        return np.where(vertices > 0, self.sums[np.maximum(vertices, 1) - 1], 0)

    def at(self, weight: np.ndarray) -> np.ndarray:
        """The vertices that have a place in the sum of weights."""
        return weight if self.sums is None else np.searchsorted(self.sums, weight, side="right")


@dataclass
class NonEdges:
    """For each vertex, the weight of those that it has no edge to."""

    indptr: np.ndarray
    """int64, shape (vertices + 1,)."""
    neighbors: np.ndarray
    """int64: of each vertex, ascending, each once."""
    before: np.ndarray
    """int64: the weight of non-neighbours before each neighbour."""
    free: np.ndarray
    """int64, shape (vertices,): the weight of all non-neighbours."""
    drawing: Drawing

    @classmethod
    def of_loops(cls, count: int, drawing: Drawing) -> NonEdges:
        """The rows of a graph with a self-loop of each vertex and no other edge."""
        vertices = np.arange(count + 1)
        before = drawing.upto(vertices)
        return cls(vertices, vertices[:-1], before[:-1], drawing.total - np.diff(before), drawing)

    @classmethod
    def of(cls, src: np.ndarray, dst: np.ndarray, count: int, drawing: Drawing) -> NonEdges:
        """The rows of a graph; an undirected edge stands here in both directions."""
        keys = np.sort(src * count + dst)
        keys = keys[np.diff(keys, prepend=-1) > 0]
        rows = keys // max(count, 1)
        neighbors = keys - rows * count
        indptr = np.searchsorted(rows, np.arange(count + 1))
        first, after = drawing.upto(neighbors), drawing.upto(neighbors + 1)
        taken = np.cumsum(after - first)
        of_row = np.concatenate(([0], taken))[indptr]
        before = first - (taken - (after - first) - of_row[rows])
        return cls(indptr, neighbors, before, drawing.total - np.diff(of_row), drawing)

    def drawn(self, sources: np.ndarray, words: np.ndarray) -> np.ndarray:
        """A non-neighbour of each source, by a 64-bit number of each; the sources have some."""
        wanted = scaled(words, self.free[sources])
        begin, low, high = self.indptr[sources], self.indptr[sources], self.indptr[sources + 1]
        while (low < high).any():  # how many neighbours come before
            middle = (low + high) // 2
            right = (low < high) & (self.before[np.minimum(middle, len(self.before) - 1)] <= wanted)
            low, high = np.where(right, middle + 1, low), np.where(right, high, np.minimum(middle, high))
        some = low > begin
        last = low[some] - 1
        skipped = np.zeros(len(sources), np.int64)
        skipped[some] = self.drawing.upto(self.neighbors[last] + 1) - self.before[last]
        return self.drawing.at(wanted + skipped)


class Negatives:
    """Draws the negatives of links."""

    def __init__(self, G: Graph, asked: NegativeSampling, seed: int, ends: Any):
        """`ends` returns the vertex numbers of the ends of all edges of the graph."""
        self.asked, self._seed, count = asked, seed, G.num_vertices
        weights = [_weights(G, f"{side}_weight", getattr(asked, f"{side}_weight"), ends) for side in ("src", "dst")]
        destinations = Drawing(weights[1], count)
        self._destinations: Drawing | NonEdges = destinations
        if asked.only_non_edges or asked.exclude_self_loops:
            self._destinations = table = self._table(G, ends, destinations)
            if asked.mode == "binary":
                weights[0] = table.free if weights[0] is None else _product(weights[0], table.free)
        self._sources = Drawing(weights[0], count) if asked.mode == "binary" else None
        if asked.mode == "binary" and self._sources is not None and not self._sources.total:
            raise InputError(f"every pair of vertices of a weight above 0 {self._excluded[1]}; there is no negative")

    def _table(self, G: Graph, ends: Any, destinations: Drawing) -> NonEdges:
        """What says which vertices are no negatives of each vertex."""
        count, stored = G.num_vertices, G.source.num_edges * (1 if G.directed else 2)
        if not self.asked.only_non_edges:
            refuse_beyond_memory(
                f"the rows of {count:,} vertices", SAMPLE.non_edge_bytes * count, "leave exclude_self_loops=True out"
            )
            return NonEdges.of_loops(count, destinations)
        if count >= 1 << 31:
            raise Unsupported(f"only_non_edges=True is for fewer than 2**31 vertices; the graph has {count:,}")
        stored += count * self.asked.exclude_self_loops
        refuse_beyond_memory(
            f"the rows of {stored:,} edges", SAMPLE.non_edge_bytes * stored, "leave only_non_edges=True out"
        )
        src, dst = ends()
        sides = [(src, dst)] if G.directed else [(src, dst), (dst, src)]
        if self.asked.exclude_self_loops:
            sides.append((np.arange(count), np.arange(count)))
        src, dst = (np.concatenate(side) for side in zip(*sides, strict=True))
        return NonEdges.of(src, dst, count, destinations)

    @property
    def _excluded(self) -> tuple[str, str]:
        """What a vertex has to each vertex that is no negative of it, and what the pair of both is."""
        if not self.asked.only_non_edges:
            return "is itself the only vertex", "is of a vertex with itself"
        if not self.asked.exclude_self_loops:
            return "has an edge to every vertex", "is an edge of the graph"
        return "has an edge to every other vertex", "is an edge of the graph, or of a vertex with itself"

    def check(self, to_caller: Callable[[np.ndarray], np.ndarray], sources: np.ndarray) -> None:
        """Raise InputError for a source of a triplet that has no non-neighbour."""
        if self.asked.mode == "triplet" and isinstance(self._destinations, NonEdges):
            without = np.flatnonzero(self._destinations.free[sources] == 0)
            if len(without):
                vertex = to_caller(sources[without[:1]])[0]
                option = "only_non_edges" if self.asked.only_non_edges else "exclude_self_loops"
                raise InputError(
                    f"vertex {vertex}, the source of link {without[0]}, {self._excluded[0]} of a weight above 0, so no "
                    f"negative; leave such links out, or {option}=True"
                )

    def drawn(self, epoch: int, first: int, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Source and destination of the negatives of links that stand from `first` on in an epoch.

        Returns
        -------
        src, dst : int64 array of shape (links, of_each)
        """
        shape = len(sources), self.asked.of_each
        place, count = first * shape[1], shape[0] * shape[1]
        if self._sources is None:
            src = np.repeat(sources, shape[1])
        else:
            src = self._sources.at(_below(self._words(0, epoch, place, count), self._sources.total))
        words = self._words(1, epoch, place, count)
        if isinstance(self._destinations, NonEdges):
            dst = self._destinations.drawn(src, words)
        else:
            dst = self._destinations.at(_below(words, self._destinations.total))
        return src.reshape(shape), dst.reshape(shape)

    def _words(self, side: int, epoch: int, first: int, count: int) -> np.ndarray:
        return raw_words(self._seed, NEGATIVE, (side, epoch), first, count)


def _below(words: np.ndarray, total: int) -> np.ndarray:
    return scaled(words, np.int64(total))


def _weights(G: Graph, name: str, given: Any, ends: Any) -> np.ndarray | None:
    """int64, shape (vertices,): whole numbers in proportion to weights; None where all vertices are alike."""
    values = _given_weights(name, given)
    if values is None:
        return None
    if isinstance(values, str):
        src, dst = ends()
        counted = np.bincount(src if name == "src_weight" else dst, minlength=G.num_vertices)
        if not G.directed:  # a loop counts once, as in rows
            counted = np.bincount(src, minlength=G.num_vertices)
            counted = counted + np.bincount(dst[src != dst], minlength=G.num_vertices)
        values = counted
    if len(values) != G.num_vertices:
        raise InputError(f"{name} has the shape {values.shape}; one for each of {G.num_vertices} vertices is needed")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        vertex = G.ids.to_caller(bad[:1])[0]
        raise InputError(f"{name} of vertex {vertex} is {values[bad[0]]}; weights are finite, and not negative")
    if G.num_vertices and not values.any():
        raise InputError(f"{name} is 0 for all vertices; one has to be drawn")
    return units(values)


def _given_weights(name: str, given: Any) -> Any:
    """The word "degree", an array of numbers of one dimension, or None."""
    if given is None or (isinstance(given, str) and given == "degree"):
        return given
    if isinstance(given, str):
        raise InputError(f"{name}={shown(given)} is not 'degree' or an array with a number for each vertex")
    values = given_array(name, given)
    if values.ndim != 1 or (values.dtype.kind not in "buif" and len(values)):
        raise InputError(
            f"{name} has the shape {values.shape} and the dtype {values.dtype}; it has a number for each vertex"
        )
    return values


def _product(weights: np.ndarray, free: np.ndarray) -> np.ndarray:
    most = float(weights.max(initial=0)) * float(free.max(initial=0)) * max(len(free), 1)
    return weights * free if most < 2.0**BITS else units(weights.astype(np.float64) * free)
