"""Clusters: `start` one on this host, `connect` to one elsewhere, and what its processes have (`doctor`)."""

from graphdask.cluster.local import connect, local_cluster
from graphdask.cluster.start import Cluster, start

__all__ = ["Cluster", "connect", "local_cluster", "start"]
