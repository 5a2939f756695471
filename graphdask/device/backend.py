"""Backend: where arrays live and how a kernel of a name is found and launched. CPU: NumPy and Numba; CUDA: CuPy.

Both load the kernel family `kernels/FOLDER/FAMILY.{py,cu}` under one signature:

    k = backend.kernels("codec", index_t=ids.dtype)
    k.codec_set_bits(n, ids, words, universe)

`n` is the number of work items; on a GPU each gets a thread, or `per_item` of them. Python integers travel as int64,
floats as float64, NumPy scalars as they are, None as a null pointer. The last argument may be a pack of arrays and
numbers (kernels/common/packs.py). A family of another distribution is named by its module, such as
`degrees.kernels.higher`. A kernel that wants other blocks says so:
`threads=` of a block, `per_processor=` blocks at most on each processor, `shared=` bytes of dynamic shared memory for
each block. A cooperative launch may have several `teams` of so many blocks each, side by side in the grid's y.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, cached_property, partial
from importlib.resources import as_file, files
from itertools import count
from threading import Lock, local
from typing import Any

import numpy as np

from graphdask.device import host_memory, rmm_memory
from graphdask.device.ahead import Ahead, Family
from graphdask.device.cpu_kernels import CpuKernels
from graphdask.device.launch import make_current, packed_arguments
from graphdask.device.page_locked import READ, PageLocked
from graphdask.errors import InputError, KernelError, MissingDependency
from graphdask.kernels import kernel_files
from graphdask.kernels.common.compiling import observe, prepare_cupy, waited
from graphdask.kernels.common.included import cuda_source
from graphdask.kernels.functions.inserted import Inserted, cuda_text, digests

Array = Any
"""A NumPy or CuPy array; which one follows from the backend."""

C_TYPES = {
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float32": "float",
    "float64": "double",
}


def macro_of(value: Any) -> str:
    """What the name of a dtype or a number stands for in a kernel."""
    return str(value) if isinstance(value, int) else C_TYPES[np.dtype(value).name]


STATUS = {
    1: "an output buffer was too small",
    2: "an index was out of range",
    3: "an iteration did not end within its bound",
}
"""What the values of `gd_status` in kernels/common/common.cuh mean."""

MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
"""Number of this attribute of a device in CUDA's runtime."""

BLOCK = 256
PER_PROCESSOR = 32
"""Blocks of a launch at most, for each processor."""
SHARED_WITHOUT_ASKING = 48 << 10
"""Bytes of dynamic shared memory that every kernel may be launched with; more is an attribute of a function."""
_launches = count(1)


class Backend(ABC):
    """Arrays and kernels of one device."""

    name: str
    """`cpu` or `cuda`."""
    xp: Any
    """The array module."""
    processors: int = 1
    """Multiprocessors of a GPU."""
    shared_memory: int = 0
    """Bytes of dynamic shared memory that a block can have; 0 on a CPU."""

    @abstractmethod
    def kernels(self, family: str, *, cooperative: bool = False, functions: Inserted = None, **types: Any) -> Any:
        """Return the kernels of a family as attributes, compiled for the given dtypes, or numbers, of some names.

        With `cooperative`, they get no more blocks than run at the same time, so that these may wait for each other
        (kernels/common/grid.cuh). `functions` are the caller's, translated, for the family to call
        (kernels/functions/inserted.py).
        """

    def ahead(self, families: Sequence[Family]) -> None:  # noqa: B027  # a CPU has nothing to do
        """Let threads compile kernels that a call is going to need; a CPU compiles each when it is called."""

    @abstractmethod
    def to_host(self, array: Array) -> np.ndarray:
        """Copy to a NumPy array (no copy where it is one)."""

    def to_host_together(self, arrays: Sequence[Array]) -> list[np.ndarray]:
        """Copy contiguous 1-D arrays to NumPy arrays, with one wait for the device if they are short."""
        return [self.to_host(array) for array in arrays]

    @abstractmethod
    def from_host(self, array: np.ndarray) -> Array:
        """Copy to the device (no copy on the CPU)."""

    def address(self, array: Array) -> int:
        """Where an array begins, for kernels that find memory by what stands in other memory."""
        return int(array.data.ptr)

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the device is idle; a kernel that failed raises KernelError here."""

    @abstractmethod
    def activate(self) -> Any:
        """Context manager in which this backend's device is current."""

    @abstractmethod
    def free_memory(self, enough: int | None = None) -> int:
        """Bytes that can still be allocated; if these are `enough`, perhaps a part that is found at less cost."""

    @property
    @abstractmethod
    def description(self) -> str:
        """The device in words."""


class CpuBackend(Backend):
    """NumPy arrays and Numba kernels, one thread per rank."""

    name = "cpu"
    xp = np

    def kernels(self, family: str, *, cooperative: bool = False, functions: Inserted = None, **types: Any) -> Any:
        return CpuKernels(family, functions, types) if functions else _cpu_kernels(family)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def from_host(self, array: np.ndarray) -> Array:
        return np.asarray(array)

    def synchronize(self) -> None:
        pass

    def activate(self) -> Any:
        return nullcontext()

    def free_memory(self, enough: int | None = None) -> int:
        return host_memory.free()

    @property
    def description(self) -> str:
        return "CPU"


@cache
def _cpu_kernels(family: str) -> CpuKernels:
    return CpuKernels(family)


class CudaBackend(Backend):
    """CuPy arrays and CUDA C++ kernels on one device."""

    name = "cuda"

    def __init__(self, device: int = 0):
        try:
            import cupy
        except ImportError as error:
            raise MissingDependency(
                'device "cuda" needs CuPy: pip install "graphdask[cuda13]" (or cuda12, after your driver)'
            ) from error
        prepare_cupy(cupy.cuda.compiler)
        self.xp = cupy
        self.device = device
        self._launched: deque[str] = deque(maxlen=8)
        self.watch: Callable[[str], AbstractContextManager[None]] | None = None
        """Called with the kernel's name around every launch, if set."""
        self._page_locked = PageLocked(cupy)
        self._modules: dict[tuple[Any, ...], CudaKernels] = {}
        self._by_request: dict[tuple[Any, ...] | None, CudaKernels] = {}
        self._locks: dict[tuple[Any, ...], Lock] = {}
        """Of what is compiled, so that one thread does it."""
        self._ahead = Ahead(self, lambda: len(cuda_backends) == 1)
        observe(self._ahead.compiled)
        with self.activate():
            rmm_memory.adopted(cupy, device)
            self.processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
            self.shared_memory = cupy.cuda.runtime.deviceGetAttribute(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device)

    def kernels(self, family: str, *, cooperative: bool = False, functions: Inserted = None, **types: Any) -> Any:
        asked = (family, cooperative, *types.items()) if functions is None else None
        found = self._by_request.get(asked)
        if found is not None:
            return found
        names = {k: macro_of(v) for k, v in types.items()}
        code = family, digests(functions), *sorted(names.items())
        key = cooperative, *code
        if key not in self._modules:
            with waited(self._locks.setdefault(code, Lock())):
                if key not in self._modules:
                    with self._ahead.by_us():
                        self._modules[key] = CudaKernels(self, family, names, cooperative, functions)
        if asked is not None:
            self._by_request[asked] = self._modules[key]
        return self._modules[key]

    def ahead(self, families: Sequence[Family]) -> None:
        self._ahead.families(families)

    def to_host(self, array: Array) -> np.ndarray:
        small = array.nbytes <= READ and array.flags.c_contiguous
        try:
            return self._page_locked.read(array) if small else self.xp.asnumpy(array)
        except (self.xp.cuda.runtime.CUDARuntimeError, self.xp.cuda.driver.CUDADriverError) as error:
            raise self.failure(error) from error

    def to_host_together(self, arrays: Sequence[Array]) -> list[np.ndarray]:
        with self._named_failures():
            return self._page_locked.read_together(arrays)

    def from_host(self, array: np.ndarray) -> Array:
        return self._page_locked.send(array) if isinstance(array, np.ndarray) else self.xp.asarray(array)

    def synchronize(self) -> None:
        every = list(self._modules.values())  # another rank of this device may be adding one
        modules = [(module, module.last) for module in every if module.unseen]
        for begin in range(0, max(len(modules), 1), READ // 4):
            some = modules[begin : begin + READ // 4]
            for (module, last), code in zip(some, self._statuses([module for module, _ in some]), strict=True):
                module.check(code, last)
        self._launched.clear()

    def _statuses(self, modules: list[CudaKernels]) -> list[int]:
        """The status words of modules, once the stream has got that far: one wait for all of them."""
        with self._named_failures():
            return self._page_locked.read_words([module.status.data.ptr for module in modules])

    @contextmanager
    def _named_failures(self) -> Iterator[None]:
        runtime_error = self.xp.cuda.runtime.CUDARuntimeError
        try:
            yield
        except (runtime_error, self.xp.cuda.driver.CUDADriverError) as error:
            raise self.failure(error) from error

    def failure(self, error: Exception) -> KernelError:
        """What to raise for an error of CUDA: it names the kernels that may have caused it."""
        names = ", ".join(dict.fromkeys(self._launched)) or "none"
        return KernelError(f"{error}; kernels launched since the last synchronisation: {names}")

    def activate(self) -> Any:
        return self.xp.cuda.Device(self.device)

    def free_memory(self, enough: int | None = None) -> int:
        with self.activate():
            held = self.xp.get_default_memory_pool().free_bytes()
            if enough is not None and enough <= held:  # the driver takes 40 us to 2 ms to say what is free
                return held
            free, total = self.xp.cuda.runtime.memGetInfo()
            return rmm_memory.usable(self.xp, self.device, free + held, total)

    @cached_property
    def description(self) -> str:
        return self.xp.cuda.runtime.getDeviceProperties(self.device)["name"].decode()


class CudaKernels:
    def __init__(
        self, backend: CudaBackend, family: str, macros: dict[str, str], cooperative: bool, functions: Inserted
    ):
        self._backend, self._family, self._cooperative = backend, family, cooperative
        with as_file(files("graphdask.kernels")) as folder:
            self._include = str(folder)
        options = ["-std=c++17", f"-I{self._include}", f"-Dgd_headers={_headers_digest()}"]
        options += [f"-D{name}={value}" for name, value in sorted(macros.items())]
        code = cuda_text(family, cuda_source(family), functions)
        self._module = backend.xp.RawModule(code=code, options=tuple(options))
        with backend.activate():
            try:
                self._module.compile()
            except backend.xp.cuda.compiler.CompileException as error:
                raise KernelError(f"kernel family {family} does not compile for {macros}: {error}") from error
        self.last = 0
        """A number of the last launch, another one for each."""
        self._checked = local()
        """`last`: the launch that each thread has seen the end of."""

    @cached_property
    def status(self) -> Array:
        cupy = self._backend.xp
        memory = self._module.get_global("gd_status")
        return cupy.ndarray((1,), cupy.int32, memory)

    @property
    def unseen(self) -> bool:
        """Whether one of its kernels was launched since this thread checked."""
        return getattr(self._checked, "last", 0) != self.last

    def check(self, code: int, last: int) -> None:
        """Raise KernelError if `code`, the status word after the launch `last`, says that a kernel failed."""
        self._checked.last = last
        if code:
            self.status.fill(0)
            launched = [name for name in self._backend._launched if name.startswith(f"{self._family}.")]
            names = ", ".join(dict.fromkeys(launched)) or self._family
            raise KernelError(f"kernel {names} failed: {STATUS.get(code, f'status {code}')}")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = self._module.get_function(name)
        label = f"{self._family}.{name}"
        backend = self._backend
        cooperative = self._cooperative
        cupy, driver = backend.xp, backend.xp.cuda.driver
        resident = cache(partial(self._resident, function))
        granted, granting = SHARED_WITHOUT_ASKING, Lock()  # ranks that share the device launch at the same time

        def launch(
            n: int,
            *args: Any,
            per_item: int = 1,
            threads: int = BLOCK,
            per_processor: int = PER_PROCESSOR,
            shared: int = 0,
            teams: int = 1,
        ) -> None:
            nonlocal granted
            if n <= 0:
                return
            backend._launched.append(label)
            self.last = next(_launches)
            if shared > granted:
                with granting, backend._named_failures():
                    function.max_dynamic_shared_size_bytes = granted = max(shared, granted)
            if cooperative:
                per_processor = min(per_processor, resident(threads, shared))
            most = backend.processors * per_processor // teams
            blocks = max(1, min((int(n) * per_item + threads - 1) // threads, most))
            try:
                make_current(cupy.cuda.runtime, backend.device)
                pointers = packed_arguments((int(n), *args), cupy.ndarray)
                stream, kernel = cupy.cuda.get_current_stream().ptr, function.kernel.ptr
                with nullcontext() if backend.watch is None else backend.watch(label):
                    if cooperative:
                        # Not RawModule(enable_cooperative_groups=True): that links the device runtime, not needed here.
                        driver.launchCooperativeKernel(
                            kernel, blocks, teams, 1, threads, 1, 1, shared, stream, pointers
                        )
                    else:
                        driver.launchKernel(kernel, blocks, 1, 1, threads, 1, 1, shared, stream, pointers, 0)
            except driver.CUDADriverError as error:
                raise backend.failure(error) from error

        setattr(self, name, launch)
        return launch

    def _resident(self, function: Any, threads: int, shared: int) -> int:
        """How many blocks of a kernel run on one processor at the same time."""
        with self._backend.activate():
            driver = self._backend.xp.cuda.driver
            return driver.occupancyMaxActiveBlocksPerMultiprocessor(function.kernel.ptr, threads, shared)


@cache
def _headers_digest() -> str:
    """A digest of all headers: CuPy's cache of compiled kernels compares source and options, not headers."""
    digest = hashlib.sha256()
    for name, header in kernel_files().items():
        if name.endswith(".cuh"):
            digest.update(header.read_bytes())
    return f"0x{digest.hexdigest()[:15]}"


def cuda_device_count() -> int:
    """How many CUDA devices this process can use; 0 without CuPy or a driver."""
    try:
        import cupy

        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, no driver, or a driver too old: all mean that there is no device to use
        return 0


cuda_backends: dict[int, CudaBackend] = {}
_cpu_backend = CpuBackend()


def get_backend(device: str = "auto", index: int = 0) -> Backend:
    """Return the backend of `cpu`, of CUDA device number `index`, or (`auto`) of a GPU if there is one.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
    index : int
        Which CUDA device; taken modulo their number.

    Raises
    ------
    InputError
        For another name, or for `cuda` where there is no device.
    """
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(f"device={device!r} is not one of auto, cpu, cuda")
    if device == "cpu":
        return _cpu_backend
    count = cuda_device_count()
    if count == 0:
        if device == "auto":
            return _cpu_backend
        raise InputError('device "cuda" was asked for, but no CUDA device is usable here; "graphdask doctor" says why')
    index %= count
    if index not in cuda_backends:
        cuda_backends[index] = CudaBackend(index)
    return cuda_backends[index]
