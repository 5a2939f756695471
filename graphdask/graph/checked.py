"""Ids and weights that a caller gives, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.arrays import module_of, on_gpu, on_host
from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.errors import InputError, shown
from graphdask.partition.given import given_array

WEIGHT_DTYPES = ("float64", "float32", "int64", "int32")
MOST_ID = 2**63 - 1
"""The largest vertex id, and the largest weight that is a whole number."""


def checked_ids(name: str, values: Any) -> np.ndarray:
    """Check vertex ids that a caller gives; int64, or object of str, on the host."""
    return check_ids(name, given_array(name, values))


def check_ids(name: str, array: Array) -> Array:
    """Check an array of vertex ids; int64, or object of str, or on a GPU int32 or int64."""
    xp = module_of(array)
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension, not shape {array.shape}")
    if array.size == 0:
        return xp.zeros(0, np.int64) if array.dtype.kind not in "UOT" else array.astype(object)
    if array.dtype.kind in "iu":
        if array.dtype.kind == "u" and int(array.max()) > MOST_ID:
            place = int(xp.argmax(array > np.uint64(MOST_ID)))
            raise InputError(f"{name}[{place}] = {int(array[place])} is above the largest vertex id, 2**63 - 1")
        if array.dtype.kind == "i" and int(array.min()) < 0:
            place = int(xp.argmax(array < 0))
            raise InputError(f"{name}[{place}] = {int(array[place])} is negative; vertex ids start at 0")
        narrow = on_gpu(array) and array.dtype == np.int32
        return array if narrow else array.astype(np.int64, copy=False)
    array = on_host(array)  # no ids are of another kind but names, which no GPU has
    if array.dtype.kind in "UT" or (array.dtype.kind == "O" and all(isinstance(x, str) for x in array)):
        return _writable(name, array.astype(object))
    if array.dtype.kind == "O":
        return _numbers_among_objects(name, array)
    if array.dtype.kind == "f" and np.isnan(array).any():
        place = int(np.argmax(np.isnan(array)))
        raise InputError(f"{name}[{place}] is missing, or NaN; fill it in, or leave the edge out")
    why = "; where ids are missing, whole numbers become floats" if array.dtype.kind == "f" else ""
    first = shown(array[0])
    raise InputError(
        f"{name} has the dtype {array.dtype}; vertex ids are whole numbers or strings (its first is {first}){why}"
    )


def _writable(name: str, names: np.ndarray) -> np.ndarray:
    """Return the names once each is a string that a file can hold."""
    try:
        "".join(names).encode()
    except (TypeError, UnicodeEncodeError):
        for place, value in enumerate(names):
            if not isinstance(value, str):
                raise InputError(f"{name}[{place}] is missing; fill it in, or leave the edge out") from None
            if any("\ud800" <= character <= "\udfff" for character in value):
                raise InputError(
                    f"{name}[{place}] = {shown(value)} has a lone surrogate, which is no character and which no file "
                    "can hold; give the vertex another id"
                ) from None
        raise
    return names


def _numbers_among_objects(name: str, array: np.ndarray) -> np.ndarray:
    names = isinstance(array[0], str)
    for place, value in enumerate(array):
        if names and isinstance(value, str):
            continue
        gone = value is None or type(value).__name__ in ("NAType", "NaTType")
        if gone or (isinstance(value, float) and np.isnan(value)):
            raise InputError(f"{name}[{place}] = {shown(value)} is missing; fill it in, or leave the edge out")
        number = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if names or not number:
            kind = "neither a whole number nor a string"
            if number or isinstance(value, str):
                kind = "not of the same kind as the others; ids are all whole numbers, or all strings"
            raise InputError(f"{name}[{place}] = {shown(value)} is {kind}")
        if not 0 <= value <= MOST_ID:
            bound = "negative; vertex ids start at 0" if value < 0 else "above the largest vertex id, 2**63 - 1"
            raise InputError(f"{name}[{place}] = {value} is {bound}")
    return array.astype(np.int64)


def checked_weights(values: Any, count: int, name: str = "weights") -> np.ndarray | None:
    """Check weights that a caller gives, one for each edge; of a dtype that weights may have, on the host."""
    return None if values is None else check_weights(given_array(name, values), count, name)


def _first(array: Array) -> str:
    """Which of some objects is the first that is no weight, in words."""

    def wrong(value: Any) -> bool:
        return not isinstance(value, int | float) or (isinstance(value, int) and abs(value) > MOST_ID)

    place = next((place for place, value in enumerate(array) if wrong(value)), 0) if array.dtype.kind == "O" else 0
    return f" ([{place}] is {shown(array[place])})" if array.size else ""


def check_weights(array: Array, count: int, name: str = "weights") -> Array:
    """Check an array of weights, one for each edge; of a dtype that weights may have."""
    xp = module_of(array)
    if array.shape != (count,):
        raise InputError(f"{name} has the shape {array.shape}; one for each of the {count} edges is needed")
    if array.dtype.name not in WEIGHT_DTYPES:
        if array.dtype.kind not in "iufb":
            raise InputError(f"{name} has the dtype {array.dtype}; weights are whole numbers or floats{_first(array)}")
        if array.dtype.kind == "u" and array.size and int(array.max()) > MOST_ID:
            place = int(xp.argmax(array > np.uint64(MOST_ID)))
            raise InputError(f"{name}[{place}] = {int(array[place])} is above 2**63 - 1; give the weights as floats")
        array = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    if array.dtype.kind == "f" and any_set(xp.isnan(array)):
        raise InputError(f"{name}[{int(xp.argmax(xp.isnan(array)))}] is NaN; every edge needs a weight")
    return xp.ascontiguousarray(array)
