"""Supersteps of a program in which all vertices send one float and add up what comes, on a CPU that has the whole graph
(kernels/program/program_rounds.py).

A superstep is one pass over the edges and one over the vertices, without Python in between. The first supersteps are a
call each, which the statistics show one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ENOUGH = 1 << 24
"""Edges of the supersteps of a call, after which the host checks its deadline: some 20 ms."""


@dataclass
class Rounds:
    """What the kernel is called with. It stands for the loop of a state (graphdask.program._loop)."""

    kernels: Any
    edges: int
    single: int
    """Supersteps of a run that are a call each."""

    def run(self, state: Any, steps: int) -> None:
        """Go through at most `steps` supersteps; the first call only writes what vertices send."""
        pack = state.pack
        most = 1 if state.done < self.single else max(ENOUGH // max(self.edges, 1), 1)
        self.kernels.program_rounds(pack.owned, int(state.unsent), 0 if state.unsent else min(steps, most), pack)

    def take(self, state: Any) -> tuple[int, int, tuple[int, int]]:
        """Take over what the host has read of the call: how far it came; return how many vertices sent, along how many
        edges, and how often others pulled."""
        steps = 0 if state.unsent else int(state.progress.steps)
        sent = 1 if state.unsent else steps
        state.done, state.unsent = state.done + steps, False
        return sent * state.count, steps * self.edges, (0, sent)
