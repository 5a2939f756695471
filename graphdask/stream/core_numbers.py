"""Core numbers over a store: bounds of all vertices are in memory, and fall until each is what its neighbours allow.

A bound begins as the degree and becomes the largest k for which k neighbours have bounds of k or more. The bounds never
fall below the core numbers, as a k-core has k such neighbours of each of its vertices; and where none falls any more,
those of k or more are a k-core. So the order in which rows are gone over does not matter, and the answer is that in
memory. A row waits only where a neighbour fell past its own bound, and chunks in which none waits are not read: after
the first pass, most are not. Several ranks tell each other their bounds when none of their rows waits, and go over all
their rows once where one fell elsewhere.

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
    """Core numbers; bytes of the state."""
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
