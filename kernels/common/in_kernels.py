"""A compiler of functions that only kernels call: LLVM's code of a function, which goes into the kernels, and no more.

Numba on its own optimises each of these functions, makes machine code of it, loads it and keeps it, which nothing runs,
and optimises it again in every kernel and in every function that calls it: about a sixth of the time in which a family
of many functions is compiled. Here LLVM optimises a function once, in the kernel.

Machine code has a variable by which a function finds Python objects while it runs (its environment). There is none
here: functions of kernels use no Python objects (`numba.objmode`).
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

KIND = "in kernels"
"""How Numba's files call such a library; Numba has "object" and "bitcode"."""
_read = JITCodeLibrary._unserialize.__func__


class _WithoutEnvironment:
    """The code generator of a library that has no variable for an environment."""

    def __init__(self, codegen: Any):
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


class WithoutMachineCode(JITCodeLibrary):
    """What Numba makes of a function that only kernels call."""

    def _optimize_final_module(self) -> None:
        """Leave that to the kernels."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # as Numba says of a function without a wrapper for Python

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment(self._codegen)

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.name, KIND, self._get_module_for_linking().as_bitcode()


class InKernels(Compiler):
    """Numba's compiler, with such a library."""

    def __init__(self, typing: Any, target: Any, library: Any, *others: Any):
        if library is None:
            library = WithoutMachineCode(target.codegen(), "a function that kernels call")
            library.enable_object_caching()
        super().__init__(typing, target, library, *others)


def _kept(kind: type, codegen: Any, state: tuple[str, str, Any]) -> Any:
    """What Numba's files have of a library."""
    if state[1] != KIND:
        return _read(kind, codegen, state)
    library = WithoutMachineCode(codegen, state[0])
    library._final_module = library._shared_module = llvm.parse_bitcode(state[2])
    library._finalize_final_module()
    return library


def read_from_files() -> None:
    """From now on Numba reads what it keeps of such libraries, too."""
    JITCodeLibrary._unserialize = classmethod(_kept)
