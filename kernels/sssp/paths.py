"""Lengths of paths on a CPU, for other twins: what stands for an unreached vertex, sums, labels. Twin of paths.cuh."""

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


def plus(distance, weight):
    """Their sum; of integers whose sum is too large a negative number (Numba takes it that signed sums never are)."""
    return distance + weight


@overload(plus, inline="always")
def _plus(distance, weight):
    if isinstance(distance, types.Float):
        return lambda distance, weight: distance + weight
    return lambda distance, weight: np.int64(np.uint64(distance) + np.uint64(weight))


def at_least(number, distance):
    """The smallest distance, of the type of `distance`, that is not below a float; unreached where there is none."""
    return number if distance.dtype.kind == "f" else int(min(np.ceil(number), unreached(distance)))


@overload(at_least, inline="always")
def _at_least(number, distance):
    if isinstance(distance.dtype, types.Float):
        return lambda number, distance: number
    most = np.iinfo(str(distance.dtype)).max
    return lambda number, distance: np.int64(np.ceil(number)) if number < most else np.int64(most)


def distance_of(label, limit):
    """The distance in a label: all of it, or where it is wider than distances (such as `limit`) the upper half."""
    return label if label.dtype == limit.dtype else label >> 32


@overload(distance_of, inline="always")
def _distance_of(label, limit):
    if label == limit:
        return lambda label, limit: label
    return lambda label, limit: label >> 32


def improves(label, before, parent):
    """Whether a label is below the last; where parents are kept, an equal label may have another parent."""
    return label < before or (parent is not None and label == before)


@overload(improves, inline="always")
def _improves(label, before, parent):
    if isinstance(parent, types.NoneType):
        return lambda label, before, parent: label < before
    return lambda label, before, parent: label <= before


def label_of(distance, id, labels, limit):
    """What stands in `labels` for a distance from the vertex `id`."""
    return distance if labels.dtype == limit.dtype else distance << 32 | id


@overload(label_of, inline="always")
def _label_of(distance, id, labels, limit):
    if labels.dtype == limit:
        return lambda distance, id, labels, limit: distance
    return lambda distance, id, labels, limit: distance << 32 | id


MACROS = [
    {"index_t": "int", "weight_t": "int", "dist_t": "int"},
    {"index_t": "int", "weight_t": "int", "dist_t": "long long"},
    {"index_t": "int", "weight_t": "long long", "dist_t": "int"},
    {"index_t": "int", "weight_t": "long long", "dist_t": "long long"},
    {"index_t": "int", "weight_t": "float", "dist_t": "double"},
    {"index_t": "int", "weight_t": "double", "dist_t": "double"},
    {"index_t": "long long", "weight_t": "long long", "dist_t": "long long"},
]
"""Types of the kernels that work on distances, for the compiler."""
