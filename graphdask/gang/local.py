"""LocalGang: the ranks are threads of this process, or the calling thread itself where there is one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphdask.comm.single import SingleCommunicator
from graphdask.comm.threads import run_threads
from graphdask.config import Config
from graphdask.device.backend import cuda_device_count, get_backend
from graphdask.device.limits import refuse_beyond_memory
from graphdask.engine.loop import RankContext
from graphdask.engine.watchdog import Watchdog
from graphdask.gang.arguments import of_rank
from graphdask.gang.progress import Progress
from graphdask.gang.tuning import GANG
from graphdask.kernels.common.compiling import Compiled, account, charge, in_parallel, since

MANY, EACH, PAIR = 64, 1 << 20, 64
"""Partitions of one process up to which nobody asks for memory; bytes for the thread of each, and for each pair."""


@dataclass
class LocalKept:
    """Values of the ranks, in this process."""

    values: list[Any]
    summary: list[Any]

    def __getitem__(self, rank: int) -> Any:
        return self.values[rank]

    def fetch(self, select: Callable[[Any], Any]) -> list[Any]:
        return [select(value) for value in self.values]

    def take(self, rank: int, select: Callable[[Any], Any]) -> Any:
        """What `select` picks from the value of one rank."""
        return select(self.values[rank])

    def ask(self, selects: dict[int, Callable[[Any], Any]]) -> dict[int, Any]:
        """What each function picks from the value of its rank."""
        return {rank: select(self.values[rank]) for rank, select in selects.items()}

    def delayed(self, select: Callable[[Any], Any]) -> list[Any]:
        from dask import delayed

        return [delayed(select, pure=False)(value) for value in self.values]


def devices_used(device: str, size: int) -> int:
    """How many devices `size` ranks of this process have between them."""
    return len({id(get_backend(device, rank)) for rank in range(size)})


class LocalGang:
    """Ranks of this process."""

    kind = "local"

    def __init__(self, size: int, device: str, config: Config):
        if size > MANY:
            needed = size * EACH + size * size * PAIR
            refuse_beyond_memory(
                f"{size:,} partitions in one process", needed, "give fewer, or use workers of a cluster"
            )
        self.size, self.config = size, config
        self.backends = [get_backend(device, rank) for rank in range(size)]
        self._lock = threading.Lock()

    def use(self, config: Config) -> None:
        """Take the settings of a new call."""
        self.config = config

    @staticmethod
    def default_size(device: str, num_edges: int) -> int:
        """One rank on a GPU; on CPUs one for each core where the graph is large, else one.

        Several GPUs of one process would wait for each other's threads: they are for workers, or for who asks.
        """
        if num_edges < GANG.large_graph or (device != "cpu" and cuda_device_count()):
            return 1
        return len(os.sched_getaffinity(0))

    @property
    def device(self) -> str:
        """Where the ranks compute: cpu or cuda."""
        return self.backends[0].name

    @property
    def sharing(self) -> int:
        """How many ranks share a device's memory."""
        return -(-self.size // max(1, len({id(backend) for backend in self.backends})))

    @property
    def neighbours(self) -> int:
        """How many ranks a machine has."""
        return self.size

    def is_whole(self, known: Any) -> bool:
        """Whether partitions built here are still there."""
        return True

    def run(
        self,
        program: Callable[..., Any],
        *arguments: Any,
        summary: Callable[[Any], Any],
        label: str,
        show: bool,
        total: int | None = None,
        goal: tuple[int, str] | None = None,
        alone: bool = False,
    ) -> LocalKept:
        """Call `program(context, *arguments of the rank)` on every rank; keep the values, and return their summaries.

        `summary` is called with each value. `total` is the number of edges that all ranks together go through, if that
        measures progress, and `goal` is what supersteps count as `done`. Ranks that are `alone` do not communicate:
        each gets a communicator of size 1.
        """
        deadline, time_limit = self.config.deadline, self.config.time_limit
        watchdogs = [Watchdog(deadline, time_limit) for _ in range(self.size)]
        share = self.config.memory_fraction / self.sharing
        with self._lock, Progress(label, show, total, goal) as progress:
            spent: dict[int, Compiled] = {}

            def work(comm: Any, rank: int) -> Any:
                before = account()
                comm = SingleCommunicator() if alone else comm
                context = RankContext(comm, self.backends[rank], watchdogs[rank], share, progress.of_rank(rank))
                value = program(context, *(of_rank(argument, rank) for argument in arguments))
                spent[rank] = since(before)
                return value

            if self.size == 1:
                with self.backends[0].activate(), SingleCommunicator() as comm:
                    values = [work(comm, 0)]
            else:
                values = run_threads(
                    self.size, work, self.backends, deadline, deadline, on_wait=progress.draw,
                    moved=lambda: max(watchdog.moved for watchdog in watchdogs), time_limit=time_limit,
                )  # fmt: skip
                charge(in_parallel(spent.values(), shared=True))
            kept = LocalKept(values, [summary(value) for value in values])
            progress.finish(kept.summary)
            return kept


def itself(value: Any) -> Any:
    """All of a value, where a summary of it is asked for."""
    return value
