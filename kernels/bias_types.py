"""What biases that are whole numbers and biases that are floats differ in."""

import numpy as np
from numba import types
from numba.extending import overload

from graphdask.kernels.hash import multiply_high
from graphdask.kernels.selection import fraction


def is_kept(number, bias, bound):
    """Whether a number keeps a candidate: with probability bias / bound, of floats to within 2^-53."""
    raise NotImplementedError  # for compiled code


@overload(is_kept, jit_options={"nogil": True, "error_model": "numpy"}, inline="never")
def _is_kept(number, bias, bound):
    if isinstance(bound, types.Float):
        return lambda number, bias, bound: fraction(number) * bound < bias
    return lambda number, bias, bound: np.int64(multiply_high(number, np.uint64(bound))) < bias


def keep_bias(units, place, bias):
    """Store a bias as selection_pick wants it: a whole number, or the bits of a float."""
    raise NotImplementedError  # for compiled code


@overload(keep_bias, jit_options={"nogil": True, "error_model": "numpy"}, inline="never")
def _keep_bias(units, place, bias):
    if isinstance(bias, types.Float):

        def of_float(units, place, bias):
            units.view(np.float64)[place] = bias if bias > 0 else 0.0

        return of_float

    def of_integer(units, place, bias):
        units[place] = bias

    return of_integer
