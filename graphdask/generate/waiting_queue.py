"""What waits in the queues of cuPPA, round by round: the paper's Figures 8 and 9 on any machine.

Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of massive
scale-free networks", Data Science and Engineering 4 (2019), Section 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.errors import InputError, shown
from graphdask.generate.copy_model import CAPACITY, COLUMNS, PASSES, STATE, QueueCopyModel, checked_count
from graphdask.generate.tuning import GENERATE
from graphdask.interface.suggest import public


@public
@dataclass(frozen=True)
class WaitingQueue:
    """A record for phase one of every segment and for every pass over its queues, in order; the arrays are int64."""

    segment: np.ndarray
    """Number of the segment (the paper's round), from 0."""
    first: np.ndarray
    """The segment's first vertex."""
    stop: np.ndarray
    """The vertex after its last one."""
    number: np.ndarray
    """0 for phase one, then the number of the pass over the queues, from 1."""
    vertices: np.ndarray
    """Vertices left in the queues."""
    waiting: np.ndarray
    """Edges whose copied target was not known: the items of the paper's queue."""
    held: np.ndarray
    """Edges that waited only for an earlier edge of their own vertex, with which they must be compared."""
    finished: np.ndarray
    """Edges that got their target in this phase or pass."""
    most: np.ndarray
    """The most waiting edges (`waiting`) of one thread."""
    targets: np.ndarray
    """Shape (n - degree, degree): the targets of the vertices after the clique."""

    @property
    def placed(self) -> np.ndarray:
        """The most items that one thread put into its queue in phase one, for each segment (Figure 9)."""
        return self.most[self.number == 0]

    @property
    def passes(self) -> np.ndarray:
        """Passes over the queues of each segment."""
        return np.bincount(self.segment)[: len(self.placed)] - 1


def waiting_queue(
    n: int,
    degree: int = 4,
    p: float = 0.5,
    seed: int = 0,
    *,
    threads: int = 1280,
    schedule: str = "segmented",
    segment: int | None = None,
    factor: int | None = None,
    capacity: int = CAPACITY,
    device: str = "cpu",
) -> WaitingQueue:
    """Run cuPPA and record what waits in its queues.

    Figure 8 of the paper is `waiting_queue(1280 + degree, degree, p, schedule="round-robin").placed[0]` for many
    degrees and p: each of 1280 threads has one vertex. Figure 9 is `waiting_queue(n, degree, 0.5,
    segment=1280).placed`.

    Parameters
    ----------
    n, degree, p, seed
        The graph, as in `preferential_attachment(..., method="queue")`.
    threads : int
        Threads among which the vertices of a segment go round.
    schedule : {"segmented", "round-robin"}
        Segments one after the other (SRRP), or all vertices at once (RRP).
    segment : int, optional
        Vertices of the first segment. Default, or 0: `capacity` for each thread, or with `factor` > 1 one for each.
        Refused with "round-robin", which has no segments.
    factor : int, optional
        1, the default: all segments have the same size. More: the next segment is so many times longer if so many times
        the longest queue would not exceed `capacity`. Refused with "round-robin".
    capacity : int
        Vertices that fit the queue of one thread; more spill to other memory.
    device : {"cpu", "cuda", "auto"}
        On the CPU the threads are logical and in lockstep: the most that can wait, the same in every run. On a GPU they
        are real, no more than run at the same time, and a thread may already find what another has just written: less
        waits, by chance. The targets are the same.

    Returns
    -------
    WaitingQueue

    Raises
    ------
    InputError
        For arguments out of range, and for `segment` or `factor` with `schedule="round-robin"`.
    OverBudget
        If the targets do not fit the memory.

    References
    ----------
    Alam, Perumalla, Sanders: Novel parallel algorithms for fast multi-GPU-based generation of massive scale-free
    networks, Data Science and Engineering (2019), Sections 3.2, 3.3 and 5.5.

    Examples
    --------
    >>> import graphdask as gd
    >>> records = gd.generate.waiting_queue(5000, degree=8, p=0.5, segment=1280)
    >>> bool(records.placed[0] > records.placed[-1])
    True
    """
    if schedule == "round-robin":
        for name, value in (("segment", segment), ("factor", factor)):
            if value is not None:
                raise InputError(
                    f'{name}={shown(value)} belongs to schedule="segmented"; "round-robin" has no segments, so leave '
                    f"{name}= out"
                )
    graph = QueueCopyModel(
        n, degree, p, seed, schedule, 0 if segment is None else segment, 1 if factor is None else factor
    )
    threads, capacity = checked_count("threads", threads, 1), checked_count("capacity", capacity, 1)
    backend = get_backend(device)
    # On a CPU the lists of what is not known: an int64 and an id for each edge of a segment, which may be the graph.
    lists = 2 + 8 // graph.dtype.itemsize if backend is get_backend("cpu") else 1
    graph.check_memory(backend, lists * (graph.n - graph.degree) * graph.degree, graph.n)
    rows = GENERATE.queue_records
    with backend.activate():
        while True:
            out = backend.xp.full((graph.n - graph.degree) * graph.degree, -1, graph.dtype)
            state, log = backend.xp.zeros(STATE, np.int64), backend.xp.zeros(rows * COLUMNS, np.int64)
            graph.run(backend, graph.n - graph.degree, threads, capacity, out, state, log)
            backend.synchronize()
            made = int(state[PASSES])
            if made <= rows:
                break
            rows = 2 * made
        targets = backend.to_host(out).reshape(-1, graph.degree)
        columns = backend.to_host(log).reshape(-1, COLUMNS)[:made].T
    first, stop, number, vertices, waiting, held, finished, most = columns
    return WaitingQueue(
        segment=np.cumsum(number == 0) - 1,
        first=first + graph.degree,
        stop=stop + graph.degree,
        number=number,
        vertices=vertices,
        waiting=waiting,
        held=held,
        finished=finished,
        most=most,
        targets=targets,
    )
