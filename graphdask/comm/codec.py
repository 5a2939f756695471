"""How a set of vertices, with values aligned to it, becomes bytes for one peer: the code with the fewest bytes wins.

| code | bytes for the ids | order in which ids and columns arrive |
|---|---|---|
| list | 4 each (8 if the universe needs it) | as given |
| bitmap | universe / 8 | ascending |
| delta | 1 or 2 each, if the largest gap allows | ascending |
| all | none: every vertex of the universe | ascending |

On a GPU the bytes are not all: time goes into launches. There it is list or bitmap (`bitmap_saves`), and sets for many
peers are coded together (graphdask.comm.segments); `delta` is for CPUs, but every receiver reads every code.

A dense set is put in order through its bitmap (rank by prefix sums of word counts), a sparse one by a sort. The payload
is the ids, then the columns, each from a multiple of 8 bytes on. What it must look like follows from `meta`
(code, width and dtype; count; first id; universe), so a payload that does not fit is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.comm.tuning import COMM
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, InputError, KernelError
from graphdask.kernels.common.tuning import BITMAP_TILE as TILE

LIST, BITMAP, DELTA, ALL = 0, 1, 2, 3
CODES = {"list": LIST, "bitmap": BITMAP, "delta": DELTA}
"""What `encode` chooses from; `encode_all` has the fourth."""
NAMES = ("list", "bitmap", "delta", "all")
Meta = Sequence[int] | np.ndarray
"""What travels beside a payload and describes it."""
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)
FEW = 128
"""Ids up to which the list is taken at once: so few bytes travel with the header anyway."""
SPARSE = 128
"""A set is sorted, not ranked through its bitmap, when the universe is more than this many times its size."""


def encode(
    backend: Backend,
    ids: Array,
    universe: int,
    columns: Mapping[str, Array],
    *,
    force: str | None = None,
    allocate: Callable[[int], Array] | None = None,
) -> tuple[list[int], Array | None]:
    """Code distinct vertex numbers and their values.

    Parameters
    ----------
    backend : Backend
        The backend whose memory holds `ids` and `columns`.
    ids : int32 or int64 array, shape (n,)
        Distinct, in [0, universe), in any order.
    universe : int
    columns : mapping of str to array, shape (n,) or (n, k)
        Values aligned with `ids`; the receiver must know their names, order and dtypes.
    force : {"list", "bitmap", "delta"}, optional
        Use this code. "delta" raises InputError if a gap does not fit into 2 bytes.
    allocate : callable, optional
        Returns uint8 memory for the payload, of at least as many bytes as it is passed. Default: a new array.

    Returns
    -------
    meta : list of int
        `graphdask.comm.protocol.META` of them.
    payload : uint8 array or None
        On the backend; None when there are no ids.
    """
    if ids.dtype not in (np.int32, np.int64) or ids.ndim != 1:
        raise InputError(f"ids must be 1-D int32 or int64, not {ids.dtype} of shape {ids.shape}")
    if force is not None and force not in CODES:
        raise InputError(f"force={force!r} is not one of {', '.join(CODES)}")
    n = len(ids)
    for name, column in columns.items():
        if column.shape[:1] != (n,):
            raise InputError(f"column {name!r} has shape {column.shape}, not {(n,)} as the ids")
    if n > universe:
        raise InputError(f"{n} distinct ids do not fit into a universe of {universe}")
    if n == 0:
        return meta_of(LIST, list_width(universe), ids.dtype, 0, 0, universe), None
    code = LIST if force is None and n <= FEW else None if force is None else CODES[force]
    order: _Order | None = None
    width, first = 0, 0
    bitmap, listed = bitmap_bytes(universe), n * list_width(universe)
    if code is None and backend.name == "cuda":
        code = BITMAP if listed - bitmap > COMM.bitmap_saves else LIST
    if code == DELTA or (code is None and n < min(bitmap, listed)):
        order = _Order(backend, ids, universe)
        width, first = order.gap_width()
        if code is None and 0 < width * n < min(bitmap, listed):
            code = DELTA
        if code == DELTA and width == 0:
            raise InputError("delta was asked for, but a gap between ids is larger than 65535")
    if code is None:
        code = BITMAP if bitmap < listed else LIST
    if code == LIST:
        width, order = list_width(universe), None
    elif order is None and (columns or code == DELTA):
        order = _Order(backend, ids, universe)
    if code == BITMAP:
        width = 0
    head = _ids_bytes(code, width, n, universe)
    nbytes = head + sum(padded(column.nbytes) for column in columns.values())
    payload = backend.xp.empty(nbytes, dtype=np.uint8) if allocate is None else allocate(nbytes)[:nbytes]
    _write_ids(backend, code, width, ids, order, payload, universe)
    at = head
    for column in columns.values():
        view = payload[at : at + column.nbytes].view(column.dtype).reshape(column.shape)
        if order is None:
            view[:] = column
        else:
            order.put(column, view)
        at += padded(column.nbytes)
    return meta_of(code, width, ids.dtype, n, first if code == DELTA else 0, universe), payload


def encode_all(
    backend: Backend, dtype: Any, universe: int, columns: Mapping[str, Array]
) -> tuple[list[int], Array | None]:
    """Code values of every vertex 0 .. universe-1, in order: the ids take no bytes.

    Parameters
    ----------
    dtype : int32 or int64
        Of the ids that `decode` gives.
    columns : mapping of str to array, shape (universe,)
        At least one.

    Returns
    -------
    meta, payload
        As `encode`.
    """
    if universe == 0:
        return meta_of(LIST, list_width(0), dtype, 0, 0, 0), None
    xp = backend.xp
    parts = []
    for name, column in columns.items():
        if column.shape[:1] != (universe,):
            raise InputError(f"column {name!r} has shape {column.shape}, not {(universe,)}")
        parts.append(xp.ascontiguousarray(column).reshape(-1).view(np.uint8))
        parts.append(xp.zeros(padded(column.nbytes) - column.nbytes, np.uint8))
    return meta_of(ALL, 0, dtype, universe, 0, universe), xp.concatenate(parts)


@dataclass(slots=True)
class Message:
    """A payload that fits its description; its ids are read when they are asked for."""

    code: int
    width: int
    count: int
    first: int
    """The first id of a delta."""
    universe: int
    dtype: np.dtype
    """Of the ids."""
    payload: Array | None
    columns: dict[str, Array]
    """Views of the payload, aligned with the ids: shape (n,), or (n, k) where the dtype is one of k values."""

    @property
    def bits(self) -> Array | None:
        """The ids as a bitmap, a view of the payload as uint32 words, or None where they travel in another code."""
        if self.code != BITMAP or self.payload is None:
            return None
        return self.payload[: bitmap_bytes(self.universe)].view(np.uint32)

    @property
    def listed(self) -> Array | None:
        """The ids as they came, a view of the payload, or None where they travel in another code."""
        if self.code != LIST or self.payload is None:
            return None
        return self.payload[: self.count * self.width].view(np.int32 if self.width == 4 else np.int64)

    def ids(self, backend: Backend, shift: int = 0, out: Array | None = None) -> Array:
        """Return the ids, each plus `shift`, in `out` if given.

        Raises
        ------
        CommunicationError
            For an id outside the universe. On a GPU a kernel finds it: it takes another id for it, and KernelError is
            raised at the next synchronisation.
        """
        if self.payload is None:
            return backend.xp.empty(0, self.dtype) if out is None else out
        try:
            return _read_ids(backend, self, self.payload, shift, out)
        except KernelError as error:
            raise CommunicationError(f"a message does not fit its description: {error}") from error


def opened(meta: Meta, payload: Array | None, universe: int, column_dtypes: Mapping[str, Any]) -> Message:
    """Take a payload for what `meta` says that it is.

    Raises
    ------
    CommunicationError
        If the payload is not what `meta`, `universe` and `column_dtypes` call for.
    """
    packed, n, first, sender_universe = meta if isinstance(meta, list) else (int(word) for word in meta)
    code, width, itemsize = packed & 0xFF, packed >> 8 & 0xFF, packed >> 16 & 0xFF
    problem, columns = None, {}
    if sender_universe != universe:
        problem = f"it is for a universe of {sender_universe}, not {universe}"
    elif not _fits(code, width, universe) or itemsize not in (4, 8) or packed >> 24:
        problem = f"its code {packed:#x} is none of list, bitmap, delta, all"
    elif not 0 < n <= universe or payload is None or (code == ALL and n != universe):
        problem = f"it has {n} ids of a universe of {universe} and {'no' if payload is None else 'a'} payload"
    else:
        at = _ids_bytes(code, width, n, universe)
        for name, of in column_dtypes.items():
            of = np.dtype(of)
            nbytes = n * of.itemsize
            column = payload[at : at + nbytes]
            if len(column) == nbytes:
                columns[name] = column.view(of.base) if not of.shape else column.view(of.base).reshape(n, *of.shape)
            at += padded(nbytes)
        if len(payload) != at:
            problem = f"it has {len(payload)} bytes, not {at}"
    if problem:
        raise CommunicationError(f"a message does not fit its description: {problem}")
    return Message(code, width, n, first, universe, _INT32 if itemsize == 4 else _INT64, payload, columns)


def _fits(code: int, width: int, universe: int) -> bool:
    """Whether a code travels in that many bytes an id."""
    if code == LIST:
        return width == list_width(universe)
    return width in (1, 2) if code == DELTA else width == 0 and code in (BITMAP, ALL)


def decode(
    backend: Backend, meta: Meta, payload: Array | None, universe: int, column_dtypes: Mapping[str, Any]
) -> tuple[Array, dict[str, Array]]:
    """Undo `encode`.

    Returns
    -------
    ids : array, shape (n,)
        With the dtype that was encoded.
    columns : dict of str to array, shape (n,), or (n, k) where the dtype is one of k values
        Views of `payload`, aligned with `ids`.

    Raises
    ------
    CommunicationError
        As `opened` and `Message.ids`.
    """
    if meta[1] == 0 and payload is None:
        dtype = np.dtype(np.int64 if int(meta[0]) >> 16 & 0xFF == 8 or universe > 1 << 31 else np.int32)
        return _empty(backend, dtype), {name: _empty(backend, of) for name, of in column_dtypes.items()}
    message = opened(meta, payload, universe, column_dtypes)
    return message.ids(backend), message.columns


def _empty(backend: Backend, of: Any) -> Array:
    of = np.dtype(of)
    return backend.xp.empty((0, *of.shape), of.base)


def name_of(meta: Meta) -> str:
    """Return the name of the code that `meta` of one message says: list, bitmap, delta or all."""
    return NAMES[int(meta[0]) & 0xFF]


def meta_of(code: int, width: int, dtype: Any, n: int, first: int, universe: int) -> list[int]:
    """The integers that describe a payload."""
    return [code | width << 8 | np.dtype(dtype).itemsize << 16, n, first, universe]


def list_width(universe: int) -> int:
    return 4 if universe <= 1 << 31 else 8


def bitmap_bytes(universe: int) -> int:
    return (universe + 31) // 32 * 4


def padded(nbytes: int) -> int:
    return (nbytes + 7) & ~7


def _ids_bytes(code: int, width: int, n: int, universe: int) -> int:
    return padded(bitmap_bytes(universe) if code == BITMAP else n * width)  # an `all` has width 0


class _Order:
    """A set in ascending order: through its bitmap where it is dense, else by a sort."""

    def __init__(self, backend: Backend, ids: Array, universe: int):
        self._backend, self._ids = backend, ids
        self.words: Array | None = None
        self._place = self._order = None
        if universe <= SPARSE * len(ids):
            self._rank(universe)
        else:
            self._order = backend.xp.argsort(ids)

    def _rank(self, universe: int) -> None:
        xp, kernels, n = (
            self._backend.xp,
            self._backend.kernels("codec", index_t=self._ids.dtype),
            len(self._ids),
        )
        self.words = self.bits(universe)
        self._place = xp.empty(n, dtype=np.int64)
        counts = xp.empty(len(self.words), dtype=np.int32)
        kernels.codec_count_bits(len(self.words), self.words, counts)
        offsets = xp.cumsum(counts, dtype=np.int64) - counts
        kernels.codec_rank_bits(n, self._ids, self.words, offsets, self._place)

    def bits(self, universe: int) -> Array:
        """Return the set as uint32 words."""
        return _set_bits(self._ids, universe, self._backend) if self.words is None else self.words

    def put(self, column: Array, out: Array) -> None:
        """Write `column` into `out` in ascending order of the ids."""
        if self._place is not None:
            out[self._place] = column
        else:
            out[:] = column[self._order]

    def gap_width(self) -> tuple[int, int]:
        """Return the bytes that a gap needs (0: more than 2) and the first id; keep the gaps."""
        xp = self._backend.xp
        ascending = xp.empty_like(self._ids)
        self.put(self._ids, ascending)
        self.gaps = xp.zeros_like(ascending)
        self.gaps[1:] = ascending[1:] - ascending[:-1]
        largest, first = map(int, self._backend.to_host(xp.stack([self.gaps.max(), ascending[0]])))
        return (1 if largest <= 0xFF else 2 if largest <= 0xFFFF else 0), first


def _set_bits(ids: Array, universe: int, backend: Backend) -> Array:
    """A set as uint32 words."""
    words = backend.xp.zeros((universe + 31) // 32, dtype=np.uint32)
    try:
        backend.kernels("codec", index_t=ids.dtype).codec_set_bits(len(ids), ids, words, universe)
    except KernelError as error:
        raise InputError(f"an id is not in [0, {universe})") from error
    return words


def _write_ids(
    backend: Backend, code: int, width: int, ids: Array, order: _Order | None, payload: Array, universe: int
) -> None:
    if code == LIST:
        payload[: len(ids) * width].view(f"int{8 * width}")[:] = ids
    elif code == BITMAP:
        bits = _set_bits(ids, universe, backend) if order is None else order.bits(universe)
        payload[: bitmap_bytes(universe)].view(np.uint32)[:] = bits
    else:
        assert order is not None
        payload[: len(ids) * width].view(f"uint{8 * width}")[:] = order.gaps


def _read_ids(backend: Backend, message: Message, payload: Array, shift: int, out: Array | None) -> Array:
    xp, n, dtype, universe = backend.xp, message.count, message.dtype, message.universe
    kernels = backend.kernels("codec", index_t=dtype)
    if message.code == ALL:
        ids = xp.arange(shift, shift + n, dtype=dtype)
        if out is not None:
            out[:] = ids
        return ids if out is None else out
    words = message.bits
    if words is not None:
        ids = xp.empty(n, dtype=dtype) if out is None else out
        sums = xp.empty(-(-len(words) // TILE), np.int32)
        kernels.codec_count_tiles(len(words), words, sums)
        kernels.codec_list_bits(len(words), words, sums, ids, n, universe, shift)
        return ids
    if message.code == LIST:
        ids = payload[: n * message.width].view(f"int{8 * message.width}")
    else:
        ids = xp.cumsum(payload[: n * message.width].view(f"uint{8 * message.width}"), dtype=np.int64) + message.first
    if out is None and shift == 0 and ids.dtype == dtype:
        kernels.codec_check_ids(n, ids, universe)
        return ids
    out = xp.empty(n, dtype=dtype) if out is None else out
    narrow, wide = (ids, None) if ids.dtype.itemsize == 4 else (None, ids)
    kernels.codec_take_ids(n, narrow, wide, universe, shift, out)
    return out
