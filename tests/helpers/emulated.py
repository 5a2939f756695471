"""CUDA kernels that are written for a warp, compiled for the CPU with warp_emulator.h."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

C_TYPES = {np.int32: "int", np.int64: "long long"}


class Emulated:
    """The kernels of a family, for one index type; a warp in lockstep where it asks for that.

    Parameters
    ----------
    folder : Path
        Where to compile.
    family : str
        The `.cu` file without its ending.
    headers : sequence of str
        The headers that it takes; of common.cuh nothing.
    kernels : mapping of str to str
        Their C++ parameters after `n`, as "name, name": all are 64-bit integers, the last is the array.
    """

    def __init__(self, folder: Path, family: str, headers: Sequence[str], kernels: dict[str, str], dtype: Any):
        compiler = shutil.which("g++")
        if compiler is None:
            pytest.skip("needs g++ to compile the CUDA kernel for the CPU")
        for name in (f"{family}.cu", *headers):
            (folder / name).write_text(files("graphdask.kernels").joinpath(name).read_text())
        (folder / "common.cuh").write_text("// The kernels take nothing from it.\n")
        launches = [
            f'extern "C" void {name}_launch(unsigned blocks, long long n, '
            + "".join(f"long long {parameter}, " for parameter in parameters.split(", ") if parameter)
            + f"index_t *out) {{ emulate(blocks, 256, [=] {{ {name}(n, {parameters + ', ' if parameters else ''}out); "
            + "}); }\n"
            for name, parameters in kernels.items()
        ]
        source = folder / f"{np.dtype(dtype).name}.cpp"
        source.write_text(f'#include "warp_emulator.h"\n#include "{family}.cu"\n' + "".join(launches))
        library = folder / f"{np.dtype(dtype).name}.so"
        options = ["-std=c++17", "-O1", "-shared", "-fPIC", f"-Dindex_t={C_TYPES[dtype]}", f"-I{Path(__file__).parent}"]
        subprocess.run([compiler, *options, "-o", library, source], check=True)
        self._library = ctypes.CDLL(str(library))

    def launch(self, name: str, blocks: int, n: int, *arguments: Any) -> None:
        """Run a kernel on `blocks` blocks of 256 threads; the last argument is the array."""
        *numbers, out = arguments
        sent = [ctypes.c_longlong(int(np.uint64(number % (1 << 64)).astype(np.int64))) for number in numbers]
        getattr(self._library, f"{name}_launch")(
            ctypes.c_uint(blocks), ctypes.c_longlong(n), *sent, ctypes.c_void_p(out.ctypes.data)
        )
