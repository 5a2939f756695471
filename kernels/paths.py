"""Lengths of paths on a CPU: what stands for an unreached vertex. Twin of paths.cuh, used within other twins."""

import numpy as np
from numba import types
from numba.extending import overload


def unreached(distance):
    """The distance of a vertex that was not reached: the largest integer, or infinity."""
    return np.inf if distance.dtype.kind == "f" else np.iinfo(distance.dtype).max


@overload(unreached, inline="always")
def _unreached(distance):
    none = np.inf if isinstance(distance.dtype, types.Float) else np.iinfo(str(distance.dtype)).max
    return lambda distance: none


MACROS = [
    {"index_t": "int", "weight_t": "int", "dist_t": "int"},
    {"index_t": "int", "weight_t": "int", "dist_t": "long long"},
    {"index_t": "int", "weight_t": "long long", "dist_t": "int"},
    {"index_t": "int", "weight_t": "long long", "dist_t": "long long"},
    {"index_t": "int", "weight_t": "float", "dist_t": "double"},
    {"index_t": "int", "weight_t": "double", "dist_t": "double"},
    {"index_t": "long long", "weight_t": "long long", "dist_t": "long long"},
    {"index_t": "long long", "weight_t": "float", "dist_t": "double"},
]
"""Types of the kernels that work on distances, for the compiler."""
