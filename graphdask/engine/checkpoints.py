"""Checkpoints of a run, on each rank: when the next one is due, how it is written, and how a run goes on from one.

Between two supersteps each rank writes the values of its vertices to a file of its own. Length and checksum of the file
travel with the control numbers of the next exchange, after which rank 0 writes the manifest. So a checkpoint costs no
round of its own, and one whose ranks have not all written never becomes complete. The clock of rank 0 says when the
next one is due, which travels likewise.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.checkpoint_files import Damaged, Folder, Manifest, RankFile, decoded_number, encoded_number
from graphdask.engine.fingerprint import fingerprint
from graphdask.engine.messages import Inbox, Messages
from graphdask.errors import InputError
from graphdask.partition.part import Part

WORDS = 8
"""Control numbers of a rank: due, state of its file, length, checksum, count, first, last, ranged."""
NONE, WRITTEN, FAILED = 0, 1, 2
"""States of a rank's file."""
DEFAULT = 60.0
"""Seconds between checkpoints, unless the caller gives another number or they cost too much."""
SHARE = 20
"""By default a checkpoint is due after so many times what the last one cost: 5 % of the run at most."""
FEW = 16
"""Values that facts list; more are a checksum."""
KEEP = 2
"""Complete checkpoints that are kept: if the last one is damaged, the previous one is used."""

_logger = logging.getLogger("graphdask")


Saved = tuple[dict[str, Array], dict[str, float | int]]
"""Columns and numbers of a state."""


class Resumable:
    """What a primitive does besides if its runs can be resumed from a checkpoint."""

    resumes = True
    """Whether it can; a class of one that can may have a state that is more than columns and numbers."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return the arguments that decide the answer besides the graph, for JSON."""

    @abstractmethod
    def saved(self, part: Part, state: Any, inbox: Inbox, env: Any) -> Saved | None:
        """Return the state between two supersteps: columns over the own vertices, in local order, and numbers of the
        whole run, which are the same on all ranks. It is all that is needed to go on with the same bits.

        What `inbox` has arrived for the next superstep is part of the state, unless the owners send it again. The state
        stays as it is. None, on all ranks alike, puts the checkpoint off to the next superstep.
        """

    @abstractmethod
    def resumed(self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Any) -> tuple[Any, Messages]:
        """Return the state and messages, as `init` does, with which a run goes on from what `saved` returned."""


@dataclass(frozen=True)
class Checkpointing:
    """What a caller asks for, sent to every rank."""

    folder: str
    name: str
    """The folder in messages, without passwords."""
    seconds: float | None
    """Between checkpoints; None: by supersteps."""
    supersteps: int
    adapts: bool
    """Whether checkpoints come more rarely if they cost much."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the run is of, which the manifests name."""
    token: str = ""
    """Of this attempt, in the names of its files: an older one that still runs writes others."""
    found: tuple[Manifest, ...] = ()
    """Complete checkpoints to go on from, the latest first."""


@dataclass
class Kept:
    """What a result says of the checkpoints of its run, on a rank."""

    resumed: int = 0
    """The superstep from which it went on."""
    written: int = 0
    nbytes: int = 0
    """Of the files of this rank."""
    seconds: float = 0.0
    """For which this rank wrote them."""


class Keeper:
    """The checkpoints of one run, on one rank."""

    def __init__(self, wanted: Checkpointing, rank: int, size: int):
        self.wanted, self.rank, self.size = wanted, rank, size
        self.folder, self.kept = Folder(wanted.folder), Kept()
        self.done = 0
        """Supersteps that are done, those before the checkpoint too."""
        self._facts: Mapping[str, Any] = wanted.facts
        self._control = np.zeros(WORDS, np.int64)
        self._open: tuple[int, dict[str, str], dict[str, str]] | None = None
        """Superstep, numbers and dtypes of a checkpoint that has no manifest yet."""
        self._last, self._cost, self._due, self._waits = time.monotonic(), 0.0, False, False
        self._complete = [manifest.superstep for manifest in wanted.found]

    def begin(self, primitive: Any, part: Part, env: Any) -> tuple[Any, Messages]:
        """Return state and messages of the last checkpoint that all ranks can read, or those of `init`."""
        self._facts = {**self.wanted.facts, "edges": fingerprint(part, env)}
        ids = env.backend.to_host(part.ids)
        for manifest in self.wanted.found:
            refuse_other(manifest, self._facts, self.wanted.name)
            try:
                columns, ok = self.folder.values(manifest, ids), True
            except Damaged as error:
                columns, ok = {}, False
                _logger.warning("the checkpoint of superstep %d is damaged: %s", manifest.superstep, error)
            if env.least(ok):
                self.kept.resumed = manifest.superstep
                self.done = manifest.superstep - 1  # the messages of this one are sent again
                numbers = {name: decoded_number(text) for name, text in manifest.numbers.items()}
                given = {name: env.backend.from_host(column) for name, column in columns.items()}
                self._last = time.monotonic()
                resumed: tuple[Any, Messages] = primitive.resumed(part, given, numbers, env)
                return resumed
            self._complete.remove(manifest.superstep)
        self._last = time.monotonic()
        started: tuple[Any, Messages] = primitive.init(part, env)
        return started

    def control(self) -> np.ndarray:
        """The numbers of this rank that travel with the next exchange."""
        wanted = self.wanted
        if self.rank == 0:
            if wanted.seconds is None:
                due = self._waits or (self.done + 1) % wanted.supersteps == 0
                due = due and self.done + 1 != self.kept.resumed
            else:
                least = max(wanted.seconds, SHARE * self._cost if wanted.adapts else 0.0)
                due = time.monotonic() - self._last >= least
            self._control[0] = due
        return self._control

    def take(self, controls: np.ndarray) -> None:
        """Take in the numbers of all ranks, shape (ranks, WORDS), after an exchange."""
        self.done += 1
        self._due = bool(controls[0, 0])
        self._control = np.zeros(WORDS, np.int64)
        opened, self._open = self._open, None
        if opened is None:
            return
        if (controls[:, 1] == WRITTEN).all():
            self.kept.written += 1
            self._complete.append(opened[0])
            if self.rank == 0:
                self._commit(opened, controls)

    def save(self, primitive: Any, part: Part, state: Any, inbox: Inbox, env: Any) -> None:
        """Write the state of this rank, if a checkpoint is due."""
        if not self._due:
            return
        started = time.monotonic()
        saved = primitive.saved(part, state, inbox, env)
        self._waits = saved is None
        if saved is None:
            return
        columns, numbers = saved
        on_host = {name: env.backend.to_host(column) for name, column in sorted(columns.items())}
        try:
            file = self.folder.write(
                self.done, self._name(self.rank), env.backend.to_host(part.ids), list(on_host.values())
            )
            self._control[1:] = (
                WRITTEN, file.nbytes, file.checksum, file.count, file.first, file.last, file.ranged
            )  # fmt: skip
            self.kept.nbytes += file.nbytes
        except OSError as error:
            _logger.warning("no checkpoint of superstep %d: %s", self.done, error)
            self._control[1] = FAILED
        self._open = (
            self.done, {name: encoded_number(value) for name, value in numbers.items()},
            {name: column.dtype.str for name, column in on_host.items()},
        )  # fmt: skip
        self._last = time.monotonic()
        self._cost = self._last - started
        self.kept.seconds += self._cost

    def _name(self, rank: int) -> str:
        return f"rank-{rank:05d}-of-{self.size:05d}-{self.wanted.token}"

    def _commit(self, opened: tuple[int, dict[str, str], dict[str, str]], controls: np.ndarray) -> None:
        superstep, numbers, dtypes = opened
        files = tuple(
            RankFile(self._name(rank), nbytes, checksum, count, first, last, bool(ranged))
            for rank, (nbytes, checksum, count, first, last, ranged) in enumerate(controls[:, 2:].tolist())
        )
        try:
            self.folder.commit(Manifest(superstep, dict(self._facts), numbers, dtypes, files))
            self.folder.forget({*sorted(set(self._complete))[-KEEP:], superstep})
        except OSError as error:
            _logger.warning("no checkpoint of superstep %d: %s", superstep, error)


def lowered(own: Array, inbox: Inbox, name: str, env: Any) -> Array:
    """A copy of the values of own vertices, with those that have arrived for them in a column where these are less."""
    found = env.backend.to_host(own).copy()
    for message in inbox.received:
        slots, values = (env.backend.to_host(each) for each in (message.slots, message.columns[name]))
        mine = slots < len(found)  # a broadcast brings those of ghosts too
        np.minimum.at(found, slots[mine], values[mine])
    given: Array = env.backend.from_host(found)
    return given


def named(values: Any) -> Any:
    """Some values as a fact: their list, or a checksum if they are many; None stays None."""
    if values is None:
        return None
    array = np.asarray(values)
    if array.size <= FEW:
        found: list[Any] = array.tolist()
        return found
    return sha256(f"{array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def refuse_other(manifest: Manifest, facts: Mapping[str, Any], name: str) -> None:
    """Raise InputError where a checkpoint is of another run; `facts` may be fewer than those of the manifest, and
    `name` is that of the folder."""
    for fact, value in facts.items():
        there = manifest.facts.get(fact)
        if there != value:
            raise InputError(
                f"checkpoint={name!r} holds checkpoints of another run: its {fact} is {there!r}, and here it is "
                f"{value!r}; name another folder, or remove that one"
            )


def joined(ranks: Sequence[Kept | None]) -> dict[str, Any]:
    """What all ranks together say of the checkpoints of their run; empty if there are none."""
    kept = [each for each in ranks if each is not None]
    if not kept:
        return {}
    nbytes, seconds = sum(each.nbytes for each in kept), max(each.seconds for each in kept)
    return {"resumed": kept[0].resumed, "written": kept[0].written, "nbytes": nbytes, "seconds": seconds}
