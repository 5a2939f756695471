"""Exponential keys, of which the smallest are kept: choosing in proportion to biases in one pass. Twin of keys.cuh.

The smallest of numbers with exponential laws is that of rate b with a probability in proportion to b, and so on for the
others: the k smallest are k choices without replacement.

Source: Efraimidis and Spirakis, Weighted random sampling with a reservoir, Information Processing Letters 97, 2006.
"""

import numpy as np

from graphdask.kernels.common.hash import inlined
from graphdask.kernels.common.sorting import sort_part
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.functions.user import logarithm

_1, _11, _MOST = np.uint64(1), np.uint64(11), np.uint64((1 << 53) - 1)
_LESS = 1.1102230246251565e-16 * (1 - 2.0**-30)


@inlined
def exponential_key(number, bias):
    """A 64-bit number as one with the exponential law whose rate is the bias."""
    return -logarithm(np.float64(np.int64((number >> _11) + _1)) * 1.1102230246251565e-16) / np.float64(bias)


@inlined
def may_be_less(number, bias, than):
    """Whether the key of a number may be another one or less: without the logarithm, as -log(u) is 1 - u at least."""
    return np.float64(np.int64(_MOST - (number >> _11))) * _LESS <= than * np.float64(bias)


@within
def keep_key(keys, places, begin, made, count, key, place):
    """Keep the `count` smallest keys in ascending order, from `begin` on where `made` are already, with their places.

    Where there are `count` of them already, the key is less than the last one.

    Returns
    -------
    int
        How many there are then.
    """
    at = begin + made - (made == count)
    made = at - begin + 1
    while at > begin and key < keys[at - 1]:
        keys[at] = keys[at - 1]
        places[at] = places[at - 1]
        at -= 1
    keys[at] = key
    places[at] = place
    return made


@within
def keep_smallest(numbers, biases, first, many, keys, places, begin, made, count):
    """Keep the smallest keys as `keep_key` does, with those of `many` edges from place `first` on too, of which numbers
    and biases, float64, are given; how many there are then."""
    largest = keys[begin + made - 1] if made == count else np.inf
    for k in range(many):
        if not biases[k] > 0 or not may_be_less(numbers[k], biases[k], largest):
            continue
        key = exponential_key(numbers[k], biases[k])
        if made < count or key < largest:
            made = keep_key(keys, places, begin, made, count, key, first + k)
            if made == count:
                largest = keys[begin + made - 1]
    return made


@twin
def ascending(places, begin, end):
    """Sort the places from `begin` to `end`. Kernels with functions of the caller, which are compiled for each of them,
    take a sort from here that is compiled once."""
    sort_part(places, begin, end)
