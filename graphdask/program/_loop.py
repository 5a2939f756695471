"""Many supersteps of a program in one launch, on one rank that has the whole graph (kernels/program/program_loop.cu).

A superstep of a few vertices takes some microseconds on a GPU, and its launches some hundred. Where nothing has to be
exchanged or decided by the host in between, the blocks of one launch go through all supersteps and wait for each other.
On a CPU the first supersteps are a call each, which the statistics show one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphdask.engine.loop import Environment, Messages
from graphdask.kernels.program.program_pack import COUNTS
from graphdask.partition.part import Csr, Part
from graphdask.program._columns_read import fields_of_edges
from graphdask.program._pull import Pull, may_pull
from graphdask.program._rounds import Rounds
from graphdask.program.glue import written
from graphdask.program.tuning import PROGRAM

THREADS = 1 << 24
"""More than run at the same time: as many blocks as can take part."""


def may_loop(program: Any, rows: list[Csr], env: Environment) -> bool:
    """Whether the host has nothing to do between supersteps: kernels add up aggregates and ask a translated `until`."""
    if not program.resident or env.size > 1 or len(rows) > 1:
        return False
    asks = program.until is None or program.ending is not None
    return asks and (program.definition.pushes or (env.backend.name == "cpu" and program.sums_values(env)))


def memory_of_loop(program: Any, part: Part, env: Environment) -> int:
    """Bytes at most of what such a loop needs besides the state."""
    of, needed = program.definition, 0
    if may_pull(of, part, env, program.directed):
        needed += Pull.memory(of, part)
    if of.free_order is not None:
        needed += part.num_owned * part.vertex_map.dtype.itemsize + part.num_slots // 8
    return needed


@dataclass
class Loop:
    """What the kernel is launched with."""

    kernels: Any
    on_cpu: bool

    def run(self, state: Any, steps: int) -> None:
        """Go through at most `steps` supersteps, or those of a launch.

        It begins with the `count` vertices of the state, if they have yet to send, or else with the messages that were
        sent last.
        """
        pack, begins = state.pack, state.unsent
        pack.set_counters(changed=0, sent=0, hubs=0)
        if self.on_cpu and not state.ordered:
            steps = 0 if begins else 1 if state.done < PROGRAM.single_steps else steps
        if begins:
            pack.assign(listed=None if state.everywhere else state.changed, everywhere=int(state.everywhere))
            if pack.extent is not None:
                pack.extent[:] = state.no_extent
        pack.progress.fill(0)
        threads, first = min(THREADS, pack.owned + len(pack.indices)), state.count if begins else -1
        self.kernels.program_loop(threads, first, min(steps, PROGRAM.launch_steps), pack)

    def take(self, state: Any) -> tuple[int, int, tuple[int, int]]:
        """Take over what the host has read of the launch: how far it came; return how many vertices sent, along how
        many edges, and how often they pushed and others pulled."""
        progress, state.unsent = state.progress, False
        state.done, state.everywhere = state.done + progress.steps, False
        state.count = state.found[COUNTS.place.changed]
        return progress.visited, state.found[COUNTS.place.sent], (progress.pushes, progress.pulls)


def make_loop(program: Any, part: Part, state: Any, env: Environment) -> None:
    """Make what a run of a program goes through its supersteps with, and give the pack what that needs."""
    pack, rows, on_cpu = state.pack, state.rows[0], env.backend.name == "cpu"
    pack.assign(**fields_of_edges(program.definition, rows))
    functions = program.written
    if program.ending is not None:
        functions = written(program.definition, program.ending)
        pack.failure_of_until = env.xp.zeros(1, np.int32)
    if not program.definition.pushes:
        kernels = program.kernels("program_rounds", rows, part, env, functions=functions)
        state.loop, layout = Rounds(kernels, rows.num_edges, PROGRAM.single_steps), state.sums.layout.rows
        pack.assign(indptr=layout.csr.indptr, indices=layout.indices, weights=None, gathered=state.sums.in_order)
        return
    kernels = program.kernels("program_loop", rows, part, env, functions=functions, cooperative=True)
    state.loop = Loop(kernels, on_cpu)
    if on_cpu and not program.directed:
        pack.active = env.xp.zeros_like(pack.marks)
    if may_pull(program.definition, part, env, program.directed):
        state.pull = Pull(program.definition, part.out)
        pack.dense = state.pull.dense


def go_on(program: Any, part: Part, state: Any, env: Environment) -> Messages:
    """Go through supersteps: many in which vertices push, or one in which they pull."""
    none, pull = part.ids[:0], state.pull if state.pulls else None
    if pull is not None and not state.found:  # the first superstep computes states
        return Messages(none, none, {}, state.count > 0, votes=program.read_votes(state, env))
    if pull is not None and not pull.prepare(part, env, state.pack, partial(program.kernels, part=part, env=env)):
        pull = state.pull = None
        state.pack.dense = 0
    if pull is None:
        state.loop.run(state, PROGRAM.launch_steps if program.most is None else program.most - state.done)
    else:
        pull.run(state)
    votes = program.read_votes(state, env)
    frontier, edges, ways = (state.loop if pull is None else pull).take(state)
    state.pulls = state.pull is not None and state.pull.goes_on(state)
    state.unsent = state.unsent or state.pulls
    goes_on = state.count > 0 or (state.ordered and pull is not None)  # far vertices may be left
    return Messages(none, none, {}, goes_on, frontier, edges, votes=votes, ways=ways)
