"""Personalised PageRank by walks: the share of a source's walks that end at a vertex.

A walk ends before each step with the probability of a restart, so it makes k steps with the probability
restart * (1 - restart)^k, and where it ends is distributed as the PageRank of which the source has all the restarts.

Sources: Fogaras, Racz, Csalogany, Sarlos, Towards scaling fully personalized PageRank: algorithms, lower bounds, and
experiments, Internet Mathematics 2 (2005), Section 2; Avrachenkov, Litvak, Nemirovsky, Osipova, Monte Carlo methods in
PageRank computation, SIAM Journal on Numerical Analysis 45 (2007), for the counts of end points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.errors import InputError
from graphdask.generate.arguments import integer, probability
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import checked_seed
from graphdask.interface.parameters import documented
from graphdask.kernels.common.tuning import ONE
from graphdask.kernels.walks.walk_ends_pack import EndingWalks
from graphdask.partition.part import Part
from graphdask.sample.result import Samples
from graphdask.sample.sampler import Placement, Sampler, checked_placement, routed, sampled
from graphdask.sample.tuning import SAMPLE
from graphdask.sample.walkers import checked_vertices, sent_to

LEAST_RESTART = 1e-6
"""So that a walk of 2^31 steps, which are counted in 32 bits, has a chance of e^-2000."""


class PersonalizedPageRank(Samples):
    """Sparse rows of personalised PageRank, in the order of the sources."""

    columns = ("source", "vertex", "estimate", "instance")
    vertex_valued = ("source", "vertex")

    @property
    def source(self) -> np.ndarray:
        """The caller's id of the source of each row."""
        return self._column("source")

    @property
    def vertex(self) -> np.ndarray:
        """The caller's id of the vertex at which walks ended."""
        return self._column("vertex")

    @property
    def estimate(self) -> np.ndarray:
        """float64: the share of the source's walks that ended there."""
        return self._column("estimate")

    @property
    def instance(self) -> np.ndarray:
        """int64: place of the source among those given."""
        return self._column("instance")


@dataclass
class WalkEndsState:
    starts: Array
    """Ids of all sources."""
    homes: Array
    """Their slots, -1 where others own them."""
    ids: Array
    """Per slot."""
    ended: list[tuple[Array, Array]] = field(default_factory=list)
    """Sources, by their places, and ids of the vertices at which walks ended."""


class WalkEnds(Sampler[WalkEndsState]):
    """The sampler: `walks` walkers from each of `sources`, which are vertex numbers; instance i is sources[i]."""

    name = "personalised PageRank"
    result_type = PersonalizedPageRank
    record_columns: ClassVar[Mapping[str, Any]] = {"instance": np.int64, "step": np.int32, "at": INDEX}

    def __init__(self, sources: np.ndarray, walks: int, restart: float, top: int | None, seed: int):
        self.sources, self.walks, self.restart, self.top = sources, walks, restart, top
        self.seed, self.first, self.last = np.uint64(seed), 0, len(sources)

    @property
    def work(self) -> int:
        return int(self.instances * self.walks / self.restart)

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Walkers as they travel, and where they have ended, sorted."""
        index, walkers = part.vertex_map.dtype.itemsize, self.instances * self.walks
        here = walkers if part.size == 1 else min(walkers, -(-2 * walkers // part.size))
        return here * (3 * (12 + index) + 48) + 2 * index * len(self.sources) + index * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[WalkEndsState, Messages]:
        xp, dtype = env.xp, part.vertex_map.dtype
        starts = env.backend.from_host(self.sources.astype(dtype))
        position = part.vertex_map.to_position(env.backend, starts).astype(dtype, copy=False)
        homes = position - dtype.type(part.first_position)
        homes[(homes < 0) | (homes >= part.num_owned)] = -1
        ids = env.fetch_ghosts(part, [part.ids])[0] if part.size > 1 else part.ids
        mine = xp.flatnonzero(homes[self.first : self.last] >= 0).astype(np.int64) + self.first
        number = xp.arange(len(mine) * self.walks, dtype=np.int64)
        number += xp.repeat(mine - xp.arange(len(mine), dtype=np.int64), self.walks) * self.walks
        at = xp.repeat(position[mine], self.walks)
        records = {"instance": number, "step": xp.zeros(len(number), np.int32), "at": at}
        bounds = np.where(np.arange(part.size + 1) > part.rank, len(number), 0)
        return WalkEndsState(starts, homes, ids), Messages.of_records(records, bounds, active=len(number) > 0)

    def superstep(self, part: Part, state: WalkEndsState, inbox: Inbox, env: Environment) -> Messages:
        came, csr = inbox.records, part.out
        instance, step = came["instance"], came["step"].copy()
        at = came["at"] - came["at"].dtype.type(part.first_position)
        kernels = env.kernels("walk_ends", index_t=at.dtype)
        batch = max(1, SAMPLE.walk_launch[env.backend.name][0] // SAMPLE.pagerank_steps)
        for begin in range(0, len(at), batch):
            if begin:
                env.backend.synchronize()
                env.check_deadline(self.name)
            some = slice(begin, min(begin + batch, len(at)))
            kernels.walk_ends(
                some.stop - begin, EndingWalks(
                    instance=instance[some], step=step[some], at=at[some], budget=SAMPLE.pagerank_steps,
                    each=self.walks, seed=self.seed, stop=np.uint64(min(ONE, round(self.restart * ONE))),
                    starts=state.starts, homes=state.homes, indptr=csr.indptr, indices=csr.indices, ids=state.ids,
                    owned=part.num_owned,
                ),
            )  # fmt: skip
        over = step < 0
        edges = int((env.xp.where(over, -1 - step, step) - came["step"]).sum(dtype=np.int64))
        state.ended.append((instance[over] // self.walks, at[over]))
        onward = ~over
        records = {"instance": instance[onward], "step": step[onward]}
        target = at[onward]
        return sent_to(part, env, records, target, active=len(target) > 0, frontier=len(at), edges=edges)

    def result(self, part: Part, state: WalkEndsState, env: Environment) -> dict[str, Array]:
        xp = env.xp
        none = xp.zeros(0, np.int64), state.starts[:0]
        instance, vertex = (xp.concatenate(pieces) for pieces in zip(none, *state.ended, strict=True))
        state.ended.clear()
        if part.size > 1:
            assert env.comm is not None
            homes = env.backend.from_host(self.homes(part.size)[1:-1])
            records, cuts = routed(
                env, xp.searchsorted(homes, instance, side="right"), {"instance": instance, "vertex": vertex}
            )
            instance, vertex = (
                xp.concatenate(
                    env.comm.alltoallv([column[int(cuts[p]) : int(cuts[p + 1])] for p in range(part.size)])
                )
                for column in (records["instance"], records["vertex"])
            )  # fmt: skip
        order = xp.argsort(vertex, kind="stable")
        order = order[xp.argsort(instance[order], kind="stable")]
        instance, vertex = instance[order], vertex[order]
        new = xp.ones(len(order), bool)
        new[1:] = (instance[1:] != instance[:-1]) | (vertex[1:] != vertex[:-1])
        begin = xp.flatnonzero(new)
        count = xp.concatenate([begin[1:], xp.full(min(len(begin), 1), len(order), begin.dtype)]) - begin
        instance, vertex = instance[begin], vertex[begin]
        if self.top is not None:
            order = xp.argsort(-count, kind="stable")
            order = order[xp.argsort(instance[order], kind="stable")]
            instance, vertex, count = instance[order], vertex[order], count[order]
            place = xp.arange(len(order)) - xp.searchsorted(instance, instance, side="left")
            kept = place < self.top
            instance, vertex, count = instance[kept], vertex[kept], count[kept]
        estimate = count.astype(np.float64) / self.walks
        return {"source": state.starts[instance], "vertex": vertex, "estimate": estimate, "instance": instance}


@documented
def personalized_pagerank(
    G: Graph,
    sources: Any,
    walks: int = 10_000,
    *,
    restart: float = 0.15,
    top: int | None = None,
    seed: int = 0,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> PersonalizedPageRank:
    """Personalised PageRank of some sources, estimated from where walks of geometric lengths end.

    Parameters
    ----------
    G : Graph
        Walks go along out-edges, uniformly; parallel edges count as often as they stand there.
    sources : int, str or array-like of shape (k,)
        By the caller's ids; each has a PageRank of its own.
    walks : int
        Walks from each source, 1 or more. The estimate of a rank r has the standard error sqrt(r (1 - r) / walks).
        With 10,000 walks, the standard error of a rank of 0.001 is about a third of the rank.
    restart : float
        The probability with which a walk ends before each step, from 1e-6 to 1: 1 minus the damping factor of PageRank.
    top : int, optional
        Rows of a source at most, those of the largest estimates. Default: all vertices at which a walk ended.
    seed : int
        Of the random numbers, 0 to 2**64 - 1.

    Returns
    -------
    PersonalizedPageRank
        `source`, `vertex`, `estimate`, `instance`: a row for each vertex at which a walk of a source ended, the rows of
        a source together in the order of `vertex_ids`; with `top`, the largest estimates first. Estimates are without
        bias, and those of a source sum to 1 where `top` is not given.

    Raises
    ------
    VertexNotFound
        If a source is not a vertex.
    InputError
        If an argument has a value that is not allowed.

    Notes
    -----
    A walk that is to go on from a vertex without out-edges goes on from its source, as in `networkx.pagerank` where the
    dangling nodes follow the personalisation. Rows are identical bit for bit for every number of workers, in both
    placements and on every device.

    References
    ----------
    Fogaras, Racz, Csalogany, Sarlos: Towards scaling fully personalized PageRank, Internet Mathematics 2 (2005).
    Avrachenkov, Litvak, Nemirovsky, Osipova: Monte Carlo methods in PageRank computation, SIAM Journal on Numerical
    Analysis 45 (2007).

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([10, 20], [20, 30])
    >>> r = gd.sample.personalized_pagerank(G, 10, 1000, restart=0.5)
    >>> r.vertex.tolist(), r.estimate.round(1).tolist()
    ([10, 20, 30], [0.6, 0.3, 0.2])
    """
    where = checked_placement(placement)
    checked_graph(G)
    numbers = checked_vertices(G, sources, "source")
    count, chance = integer("walks", walks), probability("restart", restart)
    if count < 1 or count * len(numbers) >= 2**62:
        raise InputError(f"walks={count} must be 1 or more, and of all sources together below 2**62")
    if chance < LEAST_RESTART:
        raise InputError(f"restart={chance} is below {LEAST_RESTART}; walks would be too long")
    if top is not None and integer("top", top) < 1:
        raise InputError(f"top={top} must be 1 or more")
    sampler = WalkEnds(numbers, count, chance, top, checked_seed(seed))
    found: PersonalizedPageRank = sampled(G, sampler, where, client, progress)
    return found
