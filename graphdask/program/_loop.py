"""Many supersteps of a program in one launch, on one rank that has the whole graph (kernels/program/program_loop.cu).

A superstep of a few vertices takes some microseconds on a GPU, and its launches some hundred. Where nothing has to be
exchanged or decided by the host in between, the blocks of one launch go through all supersteps and wait for each other.
On a CPU the first supersteps are a call each, which the statistics show one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.program.program_pack import COUNTS, STEPS, VISITED, WORDS
from graphdask.partition.part import Csr
from graphdask.program.definition import Definition

THREADS = 1 << 24
"""More than run at the same time: as many blocks as can take part."""
MOST_STEPS = 1 << 10
"""Supersteps of a launch, after which the host checks its deadline."""
SINGLE = 64
"""Supersteps of a run that are a call each on a CPU."""


def may_loop(of: Definition, rows: list[Csr], env: Environment) -> bool:
    """Whether the host has nothing to do between supersteps, but for `until`."""
    return env.size == 1 and len(rows) == 1 and of.pushes and not of.aggregates


@dataclass
class Loop:
    """What the kernel is launched with."""

    kernels: Any
    failures: tuple[Array, Array]
    """Of `send` and of `apply`."""
    progress: Array
    """int64 of shape (WORDS,)."""
    on_cpu: bool

    def run(self, state: Any, steps: int) -> None:
        """Go through at most `steps` supersteps, or MOST_STEPS.

        It begins with the `count` vertices of the state, if they have yet to send, or else with the messages that were
        sent last.
        """
        pack, begins = state.pack, state.unsent
        pack.set_counters(changed=0, sent=0, hubs=0)
        if self.on_cpu:
            steps = 0 if begins else 1 if state.done < SINGLE else steps
        if begins:
            pack.assign(listed=None if state.everywhere else state.changed, everywhere=int(state.everywhere))
            if pack.extent is not None:
                pack.extent[:] = state.no_extent
        self.progress.fill(0)
        threads, first = min(THREADS, pack.owned + len(pack.indices)), state.count if begins else -1
        self.kernels.program_loop(threads, first, min(steps, MOST_STEPS), *self.failures, self.progress, pack)

    def take(self, state: Any) -> tuple[int, int]:
        """Take over what the host has read of the launch: how far it came; return how many vertices sent, and along how
        many edges."""
        words, state.unsent = state.found[-WORDS:], False
        state.done, state.count, state.everywhere = state.done + words[STEPS], state.found[COUNTS.place.changed], False
        return int(words[VISITED]), state.found[COUNTS.place.sent]
