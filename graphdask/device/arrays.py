"""Arrays of other libraries: which objects are arrays, which of them are on a GPU, and how CuPy takes those there.

An object is an array if it has one of the protocols below. DLPack says on which device the values are, and makes the
reader's stream wait for them; so it goes before CUDA's array interface where an object has both.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend, get_backend
from graphdask.device.residency import sent
from graphdask.errors import GraphdaskError, InputError, MissingDependency

PROTOCOLS = ("__array__", "__dlpack__", "__cuda_array_interface__", "__arrow_c_stream__", "__arrow_c_array__")
CUDA = (2, 13)
"""Kinds of devices of DLPack: memory of a GPU, and managed memory."""


def is_array(value: Any) -> bool:
    """Whether a value has a protocol of arrays."""
    return any(hasattr(value, name) for name in PROTOCOLS)


def cuda_device(values: Any) -> int | None:
    """Return the number of the CUDA device that has the values; None for those of the host, and for what is no array.

    The array interface does not state a number, so it is 0; CuPy finds the device by the address.
    """
    kind_of = getattr(values, "__dlpack_device__", None)
    if kind_of is not None:
        try:
            kind, number = kind_of()
        except Exception:  # what an object raises that may not be exported is the reason of an error later
            return None
        return int(number) if int(kind) in CUDA else None
    return 0 if hasattr(values, "__cuda_array_interface__") else None


def device_array(name: str, values: Any) -> Array | None:
    """Return what is on a GPU as an array of CuPy, without a copy, once its values are there; None for anything else.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : array-like

    Raises
    ------
    MissingDependency
        If the values are on a GPU, and CuPy is not installed.
    InputError
        If CuPy cannot take the object, for the reason that it gives.
    """
    number = cuda_device(values)
    if number is None:
        return None
    try:
        xp = get_backend("cuda", number).xp
    except GraphdaskError as error:
        raise MissingDependency(
            f"{name} is on a GPU, and CuPy, with which graphdask reads it there, is not installed or finds no device: "
            'pip install "graphdask[cuda13]" (or cuda12, after your driver); "graphdask doctor" says what is missing'
        ) from error
    if not hasattr(values, "__dlpack__") and values.__cuda_array_interface__.get("mask") is not None:
        raise InputError(f"{name} is on a GPU and has missing values; fill them in, or leave them out")
    try:
        if isinstance(values, xp.ndarray):
            found = values
        else:
            found = xp.from_dlpack(values) if hasattr(values, "__dlpack__") else xp.asarray(values)
        with xp.cuda.Device(found.device.id):
            xp.cuda.get_current_stream().synchronize()
    except Exception as error:  # whatever an object that a caller gives raises
        raise InputError(f"{name} is on a GPU, and CuPy makes no array of it: {str(error)[:300]}") from error
    return found


def on_gpu(array: Array) -> bool:
    """Whether an array of NumPy or CuPy is CuPy's."""
    return hasattr(array, "get")


def module_of(array: Array) -> Any:
    """Return the module with the functions for an array of NumPy or CuPy."""
    return get_backend("cuda", array.device.id).xp if on_gpu(array) else np


def on_host(array: Array) -> np.ndarray:
    """Return an array of NumPy or CuPy as one of NumPy; the array itself where it is one."""
    return array.get() if on_gpu(array) else array


def brought(backend: Backend, array: Array) -> Array:
    """Return an array of NumPy or CuPy on a backend's device; the array itself where it is there."""
    if backend.name == "cpu":
        return on_host(array)
    return backend.xp.asarray(array) if on_gpu(array) else sent(backend, array)


def minus_ones(xp: Any, length: int, dtype: Any) -> Array:
    """Return an array of -1, whose dtype is a signed integer. On a GPU bytes are set, so that CuPy compiles nothing."""
    made = xp.empty(length, dtype)
    if xp is np:
        made.fill(-1)
    elif length:
        made.data.memset_async(0xFF, made.nbytes)
    return made
