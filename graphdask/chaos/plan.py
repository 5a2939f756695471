"""A case, drawn from choices: a cluster and some steps, each an operation, a graph, a division, a fault and its moment.

All is drawn before anything is run, and every step takes the same number of choices, so a case depends on its choices
only, and a step can be left out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from graphdask.selftest.choices import Choices

TRANSPORTS = ("tcp", "shm", "ucx")
MOST_WORKERS = 4
MOST_STEPS = 6
DIVISIONS = (
    ("range", None),
    ("random", None),
    ("biased-random", "1-hop"),
    ("metis", "all"),
    ("random", "all"),
)
"""Partitioner and ghosts; None leaves them to the algorithm."""
FAULTS = (
    "none",
    "worker killed",
    "worker ended",
    "worker crashed",
    "worker paused",
    "worker stopped",
    "two workers killed",
    "memory filled",
    "memory refused",
    "client killed",
    "client paused",
    "scheduler ended",
    "scheduler killed",
)
"""`killed` is SIGKILL, `ended` SIGTERM and `crashed` SIGSEGV. What is paused goes on after two seconds, what is stopped
not before the calls are over; an only worker is paused in its place. Memory is filled until Dask's nanny ends the
worker, or refused by the system."""
MOMENTS = 41
"""Of an operation, in twentieths of the time that it takes undisturbed."""
HEAD = 3
"""Choices before those of the steps."""
WIDTH = 7
"""Choices of a step."""


@dataclass(frozen=True)
class Step:
    """An operation, called again and again until a fault has happened."""

    operation: str
    graph: str
    division: tuple[str, str | None]
    fresh: bool
    """Whether each call is given a graph of its own, which the workers have not built yet."""
    fault: str
    victim: int
    """Which of the workers, in the order of their process ids."""
    moment: float
    """When, as a multiple of the time of an undisturbed call."""

    def __str__(self) -> str:
        by, ghosts = self.division
        graph = f"{'a new ' if self.fresh else ''}{self.graph} by {by}{f' with {ghosts} ghosts' if ghosts else ''}"
        when = "" if self.fault == "none" else f" at {self.moment:g} of its time"
        return f"{self.operation} of {graph}: {self.fault}{when}"

    @property
    def scheduler(self) -> bool:
        """Whether there is no cluster after the fault."""
        return self.fault.startswith("scheduler")


@dataclass(frozen=True)
class Plan:
    """A cluster, and what is done with it."""

    transport: str
    workers: int
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        return "; ".join((f"{self.transport}, {self.workers} workers", *map(str, self.steps)))


def drawn(choices: Choices, operations: Sequence[str], graphs: Sequence[str]) -> Plan:
    """Return the case of some choices. After the end of a scheduler no step follows."""
    transport = choices.among(TRANSPORTS)
    if transport == "ucx" and find_spec("ucxx") is None:
        transport = "tcp"
    workers, count, steps = 1 + choices.below(MOST_WORKERS), 1 + choices.below(MOST_STEPS), []
    for _ in range(count):
        step = Step(
            operation=choices.among(operations),
            graph=choices.among(graphs),
            division=choices.among(DIVISIONS),
            fresh=choices.below(2) == 1,
            fault=choices.among(FAULTS),
            victim=choices.below(MOST_WORKERS),
            moment=choices.below(MOMENTS) / 20,
        )
        # while the only worker is stopped, no call can be answered
        alone = workers == 1 and step.fault == "worker stopped"
        steps.append(replace(step, fault="worker paused") if alone else step)
    kept = next((number for number, step in enumerate(steps, 1) if step.scheduler), count)
    return Plan(transport, workers, tuple(steps[:kept]))


def simpler(choices: list[int]) -> Iterator[list[int]]:
    """Return the choices of cases that are simpler: of one step, of a step less, with a smaller number at a place."""
    head, steps = choices[:HEAD], [choices[at : at + WIDTH] for at in range(HEAD, len(choices), WIDTH)]

    def joined(kept: list[list[int]]) -> list[int]:
        return [*head[: HEAD - 1], len(kept) - 1, *(number for step in kept for number in step)]

    if len(steps) > 1:
        for step in reversed(steps):
            yield joined([step])
        for gone in range(len(steps)):
            yield joined(steps[:gone] + steps[gone + 1 :])
    count = HEAD - 1
    for at, value in enumerate(choices):
        for smaller in dict.fromkeys((0, value // 2)):
            if smaller < value and at != count:
                yield [*choices[:at], smaller, *choices[at + 1 :]]
