"""The kernels: CUDA C++ and their Numba twins."""
