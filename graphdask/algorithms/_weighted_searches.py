"""Searches for distances by weight from one of several sources, for betweenness, closeness and harmonic centrality."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.algorithms.lengths import bucket_unit, distance_range, fit_weights
from graphdask.algorithms.shortest_tree import unreached
from graphdask.algorithms.sssp import NO_VERTEX, ShortestPaths
from graphdask.algorithms.sssp_state import SsspState
from graphdask.engine.loop import Environment
from graphdask.errors import InputError
from graphdask.graph.graph import Graph
from graphdask.partition.part import Part


@dataclass(frozen=True)
class Lengths:
    """How a search keeps distances and what it makes of weights; see ShortestPaths."""

    unit: float
    distance: np.dtype
    flat: bool
    most: float
    checked: bool = True
    """Whether a distance may be too large for its dtype."""

    @classmethod
    def of(cls, G: Graph, name: str, client: Any, progress: bool | None) -> Lengths:
        """Those of a graph, whose weights must be neither negative nor infinite; `name` is the caller's in messages."""
        facts = fit_weights(G, f"; {name} takes weights of 0 or more", client, progress)
        distance, most = distance_range(G, facts)
        longest = float(facts.greatest) * max(G.num_vertices, 1)
        largest = float(np.finfo(np.float64).max) if distance.kind == "f" else 2.0**62
        return cls(bucket_unit(G, facts), distance, facts.least == 0, most, not longest < largest)


class Distances(ShortestPaths):
    """A search for distances alone."""

    finds_parents = False

    def __init__(self, source: int, lengths: Lengths):
        super().__init__((source,), None, lengths.unit, lengths.distance, lengths.flat, lengths.most)
        self.lengths = lengths

    def result(self, part: Part, state: SsspState, env: Environment) -> dict[str, Any]:
        xp, owned = env.xp, part.num_owned
        state.frontier = None
        if state.too_far:
            del state.labels
            wide = replace(self.lengths, distance=np.dtype(np.int64), most=np.inf)
            return dict(env.run(part, Distances(self.sources[0], wide)).columns)
        own = state.labels[:owned]
        if self.distance.kind == "f":
            return {"distance": own}
        none = unreached(self.label)
        wide = own >> 32 if self.with_parents else own.astype(np.int64)
        return {"distance": xp.where(own == none, np.int64(np.iinfo(np.int64).max), wide)}


def raise_too_far(G: Graph, result: Any) -> None:
    """Refuse a graph in which a path is too long for the dtype of distances."""
    too_far = result._value("too_far")
    if too_far != NO_VERTEX:
        raise InputError(
            f"the distance of vertex {G.ids.to_caller(np.array([too_far]))[0]} from a source is too large; scale the "
            f"weights down"
        )
