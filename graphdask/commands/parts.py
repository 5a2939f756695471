"""Parts of a graph on the command line: subgraphs, ego graphs, vertices within some hops, cores and trusses; and pairs
of similar vertices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from graphdask.commands.ids import vertex
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


def _similar(name: str) -> Callable[..., Any]:
    """A measure of similarity, of vertices as the command line names them."""
    call = _part(name)

    def named(G: Any, *, pair: Any, vertices: str | None, weighted: bool | None, **options: Any) -> Any:
        from graphdask.algorithms.by_weight import refuse_without_weights

        refuse_without_weights(G, weighted, "to count neighbours")
        pairs = [[vertex(each, G, "pair") for each in ends] for ends in pair] or None
        some = None if vertices is None else [vertex(each.strip(), G, "vertices") for each in vertices.split(",")]
        return call(G, pairs=pairs, vertices=some, weight=None if weighted is False else "weight", **options)

    return named


def _pair_words(result: Any) -> str:
    return terminal.count(len(result.score), "pair")


SIMILARITY = (
    click.option("--pair", nargs=2, multiple=True, metavar="ID ID",
                 help="Compare these two vertices; may be repeated.  [default: all pairs that share a neighbour]"),
    click.option("--vertices", metavar="IDS", help="List pairs from each of these vertices: 7,8,9."),
    click.option("--topk", type=Whole(min=1), metavar="K", help="Only so many pairs, the most similar ones."),
    click.option("--per-vertex", is_flag=True, help="List pairs from each vertex, and --topk of each."),
    click.option("--weighted/--unweighted", default=None,
                 help="By the weights of the edges, or by numbers of neighbours.  [default: where there are weights]"),
)  # fmt: skip
MEASURES = {
    "jaccard": "Pairs of vertices with the share of their neighbours that they have in common.",
    "overlap": "Pairs of vertices with their common neighbours as a share of the smaller neighbourhood.",
    "cosine": "Pairs of vertices with the cosine of their neighbourhoods.",
    "sorensen": "Pairs of vertices with twice their common neighbours by the sum of their neighbours.",
}

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
    *(Entry(name, help, _similar(name), "", SIMILARITY, ("pair", "vertices", "topk", "per_vertex", "weighted"),
            _pair_words, draws=False, edges=False)
      for name, help in MEASURES.items()),
)  # fmt: skip
"""Commands of `graphdask sample`, beside those of samplers."""
