"""Twins of user.cuh: arithmetic of a user's Python function on 64-bit integers and doubles, the same bits as on a GPU.

What fails stores 16 * site + reason in `failure[0]` and is 0. Integers are handed over as np.int64: Numba compiles a
function again for every literal.
"""

import math

import numpy as np

from graphdask.kernels.common.twin import ONLY_FOR_KERNELS, compiled_by

BY_ZERO, OVERFLOW, ROOT, LOGARITHM, TOO_LARGE = (np.int64(reason) for reason in range(1, 6))
FRACTIONAL_POWER, NO_INTEGER, NEGATIVE_POWER, NO_STEP, NO_END = (np.int64(reason) for reason in range(6, 11))

MOST_STEPS = 1 << 20
"""Steps of all loops together that one call of a function may take."""
SMALLEST_INTEGER = -(1 << 63)
_0, _1, _MOST_ITEMS = np.uint64(0), np.uint64(1), np.uint64(1 << 40)

inlined = compiled_by(cache=True, _nrt=False, **ONLY_FOR_KERNELS)  # see WITHOUT_ARRAYS in twin.py


@inlined
def failed(failure, site, reason):
    if failure[0] == 0:
        failure[0] = 16 * site + reason


@inlined
def smaller(a, b):
    return b if b < a else a


@inlined
def larger(a, b):
    return b if b > a else a


@inlined
def int_add(a, b, failure, site):
    total = np.int64(np.uint64(a) + np.uint64(b))  # Numba lets signed sums assume that they do not overflow
    if ((a ^ total) & (b ^ total)) >= 0:
        return total
    failed(failure, site, OVERFLOW)
    return 0


@inlined
def int_subtract(a, b, failure, site):
    difference = np.int64(np.uint64(a) - np.uint64(b))
    if ((a ^ b) & (a ^ difference)) >= 0:
        return difference
    failed(failure, site, OVERFLOW)
    return 0


@inlined
def int_multiply(a, b, failure, site):
    product = np.int64(np.uint64(a) * np.uint64(b))
    if -(1 << 31) <= a < 1 << 31 and -(1 << 31) <= b < 1 << 31:
        return product
    if a == 0 or b == 0:
        return 0
    if a == -1 or b == -1:
        if product != SMALLEST_INTEGER:
            return product
    elif product // a == b:
        return product
    failed(failure, site, OVERFLOW)
    return 0


@inlined
def int_absolute(a, failure, site):
    return int_subtract(np.int64(0), a, failure, site) if a < 0 else a


@inlined
def int_quotient(a, b, failure, site):
    if b == 0:
        failed(failure, site, BY_ZERO)
        return 0
    if b == -1:
        return int_subtract(np.int64(0), a, failure, site)
    return a // b


@inlined
def int_remainder(a, b, failure, site):
    if b == 0:
        failed(failure, site, BY_ZERO)
        return 0
    if b == -1:
        return 0
    return a % b


@inlined
def int_power(a, n, failure, site):
    if n < 0:
        failed(failure, site, NEGATIVE_POWER)
        return 0
    power = np.int64(1)
    while n:
        if n & 1:
            power = int_multiply(power, a, failure, site)
        n >>= 1
        if n:
            a = int_multiply(a, a, failure, site)
    return power


@inlined
def int_of(x, failure, site):
    if x >= -9223372036854775808.0 and x < 9223372036854775808.0:
        return int(x)
    failed(failure, site, NO_INTEGER)
    return 0


@inlined
def range_length(start, stop, step, failure, site):
    if step == 0:
        failed(failure, site, NO_STEP)
        return 0
    if (step > 0 and start >= stop) or (step < 0 and start <= stop):
        return 0
    a, b, by = np.uint64(start), np.uint64(stop), np.uint64(step)
    length = (b - a - _1) // by + _1 if step > 0 else (a - b - _1) // (_0 - by) + _1
    return np.int64(min(length, _MOST_ITEMS))


@inlined
def range_item(start, step, k):
    return np.int64(np.uint64(start) + np.uint64(step) * np.uint64(k))


@inlined
def add(a, b):
    return a + b


@inlined
def subtract(a, b):
    return a - b


@inlined
def multiply(a, b):
    return a * b


@inlined
def divide(a, b, failure, site):
    if b != 0.0:
        return a / b
    failed(failure, site, BY_ZERO)
    return 0.0


@inlined
def quotient(a, b, failure, site):
    if b == 0.0:
        failed(failure, site, BY_ZERO)
        return 0.0
    rest = np.fmod(a, b)
    ratio = (a - rest) / b
    if rest != 0.0 and (b < 0.0) != (rest < 0.0):
        ratio = ratio - 1.0
    if ratio == 0.0:
        return math.copysign(0.0, a / b)
    whole = np.floor(ratio)
    return whole + 1.0 if ratio - whole > 0.5 else whole


@inlined
def remainder(a, b, failure, site):
    if b == 0.0:
        failed(failure, site, BY_ZERO)
        return 0.0
    rest = np.fmod(a, b)
    if rest == 0.0:
        return math.copysign(0.0, b)
    return rest + b if (b < 0.0) != (rest < 0.0) else rest


@inlined
def root(x, failure, site):
    if not x < 0.0:
        return math.sqrt(x)
    failed(failure, site, ROOT)
    return 0.0


@inlined
def exponential(x):
    k = np.floor(x * 1.4426950408889634 + 0.5)
    high, low = x - k * 0.6931471803691238, k * 1.9082149292705877e-10
    r = high - low
    lost = (high - r) - low
    total = 1.6059043836821613e-10
    total = total * r + 2.08767569878681e-09
    total = total * r + 2.505210838544172e-08
    total = total * r + 2.755731922398589e-07
    total = total * r + 2.7557319223985893e-06
    total = total * r + 2.48015873015873e-05
    total = total * r + 0.0001984126984126984
    total = total * r + 0.001388888888888889
    total = total * r + 0.008333333333333333
    total = total * r + 0.041666666666666664
    total = total * r + 0.16666666666666666
    total = total * r + 0.5
    rest = r * r * total + lost
    half = np.int32(np.floor(k * 0.5))
    power = (1.0 + (r + rest)) * math.ldexp(1.0, half)
    return power * math.ldexp(1.0, np.int32(np.int32(k) - half))


@inlined
def logarithm(x):
    m, exponent = math.frexp(x)
    if m < 0.7071067811865476:
        m = m * 2.0
        exponent -= 1
    k, f = float(exponent), m - 1.0
    s = f / (2.0 + f)
    z = s * s
    total = 0.08
    total = total * z + 0.08695652173913043
    total = total * z + 0.09523809523809523
    total = total * z + 0.10526315789473684
    total = total * z + 0.11764705882352941
    total = total * z + 0.13333333333333333
    total = total * z + 0.15384615384615385
    total = total * z + 0.18181818181818182
    total = total * z + 0.2222222222222222
    total = total * z + 0.2857142857142857
    total = total * z + 0.4
    total = total * z + 0.6666666666666666
    less = s * (f - z * total)
    return k * 0.6931471803691238 + (f - (less - k * 1.9082149292705877e-10))


@inlined
def exp(x, failure, site):
    if x != x or x == np.inf:
        return x
    if x < -746.0:
        return 0.0
    power = exponential(x) if x < 710.0 else np.inf
    if power < np.inf:
        return power
    failed(failure, site, TOO_LARGE)
    return 0.0


@inlined
def log(x, failure, site):
    if x != x or x == np.inf:
        return x
    if x > 0.0:
        return logarithm(x)
    failed(failure, site, LOGARITHM)
    return 0.0


@inlined
def positive_power(x, y):
    size = math.fabs(y)
    if size <= 1024.0 and np.floor(size) == size:
        power, square, n = 1.0, x, int(size)
        while n:
            if n & 1:
                power = power * square
            square = square * square
            n >>= 1
        if y > 0.0:
            return power
        if power > 1e-300 and power < 1e300:
            return 1.0 / power
    if size == 0.5:
        return math.sqrt(x) if y > 0.0 else 1.0 / math.sqrt(x)
    exponent = y * logarithm(x)
    if exponent < -746.0:
        return 0.0
    return exponential(exponent) if exponent < 710.0 else np.inf


@inlined
def power(x, y, failure, site):
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return x + y
    base, size = math.fabs(x), math.fabs(y)
    if size == np.inf:
        if base == 1.0:
            return 1.0
        return np.inf if (y > 0.0) == (base > 1.0) else 0.0
    odd = np.fmod(size, 2.0) == 1.0
    if base == np.inf:
        if y > 0.0:
            return x if odd else base
        return math.copysign(0.0, x) if odd else 0.0
    if base == 0.0:
        if y > 0.0:
            return x if odd else 0.0
        failed(failure, site, BY_ZERO)
        return 0.0
    if x < 0.0 and np.floor(y) != y:
        failed(failure, site, FRACTIONAL_POWER)
        return 0.0
    raised = positive_power(base, y)
    if raised < np.inf:
        return -raised if x < 0.0 and odd else raised
    failed(failure, site, TOO_LARGE)
    return 0.0
