"""What callers give to be drawn, checked: mappings, pairs and arrays of numbers; or an error that names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.partition.given import given_array, given_sequence


def mapping(name: str, given: Any, otherwise: str) -> dict[str, Any]:
    """Return a mapping as a dictionary whose keys are text."""
    if not isinstance(given, Mapping):
        raise InputError(f"{name}={shown(given)} is {otherwise}")
    return {str(label): value for label, value in given.items()}


def numbers(name: str, given: Any) -> np.ndarray:
    """Return numbers as an array of float64 of one dimension."""
    values = given_array(name, given)
    if values.ndim == 1 and values.dtype.kind in "biufO":
        try:
            return values.astype(np.float64)
        except Exception:  # of objects, whatever these raise
            pass
    raise InputError(f"{name}={shown(given)} is not a sequence of numbers")


def points(name: str, given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a pair (x, y) as two arrays of one length."""
    pair = given_sequence(name, given, "not a pair (x, y)")
    if len(pair) != 2:
        raise InputError(f"{name}={shown(given)} is not a pair (x, y)")
    x, y = (numbers(f"{name}[{place}]", each) for place, each in enumerate(pair))
    if len(x) != len(y):
        raise InputError(f"{name} has {len(x)} values of x and {len(y)} of y; it is a pair of as many")
    return x, y
