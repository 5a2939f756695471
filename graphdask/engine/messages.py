"""What a rank sends at the end of a superstep, Messages, and what arrives from all ranks, an Inbox.

Source: Pan et al., Multi-GPU Graph Analytics, Sections III-B and III-C (selective and broadcast communication).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from graphdask.device.backend import Array
from graphdask.kernels.exchange.segments_pack import MESSAGES, Joined

ALL = "all"
"""Stands for all own vertices in `Messages.own`."""
JOINED = MESSAGES
"""The most senders whose messages one launch joins (kernels/exchange/segments.cu)."""


@dataclass
class Messages:
    """What a rank sends at the end of a superstep."""

    own: Array | Literal["all"]
    """Distinct slots of own vertices whose values changed, or ALL. A broadcast sends them to everyone; a selective
    exchange to the ranks that have ghosts of them, where `to` is "ghosts", and else not at all."""
    ghosts: Array
    """Distinct slots of ghosts whose values changed, for their owners; none where `to` is "ghosts"."""
    values: Mapping[str, Array]
    """Per column of the primitive (of its `ghost_columns` where `to` is "ghosts"), an array indexed by slot from which
    the values are read."""
    active: bool
    """Whether this rank has work left even if nothing arrives."""
    frontier: int = 0
    """Vertices that this superstep worked on, for the statistics."""
    edges: int = 0
    """Edges that this superstep visited."""
    to: Literal["owners", "ghosts", "ranks"] = "owners"
    """Receivers of a selective exchange: the owners of ghosts, the ghosts of own vertices, or the ranks that `bounds`
    names, which get the records. The same on all ranks."""
    votes: Sequence[float] | Callable[[], Sequence[float]] = ()
    """Numbers for all ranks, as many as the primitive's `votes`; empty for zeros. Or what reads them from a device,
    called when the messages are on their way to be coded, so that the device does both in one go."""
    mirror: Array | None = None
    """If `to` is "ghosts" and every own vertex is sent: where in `values` stands what each rank gets, in an order that
    it knows and that is the same in every superstep, rank after rank as in `Part.mirrored`. Default: that."""
    records: Mapping[str, Array] = field(default_factory=dict)
    """Where `to` is "ranks": per record column of the primitive a 1-D array, in order of the rank that a record is for.
    Columns may be left out, the same on all ranks. A record may be for the rank that sends it, which then is active."""
    bounds: np.ndarray | None = None
    """int64 on the host, shape (ranks + 1,): records [bounds[k], bounds[k+1]) are for rank k."""
    widths: Mapping[str, int] = field(default_factory=dict)
    """How many numbers a vertex has in a column where they are fewer than the primitive says. The same on all ranks."""
    ways: tuple[int, int] = (0, 0)
    """How often messages were pushed, and pulled, for the statistics of programs."""

    @classmethod
    def of_records(cls, records: Mapping[str, Array], bounds: np.ndarray, **more: Any) -> Messages:
        """Messages `to="ranks"`."""
        return cls((), (), {}, to="ranks", records=records, bounds=bounds, **more)  # type: ignore[arg-type]

    @classmethod
    def none(cls, ranks: int, active: bool = False, frontier: int = 0, edges: int = 0) -> Messages:
        """No messages to any of so many ranks; the run ends unless one is active."""
        return cls.of_records({}, np.zeros(ranks + 1, np.int64), active=active, frontier=frontier, edges=edges)


@dataclass
class Counted:
    """Messages of slots that kernels have listed, of which only the device knows yet how many there are.

    A GPU that exchanges selectively codes them before the host reads the counters, so that it does not wait for the
    host in between, and the host waits once.
    """

    slots: Array
    """As long as there may be slots: own ones where `to` is "ghosts", else ghosts."""
    counters: Array
    """int64, at most a few hundred, on the device."""
    place: int
    """counters[place] is how many of the slots there are."""
    values: Mapping[str, Array]
    """As of `Messages`, and `to` too."""
    complete: Callable[[np.ndarray], Messages]
    """Given the counters, returns the messages."""
    to: Literal["owners", "ghosts"] = "owners"


@dataclass
class Received:
    """The message of one rank: distinct slots, and the values aligned with them. Valid until the next exchange."""

    count: int
    """How many slots there are."""
    columns: dict[str, Array]
    read: Callable[[Array | None], Array] = field(repr=False)
    """Gives the slots, in an array of `count` if one is handed over."""
    run: slice | None = None
    """The slots as a range, where they are one."""
    bits: Array | None = None
    """The slots as a bitmap of uint32 words, where they came so: bit i stands for slot `first` + i. Bits from
    `universe` on count for nothing."""
    first: int = 0
    universe: int = 0
    ids: Array | None = None
    """What the slots are but for `first`, below `universe`, where they came as a list of the width of slots; they
    are not checked yet."""

    def __len__(self) -> int:
        return self.count

    @property
    def unchecked(self) -> Array:
        """The slots, for kernels that find out which are outside `universe`: on a GPU a list may be as it came."""
        return self.slots if self.ids is None or self.first else self.ids

    @cached_property
    def slots(self) -> Array:
        """The slots; a bitmap is listed on first use."""
        return self.read(None)

    def write_slots(self, out: Array) -> None:
        """Write the slots into an array, which then holds them for `slots` too."""
        if "slots" in self.__dict__:
            out[:] = self.slots
        else:
            self.__dict__["slots"] = self.read(out)


@dataclass
class Inbox:
    """What arrived: slots that other ranks updated. A vertex may stand once for each sender."""

    xp: Any
    """NumPy or CuPy."""
    dtypes: Mapping[str, Any]
    """Of the slots, under "slots", and of the columns."""
    received: Sequence[Received] = ()
    votes: np.ndarray = field(default_factory=lambda: np.zeros((1, 0)))
    """float64, shape (ranks, votes): what every rank voted, in rank order, so that sums are the same everywhere."""
    records: Mapping[str, Array] = field(default_factory=dict)
    """Per record column of the primitive, what all ranks sent here, in rank order; empty unless sent `to="ranks"`."""
    kernels: Any = field(default=None, repr=False)
    """On a GPU, the kernels that join messages."""
    universe = 0
    """Slots of all messages together are checked."""

    def __len__(self) -> int:
        return sum([message.count for message in self.received])

    @cached_property
    def joins(self) -> bool:
        """Whether joining all messages takes fewer launches than reading each by itself."""
        return (
            self.kernels is not None and 1 < len(self.received) <= JOINED
            and all([message.ids is not None for message in self.received])
        )  # fmt: skip

    @property
    def messages(self) -> Sequence[Inbox | Received]:
        """What is read one after the other, in as few launches as possible: all messages joined, or each by itself."""
        return [self] if self.joins else self.received

    @cached_property
    def _joint(self) -> tuple[Array, dict[str, Array]]:
        """Slots and columns of all messages, read by one launch for the first column and the slots, and one for each
        other column."""
        n, xp = len(self), self.xp
        slots = xp.empty(n, self.dtypes["slots"])
        columns = {name: xp.empty((n, *of.shape), of.base) for name, of in self.dtypes.items() if name != "slots"}
        for turn, (name, of) in enumerate(list(columns.items()) or [("", None)]):
            fields: dict[str, Any] = {"slots": slots}
            if name:
                fields |= {"row": self.dtypes[name].itemsize, "values": _raw(of)}
            end = 0
            for k, message in enumerate(self.received):
                end += message.count
                given = _raw(message.columns[name]) if name else None
                fields |= {f"from{k}": given, f"end{k}": end, f"first{k}": message.first}
                fields |= {f"ids{k}": message.ids if turn == 0 else None, f"universe{k}": message.universe}
            fields |= {f"end{k}": n for k in range(len(self.received), MESSAGES)}
            self.kernels.segments_join(n, Joined(**fields))
        return slots, columns

    @cached_property
    def slots(self) -> Array:
        """Slots of all messages, one after the other."""
        if self.joins:
            return self._joint[0]
        if len(self.received) == 1:
            return self.received[0].slots
        slots, at = self.xp.empty(len(self), self.dtypes["slots"]), 0
        for message in self.received:
            message.write_slots(slots[at : at + message.count])
            at += message.count
        return slots

    @cached_property
    def columns(self) -> dict[str, Array]:
        """Values aligned with `slots`."""
        if self.joins:
            return self._joint[1]
        names = [name for name in self.dtypes if name != "slots"]
        return {name: self._joined(name, [message.columns[name] for message in self.received]) for name in names}

    def _joined(self, name: str, pieces: list[Array]) -> Array:
        if not pieces:
            of = np.dtype(self.dtypes[name])
            return self.xp.zeros((0, *of.shape), of.base)
        return pieces[0] if len(pieces) == 1 else self.xp.concatenate(pieces)

    @property
    def unchecked(self) -> Array:
        """The slots, for kernels that find out which are too large; see `Received.unchecked`."""
        return self.received[0].unchecked if len(self.received) == 1 else self.slots

    def put(self, name: str, out: Array) -> None:
        """Write the values of a column into an array over slots; of several for a slot the last sender's stays.

        Parameters
        ----------
        name : str
            Of the column.
        out : array
            Shape (num_slots,) or (num_slots, k), which is changed.
        """
        for message in self.received:
            out[message.slots if message.run is None else message.run] = message.columns[name]


def _raw(column: Array) -> Array:
    """Its bytes."""
    return (column if column.ndim == 1 else column.reshape(-1)).view(np.uint8)
