"""Weights as codes of fewer bytes: twins of codes.cu.

given    weights as the graph has them; with `single`, they are meant as rounded to float32
one, two units of codes of one and of two bytes, powers of two
misfits  int32, three: set to 1 where a code of one byte, one of two, or a float32 does not hold a weight exactly
unit     of the codes that are written: weight = code * unit; 1.0 where they are floats
weight_t of the codes: unsigned integers of one or two bytes, or floats
items, lanes, count, first
         of slices, as in slices.py; where a slice has no edge, the code is 0
"""

import numpy as np

from graphdask.kernels.common.tuning import ROW_SPAN as SPAN
from graphdask.kernels.common.twin import twin

MACROS = [
    {"given_t": given, "weight_t": weight}
    for given in ("int", "long long", "float", "double")
    for weight in ("unsigned char", "unsigned short", "float", "double")
    if (given, weight) != ("float", "double")
]


@twin
def _given(given, single):
    return np.float64(np.float32(given)) if single else np.float64(given)


@twin
def _holds(weight, unit, most):
    code = np.floor(weight / unit)
    return code >= 0.0 and code <= most and code * unit == weight


@twin
def codes_try(n, given, single, one, two, misfits):
    for k in range(n):
        weight = _given(given[k], single)
        if not _holds(weight, one, 255.0):
            misfits[0] = 1
        if not _holds(weight, two, 65535.0):
            misfits[1] = 1
        if np.float64(np.float32(weight)) != weight:
            misfits[2] = 1


@twin
def codes_write(n, given, single, unit, out):
    for k in range(n):
        out[k] = _given(given[k], single) / unit


@twin
def codes_slice(n, items, lanes, count, first, given, single, unit, out):
    for t in range(n):
        number, k = t // lanes, t % lanes
        item = items[number] if number < count else 0
        for to in range(first[t // 32] + t % 32, first[t // 32 + 1], 32):
            out[to] = 0
            if k < item % SPAN:
                out[to] = _given(given[item // SPAN + k], single) / unit
            k += lanes
