"""Stage: small payloads of a GPU on their way through host memory, within the headers.

A message between GPUs takes tens of microseconds however short it is, each header travels anyway, and the copies of
all peers share the wait for the stream that an exchange begins with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphdask.comm.ucx.wire import HEADER_BYTES
from graphdask.device.backend import Array, Backend

TO_DEVICE, TO_HOST = 1, 2
"""Directions of a copy (cudaMemcpyKind)."""


class Stage:
    """Pinned host memory of one rank, a header's length for each peer."""

    def __init__(self, backend: Backend):
        self._backend = backend
        self._pinned: Any = None
        self._host = np.empty(0, np.uint8)

    def lowered(self, sends: Sequence[Array | None], rank: int, capacity: int) -> Sequence[Array | None]:
        """Return the payloads; those for peers that are short enough for a header become host arrays, or are already.

        The host arrays are complete once the stream is, and valid until the next call.
        """
        small = [
            q
            for q, part in enumerate(sends)
            if part is not None and q != rank and 0 < part.nbytes <= capacity and not isinstance(part, np.ndarray)
        ]
        if not small:
            return sends
        cuda = self._backend.xp.cuda
        if len(self._host) < len(sends) * HEADER_BYTES:
            self._pinned = cuda.alloc_pinned_memory(len(sends) * HEADER_BYTES)
            self._host = np.frombuffer(self._pinned, np.uint8, len(sends) * HEADER_BYTES)
        stream, lowered = cuda.get_current_stream().ptr, list(sends)
        for q in small:
            part: Any = sends[q]
            first, nbytes = q * HEADER_BYTES, part.nbytes
            cuda.runtime.memcpyAsync(self._pinned.ptr + first, part.data.ptr, nbytes, TO_HOST, stream)
            lowered[q] = self._host[first : first + nbytes]
        return lowered

    def new_header(self) -> np.ndarray:
        """Return host memory for a header that arrives, zeroed; page-locked, so that copies of a payload in it to a GPU
        are not waited for."""
        if self._backend.name != "cuda":
            return np.zeros(HEADER_BYTES, np.uint8)
        header = np.frombuffer(self._backend.xp.cuda.alloc_pinned_memory(HEADER_BYTES), np.uint8, HEADER_BYTES)
        header[:] = 0
        return header

    def raised(self, arrived: np.ndarray, small: Array) -> Array:
        """Copy a payload that came in a header to the beginning of `small`; return that part of `small`.

        The copy is made in the order of the stream. The header may be written to once the stream has got that far.
        """
        nbytes, cuda = arrived.nbytes, self._backend.xp.cuda
        stream = cuda.get_current_stream().ptr
        cuda.runtime.memcpyAsync(small.data.ptr, arrived.ctypes.data, nbytes, TO_DEVICE, stream)
        return small[:nbytes]
