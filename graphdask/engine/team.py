"""Team runs: the GPUs of all ranks run all supersteps together, in one launch on each GPU (kernels/common/team.cuh).

Usually the engine runs one superstep at a time, with an exchange in between. In a team run the kernels do this by
themselves: they write into each other's memory and synchronize there. The engine uses it if the ranks can
(`Communicator.peers`), the exchange is selective and the allocation is maximal. The answer is the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from graphdask.comm.protocol import PeerMemory, Peers
from graphdask.device.backend import Array
from graphdask.device.launch import word_of
from graphdask.engine.loop import AGREED, Environment, Superstep
from graphdask.engine.tuning import ENGINE
from graphdask.kernels.common import team as at
from graphdask.kernels.common.packs import Pack
from graphdask.partition.part import Part

__all__ = ["Peers", "TeamMemory", "TeamRun"]

THREADS = 1 << 24
"""More than run at the same time: as many as can take part."""
FIRST_READ = 1024
"""Words of the log that are read at once: that of some hundred supersteps."""
ALIGNED = 256

Areas = tuple[tuple[int, int], ...]
"""Per area: bytes that a rank receives for each of its vertices that a peer has ghosts of, and bits that it receives
for each of the peer's vertices that it has ghosts of itself."""


class TeamMemory:
    """The memory where peers write to this rank, and the addresses where this rank writes to its peers.

    Every rank makes it, in `init`, before it launches anything.

    Parameters
    ----------
    peers : Peers
    part : Part
    env : Environment
    areas : Areas
    announced : sequence of int
        Further numbers for all ranks, the same in every run. `announced` holds those of all ranks, int64 of shape
        (size, len(announced)).
    before : int
        Bytes before the areas, whose layout the primitive decides. Those of rank q begin at `addresses[q]`.
    common : int
        Bytes of words that each rank writes for all in a meeting. Those in the memory of rank q stand at `common[q]`,
        by meeting modulo 2 and sender.
    """

    def __init__(
        self, peers: Peers, part: Part, env: Environment, areas: Areas, announced: Sequence[int] = (), before: int = 0,
        common: int = 0,
    ):  # fmt: skip
        self.peers, size, rank = peers, part.size, part.rank
        held, before = _held(part, env), before + _common_bytes(peers, part, common)
        plans, made_of = env.agreed, (part.slot_bounds, part.ghosts, part.mirrored)
        if plans is None or not plans.hold(peers.kept, made_of):
            plans = env.agreed = part.tables.keep(AGREED, _Plans(peers.kept, made_of), 0)
        plan = plans.made.get((areas, len(announced), before))
        if plan is None:
            plan = plans.made[areas, len(announced), before] = _Plan.of(part, areas, held, before)
        places = plan.places
        if plan.exchanged is None or peers.kept is None or plan.moved != peers.kept.moved:
            plan.exchanged = peers.memory(
                plan.nbytes, np.concatenate([places.reshape(-1), np.array(announced, np.int64)]), plan.regions
            )
            if peers.kept is not None:
                plan.moved, plans.made_by = peers.kept.moved, peers.kept.number
        self.addresses, all_announced = addresses, _ = plan.exchanged
        self.announced = all_announced[:, places.size :]
        peer_places = all_announced[:, : places.size].reshape(size, len(areas), size)
        row = self.row = plan.row.copy()
        self.common = peers.common(common, addresses)
        row[at.COMMON] = common
        peer_of = (rank + np.arange(1, size)) % size
        begins = np.array(addresses, np.int64)
        for area in range(len(areas)):
            out, into = (first + area * at.TEAM_RANKS + 1 for first in (at.OUT, at.IN))
            row[out : out + size - 1] = begins[peer_of] + peer_places[peer_of, area, rank]
            row[into : into + size - 1] = begins[rank] + places[area, peer_of]
        for step, peer in enumerate(peer_of.tolist(), start=1):
            if row[at.HELD + step] < part.num_owned:
                row[at.MIRRORS + step] = env.backend.address(held[peer])

    @staticmethod
    def nbytes(peers: Peers, part: Part, env: Environment, areas: Areas, before: int = 0, common: int = 0) -> int:
        """Bytes that it takes, and the log of a run. Every rank calls it."""
        before += _common_bytes(peers, part, common)
        log = 8 * (at.END_WORDS + ENGINE.team_steps * at.LOG_WORDS)
        return peers.takes(_Plan.of(part, areas, _held(part, env), before).nbytes) + log


def _common_bytes(peers: Peers, part: Part, common: int) -> int:
    """Bytes before the areas for words that ranks write for all; none if hosts carry these, in memory of their own."""
    return 0 if peers.relayed else 2 * part.size * common


def _held(part: Part, env: Environment) -> list[Array]:
    """The mirrors; none where all ranks have ghosts of all vertices."""
    return [] if part.ghosts is None else env.mirrors(part)


@dataclass
class _Plans:
    """Plans of a partition, by areas and number of announced values; all ranks have the same ones, or make new ones."""

    memory: PeerMemory | None
    made_of: tuple[Any, ...]
    """What of the partition they follow from."""
    made: dict[tuple[Any, ...], _Plan] = field(default_factory=dict)
    made_by: int = 0
    """Number of the call of `Peers.memory` that was the last for any of them."""

    def hold(self, memory: PeerMemory | None, made_of: tuple[Any, ...]) -> bool:
        """Whether they are still good."""
        return self.memory is memory and all(old is new for old, new in zip(self.made_of, made_of, strict=True))

    @property
    def number(self) -> int:
        """What ranks compare."""
        return 0 if self.memory is None or self.memory.closed else self.made_by


@dataclass
class _Plan:
    """What of it is the same in every run, as long as the memory stays where it is."""

    row: np.ndarray
    """The words that every team has, as far as they are known."""
    places: np.ndarray
    """int64, by area and peer: where in this rank's memory the peer writes."""
    regions: np.ndarray
    """int64, shape (ranks, 2): where the areas of each peer begin, and how long they are together."""
    nbytes: int
    """Of that memory."""
    exchanged: tuple[list[int], np.ndarray] | None = None
    """What `Peers.memory` gave."""
    moved: int = -1
    """As it was then."""

    @classmethod
    def of(cls, part: Part, areas: Areas, held: Sequence[Array], before: int) -> _Plan:
        """For mirrors; where there are none, each rank has ghosts of all own vertices."""
        size, row = part.size, np.zeros(at.OWN, np.int64)
        counts = [len(mirror) for mirror in held] or [part.num_owned] * size
        ghosts = np.diff(part.slot_bounds).tolist()
        places, end = np.zeros((len(areas), size), np.int64), -(-before // ALIGNED) * ALIGNED
        regions = np.zeros((size, 2), np.int64)
        for step in range(1, size):
            peer = (part.rank + step) % size
            regions[peer, 0] = end
            for area, (nbytes, bits) in enumerate(areas):
                places[area, peer] = end
                entries = -(-counts[peer] // at.TEAM_GROUP) * at.TEAM_GROUP
                words = -(-ghosts[step] // at.TEAM_GROUP) * bits  # a group has as many entries as a word has bits
                needed = entries * nbytes + 8 + 4 * words
                end += -(-needed // ALIGNED) * ALIGNED
            regions[peer, 1] = end - regions[peer, 0]
            row[at.HELD + step] = counts[peer]
        row[at.BOUNDS : at.BOUNDS + size + 1] = part.slot_bounds
        row[at.OWNED] = part.num_owned
        return cls(row, places, regions, end)


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
    pack : Pack, optional
        What the kernel works on, whose words begin at OWN.
    """

    name: str
    stops = False
    """Whether one launch is enough, however far it came."""
    kinds: ClassVar[tuple[str, ...]]
    """By the kind of a superstep, how the values that ranks send are coded."""

    def __init__(
        self, memory: TeamMemory, part: Part, env: Environment, kernel: Any, own: Mapping[int, Array | None],
        pack: Pack | None = None,
    ):  # fmt: skip
        self.peers, self.env, self.kernel = memory.peers, env, kernel
        self.ends = np.zeros(at.END_WORDS, np.int64)
        """What the last launch left."""
        self.log = env.xp.zeros(at.END_WORDS + ENGINE.team_steps * at.LOG_WORDS, np.int64)
        values = [] if pack is None else list(pack.as_dict().values())
        self._kept = [*own.values(), *values]
        array_type, address, end = env.xp.ndarray, env.backend.address, at.OWN + len(values)
        row = self.row = np.zeros(max([end, *(place + 1 for place in own)]), np.int64)
        row[: at.OWN] = memory.row
        row[at.OWN : end] = [
            address(value) if isinstance(value, array_type) else word_of(value, array_type) for value in values
        ]
        for place, array in own.items():
            row[place] = 0 if array is None else address(array)
        row[at.LOG] = env.backend.address(self.log)

    @abstractmethod
    def numbers(self, ends: np.ndarray | None) -> tuple[Any, ...]:
        """What the kernel takes besides rows, the same on all ranks.

        `ends` is what the launch before left, int64 of shape (END_WORDS,).
        """

    def launch(self, numbers: tuple[Any, ...], rows: Array, teams: int) -> None:
        """Launch the kernel, and what is to go on at once from where it has ended: that adds to the same log."""
        self.kernel(THREADS, rows, rows.shape[1], *numbers, teams=teams)

    def run(self) -> list[Superstep]:
        """Go through all supersteps, which are recorded; returns them. Every rank calls it."""
        env, ends, steps = self.env, None, []
        while ends is None or not (ends[at.END_DONE] or self.stops):
            self.peers.run(self.row, partial(self.launch, self.numbers(ends)))
            log = env.backend.to_host(self.log[:FIRST_READ])
            ends, count = log[: at.END_WORDS], int(log[at.END_STEPS])
            self.peers.met(int(ends[at.END_MEETING]))
            self.ends = ends
            if ends[at.END_DONE] == at.GAVE_UP:
                raise self.peers.late()
            if at.END_WORDS + count * at.LOG_WORDS > FIRST_READ:
                log = env.backend.to_host(self.log)
            for line in log[at.END_WORDS :][: count * at.LOG_WORDS].reshape(count, at.LOG_WORDS).tolist():
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
