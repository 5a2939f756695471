"""Parts of a graph on the command line: subgraphs, ego graphs, vertices within some hops, cores and trusses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from graphdask.commands.options import Whole
from graphdask.commands.samplers import Entry
from graphdask.display import terminal
from graphdask.errors import InputError


def _part(name: str) -> Callable[..., Any]:
    """A function of graphdask, called as those of samplers; partitions are its only placement."""

    def call(G: Any, *begin: Any, placement: Any = "auto", **options: Any) -> Any:
        import graphdask

        if placement not in ("auto", "partitioned"):
            raise InputError(f"--placement {placement} is of samples; a part of a graph is taken from its partitions")
        return getattr(graphdask, name)(G, *begin, **options)

    return call


def _edge_words(result: Any) -> str:
    vertices = terminal.count(len(result.vertices), "vertex")
    return f"{vertices}, {terminal.count(len(result.src), 'edge')}"


def _hop_words(result: Any) -> str:
    return terminal.count(len(result.vertex), "vertex")


PARTS: tuple[Entry, ...] = (
    Entry("subgraph", "All edges between the seeds.", _part("subgraph"), "seeds", words=_edge_words, draws=False),
    Entry(
        "ego", "For each seed all edges between the vertices within a radius of it.", _part("ego_graph"), "seeds",
        (click.option("--radius", type=Whole(min=0), default=1, show_default=True, help="Hops from the seed."),
         click.option("--center/--no-center", default=True, show_default=True, help="Whether seeds are in."),
         click.option("--ignore-direction", "undirected", is_flag=True, help="Hops ignore the direction of edges.")),
        ("radius", "center", "undirected"), _edge_words, draws=False,
    ),
    Entry(
        "hops", "The vertices within some hops of each seed.", _part("k_hop_neighbors"), "seeds",
        (click.option("--k", type=Whole(min=0), default=2, show_default=True, help="Hops from the seed."),
         click.option("--neighbors", "direction", type=click.Choice(["out", "in", "both"]), default="out",
                      show_default=True, help="Along the edges' direction, against it, or ignoring it.")),
        ("k", "direction"), _hop_words, draws=False, edges=False,
    ),
    Entry(
        "k-core", "The largest subgraph in which every vertex has k neighbours or more.", _part("k_core"), "",
        (click.option("--k", type=Whole(min=0), help="Neighbours.  [default: as many as leave some]"),), ("k",),
        _edge_words, draws=False,
    ),
    Entry(
        "k-truss", "The most edges that are in k - 2 triangles each, among themselves.", _part("k_truss"), "",
        (click.option("--k", type=Whole(min=0), required=True, help="Two more than the triangles."),), ("k",),
        _edge_words, draws=False,
    ),
)  # fmt: skip
"""Commands of `graphdask sample`, beside those of samplers."""
