"""Values for arguments: right ones, odd ones of right types, and ones of wrong types, by what chooses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from graphdask.selftest.choices import Choices

WHOLE = (0, 1, 2, 3, 5, -1, 7, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 10**12)
FLOATS = (0.0, 1.0, 0.5, 2.5, -1.0, -0.0, 1e308, 5e-324, float("inf"), float("-inf"), float("nan"))
TEXTS = ("a", "b", "1", "", " ", "\u00e9", "a\nb", "a\0b", "\ud800", "NA", "x" * 500)
INTEGERS = ("int64", "int32", "int8", "int16", "uint8", "uint16", "uint32", "uint64", ">i4", ">i8")
OTHER = (
    "float64", "float32", "float16", "bool", "longdouble", "complex128", "U3", "S3", "O", "M8[s]", "m8[s]", "V4",
)  # fmt: skip
LENGTHS = (2, 3, 1, 0, 4, 8, 40)


class Bare:
    """An object that can do nothing."""


def any_value(choices: Choices) -> Any:
    """A value of any kind."""
    return choices.among(MAKERS)(choices)


def array(choices: Choices) -> Any:
    """An array, or what may stand in its place: a list, a view with steps, one with more axes, a read-only one."""
    length, small = choices.among(LENGTHS), not choices.one_in(4)
    kind = choices.among(INTEGERS if not choices.one_in(3) else OTHER)
    values = np.array([_number(choices, small) for _ in range(length)], object)
    made = _cast(values, kind)
    return choices.among(SHAPES)(made)


def _number(choices: Choices, small: bool) -> Any:
    return choices.below(6) if small else choices.among((*WHOLE, *FLOATS))


def _cast(values: np.ndarray, kind: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return values.astype(kind)
        except (ValueError, TypeError, OverflowError):  # infinite as an integer, void
            return np.zeros(len(values), kind)


SHAPES: tuple[Callable[[np.ndarray], Any], ...] = (
    lambda a: a,
    lambda a: a.tolist() if a.dtype.kind != "V" else a,
    lambda a: tuple(a),
    lambda a: a[::-1],
    lambda a: np.repeat(a, 2)[::2],
    lambda a: a.reshape(-1, 1),
    lambda a: a.reshape(1, -1)[0],
    lambda a: np.broadcast_to(a[0], len(a)) if len(a) else a,
    lambda a: np.ma.masked_array(a, np.arange(len(a)) % 2 == 1),
    lambda a: iter(a.tolist()),
    lambda a: range(len(a)),
    lambda a: a[0] if len(a) else a,
)


def _matrix(choices: Choices) -> Any:
    """A sparse matrix, perhaps with indices that lead outside."""
    shape = (choices.among((3, 2, 0, 1)), choices.among((3, 2, 0, 1)))
    made = choices.among((sp.csr_matrix, sp.coo_array, sp.csc_array, sp.csr_array, sp.lil_array))(shape)
    if made.format == "csr" and shape[0] and choices.one_in(2):
        made = type(made)(np.ones(shape))
        if made.nnz and choices.one_in(2):
            getattr(made, choices.among(("indices", "indptr")))[0] = choices.among(WHOLE[:8]) % 2**31
    return made


MAKERS: tuple[Callable[[Choices], Any], ...] = (
    array,
    lambda c: c.among(WHOLE),
    lambda c: c.among(FLOATS),
    lambda c: c.among(TEXTS),
    lambda c: c.among((None, True, False, ..., NotImplemented)),
    lambda c: [c.among(WHOLE) for _ in range(c.among(LENGTHS))],
    lambda c: [c.among(TEXTS) for _ in range(c.among(LENGTHS))],
    lambda c: [any_value(c) for _ in range(c.below(3))],
    lambda c: {c.among(TEXTS): any_value(c) for _ in range(c.below(3))},
    lambda c: (array(c), array(c)),
    _matrix,
    lambda c: c.among(WHOLE) + c.among((0.5, 0.0)),
    lambda c: np.dtype(c.among(INTEGERS)).type(1),
    lambda c: np.array(c.among(FLOATS)),
    lambda c: c.among((Bare, object, set, bytearray, dict, list, tuple))(),
    lambda c: c.among((len, Bare, np, b"a", 1j, range(3), 10**400, slice(None))),
)
