"""What runs on a Dask worker: the registration of its data planes, and the one long task of a run.

A worker process keeps a data plane for each rank that it hosts, which outlives a run unless a run on it failed. The
long task runs its ranks as threads, or in its own thread where there is one rank, sends signs of life to the client,
and ends at once when the client cancels it. Later runs of a registered gang need no task
(`graphdask.gang.fast_path`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from graphdask.comm.failure import is_secondary
from graphdask.comm.protocol import Cancel, Communicator
from graphdask.device import host_memory
from graphdask.device.backend import Backend, cuda_device_count, get_backend
from graphdask.engine.copies import Vault
from graphdask.engine.loop import RankContext
from graphdask.engine.watchdog import Watchdog
from graphdask.errors import DeadlineExceeded, GraphdaskError, PeerLost, StaleMessage, Unsupported, WrongWorker
from graphdask.gang.arguments import Failed, PerRank, of_rank
from graphdask.gang.pulse import Pulse
from graphdask.kernels.common.compiling import Compiled, account, in_parallel, since
from graphdask.version import VERSION

PRIVATE_UCX = "ucx, private"


@dataclass(frozen=True)
class Ability:
    """What a worker can do, asked once."""

    cuda: bool
    ucx: bool
    why_not_ucx: str
    encrypted: bool
    """Whether its cluster speaks TLS, or requires encryption."""
    required: bool = False
    """Whether Dask's configuration, or the cluster's `Security`, has `require_encryption`."""
    host: str = ""
    """Identifies the host, or the container if it is isolated from others; "" if unknown."""
    version: str = ""
    """Of graphdask."""
    ended: int = 0
    """Processes of its host that the system had ended for lack of memory."""


@dataclass(frozen=True)
class RunPlan:
    """What a worker must know to take part in a run."""

    gang: int
    run: int
    worker: str
    """Name of the worker that this is for."""
    ranks: tuple[int, ...]
    size: int
    comm: str
    """`single`, `threads`, `tcp`, `ucx`, `nccl` or `shm`."""
    control: str
    """Of the last two, the data plane for all but payloads: `tcp` or `ucx`; of the others the same as `comm`."""
    yields: bool
    """Whether `shm` gives way to `control` where it cannot be used."""
    device: str
    deadline: float
    """Seconds without progress."""
    time_limit: float
    """Seconds from the start of the task."""
    exchange_timeout: float
    memory_share: float
    """Share of the free memory that a rank may plan with."""
    heartbeat_interval: float
    topic: str
    """Where signs of life go."""
    private: bool = False
    """Whether UCX may only use what the permissions of this host protect: memory, and no network."""
    alone: bool = False
    """Whether ranks say nothing to each other; then each has a communicator of size 1."""

    @property
    def plane(self) -> str:
        """What kind of data plane of the network a rank keeps for it."""
        return PRIVATE_UCX if self.private and self.control == "ucx" else self.control


@dataclass
class Run:
    """A run of a registered gang that is not over."""

    cancel: Cancel = field(default_factory=Cancel)
    started: bool = False
    over: threading.Event = field(default_factory=threading.Event)
    signs: list[Callable[[], int]] = field(default_factory=list)
    """Of each rank here, what counts its progress: parts of the work that are done, and bytes that it has sent."""

    @property
    def done(self) -> int:
        """What the ranks here have counted of their progress."""
        return sum(sign() for sign in self.signs)


@dataclass
class Ordered:
    """A run that was begun by a message."""

    run: Run | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def wait(self, deadline: float) -> None:
        """Wait until it is over, or makes no progress for `deadline` seconds."""
        done = -1
        while not self.over.wait(deadline) and self.run is not None and self.run.done != done:
            done = self.run.done


@dataclass
class Registration:
    """What a worker keeps of a gang that is registered with it."""

    key: str
    """Key of the task that registered the gang. Dask holds it for as long as the client wants the registration."""
    addresses: dict[int, bytes]
    """By rank."""
    run: int
    """The last one that was begun, or ended before it began."""


@dataclass
class Process:
    """What a worker keeps between calls."""

    planes: dict[tuple[str, int], Any] = field(default_factory=dict)
    """By kind and place of the rank on this worker."""
    runs: dict[tuple[int, int], Run] = field(default_factory=dict)
    """By gang and run number; more than one only while an abandoned one ends."""
    registrations: dict[int, Registration] = field(default_factory=dict)
    """By gang."""
    kept: dict[str, PerRank] = field(default_factory=dict)
    """Values that no task of Dask has taken over yet, by the key that it will have."""
    ordered: dict[str, Ordered] = field(default_factory=dict)
    """Runs that were begun by messages and are not over, by the keys of their values."""
    vault: Vault = field(default_factory=Vault)
    """Copies of the states of long runs (graphdask.engine.copies)."""
    lock: threading.Lock = field(default_factory=threading.Lock)


_processes: dict[str, Process] = {}
"""By worker address: workers of one process, as in tests, do not share."""


def _this_worker() -> Any:
    from distributed import get_worker

    return get_worker()


def process_of(worker: Any) -> Process:
    """What the worker of that name keeps."""
    return _processes.setdefault(worker.address, Process())


def examine() -> Ability:
    """Find out what this worker can do."""
    from graphdask.comm.shm.board import host_identity
    from graphdask.comm.ucx.plane import ucx_available

    ucx, reason = ucx_available()
    worker = _this_worker()
    required = bool(getattr(worker.security, "require_encryption", False))
    return Ability(
        cuda_device_count() > 0, ucx, reason, is_encrypted(worker), required, host_identity(), VERSION,
        host_memory.processes_ended(),
    )  # fmt: skip


def is_encrypted(worker: Any) -> bool:
    """Whether what a worker sends has to be encrypted: its cluster speaks TLS, or requires it."""
    return str(worker.address).startswith("tls://") or bool(getattr(worker.security, "require_encryption", False))


def register(plan: RunPlan) -> dict[int, bytes] | Failed:
    """Make ready for a run; return the data-plane address of each rank here."""
    worker = _this_worker()
    try:
        check_worker(plan, worker)
        process = process_of(worker)
        _end_abandoned_runs(process, plan)
        addresses = {}
        with process.lock:
            process.runs[plan.gang, plan.run] = Run()
            for place, rank in enumerate(plan.ranks):
                has_plane = plan.control in ("tcp", "ucx")
                addresses[rank] = _plane(process, worker, plan, place).address if has_plane else b""
            _forget_gangs(process, worker)
            process.registrations[plan.gang] = Registration(worker.get_current_task(), addresses, plan.run)
        return addresses
    except Exception as error:  # the client raises it
        return Failed.of(error)


def _end_abandoned_runs(process: Process, plan: RunPlan) -> None:
    """The caller holds this worker's lock, so no other run has a right to be here; none may use a plane any more."""
    for key, run in list(process.runs.items()):
        run.cancel.set("another call has taken the worker")
        if run.started and not run.over.wait(plan.exchange_timeout):
            raise DeadlineExceeded(f"a run that was given up did not leave {plan.worker} in {plan.exchange_timeout} s")
        process.runs.pop(key, None)


def _forget_gangs(process: Process, worker: Any) -> None:
    for gang in [
        gang for gang, registration in process.registrations.items() if registration.key not in worker.state.tasks
    ]:
        del process.registrations[gang]


def _plane(process: Process, worker: Any, plan: RunPlan, place: int) -> Any:
    kind = plan.plane
    plane = sound_plane(process, kind, place)
    if plane is None:
        spoiled = process.planes.get((kind, place))
        if spoiled is not None:
            spoiled.close()
        process.planes[kind, place] = plane = _new_plane(kind, worker, get_backend(plan.device))
    return plane


def sound_plane(process: Process, kind: str, place: int) -> Any:
    """The plane of a rank, or None where there is none on which a run may begin."""
    plane = process.planes.get((kind, place))
    return None if getattr(plane, "spoiled", False) else plane


def _new_plane(kind: str, worker: Any, backend: Backend) -> Any:
    if kind != "tcp":
        from graphdask.comm.ucx.plane import PRIVATE, UcxPlane

        return UcxPlane(PRIVATE if kind == PRIVATE_UCX else None, backend)
    from graphdask.comm.tcp.plane import TcpPlane

    contexts = None
    if is_encrypted(worker):
        contexts = (
            worker.security.get_listen_args("worker")["ssl_context"],
            worker.security.get_connection_args("worker")["ssl_context"],
        )
    return TcpPlane(worker.ip, contexts)


def leave(gang: int, run: int, reason: str, dask_worker: Any = None) -> None:
    """End a run here; the waits of its ranks raise PeerLost. Called by the client through `Client.run`."""
    process = process_of(dask_worker)
    registration = process.registrations.get(gang)
    if registration is not None:
        registration.run = max(registration.run, run)
    ending = process.runs.get((gang, run))
    if ending is not None:
        ending.cancel.set(reason)
        if not ending.started:
            process.runs.pop((gang, run), None)


def run_ranks(
    plan: RunPlan, addresses: tuple[bytes, ...], program: Callable[..., Any], *arguments: Any
) -> PerRank | Failed:
    """The one long task of a run on a worker: call the program for each rank here; return their values by rank."""
    worker = _this_worker()
    process = process_of(worker)
    try:
        check_worker(plan, worker)
        run = _start(process, plan, arguments)
    except GraphdaskError as error:  # the client raises it
        return Failed.of(error)
    return perform(worker, plan, run, worker.get_current_task(), addresses, program, arguments)


def perform(
    worker: Any,
    plan: RunPlan,
    run: Run,
    wanted: str,
    addresses: tuple[bytes, ...],
    program: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> PerRank | Failed:
    """Call the program for each rank here, for as long as Dask holds the task of the key `wanted`."""
    process, cancel = process_of(worker), run.cancel
    pulse = Pulse(worker, plan, run, wanted)
    results: dict[int, Any] = {}
    spent: dict[int, Compiled] = {}
    raised: list[BaseException] = []
    group = _thread_group(plan, cancel)

    def work(place: int, rank: int) -> None:
        backend, before = get_backend(plan.device), account()
        try:
            with (
                backend.activate(),
                _communicator(plan, process, place, rank, addresses, cancel, backend, group) as comm,
            ):
                watchdog = Watchdog(plan.deadline, plan.time_limit)
                run.signs.append(lambda: watchdog.parts + comm.bytes_sent)
                context = RankContext(comm, backend, watchdog, plan.memory_share, pulse.of_rank(rank), process.vault)
                results[rank] = program(context, *(of_rank(argument, rank) for argument in arguments))
                spent[rank] = since(before)
        except BaseException as error:  # the client raises it
            if isinstance(error, PeerLost) and cancel.event.is_set():
                error.origin = (-1, "PeerLost", str(error))  # type: ignore[attr-defined]  # asked to end: not the cause
            raised.append(error)
            cancel.set(f"rank {rank} failed: {error}")

    with pulse:
        if len(plan.ranks) == 1:
            work(0, plan.ranks[0])
        else:
            threads = [
                threading.Thread(target=work, args=(place, rank), name=f"rank-{rank}", daemon=True)
                for place, rank in enumerate(plan.ranks)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    process.runs.pop((plan.gang, plan.run), None)
    run.over.set()
    worker.loop.add_callback(_sweep, worker, process)
    if raised:
        return Failed.of(min(raised, key=is_secondary))
    return PerRank(results, in_parallel(spent.values(), shared=True))


def _sweep(worker: Any, process: Process) -> None:
    """Drop copies that nobody needs any more, now and then until there are none. Called by the worker's event loop."""
    seconds = process.vault.sweep()
    if seconds:
        worker.loop.call_later(seconds, _sweep, worker, process)


def _start(process: Process, plan: RunPlan, arguments: tuple[Any, ...]) -> Run:
    with process.lock:
        run = process.runs.get((plan.gang, plan.run))
        if run is None or run.started:
            raise StaleMessage(f"run {plan.run} of gang {plan.gang:x} is over, or unknown to {plan.worker}")
        if any(isinstance(argument, Failed) for argument in arguments):
            process.runs.pop((plan.gang, plan.run))
            raise PeerLost(f"{plan.worker} was started anew and has lost its partitions")
        run.started = True
        return run


def check_worker(plan: RunPlan, worker: Any) -> None:
    if str(worker.name) != plan.worker:
        raise WrongWorker(f"a task for worker {plan.worker} found itself on {worker.name}")


def _thread_group(plan: RunPlan, cancel: Cancel) -> Any:
    if plan.alone or plan.comm != "threads":
        return None
    from graphdask.comm.threads import ThreadGroup

    return ThreadGroup(plan.size, plan.exchange_timeout, cancel)


def _communicator(
    plan: RunPlan,
    process: Process,
    place: int,
    rank: int,
    addresses: tuple[bytes, ...],
    cancel: Cancel,
    backend: Backend,
    group: Any,
) -> Communicator:
    if plan.alone or plan.comm == "single":
        from graphdask.comm.single import SingleCommunicator

        return SingleCommunicator(cancel)
    if plan.comm == "threads":
        return group.communicator(rank, backend)
    control = _control(plan, process, place, rank, addresses, cancel, backend)
    if plan.comm == plan.control:
        return control
    kind = (plan.comm, place)
    try:
        if plan.comm == "nccl":
            from graphdask.comm.nccl import NcclCommunicator, NcclPlane

            plane = process.planes.get(kind) or process.planes.setdefault(kind, NcclPlane(backend))
            return NcclCommunicator(control, plane, plan.gang, plan.exchange_timeout, cancel, owns_control=True)
        from graphdask.comm.shm.communicator import ShmCommunicator, ShmPlane

        plane = process.planes.get(kind) or process.planes.setdefault(kind, ShmPlane(backend))
        return ShmCommunicator(control, plane, plan.gang, plan.exchange_timeout, cancel, owns_control=True)
    except BaseException as error:
        if isinstance(error, Unsupported) and plan.yields:  # all ranks alike
            return control
        control.abort(error)
        control.close()
        raise


def _control(
    plan: RunPlan,
    process: Process,
    place: int,
    rank: int,
    addresses: tuple[bytes, ...],
    cancel: Cancel,
    backend: Backend,
) -> Communicator:
    """The communicator over one of the network's data planes."""
    plane = process.planes[plan.plane, place]
    if plan.control == "tcp":
        from graphdask.comm.tcp.communicator import TcpCommunicator

        return TcpCommunicator(
            plane, rank, list(addresses), plan.gang, plan.run, backend, plan.exchange_timeout, cancel
        )
    from graphdask.comm.ucx.communicator import UcxCommunicator

    return UcxCommunicator(plane, rank, addresses, plan.gang, plan.run, plan.exchange_timeout, cancel)
