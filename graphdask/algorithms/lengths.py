"""Lengths of paths: which weights make none, what distances are kept as, and how wide buckets of them are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.device.arrays import module_of
from graphdask.errors import InputError
from graphdask.graph.graph import Graph
from graphdask.partition.part import Part, WeightFacts
from graphdask.partition.sources import ArraySource

NARROW = 16
"""Mean degree below which buckets are made wider, as on road networks few vertices are in one."""
BREADTH = {"cpu": (0.75, 0.5), "cuda": (3.0, 96.0)}
"""Width of a bucket, in mean weights by mean degrees, in one partition and in several, of which each visits edges in
vain that another would have spared it. A GPU trades edges visited twice for fewer rounds: of R-MAT 19 in two parts 47
supersteps visit 44 M edges with 12, 15 visit 53 M with 96; R-MAT 24 in one takes an H200 18 ms with 3, 23 with 12."""
SPARSE_BREADTH = 12.0
"""The same on a GPU that has all, for a mean degree below NARROW: a grid of 1500 by 1500 takes 44 ms, and 61 with 3."""


def checked_lengths(G: Graph, facts: WeightFacts, takes: str = "") -> None:
    """Raise an InputError that names the edge if a weight cannot be a length; `takes` ends its message."""
    if facts.unfit is not None:
        u, v, weight = facts.unfit
        names = G.ids.to_caller(np.array([u, v]))
        kind = "negative" if weight < 0 else "infinite; leave the edge out"
        raise InputError(f"the weight {weight} of the edge from {names[0]} to {names[1]} is {kind}{takes}")


def fit_weights(G: Graph, takes: str, client: Any = None, progress: bool | None = None) -> WeightFacts:
    """Return the facts of the weights, after checking that none is negative or infinite.

    A graph without weights has the facts of weights of 1. If the weights are given as an array and the partitions are
    not built yet, the weights are checked before the partitions are built.
    """
    if G.built is None and isinstance(G.source, ArraySource) and G.source.weights is not None:
        checked_lengths(G, WeightFacts.of(module_of(G.source.src), G.source.src, G.source.dst, G.source.weights), takes)
    facts = execute.persist(G, client=client, progress=progress).weights or WeightFacts(1, 1, 1.0, 1)
    checked_lengths(G, facts, takes)
    return facts


def distance_range(G: Graph, facts: WeightFacts) -> tuple[np.dtype, float]:
    """Return the dtype of distances, and the limit of buckets below which distances do not overflow it.

    The dtype is float64 for float weights. It is int32 if no path of distinct vertices and one edge more can
    overflow it, or if the parents are found together with int32 distances. It is int64 otherwise.
    """
    if G.weighted and np.dtype(G.source.weight_dtype).kind == "f":
        return np.dtype(np.float64), math.inf
    greatest, largest = int(facts.greatest), np.iinfo(np.int32).max
    if greatest * G.num_vertices < largest:
        return np.dtype(np.int32), math.inf
    if facts.least > 0 and G.num_vertices < largest and 2 * greatest < largest:
        return np.dtype(np.int32), float(largest - greatest)
    return np.dtype(np.int64), math.inf


def bucket_unit(G: Graph, facts: WeightFacts) -> float:
    """Return the mean weight divided by the mean degree, or more: an estimate, on which the answer does not depend."""
    degree = max(1.0, G.source.num_edges * (1 if G.directed else 2) / max(1, G.num_vertices))
    return facts.total / max(1, facts.count) / degree * max(1.0, NARROW / degree) or 1.0


def sparse(part: Part) -> bool:
    """Return whether a part is the whole graph and has so few edges that a GPU is fastest with wide buckets and nothing
    between them."""
    return part.size == 1 and part.out.num_edges < NARROW * part.num_owned


def breadth_of(part: Part, device: str) -> float:
    """Width of a bucket in those units, where ranks go on superstep by superstep."""
    return SPARSE_BREADTH if device == "cuda" and sparse(part) else BREADTH[device][part.size > 1]
