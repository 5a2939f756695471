"""Integers that are in the order of floats, and back, for other twins. Twin of ordered.cuh."""

import numpy as np

from graphdask.kernels.common.twin import twin


@twin
def ordered(x):
    """An integer for each float that is not NaN, in the same order; 0.0 and -0.0 have the same one."""
    bits = np.float64(x + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ np.int64(0x7FFFFFFFFFFFFFFF)


@twin
def of_ordered(key, none):
    """The float of such an integer; of one that no float has, `none`."""
    value = np.int64(key if key >= 0 else key ^ np.int64(0x7FFFFFFFFFFFFFFF)).view(np.float64)
    return value if value == value else none
