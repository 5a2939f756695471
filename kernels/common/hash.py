"""Twins of hash.cuh: the counter-based 64-bit hash and its keys, the same bits as on a GPU."""

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from graphdask.kernels.common.compiling import listen_to_numba

listen_to_numba()

DRAW_TARGET = np.uint64(1)
DRAW_FRACTION = np.uint64(2)
DRAW_AGAIN = np.uint64(4)
DRAW_ENDPOINT = np.uint64(5)
DRAW_REDRAW = np.uint64(16)
DRAW_QUADRANTS = np.uint64(64)  # and the next 7, one for each hash of an edge
DRAW_LABEL = np.uint64(72)  # and the next 7, one for each round
DRAW_PAIR = np.uint64(128)  # and the next 127, one for each round

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
_PAIR_FIRST, _PAIR_SECOND = np.uint64(0x9E3779B1), np.uint64(0x85EBCA6B)
_PAIR_1 = np.uint64(0xDABA0B6EB09322E3)
_PAIR_2 = np.uint64(0xD6E8FEB86659FD93)
_2, _27, _30, _31, _32 = np.uint64(2), np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_MULTIPLY_3 = np.uint64(0x9FB21C651E98DF25)
_15, _24, _28, _40, _49 = np.uint64(15), np.uint64(24), np.uint64(28), np.uint64(40), np.uint64(49)

inlined = numba.njit(nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)


@intrinsic
def multiply_high(typingctx, a, b):
    """High 64 bits of the product of two unsigned 64-bit integers: one machine instruction."""

    def codegen(context, builder, signature, arguments):
        wide, narrow = ir.IntType(128), ir.IntType(64)
        a, b = (builder.zext(argument, wide) for argument in arguments)
        return builder.trunc(builder.lshr(builder.mul(a, b), ir.Constant(wide, 64)), narrow)

    return types.uint64(types.uint64, types.uint64), codegen


@inlined
def mix(x):
    x = (x ^ (x >> _30)) * _MULTIPLY_1
    x = (x ^ (x >> _27)) * _MULTIPLY_2
    return x ^ (x >> _31)


@inlined
def key(seed, what, part):
    return mix(mix(seed + GOLDEN) + (_2 * what + np.uint64(part)) * GOLDEN)


@inlined
def hashed(key_0, key_1, identity):
    x = identity ^ key_0
    x = (x ^ (x >> _30)) * _MULTIPLY_1
    x = (x ^ (x >> _27) ^ key_1) * _MULTIPLY_2
    return x ^ (x >> _31)


@inlined
def hashed_pair(key, a, b):
    x = a * _PAIR_FIRST + ((b * _PAIR_SECOND) << _32)
    x = (x ^ (x >> _32) ^ (key & _LOW)) * _PAIR_1
    x = (x ^ (x >> _32) ^ (key >> _32)) * _PAIR_2
    return x ^ (x >> _32)


@inlined
def hashed_counter(key_0, key_1, identity):
    x = identity ^ key_0
    x = (x ^ (x >> _49 | x << _15) ^ (x >> _24 | x << _40)) * _MULTIPLY_3
    x = (x ^ (x >> _28) ^ key_1) * _MULTIPLY_3
    return x ^ (x >> _28)
