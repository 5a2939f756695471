"""One line, once for each cluster, where a cluster without TLS was started elsewhere: whoever reaches it owns it."""

from __future__ import annotations

import logging
from typing import Any

SAFE = ("tls://", "inproc://", "wss://")
"""Addresses of which other users can make no use."""

_logger = logging.getLogger("graphdask")
_warned: set[str] = set()
"""Clusters that it was said of, by what the scheduler calls itself."""


def warn_once(client: Any) -> None:
    """Log a warning where the client's cluster lets in whoever can connect.

    It is logged, not warned of by `warnings`: it is about how a cluster was started, not about the call that finds it,
    and should not end a program that makes errors of warnings.
    """
    scheduler = getattr(client, "scheduler", None)
    address = str(getattr(scheduler, "address", "inproc://"))
    if address.startswith(SAFE):
        return
    name = str((getattr(client, "_scheduler_identity", None) or {}).get("id", address))
    if name in _warned:
        return
    _warned.add(name)
    _logger.warning(
        "warning: the Dask cluster at %s has no TLS: every user who can connect to it, of this host too, can run code "
        "as its owner. gd.cluster.start() and distributed.LocalCluster(security=True) start one with TLS.",
        address,
    )
