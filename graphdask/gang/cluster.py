"""DaskGang: ranks on the workers of a Dask cluster, run by one long task for each worker.

Dask is the control plane. A run: lock the workers, have each take its seats (data-plane addresses), start the tasks,
pinned, all with the same run number, and watch them: a task's error, a worker that the scheduler no longer knows, a
rank that gives no sign of life, or a deadline ends the run everywhere at once.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphdask.config import Config
from graphdask.errors import DeadlineExceeded, GraphdaskError, InputError, PeerLost, StaleMessage, Unsupported
from graphdask.gang.arguments import Failed, PerRank, travelling_bytes
from graphdask.gang.lock import locked
from graphdask.gang.progress import Progress
from graphdask.gang.watch import KnownWorker, LifeSigns, RunWatch, ask_scheduler
from graphdask.gang.worker import Ability, RunPlan, examine, leave_seats, run_ranks, take_seats

POLL = 0.1
"""Seconds between two looks at a run."""

ASK_SCHEDULER = 0.5
"""Seconds between two questions to the scheduler which workers it still has."""

ANSWER = 30.0
"""Seconds that a worker may take to answer a short call."""

ENDING = 10.0
"""Seconds that the other tasks of a failed run are given to end."""


LARGE = 1 << 20
"""Bytes from which a share of the caller's data travels apart from its task."""


@dataclass(frozen=True)
class Host:
    """A worker and its ranks."""

    name: str
    address: str
    ranks: tuple[int, ...]


class DaskKept:
    """Values of the ranks, on their workers."""

    def __init__(self, gang: DaskGang, futures: dict[str, Any], summary: list[Any]):
        self.gang, self.futures, self.summary = gang, futures, summary

    def fetch(self, select: Callable[[Any], Any]) -> list[Any]:
        places = self._places()
        asked = {
            self.gang.submit(_select_all, places[address], future, select): places[address]
            for address, future in self.futures.items()
        }
        found = self.gang.wait(asked, "fetching results", "deadline")
        return _in_rank_order(found)

    def take(self, rank: int, select: Callable[[Any], Any]) -> Any:
        """What `select` picks from the value of one rank."""
        home = next(host.address for host in self.gang.hosts if rank in host.ranks)
        place = self._places()[home]
        task = self.gang.submit(_take, place, self.futures[home], rank, select)
        return self.gang.wait({task: place}, "fetching edges", "deadline")[task]

    def _places(self) -> dict[str, str]:
        """Where the values of each worker are now: one that was retired has left them to another."""
        client = self.gang.client
        if client.status != "running":
            raise PeerLost("the values were on a cluster whose client is closed; make the call again")
        known = ask_scheduler(client)
        places = {address: address for address in self.futures if address in known}
        for address in self.futures.keys() - known.keys():
            future = self.futures[address]
            holders = () if future.cancelled() else client.who_has([future]).get(future.key, ())
            if not holders:
                raise PeerLost(f"the worker {address} left and took its values with it; make the call again")
            places[address] = holders[0]
        return places

    def delayed(self, select: Callable[[Any], Any]) -> list[Any]:
        from dask import delayed

        place = {rank: host.address for host in self.gang.hosts for rank in host.ranks}
        return [
            delayed(_select_one, pure=False)(delayed(self.futures[place[rank]]), rank, select)
            for rank in range(self.gang.size)
        ]


def _in_rank_order(found: dict[Any, dict[int, Any]]) -> list[Any]:
    by_rank = {rank: value for part in found.values() for rank, value in part.items()}
    return [by_rank[rank] for rank in sorted(by_rank)]


def _select_all(kept: PerRank | Failed, select: Callable[[Any], Any]) -> dict[int, Any] | Failed:
    """Runs on a worker, beside what it selects from."""
    if isinstance(kept, Failed) and isinstance(kept.error, StaleMessage):  # Dask tried to make lost values again
        return Failed(PeerLost("a worker was started anew and has lost what it kept; make the call again"))
    return kept if isinstance(kept, Failed) else {rank: select(kept[rank]) for rank in kept.values}


def _take(kept: PerRank | Failed, rank: int, select: Callable[[Any], Any]) -> Any:
    found = _select_all(kept, lambda value: value)
    return found if isinstance(found, Failed) else select(found[rank])


def _select_one(kept: PerRank, rank: int, select: Callable[[Any], Any]) -> Any:
    return select(kept[rank])


class DaskGang:
    """Ranks on Dask workers.

    Parameters
    ----------
    client : distributed.Client
    size : int or None
        Number of ranks; default: one for each worker.
    avoid : set of str
        Addresses of workers that are not to be used, because they gave no sign of life.
    """

    kind = "dask"

    def __init__(self, client: Any, size: int | None, device: str, config: Config, avoid: frozenset[str] = frozenset()):
        self.client, self.config = client, config
        workers = {a: worker for a, worker in ask_scheduler(client).items() if a not in avoid}
        if not workers:
            raise InputError("the Dask cluster has no workers; start some, or wait with client.wait_for_workers(1)")
        self.size = size or len(workers)
        self.hosts = _seated(workers, self.size)
        self.gang = secrets.randbits(32)
        self.topic = f"graphdask-{self.gang:08x}"
        self.comm = "?"
        self._run = 0
        self._abilities: dict[str, Ability] = {}
        self.device = device
        self._settle()

    def use(self, config: Config) -> None:
        """Take the settings of a new call."""
        if self.client.status != "running":
            raise PeerLost("the partitions were on a cluster whose client is closed; make the call again")
        self.config = config
        self.comm = self._chosen_comm()

    @property
    def sharing(self) -> int:
        """How many ranks share a device's memory: all of a machine's on CPUs, a worker's on GPUs."""
        machines: dict[str, int] = {}
        for host in self.hosts:
            machine = host.address if self.device == "cuda" else host.address.rpartition(":")[0]
            machines[machine] = machines.get(machine, 0) + len(host.ranks)
        return max(machines.values())

    def is_whole(self) -> bool:
        """Whether all workers that hold partitions are still there."""
        known = ask_scheduler(self.client) if self.client.status == "running" else {}
        return all(host.address in known and known[host.address].name == host.name for host in self.hosts)

    def _settle(self) -> None:
        """Ask the workers what they can do; choose device and data plane."""
        asked = {self.submit(examine, host.address): host.address for host in self.hosts}
        found = self.wait(asked, "waiting for a free thread on each worker", "lock_timeout")
        abilities = self._abilities = {asked[task]: ability for task, ability in found.items()}
        if self.device == "auto":
            self.device = "cuda" if all(a.cuda for a in abilities.values()) else "cpu"
        elif self.device == "cuda" and (lacking := [k for k, a in abilities.items() if not a.cuda]):
            raise InputError(f'device "cuda" was asked for, but {", ".join(lacking)} has no usable GPU')
        self.comm = self._chosen_comm()

    def _chosen_comm(self) -> str:
        if len(self.hosts) == 1:
            return "single" if self.size == 1 else "threads"
        abilities = self._abilities
        wanted = self.config.comm
        encrypted = any(a.encrypted for a in abilities.values()) and not self.config.allow_insecure_ucx
        ucx = all(a.ucx for a in abilities.values()) and not encrypted
        if wanted in ("ucx", "nccl") and not ucx:
            if encrypted:
                raise Unsupported(
                    f"the cluster requires encryption, and {wanted} carries none; use comm tcp, or set "
                    "graphdask.allow-insecure-ucx: true"
                )
            reason = next(a.why_not_ucx for a in abilities.values() if not a.ucx)
            raise InputError(f"comm {wanted!r} was asked for, but a worker cannot use UCX: {reason}")
        one_each = all(len(host.ranks) == 1 for host in self.hosts)
        if wanted == "nccl" and (self.device != "cuda" or not one_each):
            raise Unsupported("comm nccl needs GPUs, and a worker of its own for each partition")
        if wanted != "auto":
            return wanted
        return "ucx" if ucx else "tcp"

    def submit(self, function: Callable[..., Any], address: str, *arguments: Any) -> Any:
        """Start a task on the worker at `address`, and on no other."""
        from distributed.client import FuturesCancelledError

        try:
            return self.client.submit(
                function, *arguments, workers=[address], allow_other_workers=False, pure=False, retries=0
            )
        except FuturesCancelledError as error:
            reason = "the cluster was restarted, or its data cancelled, and took the partitions with it"
            raise PeerLost(f"{reason}; make the call again") from error

    def run(
        self,
        program: Callable[..., Any],
        *arguments: Any,
        summary: Callable[[Any], Any],
        label: str,
        show: bool,
        total: int | None = None,
    ) -> DaskKept:
        """Call `program(context, *arguments of the rank)` on every rank; keep the values, bring `summary` of each.

        `total` is the number of edges that all ranks together go through, where that tells how far they are.

        Raises
        ------
        PeerLost
            A worker died, stopped or lost its connection.
        DeadlineExceeded
            The run, or the wait for workers that another gang holds, took too long.
        """
        addresses = [host.address for host in self.hosts]
        with locked(self.client, addresses, self.config.lock_timeout), Progress(label, show, total) as progress:
            self._run += 1
            run = self._run
            plans = {host.address: self._plan(host, run) for host in self.hosts}
            life = LifeSigns(self.client, self.config.heartbeat_timeout)
            try:
                asked = {self.submit(take_seats, address, plan): address for address, plan in plans.items()}
                seats = self.wait(asked, "waiting for a free thread on each worker", "lock_timeout", life)
                places = tuple(_in_rank_order(seats))
                self.client.subscribe_topic(self.topic, RunWatch(run, progress, life).take)
                try:
                    tasks, summaries = {}, {}
                    for host in self.hosts:
                        share = [self._share(argument, host) for argument in arguments]
                        task = self.submit(run_ranks, host.address, plans[host.address], places, program, *share)
                        tasks[host.address] = task
                        summaries[self.submit(_select_all, host.address, task, summary)] = host.address
                    end = partial(self._end, run)
                    found = self.wait(summaries, label, "deadline", life, progress, end)
                finally:
                    self.client.unsubscribe_topic(self.topic)
            except BaseException as error:
                self._end(run, str(error) or type(error).__name__)
                raise
            return DaskKept(self, tasks, _in_rank_order(found))

    def _plan(self, host: Host, run: int) -> RunPlan:
        return RunPlan(
            gang=self.gang,
            run=run,
            worker=host.name,
            ranks=host.ranks,
            size=self.size,
            comm=self.comm,
            device=self.device,
            deadline=self.config.deadline,
            exchange_timeout=self.config.exchange_timeout,
            memory_share=self.config.memory_fraction / self.sharing,
            heartbeat_interval=self.config.heartbeat_interval,
            topic=self.topic,
        )

    def _share(self, argument: Any, host: Host) -> Any:
        if isinstance(argument, DaskKept):
            return argument.futures[host.address]
        share = argument
        if isinstance(argument, PerRank):
            share = PerRank({rank: argument[rank] for rank in host.ranks})
        if travelling_bytes(share) < LARGE:
            return share
        limit = self.config.deadline
        try:  # large ones go to their worker as data: the scheduler would keep a copy of what stands in a task
            return self.client.scatter([share], workers=[host.address], hash=False, timeout=limit)[0]
        except TimeoutError as error:
            raise PeerLost(f"{host.address} did not take its data in {limit} s") from error

    def wait(
        self,
        tasks: dict[Any, str],
        what: str,
        setting: str,
        life: LifeSigns | None = None,
        progress: Progress | None = None,
        on_failure: Callable[[str], None] | None = None,
    ) -> dict[Any, Any]:
        """Return the results of all futures, by future; raise the first real error, or PeerLost for a lost worker.

        `setting` names the time limit. `on_failure` is called once, with the reason, when the first task fails.
        """
        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        over = threading.Event()

        def bring(task: Any) -> None:
            if not over.is_set():
                threading.Thread(target=lambda: done.put((task, _outcome(task, tasks[task]))), daemon=True).start()

        for task in tasks:
            task.add_done_callback(bring)
        try:
            return self._collect(tasks, done, what, setting, life, progress, on_failure)
        finally:
            over.set()

    def _collect(
        self,
        tasks: dict[Any, str],
        done: queue.SimpleQueue[Any],
        what: str,
        setting: str,
        life: LifeSigns | None,
        progress: Progress | None,
        on_failure: Callable[[str], None] | None,
    ) -> dict[Any, Any]:
        life = life or LifeSigns(self.client, self.config.heartbeat_timeout)
        pending, failed = set(tasks), []
        results: dict[Any, Any] = {}
        asked_at = time.monotonic()
        limit = getattr(self.config, setting)
        give_up = asked_at + limit
        while pending:
            try:
                task, outcome = done.get(timeout=POLL)
            except queue.Empty:
                task = None
            now = time.monotonic()
            if task is not None:
                pending.discard(task)
                if not isinstance(outcome, Failed):
                    results[task] = outcome
                else:
                    failed.append(outcome.error)
                    if len(failed) == 1:
                        give_up = min(give_up, now + ENDING)
                        if on_failure is not None:
                            on_failure(f"the worker {tasks[task]} failed")
            if progress is not None:
                progress.draw()
            if now > give_up:
                if failed:
                    break
                raise DeadlineExceeded(
                    f"{what} took longer than {limit} s; raise the setting graphdask.{setting.replace('_', '-')} "
                    "if it may take as long as that"
                )
            if now - asked_at > ASK_SCHEDULER or (failed and pending and task is None):
                asked_at = now
                life.check({tasks[task] for task in pending}, what)
        if failed:
            raise _cause(failed)
        return results

    def _end(self, run: int, reason: str) -> None:
        """End a run on all workers that answer, without waiting for those that do not."""
        known = ask_scheduler(self.client)
        alive = [host.address for host in self.hosts if host.address in known]

        def tell(address: str) -> None:
            with suppress(Exception):  # whoever does not hear it has its own deadline
                self.client.run(leave_seats, self.gang, run, reason, workers=[address], on_error="ignore")

        threads = [threading.Thread(target=tell, args=(address,), daemon=True) for address in alive]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 2.0
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))


def _seated(workers: dict[str, KnownWorker], size: int) -> list[Host]:
    hosts = list(workers.items())[:size]
    count = len(hosts)
    return [
        Host(worker.name, address, tuple(range(size * i // count, size * (i + 1) // count)))
        for i, (address, worker) in enumerate(hosts)
    ]


def _outcome(task: Any, address: str) -> Any:
    """The result of a task that is over, or Failed with what went wrong."""
    from distributed.client import FutureCancelledError, FuturesCancelledError
    from distributed.scheduler import KilledWorker

    try:
        return task.result(timeout=ANSWER)
    except GraphdaskError as error:
        return Failed(error)
    except TimeoutError:
        return Failed(PeerLost(f"the worker {address} did not hand over its result in {ANSWER} s"))
    except (FutureCancelledError, FuturesCancelledError, KilledWorker) as error:
        return Failed(PeerLost(f"the worker {address} left and took its partitions with it: {error}"))
    except Exception as error:  # whatever the task raised; the caller decides what it means
        return Failed(error)


def _cause(errors: list[BaseException]) -> BaseException:
    """The error that explains the others: not a report of another rank's, if there is one."""
    from graphdask.comm.failure import is_secondary

    return min(errors, key=lambda error: (is_secondary(error), isinstance(error, PeerLost)))
