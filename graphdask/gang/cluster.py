"""DaskGang: ranks on the workers of a Dask cluster, run by one long task for each worker.

Dask is the control plane. A run: lock the workers, register the gang with each (data-plane addresses), start the tasks,
pinned, all with the same run number, and watch them: a task's error, a worker that the scheduler no longer knows, a
rank that gives no sign of life, or a deadline ends the run everywhere at once. The registration is kept: the next run
of the gang begins by a message to each worker, and by tasks again only where a worker declines
(`graphdask.gang.fast_path`).
"""

from __future__ import annotations

import queue
import re
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.errors import InputError, PeerLost, SchedulerLost, Unsupported
from graphdask.gang.abilities import check_versions, chosen_device
from graphdask.gang.arguments import compiled_by
from graphdask.gang.board import ask_for_page
from graphdask.gang.fast_path import KEPT, Declined, Known, Order, forget, is_registered, run_at_once, take_over
from graphdask.gang.kept import DaskKept, in_rank_order, select_all
from graphdask.gang.leaving import pool_left
from graphdask.gang.lock import locked
from graphdask.gang.occupied import explained
from graphdask.gang.out_of_memory import explain_loss
from graphdask.gang.plain import warn_once
from graphdask.gang.progress import Progress
from graphdask.gang.sending import LARGE, Host, of_host, seated, sent_ahead
from graphdask.gang.tuning import GANG
from graphdask.gang.waiting import ENDING, Wait, answer_of, collect, outcome_of
from graphdask.gang.watch import Asked, KnownWorker, LifeSigns, Outdated, RunWatch, ask_scheduler, scheduler_needed
from graphdask.gang.worker import Ability, RunPlan, examine, leave, register, run_ranks
from graphdask.kernels.common.compiling import charge

_PLAIN = re.compile(r"\W+")

LARGE_FOR_WORKERS = 1 << 24
"""Bytes from which a share of the caller's data travels apart from a message that goes straight to the worker."""


@dataclass(frozen=True)
class Registration:
    """What the workers sent when the gang was registered; it lasts for as long as the tasks are held."""

    comm: str
    tasks: dict[str, Any]
    """By address of the worker."""
    planes: tuple[bytes, ...]
    """Addresses of the data planes, by rank."""


class DaskGang:
    """Ranks on Dask workers.

    Parameters
    ----------
    client : distributed.Client
    workers : mapping of str to KnownWorker
        Those that may be used, by address.
    size : int or None
        Number of ranks; default: one for each worker.
    """

    kind = "dask"

    def __init__(self, client: Any, workers: Mapping[str, KnownWorker], size: int | None, device: str, config: Config):
        self.client, self.config = client, config
        warn_once(client)
        if not workers:
            raise InputError("the Dask cluster has no workers; start some, or wait with client.wait_for_workers(1)")
        self.size = size or len(workers)
        self.hosts = seated(workers, self.size)
        self.gang = secrets.randbits(32)
        self.topic = f"graphdask-{self.gang:08x}"
        self.comm = self._control = "?"
        self._private = False
        self._run = 0
        self._registration: Registration | None = None
        """Of the last run, if nothing went wrong in it."""
        self._asked: Asked | None = None
        """Workers that are still to be compared with those of the gang."""
        self._reached: set[str] = set()
        """Workers that have answered the client without the scheduler in between."""
        self._dropped: list[str] = []
        """Keys of values that the caller has released since the last run."""
        self._abilities: dict[str, Ability] = {}
        self.device = device
        if config.dashboard:
            ask_for_page(client)
        self._settle()

    def use(self, config: Config) -> None:
        """Take the settings of a new call."""
        if self.client.status != "running":
            raise PeerLost("the partitions were on a cluster whose client is closed; make the call again")
        self.config = config
        self.comm = self._chosen_comm()

    @property
    def signature(self) -> dict[str, Any]:
        """Fields of a message that identify the last run."""
        return {"topic": self.topic, "run": self._run}

    @property
    def sharing(self) -> int:
        """How many ranks share a device's memory: all of a machine's on CPUs, a worker's on GPUs."""
        return max(len(host.ranks) for host in self.hosts) if self.device == "cuda" else self.neighbours

    @property
    def neighbours(self) -> int:
        """How many ranks a machine has at most."""
        machines: dict[str, int] = {}
        for host in self.hosts:
            machine = host.address.rpartition(":")[0]
            machines[machine] = machines.get(machine, 0) + len(host.ranks)
        return max(machines.values())

    def is_whole(self, known: Mapping[str, KnownWorker]) -> bool:
        """Whether all workers that hold partitions are among those that the scheduler has now.

        While its answer is under way, a gang that has run is taken for whole, and the next run looks again.
        """
        if isinstance(known, Asked) and known.is_under_way and self._registration is not None:
            self._asked = known
            return True
        return self._is_among(known)

    def _is_among(self, known: Mapping[str, KnownWorker]) -> bool:
        """The same by the answer, which is waited for."""
        return all(host.address in known and known[host.address].name == host.name for host in self.hosts)

    def _settle(self) -> None:
        """Ask the workers what they can do; choose device and data plane."""
        asked = {self.submit(examine, host.address): host.address for host in self.hosts}
        abilities = self._abilities = {asked[task]: each for task, each in self._wait_for_threads(asked).items()}
        check_versions({address: ability.version for address, ability in abilities.items()})
        self.device = chosen_device(self.device, {address: ability.cuda for address, ability in abilities.items()})
        self.comm = self._chosen_comm()

    def _chosen_comm(self) -> str:
        """Choose the data plane, and `_control` below it, or refuse with the reason."""
        self._control = self._chosen_control()
        wanted = self.config.comm
        if self._control in ("single", "threads") or wanted in ("tcp", "ucx"):
            return self._control
        problem = self._why_not_shm()
        one_each = all(len(host.ranks) == 1 for host in self.hosts)
        if wanted == "nccl" and (self.device != "cuda" or not one_each):
            raise Unsupported("comm nccl needs GPUs, and a worker of its own for each partition")
        if wanted == "shm" and problem:
            raise Unsupported(f"comm shm was asked for, but {problem}")
        if wanted != "auto":
            return wanted
        return self._control if problem else "shm"

    def _chosen_control(self) -> str:
        if len(self.hosts) == 1:
            return "single" if self.size == 1 else "threads"
        abilities = self._abilities
        wanted = self.config.comm
        allowed, encrypted = self.config.allow_insecure_ucx, any(a.encrypted for a in abilities.values())
        # on one host UCX and NCCL go through its memory, as shm does, which no network sees and no other user reads
        self._private = encrypted and allowed is None and self._on_one_host()
        if allowed or (self._private and not any(a.required for a in abilities.values())):
            encrypted = False
        ucx = all(a.ucx for a in abilities.values()) and not encrypted
        if wanted in ("ucx", "nccl") and not ucx:
            if encrypted:
                raise Unsupported(
                    f"the cluster requires encryption, and {wanted} carries none; use comm tcp, or set "
                    "graphdask.allow-insecure-ucx: true"
                )
            reason = next(a.why_not_ucx for a in abilities.values() if not a.ucx)
            raise InputError(f"comm {wanted!r} was asked for, but a worker cannot use UCX: {reason}")
        return "ucx" if ucx and wanted != "tcp" else "tcp"

    def _on_one_host(self) -> bool:
        places = {ability.host for ability in self._abilities.values()}
        return len(places) == 1 and "" not in places

    def _why_not_shm(self) -> str:
        """Why ranks cannot exchange through the memory of their host, or nothing."""
        if not self._on_one_host():
            return "the workers are not on one host, or do not see each other's processes"
        if self.device == "cuda" and any(len(host.ranks) > 1 for host in self.hosts):
            return "GPUs share memory between processes, and a worker holds several partitions"
        return ""

    def submit(self, function: Callable[..., Any], address: str, *arguments: Any, key: str | None = None) -> Any:
        """Start a task on the worker at `address`, and on no other."""
        from distributed.client import FuturesCancelledError

        try:
            with scheduler_needed(self.client):
                return self.client.submit(
                    function, *arguments, key=key, workers=[address], allow_other_workers=False, pure=False, retries=0
                )
        except FuturesCancelledError as error:
            reason = "the cluster was restarted, or its data cancelled, and took the partitions with it"
            raise PeerLost(f"{reason}; make the call again") from error

    def run(
        self, program: Callable[..., Any], *arguments: Any, summary: Callable[[Any], Any], label: str, show: bool,
        total: int | None = None, goal: tuple[int, str] | None = None, alone: bool = False,
    ) -> DaskKept:  # fmt: skip
        """Call `program(context, *arguments of the rank)` on every rank; keep the values, and return their summaries.

        `summary` is called with each value on its worker. `total` is the number of edges that all ranks together go
        through, if that measures progress, and `goal` is what supersteps count as `done`. Ranks that are `alone` do not
        communicate, and need not wait until they are connected: each gets a communicator of size 1.

        Raises
        ------
        PeerLost
            A worker died, stopped or lost its connection.
        DeadlineExceeded
            The run, or the wait for workers that another gang holds, took too long.
        """
        addresses = [host.address for host in self.hosts]
        locking = locked(self.client, addresses, self.config.lock_timeout)
        needed = scheduler_needed(self.client)
        with pool_left(), needed, locking, Progress(label, show, total, goal) as progress:
            asked, self._asked = self._asked, None
            if asked is not None and not self._is_among(asked):
                raise Outdated("a worker has left")
            registration, call = self._registration, (program, arguments, summary, label, progress, alone)
            kept = None
            if registration is not None and registration.comm == self.comm:
                with suppress(Declined):
                    kept = self._run_at_once(registration, *call)
            if kept is None:
                kept = self._run_by_tasks(*call)
            progress.finish(kept.summary)
            return kept

    @contextmanager
    def _new_run(self, progress: Progress) -> Iterator[RunWatch]:
        """The next run; ended on all workers where anything goes wrong."""
        run = self._run = self._run + 1
        life = LifeSigns(self.client, self.config.heartbeat_timeout)
        try:
            with RunWatch(self.client, self.topic, run, progress, life) as watch:
                yield watch
        except BaseException as error:
            self._registration = None
            error.reached = watch.superstep + 1  # type: ignore[attr-defined]  # for whoever starts it again
            if not isinstance(error, SchedulerLost):
                self._end(run, str(error) or type(error).__name__)
            explain_loss(error, self.client, life, self._abilities)
            raise

    def _run_by_tasks(
        self, program: Callable[..., Any], arguments: tuple[Any, ...], summary: Callable[[Any], Any], label: str,
        progress: Progress, alone: bool,
    ) -> DaskKept:  # fmt: skip
        self._registration = None
        with self._new_run(progress) as watch:
            plans = {host.address: self._plan(host, watch.run) for host in self.hosts}
            asked = {self.submit(register, address, plan): address for address, plan in plans.items()}
            answers = self._wait_for_threads(asked, watch.life)
            planes = tuple(in_rank_order(answers))
            large = sent_ahead(self.client, self.hosts, arguments, LARGE, self.config.deadline)
            tasks, summaries = {}, {}
            for host in self.hosts:
                share = [
                    argument.futures[host.address]
                    if isinstance(argument, DaskKept)
                    else large.get((host.address, place), of_host(argument, host))
                    for place, argument in enumerate(arguments)
                ]
                plans[host.address] = replace(plans[host.address], alone=alone)
                plan, key = plans[host.address], f"graphdask {self._name(label, watch.run, host)}"
                task = self.submit(run_ranks, host.address, plan, planes, program, *share, key=key)
                tasks[host.address] = task
                summaries[self.submit(select_all, host.address, task, summary)] = host.address
            found = self.wait(summaries, label, "deadline", watch.life, watch, partial(self._end, watch.run))
        self._registration = Registration(self.comm, {address: task for task, address in asked.items()}, planes)
        if self.client.direct_to_workers is not False:  # as its user may want it
            for address, task in self._registration.tasks.items():
                self.client.loop.add_callback(self._reach, address, task.key)
        charge(compiled_by(found.values()))
        return DaskKept(self, {address: task.key for address, task in tasks.items()}, in_rank_order(found), tasks)

    def _run_at_once(
        self, registration: Registration, program: Callable[..., Any], arguments: tuple[Any, ...],
        summary: Callable[[Any], Any], label: str, progress: Progress, alone: bool,
    ) -> DaskKept:  # fmt: skip
        """Raise Declined where a worker is not ready for it."""
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()

        async def order(host: Host, what: Order) -> None:
            direct = host.address in self._reached
            done.put((host.address, await answer_of(self.client, host.address, run_at_once, what, direct=direct)))

        begun: dict[str, Any] = {}

        def occupy(address: str) -> None:
            """Let Dask know of a worker that is long at work: it gives signs of life, so its order has arrived."""
            if address in keys and address not in begun:
                begun[address] = self.take_over(address, keys[address])

        with self._new_run(progress) as watch:
            keys = {host.address: KEPT + self._name(label, watch.run, host) for host in self.hosts}
            watch.on_sign = occupy
            straight = self._reached.issuperset(host.address for host in self.hosts)
            apart = LARGE_FOR_WORKERS if straight else LARGE
            large = sent_ahead(self.client, self.hosts, arguments, apart, self.config.deadline)
            dropped = tuple(self._dropped)
            del self._dropped[: len(dropped)]
            for host in self.hosts:
                address = host.address
                share = tuple(
                    Known(large[address, place].key) if (address, place) in large else _known(argument, host)
                    for place, argument in enumerate(arguments)
                )
                what = Order(
                    plan=replace(self._plan(host, watch.run), alone=alone),
                    addresses=registration.planes,
                    registration=registration.tasks[address].key,
                    program=program,
                    arguments=share,
                    summary=summary,
                    key=keys[address],
                    dropped=dropped,
                )
                self.client.loop.add_callback(order, host, what)
            homes = {address: address for address in keys}
            limit = Wait(label, "deadline", self.config.deadline, self.config.time_limit)
            found = collect(homes, done, limit, watch.life, watch, partial(self._end, watch.run))
        charge(compiled_by(found.values()))
        values = DaskKept(self, keys, in_rank_order(found), begun)
        weakref.finalize(values, self._dropped.extend, keys.values()).atexit = False
        loop = self.client.loop
        loop.add_callback(loop.call_later, GANG.settle, self._settle_values, weakref.ref(values), watch.run)
        return values

    async def _reach(self, address: str, registration: str) -> None:
        """Find out whether the client reaches a worker by itself. Runs in the client's loop; nobody waits for it."""
        if address not in self._reached:
            found = await answer_of(self.client, address, is_registered, self.gang, registration, direct=True)
            if found is True:
                self._reached.add(address)

    def _name(self, label: str, run: int, host: Host) -> str:
        """Of a task: what Dask's dashboard and reports show of it, which is what stands before the first hyphen."""
        return f"{_PLAIN.sub(' ', label).strip()[:40]}-{self.gang:08x}-{run}-{host.ranks[0]}"

    def take_over(self, address: str, key: str) -> Any:
        """Start the task that makes the values of a run on a worker Dask's."""
        return self.submit(take_over, address, self.config.deadline + ENDING, key=key)

    async def _settle_values(self, of: weakref.ref[DaskKept], run: int) -> None:
        """Make the values of a run Dask's, or say that nobody wants them. Runs in the client's loop."""
        values = of()
        with suppress(Exception):  # a later request for them gets the error that they are gone
            if values is not None:
                _ = values.futures
            elif run == self._run:  # else a later run sends them, or will
                dropped, addresses = tuple(self._dropped), [host.address for host in self.hosts]
                await self.client.run(forget, dropped, workers=addresses, on_error="ignore")

    def _plan(self, host: Host, run: int) -> RunPlan:
        return RunPlan(
            gang=self.gang,
            run=run,
            worker=host.name,
            ranks=host.ranks,
            size=self.size,
            comm=self.comm,
            control=self._control,
            private=self._private,
            yields=self.config.comm == "auto",
            device=self.device,
            deadline=self.config.deadline,
            time_limit=self.config.time_limit,
            exchange_timeout=self.config.exchange_timeout,
            memory_share=self.config.memory_fraction / self.sharing,
            heartbeat_interval=self.config.heartbeat_interval,
            topic=self.topic,
        )

    def wait(
        self,
        tasks: dict[Any, str],
        what: str,
        setting: str,
        life: LifeSigns | None = None,
        watch: RunWatch | None = None,
        on_failure: Callable[[str], None] | None = None,
    ) -> dict[Any, Any]:
        """Return the results of all futures, by future; `collect` says what it raises.

        `setting` names the time limit. `on_failure` is called once, with the reason, when the first task fails.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        over = threading.Event()

        def bring(task: Any) -> None:
            if not over.is_set():
                threading.Thread(target=lambda: done.put((task, outcome_of(task, tasks[task]))), daemon=True).start()

        for task in tasks:
            task.add_done_callback(bring)
        life = life or LifeSigns(self.client, self.config.heartbeat_timeout)
        try:
            limit = Wait(what, setting, getattr(self.config, setting), self.config.time_limit)
            with pool_left(), scheduler_needed(self.client):
                return collect(tasks, done, limit, life, watch, on_failure)
        finally:
            over.set()

    def _wait_for_threads(self, asked: dict[Any, str], life: LifeSigns | None = None) -> dict[Any, Any]:
        """The results of short tasks, one for each worker."""
        with explained(self.client, asked, self.config.heartbeat_timeout):
            return self.wait(asked, "waiting for a free thread on each worker", "lock_timeout", life)

    def _end(self, run: int, reason: str) -> None:
        """End a run on all workers that answer, without waiting for those that do not."""
        try:
            known = ask_scheduler(self.client, self.config.heartbeat_timeout)
        except SchedulerLost:  # what ends the run is raised, and the workers have their own deadline
            return
        alive = [host.address for host in self.hosts if host.address in known]

        def notify(address: str) -> None:
            with suppress(Exception):  # whoever does not hear it has its own deadline
                self.client.run(leave, self.gang, run, reason, workers=[address], on_error="ignore")

        threads = [threading.Thread(target=notify, args=(address,), daemon=True) for address in alive]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 2.0
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))


def _known(argument: Any, host: Host) -> Any:
    return Known(argument.keys[host.address]) if isinstance(argument, DaskKept) else of_host(argument, host)
