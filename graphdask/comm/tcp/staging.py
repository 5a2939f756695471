"""HostStaging: the host buffers in which payloads leave and arrive on sockets.

On the CPU a payload is sent from where it lies and received into a buffer that stays, one per peer. On CUDA both go
through pinned host memory, one buffer per peer and direction, and the copies of an exchange share one synchronisation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphdask.comm.arguments import settle
from graphdask.device.backend import Array, Backend

SMALLEST = 1 << 16
"""Bytes of the smallest buffer."""


class HostStaging:
    """Host buffers of one rank; they at least double when they grow, and are never given back.

    Parameters
    ----------
    backend : Backend
        Where payloads come from and go to.
    """

    def __init__(self, backend: Backend):
        self.backend = backend
        self._on_device = backend.name != "cpu"
        self._receive: dict[int, np.ndarray] = {}
        self._send: dict[int, np.ndarray] = {}
        self._device: dict[int, Array] = {}

    def receive_buffer(self, peer: int, nbytes: int) -> np.ndarray:
        """Return host uint8 memory of exactly `nbytes` for what `peer` sends."""
        return self._host(self._receive, peer, nbytes)

    def outgoing(self, sends: Sequence[Array | None], rank: int) -> Sequence[np.ndarray | None]:
        """Return the payloads for the peers of `rank` in host memory."""
        if not self._on_device:
            return sends
        if all(payload is None or peer == rank for peer, payload in enumerate(sends)):
            return [None] * len(sends)
        staged: list[np.ndarray | None] = [None] * len(sends)
        with self.backend.activate():
            for peer, payload in enumerate(sends):
                if payload is not None and peer != rank:
                    staged[peer] = self._host(self._send, peer, len(payload))
                    if len(payload):
                        payload.get(out=staged[peer], blocking=False)
            settle(self.backend)
        return staged

    def incoming(self, received: list[Array | None], rank: int) -> list[Array | None]:
        """Return what arrived in host memory on the backend; `received[rank]` is there already."""
        if not self._on_device or all(payload is None or peer == rank for peer, payload in enumerate(received)):
            return received
        with self.backend.activate():
            for peer, payload in enumerate(received):
                if payload is None or peer == rank:
                    continue
                device = self._device.get(peer)
                if device is None or len(device) < len(payload):
                    device = self._device[peer] = self.backend.xp.empty(_grown(device, len(payload)), dtype="uint8")
                received[peer] = device[: len(payload)]
                if len(payload):
                    device[: len(payload)].set(payload)
            settle(self.backend)
        return received

    def _host(self, buffers: dict[int, np.ndarray], peer: int, nbytes: int) -> np.ndarray:
        buffer = buffers.get(peer)
        if buffer is None or len(buffer) < nbytes:
            grown = _grown(buffer, nbytes)
            if self._on_device:
                pinned = self.backend.xp.cuda.alloc_pinned_memory(grown)
                buffer = np.frombuffer(pinned, np.uint8, grown)
            else:
                buffer = np.empty(grown, np.uint8)
            buffers[peer] = buffer
        return buffer[:nbytes]


def _grown(buffer: Array | None, nbytes: int) -> int:
    return max(nbytes, SMALLEST if buffer is None else 2 * len(buffer))
