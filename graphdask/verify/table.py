"""Which verifier proves the result of which primitive or sampler; a subclass without an entry has that of its base.

A primitive that is not in the table proves its result by its own method `verify`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphdask.algorithms.betweenness import Betweenness
from graphdask.algorithms.bfs import BreadthFirstSearch
from graphdask.algorithms.clustering import LocalClustering
from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.core_number import CoreNumber
from graphdask.algorithms.dynamic_pagerank import DynamicPageRank
from graphdask.algorithms.label_propagation import LabelPropagation
from graphdask.algorithms.pagerank import PageRank
from graphdask.algorithms.sssp import ShortestPaths
from graphdask.algorithms.strong import StrongComponents
from graphdask.algorithms.triangles import Triangles
from graphdask.algorithms.weighted_betweenness import WeightedBetweenness
from graphdask.errors import Unsupported
from graphdask.sample._steps import Framework
from graphdask.sample._walkers import Walkers
from graphdask.sample.frontier import FrontierSampling
from graphdask.sample.induced import Induced
from graphdask.sample.metapath import MetapathWalk
from graphdask.sample.one_pass import OnePassEdges
from graphdask.sample.pagerank import WalkEnds
from graphdask.sample.temporal import TemporalNeighbors
from graphdask.sample.traversal import Traversal
from graphdask.verify import (
    betweenness,
    bfs,
    clustering,
    components,
    core_number,
    dynamic_pagerank,
    framework,
    frontier,
    induced,
    label_propagation,
    metapath,
    neighborhoods,
    one_pass,
    pagerank,
    sssp,
    strong,
    temporal,
    triangles,
    walk_ends,
    walks,
    weighted_betweenness,
)

VERIFIERS: dict[type, Callable[..., Any]] = {
    Betweenness: betweenness.verify,
    BreadthFirstSearch: bfs.verify,
    ConnectedComponents: components.verify,
    CoreNumber: core_number.verify,
    DynamicPageRank: dynamic_pagerank.verify,
    Framework: framework.verify,
    FrontierSampling: frontier.verify,
    Induced: induced.verify,
    LabelPropagation: label_propagation.verify,
    LocalClustering: clustering.verify,
    MetapathWalk: metapath.verify,
    OnePassEdges: one_pass.verify,
    PageRank: pagerank.verify,
    ShortestPaths: sssp.verify,
    StrongComponents: strong.verify,
    TemporalNeighbors: temporal.verify,
    Traversal: neighborhoods.verify,
    Triangles: triangles.verify,
    WalkEnds: walk_ends.verify,
    Walkers: walks.verify,
    WeightedBetweenness: weighted_betweenness.verify,
}
"""Every rank calls `verify(context, part, primitive, result)`, which returns its first Violation, or None."""


def verifier_of(primitive: Any) -> Callable[..., Any]:
    """Return the verifier of a primitive or a sampler, called as `verify(context, part, primitive, result)`."""
    for kind in type(primitive).__mro__:
        if kind in VERIFIERS:
            return VERIFIERS[kind]
    if not hasattr(primitive, "verify"):
        raise Unsupported(
            f"{primitive.name} has no verifier; give {type(primitive).__name__} a method verify(context, part, result)"
        )
    return lambda context, part, primitive, result: primitive.verify(context, part, result)
