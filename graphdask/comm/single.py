"""SingleCommunicator: one rank that exchanges with itself, so that no caller needs an `if` for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphdask.comm.arguments import checked
from graphdask.comm.protocol import Cancel, Communicator, Received
from graphdask.device.backend import Array


class SingleCommunicator(Communicator):
    """A communicator of size 1.

    Parameters
    ----------
    cancel : Cancel, optional
        When set, the next exchange raises PeerLost.
    """

    name = "single"
    rank, size = 0, 1

    def __init__(self, cancel: Cancel | None = None):
        self._cancel = cancel or Cancel()

    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        meta, control = checked(1, sends, meta, control)
        self._cancel.check()
        return Received([sends[0]], meta.copy(), control.reshape(1, -1).copy())

    def abort(self, error: BaseException) -> None:
        """Do nothing: there are no peers to notify."""

    def check(self) -> None:
        self._cancel.check()

    def close(self) -> None:
        """Do nothing: there is nothing to free."""
