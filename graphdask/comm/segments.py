"""Code the payloads for all peers at once, on a GPU: in a handful of launches, with one read from the device.

The vertices that a rank may send to its peers are *entries* in one array, peer after peer: its ghosts, or the own
vertices that peers hold ghosts of. A superstep marks some of them in a bitmap over all entries. Prefix sums rank the
marked entries, and one kernel writes each of them, its number at the receiver and its value, to its place in the
payload of its peer. So sets arrive in ascending order, whatever the number of peers and the order of threads
(kernels/exchange/segments.cu).

Codes are `list` and `bitmap` of graphdask.comm.codec. On a GPU decoding costs launches, not bytes: `COMM.bitmap_saves`,
`LIST_SAVES`. Coding a `delta` would cost both ends more time than its fewer bytes save on links among GPUs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphdask.comm import codec
from graphdask.comm.tuning import COMM
from graphdask.device.backend import Array, Backend
from graphdask.errors import InputError
from graphdask.kernels.common.tuning import MOST_PEERS
from graphdask.kernels.exchange.segments_pack import FewParts, SegmentParts

TILE = codec.TILE
"""Words of a tile (kernels/exchange/segments.cu): every peer's bits begin with one."""
TILE_BITS = 32 * TILE
LIST_SAVES = 1 << 18
"""Without columns a bitmap is sent unless a list is shorter by more bytes: a receiver can join the words to a bitmap of
its own, and reads a list no faster. These bytes take the 5 us of one launch at InfiniBand's 50 GB/s."""

Coded = tuple[list[int], Array | None]
"""Meta and payload of one peer."""


class Segments:
    """Entries of all peers, and the memory for marking them.

    Parameters
    ----------
    backend : Backend
    dtype : int32 or int64
        Of numbers, and of the ids that are decoded.
    entries : int array, shape (S + 1,)
        The first entry of each of S peers, and their number.
    universes : sequence of int, S of them
        How many numbers each receiver has.
    columns : mapping of str to dtype
        Of the values that travel with an entry; (dtype, (k,)) for k of them.
    shift : int
        Entry e is slot `shift` + e of this rank; without `mirror`.
    numbers : array, optional
        The receiver's numbers of the entries, plus its origin. Default: entries are counted from the first of each.
    origins : sequence of int, optional
    mirror : array, optional
        Slots of the entries, ascending for each peer.
    num_slots : int
        For `mirror`: one more than its largest slot may be.
    """

    def __init__(
        self,
        backend: Backend,
        dtype: Any,
        entries: np.ndarray,
        universes: Sequence[int],
        columns: Mapping[str, Any],
        *,
        shift: int = 0,
        numbers: Array | None = None,
        origins: Sequence[int] | None = None,
        mirror: Array | None = None,
        num_slots: int = 0,
    ):
        self._backend, self._dtype = backend, np.dtype(dtype)
        self._entries, self._universes = np.asarray(entries, np.int64), [int(universe) for universe in universes]
        self._numbers, self._mirror, self._shift, self._num_slots = numbers, mirror, shift, num_slots
        self._lengths = np.diff(self._entries)
        self._tiles = np.concatenate(([0], np.cumsum(-(-self._lengths // TILE_BITS)))).astype(np.int64)
        self._widths = [codec.list_width(universe) for universe in self._universes]
        self._bitmaps = [codec.bitmap_bytes(universe) for universe in self._universes]
        self._sizes = list(zip(self._bitmaps, self._widths, self._lengths.tolist(), strict=True))
        self._kernels = backend.kernels("segments", index_t=self._dtype)
        self._bits = self._marks = None
        self._nothing: Coded = codec.meta_of(codec.LIST, 0, self._dtype, 0, 0, 0), None
        offsets = [0] * len(self._universes) if origins is None else origins
        self._places = [self._entries, self._tiles, offsets, self._universes]
        self._columns: dict[str, np.dtype] = {}
        self._plan: Array = None
        self.carry(columns)
        self._layout = backend.xp.empty(3 * len(self._universes), np.int64)

    def __len__(self) -> int:
        return len(self._universes)

    @property
    def nbytes(self) -> int:
        """Bytes that it may take besides what it was given."""
        return int(self._tiles[-1]) * (TILE * 4 + 8) + self._num_slots // 8

    def carry(self, columns: Mapping[str, Any]) -> None:
        """Let these columns travel from now on."""
        columns = {name: np.dtype(of) for name, of in columns.items()}
        if self._plan is not None and columns == self._columns:
            return
        self._columns, self._rows = columns, [of.itemsize for of in columns.values()]
        plan = [*self._places, self._rows]
        self._plan = self._backend.from_host(np.concatenate([np.asarray(piece, np.int64) for piece in plan]))
        self._all: tuple[list[tuple[int, slice]], int, Array] | None = None

    def encode(
        self, slots: Array, values: Mapping[str, Array], allocate: Callable[[int], Array], head: int = 0
    ) -> list[Coded]:
        """Code the entries of the given slots, and their values.

        Parameters
        ----------
        slots : array, shape (n,)
            Distinct. A slot without an entry is ignored if `mirror` is given; otherwise a kernel reports an error.
        values : mapping of str to array
            Per column an array over slots.
        allocate : callable
            Returns uint8 memory of at least as many bytes as it is passed; `SendBuffer.take`.
        head : int
            How many of the first bytes of all payloads the host reads with what it must know of them. A payload that
            lies in these is an array of the host.

        Returns
        -------
        list of (meta, payload)
            Per peer, as `codec.encode` returns them.
        """
        n = len(slots)
        if n == 0 or not self._entries[-1]:
            return [self._nothing] * len(self)
        raw = self._raw(values)
        payload = allocate(self._most_bytes(n))
        if self._mirror is None and n <= COMM.counted and len(self) <= MOST_PEERS:
            self._few(n, (None, 0), slots, raw, payload)
        else:
            self._many(n, (None, 0), slots, raw, payload)
        _, coded = self._read([], payload, head)
        assert coded is not None  # these are few, or were not coded as such
        return coded

    def encode_counted(
        self, slots: Array, counters: Array, place: int, values: Mapping[str, Array],
        allocate: Callable[[int], Array], head: int = 0,
    ) -> tuple[np.ndarray, list[Coded]]:  # fmt: skip
        """Code the first slots, as many as a kernel that was launched before counts.

        The host waits once, for the counters and what it must know of the payloads.

        Parameters
        ----------
        slots : array, shape (n,)
            As of `encode`, of the length of the most that there may be.
        counters : int64 array
            `encode_counted` returns them; counters[place] is how many slots there are.
        values, allocate, head
            As of `encode`.

        Returns
        -------
        counters : array
            On the host.
        coded : list of (meta, payload)
            As `encode` returns them.
        """
        n, backend = len(slots), self._backend
        if n == 0 or not self._entries[-1]:
            return backend.to_host(counters), [self._nothing] * len(self)
        raw = self._raw(values)
        payload = allocate(self._most_bytes(n))
        few = self._mirror is None and len(self) <= MOST_PEERS and COMM.counted > 0  # or else none fit
        if few:
            self._few(min(n, COMM.counted), (counters, place), slots, raw, payload)
        else:
            self._many(n, (counters, place), slots, raw, payload)
        (found,), coded = self._read([counters], payload, head)
        return found, self.encode(slots[: int(found[place])], values, allocate, head) if coded is None else coded

    def _read(self, counters: list[Array], payload: Array, head: int) -> tuple[list[np.ndarray], list[Coded] | None]:
        """Counters, and the payloads; None where there are more entries than few."""
        first = [payload[:head]] if head else []
        *found, layout = self._backend.to_host_together([*counters, *first, self._layout])
        coded = None if layout[0] < 0 else self._coded(layout, payload, found[-1] if head else None)
        return found[: len(counters)], coded

    def _coded(self, layout: np.ndarray, payload: Array, head: np.ndarray | None = None) -> list[Coded]:
        """Meta and payload of each peer, of which the host has those that lie in `head`, the first bytes."""
        coded = [self._nothing] * len(self)
        for k, (count, offset, bitmap) in enumerate(layout.reshape(-1, 3).tolist()):
            if count:
                code, width = (codec.BITMAP, 0) if bitmap else (codec.LIST, self._widths[k])
                end = offset + codec.padded(self._bitmaps[k] if bitmap else count * width)
                end += sum(codec.padded(count * row) for row in self._rows)
                meta = codec.meta_of(code, width, self._dtype, count, 0, self._universes[k])
                there: Array = payload if head is None or end > len(head) else head
                coded[k] = meta, there[offset:end]
        return coded

    def encode_all(self, values: Mapping[str, Array], allocate: Callable[[int], Array]) -> list[Coded]:
        """Code the values of all entries: the ids take no bytes. Needs `mirror`, and a column."""
        if self._all is None:
            offsets, pieces, at = [], [], 0
            for length in self._lengths.tolist():
                begin = at
                for row in self._rows:
                    offsets.append(at)
                    at += codec.padded(length * row)
                pieces.append((length, slice(begin, at)))
                at = _aligned(at)
            self._all = pieces, at, self._backend.from_host(np.array(offsets, np.int64))
        pieces, nbytes, offsets = self._all
        coded = [self._nothing] * len(self)
        if not nbytes:
            return coded
        payload = allocate(nbytes)
        for column, (view, item) in enumerate(self._raw(values)):
            self._kernels.segments_gather(
                int(self._entries[-1]), self._mirror, self._plan, len(self), len(self._rows), column, offsets, view,
                item, payload, per_item=self._rows[column] // item,
            )  # fmt: skip
        for k, (length, where) in enumerate(pieces):
            if length:
                coded[k] = codec.meta_of(codec.ALL, 0, self._dtype, length, 0, length), payload[where]
        return coded

    def _raw(self, values: Mapping[str, Array]) -> list[tuple[Array, int]]:
        """Per column its bytes, and of how many a kernel copies at once."""
        end = self._num_slots if self._mirror is not None else self._shift + int(self._entries[-1])
        raw = []
        for name, of in self._columns.items():
            array = values[name]
            if array.dtype != of.base or array.shape[1:] != of.shape or len(array) < end:
                raise InputError(
                    f"values of column {name!r} are {array.dtype} of shape {array.shape}; expected are {of.base} of "
                    f"shape {(end, *of.shape)} or longer"
                )
            if not array.flags.c_contiguous:
                array = self._backend.xp.ascontiguousarray(array)
            flat = array if array.ndim == 1 else array.reshape(-1)
            raw.append((flat.view(np.uint8), of.base.itemsize if of.base.itemsize in (4, 8) else 1))
        return raw

    def _most_bytes(self, n: int) -> int:
        """Bytes that the payloads of n slots need at most."""
        if not self._rows:
            few = COMM.counted
            return sum(
                [
                    _aligned(codec.padded(max(bitmap, count * width if (count := min(length, n)) <= few else 0)))
                    for bitmap, width, length in self._sizes
                ]
            )
        total = sum([min(length, n) for _, _, length in self._sizes]) if self._mirror is not None else n
        return total * (max(self._widths) + sum(self._rows)) + len(self) * (8 * (len(self._rows) + 1) + ALIGNMENT)

    def _few(
        self, n: int, counted: tuple[Array | None, int], slots: Array, raw: list[tuple[Array, int]], payload: Array
    ) -> None:
        for column, (view, item) in enumerate(raw or [(None, 1)]):
            self._kernels.segments_few(
                n, slots, FewParts(
                    counters=counted[0], place=counted[1], plan=self._plan, segments=len(self),
                    columns=len(self._rows), column=column, layout=self._layout, numbers=self._numbers,
                    shift=self._shift, values=view, item=item, payload=payload,
                ), per_item=32,
            )  # fmt: skip

    def _many(
        self, n: int, counted: tuple[Array | None, int], slots: Array, raw: list[tuple[Array, int]], payload: Array
    ) -> None:
        kernels, plan, peers, mirror = self._kernels, self._plan, len(self), self._mirror
        words = int(self._tiles[-1]) * TILE
        if self._bits is None:
            xp = self._backend.xp
            self._bits, self._ticket = xp.zeros(words, np.uint32), xp.zeros(1, np.uint32)
            self._sums = xp.empty(words // TILE + 1, np.int64)
        looked_up = mirror is not None and n * COMM.searched > int(self._entries[-1])
        if looked_up:
            if self._marks is None:
                self._marks = self._backend.xp.zeros(-(-self._num_slots // 32), np.uint32)
            kernels.segments_note(n, *counted, slots, self._num_slots, 0, self._marks)
        elif mirror is None:
            kernels.segments_mark(n, *counted, slots, self._shift, plan, peers, self._bits)
        else:
            kernels.segments_find(n, *counted, slots, mirror, plan, peers, self._bits)
        kernels.segments_count(
            words, mirror if looked_up else None, self._marks if looked_up else None, self._bits, self._sums,
            self._ticket, plan, peers, len(self._rows), COMM.bitmap_saves if self._rows else LIST_SAVES, self._layout,
        )  # fmt: skip
        if looked_up:
            kernels.segments_note(n, *counted, slots, self._num_slots, 1, self._marks)
        if self._numbers is not None and self._may_need_a_bitmap(n):
            kernels.segments_clear(max(self._bitmaps) // 4, plan, peers, self._layout, payload)
        for column, (view, item) in enumerate(raw or [(None, 1)]):
            kernels.segments_pack(
                words, SegmentParts(
                    bits=self._bits, sums=self._sums, plan=plan, segments=peers, columns=len(self._rows),
                    column=column, layout=self._layout, numbers=self._numbers, mirror=mirror, shift=self._shift,
                    values=view, item=item, payload=payload,
                ),
            )  # fmt: skip

    def _may_need_a_bitmap(self, n: int) -> bool:
        if not self._rows:
            return True
        return any([min(n, length) * width - bitmap > COMM.bitmap_saves for bitmap, width, length in self._sizes])


ALIGNMENT = 256
"""Payloads begin at multiples of this many bytes, as allocations do."""


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
