"""Single-source shortest paths by buckets of distances (graphdask.engine.bucket_search, near-far).

State: a label for every slot of the partition: its distance and, if a word can hold both, its parent. An own vertex
whose label falls below the limit of the bucket relaxes its out-edges, the label of a ghost is sent to its owner.

Distances do not depend on the order of events: see `sssp`.

Parents. Where every edge has a whole weight above 0 and distances fit into 31 bits, a label is the distance times 2^32
plus the id of the parent, and labels fall like distances. The label of v ends as the smallest of distance[v] and
an u with distance[u] + weight == distance[v], the parent that `sssp` promises. For u relaxes all its edges once its
distance is final, so every such pair is offered; and no other pair at this distance is, because the distances that u
had earlier were larger and so were their sums. These u are nearer to the source, so they are in no later bucket than v:
a label that falls on a rank's ghost of v is below the limit when it does, or waits among the far ones, and is sent to
the owner. That holds also for a label that falls only in its lower half, which makes no vertex near. The source, at
distance 0, is offered nothing smaller than the label with its own id. A slot that is never reached has the largest
label, whose lower half reads as -1. So the owner has distance and parent at the end, and the ghosts are not needed.

The sums stay below 2^31 - 1: along the walk that made a label, a vertex of this rank does not come twice, as its label
at the second time would have to be below that at the first, and all weights are above 0; only the last vertex of the
walk may be a ghost whose owner has long had a smaller label. So no walk has more than n - 1 edges, one that closes a
cycle n, and `distance_range` checks n times the largest weight. If that is too large, sums mostly stay below all the
same: a vertex that is relaxed lies below the end of a bucket, and no bucket ends farther than the largest weight below
2^31 - 1. If the nearest far vertex lies beyond, the search is repeated with 64-bit distances.

Otherwise labels are distances, and `shortest_tree` finds the parents afterwards. There are two reasons: an edge of
weight 0, or one whose weight is lost to rounding, joins equal distances; and a 64-bit distance fills the label.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms._sources import given_sources, given_targets
from graphdask.algorithms._sssp_team import TEAM_BREADTH, TeamPaths
from graphdask.algorithms.bfs import SearchFrom
from graphdask.algorithms.lengths import breadth_of, bucket_unit, distance_range, fit_weights, sparse
from graphdask.algorithms.shortest_tree import Parents, level_part, tree_memory, unreached, weights_of
from graphdask.algorithms.sssp_state import SsspState
from graphdask.algorithms.summaries import TARGETS, middle, reached
from graphdask.device.ahead import Family, family
from graphdask.device.backend import Array
from graphdask.device.counting import all_set
from graphdask.engine.bucket_search import Bucket, BucketSearch
from graphdask.engine.buckets import VOTES, Buckets
from graphdask.engine.buffers import Allocation, exchange_bytes
from graphdask.engine.checkpoints import Resumable, Saved, lowered, named
from graphdask.engine.loop import HUB_THREADS, Environment, Inbox, Messages
from graphdask.engine.targets import DistanceStop
from graphdask.engine.team import Peers, TeamMemory
from graphdask.errors import GraphdaskWarning, InputError, outside
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import number
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.kernels.sssp.sssp_pack import Relaxing
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Part
from graphdask.results.result import Result

NO_VERTEX = np.iinfo(np.int64).max
NUMBERS = (int, float, np.integer, np.floating)


class ShortestPathsResult(Result):
    """Result of `sssp`."""

    columns = ("distance", "parent")
    vertex_valued = ("parent",)

    @property
    def distance(self) -> np.ndarray:
        """Length of a shortest path from the nearest source, -1 or inf where not reached; shape (num_vertices,)."""
        return self._column("distance")

    @property
    def parent(self) -> np.ndarray:
        """The caller's id of the parent on a shortest path; a source is its own, -1 or None where not reached."""
        return self._column("parent")

    @property
    def reached(self) -> np.ndarray:
        """Whether the search found a path to the vertex; bool, shape (num_vertices,)."""
        distance = self._column("distance")
        return distance != (np.inf if distance.dtype.kind == "f" else -1)


class ShortestPaths(BucketSearch[SsspState], Resumable):
    """The primitive."""

    name = "SSSP"
    result_type = ShortestPathsResult
    finds_parents = True  # as edges are relaxed, where that can be (`_finds_parents`)

    def __init__(
        self, sources: tuple[int, ...], delta: float | None, unit: float, distance: np.dtype, flat: bool,
        most: float = math.inf, cutoff: float = math.inf, targets: tuple[int, ...] = (),
    ):  # fmt: skip
        """`delta`, or where it is left open BREADTH times `unit`, is the width of a bucket, `distance` the dtype of the
        distances, and `most` where the last bucket ends; `flat` says that edges of weight 0 are to be reckoned with."""
        super().__init__(sources, delta, most, cutoff, targets)
        self.unit, self.distance, self.flat = unit, distance, flat
        self.with_parents = distance == np.int32 and not flat
        self.label = np.dtype(np.int64) if self.with_parents else distance
        self.columns = {"label": self.label}  # type: ignore[misc]  # the only one that depends on the graph

    @property
    def parents_in_any_order(self) -> bool:
        """Whether a label can hold the parent in whatever order edges are relaxed."""
        return self.with_parents and self.most == math.inf

    def _finds_parents(self, part: Part) -> bool:
        """Whether the search finds parents as it relaxes edges: of floats, by a CPU that has the whole graph, if it
        goes on to the end."""
        whole = part.size == 1 and isinstance(part.out.indptr, np.ndarray)
        return whole and self.finds_parents and self.distance.kind == "f" and not self.stops

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        if weight is None:
            return ()
        search: dict[str, Any] = {"index_t": index, "weight_t": weight, "dist_t": self.distance, "label_t": self.label}
        tree: dict[str, Any] = {"index_t": index, "weight_t": weight, "dist_t": self.distance}
        result = family("sssp", cooperative=True, **search) if self.with_parents else family("sssp_tree", **tree)
        return family("sssp_team", cooperative=True, **search), result

    def memory(self, part: Part, allocation: Allocation) -> int:
        return self._memory(part, allocation, exchange_bytes(part, self.label.itemsize, joined=True))

    def team_bytes(self, peers: Peers, part: Part, env: Environment) -> int:
        return self._memory(part, env.allocation, 0) + TeamPaths.nbytes(peers, part, env, self.label)

    def team_memory(self, peers: Peers, part: Part, env: Environment) -> TeamMemory:
        return TeamPaths.memory(peers, part, env, self.label)

    def peers(self, part: Part, env: Environment) -> Peers | None:
        return env.peers(alone=not sparse(part))

    def _memory(self, part: Part, allocation: Allocation, exchange: int) -> int:
        """The bytes, with so many for the exchange of the search."""
        index, queues = part.vertex_map.dtype.itemsize, Buckets.entries(part, allocation, len(self.sources))
        search = (self.label.itemsize + 4 + index * self._finds_parents(part)) * part.num_slots + index * queues
        tree = 0 if self.with_parents else tree_memory(part, self.distance, self.flat)
        return max(exchange + search, tree)

    def facts(self) -> dict[str, Any]:
        facts = {"sources": named(self.sources), "targets": named(self.targets), "dtype": self.distance.name}
        return facts | {"cutoff": None if self.cutoff == math.inf else self.cutoff}

    def saved(self, part: Part, state: SsspState, inbox: Inbox, env: Environment) -> Saved:
        voted = VOTES.of(inbox.votes)
        begun = state.begun if voted.busy else voted.nearest
        return {"label": lowered(state.labels[: part.num_owned], inbox, "label", env)}, {"begun": begun}

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[SsspState, Messages]:
        """Let all vertices below the end of the bucket relax their edges again: what led to ghosts is not known."""
        labels = env.xp.full(part.num_slots, unreached(self.label), self.label)
        labels[: part.num_owned] = columns["label"]
        far = places_of(env.xp, labels != unreached(self.label)).astype(part.vertex_map.dtype)
        state = self._begun(part, env, labels, far, numbers["begun"])
        return state, self.send(state)

    def before(self, part: Part, env: Environment, sources: Array, peers: Peers | None, together: bool) -> SsspState:
        labels = env.xp.full(part.num_slots, unreached(self.label), self.label)
        sources = env.backend.from_host(sources)
        if len(sources):
            labels[sources] = part.ids[sources] if self.with_parents else 0
        state = self._begun(part, env, labels, sources, 0.0)
        if self._finds_parents(part):
            state.find_parents(part, sources)
        return state

    def _begun(self, part: Part, env: Environment, labels: Array, far: Array, nearest: float) -> SsspState:
        """The state with own vertices that are far, the nearest of them in the bucket of a distance, or before it."""
        weights, each = weights_of(part.out, env.xp)
        search = Relaxing(
            indptr=part.out.indptr, indices=part.out.indices, weights=weights, each=each, ids=part.ids, labels=labels
        )  # fmt: skip
        starts, near = len(self.sources), nearest if len(far) else math.inf
        return SsspState(
            frontier=Buckets.of(part, env, self.name, search, far, nearest, starts, self.distance),
            stop=DistanceStop(part, env, self.cutoff, self.targets, self.distance),
            far=len(far), nearest=near, labels=labels, weights=weights, each=each,
        )  # fmt: skip

    def team(self, part: Part, state: SsspState, memory: TeamMemory, env: Environment) -> TeamPaths:
        delta, widens = self.delta or self.unit * TEAM_BREADTH, self.delta is None
        kernels = self._kernels(part, state, env, "sssp_team")
        return TeamPaths(memory, part, env, kernels, state, delta, widens, self.most, bool(self.targets))

    def _kernels(self, part: Part, state: SsspState, env: Environment, family: str = "sssp") -> Any:
        types = {"index_t": part.vertex_map.dtype, "weight_t": state.weights.dtype}
        return env.kernels(family, cooperative=True, **types, dist_t=self.distance, label_t=self.label)

    def values(self, state: SsspState) -> dict[str, Array]:
        return {"label": state.labels}

    def farthest(self, state: SsspState) -> float:
        return state.stop.farthest(state.labels)

    def width(self, part: Part, env: Environment) -> float:
        return self.unit * breadth_of(part, env.backend.name)

    def arrive(self, part: Part, state: SsspState, inbox: Inbox, env: Environment) -> None:
        assert state.frontier is not None
        end = part.num_slots if env.exchange == "broadcast" else part.num_owned
        self._kernels(part, state, env).sssp_arrive(
            len(inbox), state.step, state.split, inbox.unchecked, inbox.columns["label"], end, state.frontier.search
        )

    def relax(self, part: Part, state: SsspState, bucket: Bucket, env: Environment) -> np.ndarray | None:
        assert state.frontier is not None
        self._kernels(part, state, env).sssp_advance(
            HUB_THREADS, state.step, state.split, bucket.splits, bucket.enough, bucket.nearest, bucket.width,
            bucket.most, state.superstep, state.frontier.search,
        )  # fmt: skip
        return None

    def result(self, part: Part, state: SsspState, env: Environment) -> dict[str, Any]:
        xp, owned = env.xp, part.num_owned
        state.frontier = None
        if state.too_far:
            del state.labels
            wide = type(self)(
                self.sources, self.delta, self.unit, np.dtype(np.int64), self.flat, cutoff=self.cutoff,
                targets=self.targets,
            )  # fmt: skip
            again = env.run(part, wide)
            return {**again.columns, **again.values}
        if self.with_parents:
            own, parent = xp.empty(owned, np.int64), xp.empty(owned, part.vertex_map.dtype)
            self._kernels(part, state, env).sssp_result(owned, state.labels, own, parent)
            if self.stops:
                beyond = state.stop.beyond(part, own)
                own[beyond], parent[beyond] = -1, -1
            return {"distance": own, "parent": parent, "too_far": NO_VERTEX}
        if self.stops:
            own = state.labels[:owned]
            own[state.stop.beyond(part, own)] = unreached(self.distance)
        (state.labels,) = env.fetch_ghosts(part, [state.labels[:owned]])
        own = state.labels[:owned]
        found = {"parent": state.parents} if state.parents is not None else None
        found = found or env.run(part, Parents(state.labels, self.sources)).columns
        parent, reached = found["parent"][:owned], own != unreached(self.distance)
        rooted = parent != np.iinfo(parent.dtype).max
        beyond = part.ids[rooted & ~reached] if not self.stops else part.ids[:0]
        too_far = env.least(int(beyond.min()) if len(beyond) else NO_VERTEX)
        if not env.least(int(all_set(rooted | ~reached))):
            flat = level_part(part, env, state.labels, part.ids[:0], found["level"], tree=False)
            nearer = SearchFrom(xp.flatnonzero(rooted).astype(part.vertex_map.dtype))
            parent = xp.where(rooted, parent, env.run(flat, nearer).columns["parent"])
        parent = xp.where(reached, parent, parent.dtype.type(-1))
        if self.distance.kind != "f":
            own = xp.where(reached, own, self.distance.type(-1)).astype(np.int64)
        return {"distance": own, "parent": parent, "too_far": too_far}


UNWEIGHTED = (
    "sssp counts every edge as 1, because the graph has no weights; make or read the graph with weights, or use bfs, "
    "which is faster and whose depth is the same"
)


def search_from(
    G: Graph, sources: tuple[int, ...], delta: float | None, client: Any, progress: bool | None,
    cutoff: float = math.inf, targets: tuple[int, ...] = (), kind: type[ShortestPaths] = ShortestPaths,
) -> ShortestPaths:  # fmt: skip
    """Return the primitive of a search from vertex numbers, with what it needs to know about the weights."""
    facts = fit_weights(G, "; sssp takes weights of 0 or more", client, progress)
    distance, most = distance_range(G, facts)
    return kind(sources, delta, bucket_unit(G, facts), distance, facts.least == 0, most, cutoff, targets)


SUMMARY = reached("distance")


@algorithm(
    "sssp", ShortestPathsResult, "Shortest paths from a vertex by the sums of their weights, and parents.",
    summary=SUMMARY[0], words=SUMMARY[1], weights=True,
    options={
        "cutoff": Option("Distance up to which to search.  [default: any]", metavar="DISTANCE"), "targets": TARGETS,
        "delta": Option("Width of a bucket of distances. Default: an estimate.", metavar="WIDTH"),
    },
    also="dijkstra shortest_path shortest_paths shortest_path_length single_source_shortest_path bellman_ford "
    "single_source_dijkstra single_source_dijkstra_path_length delta_stepping distances",
    example=middle,
)  # fmt: skip
@documented
def sssp(
    G: Graph,
    source: Any,
    *,
    cutoff: float | None = None,
    targets: Any = None,
    delta: float | None = None,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> ShortestPathsResult:
    """Single-source shortest paths: the least sum of weights over all paths from `source`, along the edges' direction.

    Parameters
    ----------
    G : Graph
        Weights must be neither negative nor infinite; zero is allowed. Without weights every edge has the length 1, and
        a GraphdaskWarning says so.
    source : int, str or array-like
        A vertex, by the caller's id, or several distinct ones. Distances are those from the nearest of them.
    cutoff : float, optional
        The distance at which the search stops: vertices that are farther away stay unreached. Default: none.
    targets : int, str or array-like, optional
        A vertex or several, after which the search stops: every vertex that is no farther away than the farthest
        target is reached, and no other one. If a target is unreachable, or beyond `cutoff`, the search goes on as
        without targets. Default: none.
    delta : float, optional
        Width of a bucket of distances, above 0. Wide buckets need fewer supersteps, narrow buckets relax fewer edges
        twice. The answer is the same. Default: an estimate from the mean weight and the mean degree; CPUs, and GPUs of
        a host that run supersteps together, widen it if a bucket holds little work.

    Returns
    -------
    ShortestPathsResult
        With `distance` and `parent`, both of shape (num_vertices,) in the order of `G.vertex_ids`, identical bit for
        bit for every number of partitions and on every device.

        If the search stopped, distances and parents are those of a search that did not, up to the distance at which it
        stopped; vertices beyond are not reached. `verify` proves that.

        `distance` is int64 and exact if weights are integers or absent, and -1 for unreachable vertices. It is float64
        if weights are floats, and inf for unreachable vertices.

        `parent` is the predecessor on a shortest path: the smallest id among those neighbours u with
        `distance[u] + weight == distance[v]` that are nearer to the source than v. If there is none, because the
        last edges of all shortest paths add nothing to the sum, it is the smallest id among those neighbours at the
        same distance that are fewest such edges away from a vertex that has a nearer one. So parents form a tree. The
        source is its own parent. Unreachable vertices have -1, or None if ids are strings.

    Raises
    ------
    VertexNotFound
        If a source or a target is not a vertex.
    InputError
        If `G` is not a Graph, a source is given twice, `source` or `targets` is empty, a weight is negative or
        infinite (naming the edge), a distance is too large for its dtype (naming the vertex), or an argument has an
        invalid value.

    Notes
    -----
    A floating distance is the least among the sums, over all paths, that are added up from the source on, each partial
    sum rounded to float64. It does not depend on the order in which edges are relaxed: rounding is monotone, so a <= b
    gives a + w <= b + w, and a + w >= a as w is not negative. Every value that a vertex ever has is such a sum over a
    walk, and walks are never shorter than the paths within them; so no value is below that least sum. At the end no
    edge can relax, and along any path, edge by edge, the distance is at most its sum; so it is not above either.

    References
    ----------
    Davidson, Baxter, Garland, Owens: Work-efficient parallel GPU methods for single-source shortest paths, IPDPS 2014.
    Meyer, Sanders: Delta-stepping: a parallelizable shortest path algorithm, Journal of Algorithms 49 (2003).
    Pan, Wang, Wu, Yang, Owens: Multi-GPU Graph Analytics, IPDPS 2017, Section IV.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1], [1, 2, 2], weights=[1, 5, 2], num_vertices=4)
    >>> r = gd.sssp(G, 0)
    >>> r.distance.tolist(), r.parent.tolist()
    ([0, 1, 3, -1], [0, 0, 1, -1])
    >>> gd.sssp(G, 0, cutoff=2).distance.tolist()
    [0, 1, -1, -1]
    """
    checked_graph(G)
    if delta is not None and not (isinstance(delta, NUMBERS) and not isinstance(delta, bool) and delta > 0):
        raise InputError(f"delta={delta!r} is not a number above 0")
    limit = math.inf if cutoff is None else number("cutoff", cutoff, 0, math.inf)
    sources, aims = given_sources(G, source), given_targets(G, targets)
    if not G.weighted:
        warnings.warn(UNWEIGHTED, GraphdaskWarning, stacklevel=outside())
    search = search_from(G, sources, None if delta is None else float(delta), client, progress, limit, aims)
    result: ShortestPathsResult = execute.run(
        G,
        search,
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
    too_far = result._value("too_far")
    if too_far != NO_VERTEX:
        raise InputError(
            f"the distance of vertex {G.ids.to_caller(np.array([too_far]))[0]} is too large for "
            f"{'float64' if search.distance.kind == 'f' else 'int64'}; scale the weights down"
        )
    return result
