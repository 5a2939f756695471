"""UcxCarrier: a host that carries the messages of its kernel over UCX, by compiled code (graphdask.comm.ucx.carrying).

Messages have tags of their own, so that they pass by what the communicator receives. Both go on beside each other:
while a meeting is awaited, an abort of a peer arrives where it always does.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

import numpy as np

from graphdask.comm.protocol import CHECK_SECONDS
from graphdask.comm.relay import Carrier, RelayMemory, address_of
from graphdask.comm.ucx import carrying as at
from graphdask.device.backend import Backend
from graphdask.errors import CommunicationError, PeerLost
from graphdask.kernels.common.team import COMMON, TEAM_FLAG, TEAM_RANKS, TEAM_SHORT

NAMES = {
    at.SEND: "ucp_tag_send_nbx", at.RECEIVE: "ucp_tag_recv_nbx", at.STATUS: "ucp_request_check_status",
    at.FREE: "ucp_request_free", at.PROGRESS: "ucp_worker_progress",
}  # fmt: skip
LOOKS, LOOKS_UNDER_WAY = 100, 2000
"""How often compiled code looks for the kernel's words, and for those of peers, before Python looks for the kernel's
end and for what has gone wrong. A look takes 0.1 to 0.2 us, and Python 5 us."""
LETTING_GO = 0.05
"""Seconds that a host waits for requests that it has cancelled."""
PARAMETER_BYTES = 256
"""Bytes of UCX's structure of parameters, which has 80."""


def _symbols() -> Any:
    """UCX's C library, which ucxx has loaded."""
    return ctypes.CDLL("libucp.so.0", mode=os.RTLD_NOLOAD | os.RTLD_NOW)


class UcxCarrier(Carrier):
    """Carries the messages of the kernel of a run.

    Parameters
    ----------
    comm : UcxCommunicator
    backend : Backend
    kept : RelayMemory
    row : list of int
        What describes the rank to the kernel.
    """

    comm: Any

    def __init__(self, comm: Any, backend: Backend, kept: RelayMemory, row: list[int]):
        super().__init__(comm, backend, kept, row)
        library = self._library = _symbols()
        functions = {place: getattr(library, name) for place, name in NAMES.items()}
        functions[at.YIELD] = ctypes.CDLL(None).sched_yield
        self.functions = np.array(
            [ctypes.cast(functions[place], ctypes.c_void_p).value for place in range(at.FUNCTIONS)], np.int64
        )
        self.parameters = np.zeros(PARAMETER_BYTES, np.uint8)
        common = row[COMMON]
        most = at.HEAD + common + TEAM_SHORT
        self.outgoing = np.zeros(TEAM_RANKS * most // 8, np.int64)
        self.row_words = np.array(row, np.int64)
        self.here, self.of_peers = np.zeros(at.HERE, np.int64), np.zeros((comm.size - 1, at.PEER_WORDS), np.int64)
        tag, long_tag = comm.tags_of_relay(comm.rank)
        self.here[: at.UNDER_WAY] = (
            comm.rank, comm.worker, self.parameters.ctypes.data, tag, long_tag, kept.address(0), kept.address(1),
            kept.address(3),
            self.common, common, most,
        )  # fmt: skip
        inboxes = kept.inboxes(2 * TEAM_RANKS * most)
        for place, (q, step) in enumerate(self.peers):
            endpoint, buffer = comm.link_of(q)
            assert kept.longest is not None
            if len(buffer) < kept.longest[comm.rank, q]:
                raise CommunicationError(f"the buffer for messages of rank {q} has {len(buffer)} bytes only")
            self.of_peers[place, : at.SENDING] = (
                q, step, endpoint, *comm.tags_of_relay(q), self.outgoing.ctypes.data + step * most,
                inboxes + 2 * step * most, address_of(backend, buffer), len(buffer),
            )  # fmt: skip

    def serve(self, meeting: int) -> None:
        try:
            self._serve(meeting)
        except BaseException:
            self._give_up()
            raise

    def _serve(self, meeting: int) -> None:
        comm, kept, here, before = self.comm, self.kept, self.here, meeting
        flags = [memoryview(kept.out[2 * comm.rank + parity])[TEAM_FLAG:] for parity in range(2)]
        began = checked = time.perf_counter()
        while True:
            meeting, why = at.carry(
                meeting, LOOKS, LOOKS_UNDER_WAY, self.functions, here, self.of_peers, self.row_words
            )
            now = time.perf_counter()
            if why != at.WAITS:
                comm.check()  # which knows who is gone
                raise PeerLost("a message of another meeting came" if why == at.STALE else "a message failed")
            waits = bool(here[at.UNDER_WAY])
            if not waits and kept.ended.done and flags[meeting % 2][0] != meeting:
                return
            if now - checked > CHECK_SECONDS:
                checked = now
                comm.check()
                if meeting != before:
                    before, began = meeting, now
                elif waits and now - began > comm.timeout:
                    raise PeerLost(f"a meeting of kernels passed its timeout of {comm.timeout} s")

    def _give_up(self) -> None:
        """End what is under way, as far as it ends, and let the plane keep the memory of the rest."""
        worker, pending = ctypes.c_void_p(int(self.here[at.WORKER])), []
        for requests in self.of_peers[:, at.SENDING : at.PHASE].tolist():
            pending += [ctypes.c_void_p(request) for request in requests if request > 0]
        for request in pending:
            self._library.ucp_request_cancel(worker, request)
        deadline = time.perf_counter() + LETTING_GO
        while pending and time.perf_counter() < deadline:
            self._library.ucp_worker_progress(worker)
            under_way = [
                each for each in pending if self._library.ucp_request_check_status(each) & 255 == at.IN_PROGRESS
            ]
            for request in pending:
                if request not in under_way:
                    self._library.ucp_request_free(request)
            pending = under_way
        self.comm.give_up(self, self.kept)
