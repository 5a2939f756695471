"""Board: what the scheduler has received about graphdask's runs, as columns for the pictures of the page.

Two kinds of messages come: from workers, now and then, where the ranks of a run are; and from clients, soon after
runs, their supersteps. Only the last runs are kept.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

try:
    from distributed.diagnostics.plugin import SchedulerPlugin
except ImportError:  # pragma: no cover  # distributed is a dependency

    class SchedulerPlugin:  # type: ignore[no-redef]
        pass


NAME = "graphdask-board"
RUNS = "graphdask-runs"
"""The topic of the messages of clients."""
PULSES = "graphdask-"
"""What the topics of workers begin with."""
KEPT = 50
"""Runs that the table shows."""
STEPS = 200
"""Most bars of a picture; supersteps beyond share one."""
QUIET = 10.0
"""Seconds without a message after which a run is over, or lost."""


def report_of(stats: Any, workers: Sequence[str]) -> dict[str, Any]:
    """Return what a client sends of a run, with its topic and number; `workers` names the worker of each rank."""
    steps = list(stats)
    each = max(-(-len(steps) // STEPS), 1)
    groups = [steps[first : first + each] for first in range(0, len(steps), each)]
    sent: dict[str, int] = dict.fromkeys(workers, 0)
    for name, detail in zip(workers, stats.ranks_detail, strict=False):
        sent[name] += sum(int(step.bytes_sent) for step in detail)
    return {
        "algorithm": stats.algorithm,
        "transport": stats.transport,
        "ranks": stats.ranks,
        "supersteps": len(steps),
        "seconds": float(stats.seconds),
        "edges": int(stats.edges),
        "each": each,
        "frontier": [max(int(step["frontier"]) for step in group) for group in groups],
        "bytes": [sum(int(step["bytes_sent"]) for step in group) for group in groups],
        "milliseconds": [1e3 * sum(float(step["seconds"]) for step in group) for group in groups],
        "workers": sent,
    }


class Board(SchedulerPlugin):
    """Takes in messages and gives columns."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self.runs: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._live: dict[tuple[str, int], tuple[float, dict[int, Sequence[Any]]]] = {}

    def log_event(self, topic: Any, msg: Any) -> None:
        """Called by the scheduler with every event; others' are left alone."""
        for name in [topic] if isinstance(topic, str) else topic:
            if name == RUNS:
                self.runs.extend(msg)
                for run in msg:
                    self._live.pop((run["topic"], run["run"]), None)
            elif name.startswith(PULSES) and isinstance(msg, dict) and "ranks" in msg:
                _, ranks = self._live.get((name, msg["run"]), (0.0, {}))
                ranks.update({rank[0]: (msg["worker"], *rank[1:]) for rank in msg["ranks"]})
                self._live[name, msg["run"]] = self._clock(), ranks

    def supersteps(self) -> dict[str, list[Any]]:
        """Of the last run that is over: a bar each."""
        if not self.runs:
            return {"superstep": [], "frontier": [], "bytes": [], "milliseconds": []}
        run = self.runs[-1]
        places = [number * run["each"] for number in range(len(run["frontier"]))]
        return {"superstep": places} | {name: list(run[name]) for name in ("frontier", "bytes", "milliseconds")}

    def workers(self) -> dict[str, list[Any]]:
        """Bytes sent by each worker in the last run that is over."""
        sent = self.runs[-1]["workers"] if self.runs else {}
        return {"worker": [str(name) for name in sent], "bytes": list(sent.values())}

    def running(self) -> dict[str, list[Any]]:
        """Where the ranks of runs that go on are."""
        now = self._clock()
        self._live = {key: (received, ranks) for key, (received, ranks) in self._live.items() if now - received < QUIET}
        columns: dict[str, list[Any]] = {n: [] for n in ("worker", "rank", "superstep", "frontier", "edges", "bytes")}
        for _, ranks in self._live.values():
            for rank, (worker, superstep, frontier, edges, sent, *_) in sorted(ranks.items()):
                for name, value in zip(columns, (worker, rank, superstep, frontier, edges, sent), strict=True):
                    columns[name].append(value)
        return columns

    def table(self) -> dict[str, list[Any]]:
        """The runs that are over, the last one first."""
        names = ("algorithm", "ranks", "transport", "supersteps", "edges", "seconds")
        found: dict[str, list[Any]] = {name: [run[name] for run in reversed(self.runs)] for name in names}
        return found | {"bytes": [sum(run["bytes"]) for run in reversed(self.runs)]}

    def title(self) -> str:
        """Of the pictures."""
        if not self.runs:
            return "No run is over yet"
        run = self.runs[-1]
        return (
            f"{run['algorithm']}: {run['supersteps']:,} supersteps in {run['seconds']:.3g} s, {run['ranks']} ranks "
            f"over {run['transport']}"
        )
