"""What all random walks share: their result, and a sampler whose instances are walkers.

Over the whole graph (`part.size == 1`, slots in the order of the ids) a kernel fills rows of walks, a batch of walkers
and a number of steps at a time. Over partitions a walker goes on in the kernel until it comes to a vertex of another
rank, and travels there as a record. What it visits is kept where it was seen, as (instance, step, vertex), and sent
home at the end.

Sources: Pandey et al., c-saw, Sections II-A and V; Yang et al., KnightKing: a fast distributed graph random walk engine
(SOSP 2019), Section 5, for walkers that travel.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.device.backend import BLOCK, Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.errors import InputError
from graphdask.generate.arguments import integer
from graphdask.graph.graph import Graph
from graphdask.partition.given import given_array
from graphdask.partition.part import Part, WeightFacts
from graphdask.partition.vertex_map import VertexMap, index_dtype
from graphdask.sample.arcs import STEP
from graphdask.sample.biases import EdgeBiases, checked_biases
from graphdask.sample.result import Samples
from graphdask.sample.sampler import Sampler, owners, routed
from graphdask.sample.starts import Starts
from graphdask.sample.taken import Taken, in_turn
from graphdask.sample.tuning import SAMPLE

MOST_STEPS = 2**31 - 64
"""Steps are counted in 32 bits."""
MOST_WALKS = 1 << 62
"""Walks are numbered in 64 bits."""
WARPS = 16
"""Of few walkers, on a processor of a GPU."""
TOGETHER = 8
"""Warps of a GPU that a walker by a reservoir has at most, as kernels/walks/together.cuh has it."""


class Walks(Samples):
    """What random walks return."""

    columns = ("walks", "lengths")
    vertex_valued = ("walks",)

    @property
    def walks(self) -> np.ndarray:
        """The vertices of each walk by the caller's ids, the start first; -1 (None among string ids) after the last.

        Shape (walks, length + 1); the walks of one start stand together, in the order of the starts.
        """
        return self._column("walks")

    @property
    def lengths(self) -> np.ndarray:
        """Steps that each walk made before it ended; int32, shape (walks,)."""
        return self._column("lengths")


@dataclass
class WholeState:
    """Of walks over the whole graph."""

    rows: Any
    """What kernels read of the graph."""
    starts: Array
    walks: Array
    lengths: Array
    launches: Iterator[tuple[int, int, int, int]]
    """First row, last row + 1, steps made, steps to have made."""
    left: int
    """How many launches are to come."""
    nothing: dict[str, Array]
    """Records for nobody."""
    edges: Array | None = None
    """int64, (walks, length): the row of the edge of each step, -1 of none; where rows are asked for."""

    def of(self, rows: slice, pack: Any) -> Any:
        """A pack with some walks in it."""
        pack.starts, pack.walks, pack.lengths = self.starts[rows], self.walks[rows], self.lengths[rows]
        pack.edges = None if self.edges is None else self.edges[rows]
        return pack


@dataclass
class PartState:
    """Of walks over partitions."""

    rows: Any
    starts: Array
    """Ids, of all instances."""
    ids: Array
    """Per slot."""
    seen: list[tuple[Array, ...]] = field(default_factory=list)
    """Instances, steps and ids of what was visited here; and the rows of the edges, where they are asked for."""


def is_whole(part: Part) -> bool:
    """Whether slots, positions and ids are one."""
    return part.size == 1 and type(part.vertex_map) is VertexMap


class Walkers(Sampler[Any]):
    """Walks of `length` steps from `starts`, which are vertex numbers; instance i starts at starts[i]."""

    result_type = Walks
    gives_edges = True
    cut = ("starts",)
    bias: str | None = None
    """What edges are drawn by: None, weight or degree."""

    @property
    def asks_degrees(self) -> bool:
        """Whether steps depend on the degrees of neighbours."""
        return False

    def __init__(self, starts: np.ndarray | Starts, length: int, seed: int):
        self.starts, self.length, self.seed = starts, length, np.uint64(seed)
        self.first, self.last = 0, len(starts)

    def check(self, graph: Graph, weights: WeightFacts | None) -> None:
        if self.bias == "weight" and weights is not None:
            checked_biases(graph, weights)

    @property
    def work(self) -> int:
        return self.instances * self.length

    @abstractmethod
    def rows(self, part: Part, env: Environment) -> Any:
        """What kernels read of the graph. Every rank calls it."""

    def taken(self, xp: Any, columns: Mapping[str, Array], first: int) -> Taken:
        walks = columns["walks"]
        return in_turn(xp, walks[:, :-1], walks[:, 1:], first)

    def prepare(self, part: Part, env: Environment) -> None:
        self.rows(part, env)

    @abstractmethod
    def rows_memory(self, part: Part) -> int:
        """Bytes of that."""

    @abstractmethod
    def walk(self, part: Part, env: Environment, state: WholeState, rows: slice, begin: int, end: int) -> None:
        """Make steps begin + 1 to end of some walks over the whole graph."""

    @abstractmethod
    def advance(
        self, part: Part, env: Environment, state: PartState, came: Mapping[str, Array]
    ) -> tuple[Array, Array, Array, dict[str, Array], Array | None]:
        """Let walkers go on in this partition.

        Returns
        -------
        path : index array, shape (k, steps)
            Ids of the vertices that each came to.
        made : int32 array, shape (k,)
            How many they are.
        target : index array, shape (k,)
            The id of the vertex whose owner each travels to; -1 where a walk has ended.
        records : dict
            What travels with it, but for `at`.
        edges : int64 array, shape (k, steps), or None
            The rows of the edges that lead to the vertices of `path`, where they are asked for.
        """

    @abstractmethod
    def departures(self, env: Environment, instance: Array) -> dict[str, Array]:
        """The records of walkers that are at their starts, but for `at`."""

    def memory(self, part: Part, allocation: Allocation) -> int:
        index, n = part.vertex_map.dtype.itemsize, self.instances
        of_edges = STEP * self.length if self.numbered else 0
        walks = n * ((self.length + 1) * index + 12 + index + of_edges)
        if is_whole(part):
            return walks + self.rows_memory(part)
        record = sum(index if of == INDEX else 8 for of in self.record_columns.values())
        visits = -(-n * (self.length + 1) // part.size) * (12 + index + (STEP if self.numbered else 0))
        there = min(n, -(-2 * n // part.size))  # some ranks have more of the walkers than others
        steps = min(SAMPLE.walk_steps, self.length)  # of a walker in a superstep
        travelling = there * (3 * record + steps * (12 + 2 * index + (2 * STEP * self.numbered)))
        return walks // part.size + 2 * visits + travelling + index * part.num_slots + self.rows_memory(part)

    def init(self, part: Part, env: Environment) -> tuple[Any, Messages]:
        xp, dtype = env.xp, part.vertex_map.dtype
        rows = self.rows(part, env)
        given = self.of(self.starts, self.first, self.last)
        if is_whole(part):
            starts = xp.empty(len(given), dtype)
            walks = xp.empty((self.instances, self.length + 1), dtype)
            todo = list(launches(env.backend.name, self.instances, self.length))
            whole = WholeState(
                rows, starts, walks, xp.empty(self.instances, np.int32), iter(todo), len(todo),
                {"at": starts[:0], **self.departures(env, starts[:0])},
                xp.empty((self.instances, self.length), np.int64) if self.numbered else None,
            )  # fmt: skip
            return whole, Messages.of_records(whole.nothing, np.zeros(2, np.int64), active=bool(todo))
        starts = env.backend.from_host(given.astype(dtype))
        (ids,) = env.fetch_ghosts(part, [part.ids])
        state = PartState(rows, starts, ids)
        position = part.vertex_map.to_position(env.backend, starts)
        first = part.first_position
        instance = xp.flatnonzero((position >= first) & (position < first + part.num_owned)).astype(np.int64)
        if not self.length:
            instance = instance[:0]
        records = {"at": position[instance], **self.departures(env, instance + np.int64(self.first))}
        bounds = np.where(np.arange(part.size + 1) > part.rank, len(instance), 0)
        return state, Messages.of_records(records, bounds, active=len(instance) > 0)

    def superstep(self, part: Part, state: Any, inbox: Inbox, env: Environment) -> Messages:
        xp = env.xp
        if isinstance(state, WholeState):
            a, b, begin, end = next(state.launches)
            state.left -= 1
            if begin == 0:  # while the walks before are under way
                given = self.of(self.starts, self.first + a, self.first + b)
                state.starts[a:b] = env.backend.from_host(given.astype(state.starts.dtype))
            self.walk(part, env, state, slice(a, b), begin, end)
            count = {"frontier": b - a, "edges": (b - a) * (end - begin)}
            return Messages.of_records(state.nothing, np.zeros(2, np.int64), active=state.left > 0, **count)
        came = dict(inbox.records)
        came["at"] = came["at"] - came["at"].dtype.type(part.first_position)
        instance, step = came["instance"], came["step"]
        path, made, target, records, taken = self.advance(part, env, state, {**came, "step": step.copy()})
        edges = 0
        if len(instance):
            columns = xp.arange(path.shape[1], dtype=np.int32)
            filled = columns[None, :] < made[:, None]
            walker = xp.broadcast_to(instance[:, None], path.shape)[filled]
            number = (step[:, None] + (columns[None, :] + np.int32(1)))[filled]
            rows = () if taken is None else (taken[filled],)
            state.seen.append((walker, number.astype(np.int32, copy=False), path[filled], *rows))
            edges = len(walker)
        onward = target >= 0
        records = {name: column[onward] for name, column in records.items()}
        target = target[onward]
        return sent_to(part, env, records, target, active=len(target) > 0, frontier=len(instance), edges=edges)

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Any]:
        if isinstance(state, WholeState):
            rows = {} if state.edges is None else {"edge": state.edges}
            return {"walks": state.walks, "lengths": state.lengths, **rows}
        xp, dtype, bounds = env.xp, part.vertex_map.dtype, self.homes(part.size)
        first, last = int(bounds[part.rank]), int(bounds[part.rank + 1])
        none = (xp.zeros(0, np.int64), xp.zeros(0, np.int32), xp.zeros(0, dtype), xp.zeros(0, np.int64))
        none = none[: 3 + self.numbered]
        columns = [xp.concatenate(pieces) for pieces in zip(none, *state.seen, strict=True)]
        state.seen.clear()
        if part.size > 1:
            assert env.comm is not None
            home = xp.searchsorted(env.backend.from_host(bounds[1:-1]), columns[0], side="right")
            records, cuts = routed(env, home, dict(zip("isve", columns, strict=False)))
            del columns
            for name, column in records.items():
                pieces = [column[int(cuts[peer]) : int(cuts[peer + 1])] for peer in range(part.size)]
                records[name] = xp.concatenate(env.comm.alltoallv(pieces))
            columns = list(records.values())
        instance, step, vertex, *edge_rows = columns
        walks = xp.full((last - first, self.length + 1), -1, dtype)
        walks[:, 0] = state.starts[first - self.first : last - self.first]
        walks[instance - first, step] = vertex
        lengths = (walks >= 0).sum(axis=1).astype(np.int32) - np.int32(1)
        if not edge_rows:
            return {"walks": walks, "lengths": lengths}
        edges = xp.full((last - first, self.length), -1, np.int64)
        edges[instance - first, step - 1] = edge_rows[0]
        return {"walks": walks, "lengths": lengths, "edge": edges}


def sent_to(part: Part, env: Environment, records: dict[str, Array], target: Array, **more: Any) -> Messages:
    """Records to the owners of vertices, given by their ids; `at` are their positions."""
    xp = env.xp
    position = part.vertex_map.to_position(env.backend, target).astype(part.vertex_map.dtype, copy=False)
    owner = xp.zeros(len(target), np.int64)
    if part.size > 1:
        owner = owners(env, part, position)
    sent, bounds = routed(env, owner, {"at": position, **records})
    return Messages.of_records(sent, bounds, **more)


def launches(device: str, walkers: int, length: int) -> Iterator[tuple[int, int, int, int]]:
    """First walker, last + 1, steps made and steps to have made, of launches one after the other."""
    most, longest = SAMPLE.walk_launch[device]
    steps = min(length, longest)
    batch = max(1, most // max(steps, 1))
    for a in range(0, walkers, batch):
        for begin in range(0, max(length, 1), max(steps, 1)):
            yield a, min(a + batch, walkers), begin, min(begin + steps, length)


def threads_for(env: Environment, walkers: int) -> int:
    """Threads of a block, of a launch in which each takes a walker.

    All walkers of a warp wait for the one whose step takes longest, so few of them get warps of their own as far as
    there are processors for these.
    """
    blocks, threads = getattr(env.backend, "processors", 1) * WARPS, 1
    while threads < BLOCK and blocks * threads < walkers:
        threads *= 2
    return threads


def together_for(env: Environment, walkers: int) -> dict[str, int]:
    """Return the shape of a launch with one block per walker.

    A block is one warp if there are many walkers, else it has as many threads as let all walkers run at the same time.
    Each walker has a block of its own, so that a finished walk frees its place for another block.
    """
    warps = getattr(env.backend, "processors", 1) * SAMPLE.walk_warps // max(walkers, 1)
    threads = 32 * min(max(warps, 1), TOGETHER)
    return {"per_item": threads, "threads": threads, "per_processor": SAMPLE.walk_blocks}


def biases_of(part: Part, env: Environment, bias: str | None, method: str, degrees: Array | None = None) -> EdgeBiases:
    """What edges are drawn by; the partition keeps it for the walks that come."""
    if bias is None:
        return EdgeBiases.of(env, part, part.out, None)
    name = ("edge biases", bias, method)
    made: EdgeBiases | None = part.tables.get(name)
    if made is None:
        made = EdgeBiases.of(env, part, part.out, bias, method, degrees)
        part.tables.keep(name, made, made.nbytes)
    return made


def biases_memory(part: Part, bias: str | None, method: str) -> int:
    """Bytes that are still to be taken for that."""
    if bias is None or ("edge biases", bias, method) in part.tables:
        return 0
    return EdgeBiases.memory(part.out, bias, method)


def checked_starts(G: Graph, starts: Any, walks_per_start: Any) -> np.ndarray | Starts:
    """Vertex numbers where walks start, each as often as walks start there."""
    each = integer("walks_per_start", walks_per_start)
    if each < 1:
        raise InputError(f"walks_per_start={each} must be 1 or more")
    numbers = _numbers_of(G, starts) if isinstance(starts, range) else checked_vertices(G, starts, "start")
    if each * max(len(numbers), 1) > MOST_WALKS:
        raise InputError(
            f"walks_per_start={each} times {len(numbers):,} starts are more than 2^62 walks; ask for fewer"
        )
    return Starts.every(numbers, each) if each > 1 or isinstance(numbers, range) else numbers


def checked_vertices(G: Graph, vertices: Any, name: str) -> np.ndarray:
    """Their numbers in the index dtype, shape (k,); `name` is what errors call them."""
    given = given_array(f"{name}s", vertices)
    numbers = G.ids.to_internal(given, name, copy=False) if given.size else np.zeros(given.shape, np.int64)
    numbers = np.atleast_1d(numbers).astype(index_dtype(G.num_vertices))
    if numbers.ndim != 1:
        raise InputError(f"{name}s must be one vertex or a list of them; got an array of shape {numbers.shape}")
    return numbers


def _numbers_of(G: Graph, starts: range) -> np.ndarray | range:
    """As a range, where ids are numbers without gaps."""
    ends = [starts[0], starts[-1]] if len(starts) else []
    if G.ids.table is None and all(G.ids.start <= end < G.ids.start + G.num_vertices for end in ends):
        return range(starts.start - G.ids.start, starts.stop - G.ids.start, starts.step)
    return checked_vertices(G, starts, "start")


def checked_length(length: Any) -> int:
    """The steps of a walk."""
    steps = integer("length", length)
    if not 0 <= steps <= MOST_STEPS:
        raise InputError(f"length={steps} must be from 0 to {MOST_STEPS:,} steps")
    return steps


def expected_reuse(G: Graph, starts: np.ndarray | range, length: Any, walks_per_start: Any) -> float:
    """About how often walks draw an edge of each vertex, for each edge."""
    steps = checked_length(length) * max(integer("walks_per_start", walks_per_start), 0) * _size(starts)
    return steps / max(stored_edges(G), 1)


def stored_edges(G: Graph) -> int:
    """About how many edges of vertices a graph stores."""
    return int(G.source.num_edges * (1 if G.directed else 2))


def given_starts(starts: Any) -> np.ndarray | range:
    """Where walks start as an array; a range as it is."""
    return starts if isinstance(starts, range) else given_array("starts", starts)


def _size(starts: np.ndarray | range) -> int:
    return len(starts) if isinstance(starts, range) else starts.size
