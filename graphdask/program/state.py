"""What a run of a program keeps between supersteps on a rank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphdask.device.backend import Array
from graphdask.kernels.program.program_pack import PROGRESS
from graphdask.kernels.program.program_pack import Program as Pack
from graphdask.partition.part import Csr
from graphdask.program._ahead import Ahead
from graphdask.program._judged import Judged
from graphdask.program._loop import Loop
from graphdask.program._pull import Pull
from graphdask.program._rounds import Rounds
from graphdask.program._team import TeamProgram
from graphdask.program.row_sums import Sums


@dataclass
class ProgramState:
    """What a run keeps between supersteps."""

    pack: Pack
    kernels: Any
    fields: list[Array]
    """The state: per slot where other ranks have to know it, else per own vertex."""
    values: list[Array]
    """What vertices send, per slot, where it is the same along all edges."""
    words: Array
    """int64: the counters, the failure of each function, and the sums of aggregates."""
    active: Array
    """uint32 words, a bit for each slot: whether it sends. Empty where messages are pushed."""
    changed: Array
    """Own vertices, whose state changed."""
    rows: list[Csr]
    """Of the edges that are pulled or pushed along."""
    everywhere: bool
    """Whether all slots send now."""
    lists_all: bool = False
    """Whether `changed` lists them then, too: Numba would compile kernels again for the lists of later supersteps."""
    no_extent: Array | None = None
    """What `extent` is without a value."""
    count: int = 0
    """How many own vertices send now."""
    ghosts: int = 0
    """How many ghosts got a message in the last superstep."""
    done: int = 0
    """Supersteps."""
    aggregates: dict[str, Any] = field(default_factory=dict)
    resumed: bool = False
    """Whether the aggregates are those of a checkpoint, of which the words know nothing."""
    found: list[int] = field(default_factory=list)
    """The words, as the host has read them last."""
    pushing: Any = None
    """Kernels of messages that are pushed."""
    sums: Sums | None = None
    """How values are added up that all vertices send."""
    loop: Loop | Rounds | None = None
    """How many supersteps are one launch, where they can be."""
    team: TeamProgram | None = None
    """How GPUs of several ranks go through supersteps together, where they do."""
    unsent: bool = True
    """Whether the vertices that changed last have yet to send; of a loop."""
    pull: Pull | None = None
    """How vertices pull in the supersteps of a loop in which many send."""
    pulls: bool = False
    """Whether the next superstep is one of these."""
    ahead: Ahead | None = None
    """How many supersteps are launched without the host, where they can be."""
    judged: Judged | None = None
    """How a GPU asks `until`, where it does and all vertices send."""
    ordered: bool = False
    """Whether the best states are sent first."""
    launched: int = 1
    """Supersteps since other ranks, or the host, learned of one."""
    changes: int = 0
    """How many vertices of all ranks changed."""
    turns: list[Csr] = field(default_factory=list)
    """Of a program whose supersteps go over the rows of one direction each, by turns: those rows."""
    sums_of_turns: list[Sums] = field(default_factory=list)
    """How values are added up in each of these; empty if vertices go over their edges."""

    def list_changed(self, vertices: Array) -> None:
        """Let these own vertices be those whose state changed, and that send."""
        self.count = len(vertices)
        self.changed[: self.count] = vertices

    @property
    def senders(self) -> Array | None:
        """The list of the vertices that send; None for all."""
        return self.changed if self.lists_all or not self.everywhere else None

    @property
    def progress(self) -> Any:
        """What launches of several supersteps have left, as the host has read it last: numbers by name."""
        return PROGRESS.of(self.found[-len(PROGRESS) :])
