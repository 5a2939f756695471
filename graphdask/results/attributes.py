"""Columns of the graph beside those of results and samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.device.backend import Array, get_backend
from graphdask.errors import InputError, Unsupported, shown

DEVICES = ("cpu", "cuda")


def with_columns(frame: Any, names: Any, attributes: Any, taken: Callable[[list[str]], Any]) -> Any:
    """Return a data frame with columns of the graph.

    Parameters
    ----------
    frame : pandas.DataFrame
    names : sequence of str
    attributes : Attributes or None
        The columns that the graph has.
    taken : function of list of str
        Gives the values of these, a mapping or a data frame.

    Raises
    ------
    InputError
        For a column that is not there, or that the frame has already.
    """
    if isinstance(names, list | tuple) and not names:
        return frame
    from graphdask.graph.attributes import chosen

    wanted = chosen("columns", names, attributes)
    for name in wanted:
        if name in frame.columns:
            raise InputError(f"columns: the frame has a column {shown(name)} of its own; rename that of the graph")
    values = taken(wanted)
    for name in wanted:
        frame[name] = values[name]
    return frame


def on_device(name: str, values: np.ndarray, device: Any) -> Array:
    """Return values of the host on a device; by default they stay.

    Raises
    ------
    InputError
        For another device.
    Unsupported
        For values on a GPU that are no numbers.
    """
    if device is None or device == "cpu":
        return values
    if device not in DEVICES:
        raise InputError(f"device={shown(device)} is not one of {', '.join(DEVICES)}")
    if values.dtype.kind not in "biuf":
        raise Unsupported(f"the column {name!r} is of the dtype {values.dtype}; a GPU holds numbers and truth values")
    backend = get_backend("cuda")
    with backend.activate():
        return backend.from_host(values)
