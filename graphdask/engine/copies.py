"""Copies of a run's state in the memory of other workers, so that the run goes on after a loss without any disk.

Now and then, between two supersteps, each rank keeps the values of its vertices in the memory of its process and sends
them to its buddy, a rank on another worker, which keeps them too. A copy replaces the last one as soon as all
ranks have theirs. So after the loss of any one worker the others have the whole state of some superstep. When the run
begins again, whoever has values sends them to the ranks that own the vertices then, of which there may be fewer.

The clock of rank 0 says when the next copy is due, which travels with the control numbers of an exchange. Copies are
left out while a host has no memory for them.

Source: Zheng, Shi and Kale, FTC-Charm++: an in-memory checkpoint-based fault tolerant runtime (2004).
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from graphdask.device import host_memory
from graphdask.device.backend import Array
from graphdask.partition.part import Part

SHARE = 20
"""A copy or a checkpoint is due after so many times what the last one cost: they take 5 % of the run at most."""
WAITS = 60.0
"""Seconds until copies are tried again after there was no memory for them."""
KEPT = 900.0
"""Seconds for which a worker keeps copies of a run that has ended there and that nobody begins again or forgets."""

_logger = logging.getLogger("graphdask")


State = tuple[dict[str, Array], dict[str, float | int]]
"""Columns over the own vertices, and numbers of the whole run."""


class Place(NamedTuple):
    """What the values of a copy are of."""

    attempt: int
    """Of the call: it is counted from 0."""
    size: int
    """How many ranks that attempt has."""
    superstep: int
    """How many supersteps are done."""
    rank: int


@dataclass(frozen=True)
class Described:
    """Types of the columns, and the numbers, of a state."""

    dtypes: dict[str, str]
    numbers: dict[str, float | int]


@dataclass(frozen=True)
class Copy:
    """The values of a rank's vertices, in memory of the host."""

    ids: np.ndarray
    columns: dict[str, np.ndarray]
    numbers: dict[str, float | int]

    @property
    def described(self) -> Described:
        """What all ranks have alike."""
        return Described({name: column.dtype.str for name, column in self.columns.items()}, self.numbers)

    @property
    def nbytes(self) -> int:
        """Of its arrays."""
        return sum(array.nbytes for array in (self.ids, *self.columns.values()))


class Vault:
    """Copies that a worker process keeps, by call."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[Place, Copy]] = {}
        self._used: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def calls(self) -> list[str]:
        """Those of which there are copies."""
        return list(self._calls)

    def put(self, call: str, copies: dict[Place, Copy]) -> None:
        """Keep copies of a call."""
        with self._lock:
            self._calls.setdefault(call, {}).update(copies)
            self._used[call] = time.monotonic()

    def held(self, call: str) -> list[tuple[Place, Described]]:
        """Return what there are copies of."""
        with self._lock:
            self._used[call] = time.monotonic()
            return [(place, copy.described) for place, copy in self._calls.get(call, {}).items()]

    def copy(self, call: str, place: Place) -> Copy | None:
        """Return a copy, or None if it is not there any more."""
        with self._lock:
            return self._calls.get(call, {}).get(place)

    def keep_only(self, call: str, attempt: int, superstep: int) -> None:
        """Drop the copies of a call but those of a superstep of an attempt."""
        with self._lock:
            copies = self._calls.get(call, {})
            for place in [each for each in copies if (each.attempt, each.superstep) != (attempt, superstep)]:
                del copies[place]

    def forget(self, call: str) -> None:
        """Drop the copies of a call."""
        with self._lock:
            self._calls.pop(call, None)
            self._used.pop(call, None)

    def sweep(self) -> float:
        """Drop what has not been used for long; return the seconds until the next sweep, 0 if nothing is kept."""
        now = time.monotonic()
        for call, used in list(self._used.items()):
            if now - used >= KEPT:
                self.forget(call)
        return KEPT / 10 if self._used else 0.0


@dataclass(frozen=True)
class Found:
    """A whole copy to go on from."""

    attempt: int
    size: int
    superstep: int
    holders: tuple[int, ...]
    """By rank of that attempt, a rank of this one on whose worker its values are."""
    described: Described


@dataclass(frozen=True)
class Copying:
    """What the client sends to every rank of an attempt."""

    call: str
    """Identifies the call on the workers."""
    attempt: int
    seconds: float
    """Between copies, at least."""
    buddies: tuple[int, ...]
    """By rank, the one on another worker that keeps a copy of its state; empty if there is no other worker."""
    found: Found | None = None


@dataclass
class Copied:
    """What a result says of the copies of its run, on a rank."""

    count: int = 0
    nbytes: int = 0
    """That this rank has sent."""
    held: int = 0
    """Bytes of the last copies that this rank keeps."""
    seconds: float = 0.0
    left_out: int = 0
    """How many there was no memory for."""


@dataclass
class Copier:
    """The copies of one run, on one rank."""

    wanted: Copying
    vault: Vault
    rank: int
    copied: Copied = field(default_factory=Copied)
    _last: float = field(default_factory=time.monotonic)
    _least: float = 0.0
    """Seconds until the next one, by what the last one cost."""
    _ids: dict[int, np.ndarray] = field(default_factory=dict)
    """Of the vertices of ranks whose copies this one keeps."""
    _put: int = -1
    """Superstep of copies that may not be on all ranks yet."""

    def due(self) -> bool:
        """Whether a copy is due, by the clock of this rank."""
        return bool(self.wanted.buddies) and time.monotonic() - self._last >= max(self.wanted.seconds, self._least)

    def settle(self) -> None:
        """Take in that all ranks have come to the next exchange, so that each has its last copy."""
        if self._put >= 0:
            self.vault.keep_only(self.wanted.call, self.wanted.attempt, self._put)
            self.copied.count += 1
            self._put = -1

    def save(self, superstep: int, part: Part, saved: State, env: Any) -> None:
        """Keep a state between two supersteps, here and on another worker. Every rank calls it."""
        columns, numbers = saved
        started = time.monotonic()
        buddies, rank = self.wanted.buddies, self.rank
        givers = [giver for giver, buddy in enumerate(buddies) if buddy == rank]
        nbytes = sum(column.nbytes for column in columns.values()) + (0 if self._ids else part.ids.nbytes)
        if not self._fits(nbytes, env):
            self.copied.left_out += 1
            self._last, self._least = time.monotonic(), WAITS
            return
        if not self._ids:
            self._ids = {rank: _own(part.ids, env)} | self._received(part.ids, givers, env)
        made = {name: {rank: _own(column, env)} for name, column in sorted(columns.items())}
        for name, column in sorted(columns.items()):
            made[name] |= self._received(column, givers, env)
        copies = {
            Place(self.wanted.attempt, env.size, superstep, each): Copy(
                self._ids[each], {name: values[each] for name, values in made.items()}, dict(numbers)
            )
            for each in (rank, *givers)
        }
        self.vault.put(self.wanted.call, copies)
        self._put = superstep
        self.copied.nbytes += env.bytes_sent()  # which no superstep counts
        self.copied.held = sum(copy.nbytes for copy in copies.values())
        self._last = time.monotonic()
        self._least = SHARE * (self._last - started)
        self.copied.seconds += self._last - started

    def _fits(self, nbytes: int, env: Any) -> bool:
        """Whether all hosts have memory for their ranks' own copies and those of others, beside the last ones."""
        free = int(host_memory.free() * env.memory_share)
        stated = env.comm.allgather(np.array([nbytes, free], np.int64))
        needed = stated[:, 0].copy()
        np.add.at(needed, np.array(self.wanted.buddies), stated[:, 0])
        fits = bool((needed <= stated[:, 1]).all())
        if not fits and self.rank == 0:
            _logger.warning(
                "no copy of the state in the memory of other workers: a rank needs %d bytes for it, and has %d",
                *(int(each) for each in (needed.max(), stated[:, 1].min())),
            )
        return fits

    def _received(self, values: Array, givers: list[int], env: Any) -> dict[int, np.ndarray]:
        """Send values to the buddy, and receive those of the ranks whose buddy this one is."""
        to = self.wanted.buddies[self.rank]
        received = env.alltoall([values if rank == to else values[:0] for rank in range(env.size)])
        return {giver: env.backend.to_host(received[giver]) for giver in givers}

    def columns(self, found: Found, part: Part, env: Any) -> dict[str, Array] | None:
        """Return the columns over the own vertices of a copy; None if it is not whole any more. Every rank calls it."""
        places = [
            Place(found.attempt, found.size, found.superstep, each)
            for each, holder in enumerate(found.holders)
            if holder == self.rank
        ]
        held = [self.vault.copy(self.wanted.call, place) for place in places]
        copies = [copy for copy in held if copy is not None]
        if not env.least(len(copies) == len(places)):
            return None
        self._last = -np.inf  # whoever came in the place of a lost worker has no copies yet
        return self._divided(copies, found.described, part, env)

    @staticmethod
    def _divided(copies: list[Copy], described: Described, part: Part, env: Any) -> dict[str, Array] | None:
        """Send the values of copies to the ranks that own the vertices now. Every rank calls it."""
        backend, offsets = env.backend, part.vertex_map.offsets
        ids = np.concatenate([copy.ids for copy in copies] or [np.zeros(0, part.ids.dtype)])
        positions = backend.to_host(part.vertex_map.to_position(backend, backend.from_host(ids)))
        owners = np.searchsorted(offsets, positions, side="right") - 1
        order = np.argsort(owners, kind="stable")
        cuts = np.cumsum(np.bincount(owners, minlength=env.size))[:-1]

        def brought(values: np.ndarray) -> np.ndarray:
            sends = [backend.from_host(each) for each in np.split(values[order], cuts)]
            return np.concatenate([backend.to_host(each) for each in env.alltoall(sends)])

        there, own = brought(ids), backend.to_host(part.ids)
        ranked, asked = np.argsort(there, kind="stable"), np.argsort(own, kind="stable")
        same = len(there) == len(own) and bool((there[ranked] == own[asked]).all())
        columns = {}
        for name, dtype in described.dtypes.items():
            values = brought(np.concatenate([copy.columns[name] for copy in copies] or [np.zeros(0, dtype)]))
            if same:
                column = np.empty(len(own), dtype)
                column[asked] = values[ranked]
                columns[name] = backend.from_host(column)
        return columns if env.least(same) else None


def _own(values: Array, env: Any) -> np.ndarray:
    """A copy in memory of the host that nobody changes."""
    return np.array(env.backend.to_host(values))
