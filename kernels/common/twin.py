"""The decorator of CPU twins: Numba, no GIL held, compiled once and cached on disk.

A twin has the name, the arguments and the argument order of its CUDA kernel. The first argument `n` is the
number of work items; a CUDA kernel gives each to a thread, the twin loops over them.
"""

import numba

from graphdask.kernels.common.compiling import listen_to_numba

listen_to_numba()

twin = numba.njit(nogil=True, cache=True, error_model="numpy")

within = numba.njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
"""Of functions that twins call for every item with arrays: a call would copy the description of each."""
