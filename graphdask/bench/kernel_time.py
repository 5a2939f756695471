"""What kernels take on a GPU, by CUDA events around each launch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from graphdask.device.backend import CudaBackend, cuda_device_count, get_backend


@dataclass
class Watch:
    """Notes the events of the launches on a device; kernels of CuPy's own, such as sorts, are none of them."""

    backend: CudaBackend
    launched: list[tuple[str, Any, Any]] = field(default_factory=list)
    """Of each launch the kernel, and the events before and after it."""

    @contextmanager
    def __call__(self, label: str) -> Iterator[None]:
        event = self.backend.xp.cuda.Event
        before, after = event(), event()
        before.record()
        yield
        after.record()
        self.launched.append((label, before, after))

    @property
    def milliseconds(self) -> dict[str, float]:
        """Of each kernel, over its launches."""
        elapsed, times = self.backend.xp.cuda.get_elapsed_time, dict[str, float]()
        with self.backend.activate():
            for label, before, after in self.launched:
                after.synchronize()
                times[label] = times.get(label, 0.0) + elapsed(before, after)
        return times


def kernel_ms(call: Callable[[], Any]) -> dict[str, float]:
    """Milliseconds of each kernel that a call launches from this process; of several GPUs, on the one with most."""
    watches = []
    try:
        for index in range(cuda_device_count()):
            backend = get_backend("cuda", index)
            assert isinstance(backend, CudaBackend)
            backend.watch = Watch(backend)
            watches.append(backend.watch)
        call()
    finally:
        for watch in watches:
            watch.backend.watch = None
    times = [watch.milliseconds for watch in watches]
    return max(times, key=lambda each: sum(each.values()), default={})
