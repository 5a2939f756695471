"""The samplers of the command line: the table from which `graphdask sample` makes its commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from graphdask.commands.options import Number, Numbers, Whole
from graphdask.commands.spec_file import SPEC_NAMES, spec_argument, spec_of, spec_options
from graphdask.display import terminal
from graphdask.errors import InputError

Option = Callable[[Any], Any]


@dataclass(frozen=True)
class Entry:
    """A sampler, as the command line offers it."""

    name: str
    help: str
    function: str | Callable[..., Any]
    """Its name in `graphdask.sample`, or what calls it."""
    start: str = ""
    """Name of the argument that says where it begins; empty where that is nowhere."""
    options: tuple[Option, ...] = ()
    """Its own, as click's decorators; each is an argument of the function."""
    names: tuple[str, ...] = ()
    """Of those arguments."""
    words: Callable[[Any], str] = lambda result: _edge_words(result)
    """What came of it, in a line."""
    draws: bool = True
    """Whether it draws by random numbers, and so takes a seed."""
    weights: str = ""
    """What it reads the edges' weights as, without which it draws nothing."""
    prepare: Callable[[dict[str, Any]], dict[str, Any]] = lambda own: own
    """Makes the arguments of the function of its own options, before any work."""
    edges: bool = True
    """Whether what it draws are edges, which have rows."""

    def takes_weights(self, own: dict[str, Any]) -> bool:
        """Whether it draws by the weights of the edges, or may do so."""
        weighted = own.get("bias") == "weight" or own.get("weighted", False) is not False
        return bool(self.weights) or weighted or "spec" in own

    @property
    def walks(self) -> bool:
        """Whether what it draws are walks."""
        return self.words is _walk_words

    @property
    def _function(self) -> Callable[..., Any]:
        from graphdask import sample

        return getattr(sample, self.function) if isinstance(self.function, str) else self.function

    def sample(self, G: Any, begin: Any, **options: Any) -> Any:
        """Draw."""
        return self._function(G, begin, **options) if self.start else self._function(G, **options)

    def in_chunks(self, G: Any, begin: Any, chunk: int, **options: Any) -> Any:
        """Draw some instances at a time."""
        from graphdask.sample.chunks import in_chunks

        begins = (begin,) if self.start else ()
        return in_chunks(self._function, G, *begins, chunk=chunk, **options)


def _walk_words(result: Any) -> str:
    lengths = result.lengths
    if not len(lengths):
        return "no walks"
    return f"{terminal.count(len(lengths), 'walk')} of {lengths.mean():,.4g} steps on average"


def _edge_words(result: Any) -> str:
    return terminal.count(len(result.src), "edge")


def _frontier_words(result: Any) -> str:
    lengths = result.lengths
    if not len(lengths):
        return "no pools"
    return f"{terminal.count(len(lengths), 'pool')} of {lengths.mean():,.4g} edges on average"


def _rank_words(result: Any) -> str:
    return terminal.count(len(result.vertex), "estimate")


LENGTH = click.option("--length", type=Whole(min=0), default=80, show_default=True, help="Steps of a walk.")
EACH = click.option("--walks-per-start", type=Whole(min=1), default=1, show_default=True, help="Walks from each start.")
BIAS = click.option(
    "--bias", type=click.Choice(["weight", "degree"]), help="What neighbours are drawn by; default: all alike."
)
WALK_METHOD = click.option(
    "--method", type=click.Choice(["auto", "rejection", "inverse", "alias", "reservoir"]), default="auto",
    show_default=True, help="How a biased neighbour is drawn; the law is the same.",
)  # fmt: skip
SET_METHOD = click.option(
    "--method", type=click.Choice(["auto", "repeated", "updated", "bipartite", "reservoir"]), default="auto",
    show_default=True, help="How several neighbours are drawn without replacement; the law is the same.",
)  # fmt: skip
SIDE = click.option(
    "--neighbors", "direction", type=click.Choice(["out", "in"]), default="out", show_default=True,
    help="Along the edges' direction, or against it.",
)  # fmt: skip
INSTANCES = click.option("--instances", type=Whole(min=0), default=1, show_default=True, help="Subgraphs.")
REPEATED = click.option(
    "--instances", type=Whole(min=0), metavar="K",
    help="How many there are; they begin with the pools in turn.  [default: one for each pool]",
)  # fmt: skip
DEPTH = click.option("--depth", type=Whole(min=0), default=2, show_default=True, help="Hops from the seeds.")


def _probability(name: str, default: float, help: str) -> Option:
    return click.option(name, type=float, default=default, show_default=True, help=help)


OWN_HELP = """Samplers of your own: c-saw's functions, from a Python file.

SPEC is FILE.py:NAME, a gd.sample.Spec that stands in the file; or FILE.py, whose functions vertex_bias, edge_bias,
update and neighbor_size make one with the options.
"""


def _with_spec(own: dict[str, Any]) -> dict[str, Any]:
    given = {name: own.pop(name) for name in SPEC_NAMES}
    return own | {"spec": spec_of(own["spec"], given)}


def _own_sampler(G: Any, seeds: Any, spec: Any, pool_size: int, **options: Any) -> Any:
    from graphdask.sample.framework import run

    return run(G, spec, seeds if pool_size == 1 else list(_pools(seeds, pool_size)), **options)


def _frontiers(G: Any, starts: Any, pool_size: int | None, instances: int | None, **options: Any) -> Any:
    import numpy as np

    from graphdask.device.limits import refuse_beyond_memory
    from graphdask.interface.kinds import whole
    from graphdask.sample.frontier import frontier_sampling

    pools = _pools(starts, max(len(starts), 1) if pool_size is None else pool_size)
    if instances is not None:
        instances = whole("instances", instances)
        if instances and not len(pools):
            raise InputError(f"instances={instances}, but there are no vertices to start at")
        refuse_beyond_memory(
            f"{instances:,} instances with pools of {pools.shape[1]:,} vertices", instances * (8 * pools.shape[1] + 16),
            "sample fewer, with another seed for each call",
        )  # fmt: skip
        pools = pools[np.arange(instances) % max(len(pools), 1)]
    return frontier_sampling(G, pools, **options)


def _pools(vertices: Any, size: int) -> Any:
    """Vertices as pools of one size, one after the other."""
    import numpy as np

    flat = np.asarray(vertices)
    if len(flat) % size:
        raise InputError(f"{len(flat)} vertices make no pools of --pool-size {size}; give a multiple of it")
    return flat.reshape(-1, size)


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "walk", "Random walks: simple or biased, with restart, with jump.", "random_walk", "starts",
        (LENGTH, EACH, BIAS, WALK_METHOD,
         _probability("--restart", 0.0, "Probability of going back to the start, at each step."),
         _probability("--jump", 0.0, "Probability of jumping to any vertex.")),
        ("length", "walks_per_start", "bias", "method", "restart", "jump"), _walk_words,
    ),
    Entry(
        "node2vec", "Second-order walks after Grover and Leskovec.", "node2vec", "starts",
        (LENGTH, EACH, _probability("--p", 1.0, "Return parameter."), _probability("--q", 1.0, "In-out parameter."),
         click.option("--weighted/--unweighted", default=None,
                      help="Follow edges in proportion to their weights.  [default: where there are weights]"),
         WALK_METHOD),
        ("length", "walks_per_start", "p", "q", "weighted", "method"), _walk_words,
    ),
    Entry(
        "metropolis-hastings", "Walks whose stationary law is uniform over the vertices.", "metropolis_hastings",
        "starts", (LENGTH, EACH), ("length", "walks_per_start"), _walk_words,
    ),
    Entry(
        "metapath", "Walks on typed edges; the types are the edges' weights, whole numbers.", "metapath_walk", "starts",
        (click.option("--metapath", type=Numbers(), required=True, help="Types of the steps, again and again: 0,1."),
         LENGTH, EACH),
        ("metapath", "length", "walks_per_start"), _walk_words, weights="types",
    ),
    Entry(
        "frontier", "Frontier sampling: walks of several dimensions, from pools of vertices.", _frontiers, "starts",
        (click.option("--length", type=Whole(min=0), default=80, show_default=True, help="Edges of a pool."),
         click.option("--pool-size", type=Whole(min=1), metavar="M",
                      help="Pools of so many of the vertices, one pool after the other.  [default: one of all]"),
         REPEATED),
        ("length", "pool_size", "instances"), _frontier_words,
    ),
    Entry(
        "neighbors", "So many neighbours of each vertex, hop by hop.", "neighbors", "seeds",
        (click.option("--fanouts", type=Numbers(), default="10,10", show_default=True,
                      help="Neighbours in each hop; -1 for all."),
         click.option("--replace/--distinct", default=False, help="Whether one may be drawn more than once."),
         BIAS, SET_METHOD, SIDE),
        ("fanouts", "replace", "bias", "method", "direction"),
    ),
    Entry(
        "temporal", "So many neighbours, along edges that are not later than a time; their times are the weights.",
        "temporal_neighbors", "seeds",
        (click.option("--fanouts", type=Numbers(), default="10,10", show_default=True,
                      help="Neighbours in each hop; -1 for all."),
         click.option("--time", "seed_times", type=Number(), required=True, help="The time of the seeds."),
         click.option("--strategy", type=click.Choice(["uniform", "last"]), default="uniform", show_default=True,
                      help="Neighbours drawn uniformly, or the latest."),
         click.option("--replace/--distinct", default=False, help="Whether one may be drawn more than once."),
         SIDE),
        ("fanouts", "seed_times", "strategy", "replace", "direction"), weights="times",
    ),
    Entry(
        "layer", "So many neighbours of all vertices of a hop together.", "layer", "seeds",
        (click.option("--sizes", type=Numbers(), default="100,100", show_default=True, help="Edges in each hop."),
         BIAS, SET_METHOD, SIDE),
        ("sizes", "bias", "method", "direction"),
    ),
    Entry(
        "snowball", "All neighbours, hop by hop.", "snowball", "seeds", (DEPTH, SIDE), ("depth", "direction"),
        draws=False,
    ),
    Entry(
        "forest-fire", "A random number of neighbours of each vertex, hop by hop.", "forest_fire", "seeds",
        (_probability("--p", 0.7, "Burning probability: p / (1 - p) neighbours on average."), DEPTH, BIAS, SET_METHOD,
         SIDE),
        ("p", "depth", "bias", "method", "direction"),
    ),
    Entry(
        "pagerank", "Personalised PageRank, by where walks with restart end.", "personalized_pagerank", "sources",
        (click.option("--walks", type=Whole(min=1), default=10_000, show_default=True, help="Walks of each source."),
         _probability("--restart", 0.15, "Probability of ending before each step."),
         click.option("--top", type=Whole(min=1), help="Vertices of a source at most.  [default: all]")),
        ("walks", "restart", "top"), _rank_words, edges=False,
    ),
    Entry(
        "saint-nodes", "GraphSAINT's subgraphs of vertices drawn by the norms of their columns.", "saint_nodes", "",
        (click.option("--nodes", type=Whole(min=1), required=True, help="Drawn for a subgraph."), INSTANCES),
        ("nodes", "instances"),
    ),
    Entry(
        "saint-edges", "GraphSAINT's subgraphs of the ends of edges drawn by degrees.", "saint_edges", "",
        (click.option("--edges", type=Whole(min=1), required=True, help="Drawn for a subgraph."), INSTANCES),
        ("edges", "instances"),
    ),
    Entry(
        "saint-walks", "GraphSAINT's subgraphs of what walks visit.", "saint_walks", "",
        (click.option("--roots", type=Whole(min=1), required=True, help="Walks of a subgraph."), LENGTH, INSTANCES),
        ("roots", "length", "instances"),
    ),
    Entry(
        "edges", "Edges of the whole graph, all alike, without replacement.", "random_edges", "",
        (click.option("--count", "k", type=Whole(min=0), required=True, help="How many."),), ("k",),
    ),
    Entry(
        "run", OWN_HELP, _own_sampler, "seeds",
        (spec_argument, *spec_options,
         click.option("--pool-size", type=Whole(min=1), default=1, show_default=True, metavar="M",
                      help="Instances begin with so many of the seeds, one instance after the other."),
         REPEATED),
        ("spec", *SPEC_NAMES, "pool_size", "instances"), prepare=_with_spec,
    ),
)  # fmt: skip
