"""What the logger `graphdask` says at the level INFO: a line for each run, and its progress where nobody watches."""

from __future__ import annotations

import logging
from typing import Any

from graphdask.display.html import duration
from graphdask.results.stats import Stats

_logger = logging.getLogger("graphdask")


def log_run(graph: Any, gang: Any, stats: Stats) -> None:
    """Log a finished run: the algorithm, the graph, where it ran, supersteps, seconds and the transport."""
    if not _logger.isEnabledFor(logging.INFO):
        return
    ranks = "1 rank" if stats.ranks == 1 else f"{stats.ranks} ranks"
    devices = ", ".join(sorted({device.partition(":")[0] for device in stats.devices}))
    client = getattr(gang, "client", None)
    where = "in this process" if client is None else f"of {client.scheduler.address}"
    more = f", {duration(stats.compile_seconds)} more to compile {stats.compiled} kernels" if stats.compiled else ""
    more += f", started again {stats.restarts} times" if stats.restarts else ""
    _logger.info(
        "%s of %s: %s (%s) %s over %s, %s supersteps in %s%s", stats.algorithm, repr(graph).strip("<>"), ranks, devices,
        where, stats.transport, f"{len(stats):,}", duration(stats.seconds), more,
    )  # fmt: skip
