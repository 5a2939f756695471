"""Biases that functions return: what is none, and what whole numbers and floats differ in."""

import numpy as np
from numba import types
from numba.extending import overload

from graphdask.kernels.choice.selection import ABOVE_BOUND, NO_BIAS, fraction
from graphdask.kernels.common.hash import inlined, multiply_high
from graphdask.kernels.common.twin import within


@inlined
def failing(failure, reason):
    if failure[0] == 0:
        failure[0] = reason


@within
def checked(bias, failure):
    """The bias; 0 and a failure where it is none."""
    if bias >= 0 and bias < np.inf:
        return bias if bias > 0 else 0
    failing(failure, NO_BIAS)
    return 0


@within
def kept_or_failing(number, bias, bound, failure):
    """Whether a number keeps a candidate of a bias, which is checked."""
    bias = checked(bias, failure)
    if bias > bound:
        failing(failure, ABOVE_BOUND)
    return is_kept(number, bias, bound)


def is_kept(number, bias, bound):
    """Whether a number keeps a candidate: with probability bias / bound, of floats to within 2^-53."""
    raise NotImplementedError  # for compiled code


@overload(is_kept, jit_options={"nogil": True, "error_model": "numpy"}, inline="never")
def _is_kept(number, bias, bound):
    if isinstance(bound, types.Float):
        return lambda number, bias, bound: fraction(number) * bound < bias
    return lambda number, bias, bound: np.int64(multiply_high(number, np.uint64(bound))) < bias


def keep_bias(units, place, bias):
    """Store a bias as selection_pick wants it: a whole number, or the bits of a float; whether it is one."""
    raise NotImplementedError  # for compiled code


@overload(keep_bias, jit_options={"nogil": True, "error_model": "numpy"}, inline="never")
def _keep_bias(units, place, bias):
    if isinstance(bias, types.Float):

        def of_float(units, place, bias):
            units.view(np.float64)[place] = bias if bias > 0 else 0.0
            return True

        return of_float

    def of_integer(units, place, bias):
        units[place] = bias
        return False

    return of_integer
