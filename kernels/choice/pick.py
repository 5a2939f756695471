"""Twins of pick.cuh and pick.cu: one edge of a row, drawn in proportion to its bias. The same edges as on a GPU.

`method` is one of the constants below; what the tables hold says `graphdask.sample.biases`. Where a method needs no
table, any array of its dtype will do. All numbers, instances, steps and draws are uint64.

Arguments of `pick_edges`: rows, index dtype, from which edges are drawn; instances, int64, for which they are drawn;
edges, int64, the result, -1 where there is none; draws, int32, the number of each one's next draw, before and after.
"""

import numpy as np
from numba import types
from numba.extending import overload

from graphdask.kernels.choice.keys import exponential_key, may_be_less
from graphdask.kernels.choice.pick_pack import Picks
from graphdask.kernels.common.hash import hashed, inlined, multiply_high
from graphdask.kernels.common.hash import key as keyed
from graphdask.kernels.common.philox import DRAW_KEY, fill, philox
from graphdask.kernels.common.tuning import KEYS_AT_ONCE, SPARSE
from graphdask.kernels.common.twin import twin, within

MACROS = [{"index_t": "int", "bias_t": bias} for bias in ("int", "long long", "float", "double")]
MACROS += [{"index_t": "long long", "bias_t": "double"}]

UNIFORM, REJECTION, INVERSE, ALIAS, RESERVOIR = 0, 1, 2, 3, 6
REJECTS = 16
"""Rows whose greatest bias is more than so many mean ones are not drawn by rejection."""
TRIALS = 512
"""Of rejection; then it is the sparse prefix sums after all, which changes no probability."""

_LOWEST = 700
_POWERS = np.ldexp(1.0, np.arange(-_LOWEST, _LOWEST))
_0, _1, _REJECTS = np.uint64(0), np.uint64(1), np.uint64(REJECTS)


def units(value, shift):
    """The bias as a whole number: an integer itself, halved -shift times where that is above 0; a float times 2^shift,
    rounded to the nearest; what is above 0 stays so."""
    raise NotImplementedError  # for compiled code


@overload(units, jit_options={"nogil": True, "error_model": "numpy"}, inline="never")
def _units(value, shift):
    if isinstance(value, types.Float):

        def of_float(value, shift):
            if not value > 0:
                return _0
            half = shift >> 1
            scaled = np.float64(value) * _POWERS[half + _LOWEST] * _POWERS[shift - half + _LOWEST]
            whole = np.uint64(scaled)
            if scaled - np.float64(whole) >= 0.5:
                whole += _1
            return max(whole, _1)

        return of_float

    def of_integer(value, shift):
        if shift >= 0 or value <= 0:
            return np.uint64(value)
        by = np.uint64(-shift)
        return max((np.uint64(value) + (_1 << (by - _1))) >> by, _1)

    return of_integer


@within
def shift_of(shifts, row):
    """0 where biases are integers, which have no shifts."""
    return np.int64(shifts[row]) if len(shifts) else np.int64(0)


@within
def pick_uniform(begin, end, number):
    if begin >= end:
        return -1
    return begin + np.int64(multiply_high(number, np.uint64(end - begin)))


@within
def pick_inverse(prefix, begin, end, number):
    if begin >= end or prefix[end - 1] == _0:
        return -1
    digit = multiply_high(number, prefix[end - 1])
    low, high = begin, end - 1
    while low < high:
        middle = (low + high) >> 1
        if prefix[middle] > digit:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def pick_sparse(values, shift, total, sparse, begin, end, number):
    if total == _0:
        return -1
    digit = multiply_high(number, total)
    first = begin // SPARSE
    low, high = first, end // SPARSE
    while low < high:
        middle = (low + high) >> 1
        if sparse[middle] > digit:
            high = middle
        else:
            low = middle + 1
    e, total_before = begin, _0
    if low > first:
        e, total_before = SPARSE * low, sparse[low - 1]
    while e < end - 1:
        total_before += units(values[e], shift)
        if total_before > digit:
            break
        e += 1
    return e


@within
def pick_alias(share, other, total, begin, end, first, second):
    if total == _0:
        return -1
    e = begin + np.int64(multiply_high(first, np.uint64(end - begin)))
    return e if multiply_high(second, total) < share[e] else begin + other[e]


@within
def pick_rejection(values, greatest, shift, total, sparse, begin, end, key, instance, step, draw):
    """The edge, and the draw that comes next."""
    if total == _0:
        return -1, draw
    degree, most = np.uint64(end - begin), units(greatest, shift)
    if multiply_high(degree, most) == _0 and degree * most <= _REJECTS * total:
        for _ in range(TRIALS):
            first, second = philox(key, instance, step, draw)
            draw += _1
            e = begin + np.int64(multiply_high(first, degree))
            if multiply_high(second, most) < units(values[e], shift):
                return e, draw
    first, second = philox(key, instance, step, draw)
    return pick_sparse(values, shift, total, sparse, begin, end, first), draw + _1


@within
def pick_reservoir(values, begin, end, key, instance, step, draw):
    """The edge of the smallest exponential key; two edges that follow each other have the numbers of one block."""
    of_draw = hashed(keyed(key, DRAW_KEY, 0), keyed(key, DRAW_KEY, 1), draw)
    chosen, least, numbers = np.int64(-1), np.inf, np.empty(min(end - begin + 1, KEYS_AT_ONCE), np.uint64)
    for chunk in range(begin, end, KEYS_AT_ONCE):
        many = min(end - chunk, KEYS_AT_ONCE)
        fill(of_draw, instance, step, chunk - begin, many, numbers)
        for k in range(many):
            bias = values[chunk + k]
            if bias > 0 and may_be_less(numbers[k], bias, least):
                one = exponential_key(numbers[k], bias)
                if chosen < 0 or one < least:
                    chosen, least = np.int64(chunk + k), one
    return chosen


@within
def pick(method, row, begin, end, key, instance, step, draw, a: Picks):
    """The edge, -1 where there is none to draw, and the draw that comes next."""
    if begin >= end:
        return -1, draw
    if method == REJECTION:
        shift = shift_of(a.shifts, row)
        return pick_rejection(
            a.values, a.greatest[row], shift, a.totals[row], a.table, begin, end, key, instance, step, draw
        )
    if method == RESERVOIR:
        return pick_reservoir(a.values, begin, end, key, instance, step, draw), draw + _1
    first, second = philox(key, instance, step, draw)
    if method == INVERSE:
        return pick_inverse(a.table, begin, end, first), draw + _1
    if method == ALIAS:
        return pick_alias(a.table, a.other, a.totals[row], begin, end, first, second), draw + _1
    return pick_uniform(begin, end, first), draw + _1


@twin
def pick_edges(n, rows, instances, method, key, step, edges, draws, a: Picks):
    for i in range(n):
        row = rows[i]
        edges[i], draw = pick(
            method, row, a.indptr[row], a.indptr[row + 1], key, np.uint64(instances[i]), np.uint64(step),
            np.uint64(draws[i]), a,
        )  # fmt: skip
        draws[i] = draw
