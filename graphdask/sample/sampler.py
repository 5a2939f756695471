"""Sampler: a primitive whose work is divided by instances, not by vertices.

An instance is one walk, or one sampled subgraph. What it draws depends on the seed, its number and its steps alone, so
it comes out the same wherever it runs: on a worker that holds the whole graph (instances are divided among the workers,
which say nothing to each other), or on the owners of the vertices that it visits (instances travel).

Source: Pandey et al., c-saw, Sections III and V.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from graphdask import execute
from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, Primitive
from graphdask.errors import InputError, Unsupported, shown
from graphdask.graph.graph import Graph
from graphdask.partition.part import Part, WeightFacts
from graphdask.sample.streamed import Streamed

S = TypeVar("S")
N = TypeVar("N", bound="Sampler[Any]")

PLACEMENTS = ("auto", "replicated", "partitioned", "streamed")

Placement = str | Streamed
"""What `placement=` may be."""


class Sampler(Primitive[S]):
    """A primitive over instances `first` to `last` - 1, whose rows of results stand in the order of the instances.

    With a partition of the whole graph (`part.size == 1`) every instance is at home; else `superstep` sends records to
    the owners of vertices, and at the end the results to each instance's home, the rank `home` says.
    """

    ghosts = "all"
    remedy = "draw fewer instances at a time (graphdask.sample.in_chunks), use more workers"
    columns: ClassVar[Mapping[str, Any]] = {}
    first: int = 0
    last: int = 0
    by_partitions: ClassVar[bool] = False
    """Whether a device visits one partition after the other of a graph in host memory; else it reads all in place."""
    on_disk: ClassVar[bool] = False
    """Whether `graphdask.stream.sampling` draws it from a store."""
    origin: int = 0
    """The instance that what is kept of each instance begins with."""
    cut: ClassVar[tuple[str, ...]] = ()
    """Attributes that have an element for each instance."""
    numbered = False
    """Whether it says of every edge which row of what the caller gave it is."""
    gives_edges: ClassVar[bool] = False
    """Whether it does where it is `numbered`; its samples are edges, which `taken` lists."""
    placed: ClassVar[bool] = True
    """Whether the function of it has an argument `placement`."""
    undivided: ClassVar[str] = ""
    """Why it cannot draw some instances at a time, and what to do; empty where it can."""

    column_numbers: Mapping[tuple[str, str], int] = {}
    """Of the columns of `edges` and `vertices` that functions read (`reads`): which array of the kernels each is."""
    bias: Any = None
    """What edges are drawn by, if that is a name or several."""
    method: str = ""
    """How a biased edge is drawn, if there are several ways."""
    revisit: bool = False
    """Whether vertices may be drawn more than once."""
    restart: float = 0.0
    jump: float = 0.0
    """Probabilities that a step of a walk goes to the start, or to any vertex."""

    def check(self, graph: Graph, weights: WeightFacts | None) -> None:
        """Raise InputError where the weights of a graph are none to sample by, given what is known of all of them."""

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Any:
        """The edges of its samples, graphdask.sample.taken.Taken; those here begin with instance `first`."""
        raise AssertionError(f"samples of {self.name} are no edges")

    def prepare(self, part: Part, env: Environment) -> None:
        """Make the tables by edge that are kept with a partition of the whole graph, as far as there are any."""

    @property
    def work(self) -> int:
        """About how many edges are drawn; one process takes several threads where they are many."""
        return self.instances

    @property
    def instances(self) -> int:
        """How many instances there are here."""
        return self.last - self.first

    def share(self, rank: int, size: int) -> Self:
        """The same sampler for the instances that are at home on a rank, without what the others begin with."""
        bounds = self.homes(size)
        return self.only(int(bounds[rank]), int(bounds[rank + 1]))

    def chunk(self, first: int, last: int) -> Self:
        """The same sampler for instances `first` to `last` - 1; raise Unsupported where it draws for all together."""
        if self.undivided:
            raise Unsupported(f"{self.name} {self.undivided}")
        return self.only(first, last)

    def only(self, first: int, last: int) -> Self:
        """The same sampler for instances `first` to `last` - 1, without what the others begin with."""
        some = copy.copy(self)
        for name in self.cut:
            setattr(some, name, self.of(getattr(self, name), first, last))
        some.first, some.last = first, last
        if self.cut:
            some.origin = first
        return some

    def of(self, values: Any, first: int, last: int) -> Any:
        """Those of instances `first` to `last` - 1, of what is kept of each instance."""
        return values[first - self.origin : last - self.origin]

    def homes(self, size: int) -> np.ndarray:
        """int64, shape (size + 1,): instances [homes[r], homes[r+1]) are at home on rank r."""
        return self.first + (np.arange(size + 1, dtype=object) * self.instances // size).astype(np.int64)

    def bounds_of_homes(self, env: Environment, size: int, instances: Array) -> Array:
        """int64, shape (size + 1,): [bounds[r], bounds[r+1]) are those of the instances at home on rank r.

        The instances, integers, stand in the order of their homes.
        """
        xp = env.xp
        homes = xp.searchsorted(env.backend.from_host(self.homes(size)[1:-1]), instances, side="right")
        return xp.searchsorted(homes, xp.arange(size + 1), side="left")


@dataclass
class Planned:
    """What a function of this package was about to run."""

    graph: Graph
    sampler: Any
    placement: Placement
    client: Any
    progress: bool | None


_PLANNING: ContextVar[list[Planned] | None] = ContextVar("planning", default=None)


class _NotNow(Exception):
    """Ends a function that has said what it would run."""


@contextmanager
def planning() -> Iterator[list[Planned]]:
    """Within it a function of this package ends where it would draw its samples; it lists what that would have run."""
    planned: list[Planned] = []
    token = _PLANNING.set(planned)
    try:
        yield planned
    except _NotNow:
        pass
    finally:
        _PLANNING.reset(token)


def sampled(G: Graph, sampler: Any, placement: Placement, client: Any, progress: bool | None) -> Any:
    """Run a sampler; or say that it would be run, where that is asked for, and go no further."""
    where, planned = _placement_of(sampler, placement), _PLANNING.get()
    if planned is not None:
        planned.append(Planned(G, sampler, where, client, progress))
        raise _NotNow
    return drawn(G, sampler, where, client, progress)


def drawn(G: Graph, sampler: Any, placement: Placement, client: Any, progress: bool | None) -> Any:
    """Run a sampler whose samples are needed in any case, as a part of other ones."""
    return execute.sample(G, sampler, _placement_of(sampler, placement), client=client, progress=progress)


def checked_placement(placement: Any) -> Placement:
    """Where the graph is to be."""
    if isinstance(placement, Streamed):
        return placement
    if not isinstance(placement, str) or placement not in PLACEMENTS:
        raise InputError(
            f"placement={shown(placement)} is not one of {', '.join(PLACEMENTS)}, nor a gd.sample.Streamed"
        )
    return Streamed() if placement == "streamed" else placement


def _placement_of(sampler: Any, placement: Any) -> Placement:
    where = checked_placement(placement)
    if isinstance(where, Streamed) and not sampler.by_partitions:
        refuse_partitions(sampler.name, where)
    return where


def refuse_partitions(name: str, where: Streamed) -> None:
    """Raise Unsupported for what says nothing where all edges are read in place."""
    given = {option: getattr(where, option) for option in ("partitions", "resident", "scheme", "batch")}
    for option, value in given.items():
        if value is not None and value != "in-place":
            raise Unsupported(
                f"{name} of a streamed graph reads all edges in the host's memory, so "
                f"{option}={shown(value)} says nothing; leave it out"
                f"{', and see gd.sample.in_chunks' if option == 'batch' else ''}"
            )


def numbered(sampler: N, edge_rows: Any) -> N:
    """The sampler, which says of every edge which row it is where that is asked for."""
    sampler.numbered = checked_edge_rows(edge_rows)
    return sampler


def checked_edge_rows(edge_rows: Any) -> bool:
    """Whether rows of edges are asked for."""
    if not isinstance(edge_rows, bool | np.bool_):
        raise InputError(f"edge_rows={shown(edge_rows)} is neither True nor False")
    return bool(edge_rows)


def owners(env: Environment, part: Part, positions: Array) -> Array:
    """The rank that owns the vertex at each position."""
    return env.xp.searchsorted(env.backend.from_host(part.vertex_map.offsets[1:-1]), positions, side="right")


def routed(env: Environment, ranks: Array, records: Mapping[str, Array]) -> tuple[dict[str, Array], np.ndarray]:
    """Put records in the order of the ranks they are for, each rank's in the order given.

    Parameters
    ----------
    ranks : int array, shape (k,)
        The rank that each record is for.
    records : mapping of str to array of shape (k,)

    Returns
    -------
    records : dict
    bounds : int64 array on the host, shape (ranks + 1,)
    """
    xp, size = env.xp, env.size
    if size == 1:
        return dict(records), np.array([0, len(ranks)], np.int64)
    ranks = ranks.astype(np.uint16 if size > 256 else np.uint8)
    order = xp.argsort(ranks, kind="stable")
    counts = env.backend.to_host(xp.bincount(ranks, minlength=size))
    bounds = np.zeros(size + 1, np.int64)
    np.cumsum(counts, out=bounds[1:])
    return {name: column[order] for name, column in records.items()}, bounds
