"""The exchange at the end of a superstep: messages split by receiver, coded, and decoded at the receiver.

A primitive names slots whose values changed. Those of *ghosts* go to their owners; those of *own* vertices to
the ranks that hold a ghost of them, or, in a broadcast, to every rank. The exchanger splits them by receiver, codes
them, and turns what arrives back into slots of this rank. A CPU takes the code with the fewest bytes, peer after peer;
a GPU codes for all peers in a few launches (graphdask.comm.segments).

Source: Pan et al., Multi-GPU Graph Analytics, Sections III-B and III-C (selective and broadcast communication).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from graphdask.comm import codec
from graphdask.comm.protocol import META, Communicator
from graphdask.comm.segments import Coded, Segments
from graphdask.comm.tuning import COMM
from graphdask.device.backend import Array, Backend
from graphdask.engine.messages import Counted, Inbox, Messages, Received
from graphdask.engine.tuning import ENGINE
from graphdask.errors import CommunicationError
from graphdask.partition.build import cyclic_bounds, from_cyclic, local_at_owner, to_cyclic_positions
from graphdask.partition.ghosts import known_slots
from graphdask.partition.part import Part

Exchange = Literal["selective", "broadcast"]

INDEX = "index"
"""Stands for the graph's index dtype among the columns of a primitive."""

_NO_META = [0] * META
_TO_GHOSTS = 1 << 32
"""Bit of the first meta word: the ids are places among the receiver's ghosts of the sender."""
_RECORDS = 1 << 33
"""Bit of the first meta word: the payload is records, one column after the other."""


class Exchanger:
    """Splits messages among the ranks and codes them; decodes and addresses what arrives."""

    def __init__(
        self,
        backend: Backend,
        comm: Communicator,
        part: Part,
        exchange: Exchange,
        columns: Mapping[str, Any],
        ghost_columns: Mapping[str, Any],
        mirrors: Sequence[Array],
        record_columns: Mapping[str, Any] | None = None,
    ):
        self.backend, self.part, self.exchange, self.mirrors = backend, part, exchange, mirrors
        self._comm = comm
        self._segments: dict[str, Segments] = {}
        self._widths: Mapping[str, int] = {}
        self.dtype = part.vertex_map.dtype
        self.dtypes = {
            to: {name: np.dtype(self.dtype if of == INDEX else of) for name, of in names.items()}
            for to, names in (("owners", columns), ("ghosts", ghost_columns), ("ranks", record_columns or {}))
        }
        self._bounds: list[int] = part.slot_bounds.tolist()
        joins = backend.name == "cuda" and comm.size > 2 and exchange == "selective"
        self._kernels = backend.kernels("segments", index_t=self.dtype) if joins else None
        self._marks: np.ndarray | None = None
        self._kept: dict[str, Array] | None = None
        """Records of this rank for itself, until they are opened."""
        self._head = COMM.head if comm.takes_host_memory else 0
        """Bytes of payloads that the host reads with their lengths."""
        self._whole: dict[int, tuple[Array, list[int], Mapping[str, Any], Received]] = {}
        """Messages of all vertices that a rank mirrors, by their first slot: the next in the same memory is alike."""
        self._coded: list[Coded] | None = None
        """What `counted` has coded, until it is packed."""

    def counted(self, messages: Messages | Counted) -> Messages:
        """Wait until it is known how many messages there are, and return them.

        Where a GPU sends them, it has coded them by then.
        """
        if isinstance(messages, Messages):
            return messages
        part, backend, to = self.part, self.backend, messages.to
        if backend.name == "cpu" or part.size == 1 or self.exchange == "broadcast":
            return messages.complete(backend.to_host(messages.counters))
        self._widths = {}
        segments = self._segments_of(to, None)
        segments.carry(self._dtypes(to))
        found, self._coded = segments.encode_counted(
            messages.slots, messages.counters, messages.place, messages.values, self._allocate, self._head
        )
        return messages.complete(found)

    def pack(self, messages: Messages) -> tuple[list[Array | None], np.ndarray, tuple[str, ...]]:
        """Return what to send to each rank, how each is coded for the receiver, and the names of the codes."""
        size, self._widths = self.part.size, messages.widths
        sends: list[Array | None] = [None] * size
        meta: list[list[int]] = [_NO_META] * size
        if messages.to == "ranks":
            self._to_ranks(messages, sends, meta)
            return sends, np.array(meta, np.int64), ("records",) * sum(payload is not None for payload in sends)
        if size == 1:
            return sends, np.zeros((1, META), np.int64), ()
        if self.exchange == "broadcast":
            self._to_everyone(messages, sends, meta)
        elif self.backend.name == "cuda":
            self._from_device(messages, sends, meta)
        elif messages.to == "ghosts":
            self._to_ghosts(messages, sends, meta)
        else:
            self._to_owners(messages, sends, meta)
        codes = tuple(
            [codec.name_of(header) for header, payload in zip(meta, sends, strict=True) if payload is not None]
        )
        headers = np.array(meta, np.int64)
        if messages.to == "ghosts":
            headers[:, 0] |= _TO_GHOSTS
        if callable(messages.votes):  # for these the host waits first
            self._comm.begin(sends)
        return sends, headers, codes

    def _to_ranks(self, messages: Messages, sends: list[Array | None], meta: list[list[int]]) -> None:
        bounds, rank = messages.bounds, self.part.rank
        assert bounds is not None
        dtypes = {name: dtype for name, dtype in self.dtypes["ranks"].items() if name in messages.records}
        columns = [(messages.records[name].astype(dtype, copy=False), dtype) for name, dtype in dtypes.items()]
        counts = np.diff(bounds)
        counts[rank] = 0
        sizes = [sum(_padded(int(count) * dtype.itemsize) for dtype in dtypes.values()) for count in counts]
        memory: Array = np.empty(sum(sizes), np.uint8) if self.backend.name == "cpu" else self._allocate(sum(sizes))
        at = 0
        for peer, (count, size) in enumerate(zip(counts.tolist(), sizes, strict=True)):
            if not count:
                continue
            sends[peer], meta[peer] = memory[at : at + size], [_RECORDS, count, 0, 0]
            for column, dtype in columns:
                nbytes = count * dtype.itemsize
                memory[at : at + nbytes] = column[bounds[peer] : bounds[peer + 1]].view(np.uint8)
                at += _padded(nbytes)
        own = slice(int(bounds[rank]), int(bounds[rank + 1]))
        self._kept = {name: column[own] for name, (column, _) in zip(dtypes, columns, strict=True)}

    def _to_everyone(self, messages: Messages, sends: list[Array | None], meta: list[list[int]]) -> None:
        xp, part = self.backend.xp, self.part
        own = xp.arange(part.num_owned, dtype=self.dtype) if isinstance(messages.own, str) else messages.own
        slots = xp.concatenate([own, messages.ghosts])
        if len(slots) == 0:
            return
        positions = from_cyclic(part, to_cyclic_positions(part, slots))
        allocate = self._allocate if self.backend.name == "cuda" else None
        values = self._values(messages, slots)
        header, payload = codec.encode(self.backend, positions, part.num_vertices, values, allocate=allocate)
        for peer in range(part.size):
            if peer != part.rank:
                sends[peer], meta[peer] = payload, header

    def _allocate(self, nbytes: int) -> Array:
        return self._comm.outgoing(self.backend, nbytes)

    def _from_device(self, messages: Messages, sends: list[Array | None], meta: list[list[int]]) -> None:
        """Send to owners or ghosts; only the exchange waits for the payloads."""
        part, to = self.part, messages.to
        changed, coded, self._coded = messages.ghosts if to == "owners" else messages.own, self._coded, None
        if not isinstance(changed, str) and not len(changed):
            return
        segments = self._segments_of(to, messages.mirror)
        segments.carry(self._dtypes(to))
        if coded is not None:
            pass
        elif to == "owners":
            coded = segments.encode(messages.ghosts, messages.values, self._allocate, self._head)
        elif isinstance(messages.own, str):
            coded = segments.encode_all(messages.values, self._allocate)
        else:
            coded = segments.encode(messages.own, messages.values, self._allocate, self._head)
        for step, (header, payload) in enumerate(coded, start=1):
            peer = (part.rank + step) % part.size
            meta[peer], sends[peer] = header, payload

    def _segments_of(self, to: str, mirror: Array | None) -> Segments:
        """What codes for owners or ghosts, in an order of the primitive's own too; kept with the partition, as it takes
        as long to make as a superstep."""
        which = to if mirror is None else "mirror"
        segments = self._segments.get(which)
        if segments is None:
            part, name = self.part, ("exchange", which, tuple(self.dtypes[to].items()))
            made_of = part.slot_bounds, part.ghosts, part.mirrored if mirror is None else mirror
            kept, segments = part.tables.get(name) or ((None,) * 3, None)
            if segments is None or any(old is not new for old, new in zip(kept, made_of, strict=True)):
                segments = self._owners() if to == "owners" else self._mirrors(mirror)
                part.tables.keep(name, (made_of, segments), segments.nbytes)
            self._segments[which] = segments
        return segments

    def _owners(self) -> Segments:
        """Ghosts, by the rank that owns them."""
        part = self.part
        universes = np.roll(np.diff(part.vertex_map.offsets), -part.rank)[1:].tolist()
        origins = cyclic_bounds(part.vertex_map.offsets, part.rank)[1:-1].tolist()
        return Segments(
            self.backend, self.dtype, part.slot_bounds[1:] - part.num_owned, universes, self._dtypes("owners"),
            shift=part.num_owned, numbers=part.ghosts, origins=origins,
        )  # fmt: skip

    def _mirrors(self, mirror: Array | None) -> Segments:
        """Own vertices, by the rank that holds ghosts of them."""
        part = self.part
        held = [len(self.mirrors[(part.rank + step) % part.size]) for step in range(1, part.size)]
        return Segments(
            self.backend, self.dtype, np.cumsum([0, *held]), held, self._dtypes("ghosts"),
            mirror=part.mirrored if mirror is None else mirror, num_slots=part.num_owned,
        )  # fmt: skip

    def _to_owners(self, messages: Messages, sends: list[Array | None], meta: list[list[int]]) -> None:
        part = self.part
        for step, slots in self._by_owner(messages.ghosts):
            peer = (part.rank + step) % part.size
            universe = int(part.vertex_map.offsets[peer + 1] - part.vertex_map.offsets[peer])
            local = local_at_owner(part, slots, step)
            meta[peer], sends[peer] = codec.encode(self.backend, local, universe, self._values(messages, slots))

    def _to_ghosts(self, messages: Messages, sends: list[Array | None], meta: list[list[int]]) -> None:
        part, begin = self.part, 0
        for step in range(1, part.size):
            peer = (part.rank + step) % part.size
            mirror = self.mirrors[peer]
            end = begin + len(mirror)
            if isinstance(messages.own, str):
                values = self._values(messages, mirror if messages.mirror is None else messages.mirror[begin:end])
                meta[peer], sends[peer] = codec.encode_all(self.backend, self.dtype, len(mirror), values)
            elif len(mirror) == part.num_owned:  # the peer holds ghosts of all of them
                values = self._values(messages, messages.own)
                meta[peer], sends[peer] = codec.encode(self.backend, messages.own, len(mirror), values)
            elif len(mirror) and len(messages.own):
                place = self._places_in(mirror, messages.own)
                values = self._values(messages, mirror[place]) if self.dtypes["ghosts"] else {}
                meta[peer], sends[peer] = codec.encode(self.backend, place, len(mirror), values)
            begin = end

    def _places_in(self, mirror: Array, own: Array) -> Array:
        """Where a mirror, ascending, has some of the own vertices; those that it does not have are left out."""
        if len(own) * ENGINE.sparse > len(mirror):
            if self._marks is None:
                self._marks = np.zeros(self.part.num_owned, np.uint8)
            places = np.empty(len(mirror), self.dtype)
            find = self.backend.kernels("mirrors").mirrors_find
            return places[: find(len(mirror), mirror, len(own), own, self._marks, places)]
        place = np.minimum(np.searchsorted(mirror, own), len(mirror) - 1).astype(self.dtype)
        return place[mirror[place] == own]

    def _values(self, messages: Messages, slots: Array) -> dict[str, Array]:
        return {name: messages.values[name][slots] for name in self.dtypes[messages.to]}

    def _dtypes(self, to: str) -> dict[str, np.dtype]:
        """Of the columns that travel now."""
        widths = self._widths
        return {
            name: np.dtype((of.base, (widths[name],))) if name in widths else of for name, of in self.dtypes[to].items()
        }

    def _by_owner(self, ghosts: Array) -> list[tuple[int, Array]]:
        """Divide ghosts by owner; owners are counted from this rank on."""
        xp, size = self.backend.xp, self.part.size
        if len(ghosts) == 0:
            return []
        if size == 2:
            return [(1, ghosts)]
        inner = self.backend.from_host(self.part.slot_bounds[1:-1])
        owner = xp.searchsorted(inner, ghosts, side="right").astype(np.uint16)
        ghosts = ghosts[xp.argsort(owner, kind="stable")]
        counts = self.backend.to_host(xp.bincount(owner, minlength=size))
        cuts = np.concatenate(([0], np.cumsum(counts)))
        return [(k, ghosts[cuts[k] : cuts[k + 1]]) for k in range(1, size) if counts[k]]

    def unpack(self, payloads: Sequence[Array | None], meta: np.ndarray, votes: np.ndarray) -> Inbox:
        """Return what arrived, in slots of this rank."""
        part = self.part
        received = []
        dtypes = self._dtypes("owners")
        if self._kept is not None:
            return Inbox(self.backend.xp, {}, (), votes, self._records(payloads, meta))
        for peer, (payload, header) in enumerate(zip(payloads, meta.tolist(), strict=True)):
            if payload is None or peer == part.rank:
                continue
            to_ghosts = bool(header[0] & _TO_GHOSTS)
            header[0] &= ~_TO_GHOSTS
            dtypes = self._dtypes("ghosts" if to_ghosts else "owners")
            if self.exchange == "broadcast":
                received.append(self._known(header, payload, dtypes))
            elif to_ghosts:
                first, last = self._bounds[(peer - part.rank) % part.size :][:2]
                received.append(self._received(header, payload, first, last - first, dtypes, True))
            else:
                received.append(self._received(header, payload, 0, part.num_owned, dtypes, False))
        return Inbox(self.backend.xp, {"slots": self.dtype, **dtypes}, received, votes, kernels=self._kernels)

    def _records(self, payloads: Sequence[Array | None], meta: np.ndarray) -> dict[str, Array]:
        """What all ranks sent here, this one too."""
        xp, rank = self.backend.xp, self.part.rank
        kept, self._kept = self._kept, None
        assert kept is not None
        dtypes = {name: column.dtype for name, column in kept.items()}
        pieces: dict[str, list[Array]] = {name: [] for name in dtypes}
        for peer, payload in enumerate(payloads):
            at = 0
            for name, dtype in dtypes.items():
                if peer == rank:
                    pieces[name].append(kept[name])
                elif payload is not None:
                    if not meta[peer, 0] & _RECORDS:
                        raise CommunicationError(f"rank {peer} sent something else than records")
                    nbytes = int(meta[peer, 1]) * dtype.itemsize
                    pieces[name].append(payload[at : at + nbytes].view(dtype))
                    at += _padded(nbytes)
        if len(payloads) == 1 and not any(len(column) for column in kept.values()):
            return kept  # nothing, of which a device needs no copy
        return {name: xp.concatenate(of_all) for name, of_all in pieces.items()}

    def _opened(self, header: list[int], payload: Array, universe: int, dtypes: Mapping[str, Any]) -> codec.Message:
        message = codec.opened(header, payload, universe, dtypes)
        if message.dtype != self.dtype:
            raise CommunicationError(f"a rank numbers vertices with {message.dtype}, this one with {self.dtype}")
        return message

    def _received(
        self, header: list[int], payload: Array, first: int, universe: int, dtypes: Mapping[str, Any], of_ghosts: bool
    ) -> Received:
        """Slots from `first` on; their ids are read when somebody asks for them."""
        kept = self._whole.get(first)
        if kept is not None and kept[0] is payload and kept[1] == header and kept[2] == dtypes:
            return kept[3]
        message, backend = self._opened(header, payload, universe, dtypes), self.backend
        run = slice(first, first + universe) if message.code == codec.ALL else None

        def read(out: Array | None) -> Array:
            # never the payload itself: what is sent to ghosts may be kept
            if out is None and of_ghosts and run is None:
                out = backend.xp.empty(message.count, self.dtype)
            return message.ids(backend, first, out)

        ids = message.listed if backend.name == "cuda" and message.width == self.dtype.itemsize else None
        received = Received(message.count, message.columns, read, run, message.bits, first, universe, ids)
        if run is not None:
            self._whole[first] = payload, header, dtypes, received
        return received

    def _known(self, header: list[int], payload: Array, dtypes: Mapping[str, Any]) -> Received:
        """The vertices of a broadcast that have a slot here."""
        part = self.part
        message = self._opened(header, payload, part.num_vertices, dtypes)
        slots, known = known_slots(self.backend, part, message.ids(self.backend))
        slots = slots[known]
        values = {name: column[known] for name, column in message.columns.items()}

        def read(out: Array | None) -> Array:
            if out is None:
                return slots
            out[:] = slots
            return out

        return Received(len(slots), values, read)


def _padded(nbytes: int) -> int:
    """Up to the next multiple of 8, where the next column begins."""
    return (nbytes + 7) // 8 * 8
