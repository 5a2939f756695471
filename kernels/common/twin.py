"""The decorator of CPU twins: Numba, no GIL held, compiled once and cached on disk.

A twin has the name, the arguments and the argument order of its CUDA kernel. The first argument `n` is the
number of work items; a CUDA kernel gives each to a thread, the twin loops over them. The last may be a pack
(packs.py); the attribute `fields` of the compiled twin names those that it takes in the place of the pack.

A kernel `*_hubs` processes the rows of many edges that the kernel without this suffix has deferred. A twin defers none,
so `*_hubs` has no twin.
"""

from collections.abc import Callable
from typing import Any

import numba

from graphdask.kernels.common.compiling import listen_to_numba
from graphdask.kernels.common.in_kernels import InKernels, read_from_files
from graphdask.kernels.common.kept import enter_other, keep_by_digest, keep_where_possible
from graphdask.kernels.common.once import compile_once
from graphdask.kernels.common.options import compare_what_was_set
from graphdask.kernels.common.unpacked import unpacked

listen_to_numba()
keep_by_digest()
compare_what_was_set()
read_from_files()

AS_KERNELS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""Numba's options of all that it compiles for kernels. Nothing calls them from C, so that wrapper would be compiled for
nothing."""

ONLY_FOR_KERNELS = {"no_cpython_wrapper": True, "pipeline_class": InKernels}
"""Numba's options of functions that kernels call, and Python never does: what turns Python's arguments into theirs is
not compiled, nor machine code of them alone."""

OURS = "graphdask.", "graphdask_module_"
"""How the names of modules of graphdask begin, with those of functions/generated.py."""


def compiled_by(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that unpacks a function and lets Numba compile it with these options.

    A function of graphdask whose name begins with an underscore is for other twins; Python cannot call it. So it is in
    modules that are written while a program runs.
    """

    def made(function: Callable[..., Any]) -> Any:
        enter_other(function)
        function, fields = unpacked(function)
        private = function.__name__.startswith("_") and (function.__module__ or "").startswith(OURS)
        only_for_kernels = ONLY_FOR_KERNELS if private else {}
        dispatcher = numba.njit(**{**AS_KERNELS, **only_for_kernels, **options})(function)
        dispatcher.fields = fields
        if options.get("cache"):
            keep_where_possible(dispatcher)
            compile_once(dispatcher)
        return dispatcher

    return made


twin = compiled_by(cache=True)

for_twins = compiled_by(cache=True, **ONLY_FOR_KERNELS)
"""Of functions that twins call, and Python never does."""

within = compiled_by(cache=True, forceinline=True)
"""Of functions that twins call for every item with arrays: a call would copy the description of each."""

WITHOUT_ARRAYS = {"forceinline": True, "_nrt": False, "no_cfunc_wrapper": True}
"""Numba's options of such functions that make no arrays, nor does what they call. Numba would count the holders of
those that they are given, with atomic operations that take longer than most items."""
ONLY_IN_KERNELS = {**WITHOUT_ARRAYS, **ONLY_FOR_KERNELS}
"""Of those of them that Python never calls."""
inlined = compiled_by(cache=True, **ONLY_IN_KERNELS)


def by_python(function: Callable[..., Any]) -> Any:
    """Of twins that Python runs, because NumPy or other twins do their work."""
    function, function.fields = unpacked(function)  # type: ignore[attr-defined]
    return function
