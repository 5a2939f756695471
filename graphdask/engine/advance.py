"""Advance: a kernel over the edges of rows, and a second launch for the rows of very many edges that it deferred.

One block of a GPU would scan such a row while all others wait. So the first kernel lists it, and the second shares the
edges of the listed rows among all blocks (kernels/common/rows.cuh). A CPU defers no row, and its second kernel does
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.loop import HUB_THREADS
from graphdask.kernels.common.packs import Pack
from graphdask.partition.part import Csr


def advance(
    kernel: Callable[..., Any], over_hubs: Callable[..., Any], csr: Csr, rows: int | Array, pack: Pack, *arguments: Any,
    per_item: int = 1, cleared: bool = False,
) -> None:  # fmt: skip
    """Visit all edges of some rows.

    Parameters
    ----------
    kernel, over_hubs : callable
        A kernel and that of the rows that it defers, such as `components_hook` and `components_hook_hubs`.
    csr : Csr
        Its `indptr` and `indices` are assigned to the pack.
    rows : int or array
        The kernel's number of rows, from the first one on, or a list of rows, which it takes then.
    pack : Pack
        What the kernels work on. It has `hubs`, a list of `most_deferred(csr)` entries or more for deferred rows, and
        `counters`, among which is the length of that list, `hubs`. If the list has no entries, no row is so long, and
        there is no second launch.
    *arguments
        What both kernels take before the pack.
    per_item : int
        Threads of a GPU for each row in the first launch.
    cleared : bool
        Whether the length of the list of deferred rows is 0 already, as all counters are at the beginning of a step.
    """
    pack.assign(indptr=csr.indptr, indices=csr.indices)
    if not cleared:
        pack.set_counters(hubs=0)
    n, listed = (rows, ()) if isinstance(rows, int) else (len(rows), (rows,))
    kernel(n, *listed, *arguments, pack, per_item=per_item)
    if len(pack.hubs):
        over_hubs(HUB_THREADS, *arguments, pack)
