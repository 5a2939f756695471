"""What a caller gives where an array is wanted, as an array of NumPy or, where that is wanted and the values are on a
GPU, of CuPy; or an error that names the argument.

Everything that takes arrays of the caller does it here: lists, ranges, and objects with `__array__`, `__dlpack__`,
`__cuda_array_interface__`, `__arrow_c_stream__` or `__arrow_c_array__`, such as those of NumPy, CuPy, PyTorch, JAX,
pandas, polars and Arrow.
"""

from __future__ import annotations

import marshal
from collections.abc import KeysView, Mapping, ValuesView
from operator import countOf
from typing import Any

import numpy as np

from graphdask.device.arrays import device_array, is_array
from graphdask.device.backend import Array
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, shown
from graphdask.partition.conversions import class_of

ELEMENT = 32
"""Bytes of an element of a Python sequence, as an object and in the array that is made of it."""
_MARSHALLED = np.dtype([("kind", "u1"), ("number", "<i4")])
"""An int of 32 bits as `marshal` writes it."""


def given_array(name: str, values: Any) -> np.ndarray:
    """Return an array of the values of an argument, of whatever shape and dtype, in the host's memory.

    Numbers among strings stay numbers, in an array of objects. Values on a GPU are copied from there.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : array-like

    Raises
    ------
    InputError
        For masked values, and for what no array can be made of.
    MissingDependency
        If the values are on a GPU, and CuPy is not installed.
    OverBudget
        For a sequence of more elements than memory can hold.
    """
    there = device_array(name, values)
    return _of_host(name, values) if there is None else there.get()


def given_where_it_is(name: str, values: Any) -> Array:
    """Return an array of the values of an argument as `given_array`; of CuPy, without a copy, if they are on a GPU."""
    there = device_array(name, values)
    return _of_host(name, values) if there is None else there


def _of_host(name: str, values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        first = int(np.flatnonzero(np.ma.getmaskarray(values).reshape(-1))[0])
        raise InputError(f"{name}[{first}] is masked; fill it in, or leave it out")
    if isinstance(values, np.ndarray):
        return np.asarray(values)
    try:
        count = len(values)
    except Exception:  # of whatever a caller gives, as below
        count = 0
    refuse_beyond_memory(f"{name}: {count:,} elements", ELEMENT * count, "give fewer")
    try:
        if isinstance(values, list | tuple):
            return _of_elements(values)
        if isinstance(values, range) and values and max(map(abs, (values.start, values.stop, values.step))) < 2**63:
            return np.arange(values.start, values.stop, values.step, dtype=np.int64)
        if hasattr(type(values), "to_arrow") and hasattr(values, "__arrow_array__"):  # strings of cuDF
            return of_arrow(values.to_arrow())
        if hasattr(values, "__array__") and not _is_arrow(values):
            return _of_protocol(values)
        return _exported(values) if is_array(values) else np.asarray(values)
    except Exception as error:
        raise InputError(f"{name} is no array: {_reason(values, error)}") from error


def _is_arrow(values: Any) -> bool:
    return type(values).__module__.partition(".")[0] == "pyarrow"


def _of_protocol(values: Any) -> np.ndarray:
    """What NumPy makes of an object; Arrow of those columns of pandas whose types NumPy has not."""
    try:
        return np.asarray(values)
    except NotImplementedError:
        if not hasattr(values, "__arrow_c_stream__"):
            raise
    return _exported(values)


def _of_elements(values: list[Any] | tuple[Any, ...]) -> np.ndarray:
    """An array of a list, by the kinds of its elements: NumPy asks each of many more questions."""
    numbers = plain_numbers(values)
    if numbers is not None:
        return numbers
    kinds = set(map(type, values))
    if kinds and all(kind is int or _whole(kind) for kind in kinds):
        return _of_whole_numbers(values if kinds == {int} else list(map(int, values)))
    if any(issubclass(kind, str) for kind in kinds):
        return np.array([*values, None], object)[:-1]  # NumPy would make names of the numbers among them
    return np.asarray(values)


def _of_whole_numbers(values: list[Any] | tuple[Any, ...]) -> np.ndarray:
    """An array of ints that has each of them: of int64, uint64 or objects. NumPy makes floats of some above 2**63."""
    for dtype in (np.int64, np.uint64):
        try:
            return np.fromiter(values, dtype, len(values))
        except OverflowError:
            continue
    return np.array(values, object)


def _whole(kind: type) -> bool:
    """Whether values of a type are whole numbers of NumPy; durations are a kind of its integers, and are none."""
    return issubclass(kind, np.integer) and np.dtype(kind).kind in "iu"


def plain_numbers(values: list[Any] | tuple[Any, ...]) -> np.ndarray | None:
    """Return the numbers of a list or tuple that has only plain ints of 32 bits, as int64, or only NumPy's integers of
    one type, as that; None for any other.

    Marshalling writes a byte for the type of each element before its value, so one pass in C checks both. NumPy would
    make numbers of floats and bools too, and asking for the type of each takes as long as its value.
    """
    ends = (values[0], values[-1]) if values else ()
    if not ends:
        return None
    kind = type(ends[0])
    if _whole(kind):
        return np.frombuffer(b"".join(values), kind).copy() if countOf(map(type, values), kind) == len(values) else None
    if not all(type(end) is int and -(2**31) <= end < 2**31 for end in ends):
        return None
    try:
        written = marshal.dumps(values, 2)  # the version without references between elements
    except ValueError:  # an element that cannot be marshalled
        return None
    header = 5 if len(written) == 5 + 5 * len(values) else 0  # the type of the sequence, and its length
    elements = np.frombuffer(written, _MARSHALLED, len(values) if header else 0, header)
    if not header or (elements["kind"] != ord("i")).any():
        return None
    return elements["number"].astype(np.int64)


def _exported(values: Any) -> np.ndarray:
    """An array of an object that has no `__array__`: of Arrow's data interface, else of DLPack."""
    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        import pyarrow

        make = pyarrow.chunked_array if hasattr(values, "__arrow_c_stream__") else pyarrow.array
        made = make(values)
        if pyarrow.types.is_struct(made.type):
            raise TypeError(f"it is a table; give one of its columns, such as {made.type.field(0).name!r}")
        return of_arrow(made)
    return np.from_dlpack(values)


def of_arrow(column: Any) -> np.ndarray:
    """Return the values of an array of Arrow; of a dictionary those that it stands for, with None or NaN for nulls, for
    which pyarrow gives the first of the dictionary if there are chunks."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column)


def given_sequence(name: str, values: Any, otherwise: str) -> list[Any]:
    """Return the elements of a sequence, of an array of one dimension, or of a mapping's keys or values.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : sequence
    otherwise : str
        What a value is that is none, such as "not a sequence of whole numbers, one for each hop".

    Raises
    ------
    InputError
        For text, and for what is no sequence.
    OverBudget
        For a sequence of more elements than memory can hold.
    """
    if is_array(values):
        values = given_array(name, values)
    ordered = hasattr(values, "__getitem__") or isinstance(values, KeysView | ValuesView)
    wrong = isinstance(values, str | bytes | bytearray | memoryview | Mapping) or not ordered
    wrong = wrong or (isinstance(values, np.ndarray) and values.ndim != 1)
    try:
        count = len(values)
    except Exception:  # of whatever a caller gives
        wrong = True
    if not wrong:
        refuse_beyond_memory(f"{name}: {count:,} elements", ELEMENT * count, "give fewer")
        try:
            return list(values)
        except Exception:
            wrong = True
    raise InputError(f"{name}={shown(values)} is {otherwise}")


def _reason(values: Any, error: Exception) -> str:
    """Why there is no array, in the words of NumPy but for ragged lists; other objects may say anything."""
    if isinstance(error, ValueError) and "inhomogeneous" in str(error):
        return "its elements have different lengths"
    if isinstance(error, ValueError | TypeError | OverflowError):
        return str(error)[:300]
    return f"NumPy makes none of a {class_of(values)}"
