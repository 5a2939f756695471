"""The superstep loop, bulk-synchronous: compute, exchange, repeat until no rank has anything to send. It is the only
loop, but for kernels of GPUs that go through supersteps by themselves (graphdask.engine.team).

A Primitive states the mathematics of an algorithm for one partition. The engine splits what it wants to say among the
owners of the vertices, codes it, exchanges it, and delivers what arrived. The votes that end the loop and the counters
of the statistics ride on the same exchange, so a superstep costs one round.

Sources: Valiant, A bridging model for parallel computation (1990); Pan et al., Multi-GPU Graph Analytics, Section III.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from graphdask.comm.arguments import settle
from graphdask.comm.peers import NoPeers
from graphdask.comm.protocol import Communicator, Peers
from graphdask.device.ahead import Family
from graphdask.device.backend import Array, Backend
from graphdask.engine.buffers import MAXIMAL, Allocation, Buffer, Growth, Holdings
from graphdask.engine.copies import Vault
from graphdask.engine.exchange import INDEX, Exchange, Exchanger
from graphdask.engine.keeper import Carried, Keeper, in_turn
from graphdask.engine.memory_check import checked_memory
from graphdask.engine.messages import ALL, Counted, Inbox, Messages, Received
from graphdask.engine.superstep import RankResult, Superstep, waited
from graphdask.engine.watchdog import Watchdog
from graphdask.kernels.common.compiling import account, clock
from graphdask.partition.ghosts import fetch_ghosts, ghost_rows, make_mirrors
from graphdask.partition.part import Csr, Part

__all__ = [
    "AGREED", "ALL", "HUB_THREADS", "INDEX", "Counted", "Environment", "Exchange", "Inbox", "Messages", "Primitive",
    "RankContext", "RankResult", "Received", "Superstep", "run_primitive",
]  # fmt: skip

S = TypeVar("S")

HUB_THREADS = 1 << 18
"""Threads of a launch that shares the rows of very many edges (kernels/common/rows.cuh)."""
AGREED = "agreed"
"""Name of a table of partitions with a `number`, 0 if it is void, by which ranks check whether they have the same."""


@dataclass
class Environment:
    """What a primitive may use besides its partition: the arrays and kernels of its device, queues, and other ranks.

    The engine makes it. Where a method says that every rank calls it, all ranks must do so from the same place.
    """

    backend: Backend
    rank: int
    size: int
    exchange: Exchange
    watchdog: Watchdog
    """Ends a run that makes no progress."""
    memory_share: float = 1.0
    """Share of the free memory that this rank may plan with."""
    on_superstep: Callable[[Superstep], None] | None = None
    """Called with the statistics of each superstep."""
    comm: Communicator | None = field(default=None, repr=False)
    history: list[Superstep] = field(default_factory=list, repr=False)
    """The supersteps so far, of a primitive that another one ran in its `result` too."""
    recorded: float = field(default=0.0, repr=False)
    """Seconds of the supersteps so far."""
    done: float = field(default=0.0, repr=False)
    """How many of the `goal` of the primitive are done."""
    bytes_recorded: int = field(default=0, repr=False)
    """Value of `comm.bytes_sent` when a superstep last recorded it."""
    allocation: Allocation = MAXIMAL
    """How much memory queues are given."""
    frugal: bool = False
    """Whether there is no memory for what only makes a primitive faster."""
    growth: Growth = field(default_factory=Growth, repr=False)
    """What they have grown, those of such a primitive too."""
    keeper: Keeper | Carried | None = field(default=None, repr=False)
    """Of the checkpoints of the run that begins next, if there are any."""
    apart: bool = False
    """Whether GPUs leave supersteps to their hosts, which write checkpoints in between."""
    agreed: Any = field(default=None, repr=False)
    """The table AGREED of the partition, where all ranks have one of the same number."""
    _held: tuple[Part, list[Array]] | None = field(default=None, repr=False)
    _met: tuple[Peers | None] | None = field(default=None, repr=False)

    @property
    def xp(self) -> Any:
        """NumPy or CuPy."""
        return self.backend.xp

    def mirrors(self, part: Part) -> list[Array]:
        """Return, for each rank q, the own vertices that q has ghosts of; see `graphdask.partition.ghosts.mirrors`.

        Every rank calls it. The ranks communicate for it once in a run, and find out at the same time what is `agreed`.
        """
        if self._held is None or self._held[0] is not part:
            comm, table = self.comm, part.tables.get(AGREED)
            assert comm is not None
            self.agreed = None
            if comm.size > 1:
                number = 0 if table is None else table.number
                mine = np.array([part.mirrors is not None, number, -number], np.int64)
                held, least, most = comm.allreduce(mine, "min").tolist()
                if not held:
                    make_mirrors(comm, self.backend, part)
                elif number and least == -most:
                    self.agreed = table
            self._held = part, part.mirrors or [part.ids[:0]] * comm.size
        return self._held[1]

    def record(self, step: Superstep) -> None:
        """Record a superstep that has ended. A primitive that runs several supersteps by itself records each."""
        step.done = self.done
        self.recorded += step.compute + step.exchange + step.wait
        self.history.append(step)
        if self.on_superstep is not None:
            self.on_superstep(step)

    def advance(self, done: float) -> None:
        """Say how many of the `goal` of the primitive are done; the next superstep shows it, or the last one."""
        self.done = done
        if self.history:
            self.history[-1].done = done

    def bytes_sent(self) -> int:
        """Payload bytes that this rank has sent since this was asked last."""
        assert self.comm is not None
        sent, self.bytes_recorded = self.comm.bytes_sent - self.bytes_recorded, self.comm.bytes_sent
        return sent

    def kernels(self, family: str, **types: Any) -> Any:
        """Return the kernels of a family as attributes, each called as `kernel(n, *arguments)`.

        Parameters
        ----------
        family : str
            One of graphdask's, such as "core_number", or the module of another distribution's, such as
            "degrees.kernels.higher".
        **types : dtype or int
            What the names that the CUDA C++ leaves open stand for, such as `index_t=part.vertex_map.dtype`.

        Raises
        ------
        MissingDependency, KernelError
            If the package of the family is not installed, lacks a file, or does not compile.
        """
        return self.backend.kernels(family, **types)

    @property
    def together(self) -> bool:
        """Whether the GPUs of the ranks go on together, so that the host does not see all of their state."""
        return self._met is not None and self._met[0] is not None

    def peers(self, alone: bool = False) -> Peers | None:
        """The ranks whose GPUs go on together, where they can (graphdask.engine.team); None on all ranks alike.

        Every rank calls it, and they are asked once in a run. One rank is a team where `alone` is true.
        """
        comm, wanted = self.comm, alone if self.size == 1 else self.exchange == "selective"
        assert comm is not None
        if not wanted or self.apart or self.backend.name != "cuda" or self.allocation.partial:
            return None
        if self._met is None:
            self._met = (NoPeers(comm, self.backend) if self.size == 1 else comm.peers(self.backend),)
        return self._met[0]

    def buffer(self, what: str, most: int, dtype: Any, expected: int | None = None) -> Buffer:
        """Return a queue, allocated as the scheme of the run says.

        Parameters
        ----------
        what : str
            What errors call it.
        most, dtype : int, dtype
            The largest number of entries, and their type.
        expected : int, optional
            An upper bound for the entries that will ever be written.

        Raises
        ------
        OverBudget
            If `expected` is more than a fixed allocation has.
        """
        return Buffer(what, most, dtype, self.allocation, self.backend, self.growth, self.memory_share, expected)

    def scratch(self, what: str, most: int, dtype: Any, expected: int) -> Buffer:
        """Return a list for kernels, like `buffer`; under every scheme but "maximal" it grows when needed."""
        allocation = Allocation("just-enough") if self.allocation.partial else MAXIMAL
        return Buffer(what, most, dtype, allocation, self.backend, Growth(), self.memory_share, expected)

    def fetch_ghosts(self, part: Part, values: Sequence[Array]) -> list[Array]:
        """Complete arrays over own vertices, of shape (num_owned,) or (num_owned, k), to arrays over slots.

        Every rank calls it, from `init` or `result` only. The values of ghosts come from their owners.
        """
        assert self.comm is not None
        return fetch_ghosts(self.comm, self.backend, part, values)

    def gather(self, values: Array) -> Array:
        """Return the 1-D arrays of all ranks, joined. Every rank calls it, from `init` or `result` only."""
        assert self.comm is not None
        return self.xp.concatenate(self.comm.alltoallv([values] * self.size))

    def alltoall(self, values: Sequence[Array]) -> list[Array]:
        """Return what each rank sent here of its 1-D arrays, one for each rank. Every rank calls it."""
        assert self.comm is not None
        return self.comm.alltoallv(values)

    def least(self, number: int) -> int:
        """Return the smallest of the numbers of all ranks. Every rank calls it, from `init` or `result` only."""
        assert self.comm is not None
        return int(self.comm.allreduce(np.array([number], np.int64), "min")[0])

    def check_deadline(self, name: str, place: str = "") -> None:
        """Note that a part of the work is done; raise DeadlineExceeded if that took too long (`Watchdog.advance`)."""
        self.watchdog.advance(name, place)

    def run(self, part: Part, primitive: Primitive[Any]) -> RankResult:
        """Run another primitive to its end and return its result. Every rank calls it, from `result` only."""
        assert self.comm is not None
        return run_primitive(self.comm, part, primitive, self)

    def ghost_rows(self, part: Part, rows: Csr, wanted: Array, entries: int) -> tuple[int, Iterator[Csr]]:
        """Fetch rows of ghosts from their owners in batches; see `graphdask.partition.ghosts.ghost_rows`.

        Every rank calls it, from `init`, and takes one batch a superstep until there are no more.
        """
        assert self.comm is not None
        return ghost_rows(self.comm, self.backend, part, rows, wanted, entries)


@dataclass
class RankContext:
    """What a program of a gang is given on each rank."""

    comm: Communicator
    backend: Backend
    watchdog: Watchdog
    memory_share: float = 1.0
    on_superstep: Callable[[Superstep], None] | None = None
    vault: Vault | None = None
    """Copies of states that the process keeps; None where no other process needs them."""

    def environment(self, exchange: Exchange, allocation: Allocation = MAXIMAL) -> Environment:
        """The environment of a primitive on this rank."""
        comm = self.comm
        return Environment(
            self.backend, comm.rank, comm.size, exchange, self.watchdog, self.memory_share, self.on_superstep, comm,
            allocation=allocation,
        )  # fmt: skip


class Primitive(ABC, Generic[S]):
    """An algorithm, for one partition. Instances are small and picklable; the state is of any type.

    Every rank calls `init`, then `superstep` until no rank is active and no message travels, or `ends` says so, and
    then `result`. A method `verify(context, part, result)` proves a result: every rank calls it with a RankContext, the
    partition and a RankResult, and returns its first Violation, or None. Those in graphdask/verify/table.py need none.
    """

    name: str
    """What errors and statistics call it."""
    columns: ClassVar[Mapping[str, Any]]
    """Names and dtypes of the values that travel with a vertex; INDEX stands for the graph's index dtype, and
    (float64, (k,)) for k numbers a vertex."""
    result_type: Any
    """The Result class of it."""
    ghost_columns: ClassVar[Mapping[str, Any] | None] = None
    """The same for messages `to="ghosts"`, where it differs."""
    record_columns: ClassVar[Mapping[str, Any]] = {}
    """Names and dtypes of what is sent `to="ranks"`; INDEX stands for the graph's index dtype."""
    exchange: Exchange = "selective"
    """What it uses unless the caller says otherwise."""
    ghosts = "1-hop"  # which ghosts it prefers; both work
    notifies_ghosts = False
    """Whether messages go `to="ghosts"` in any superstep."""
    votes = 0
    """How many numbers each rank says to all in a superstep."""
    remedy = "use more workers, ghosts='1-hop'"
    """What is to be done where the memory is too little."""
    queues = True  # whether it has queues, whose memory the scheme of allocation decides
    edge_rows = False  # whether it needs the rows of the out-edges in what the caller gave, `Csr.rows`
    reads: tuple[Any, ...] = ()  # columns of edges and vertices that the functions of a caller read
    needs_all = ""
    """Why a fixed allocation is not supported, as a clause after "because"; empty if it is supported."""
    needs_memory = ""
    """Why a graph on disk is not supported, as a clause after "because", and what to do instead."""

    @property
    def inward(self) -> bool:
        """Whether it needs the in-edges."""
        return False

    @property
    def goal(self) -> tuple[int, str] | None:
        """How many of what are to be done, as in (64, "sources"), if `Environment.advance` says how many are."""
        return None

    @abstractmethod
    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes that it needs at most besides the partition; where queues grow, as long as none has to.

        A run that would need more than is free raises OverBudget before `init`.
        """

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        """Return the kernels that a GPU needs for most graphs, which are compiled together when a call begins.

        Parameters
        ----------
        index, weight : dtype
            Of the numbers of vertices, and of the weights of edges; None without weights.
        size : int
            The number of ranks.
        """
        return ()

    def check_device(self, device: str) -> None:
        """Raise Unsupported, before any work, for a device that cannot run it."""

    def memory_on(self, part: Part, env: Environment) -> int:
        """The same, of a primitive that takes more where there is enough."""
        return self.memory(part, env.allocation)

    def memory_together(self, part: Part, env: Environment) -> int | None:
        """The same where GPUs go through it together (engine.team); None where they do not. Every rank calls it."""
        return None

    @abstractmethod
    def init(self, part: Part, env: Environment) -> tuple[S, Messages]:
        """Return the state, and the messages to send before the first superstep."""

    @abstractmethod
    def superstep(self, part: Part, state: S, inbox: Inbox, env: Environment) -> Messages | Counted:
        """Take in what arrived, change the state, and return the messages to send."""

    def ends(self, state: S, votes: np.ndarray) -> bool:
        """Take in what all ranks voted at the end of a superstep.

        Parameters
        ----------
        state : S
        votes : numpy.ndarray
            float64, shape (ranks, votes), the same on every rank.

        Returns
        -------
        bool
            True ends the run now, on all ranks alike.
        """
        return False

    def idle(self, state: S) -> float:
        """Seconds for which the superstep waited for something else than ranks; they are part of `Superstep.wait`."""
        return 0.0

    @abstractmethod
    def result(self, part: Part, state: S, env: Environment) -> dict[str, Any]:
        """Return the answer of this rank, by name.

        Returns
        -------
        dict of str to array or number
            Arrays have the values of the own vertices, in local order. Numbers are of the whole run, and the same on
            every rank.
        """


def run_primitive(comm: Communicator, part: Part, primitive: Primitive[Any], env: Environment) -> RankResult:
    """Run a primitive to its end over one partition, in lockstep with the other ranks.

    Raises
    ------
    DeadlineExceeded
        Where a superstep outlasts the deadline, or the run its time limit.
    PeerLost, KernelError
        From the exchange or a kernel.
    """
    backend, compiled = env.backend, account().seconds
    memory = checked_memory(part, primitive, env)
    held = env.mirrors(part) if primitive.notifies_ghosts and env.exchange == "selective" else []
    ghost_columns = primitive.columns if primitive.ghost_columns is None else primitive.ghost_columns
    exchanger = Exchanger(
        backend, comm, part, env.exchange, primitive.columns, ghost_columns, held, primitive.record_columns
    )
    history, votes = env.history, np.zeros((comm.size, 0))
    holdings, allocated = Holdings(part, backend), -1
    if not history:
        env.bytes_sent()
    keeper, env.keeper = in_turn(env.keeper, primitive)
    started, recorded = clock(), env.recorded
    state, messages = primitive.init(part, env) if keeper is None else keeper.begin(primitive, part, env)
    while True:
        computed = clock()
        sends, meta, codes = exchanger.pack(messages)
        coded = clock()
        vote = messages.votes() if callable(messages.votes) else messages.votes
        ready = clock()
        busy = computed - started + ready - coded - (env.recorded - recorded)
        idle = min(primitive.idle(state), max(busy, 0.0))
        sent = sum(meta[:, 1].tolist())
        compiling, compiled = account().seconds - compiled, account().seconds
        control = np.array([messages.active, sent, int(busy * 1e9), int(compiling * 1e9)], np.int64)
        if primitive.votes:
            voted = np.full(primitive.votes, vote or 0.0, np.float64)
            control = np.concatenate([control, voted.view(np.int64)])
        if keeper is not None:
            control = np.concatenate([control, keeper.control()])
        received = comm.exchange(sends, meta, control)
        exchanged = clock()
        if primitive.votes:
            votes = np.ascontiguousarray(received.control[:, 4 : 4 + primitive.votes]).view(np.float64)
        active, counts, computing, compilings = received.control[:, :4].T.tolist()
        if keeper is not None:
            keeper.take(received, 4 + primitive.votes, backend)
        ends = primitive.ends(state, votes) or not (any(active) or any(counts))
        inbox = exchanger.unpack(received.payloads, received.meta, votes)
        wait, halted = waited(computing, compilings, busy, compiling, exchanged - ready)
        step = Superstep(
            len(history) + (0 if keeper is None else keeper.begun), messages.frontier, messages.edges, messages=sent,
            bytes_sent=env.bytes_sent(), codes=codes, compute=busy - idle,
            code=coded - computed + clock() - exchanged, exchange=exchanged - ready - wait - halted, wait=wait + idle,
            compile=compiling + halted, ways=messages.ways,
        )  # fmt: skip
        env.record(step)
        allocated = holdings.nbytes(state) if allocated < 0 and env.allocation.partial else allocated
        if ends:
            settled = clock()
            settle(backend)  # what is still under way belongs to the last superstep
            step.compute += clock() - settled
            step.compile += account().seconds - compiled
            break
        env.check_deadline(primitive.name, f"superstep {len(history)}")
        if keeper is not None:
            keeper.save(primitive, part, state, inbox, env)
        started, recorded = clock(), env.recorded
        messages = exchanger.counted(primitive.superstep(part, state, inbox, env))
        del sends, received, inbox  # before what is sent next takes memory
    allocated_end, found = holdings.nbytes(state), primitive.result(part, state, env)
    history[-1].bytes_sent += env.bytes_sent()
    backend.synchronize()
    return RankResult(
        {}, {}, {}, history, comm.name, backend.description, memory, allocated_end if allocated < 0 else allocated,
        allocated_end, env.growth.growths, None if keeper is None else keeper.kept,  # a maximal one does not grow
    ).taking(found)  # fmt: skip
