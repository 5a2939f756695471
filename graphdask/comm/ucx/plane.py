"""UcxPlane: the UCX context, worker, endpoints and buffers that one rank keeps between runs.

The data plane has its own context and worker in every process, apart from Dask's. Endpoints are made from worker
addresses: no listener, no port. A link, its endpoint and its receive buffer, outlives a run, because connecting costs
milliseconds and the first mapping of a device buffer by a peer a hundred. A plane on which a run failed is spoiled:
messages of that run may still be under way to it, so the next run needs a new plane.

Error handling: between hosts UCX's own, which finds a dead peer through TCP. Between processes of one host it would
forbid the fast transports (cma, and by default posix: 1 GB/s instead of 13), so there a pidfd shows that a peer has
ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from graphdask.comm.arguments import settle
from graphdask.comm.outgoing import SendBuffer
from graphdask.comm.ucx.stage import Stage
from graphdask.comm.ucx.wire import HEADER_BYTES
from graphdask.device.backend import Array, Backend
from graphdask.errors import CommunicationError, MissingDependency, PeerLost

DEFAULTS = {
    "KEEPALIVE_INTERVAL": "inf",
    "TCP_KEEPIDLE": "2s",
    "TCP_KEEPINTVL": "1s",
    "TCP_KEEPCNT": "3",
}
"""UCX settings under which a link that goes down is seen within about 5 s; UCX_* in the environment wins."""

PRIVATE = {"TLS": "^tcp"}
"""No ports that every user of the host could connect to: what is left has the permissions of files or processes."""

CLOSING = 0.5
"""Seconds that closing waits for endpoints."""

FIRST_CAPACITY = 1 << 18
"""Bytes of the receive buffer that every link begins with."""


def grown(capacity: int, nbytes: int) -> int:
    """Return the new length of a receive buffer after a payload of `nbytes` did not fit into it.

    Both ends of a link follow this rule over the same payloads, so a sender knows the receiver's buffer.
    """
    return max(nbytes, capacity * 3 // 2)


@contextlib.contextmanager
def _quiet_about_unused_variables() -> Iterator[None]:
    """UCX reads this variable when its library is loaded, and otherwise warns of a variable that ucxx itself sets."""
    name = "UCX_WARN_UNUSED_ENV_VARS"
    before = os.environ.get(name)
    os.environ.setdefault(name, "n")
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


@lru_cache(maxsize=1)
def ucx_library() -> Any:
    """Return ucxx's binding module, or raise MissingDependency."""
    try:
        with _quiet_about_unused_variables():
            import ucxx._lib.libucxx as library
    except ImportError as error:
        raise MissingDependency(
            f'the UCX data plane needs ucxx ({error}): pip install "graphdask[ucx]" (or cuda12, cuda13 with GPUs)'
        ) from error
    return library


def ucx_available() -> tuple[bool, str]:
    """Return whether a UCX worker can be made here, and what was found or what is missing."""
    try:
        library = ucx_library()
        library.UCXWorker(library.UCXContext(_settings(None), (library.Feature.TAG, library.Feature.WAKEUP)))
        version = ".".join(map(str, library.get_ucx_version()))
    except MissingDependency as error:
        return False, str(error)
    except Exception as error:  # whatever UCX raises here means the same: it cannot be used, and this is why
        return False, f"UCX cannot start: {type(error).__name__}: {error}"
    import ucxx

    return True, f"UCX {version}, ucxx {ucxx.__version__}"


def ucx_transports() -> list[str]:
    """Return the transports that UCX really opens here (`tcp`, `posix`, `cma`, `cuda_ipc`, `rc_mlx5` ...).

    UCX drops those whose device or permission is missing, so this is what a run can use, not what was compiled in.
    """
    library = ucx_library()
    context = library.UCXContext(_settings(None), (library.Feature.TAG, library.Feature.WAKEUP))
    return sorted(set(re.findall(r"resource.*--\s*([^/\s]+)/", context.info)))


def _settings(config: dict[str, str] | None) -> dict[str, str]:
    given = {name.removeprefix("UCX_"): str(value) for name, value in (config or {}).items()}
    defaults = {name: value for name, value in DEFAULTS.items() if f"UCX_{name}" not in os.environ}
    if given.get("TLS") == PRIVATE["TLS"] and "UCX_TLS" in os.environ:  # whoever chose them knows which they are
        del given["TLS"]
    return defaults | given


def _identity() -> dict[str, Any]:
    """What makes two processes able to see each other's end: host, namespaces; and which process this is."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot:
            host = boot.read().strip()
        return {
            "host": f"{host}/{os.readlink('/proc/self/ns/pid')}/{os.readlink('/proc/self/ns/net')}",
            "pid": os.getpid(),
            "started": _start_time(os.getpid()),
        }
    except OSError:
        return {"host": "", "pid": os.getpid(), "started": 0}


def _start_time(pid: int) -> int:
    """Clock ticks from boot to the start of a process, which distinguishes it from a later one of the same number."""
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[19])


class Link:
    """The endpoint to one peer, the buffer for its payloads, and the means to notice that the peer has ended.

    For a peer on this host that is a pidfd.
    """

    def __init__(self, plane: UcxPlane, address: bytes):
        self._new_buffer, self._stage = plane.new_buffer, plane.stage
        self.new_header = plane.stage.new_header
        self._small: Array | None = None
        self.buffer, self.descriptor = self._new_buffer(FIRST_CAPACITY)
        """Where the peer's payloads arrive, uint8, and its ucxx descriptor."""
        self._view = self.buffer
        self.peer_capacity = FIRST_CAPACITY
        """Length of the buffer that the peer keeps for this rank's payloads."""
        head, _, raw = address.partition(b"\n")
        other, mine = json.loads(head), plane.identity
        self._process = None
        local = bool(mine["host"]) and other["host"] == mine["host"] and plane.shares_memory
        if local and other["pid"] != mine["pid"]:
            try:
                self._process = os.pidfd_open(other["pid"])
                self._poll = select.poll()
                self._poll.register(self._process, select.POLLIN)
                if _start_time(other["pid"]) != other["started"]:
                    raise ProcessLookupError
            except (ProcessLookupError, FileNotFoundError) as error:
                if self._process is not None:
                    os.close(self._process)
                raise PeerLost(f"process {other['pid']} of this host has ended") from error
            except OSError:  # no pidfd in this kernel or sandbox: UCX's own error handling then
                local = False
        library, failure = plane.library, ""
        try:
            self.endpoint = library.UCXEndpoint.create_from_worker_address(
                plane.worker, library.UCXAddress.create_from_buffer(raw), endpoint_error_handling=not local
            )
        except Exception as error:  # ucxx makes its classes at run time: they cannot be pickled, so none is chained
            failure = f"{type(error).__name__}: {error}"
        if failure:
            dying = self._process is not None and self._poll.poll(500)
            if self._process is not None:
                os.close(self._process)
            if dying:
                raise PeerLost(f"process {other['pid']} of this host has ended")
            raise CommunicationError(f"UCX cannot connect to a peer: {failure}")

    def grow(self, nbytes: int) -> None:
        """Replace the buffer by one that `nbytes` fit into."""
        self.buffer, self.descriptor = self._new_buffer(grown(len(self.buffer), nbytes))
        self._view = self.buffer

    def arrived(self, nbytes: int) -> Array:
        """The first bytes of the buffer; the same array as long as they are as many."""
        if len(self._view) != nbytes:
            self._view = self.buffer[:nbytes]
        return self._view

    def raised(self, arrived: Any) -> Array:
        """A small payload that came within a header, copied to the GPU; valid until the next one."""
        if self._small is None:
            self._small = self._new_buffer(HEADER_BYTES)[0]
        return self._stage.raised(arrived, self._small)

    @property
    def alive(self) -> bool:
        """Whether nothing says that the peer is gone."""
        return self.endpoint.alive and (self._process is None or not self._poll.poll(0))

    def close(self) -> Any:
        """Return the request whose completion closes the endpoint, or None where there is nothing to wait for."""
        alive = self.alive
        if self._process is not None:
            os.close(self._process)
            self._process = None
        return self.endpoint.close() if alive else None  # of a dead one ucxx returns a null request


class UcxPlane:
    """UCX context and worker of one rank.

    Parameters
    ----------
    config : dict, optional
        UCX settings without the prefix, such as {"TLS": "tcp,sm,self"}; they win over the environment.
    backend : Backend, optional
        Where payloads are received; the CPU by default.

    Raises
    ------
    MissingDependency
        Without ucxx.
    CommunicationError
        When UCX cannot start with this configuration.
    """

    def __init__(self, config: dict[str, str] | None = None, backend: Backend | None = None):
        from graphdask.device.backend import get_backend

        self.library = ucx_library()
        from ucxx._lib.arr import Array as Descriptor

        self.descriptor = Descriptor
        self.backend = backend or get_backend("cpu")
        self.stage = Stage(self.backend)
        self.spoiled = False
        self.sending = SendBuffer(self.backend)
        """Where payloads are written that leave: peers map it once."""
        self.relay: Any = None
        """Kept by `graphdask.comm.relay`."""
        failure = ""
        features = (self.library.Feature.TAG, self.library.Feature.WAKEUP)
        try:
            with self.backend.activate():
                self.backend.synchronize()  # UCX looks for a device context when it starts
                self.context = self.library.UCXContext(_settings(config), features)
                self.worker = self.library.UCXWorker(self.context)
                self.worker.init_blocking_progress_mode()
        except Exception as error:  # see Link; all of them mean that UCX did not start
            failure = str(error)
        if failure:
            raise CommunicationError(f"UCX cannot start with {_settings(config)}: {failure}")
        self.identity = _identity()
        self.shares_memory = re.search(r"(posix|sysv)/memory", self.context.info) is not None
        self.address = json.dumps(self.identity).encode() + b"\n" + bytes(memoryview(self.worker.address))
        """What peers connect to; valid while the plane is open."""
        self._links: dict[bytes, Link] = {}
        self._kept: list[Any] = []

    def link(self, address: bytes) -> Link:
        """Return the link to a peer, made on first use."""
        link = self._links.get(address)
        if link is None:
            link = self._links[address] = Link(self, address)
        return link

    def new_buffer(self, nbytes: int) -> tuple[Array, Any]:
        """Return a uint8 array of the backend and its ucxx descriptor.

        UCX writes into it in no stream's order, and a memory pool gives out what another rank of this process has freed
        while its kernels still use it: so they must have ended.
        """
        buffer = self.backend.xp.empty(nbytes, dtype="uint8")
        if self.backend.name == "cuda":
            settle(self.backend)
        return buffer, self.descriptor(buffer)

    def spoil(self, *in_use: Any) -> None:
        """Refuse further runs, and keep what UCX may still read or write until the plane is closed."""
        self.spoiled = True
        self._kept.extend(in_use)

    def close(self) -> None:
        """Close the endpoints and end what is under way; takes at most a second when peers are dead."""
        closing = [request for link in self._links.values() if (request := link.close()) is not None]
        deadline = time.perf_counter() + CLOSING
        while not all(request.completed for request in closing) and time.perf_counter() < deadline:
            self.worker.progress()
        # What nothing will end holds the worker, which holds it: neither would be let go of, nor what the context
        # opened. UCX ends receives so; a large payload that a failed peer never took stays, and with it the worker.
        while self.worker.cancel_inflight_requests() and time.perf_counter() < deadline + CLOSING:
            self.worker.progress()
        self._links.clear()
        self._kept.clear()
        self.sending.close()
        if self.relay is not None and self.relay[1] is not None:
            self.relay[1].close()
        self.relay = None
        self.spoiled = True

    def __enter__(self) -> UcxPlane:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()
