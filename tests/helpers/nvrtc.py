"""Compile CUDA C++ with NVRTC, on hosts without a GPU.

Loads the library of the `nvidia-cuda-nvrtc-cu12` wheel with ctypes. CUDA 12 is used on purpose: the NVRTC of
CUDA 13 no longer knows compute capability 7.0.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from graphdask.kernels import module_name
from graphdask.kernels.common.packs import with_packs

CAPABILITIES = (70, 90, 100)
"""Compute capabilities for which the kernels are compiled: the oldest, that of the H200, and the newest."""


def types_for(capability: int, macros: Sequence[Mapping[str, str]]) -> Sequence[Mapping[str, str]]:
    """Of the types that a family declares, those that are compiled for a capability: all for the oldest, which knows
    the fewest functions, and the last for those after it."""
    return macros if capability == CAPABILITIES[0] else macros[-1:]


class CompileError(Exception):
    """NVRTC refused a source; the message is its log."""


def _wheel(name: str) -> Path:
    """Folder of one of NVIDIA's wheels, all of which share the namespace package `nvidia`."""
    spec = importlib.util.find_spec(f"nvidia.{name}")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"nvidia.{name} is not installed; it comes with the extra 'test'")
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def _library() -> ctypes.CDLL:
    folder = _wheel("cuda_nvrtc") / "lib"
    # NVRTC opens its built-ins by name, so they have to be loaded before it looks for them.
    for builtins in folder.glob("libnvrtc-builtins.so*"):
        ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(folder / "libnvrtc.so.12"))
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


def _check(status: int) -> None:
    if status:
        raise RuntimeError(f"NVRTC: {_library().nvrtcGetErrorString(status).decode()}")


def _text(size: str, get: str, program: ctypes.c_void_p) -> str:
    """One of NVRTC's texts: ask for its length, then for it."""
    library, length = _library(), ctypes.c_size_t()
    _check(getattr(library, size)(program, ctypes.byref(length)))
    buffer = ctypes.create_string_buffer(length.value)
    _check(getattr(library, get)(program, buffer))
    return buffer.value.decode()


def compile_ptx(
    source: Path, capability: int, macros: Mapping[str, str] | None = None, include: Sequence[Path] = ()
) -> str:
    """PTX of a `.cu` file.

    Parameters
    ----------
    source : Path
        The file. Headers are searched in its folder, in the one above, in `include`, and in the CUDA runtime's.
    capability : int
        Compute capability, 70 for 7.0.
    macros : mapping of str to str, optional
        Definitions, such as the C types that the file leaves open.
    include : sequence of Path, optional
        More folders with headers.

    Raises
    ------
    CompileError
        With the log, if the file does not compile.
    """
    folders = [
        source.parent,
        source.parent.parent,
        *include,
        *(_wheel(name) / "include" for name in ("cuda_runtime", "cuda_cccl")),
    ]
    options = [f"--gpu-architecture=compute_{capability}", "-std=c++17"]
    options += [f"-I{folder}" for folder in folders]
    options += [f"-D{name}={value}" for name, value in (macros or {}).items()]
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))

    library, program = _library(), ctypes.c_void_p()
    text = with_packs(source.read_text())
    _check(library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), source.name.encode(), 0, None, None))
    try:
        if library.nvrtcCompileProgram(program, len(options), array):
            log = _text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program)
            raise CompileError(f"{source.name} for compute_{capability} with {dict(macros or {})}:\n{log}")
        return _text("nvrtcGetPTXSize", "nvrtcGetPTX", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def families() -> list[Path]:
    """The files with kernels."""
    return sorted(Path(str(importlib.import_module("graphdask.kernels").__file__)).parent.rglob("*.cu"))


class Ahead:
    """Compiles files on a thread of its own, from `begin` to `end`; `ptx` waits for what it is at, and compiles what
    it has not come to."""

    def __init__(self) -> None:
        self._done: dict[object, str] = {}
        self._locks: defaultdict[object, threading.Lock] = defaultdict(threading.Lock)
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._compiling, self._may_go_on = threading.Lock(), threading.Event()
        self._may_go_on.set()

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Let the thread compile nothing meanwhile: what it takes would count as memory of this process."""
        self._may_go_on.clear()
        try:
            with self._compiling:
                yield
        finally:
            self._may_go_on.set()

    def ptx(self, source: Path, capability: int, macros: Mapping[str, str]) -> str:
        """As `compile_ptx` returns it, once for a file, which does not change."""
        key = (source, capability, *sorted(macros.items()))
        with self._locks[key]:
            if key not in self._done:
                self._done[key] = compile_ptx(source, capability, macros)
            return self._done[key]

    def begin(self, after: threading.Thread | None) -> None:
        """Compile every family for every type it declares, beside what else this process does, once a thread ends."""

        def work() -> None:
            while after is not None and after.is_alive():
                after.join(0.2)
                if self._ended.is_set():
                    return
            for source in families():
                self._may_go_on.wait()
                with self._compiling:
                    types = importlib.import_module(module_name(source.stem)).MACROS
                for capability in CAPABILITIES:
                    for macros in types_for(capability, types):
                        self._may_go_on.wait()
                        if self._ended.is_set():
                            return
                        with self._compiling, suppress(CompileError):  # the test of that family says so
                            self.ptx(source, capability, macros)

        self._thread = threading.Thread(target=work, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Wait for the present one, and compile no more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(60.0)


AHEAD = Ahead()
