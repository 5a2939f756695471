"""What a caller gives where an array is wanted, as an array of NumPy; or an error that names the argument."""

from __future__ import annotations

from collections.abc import KeysView, Mapping, ValuesView
from typing import Any

import numpy as np

from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError, shown
from graphdask.partition.conversions import class_of

ELEMENT = 32
"""Bytes of an element of a Python sequence, as an object and in the array that is made of it."""


def given_array(name: str, values: Any) -> np.ndarray:
    """Return an array of the values of an argument, of whatever shape and dtype.

    Numbers among strings stay numbers, in an array of objects.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : array-like

    Raises
    ------
    InputError
        For masked values, and for what no array can be made of.
    OverBudget
        For a sequence of more elements than memory can hold.
    """
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
    if isinstance(values, list | tuple) and any(isinstance(value, str) for value in values):
        return np.array([*values, None], object)[:-1]  # NumPy would make names of the numbers among them
    try:
        return np.asarray(values)
    except Exception as error:
        raise InputError(f"{name} is no array: {_reason(values, error)}") from error


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
