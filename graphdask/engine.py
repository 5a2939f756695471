"""The superstep loop: the only one. Bulk-synchronous: compute, exchange, repeat until nobody has anything to say.

A Primitive states the mathematics of an algorithm for one partition. The engine splits what it wants to say among the
owners of the vertices, codes it in the fewest bytes, exchanges it, and delivers what arrived. The votes that end the
loop and the counters of the statistics ride on the same exchange, so a superstep costs one round.

Sources: Valiant, A bridging model for parallel computation (1990); Pan et al., Multi-GPU Graph Analytics, Section III.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from graphdask.backend import Array, Backend
from graphdask.build import from_cyclic, local_at_owner, to_cyclic, to_cyclic_positions
from graphdask.comm import codec
from graphdask.comm.protocol import META, Communicator
from graphdask.errors import DeadlineExceeded, OverBudget
from graphdask.graph import Part

Exchange = Literal["selective", "broadcast"]
S = TypeVar("S")

HUB_THREADS = 1 << 18
"""Threads of a launch that shares the rows of very many edges (kernels/rows.cuh)."""


@dataclass
class Messages:
    """What a rank has to say at the end of a superstep."""

    own: Array
    """Distinct slots of own vertices whose values changed; only a broadcast sends them."""
    ghosts: Array
    """Distinct slots of ghosts whose values changed."""
    values: Mapping[str, Array]
    """Per column of the primitive, an array indexed by slot from which the values are read."""
    active: bool
    """Whether this rank has work left even if nothing arrives."""
    frontier: int = 0
    """Vertices that this superstep worked on, for the statistics."""
    edges: int = 0
    """Edges that it looked at."""


@dataclass
class Inbox:
    """What arrived: slots that other ranks updated. A vertex may stand once for each sender."""

    slots: Array
    columns: dict[str, Array]

    def __len__(self) -> int:
        return len(self.slots)


@dataclass
class Environment:
    """What a primitive may use besides its partition."""

    backend: Backend
    rank: int
    size: int
    exchange: Exchange
    deadline: float
    """`time.monotonic()` at which the run ends."""
    memory_share: float = 1.0
    """Share of the free memory that this rank may plan with."""
    on_superstep: Callable[[Superstep], None] | None = None
    """Called with the statistics of each superstep."""

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return self.backend.xp

    def kernels(self, family: str, **types: Any) -> Any:
        """The kernels of a family, for the given dtypes."""
        return self.backend.kernels(family, **types)


@dataclass
class RankContext:
    """What a program of a gang is given on each rank."""

    comm: Communicator
    backend: Backend
    deadline: float
    memory_share: float = 1.0
    on_superstep: Callable[[Superstep], None] | None = None

    def environment(self, exchange: Exchange) -> Environment:
        """The environment of a primitive on this rank."""
        comm = self.comm
        return Environment(
            self.backend, comm.rank, comm.size, exchange, self.deadline, self.memory_share, self.on_superstep
        )


class Primitive(Protocol[S]):
    """An algorithm, for one partition. Instances are small and picklable."""

    name: str
    exchange: Exchange
    """What it uses unless the caller says otherwise."""
    ghosts: str
    """Which ghosts it prefers; both work."""

    @property
    def inward(self) -> bool:
        """Whether it needs the in-edges."""

    columns: tuple[str, ...]
    """Names of the values that travel with a vertex; each has the graph's index dtype."""
    words_per_slot: int
    """Memory that it needs besides the partition: values of the index dtype for each slot, at most."""
    verifier: str
    """The module whose `verify(context, part, primitive, result)` proves the result."""
    result_type: Any
    """The Result class of it."""

    def init(self, part: Part, env: Environment) -> tuple[S, Messages]:
        """Make the state, and what is to be said before the first superstep."""

    def superstep(self, part: Part, state: S, inbox: Inbox, env: Environment) -> Messages:
        """Take in what arrived and compute."""

    def result(self, part: Part, state: S, env: Environment) -> dict[str, Array]:
        """Values of the own vertices, in local order."""


@dataclass
class Superstep:
    """Statistics of one superstep on one rank, in the BSP terms of Pan et al."""

    number: int
    frontier: int
    """Vertices worked on."""
    edges: int
    """Edges looked at (W)."""
    messages: int
    """Vertices sent to other ranks (H)."""
    bytes_sent: int
    codes: tuple[str, ...]
    """How the payloads were coded, one for each peer that got any."""
    compute: float
    """Seconds in the primitive."""
    code: float
    """Seconds for splitting, coding and decoding (C)."""
    exchange: float
    """Seconds on the wire, the wait for slower ranks taken off."""
    wait: float
    """Seconds waited for slower ranks."""


@dataclass
class RankResult:
    """What one rank hands back."""

    columns: dict[str, Array]
    supersteps: list[Superstep] = field(default_factory=list)
    transport: str = ""
    device: str = ""


def run_primitive(comm: Communicator, part: Part, primitive: Primitive[Any], env: Environment) -> RankResult:
    """Run a primitive to its end over one partition, in lockstep with the other ranks.

    Raises
    ------
    DeadlineExceeded
        Where the run outlasts its deadline.
    PeerLost, KernelError
        From the exchange or a kernel.
    """
    backend = env.backend
    _check_memory(part, primitive, env)
    mail = _Mail(part, env, primitive.columns)
    history: list[Superstep] = []
    started = time.perf_counter()
    state, messages = primitive.init(part, env)
    while True:
        computed = time.perf_counter()
        sends, meta, codes = mail.post(messages, comm)
        coded = time.perf_counter()
        sent_before, sent = comm.bytes_sent, int(meta[:, 1].sum())
        control = np.array([messages.active, sent, int((computed - started) * 1e9)], np.int64)
        received = comm.exchange(sends, meta, control)
        exchanged = time.perf_counter()
        ends = not received.control[:, :2].any()
        inbox = mail.open(received.payloads, received.meta)
        slowest = received.control[:, 2].max() / 1e9
        wait = min(max(slowest - (computed - started), 0.0), exchanged - coded)
        step = Superstep(
            number=len(history),
            frontier=messages.frontier,
            edges=messages.edges,
            messages=sent,
            bytes_sent=comm.bytes_sent - sent_before,
            codes=codes,
            compute=computed - started,
            code=coded - computed + time.perf_counter() - exchanged,
            exchange=exchanged - coded - wait,
            wait=wait,
        )
        history.append(step)
        if env.on_superstep is not None:
            env.on_superstep(step)
        if ends:
            break
        if time.monotonic() > env.deadline:
            raise DeadlineExceeded(
                f"{primitive.name} passed its deadline in superstep {len(history)}; "
                f"raise the setting graphdask.deadline if the run is as long as that"
            )
        started = time.perf_counter()
        messages = primitive.superstep(part, state, inbox, env)
    columns = primitive.result(part, state, env)
    backend.synchronize()
    return RankResult(columns, history, comm.name, backend.description)


def _check_memory(part: Part, primitive: Primitive[Any], env: Environment) -> None:
    needed = part.num_slots * primitive.words_per_slot * part.vertex_map.dtype.itemsize
    free = int(env.backend.free_memory() * env.memory_share)
    if needed > free:
        raise OverBudget(
            f"{primitive.name} needs about {needed / 2**30:.1f} GiB on each of {part.size} ranks, and rank {part.rank} "
            f"({env.backend.description}) may use {free / 2**30:.1f} GiB; use more workers, ghosts='1-hop', or raise "
            f"the setting graphdask.memory-fraction"
        )


def fetch_ghosts(context: RankContext, part: Part, values: Sequence[Array]) -> list[Array]:
    """Complete arrays over own vertices to arrays over slots, with the ghosts' values from their owners.

    Parameters
    ----------
    values : sequence of arrays, shape (num_owned,)

    Returns
    -------
    list of arrays, shape (num_slots,)
    """
    comm, xp = context.comm, context.backend.xp
    bounds = part.slot_bounds
    slots = xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
    wanted: list[Array] = [slots[:0]] * comm.size
    for step in range(1, comm.size):
        ghosts = slots[int(bounds[step]) : int(bounds[step + 1])]
        wanted[(part.rank + step) % comm.size] = local_at_owner(part, ghosts, step)
    asked = comm.alltoallv(wanted)
    complete = []
    for column in values:
        answers = comm.alltoallv([column[ids] for ids in asked])
        ordered = [answers[(part.rank + step) % comm.size] for step in range(1, comm.size)]
        complete.append(xp.concatenate([column, *ordered]))
    return complete


class _Mail:
    """Splits messages among the owners and codes them; decodes and addresses what arrives."""

    def __init__(self, part: Part, env: Environment, columns: Sequence[str]):
        self.part, self.env, self.columns = part, env, tuple(columns)
        self.dtype = part.vertex_map.dtype
        self.dtypes = {name: self.dtype for name in self.columns}

    def post(self, messages: Messages, comm: Communicator) -> tuple[list[Array | None], np.ndarray, tuple[str, ...]]:
        size, part = self.part.size, self.part
        sends: list[Array | None] = [None] * size
        meta = np.zeros((size, META), np.int64)
        codes: list[str] = []
        if size == 1:
            return sends, meta, ()
        if self.env.exchange == "broadcast":
            slots = self.env.xp.concatenate([messages.own, messages.ghosts])
            if len(slots) == 0:
                return sends, meta, ()
            positions = from_cyclic(part, to_cyclic_positions(part, slots))
            values = {name: messages.values[name][slots] for name in self.columns}
            said, payload = codec.encode(self.env.backend, positions, part.num_vertices, values)
            for peer in range(size):
                if peer != part.rank:
                    sends[peer], meta[peer] = payload, said
            codes.append(codec.name_of(said))
        else:
            for step, slots in self._by_owner(messages.ghosts):
                peer = (part.rank + step) % size
                values = {name: messages.values[name][slots] for name in self.columns}
                universe = int(part.vertex_map.offsets[peer + 1] - part.vertex_map.offsets[peer])
                local = local_at_owner(part, slots, step)
                meta[peer], sends[peer] = codec.encode(self.env.backend, local, universe, values)
                codes.append(codec.name_of(meta[peer]))
        self.env.backend.synchronize()
        return sends, meta, tuple(codes)

    def _by_owner(self, ghosts: Array) -> list[tuple[int, Array]]:
        """Divide ghosts by owner; owners are counted from this rank on."""
        xp, size = self.env.xp, self.part.size
        if len(ghosts) == 0:
            return []
        if size == 2:
            return [(1, ghosts)]
        inner = self.env.backend.from_host(self.part.slot_bounds[1:-1])
        owner = xp.searchsorted(inner, ghosts, side="right").astype(np.uint16)
        ghosts = ghosts[xp.argsort(owner, kind="stable")]
        counts = self.env.backend.to_host(xp.bincount(owner, minlength=size))
        cuts = np.concatenate(([0], np.cumsum(counts)))
        return [(k, ghosts[cuts[k] : cuts[k + 1]]) for k in range(1, size) if counts[k]]

    def open(self, payloads: Sequence[Array | None], meta: np.ndarray) -> Inbox:
        xp, part = self.env.xp, self.part
        slots: list[Array] = []
        columns: dict[str, list[Array]] = {name: [] for name in self.columns}
        broadcast = self.env.exchange == "broadcast"
        universe = part.num_vertices if broadcast else part.num_owned
        for peer, payload in enumerate(payloads):
            if payload is None or peer == part.rank:
                continue
            ids, values = codec.decode(self.env.backend, meta[peer], payload, universe, self.dtypes)
            if broadcast:
                ids, known = self._known_slots(ids)
                values = values if known is None else {name: column[known] for name, column in values.items()}
            slots.append(ids)
            for name in self.columns:
                columns[name].append(values[name])
        if not slots:
            empty = xp.zeros(0, self.dtype)
            return Inbox(empty, {name: empty for name in self.columns})
        if len(slots) == 1:
            return Inbox(slots[0], {name: column[0] for name, column in columns.items()})
        return Inbox(xp.concatenate(slots), {name: xp.concatenate(column) for name, column in columns.items()})

    def _known_slots(self, positions: Array) -> tuple[Array, Array | None]:
        """Slots of the positions that this rank knows, and which those are (None: all)."""
        xp, part = self.env.xp, self.part
        cyclic = to_cyclic(part, positions)
        if part.ghosts is None:
            return cyclic, None
        owned = part.num_owned
        place = xp.searchsorted(part.ghosts, cyclic).astype(self.dtype)
        inside = xp.minimum(place, max(len(part.ghosts) - 1, 0))
        known = cyclic < owned
        if len(part.ghosts):
            known |= part.ghosts[inside] == cyclic
        slots = xp.where(cyclic < owned, cyclic, inside + self.dtype.type(owned))
        return slots[known], known
