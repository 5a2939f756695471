"""Compile CUDA C++ with NVRTC, on hosts without a GPU.

Loads the library of the `nvidia-cuda-nvrtc-cu12` wheel with ctypes. CUDA 12 is used on purpose: the NVRTC of
CUDA 13 no longer knows compute capability 7.0.
"""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path


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
        The file. Its own folder is searched for headers first, then `include`, then the CUDA runtime's.
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
    folders = [source.parent, *include, *(_wheel(name) / "include" for name in ("cuda_runtime", "cuda_cccl"))]
    options = [f"--gpu-architecture=compute_{capability}", "-std=c++17"]
    options += [f"-I{folder}" for folder in folders]
    options += [f"-D{name}={value}" for name, value in (macros or {}).items()]
    array = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))

    library, program = _library(), ctypes.c_void_p()
    _check(library.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(), 0, None, None))
    try:
        if library.nvrtcCompileProgram(program, len(options), array):
            log = _text("nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program)
            raise CompileError(f"{source.name} for compute_{capability} with {dict(macros or {})}:\n{log}")
        return _text("nvrtcGetPTXSize", "nvrtcGetPTX", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
