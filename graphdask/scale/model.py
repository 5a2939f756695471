"""The BSP cost model W + H g + S l, fitted to measurements, and what it says of more workers than there are.

A superstep of P ranks takes

    w E + l  +  g B + m f(P)

where E is the number of edges that the busiest rank scans and B the number of bytes that it sends. The first two terms
are computation: w seconds for an edge, and l for the cost of a superstep on a rank alone. The first superstep, which
makes the state, also costs v seconds for each vertex of a rank. The other terms, if P > 1, are everything else in the
superstep (coding, the wire, waiting): g seconds for a byte, and m for the cost of the meeting of all ranks. f(P) is
P - 1 if each rank notifies every other one (`direct`), or log2 P if ranks are notified along a tree (`tree`).

The fit is by non-negative least squares over the supersteps of the typical run of each measurement; each run weighs the
same, within it long supersteps more. w and l are of an algorithm; g and m of an algorithm and a transport, drawn
slightly to those of the transport over all algorithms, which decide if an algorithm's own supersteps are all alike and
cannot separate g from m.

Beyond the measurements W, H and S are made to grow from the largest measured P, as `ASSUMPTIONS` says: the work is
divided as evenly as it was; bytes grow with the copies of vertices under a random partition, sum over the vertices v of
(P - 1) (1 - (1 - 1/P)^d(v)), or with P - 1 where all is broadcast.

Sources: Pan et al., Multi-GPU Graph Analytics, Section III-A; Valiant, A bridging model for parallel computation
(1990); Lawson, Hanson, Solving Least Squares Problems (1974), chapter 23.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.errors import InputError, shown
from graphdask.interface.kinds import choice, whole
from graphdask.interface.suggest import public
from graphdask.scale.plan import ALONE
from graphdask.scale.records import check_record, checked_records

Record = dict[str, Any]
MEETINGS: Mapping[str, Callable[[int], float]] = {"direct": lambda size: size - 1.0, "tree": math.log2}
"""f(P)."""
PULL = 1e-3
"""Weight of the transport's g and m, beside an algorithm's own supersteps."""
ASSUMPTIONS = (
    "W: as many edges as at the largest measured P (weak: P times those of one worker), divided as evenly as there; "
    "the first superstep by the vertices of a worker",
    "H: bytes grow with the copies of vertices under a random partition (broadcast: with P - 1), at the measured g",
    "S: as many supersteps as at the largest measured P",
    "l: a superstep's meeting grows with P - 1 (dashed, each rank tells every other) or log2 P (dotted, along a tree)",
    "g and l are those of the measured link: between hosts, or between islands of GPUs, both are larger",
)
EDGES, MOST_EDGES, BYTES, MOST_BYTES, COMPUTE, SECONDS = range(6)
"""Columns of a record's `steps`."""


@public
@dataclass(frozen=True)
class Fit:
    """The model of one algorithm over one transport."""

    algorithm: str
    transport: str
    meeting: str
    """`direct` or `tree`."""
    edge_seconds: float
    """w."""
    vertex_seconds: float
    """v."""
    step_seconds: float
    """l: a superstep on one rank, without work."""
    byte_seconds: float
    """g."""
    meeting_seconds: float
    """m."""
    residual: float
    """Root of the mean square of (model - measured) / measured, over the measurements."""
    measurements: int
    own: bool
    """Whether the algorithm's own supersteps separate g from m; else they are near those of the whole transport."""

    def seconds(self, edges: float, sent: float, supersteps: float, vertices: float, workers: int) -> float:
        """Return the seconds of a run whose busiest rank scans so many edges and sends so many bytes.

        `vertices` is the number of vertices of the graph.
        """
        workers = whole("workers", workers, 1)
        alone = self.edge_seconds * edges + self.step_seconds * supersteps + self.vertex_seconds * vertices / workers
        if workers == 1:
            return alone
        return alone + self.byte_seconds * sent + self.meeting_seconds * supersteps * MEETINGS[self.meeting](workers)


def fit(records: Sequence[Record], meeting: str = "direct") -> list[Fit]:
    """Fit the model to every algorithm and transport that was measured on several workers.

    Parameters
    ----------
    records : sequence of dict
        What `graphdask.scale.run` or `read` returned; those of one worker belong to every transport.
    meeting : {"direct", "tree"}
        How the cost of a superstep grows with the workers: with P - 1, or with log2 P.

    Returns
    -------
    list of Fit

    Raises
    ------
    InputError
        For an unknown `meeting`.

    Examples
    --------
    >>> from graphdask.scale import fit
    >>> fit([])
    []
    """
    choice("meeting", meeting, MEETINGS)
    good = [record for record in checked_records(records) if "failed" not in record]
    found = []
    for transport in dict.fromkeys(record["transport"] for record in good if record["workers"] > 1):
        over = [record for record in good if record["transport"] == transport]
        shared = _communication(over, meeting, None)
        for algorithm in dict.fromkeys(record["algorithm"] for record in over):
            own = [record for record in over if record["algorithm"] == algorithm]
            alone = [r for r in good if r["algorithm"] == algorithm and r["transport"] == ALONE]
            found.append(_fitted(algorithm, transport, meeting, own, alone, shared))
    return found


def _fitted(
    algorithm: str, transport: str, meeting: str, own: list[Record], alone: list[Record], shared: np.ndarray
) -> Fit:
    edge_seconds, step_seconds, vertex_seconds = _computation([*alone, *own]).tolist()
    byte_seconds, meeting_seconds = _communication(own, meeting, shared).tolist()
    model = Fit(
        algorithm, transport, meeting, edge_seconds, vertex_seconds, step_seconds, byte_seconds, meeting_seconds, 0.0,
        len(own) + len(alone), _distinguishable(own, meeting),
    )  # fmt: skip
    errors = [modelled(model, record) / record["seconds"] - 1 for record in [*alone, *own] if record["seconds"]]
    residual = math.sqrt(sum(error**2 for error in errors) / max(1, len(errors)))
    return Fit(**{**vars(model), "residual": residual})


def modelled(model: Fit, record: Record) -> float:
    """What the model says of a measurement."""
    steps = _steps(record)
    edges, sent = steps[:, [MOST_EDGES, MOST_BYTES]].sum(axis=0).tolist()
    return model.seconds(edges, sent, len(steps), record["vertices"], record["workers"])


def _steps(record: Record) -> np.ndarray:
    return np.array(record["steps"], float).reshape(-1, 6)


def _computation(records: list[Record]) -> np.ndarray:
    rows, times = [], []
    for record in records:
        steps, weight = _steps(record), _weight(record)
        first = (np.arange(len(steps)) == 0) * (record["vertices"] / record["workers"])
        rows.append(np.column_stack([steps[:, MOST_EDGES], np.ones(len(steps)), first]) * weight)
        times.append(steps[:, COMPUTE] * weight)
    return _least_squares(np.concatenate(rows), np.concatenate(times))


def _communication(records: list[Record], meeting: str, near: np.ndarray | None) -> np.ndarray:
    rows, times = _rows_of_communication(records, meeting)
    if near is not None:
        usual = np.where(near > 0, near, times.sum() / np.where(rows.any(axis=0), rows.sum(axis=0), 1.0))
        usual = np.where(usual > 0, usual, 1.0)
        pull = math.sqrt(PULL * float(times @ times) or 1.0)
        rows = np.concatenate([rows, np.diag(pull / usual)])
        times = np.concatenate([times, pull * near / usual])
    return _least_squares(rows, times)


def _rows_of_communication(records: list[Record], meeting: str) -> tuple[np.ndarray, np.ndarray]:
    rows, times = [], []
    for record in records:
        steps, weight = _steps(record), _weight(record)
        meet = np.full(len(steps), MEETINGS[meeting](record["workers"]))
        rows.append(np.column_stack([steps[:, MOST_BYTES], meet]) * weight)
        times.append(np.maximum(steps[:, SECONDS] - steps[:, COMPUTE], 0) * weight)
    return np.concatenate(rows), np.concatenate(times)


def _distinguishable(records: list[Record], meeting: str) -> bool:
    """Whether the columns of g and m are far from being multiples of each other."""
    rows, _ = _rows_of_communication(records, meeting)
    length = np.linalg.norm(rows, axis=0)
    return bool(length.all() and (rows[:, 0] @ rows[:, 1]) / length.prod() < 0.98)


def _weight(record: Record) -> float:
    """Makes all runs as important."""
    total = _steps(record)[:, SECONDS].sum()
    return 1.0 / total if total > 0 else 0.0


def _least_squares(rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Non-negative, with columns of the same length, as edges and ones differ by orders of magnitude."""
    from scipy.optimize import nnls

    length = np.linalg.norm(rows, axis=0)
    length[length == 0] = 1.0
    return nnls(rows / length, times)[0] / length


def largest(records: Sequence[Record]) -> Record | None:
    """The measurement with the most workers, which the model goes on from."""
    return max((r for r in records if "failed" not in r), key=lambda record: record["workers"], default=None)


def extrapolated(model: Fit, record: Record, workers: int) -> float:
    """Seconds that the model says for so many workers, from the measurement with the most of them.

    Parameters
    ----------
    model : Fit
    record : dict
        Of more than one worker.
    workers : int

    Returns
    -------
    float
    """
    if not isinstance(model, Fit):
        raise InputError(f"model={shown(model)} is not a Fit, as graphdask.scale.fit returns")
    check_record("record", record)
    workers = whole("workers", workers, 1)
    steps, size = _steps(record), record["workers"]
    grown = 1.0 if record["kind"] == "strong" else workers / size
    edges, sent = steps[:, [MOST_EDGES, MOST_BYTES]].sum(axis=0).tolist()
    copies = _copies(record, workers) / _copies(record, size)
    vertices = record["vertices"] * (workers / size if record["kind"] == "weak-vertex" else 1)
    share = size / workers
    return model.seconds(edges * grown * share, sent * copies * share, len(steps), vertices, workers)


def _copies(record: Record, workers: int) -> float:
    """Vertices that ranks hold of each other, expected under a random partition of the graph for so many workers."""
    if workers == 1:
        return 0.0
    counts, sums = (np.array(column, float) for column in zip(*record["degrees"], strict=True))
    degrees, grown = sums / counts, workers / record["workers"]
    if record["kind"] == "weak-vertex":
        counts = counts * grown
    if record["kind"] == "weak-edge":
        degrees = degrees * grown
    if record["exchange"] == "broadcast":
        return float(counts.sum()) * (workers - 1)
    return float((counts * (workers - 1) * -np.expm1(degrees * np.log1p(-1.0 / workers))).sum())


def sizes(until: int) -> list[int]:
    """Powers of two up to `until`."""
    return [1 << k for k in range(until.bit_length())]
