"""The signs of life that a worker sends to the client while its ranks run, with where each rank is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphdask.device.estimates import announced
from graphdask.engine.loop import Superstep
from graphdask.kernels.common.compiling import process as process_total


class Pulse:
    """Signs of life to the client, with where each rank is; and a look whether the client still wants the run."""

    def __init__(self, worker: Any, plan: Any, run: Any, wanted: str):
        self._worker, self._plan, self._run = worker, plan, run
        self._task = wanted
        self._ranks: dict[int, tuple[int, int, int, int, float]] = {}
        self._over, self._compiled = False, process_total().seconds

    def __enter__(self) -> Pulse:
        self._worker.loop.add_callback(self._wait)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._over = True

    def of_rank(self, rank: int) -> Callable[[Superstep], None]:
        edges = sent = 0

        def note(step: Superstep) -> None:
            nonlocal edges, sent
            edges += step.edges
            sent += step.bytes_sent
            self._ranks[rank] = (step.number, step.frontier, edges, sent, step.done)

        return note

    def _wait(self) -> None:
        self._worker.loop.call_later(self._plan.heartbeat_interval, self._beat)

    def _beat(self) -> None:
        """Called by the worker's event loop."""
        if self._over:
            return
        ranks = [[rank, *map(int, where), float(done)] for rank, (*where, done) in list(self._ranks.items())]
        message = {"run": self._plan.run, "worker": self._plan.worker, "ranks": ranks, "done": self._run.done}
        message |= {"compiling": process_total().seconds - self._compiled, "estimate": announced()}
        self._worker.log_event(self._plan.topic, message)
        task = self._worker.state.tasks.get(self._task)
        if task is None or task.state == "cancelled":
            self._run.cancel.set("the client gave up the run, or is gone")
        self._wait()
