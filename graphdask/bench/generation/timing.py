"""How fast and in how much memory a generator makes its edges, on CPU threads or on one or more GPUs of this host.

Every device has a thread (on a GPU also a stream) of its own and makes its share of the edges in blocks that are
dropped, so a graph larger than the memory can be measured; where the share fits it is one block. All begin together,
and the time is that from the first begin to the last end, by the wall clock. Short runs are repeated back to back
within one measurement. The first run, which compiles, loads and fills the memory pool, is not counted; some of its
targets are compared with those that a CPU computes for the same vertices.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.backend import Backend, get_backend
from graphdask.errors import OverBudget, VerificationError
from graphdask.generate.preferential_attachment import PreferentialAttachment, targets

LONG_ENOUGH = 0.05
"""Seconds of one measurement; shorter runs are repeated within it."""
MOST_BLOCK = 1 << 34
"""Bytes of a block at most."""
COMPARED = 1024
"""Edges of the first block that a CPU computes again."""


@dataclass(frozen=True)
class Targets:
    """The targets of a preferential attachment graph: one id for each edge, the source being known."""

    graph: PreferentialAttachment

    @property
    def num_edges(self) -> int:
        return self.graph.num_edges

    @property
    def bytes_per_edge(self) -> int:
        return self.graph.dtype.itemsize

    def block(self, backend: Backend, rank: int, size: int) -> Any:
        graph = self.graph
        start, stop = graph.vertices(rank, size)
        return targets(backend, graph.n, graph.degree, graph.p, graph.seed, start, stop)

    def check(self, backend: Backend, made: Any, rank: int, size: int) -> None:
        """Compare the first and last targets of a block with those made on the CPU; raise VerificationError."""
        graph, cpu = self.graph, get_backend("cpu")
        start, stop = graph.vertices(rank, size)
        vertices = min(-(-COMPARED // graph.degree), stop - start)
        for first in (start, stop - vertices):
            there = (first - start) * graph.degree
            expected = targets(cpu, graph.n, graph.degree, graph.p, graph.seed, first, first + vertices)
            found = backend.to_host(made[there : there + len(expected)])
            if not np.array_equal(found, expected):
                raise VerificationError(f"{backend.description} made other targets than the CPU from vertex {first} on")


@dataclass(frozen=True)
class Pairs:
    """Both ends of the edges of any generator that has `num_edges`, `dtype` and `block(backend, rank, size)`."""

    generator: Any

    @property
    def num_edges(self) -> int:
        return self.generator.num_edges

    @property
    def bytes_per_edge(self) -> int:
        return 2 * self.generator.dtype.itemsize

    def block(self, backend: Backend, rank: int, size: int) -> Any:
        return self.generator.block(backend, rank, size)

    def check(self, backend: Backend, made: Any, rank: int, size: int) -> None:
        """Compare a small block with the one made on the CPU; raise VerificationError."""
        small = max(size, self.num_edges // COMPARED)
        for ours, theirs in zip(
            self.block(backend, 0, small), self.block(get_backend("cpu"), 0, small), strict=True
        ):
            if not np.array_equal(backend.to_host(ours), theirs):
                raise VerificationError(f"{backend.description} made other edges than the CPU in block 0 of {small}")


@dataclass(frozen=True)
class Measurement:
    """What one case took."""

    seconds: list[float]
    """Of each counted run, wall clock."""
    back_to_back: int
    """Runs within one measurement."""
    blocks: int
    """Blocks on each device; more than one where the share was streamed."""
    held_bytes: int
    """Output that stands in memory at one time, on all devices."""
    peak_bytes: int | None
    """Growth of the memory in use at its peak, on all devices; None where it cannot be told."""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def team(device: str, size: int) -> list[Backend]:
    """Return the backends of `size` GPUs, or so many times that of the CPU."""
    return [get_backend(device, rank) for rank in range(size)]


def measure(work: Targets | Pairs, backends: Sequence[Backend], repeats: int, seconds: float = 10.0) -> Measurement:
    """Measure how long the backends need together.

    Parameters
    ----------
    work : Targets or Pairs
    backends : sequence of Backend
        One for each share of the edges.
    repeats : int
        Counted runs; fewer where they would take longer than `seconds`, at least one.
    seconds : float
        Time to spend.

    Raises
    ------
    OverBudget
        If not even a small block fits the memory.
    VerificationError
        If a device makes other edges than a CPU.
    """
    blocks = _blocks(work, backends)
    with ThreadPoolExecutor(len(backends)) as pool:
        barrier = threading.Barrier(len(backends))

        def together(times: int, check: bool = False) -> tuple[float, int]:
            """Seconds that `times` runs took, and the bytes that they held at one time."""
            ranks = range(len(backends))
            futures = [pool.submit(_share, work, backends[r], r, len(backends), blocks, times, barrier, check) for r in ranks]  # fmt: skip  # noqa: E501
            spans = [future.result() for future in futures]
            return max(end for _, end, _ in spans) - min(begin for begin, _, _ in spans), sum(s[2] for s in spans)

        together(1, check=True)
        with _PeakMemory(backends) as memory:
            once, held = together(1)
        times = min(64, max(1, round(LONG_ENOUGH / max(once, 1e-6))))
        if times > 1:  # a short run is mostly overhead of its first call
            once = together(times)[0] / times
            times = min(64, max(1, round(LONG_ENOUGH / max(once, 1e-6))))
        counted = max(1, min(repeats, int(seconds / max(once * times, 1e-9))))
        spans = [together(times)[0] / times for _ in range(counted)]
    return Measurement(spans, times, blocks, held, memory.peak)


def _share(
    work: Targets | Pairs,
    backend: Backend,
    rank: int,
    size: int,
    blocks: int,
    times: int,
    barrier: threading.Barrier,
    check: bool,
) -> tuple[float, float, int]:
    """Make the blocks of one device; return begin, end and the bytes of the largest block."""
    held = 0
    try:
        with backend.activate(), _stream(backend):
            barrier.wait(600)
            begin = time.perf_counter()
            for _ in range(times):
                for block in range(blocks):
                    made = work.block(backend, rank * blocks + block, size * blocks)
                    held = max(held, sum(array.nbytes for array in (made if isinstance(made, tuple) else (made,))))
                    if check and block == 0:
                        work.check(backend, made, rank * blocks, size * blocks)
                    del made
            backend.synchronize()
            return begin, time.perf_counter(), held
    except BaseException:
        barrier.abort()  # the others must not wait for this one
        raise


def _stream(backend: Backend) -> Any:
    """A stream of this thread's own on a GPU."""
    return nullcontext() if backend.name == "cpu" else backend.xp.cuda.Stream(non_blocking=True)


def _blocks(work: Targets | Pairs, backends: Sequence[Backend]) -> int:
    """Blocks for each device, so that one takes at most half of what is free."""
    share = -(-work.num_edges * work.bytes_per_edge // len(backends))
    free = min(backend.free_memory() for backend in backends)
    if backends[0].name == "cpu":
        free //= len(backends)
    if free < 1 << 20:
        raise OverBudget(f"{free} bytes are free on {backends[0].description}; a benchmark needs 1 MiB at least")
    return -(-share // min(free // 2, MOST_BLOCK * (4 if backends[0].name == "cuda" else 1)))


class _PeakMemory:
    """Growth of the memory in use at its peak, while the context is open.

    On the CPU the high-water mark of the process, which Linux lets a process reset; on GPUs what CuPy's pool, emptied
    before, has taken from the driver.
    """

    def __init__(self, backends: Sequence[Backend]):
        self.gpus = [backend for backend in backends if backend.name == "cuda"]
        self.peak: int | None = None

    def __enter__(self) -> _PeakMemory:
        gc.collect()
        self._before = [self._pool(gpu, empty=True) for gpu in self.gpus]
        self._reset = not self.gpus and _reset_high_water()
        self._resident = _status("VmRSS")
        return self

    def __exit__(self, *exception: Any) -> None:
        if self.gpus:
            self.peak = sum(
                self._pool(gpu) - before for gpu, before in zip(self.gpus, self._before, strict=True)
            )
        elif self._reset:
            self.peak = max(0, _status("VmHWM") - self._resident)

    @staticmethod
    def _pool(gpu: Backend, empty: bool = False) -> int:
        with gpu.activate():
            pool = gpu.xp.get_default_memory_pool()
            if empty:
                pool.free_all_blocks()
            return int(pool.total_bytes())


def _reset_high_water() -> bool:
    try:
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
        return True
    except OSError:
        return False


def _status(name: str) -> int:
    with open("/proc/self/status") as status:
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith(f"{name}:")), 0)
