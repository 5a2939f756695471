"""Clusters: `start` one on this host, `connect` to one elsewhere, and what its processes have (`doctor`)."""

from typing import Any

from graphdask.cluster.local import connect, local_cluster
from graphdask.cluster.start import Cluster, start
from graphdask.interface.suggest import no_attribute, suggesting

__all__ = ["Cluster", "connect", "local_cluster", "start"]

for _name in __all__:
    globals()[_name] = suggesting(globals()[_name], __name__, _name)


def __getattr__(name: str) -> Any:
    raise no_attribute(__name__, name, __all__)
