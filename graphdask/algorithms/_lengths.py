"""Lengths of paths: which weights make none, what distances are kept as, and how wide buckets of them are."""

from __future__ import annotations

import math

import numpy as np

from graphdask.errors import InputError
from graphdask.graph import Graph
from graphdask.part import WeightFacts

NARROW = 16
"""Mean degree below which buckets are made wider, as on road networks few vertices are in one."""


def checked_lengths(G: Graph, facts: WeightFacts) -> None:
    """Refuse weights that make no length of a path, naming the edge."""
    if facts.unfit is not None:
        u, v, weight = facts.unfit
        names = G.ids.to_caller(np.array([u, v]))
        kind = "negative" if weight < 0 else "infinite; leave the edge out"
        raise InputError(f"the weight {weight} of the edge from {names[0]} to {names[1]} is {kind}")


def distance_range(G: Graph, facts: WeightFacts) -> tuple[np.dtype, float]:
    """What distances are kept as, and where buckets are to end lest they leave it: float64; int32, where no path of
    distinct vertices and one edge more can leave it, or where its parents are found with it; or int64."""
    if G.weighted and np.dtype(G.source.weight_dtype).kind == "f":
        return np.dtype(np.float64), math.inf
    greatest, largest = int(facts.greatest), np.iinfo(np.int32).max
    if greatest * G.num_vertices < largest:
        return np.dtype(np.int32), math.inf
    if facts.least > 0 and G.num_vertices < largest and 2 * greatest < largest:
        return np.dtype(np.int32), float(largest - greatest)
    return np.dtype(np.int64), math.inf


def bucket_unit(G: Graph, facts: WeightFacts) -> float:
    """The mean weight divided by the mean degree, or more; an estimate, on which the answer does not depend."""
    degree = max(1.0, G.source.num_edges * (1 if G.directed else 2) / max(1, G.num_vertices))
    return facts.total / max(1, facts.count) / degree * max(1.0, NARROW / degree) or 1.0
