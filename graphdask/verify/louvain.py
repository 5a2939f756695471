"""Communities of Louvain and Leiden proved in linear time, distributed.

1. Labels are the smallest ids of their communities, and the number and the modularity of these are right, as for given
   communities (graphdask.verify.modularity).
2. The communities of Leiden are connected: the components of the edges within communities have the same labels.

That no other communities have a higher modularity is not proved: no method in polynomial time is known that finds the
best ones.
"""

from __future__ import annotations

from graphdask.algorithms.components import ConnectedComponents
from graphdask.algorithms.leiden import Leiden, within
from graphdask.algorithms.louvain import Louvain
from graphdask.engine.loop import RankContext, RankResult, run_primitive
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.ghosts import fetch_ghosts
from graphdask.partition.part import Part
from graphdask.verify.modularity import check_communities
from graphdask.verify.table import verifies
from graphdask.verify.triangles import first_where


@verifies(Louvain)
def verify(context: RankContext, part: Part, primitive: Louvain, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    return check_communities(context, part, result.columns["label"], result.values)


@verifies(Leiden)
def verify_connected(context: RankContext, part: Part, primitive: Leiden, result: RankResult) -> Violation | None:
    """Return this rank's first violation, as `verify` does; communities of Leiden are connected, too."""
    label = result.columns["label"]
    mine = check_communities(context, part, label, result.values)
    if first_of_all(context, mine):
        return mine
    (labels,) = fetch_ghosts(context.comm, context.backend, part, [label])
    edges = within(context.backend, part, labels)
    found = run_primitive(context.comm, edges, ConnectedComponents(), context.environment("selective"))
    return first_where(part, found.columns["label"] != label, "vertex {vertex} is not connected to its community")
