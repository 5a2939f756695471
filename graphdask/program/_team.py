"""Supersteps of a program by the GPUs of a host together, in one launch on each (kernels/program/program_team.cu)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from graphdask.engine.loop import Environment, Messages, Superstep
from graphdask.engine.team import Areas, Peers, TeamMemory, TeamRun
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common.team import END_DONE, TEAM_RANKS, TEAM_WORDS
from graphdask.kernels.program import program_team as at
from graphdask.kernels.program.program_pack import BINS
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.partition.part import Part
from graphdask.program._columns_read import fields_of_edges
from graphdask.program.definition import Definition
from graphdask.program.glue import written

ENDLESS = 1 << 62
"""Supersteps of a program that ends by itself."""


def _areas(of: Definition, part: Part) -> Areas:
    """What goes to the owner of a ghost: which one, the messages combined, and how many came if the program asks."""
    fields = [("value", of.message_dtypes[0]), *([("count", np.dtype(np.int32))] if of.counts else [])]
    nbytes = part.vertex_map.dtype.itemsize + np.dtype(fields, align=True).itemsize
    return (nbytes, 0), (nbytes, 0)


def _words(of: Definition) -> int:
    """Bytes of the words of aggregates of a rank."""
    return len(of.aggregates) * BINS * 8


class TeamProgram(TeamRun):
    """The part of one rank. Every rank makes it, from `init`.

    Parameters
    ----------
    memory : TeamMemory
    part : Part
    env : Environment
    kernels : object
        Of the family, with the functions of the program.
    pack : Program
        With the lengths of its lists in the counters.
    most : int or None
        Supersteps at most.
    """

    name = "program"
    kinds: ClassVar[tuple[str, ...]] = ("list",)

    @staticmethod
    def memory(peers: Peers, part: Part, env: Environment, of: Definition) -> TeamMemory:
        """For lists of ghosts and their messages, and for words of aggregates, in turn."""
        return TeamMemory(peers, part, env, _areas(of, part), common=_words(of))

    @staticmethod
    def nbytes(peers: Peers, part: Part, env: Environment, of: Definition) -> int:
        """Bytes that it takes besides the state. Every rank calls it."""
        return TeamMemory.nbytes(peers, part, env, _areas(of, part), common=_words(of)) + 3 * 8 * TEAM_WORDS

    def __init__(self, memory: TeamMemory, part: Part, env: Environment, kernels: Any, pack: Pack, most: int | None):
        self.most = ENDLESS if most is None else most
        votes = env.xp.zeros(3 * TEAM_WORDS, np.int64)
        own = {at.VOTES: votes, at.SUMS + TEAM_RANKS - 1: None}
        super().__init__(memory, part, env, kernels.program_team, own, pack)
        self.ends[at.END_SUPERSTEP] = -1
        self.row[at.SUMS : at.SUMS + part.size] = memory.common

    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        return int(self.ends[at.END_SUPERSTEP]), ENGINE.team_steps, self.most

    def _superstep(self, line: list[int]) -> Superstep:
        step = super()._superstep(line)
        step.ways = 1, 0
        return step

    @property
    def asks(self) -> bool:
        """Whether the last launch ended so that the host asks whether the run ends."""
        return int(self.ends[END_DONE]) == at.HOST_LOOKS

    @property
    def supersteps(self) -> int:
        """How many there were in which states were computed."""
        return int(self.ends[at.END_SUPERSTEP])


def team_of(program: Any, part: Part, env: Environment) -> TeamMemory | None:
    """The memory of ranks whose GPUs go through all supersteps of a program together; None where they do not. Every
    rank calls it, before it launches anything."""
    peers = _peers(program, part, env)
    return None if peers is None else TeamProgram.memory(peers, part, env, program.definition)


def memory_of_team(program: Any, part: Part, env: Environment) -> int | None:
    """Bytes that such a run takes besides the state; None where there is none. Every rank calls it."""
    peers = _peers(program, part, env)
    return None if peers is None else TeamProgram.nbytes(peers, part, env, program.definition)


def _peers(program: Any, part: Part, env: Environment) -> Peers | None:
    of = program.definition
    alike = program.resident and of.pushes and (program.until is None or program.ending is not None)
    return env.peers() if alike and len(program.rows_of(part, True)) == 1 else None


def go_together(program: Any, part: Part, state: Any, memory: TeamMemory, env: Environment) -> Messages:
    """Go through supersteps with the GPUs of other ranks, as `go_on_together`, from those vertices that send first."""
    pack, rows = state.pack, state.rows[0]
    pack.assign(
        listed=None if state.everywhere else state.changed, everywhere=int(state.everywhere),
        **fields_of_edges(program.definition, rows),
    )  # fmt: skip
    if pack.extent is not None:
        pack.extent[:] = state.no_extent
    functions = program.written
    if program.ending is not None:
        functions = written(program.definition, program.ending)
        pack.failure_of_until = env.xp.zeros(1, np.int32)
    pack.set_counters(changed=state.count)
    kernels = program.kernels("program_team", rows, part, env, functions=functions, cooperative=True)
    state.team = TeamProgram(memory, part, env, kernels, pack, program.most)
    return go_on_together(program, part, state, env)


def go_on_together(program: Any, part: Part, state: Any, env: Environment) -> Messages:
    """Go through supersteps with the GPUs of other ranks, to the end or until the host has to ask whether that is it;
    nothing is left to be said."""
    pack, team = state.pack, state.team
    team.run()
    state.done, none = team.supersteps, part.ids[:0]
    columns = {"message0": pack.message0, "counted": pack.received}
    return Messages(none, none, columns, team.asks, votes=program.read_votes(state, env))
