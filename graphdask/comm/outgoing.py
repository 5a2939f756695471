"""SendBuffer: the memory in which the payloads of an exchange are written, kept from one to the next.

On a GPU a new array for every payload costs more than its bytes: CuPy's pool asks the driver, and a peer that reads it
through CUDA's inter-process memory maps an allocation that it has not seen, 0.3 to 1 ms. One buffer for all peers is
mapped once by each. One is enough, because an exchange returns when everything that was sent may be overwritten.
"""

from __future__ import annotations

from graphdask.comm.tuning import COMM
from graphdask.device.backend import Array, Backend


class SendBuffer:
    """Memory of one rank for what it sends; it grows by half at least, and stays.

    Parameters
    ----------
    backend : Backend
        Where it lies.
    """

    def __init__(self, backend: Backend):
        self._backend = backend
        self._memory: Array | None = None

    def take(self, nbytes: int) -> Array:
        """Return uint8 memory of at least `nbytes`, with anything in it: the same as the last time if that suffices.

        What was taken before must have been sent.
        """
        if self._memory is None or len(self._memory) < nbytes:
            before = COMM.first_buffer if self._memory is None else len(self._memory) * 3 // 2
            self._memory = None  # so that its place may serve
            self._memory = self._backend.xp.empty(max(nbytes, before), dtype="uint8")
        return self._memory

    def close(self) -> None:
        """Forget the memory."""
        self._memory = None
