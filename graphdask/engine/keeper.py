"""The checkpoints and copies of a run, on each rank: when the next one is due, and how a run goes on from one.

Between two supersteps each rank writes the values of its vertices to a file of its own. Length and checksum of the file
travel with the control numbers of the next exchange, after which rank 0 writes the manifest. So a checkpoint costs no
round of its own, and one whose ranks have not all written never becomes complete. The clock of rank 0 says when the
next one is due, which travels likewise. Copies in the memory of other workers (`graphdask.engine.copies`) are due by
the same clock.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.comm.protocol import Received
from graphdask.device.backend import Array, Backend
from graphdask.engine.checkpoint_files import Damaged, Folder, Manifest, RankFile, decoded_number, encoded_number
from graphdask.engine.checkpoints import Checkpointing, Kept, Saved, refuse_other
from graphdask.engine.copies import SHARE, Copier, Copying, Vault
from graphdask.engine.fingerprint import fingerprint
from graphdask.engine.messages import Inbox, Messages
from graphdask.partition.part import Part

WORDS = 8
"""Control numbers of a rank with files: due, state of its file, length, checksum, count, first, last, ranged."""
FILE, COPY = 1, 2
"""What is due, the first of the control numbers: the sum of these."""
NONE, WRITTEN, FAILED = 0, 1, 2
"""States of a rank's file."""
KEEP = 2
"""Complete checkpoints that are kept: if the last one is damaged, the previous one is used."""

EDGES = "edges"
"""The fact that is a fingerprint of the graph, which ranks find unless the caller knows one."""

_logger = logging.getLogger("graphdask")


class Keeper:
    """The checkpoints of one run, on one rank.

    Parameters
    ----------
    env : Environment
    wanted : Checkpointing or None
        None if nothing is written to files.
    copier : Copier or None
        None if there are no copies in memory.
    """

    def __init__(self, env: Any, wanted: Checkpointing | None, copier: Copier | None):
        self.wanted, self.copier, self.rank, self.size = wanted, copier, env.rank, env.size
        self.folder = None if wanted is None else Folder(wanted.folder)
        self.kept = Kept(files=wanted is not None, copied=None if copier is None else copier.copied)
        self.done = 0
        """Supersteps that are done, those before the checkpoint too."""
        self._facts: Mapping[str, Any] = {}
        self._control = self._nothing()
        self._open: tuple[int, dict[str, str], dict[str, str]] | None = None
        """Superstep, numbers and dtypes of a checkpoint that has no manifest yet."""
        self._last, self._cost, self._due, self._waits = time.monotonic(), 0.0, 0, 0
        self._warned = False
        self._complete = [] if wanted is None else [manifest.superstep for manifest in wanted.found]

    def _nothing(self) -> np.ndarray:
        return np.zeros(1 if self.wanted is None else WORDS, np.int64)

    @property
    def begun(self) -> int:
        """Supersteps that this run did not do, because it went on from a checkpoint."""
        return max(self.kept.resumed - 1, 0)  # the messages of this one are sent again

    def begin(self, primitive: Any, part: Part, env: Any) -> tuple[Any, Messages]:
        """Return state and messages of the last checkpoint that all ranks can read, or those of `init`."""
        found = (
            self._from_memory(primitive, part, env, -1) if self.wanted is None else self._found(primitive, part, env)
        )
        self._last = time.monotonic()
        if found is not None:
            return found
        started: tuple[Any, Messages] = primitive.init(part, env)
        return started

    def _found(self, primitive: Any, part: Part, env: Any) -> tuple[Any, Messages] | None:
        """State and messages of the last checkpoint in files, or in memory if that is a later one."""
        assert self.wanted is not None
        assert self.folder is not None
        self._facts = self.wanted.facts
        if EDGES not in self._facts:
            self._facts = {**self._facts, EDGES: fingerprint(part, env)}
        ids = env.backend.to_host(part.ids)
        for manifest in self.wanted.found:
            refuse_other(manifest, self._facts, self.wanted.name)
            held = self._from_memory(primitive, part, env, manifest.superstep)
            if held is not None:
                return held
            try:
                columns, ok = self.folder.values(manifest, ids), True
            except Damaged as error:
                columns, ok = {}, False
                _logger.warning("the checkpoint of superstep %d is damaged: %s", manifest.superstep, error)
            if env.least(ok):
                numbers = {name: decoded_number(text) for name, text in manifest.numbers.items()}
                given = {name: env.backend.from_host(column) for name, column in columns.items()}
                return self._resumed(primitive, part, (given, numbers), env, manifest.superstep, "files")
            self._complete.remove(manifest.superstep)
        return self._from_memory(primitive, part, env, -1)

    def _from_memory(self, primitive: Any, part: Part, env: Any, later: int) -> tuple[Any, Messages] | None:
        """State and messages of the copy in memory, if there is one of a superstep after `later`."""
        found = None if self.copier is None else self.copier.wanted.found
        if self.copier is None or found is None or found.superstep < later:
            return None
        columns = self.copier.columns(found, part, env)
        if columns is None:
            return None
        return self._resumed(primitive, part, (columns, found.described.numbers), env, found.superstep, "memory")

    def _resumed(
        self, primitive: Any, part: Part, saved: Saved, env: Any, superstep: int, source: str
    ) -> tuple[Any, Messages]:
        self.kept.resumed, self.kept.source, self.done = superstep, source, superstep - 1
        resumed: tuple[Any, Messages] = primitive.resumed(part, *saved, env)
        return resumed

    def control(self) -> np.ndarray:
        """The numbers of this rank that travel with the next exchange."""
        if self.rank == 0:
            self._control[0] = self._waits | self._file_due()
            if self.copier is not None and self.copier.due():
                self._control[0] |= COPY
        return self._control

    def _file_due(self) -> int:
        wanted = self.wanted
        if wanted is None:
            return 0
        if wanted.seconds is None:
            due = (self.done + 1) % wanted.supersteps == 0 and self.done + 1 != self.kept.resumed
        else:
            least = max(wanted.seconds, SHARE * self._cost if wanted.adapts else 0.0)
            due = time.monotonic() - self._last >= least
        return FILE * due

    def take(self, received: Received, first: int, backend: Backend, reads_first: bool = False) -> None:
        """Take in the numbers of all ranks after an exchange: the control numbers from the place `first` on.

        If a copy is due, ranks exchange it before they have read what they received, unless `reads_first`, so that is
        copied too.
        """
        controls = received.control[:, first:]
        self.done += 1
        self._due = int(controls[0, 0])
        if self._due & COPY and not reads_first:
            received.payloads[:] = [each if each is None else _own(each, backend) for each in received.payloads]
        if self.copier is not None:
            self.copier.settle()
        opened, self._open = self._open, None
        if opened is None:
            return
        self._control = self._nothing()
        whole = bool((controls[:, 1] == WRITTEN).all())
        if self.rank == 0:
            whole = whole and self._commit(opened, controls)
            if not whole:
                self._make_space(opened[0])
        self.kept.written += whole
        self.kept.failed += not whole
        if whole:
            self._complete.append(opened[0])

    def save(self, primitive: Any, part: Part, state: Any, inbox: Inbox | None, env: Any) -> None:
        """Write the state of this rank, and copy it to another worker, as far as either is due."""
        due, apart = self._due, primitive.in_result or not env.together
        if not due:
            return
        started = time.monotonic()
        saved = primitive.saved(part, state, inbox, env) if due & FILE or apart else None
        self._waits = due if saved is None and apart else 0
        if saved is None:
            return
        self._due = 0
        if due & COPY and self.copier is not None:
            self.copier.save(self.done, part, saved, env)
        if due & FILE:
            self._write(part, saved, env, started)

    def put_off(self) -> None:
        """Let what is due wait for the next exchange."""
        self._waits = self._due

    def _write(self, part: Part, saved: Saved, env: Any, started: float) -> None:
        """Write the file of this rank."""
        assert self.folder is not None
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
            self._warn(self.done, error)
            self._control[1] = FAILED
        self._open = (
            self.done, {name: encoded_number(value) for name, value in numbers.items()},
            {name: column.dtype.str for name, column in on_host.items()},
        )  # fmt: skip
        self._last = time.monotonic()
        self._cost = self._last - started
        self.kept.seconds += self._cost

    def _name(self, rank: int) -> str:
        assert self.wanted is not None
        return f"rank-{rank:05d}-of-{self.size:05d}-{self.wanted.token}"

    def _commit(self, opened: tuple[int, dict[str, str], dict[str, str]], controls: np.ndarray) -> bool:
        """Make a checkpoint complete, and remove old ones; return False if that fails."""
        assert self.folder is not None
        superstep, numbers, dtypes = opened
        files = tuple(
            RankFile(self._name(rank), nbytes, checksum, count, first, last, bool(ranged))
            for rank, (nbytes, checksum, count, first, last, ranged) in enumerate(controls[:, 2:].tolist())
        )
        try:
            self.folder.commit(Manifest(superstep, dict(self._facts), numbers, dtypes, files))
        except OSError as error:
            self._warn(superstep, error)
            return False
        self.folder.forget({*sorted({*self._complete, superstep})[-KEEP:]})
        return True

    def _make_space(self, superstep: int) -> None:
        """Remove a checkpoint that not all ranks could write, and complete ones but the last: the disk may be full."""
        assert self.folder is not None
        self._complete = sorted(set(self._complete))[-1:]
        self.folder.forget({*self._complete, superstep})
        self.folder.remove(superstep)

    def _warn(self, superstep: int, error: OSError) -> None:
        """Warn of the first checkpoint that this rank could not write."""
        if not self._warned:
            _logger.warning("no checkpoint of superstep %d: %s; r.stats counts those that fail", superstep, error)
        self._warned = True


class Carried:
    """A keeper while primitives run that another one runs in its `result`: what is due waits until that one saves."""

    kept = None

    def __init__(self, keeper: Keeper):
        self._keeper, self.begun, self.control = keeper, keeper.begun, keeper.control

    def begin(self, primitive: Any, part: Part, env: Any) -> tuple[Any, Messages]:
        """Return state and messages of `init`."""
        started: tuple[Any, Messages] = primitive.init(part, env)
        return started

    def take(self, received: Received, first: int, backend: Backend) -> None:
        """Take in the numbers of all ranks after an exchange."""
        self._keeper.take(received, first, backend, reads_first=True)

    def save(self, *_: Any) -> None:
        """Save nothing."""
        self._keeper.put_off()

    def save_outer(self, primitive: Any, part: Part, state: Any, env: Any) -> None:
        """Save the state of the primitive that runs the others, as far as that is due. Every rank calls it."""
        self._keeper.save(primitive, part, state, None, env)


def in_turn(keeper: Keeper | Carried | None, primitive: Any) -> tuple[Keeper | Carried | None, Carried | None]:
    """Return the keeper of a run that begins, and what primitives that it runs have: none, but where it saves between
    them."""
    if isinstance(keeper, Keeper):
        return keeper, Carried(keeper) if primitive.in_result else None
    return keeper, keeper


def keep(env: Any, vault: Vault | None, checkpoints: Checkpointing | None, copying: Copying | None) -> None:
    """Give the run of an environment its checkpoints and copies, where the caller asks for some."""
    copier = None if copying is None or vault is None else Copier(copying, vault, env.rank)
    env.apart = checkpoints is not None
    if checkpoints is not None or copier is not None:
        env.keeper = Keeper(env, checkpoints, copier)


def _own(payload: Array, backend: Backend) -> Array:
    """A copy of a payload, which may be in memory of the host, in memory of the device."""
    return payload.copy() if isinstance(payload, backend.xp.ndarray) else backend.from_host(payload.copy())
