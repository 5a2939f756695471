"""CUDA kernels on a CPU: a backend that stands in for the one of a GPU, with cuda_emulator.h under its kernels.

Every family is compiled with g++ for the types in use, once, and linked to the threads of cuda_threads.cpp. Libraries
are kept in the folder for temporary files, by a digest of what they are made of. A launch checks its arguments against
the parameters as the compiler sees them.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import importlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_arrays import DeviceArray, DeviceNumpy
from kernel_twins import COMMENT, KERNEL

from graphdask.device import backend as backends
from graphdask.device.backend import BLOCK, PER_PROCESSOR, STATUS, Backend, macro_of
from graphdask.errors import KernelError
from graphdask.gang import local, replicas, worker
from graphdask.kernels import kernel_files, module_name
from graphdask.kernels.common.included import cuda_source
from graphdask.kernels.common.packs import Pack, with_packs
from graphdask.kernels.functions.inserted import cuda_text, digests

EMULATOR = [Path(__file__).with_name(name) for name in ("cuda_emulator.h", "cuda_threads.h", "cuda_threads.cpp")]
MOST_BLOCKS = 3
# -Og takes half the time of -O1 to compile, and kernels run as fast. Unlike -O0, and like nvcc, it reads once what this
# thread does not change between two reads.
OPTIONS = [
    "-std=c++17", "-Og", "-fPIC", "-fvisibility=hidden", "-ffp-contract=off", "-fno-threadsafe-statics",
    "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-w", "--param=tsan-instrument-func-entry-exit=0",
    "-fsanitize=thread,shift,signed-integer-overflow,integer-divide-by-zero,bounds",
]  # fmt: skip
OPTIONS_OF_THREADS = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-stack-protector", "-U_FORTIFY_SOURCE"]
SHARED = re.compile(r"__shared__\s+((?:unsigned\s+long\s+long|long\s+long|\w+)(?:<\w+>)?)\s+([^;]+);")
DYNAMIC = re.compile(r"extern\s+__shared__\s+((?:\w+\s+)+)(\w+)\s*\[\];")
BOUNDS = re.compile(r"__launch_bounds__\s*\(\s*(\d+)[^()]*\)\s*(?:void\s+)?(\w+)\s*\(")
INCLUDE = re.compile(r'#include "\w+/(\w+\.cuh)"')
"""All files are written into one folder."""
DECLARED = re.compile(r"\s*(\w+)((?:\[.*\])?)\s*")


class EmulationError(AssertionError):
    """A kernel, or its caller, does what no GPU allows."""


def shared_in_blocks(source: str) -> str:
    """The source with every variable in shared memory as a reference into that of the running block, and an array
    without bounds as a pointer to what the launch gave."""

    def references(found: re.Match) -> str:
        made = []
        for variable in found[2].split(","):
            name, bounds = DECLARED.fullmatch(variable).groups()
            made.append(
                f"static size_t place_of_{name}; typedef {found[1]} type_of_{name}{bounds}; type_of_{name} &{name} = "
                f"*(type_of_{name} *)emulator::shared(&place_of_{name}, sizeof(type_of_{name}));"
            )
        return " ".join(made)

    return SHARED.sub(references, DYNAMIC.sub(r"static emulator::DynamicShared<\1> \2;", source))


def compiler() -> str:
    found = shutil.which("g++")
    if found is None:
        pytest.skip("needs g++ to compile CUDA kernels for the CPU")
    return found


@cache
def version() -> str:
    return subprocess.run([compiler(), "--version"], capture_output=True, check=True, text=True).stdout


@cache
def sources() -> dict[str, str]:
    """All kernels and headers, without comments (lines keep their numbers), ready for g++."""
    found = {}
    for entry in kernel_files().values():
        if entry.name.endswith((".cu", ".cuh")):
            found[entry.name] = prepared(entry.name, with_packs(entry.read_text()))
    return found


def prepared(name: str, text: str) -> str:
    """The text of a file without comments, ready for g++."""
    found = shared_in_blocks(COMMENT.sub(lambda comment: "\n" * comment[0].count("\n") or " ", text))
    if "__shared__" in found:
        raise EmulationError(f"{name}: shared memory that is declared in an unknown way")
    return found


def source_of(family: str) -> str:
    """The text of a family; one of another distribution is not among `sources`."""
    return of_others(family) if "." in family else sources()[f"{family}.cu"]


@cache
def of_others(family: str) -> str:
    return prepared(family, cuda_source(family))


@cache
def lock_of(family: str, macros: tuple[str, ...]) -> threading.Lock:
    return threading.Lock()


def library(family: str, macros: tuple[str, ...], texts: dict[str, str]) -> Path:
    """Path of the compiled kernels of a family, one of `texts`."""
    with lock_of(family, macros):
        return compiled(family, macros, texts)


def prepare() -> threading.Thread | None:
    """Begin to compile every family for every type it declares, beside what else this process does."""
    if shutil.which("g++") is None:
        return None

    texts = sources()
    families = [name.removesuffix(".cu") for name in sorted(texts) if name.endswith(".cu")]
    # imported now: what modules take would count in tests that measure memory
    types = {family: importlib.import_module(module_name(family)).MACROS for family in families}

    def work() -> None:
        for family in families:
            for macros in types[family]:
                library(family, tuple(f"{macro}={c_type}" for macro, c_type in sorted(macros.items())), texts)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """One process at a time, of those that run tests together."""
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)  # who waits for it finds the work done


def digest_of(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


@cache
def emulator(kept: Path) -> Path:
    """A folder in `kept` with what all families share: the headers, precompiled, and the threads."""
    texts = {path.name: path.read_text() for path in EMULATOR}
    made = kept / f"emulator-{digest_of(version(), *OPTIONS, *OPTIONS_OF_THREADS, *texts.values())}"
    if made.exists():
        return made
    with alone(kept / f"{made.name}.lock"), tempfile.TemporaryDirectory(dir=kept) as name:
        if made.exists():
            return made
        folder = Path(name) / "emulator"
        folder.mkdir()
        for file, text in texts.items():
            (folder / file).write_text(text)
        for command in (
            [*OPTIONS, "-x", "c++-header", "cuda_emulator.h", "-o", "cuda_emulator.h.gch"],
            [*OPTIONS_OF_THREADS, "-c", "cuda_threads.cpp", "-o", "cuda_threads.o"],
        ):
            subprocess.run([compiler(), *command], cwd=folder, check=True, timeout=900)
        folder.rename(made)
    return made


def included(family: str, texts: dict[str, str]) -> dict[str, str]:
    """The text of a family, and of the headers that it includes and those that these include."""
    found, left = {}, [f"{family}.cu"]
    while left:
        name = left.pop()
        if name not in found:
            found[name] = texts[name]
            left += INCLUDE.findall(texts[name])
    return found


def compiled(family: str, macros: tuple[str, ...], texts: dict[str, str]) -> Path:
    program = compiler()
    texts = included(family, texts)
    names = [name for name, _ in KERNEL.findall(texts[f"{family}.cu"])]
    main = "".join([
        '#include "cuda_emulator.h"\n', f'#include "{family}.cu"\n', *(f"EMULATOR_KERNEL({name})\n" for name in names),
        'extern "C" __attribute__((visibility("default"))) int *emulated_status() { return &gd_status; }\n',
    ])  # fmt: skip
    kept = Path(tempfile.gettempdir()) / f"graphdask-emulated-{os.getuid()}"
    kept.mkdir(mode=0o700, exist_ok=True)
    shared = emulator(kept)
    digest = digest_of(shared.name, main, *macros, *(texts[name] for name in sorted(texts)))
    made = kept / f"{family}-{digest}.so"
    if made.exists():
        return made
    with alone(kept / f"{digest}.lock"), tempfile.TemporaryDirectory(dir=kept) as name:
        if made.exists():
            return made
        folder = Path(name)
        for file, text in (*texts.items(), ("main.cpp", main)):
            (folder / file).write_text(INCLUDE.sub(r'#include "\1"', text))
        options = [*OPTIONS, *(f"-D{macro}" for macro in macros), f"-I{shared}", f"-I{folder}"]
        subprocess.run([program, *options, "-c", "main.cpp", "-o", "main.o"], cwd=folder, check=True, timeout=900)
        # without the sanitizer, whose place cuda_threads.cpp takes
        objects = ["main.o", str(shared / "cuda_threads.o")]
        subprocess.run([program, "-shared", "-o", "main.so", *objects], cwd=folder, check=True, timeout=900)
        (folder / "main.so").rename(made)
    return made


def _argument(value: Any) -> Any:
    """What a number is to a kernel: an int64, a float64, or what NumPy says."""
    by_type = {bool: np.bool_, int: np.int64, float: np.float64}
    return by_type[type(value)](value) if type(value) in by_type else value


class EmulatedKernels:
    """The kernels of a family as attributes."""

    def __init__(
        self, backend: EmulatedCuda, family: str, macros: tuple[str, ...], cooperative: bool, functions: Any = None
    ):
        self._backend, self._family, self._cooperative = backend, family, cooperative
        source = source_of(family)
        texts = {**sources(), f"{family}.cu": cuda_text(family, source, functions)}
        # The interpreter's lock stays held: the emulator runs one launch at a time.
        self._library = ctypes.PyDLL(str(library(family, macros, texts)))
        self._library.emulated_status.restype = ctypes.POINTER(ctypes.c_int)
        self._parameters = {
            name: [re.findall(r"\w+", argument)[-1] for argument in arguments.split(",")]
            for name, arguments in KERNEL.findall(source)
        }
        self._most_threads = {name: int(most) for most, name in BOUNDS.findall(source)}
        # kernels that find memory of others, or of the host, by its address
        self._finds_memory = family.endswith("_team") or family in ("layered_search", "layered_hooks")
        self._launched: list[str] = []

    def check(self) -> None:
        """Raise KernelError if a kernel has set its status word, and clear it."""
        status = self._library.emulated_status()
        code, status[0] = status[0], 0
        names, self._launched = ", ".join(dict.fromkeys(self._launched)), []
        if code:
            raise KernelError(f"kernel {names} failed: {STATUS.get(code, f'status {code}')}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self._parameters:
            raise AttributeError(f"{self._family}.cu has no kernel {name}")
        run, types_of = getattr(self._library, f"launch_{name}"), getattr(self._library, f"types_of_{name}")
        run.restype = types_of.restype = ctypes.c_char_p
        types = types_of().decode().split()
        label, parameters = f"{self._family}.{name}", self._parameters[name]
        most_threads = self._most_threads.get(name, BLOCK)

        def launch(
            n: int,
            *args: Any,
            per_item: int = 1,
            threads: int = BLOCK,
            per_processor: int = PER_PROCESSOR,
            shared: int = 0,
            teams: int = 1,
        ) -> None:
            if n <= 0:
                return
            if threads > most_threads or shared > self._backend.shared_memory:
                raise EmulationError(
                    f"{label}: {threads} threads a block of {most_threads}, {shared} bytes of shared memory of "
                    f"{self._backend.shared_memory}"
                )
            if args and isinstance(args[-1], Pack):
                args = (*args[:-1], *fields_of(args[-1], types[len(args) :]))
            if len(args) + 1 != len(types):
                raise EmulationError(f"{label} takes {len(types)} arguments, not {len(args) + 1}")
            values = [np.int64(n), *map(_argument, args)]
            memory = [
                argument(value, kind, f"{label}: {parameter}")
                for value, kind, parameter in zip(values, types, parameters, strict=True)
            ]
            most_blocks = max(1, min(self._backend.most_blocks, self._backend.processors * per_processor) // teams)
            blocks = teams * min((int(n) * per_item + threads - 1) // threads, most_blocks)
            at_once = blocks if self._cooperative else 1 + self._backend.draw() % blocks
            if self._finds_memory:
                memory += [(memory[0][0], begin, end) for begin, end in self._backend.known_addresses()]
            count = len(memory)
            addresses = (ctypes.c_void_p * count)(*(cell.ctypes.data for cell, _, _ in memory))
            begins = (ctypes.c_uint64 * count)(*(begin for _, begin, _ in memory))
            ends = (ctypes.c_uint64 * count)(*(end for _, _, end in memory))
            seed, preemptive = ctypes.c_uint64(self._backend.draw()), int(self._backend.preemptive)
            self._launched.append(label)
            failure = run(blocks, teams, threads, shared, seed, at_once, preemptive, addresses, count, begins, ends)
            if failure is not None:
                raise EmulationError(f"{label}: {failure.decode()} (seed {seed.value}, {at_once} blocks at once)")

        setattr(self, name, launch)
        return launch


def fields_of(pack: Pack, kinds: list[str]) -> list[Any]:
    """The fields of a pack; 0 for numbers that nobody has assigned to."""
    values = [getattr(pack, name) for name in pack.field_types]
    return [
        np.dtype(kind).type() if value is None and not kind.startswith("*") else value
        for value, kind in zip(values, kinds, strict=False)
    ]


def argument(value: Any, kind: str, where: str) -> tuple[np.ndarray, int, int]:
    """The cell that holds an argument as the kernel reads it, and the memory that it points to; or why it is wrong."""
    if isinstance(value, np.ndarray):
        raise EmulationError(f"{where} is an array of the host")
    if not kind.startswith("*"):
        if isinstance(value, DeviceArray):
            raise EmulationError(f"{where} is a number in the kernel, and an array was given")
        if not isinstance(value, np.generic):
            raise EmulationError(f"{where} is a {type(value).__name__}")
        if value.dtype.itemsize != int(kind[1:]) or (value.dtype.kind == "f") != (kind[0] == "f"):
            raise EmulationError(f"{where} is {kind} in the kernel, and a {value.dtype} was given")
        return np.array([value]), 0, 0
    if value is None:  # CuPy sends a null pointer
        return np.zeros(1, np.uint64), 0, 0
    if not isinstance(value, DeviceArray):
        raise EmulationError(f"{where} is a pointer in the kernel, and {value!r} was given")
    if value.dtype.itemsize != int(kind[2:]) or (value.dtype.kind == "f") != (kind[1] == "f"):
        raise EmulationError(f"{where} is {kind} in the kernel, and an array of {value.dtype} was given")
    if not value.memory.flags.c_contiguous:
        raise EmulationError(f"{where} is an array with gaps, which a kernel does not see")
    begin = value.memory.ctypes.data
    return np.array([begin], np.uint64), begin, begin + value.nbytes


class EmulatedCuda(Backend):
    """Arrays that keep away from the host's and kernels on the emulator, with the interface of CudaBackend.

    Parameters
    ----------
    seed : int
        Of the orders in which threads and blocks run.
    most_blocks : int
        Blocks of a launch: at most 8.
    preemptive : bool
        Whether threads are interrupted between their accesses to memory, not only where they wait.
    """

    name = "cuda"
    processors = 2
    shared_memory = 227 << 10

    def __init__(self, seed: int = 0, most_blocks: int = MOST_BLOCKS, preemptive: bool = True):
        compiler()
        self.xp = DeviceNumpy()
        self.device = 0
        self.most_blocks, self.preemptive = most_blocks, preemptive
        self._random = np.random.default_rng(seed)
        self._modules: dict[tuple[Any, ...], EmulatedKernels] = {}
        self._addressed: deque[tuple[int, int]] = deque(maxlen=600)

    def address(self, array: Any) -> int:
        begin = array.memory.ctypes.data
        self._addressed.append((begin, begin + array.nbytes))
        return begin

    def known_addresses(self) -> list[tuple[int, int]]:
        """Memory whose addresses somebody asked for, the last first."""
        return list(dict.fromkeys(reversed(self._addressed)))

    def draw(self) -> int:
        return int(self._random.integers(1, 1 << 31))

    def kernels(self, family: str, *, cooperative: bool = False, functions: Any = None, **types: Any) -> Any:
        macros = tuple(f"{name}={macro_of(value)}" for name, value in sorted(types.items()))
        key = family, cooperative, digests(functions), macros
        if key not in self._modules:
            self._modules[key] = EmulatedKernels(self, family, macros, cooperative, functions)
        return self._modules[key]

    def to_host(self, array: Any) -> np.ndarray:
        return self.xp.asnumpy(array)

    def from_host(self, array: np.ndarray) -> DeviceArray:
        return self.xp.asarray(array)

    def synchronize(self) -> None:
        for module in list(self._modules.values()):
            module.check()

    def activate(self) -> Any:
        return nullcontext()

    def free_memory(self, enough: int | None = None) -> int:
        return backends.get_backend("cpu").free_memory()

    @property
    def description(self) -> str:
        return "a GPU, emulated"


@cache
def emulated() -> EmulatedCuda:
    """The backend that the tests share."""
    return EmulatedCuda()


def begin_with(seed: list[int]) -> None:
    """Let a test see the same orders of threads whatever ran before it."""
    if shutil.which("g++") is not None:
        emulated()._random = np.random.default_rng(seed)


def device_backend(name: str) -> Backend:
    """The backend of cpu, emulated or cuda."""
    return emulated() if name == "emulated" else backends.get_backend(name)


def stand_in(monkeypatch: pytest.MonkeyPatch, backend: EmulatedCuda) -> None:
    """Let every `device="cuda"` of a test mean the emulator."""
    # Otherwise it means a GPU of the machine.
    monkeypatch.setitem(backends.cuda_backends, 0, backend)
    one_device(monkeypatch)


def one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the ranks of a test share one device."""
    for module in (backends, local, replicas, worker):
        # A host of several GPUs, or of none, counts its own.
        monkeypatch.setattr(module, "cuda_device_count", lambda: 1)
