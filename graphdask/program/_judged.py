"""Supersteps in which all vertices send and after each of which `until` may end the run, on one GPU that has the whole
graph.

The GPU asks the translated `until`, sends its words to the host, and meanwhile adds up what comes to vertices in the
next superstep, unless the run ends. The caller's function, which the host calls, decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.readback import Readback, readback_of
from graphdask.engine.loop import Environment
from graphdask.kernels.program.program_pack import PROGRESS
from graphdask.kernels.program.program_pack import Program as Pack


def is_judged(program: Any, env: Environment) -> bool:
    """Whether a GPU asks `until` after supersteps in which it adds up what all vertices send."""
    alone = env.backend.name == "cuda" and env.size == 1
    return alone and program.ending is not None and program.sums_values(env)


@dataclass
class Judged:
    """Of one run."""

    readback: Readback
    summed: bool = False
    """Whether what comes in the next superstep has been added up."""

    @classmethod
    def of(cls, env: Environment, pack: Pack, words: Array) -> Judged:
        """For the words that the host reads after each superstep."""
        pack.failure_of_until = env.xp.zeros(1, np.int32)
        return cls(readback_of(env.backend, len(words), 1))

    def votes(self, program: Any, state: Any, env: Environment) -> Any:
        """Go on to what comes next, where the run does; return a function that waits for the words of the superstep
        and votes them. Before the first superstep of a run return the votes."""
        if not state.done or state.resumed:
            return program.read_votes(state, env)
        state.kernels.program_judge(1, state.done, state.pack)
        last = program.most is not None and state.done >= program.most
        number, at = self.readback.send(state.words), len(state.words) - len(PROGRESS) + PROGRESS.place.goes
        if not last:
            state.sums.add(state.values[0], state.pack.message0, state.words[at : at + 1])

        def votes() -> tuple[float, ...]:
            found = self.readback.read(number).view(np.int64)
            self.summed = not last and bool(found[at])
            return program.read_votes(state, env, found)

        return votes
