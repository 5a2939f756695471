"""Modularity of communities that are given: by how much more of the weight is within them than at random.

A rank adds up the weights of its edges whose ends have the same label, and sends the weighted degree of each vertex to
the owner of its label. All sums are exact (graphdask.algorithms.communities), and the quotient is rounded once.

Source: Newman, Girvan, Finding and evaluating community structure in networks (2004), with the resolution of Reichardt,
Bornholdt, Statistical mechanics of community detection (2006).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.communities import Arcs, add_up, given_labels, modularity_of, sums_of_labels, total_of
from graphdask.algorithms.lengths import fit_weights
from graphdask.device.backend import Array
from graphdask.device.counting import count_set
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Messages
from graphdask.engine.owners import sum_at
from graphdask.engine.without_supersteps import WithoutSupersteps
from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.kinds import number
from graphdask.interface.parameters import ERRORS, SHARED, UNDIRECTED, described
from graphdask.interface.registry import Option, algorithm
from graphdask.partition.part import Part
from graphdask.results.result import Result

MOST_RESOLUTION = 1e9


class CommunitiesResult(Result):
    """Communities: a label for each vertex, and the modularity of the labels."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest vertex id of the vertex's community; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("label")

    @property
    def modularity(self) -> float:
        """The modularity of the communities, rounded once; 0 if the graph has no edges of a weight above 0."""
        return float(self._value("modularity"))

    @property
    def num_communities(self) -> int:
        """The number of communities."""
        return int(self._value("num_communities"))


class ModularityResult(CommunitiesResult):
    """What `modularity` returns; `float(result)` is the modularity."""

    def __float__(self) -> float:
        return self.modularity


class Modularity(WithoutSupersteps[dict[str, Any]]):
    """The primitive; `labels` are the smallest vertex numbers of the communities."""

    name = "modularity"
    columns: ClassVar[Mapping[str, Any]] = {"label": INDEX}
    result_type = ModularityResult
    queues = False

    def __init__(self, labels: np.ndarray, resolution: float):
        self.labels, self.resolution = labels, resolution

    def memory(self, part: Part, allocation: Allocation) -> int:
        return Arcs.memory(part) + self.labels.nbytes + part.num_owned * 40 + part.num_slots * 8

    def init(self, part: Part, env: Environment) -> tuple[dict[str, Any], Messages]:
        own = self.labels[env.backend.to_host(part.ids)]
        label = env.backend.from_host(own.astype(part.vertex_map.dtype))
        found = measured(part, env, Arcs.of(part, env), label, self.resolution)
        return {"label": label} | found, Messages.none(part.size, frontier=part.num_owned, edges=part.out.num_edges)


def measured(part: Part, env: Environment, arcs: Arcs, label: Array, resolution: float) -> dict[str, Any]:
    """Modularity and number of the communities whose labels own vertices have. Every rank calls it."""
    xp = env.xp
    (labels,) = env.fetch_ghosts(part, [label])
    inside = arcs.weights[labels[arcs.rows] == labels[arcs.slots]]
    degree = sum_at(xp, part.num_owned, arcs.rows, arcs.weights)
    sums = sums_of_labels(part, env, label, degree)
    (communities,) = add_up(env, [count_set(label == part.ids)])
    return {
        "modularity": modularity_of(env, arcs.total, total_of(inside), sums, resolution),
        "num_communities": communities,
        "resolution": resolution,
    }


def checked_resolution(resolution: Any) -> float:
    """Return the resolution as a float."""
    return number("resolution", resolution, 0, MOST_RESOLUTION)


def checked_weights(G: Graph, client: Any, progress: bool | None) -> None:
    """Raise InputError if a weight is negative or infinite."""
    fit_weights(G, "; communities need weights of 0 or more", client, progress)


WEIGHTED_ERRORS = """
InputError
    If `G` is not a Graph or is directed, a weight is negative or infinite, or an argument has an invalid value.
"""
_described = partial(described, shared=UNDIRECTED + SHARED, errors=WEIGHTED_ERRORS + ERRORS)


def _summary(result: ModularityResult) -> dict[str, Any]:
    return {"modularity": result.modularity, "communities": result.num_communities}


def _words(found: dict[str, Any]) -> str:
    return f"modularity {found['modularity']:.4f}, {terminal.count(found['communities'], 'community')}"


@algorithm(
    "modularity", ModularityResult, "Modularity of communities that a file names.", summary=_summary, words=_words,
    undirected=True, weights=True, also="community_modularity modularity_score",
    options={"resolution": Option("0 or more; with more of it small communities are better.")},
    example=lambda G: {"labels": np.arange(G.num_vertices) % 3},
)  # fmt: skip
@_described
def modularity(
    G: Graph,
    labels: Any,
    resolution: float = 1.0,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> ModularityResult:
    """Return the modularity of communities of an undirected graph: how much of the weight is within them, compared to
    what is expected at random.

    With A(u, v) the weight between u and v, k(v) their sum over u, and 2m that of all k, the modularity is the sum of
    A(u, v) - resolution * k(u) * k(v) / 2m over all pairs of vertices of the same community, divided by 2m. The weight
    of a self-loop counts twice at its vertex, and parallel edges add up, as in NetworkX. An edge has weight 1 if the
    graph has no weights.

    Parameters
    ----------
    labels : array-like or mapping
        The community of each vertex: an array of shape (num_vertices,) in the order of `G.vertex_ids`, such as
        `gd.label_propagation(G).label`, or a mapping from vertex ids. Vertices of equal labels are one community;
        labels are numbers or strings.
    resolution : float
        0 or more; 1 is the modularity of Newman and Girvan. With more of it small communities are better, with less
        large ones.

    Returns
    -------
    ModularityResult
        `modularity`, which `float(result)` gives too, `num_communities`, and `label`, the smallest vertex id of each
        vertex's community, in the order of `G.vertex_ids`. All are identical for every number of partitions and on
        every device. The modularity of a graph without edges is 0.

    Notes
    -----
    Sums are exact, and the result is rounded once. Weights of which the sum is 2**52 or more, and weights that are not
    integers, are rounded first, to about 2**-52 of their sum.

    References
    ----------
    Newman, Girvan: Finding and evaluating community structure in networks, Physical Review E 69 (2004). Reichardt,
    Bornholdt: Statistical mechanics of community detection, Physical Review E 74 (2006).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], directed=False)
    >>> r = gd.modularity(G, ["a", "a", "a", "b", "b", "b"])
    >>> round(r.modularity, 4), r.num_communities, r.label.tolist()
    (0.3571, 2, [0, 0, 0, 3, 3, 3])
    """
    checked_undirected(G, "modularity")
    resolution = checked_resolution(resolution)
    if isinstance(labels, CommunitiesResult):
        raise InputError("labels is a result; give its labels, r.label")
    given = given_labels(G, labels)
    checked_weights(G, client, progress)
    return execute.run(G, Modularity(given, resolution), exchange=exchange, client=client, progress=progress)
