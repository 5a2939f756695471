"""NcclCommunicator: payloads between GPUs through NCCL's grouped send and receive, everything else through another
communicator (UCX), which also reports aborts and dead peers while NCCL's kernels run.

A payload to a rank is expected to be as long as the last one if the last two were of one length; both ranks know these
lengths. What is expected leaves before the ranks have met, and as soon as the device has written it (`begin`): nobody
waits for lengths, which the control integers confirm meanwhile. A payload of another length follows in a second round.

Payloads of `COMM.riding` bytes at most, and those in host memory, go through the other communicator too, at the same
time as what each exchange sends there anyway, so a superstep of few vertices does not wait for NCCL.

NCCL calls that connect to peers block and cannot be cancelled. They happen here only at construction, in a helper
thread with a deadline: the communicator's own set-up, and one byte between all pairs. Later exchanges enqueue and poll
the stream. If a peer is lost, the communicator is aborted, which ends its kernels.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphdask.comm.arguments import checked
from graphdask.comm.outgoing import SendBuffer
from graphdask.comm.protocol import CHECK_SECONDS, Cancel, Communicator, Peers, Received
from graphdask.comm.tuning import COMM
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, InputError, MissingDependency, PeerLost

Slots = tuple[dict[int, int], dict[int, int]]
"""Bytes that go to ranks, and that come from ranks."""


def nccl_available() -> tuple[bool, str]:
    """Return whether CuPy finds NCCL, and its version or what is missing."""
    try:
        from cupy.cuda import nccl

        if not nccl.available:
            return False, "this CuPy has no NCCL"
        code = nccl.get_version()
    except Exception as error:  # CuPy or the NCCL library missing, or one that does not load
        return False, f'NCCL cannot be used ({error}): pip install "graphdask[cuda13]" (or cuda12)'
    return True, f"NCCL {code // 10000}.{code // 100 % 100}.{code % 100}"


def _rides(part: Array) -> bool:
    """Whether a payload goes through the control communicator."""
    return part.nbytes <= COMM.riding or isinstance(part, np.ndarray)


class NcclPlane:
    """What one rank keeps between runs: NCCL's own communicator, its stream and the buffers.

    Connecting takes a good part of a second, so a plane outlives a run, unless the run failed.

    Parameters
    ----------
    backend : Backend
        This rank's GPU; no two ranks of a communicator may share one.

    Raises
    ------
    MissingDependency
        Without NCCL.
    """

    def __init__(self, backend: Backend):
        if backend.name != "cuda":
            raise InputError(f"NCCL moves device memory only, not that of backend {backend.name!r}")
        found, reason = nccl_available()
        if not found:
            raise MissingDependency(reason)
        from cupy.cuda import nccl

        self.backend, self.nccl = backend, nccl
        self.communicator: Any = None
        """NCCL's, once connected."""
        self.ranks: tuple[int, int, int] | None = None
        """Gang, rank and size that it is connected for."""
        self.buffers: dict[int, Array] = {}
        self.sending = SendBuffer(backend)
        with backend.activate():
            self.stream = backend.xp.cuda.Stream(non_blocking=True)
            self.ready = backend.xp.cuda.Event(disable_timing=True)

    def __enter__(self) -> NcclPlane:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def close(self) -> None:
        """Leave NCCL at once, whether or not the other ranks do."""
        communicator, self.communicator, self.ranks = self.communicator, None, None
        self.buffers.clear()
        self.sending.close()
        if communicator is not None:
            with self.backend.activate():
                communicator.abort()  # not destroy(), which waits for all ranks with the interpreter's lock held


class NcclCommunicator(Communicator):
    """Ranks that own a GPU each, every one in a process of its own, on one or more hosts.

    Parameters
    ----------
    control : Communicator
        Of the same ranks.
    plane : NcclPlane
        This rank's; connected here where it is not yet.
    gang : int
        A plane that served another gang is connected anew.
    timeout : float
        Seconds that one exchange, and the construction, may last.
    cancel : Cancel, optional
        When set, every wait raises PeerLost.
    owns_control : bool
        Whether closing this closes `control` too.

    Raises
    ------
    CommunicationError
        If NCCL refuses, for example because two ranks share a GPU.
    """

    name = "nccl"
    takes_host_memory = True

    def __init__(
        self,
        control: Communicator,
        plane: NcclPlane,
        gang: int = 0,
        timeout: float = 120.0,
        cancel: Cancel | None = None,
        owns_control: bool = False,
    ):
        self.rank, self.size = control.rank, control.size
        self.bytes_sent, self.sending = 0, plane.sending
        self._control, self._plane, self._backend, self._nccl = control, plane, plane.backend, plane.nccl
        self._timeout, self._cancel = timeout, cancel or Cancel()
        self._stream, self._ready, self._buffers = plane.stream, plane.ready, plane.buffers
        self._closed, self._owns_control = False, owns_control
        self._views: dict[int, Array] = {}
        """The parts of the buffers that were used last."""
        self._began: Slots | None = None
        self._last_out, self._last_in = [-1] * self.size, [-1] * self.size
        """Bytes of the last payload for each rank, and from it."""
        self._expected_out, self._expected_in = [0] * self.size, [0] * self.size
        """Bytes that the next one is expected to have, 0 if nothing is."""
        wanted = (gang, self.rank, self.size)
        connected = plane.communicator is not None and plane.ranks == wanted
        if control.allreduce(np.array([connected], np.int64), "min")[0]:
            return
        plane.close()
        unique_id = self._nccl.get_unique_id()  # its type differs between versions of CuPy
        everyone = control.allgather(np.array(list(unique_id), np.int64))
        unique = type(unique_id)(int(byte) for byte in everyone[0])
        try:
            self._guarded(lambda: self._connect(unique))
        except BaseException:
            plane.close()
            raise
        plane.ranks = wanted

    def _connect(self, unique: Any) -> None:
        self._plane.communicator = self._nccl.NcclCommunicator(self.size, unique, self.rank)
        byte = self._backend.xp.zeros(self.size + 1, dtype=np.uint8)
        self._backend.xp.cuda.get_current_stream().synchronize()
        peers = [q for q in range(self.size) if q != self.rank]
        self._enqueue({q: (byte.data.ptr, 1) for q in peers}, {q: (byte.data.ptr + 1 + q, 1) for q in peers})
        while not self._stream.done and self._plane.communicator is not None:
            time.sleep(1e-4)

    def _guarded(self, function: Callable[[], None]) -> None:
        """Run what NCCL may block in on a thread of its own, so that a lost peer ends the wait."""
        raised: list[BaseException] = []

        def work() -> None:
            try:
                with self._backend.activate():
                    function()
            except BaseException as error:  # raised again below
                raised.append(error)

        thread = threading.Thread(target=work, name=f"nccl-{self.rank}", daemon=True)
        thread.start()
        deadline = time.monotonic() + self._timeout
        while thread.is_alive():
            thread.join(0.02)
            self._cancel.check()
            self._control.check()
            if time.monotonic() > deadline:
                raise PeerLost(f"NCCL did not connect all {self.size} ranks within {self._timeout} s")
        if raised:
            if isinstance(raised[0], self._nccl.NcclError):
                raise CommunicationError(f"NCCL refused to connect rank {self.rank}: {raised[0]}") from raised[0]
            raise raised[0]

    def _enqueue(self, sends: dict[int, tuple[int, int]], receives: dict[int, tuple[int, int]]) -> None:
        """Put the sends and receives, (pointer, bytes) by rank, on the stream as one group."""
        nccl, stream, kind = self._nccl, self._stream.ptr, self._nccl.NCCL_UINT8
        communicator = self._plane.communicator
        nccl.groupStart()
        try:
            for q, (pointer, nbytes) in sends.items():
                communicator.send(pointer, nbytes, kind, q, stream)
            for q, (pointer, nbytes) in receives.items():
                communicator.recv(pointer, nbytes, kind, q, stream)
        finally:
            nccl.groupEnd()

    def exchange(
        self, sends: Sequence[Array | None], meta: np.ndarray | None = None, control: np.ndarray | None = None
    ) -> Received:
        meta, control = checked(self.size, sends, meta, control)
        if self._closed or self._plane.communicator is None:
            raise CommunicationError("this communicator has failed or is closed")
        nbytes = np.array([-1 if part is None else part.nbytes for part in sends], np.int64)
        riding = [part if part is not None and _rides(part) else None for part in sends]
        riding[self.rank] = None
        try:
            with self._backend.activate():
                began, self._began = self._began or self._begin(sends), None
                received = self._control.exchange(riding, meta, np.concatenate([control, nbytes]))
                c = len(control)
                incoming = received.control[:, c + self.rank].tolist()
                payloads = self._move(sends, nbytes.tolist(), riding, received.payloads, incoming, began)
        except BaseException:
            self._plane.close()
            raise
        return Received(payloads, received.meta, np.ascontiguousarray(received.control[:, :c]))

    def begin(self, sends: Sequence[Array | None]) -> None:
        if self._plane.communicator is not None and not self._closed:
            with self._backend.activate():
                self._began = self._began or self._begin(sends)

    def _begin(self, sends: Sequence[Array | None]) -> Slots:
        """Put on the stream what is expected to be exchanged."""
        going = {q: expected for q, expected in enumerate(self._expected_out) if expected}
        coming = {q: expected for q, expected in enumerate(self._expected_in) if expected}
        if going or coming:
            # what does not have the length that was expected goes later; something has to go now
            ways = {
                q: (part.data.ptr if part is not None and part.nbytes == n else self._buffer(-1, n).data.ptr, n)
                for q, n, part in ((q, n, sends[q]) for q, n in going.items())
            }
            self._start(ways, {q: (self._buffer(q, n).data.ptr, n) for q, n in coming.items()})
        return going, coming

    def _start(self, going: dict[int, tuple[int, int]], coming: dict[int, tuple[int, int]]) -> None:
        # payloads must be complete before they leave, and the buffers read before they are overwritten
        self._ready.record(self._backend.xp.cuda.get_current_stream())
        self._stream.wait_event(self._ready)
        self._enqueue(going, coming)

    def _move(
        self,
        sends: Sequence[Array | None],
        outgoing: Sequence[int],
        riding: Sequence[Array | None],
        arrived: Sequence[Array | None],
        incoming: Sequence[int],
        began: Slots,
    ) -> list[Array | None]:
        """Send the payloads, of `outgoing[q]` bytes for every rank q (-1: nothing), that are not `riding`, and receive
        `incoming[q]` bytes of which none `arrived`; not those that `began`."""
        payloads: list[Array | None] = list(arrived)
        payloads[self.rank] = sends[self.rank]
        going: dict[int, tuple[int, int]] = {}
        coming: dict[int, tuple[int, int]] = {}
        if any(incoming[q] != n for q, n in began[1].items()):
            self._wait()  # before a longer buffer takes the place of one that is written to
        for q in range(self.size):
            if q == self.rank:
                continue
            part, expected = sends[q], incoming[q]
            if part is not None:
                self.bytes_sent += part.nbytes
                if riding[q] is None and began[0].get(q) != part.nbytes:
                    going[q] = (part.data.ptr, part.nbytes)
            if expected >= 0 and arrived[q] is None:
                buffer = payloads[q] = self._buffer(q, expected)
                if began[1].get(q) != expected:
                    coming[q] = (buffer.data.ptr, expected)
        self._expect(outgoing, self._last_out, self._expected_out)
        self._expect(incoming, self._last_in, self._expected_in)
        if going or coming:
            self._start(going, coming)
        if going or coming or began[0] or began[1]:
            self._wait()
        return payloads

    def _expect(self, lengths: Sequence[int], last: list[int], expected: list[int]) -> None:
        """Note how many bytes went one way, and whether as many are expected in the next exchange: both ends alike."""
        for q, nbytes in enumerate(lengths):
            expected[q] = nbytes if nbytes == last[q] and nbytes > COMM.riding and q != self.rank else 0
            last[q] = nbytes

    def _wait(self) -> None:
        """Poll the stream until it is idle, or raise for a lost peer, cancel, or the timeout."""
        start = look = time.monotonic()
        while not self._stream.done:
            now = time.monotonic()
            if now - look < CHECK_SECONDS:
                continue
            look = now
            self._cancel.check()
            self._control.check()
            try:
                self._plane.communicator.check_async_error()
            except (self._nccl.NcclError, KeyError) as error:  # KeyError: a status that this CuPy has no name for
                raise PeerLost(f"NCCL reports that a peer is lost: {error}") from error
            if now - start > self._timeout:
                raise PeerLost(f"an exchange through NCCL passed its timeout of {self._timeout} s")
            os.sched_yield()
        self._stream.synchronize()  # it is idle; this raises what a failed kernel left behind

    def _buffer(self, q: int, nbytes: int) -> Array:
        buffer = self._buffers.get(q)
        if buffer is None or len(buffer) < nbytes:
            grown = nbytes if buffer is None else max(nbytes, len(buffer) * 3 // 2)
            buffer = self._buffers[q] = self._backend.xp.empty(grown, dtype=np.uint8)
            self._views.pop(q, None)
        view = self._views.get(q)
        if view is None or len(view) != nbytes:
            view = self._views[q] = buffer[:nbytes]
        return view

    def peers(self, backend: Backend) -> Peers | None:
        # a kernel that goes through all supersteps leaves no room for NCCL's
        return self._control.peers(backend)

    def check(self) -> None:
        self._cancel.check()
        self._control.check()

    def abort(self, error: BaseException) -> None:
        self._control.abort(error)
        # The peers were notified through the control communicator; NCCL's own errors at its end add nothing.
        with contextlib.suppress(Exception):
            self._plane.close()

    def close(self) -> None:
        """End this use of the plane, which stays connected unless the run failed."""
        self._closed = True
        if self._owns_control:
            self._control.close()
