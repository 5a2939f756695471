"""Checkpoints of a run: what a primitive does for them, what a caller asks for, and what a result says of them.

`graphdask.engine.keeper` writes them, and `graphdask.engine.copies` keeps them in the memory of other workers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.checkpoint_files import Manifest
from graphdask.engine.copies import Copied, State
from graphdask.engine.messages import Inbox, Messages
from graphdask.errors import InputError
from graphdask.partition.part import Part

DEFAULT = 60.0
"""Seconds between checkpoints, unless the caller gives another number or they cost too much."""
FEW = 16
"""Values that facts list; more are a checksum."""

Saved = State
"""What `saved` returns of a state."""


class Resumable:
    """What a primitive does besides if its runs can be resumed from a checkpoint."""

    resumes = True
    """Whether it can; a class of one that can may have a state that is more than columns and numbers."""
    in_result = False
    """Whether its state changes in `result`, between runs of other primitives, and not in supersteps of its own."""

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
    files: bool = False
    """Whether checkpoints are written to files."""
    source: str = ""
    """Where it found that: "files", or "memory" of other workers."""
    written: int = 0
    failed: int = 0
    """Those that not all ranks could write."""
    nbytes: int = 0
    """Of the files of this rank."""
    seconds: float = 0.0
    """For which this rank wrote them."""
    copied: Copied | None = None
    """Of the copies in memory, if there may be some."""


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
    """What all ranks together say of the checkpoints of their run and of copies; empty if there are none."""
    kept = [each for each in ranks if each is not None]
    if not kept:
        return {}
    said: dict[str, Any] = {"resumed": kept[0].resumed}
    if kept[0].source:
        said["source"] = kept[0].source
    if kept[0].files:
        said["written"] = kept[0].written
        if kept[0].failed:
            said["failed"] = kept[0].failed
        said |= {"nbytes": sum(each.nbytes for each in kept), "seconds": max(each.seconds for each in kept)}
    copied = [each.copied for each in kept if each.copied is not None]
    if any(each.count or each.left_out for each in copied):
        said |= {"copies": copied[0].count, "copied_bytes": sum(each.nbytes for each in copied)}
        said |= {"copy_seconds": max(each.seconds for each in copied), "held": max(each.held for each in copied)}
        said["left_out"] = copied[0].left_out
    return said if len(said) > 1 else {}
