"""What cannot be streamed is refused before any work, with what to do instead."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from graphdask.errors import Unsupported
from graphdask.interface.registry import algorithms
from graphdask.stream.forms import Streamed
from graphdask.stream.graph import StreamedGraph
from graphdask.stream.run import STREAMED, form_of


def check(graph: StreamedGraph, primitive: Any, exchange: Any, allocation: Any) -> None:
    """Raise Unsupported for what cannot be streamed."""
    streamed = form_of(type(primitive))
    if streamed is None:
        why = f", because {primitive.needs_memory}" if primitive.needs_memory else f" ({_names()} have)"
        raise Unsupported(f"{primitive.name} has no streamed form{why}; S.in_memory() is the same graph in memory")
    for name, value in (("exchange", exchange), ("allocation", allocation)):
        if value is not None:
            raise Unsupported(f"{name}= has no meaning for a streamed graph; leave it out")
    streamed.refuse(graph.store, primitive)
    if graph.passes == "one":
        _refuse_one_pass(graph, primitive, streamed)


def _names() -> str:
    """Return the names of the functions that have a streamed form."""
    known = algorithms()  # which are imported now
    results = {primitive.result_type for primitive in _with_derived([*STREAMED])}
    *names, last = (name for name, each in known.items() if each.result in results)
    return f"{', '.join(names)} and {last}"


def _with_derived(primitives: list[type[Any]]) -> list[type[Any]]:
    """Return the classes that have a streamed form, among these and those derived from them."""
    derived = [_with_derived(each.__subclasses__()) for each in primitives]
    return [each for each in chain(primitives, *derived) if form_of(each) is not None]


def _refuse_one_pass(graph: StreamedGraph, primitive: Any, streamed: Streamed) -> None:
    """Raise Unsupported where one pass over a store is not exact."""
    header, reason = graph.store.header, ""
    if streamed.sources is None:
        reason = f"{primitive.name} is no search"
    elif streamed.by_weight and graph.store.weights is not None:
        reason = "edges have weights, and a way through later layers may be shorter"
    elif header["order"] != "layers":
        reason = 'the file has no layers; build it with order="layers"'
    elif streamed.sources(primitive) != (header["root"],):
        root = graph.ids.to_caller(np.array([header["root"]]))[0]
        reason = f"layers are counted from {root}, and other vertices are reached through edges that lead back"
    if reason:
        raise Unsupported(f'passes="one" is not exact for this: {reason}; open the file with passes="exact"')
