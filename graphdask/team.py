"""A primitive whose ranks' GPUs go through all supersteps together, in one launch on each (kernels/team.cuh).

What the engine does superstep by superstep with mail between, kernels do here by themselves: they write into each
other's memory and meet there. It is used where ranks can (`Communicator.peers`), for a selective exchange with room for
everything; the answer is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from graphdask.backend import Array
from graphdask.comm.peers import NoPeers
from graphdask.comm.protocol import Peers
from graphdask.engine import Environment, Superstep
from graphdask.ghosts import mirrors
from graphdask.kernels import team as at
from graphdask.part import Part

__all__ = ["Peers", "TeamMemory", "TeamRun", "peers_of"]

THREADS = 1 << 24
"""More than run at the same time: as many as can take part."""
MOST_STEPS = 1 << 10
"""Supersteps of a launch: some ten milliseconds, after which the host looks at its deadline."""
FIRST_READ = 1024
"""Words of the log that are read at once: that of some hundred supersteps."""
ALIGNED = 256


def peers_of(env: Environment, alone: bool = False) -> Peers | None:
    """The ranks whose GPUs go on together, where they can; None on all ranks alike. Every rank calls it.

    One rank is a team where `alone` is true.
    """
    assert env.comm is not None
    if env.size == 1 and alone and env.backend.name == "cuda" and not env.allocation.partial:
        return NoPeers(env.comm, env.backend)
    apart = env.size == 1 or env.backend.name != "cuda" or env.exchange != "selective" or env.allocation.partial
    return None if apart else env.comm.peers(env.backend)


class TeamMemory:
    """Where this rank is told, and where it tells others. Every rank makes it, in `init`, before it launches anything.

    Parameters
    ----------
    peers : Peers
    part : Part
    env : Environment
    areas : sequence of (int, int)
        Bytes that a rank is told in an area for each of its vertices that a peer has ghosts of, and bits for each of
        the peer's that it has ghosts of itself.
    said : sequence of int
        For all ranks, besides; `heard` has what they said, int64 of shape (size, len(said)).
    before : int
        Bytes that are for the primitive to lay out, before the areas: those of rank q begin at `addresses[q]`.
    """

    def __init__(
        self, peers: Peers, part: Part, env: Environment, areas: Sequence[tuple[int, int]], said: Sequence[int] = (),
        before: int = 0,
    ):  # fmt: skip
        self.peers, self.words = peers, {}
        size, rank = part.size, part.rank
        whole = part.ghosts is None
        held = [] if whole else mirrors(env.comm, env.backend, part)  # type: ignore[arg-type]
        peer_of = [(rank + step) % size for step in range(size)]
        counts = [0] + [part.num_owned if whole else len(held[peer]) for peer in peer_of[1:]]
        ghosts = [0, *np.diff(part.slot_bounds)[1:].tolist()]
        places, end = np.zeros((len(areas), size), np.int64), -(-before // ALIGNED) * ALIGNED
        for area, (nbytes, bits) in enumerate(areas):
            for step, peer in enumerate(peer_of[1:], start=1):
                places[area, peer] = end
                room = -(-counts[step] * nbytes // 8) * 8 + 8 + -(-ghosts[step] * bits // 32) * 4
                end += -(-room // ALIGNED) * ALIGNED
        self.addresses, all_said = peers.memory(end, np.concatenate([places.reshape(-1), np.array(said, np.int64)]))
        self.heard = all_said[:, places.size :]
        told, mine = all_said[:, : places.size].reshape(size, len(areas), size), places.tolist()
        for step, bound in enumerate(part.slot_bounds.tolist()):
            self.words[at.BOUNDS + step] = bound
        for step, peer in enumerate(peer_of[1:], start=1):
            self.words[at.HELD + step] = counts[step]
            if counts[step] < part.num_owned:
                self.words[at.MIRRORS + step] = env.backend.address(held[peer])
            for area in range(len(areas)):
                self.words[at.OUT + area * at.TEAM_RANKS + step] = self.addresses[peer] + int(told[peer, area, rank])
                self.words[at.IN + area * at.TEAM_RANKS + step] = self.addresses[rank] + mine[area][peer]


class TeamRun(ABC):
    """The part of one rank. Every rank makes it, from `init`.

    Parameters
    ----------
    memory : TeamMemory
    part : Part
    env : Environment
    kernel : callable
        The kernel, which takes rows, their length, and `numbers`.
    own : dict of int to array or None
        What the kernel wants besides, by the place in the row.
    """

    name: str
    stops = False
    """Whether one launch is enough, however far it came."""
    kinds: ClassVar[tuple[str, ...]]
    """By the kind of a superstep, how what ranks tell is coded."""

    def __init__(self, memory: TeamMemory, part: Part, env: Environment, kernel: Any, own: Mapping[int, Array | None]):
        self.peers, self.env, self.kernel = memory.peers, env, kernel
        self.ends = np.zeros(at.END_WORDS, np.int64)
        """What the last launch left."""
        self.log = env.xp.empty(at.END_WORDS + MOST_STEPS * at.LOG_WORDS, np.int64)
        self._kept = [array for array in own.values() if array is not None]
        row = self.row = np.zeros(max(own) + 1, np.int64)
        for place, array in own.items():
            row[place] = 0 if array is None else env.backend.address(array)
        for place, word in memory.words.items():
            row[place] = word
        row[at.OWNED], row[at.LOG] = part.num_owned, env.backend.address(self.log)

    @abstractmethod
    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        """What the kernel takes besides rows, the same on all ranks.

        `ends` is what the launch before left, int64 of shape (END_WORDS,).
        """

    def run(self) -> list[Superstep]:
        """Go through all supersteps, which are recorded; returns them. Every rank calls it."""
        env, ends, steps = self.env, None, []
        while ends is None or not (ends[at.END_DONE] or self.stops):
            numbers = self.numbers(ends)

            def launch(rows: Array, teams: int, numbers: tuple[Any, ...] = numbers) -> None:
                self.kernel(THREADS, rows, rows.shape[1], *numbers, teams=teams)

            self.peers.run(self.row, launch)
            told = env.backend.to_host(self.log[:FIRST_READ])
            ends, count = told[: at.END_WORDS], int(told[at.END_STEPS])
            self.peers.met(int(ends[at.END_MEETING]))
            self.ends = ends
            if ends[at.END_DONE] == at.GAVE_UP:
                raise self.peers.late()
            if at.END_WORDS + count * at.LOG_WORDS > FIRST_READ:
                told = env.backend.to_host(self.log)
            for line in told[at.END_WORDS :][: count * at.LOG_WORDS].reshape(count, at.LOG_WORDS).tolist():
                steps.append(self._superstep(line))
                env.record(steps[-1])
            env.check_deadline(self.name, f"superstep {len(env.history)}")
        return steps

    def _superstep(self, line: list[int]) -> Superstep:
        return Superstep(
            number=len(self.env.history),
            frontier=line[at.LOG_FRONTIER],
            edges=line[at.LOG_EDGES],
            messages=line[at.LOG_SENT],
            bytes_sent=line[at.LOG_BYTES],
            codes=(self.kinds[line[at.LOG_KIND]],) if line[at.LOG_BYTES] else (),
            compute=line[at.LOG_COMPUTE] / 1e9,
            code=0.0,
            exchange=line[at.LOG_EXCHANGE] / 1e9,
            wait=line[at.LOG_WAIT] / 1e9,
        )
