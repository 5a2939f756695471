"""Core numbers over a store: bounds of all vertices are in memory, and fall until each is what its neighbours allow.

The bound of a vertex starts as its degree. It becomes the largest k for which k neighbours have bounds of k or more.
Bounds never fall below the core numbers, because every vertex of a k-core has k neighbours in the k-core. When no bound
falls any more, the vertices with bounds of k or more are a k-core. So the order in which rows are visited does not
matter, and the answer is the same as in memory.

A row becomes active only when the bound of a neighbour falls past its own bound. Chunks without active rows are not
read; after the first pass, most chunks have none. Several ranks exchange their bounds when none of their rows is
active. If a bound fell on any rank, every rank then visits all its rows again.

Sources: Montresor, De Pellegrini, Miorandi, Distributed k-core decomposition (2013); Lü, Zhou, Zhang, Stanley, The
H-index of a network node and its relation to degree and coreness (2016).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.stream.everywhere import Work

BYTES = 13
"""Per vertex: bounds, marks, and the answer."""


def core_number(work: Work, primitive: Any) -> tuple[dict[str, Any], int]:
    """Return the core numbers, and the bytes of the state."""
    own = slice(work.own.begin, work.own.end)
    state = work.open(BYTES, 4 * (work.most_edges + 1))
    core, active = np.zeros(work.num_vertices, np.int32), np.zeros(work.num_vertices, np.uint8)
    for first, degrees, _ in work.store.rows(work.store.sections["out"]):
        core[first : first + len(degrees)] = degrees
    room = np.empty(work.most_edges + 1, np.int32)
    goes_on = work.num_vertices > 0
    while goes_on:
        active[own] = 1
        fallen = work.until_quiet("out", active, work.kernels.rows_core, core, room)
        goes_on = work.several and work.any(fallen > 0)
        work.tell(core)
    return {"core": work.answer(core)}, state
