"""NetworkX's Jaccard coefficients, of given pairs of nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx
import numpy as np

from graphdask.nx.graph import NxGraph
from graphdask.nx.offered import offered
from graphdask.similarity.similarity import jaccard


def _refuses(arguments: Mapping[str, Any]) -> str:
    ebunch = arguments["ebunch"]
    if ebunch is None:
        return "without ebunch NetworkX takes all pairs without an edge, which most often have the coefficient 0"
    if not isinstance(ebunch, list | tuple | set | frozenset):
        return "ebunch is an iterator, or of a class of its own, which may be empty when it is read again"
    return ""


@offered(edges=None, converted=None, refuses=_refuses, note="Of given pairs, in a list, tuple or set.")
def jaccard_coefficient(G: NxGraph, ebunch: Any = None) -> Iterator[tuple[Any, Any, float]]:
    for u, v in ebunch:
        for node in (u, v):
            if node not in G:
                raise networkx.NodeNotFound(f"Node {node} not in G.")
    numbers = np.array([(G.number(u), G.number(v)) for u, v in ebunch], np.int64).reshape(-1, 2)
    scores = jaccard(G.plain(), numbers, weight=None).score.tolist() if len(numbers) else []
    alone = np.bincount(np.concatenate([G.src, G.dst]), minlength=len(G)) == 0
    none = (alone[numbers[:, 0]] & alone[numbers[:, 1]]).tolist()
    return ((u, v, 0 if zero else score) for (u, v), zero, score in zip(ebunch, none, scores, strict=True))
