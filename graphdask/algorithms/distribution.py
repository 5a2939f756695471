"""Distribution: shares of 1 for some vertices, given by ids or as an array, for the ranks to look up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.errors import GraphdaskError, InputError
from graphdask.graph.graph import Graph
from graphdask.partition.given import given_array
from graphdask.partition.part import Part

LOOKING = 33
"""Bytes for each own vertex that a look-up takes, the result among them."""


@dataclass(frozen=True)
class Distribution:
    """Shares of the vertices that have any."""

    vertices: np.ndarray
    """int64, ascending, at least one."""
    shares: np.ndarray
    """float64, positive, their sum 1."""

    def of(self, part: Part, env: Environment) -> Array:
        """The shares of a partition's own vertices, float64 of shape (num_owned,)."""
        xp = env.xp
        vertices, shares = env.backend.from_host(self.vertices), env.backend.from_host(self.shares)
        ids = part.ids.astype(np.int64)
        at = xp.minimum(xp.searchsorted(vertices, ids), len(vertices) - 1)
        return xp.where(vertices[at] == ids, shares[at], 0.0)

    @property
    def checksum(self) -> str:
        """A number that another distribution does not have, for checkpoints."""
        return sha256(self.vertices.astype(np.int64).tobytes() + self.shares.tobytes()).hexdigest()[:16]

    @property
    def nbytes(self) -> int:
        return self.vertices.nbytes + self.shares.nbytes


def distribution(G: Graph, given: Any, what: str) -> Distribution | None:
    """Check and normalise a dict by the caller's ids, or an array in the order of `vertex_ids`; None stays None.

    Raises
    ------
    VertexNotFound
        Where an id is none of the graph's.
    InputError
        For another shape, values that are no numbers, NaN, infinite or negative, and a sum of 0.
    """
    if given is None:
        return None
    try:
        if isinstance(given, Mapping):
            numbers = G.ids.to_internal(_keys(given), f"{what} vertex")
            values = given_array(what, list(given.values()))
        else:
            values = given_array(what, given)
            numbers = np.arange(G.num_vertices)
        if values.dtype.kind not in "biufO":
            raise TypeError(f"its dtype is {values.dtype}")
        values = values.astype(np.float64)
    except GraphdaskError:
        raise
    except (TypeError, OverflowError) as error:
        raise InputError(f"{what} is neither a dict nor an array of numbers: {error}") from error
    except Exception as error:  # whatever an object that a caller gives raises
        raise InputError(f"{what} holds what is not a number: {error}") from error
    if values.shape != numbers.shape:
        raise InputError(f"{what} has the shape {values.shape}; {G.num_vertices} vertices need one value each")
    wrong = np.flatnonzero(~((values >= 0) & (values < math.inf)))
    if len(wrong):
        vertex = G.ids.to_caller(numbers[wrong[:1]])[0]
        raise InputError(f"{what} of vertex {vertex} is {values[wrong[0]]}; it must be a finite number, 0 or more")
    with np.errstate(over="ignore"):
        total = float(values.sum())
    if not 0 < total < math.inf:
        raise InputError(f"{what} sums to {total}; the sum must be finite, and a vertex needs a value above 0")
    shares = values / total
    keep = np.flatnonzero(shares > 0)
    keep = keep[np.argsort(numbers[keep])]
    return Distribution(numbers[keep].astype(np.int64), shares[keep])


def _keys(given: Mapping[Any, Any]) -> np.ndarray:
    """The ids of a dict as an array that keeps their kind."""
    keys = np.empty(len(given), object)
    keys[:] = list(given)
    return keys
