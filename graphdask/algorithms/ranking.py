"""The public PageRank: by power iteration over any graph, or following the batches of a dynamic one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.distribution import distribution
from graphdask.algorithms.dynamic_pagerank import (
    AUTO,
    FRONTIERS,
    METHODS,
    PARTITIONS,
    TOLERANCE,
    TOLERANCE_OF_ERROR,
    DynamicPageRank,
)
from graphdask.algorithms.dynamic_ranks import DynamicPageRankResult
from graphdask.algorithms.lengths import fit_weights
from graphdask.algorithms.pagerank import PageRank, PageRankResult, SinglePageRank
from graphdask.algorithms.summaries import RANK_OPTIONS, rank_words, ranks
from graphdask.device.limits import LEAST_SECONDS, refuse_beyond_time
from graphdask.dynamic.graph import DynamicGraph
from graphdask.errors import GraphdaskWarning, InputError, Unsupported, outside, shown
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import choice
from graphdask.interface.parameters import documented
from graphdask.interface.registry import algorithm


@algorithm(
    "pagerank", PageRankResult, "PageRank of every vertex.", summary=ranks, words=rank_words, weights=True,
    options=RANK_OPTIONS, also="page_rank pagerank_numpy pagerank_scipy", example=lambda G: {"tol": 1e-6},
)  # fmt: skip
@documented
def pagerank(
    G: Graph,
    damping: float = 0.85,
    tol: float | None = None,
    max_iter: int = 500,
    *,
    error: float | None = None,
    method: str | None = None,
    frontier_tol: float | None = None,
    prune_tol: float | None = None,
    partition_by: str | None = None,
    dangling: str | None = None,
    personalization: Any = None,
    weighted: bool | None = None,
    norm: str | None = None,
    dtype: Any = "float64",
    start: Any = None,
    exchange: str | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> PageRankResult | DynamicPageRankResult:
    """Return the PageRank: how often a random walk visits each vertex if it teleports with probability 1 - damping.

    Parameters
    ----------
    G : Graph
        An undirected edge counts both ways, a self-loop once; parallel edges add up.
    damping : float
        In [0, 1).
    tol : float, optional
        Stop when the norm of the change of the ranks in an iteration is at most this. 0: do exactly `max_iter`
        iterations, without a warning. Default: 1e-10.
    max_iter : int
        Largest number of iterations. If the change is still above `tol` after them, and `tol` is not 0, a
        GraphdaskWarning says so.
    error : float, optional
        In place of `tol`: stop when the L1 distance to the exact ranks is proved to be at most this, so that methods
        can be compared. The bound of dt, df and dfp includes what they have skipped in all calls. If `error` would be
        exceeded, dfp stops pruning (df), and after that an iteration ranks all vertices (nd); `steps` of the result
        counts the iterations by method.
    method : {"static", "nd", "dt", "df", "dfp", "auto"}, optional
        How to rank a DynamicGraph on its rows. All methods but "static" begin with the ranks that the last call with a
        method has left on the workers. If there are none, or they are of another damping, every method is "static".

        - "static": rank all vertices from scratch.
        - "nd" (naive-dynamic): rank all vertices.
        - "dt" (dynamic traversal): rank the vertices that can be reached from the changes.
        - "df" (dynamic frontier): rank the out-neighbours of the changes, and of vertices whose rank changes by more
          than `frontier_tol`.
        - "dfp" (with pruning): df without the vertices whose rank changes by `prune_tol` at most; each self-loop is
          solved for.
        - "auto", requires `error`: dfp until an iteration scans as many edges as there are, then nd with self-loops
          solved for, and with the ranks scaled to the sum 1 if that pays. It is as fast as nd, or faster.

        With a method, `dangling` is "self-loop" and `norm` is "linf"; weights, `personalization`, `start` and float32
        are not supported. Default: rank from scratch. A DynamicGraph is then ranked as an ordinary graph, whose
        partitions are built for it.
    frontier_tol, prune_tol : float, optional
        Thresholds of df and dfp, relative to the larger of the ranks before and after. Default: 1e-6; with `error`
        0.3 times `error`.
    partition_by : {"both", "in", "none"}, optional
        With a method, on a GPU: the degrees that decide whether a vertex shares a warp with 31 others or gets a warp or
        a block of its own. "both": in-degrees when vertices are ranked, out-degrees when their out-neighbours are
        marked. "in": in-degrees only; warps mark the out-neighbours of all vertices. "none": a warp or a block ranks
        each vertex. If the vertices to rank have most of the edges of a large graph, "both" and "in" distribute the
        edges of all vertices among threads as the ordinary PageRank does. The answer is the same. Default: "both", the
        fastest in Sahu's Figure 1.
    dangling : {"uniform", "self-loop"}, optional
        What the walk does at a vertex without out-edges. "uniform", the default: it teleports, as in NetworkX, to any
        vertex or as `personalization` says. "self-loop": every vertex without a self-loop gets one of weight 1.
    personalization : dict or array-like of float, optional
        Distribution of the vertices that the walk teleports to: weights by the caller's vertex ids (0 for vertices
        that are not named), or an array of shape (num_vertices,) in the order of `G.vertex_ids`. Default: uniform.
    weighted : bool, optional
        Follow edges in proportion to their weights. Default: True if the graph has weights.
    norm : {"l1", "linf"}, optional
        Norm of the change: "l1" is the sum and "linf" the largest of absolute values. Default: "l1".
    dtype : {"float64", "float32"}
        Dtype of the ranks. With float32 an iteration moves half as many bytes; sums are float64 all the same.
    start : dict or array-like of float, optional
        Ranks of the first iteration, given like `personalization`. Default: uniform.

    Returns
    -------
    PageRankResult
        With `rank`, shape (num_vertices,), in the order of `G.vertex_ids`, its sum 1 but for rounding; `iterations`,
        `residual`, `converged`, and `error`, a bound of the L1 distance to the exact ranks. Identical bit for bit for
        every number of partitions and on every device.
    DynamicPageRankResult
        Returned if a method is given. `rank`, `iterations`, `residual`, `converged`, `error` as above; `method`, the
        method used; `steps`, the iterations by method; and `affected`, the number of vertices that were ranked. Ranks
        of static sum to 1 but for rounding, and so do those of nd after static or nd. Ranks of the other methods do
        only up to what the methods skip. Identical bit for bit likewise.

    Raises
    ------
    InputError
        If an argument has an invalid value, if weights or the values of `personalization` or `start` are negative or
        not finite, or if those values sum to 0.
    Unsupported
        If a method is given for a Graph that is not dynamic, or together with arguments that it does not support.
    VertexNotFound
        If `personalization` or `start` name an id that is not a vertex.

    References
    ----------
    Brin, Page: The anatomy of a large-scale hypertextual web search engine, 1998. Sahu: Efficient GPU implementation of
    static and incrementally expanding DF-P PageRank for dynamic graphs, 2024. Pan, Wang, Wu, Yang, Owens: Multi-GPU
    Graph Analytics, IPDPS 2017, Section IV.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3], [1, 0, 0, 0])
    >>> gd.pagerank(G).rank.round(4).tolist()
    [0.4797, 0.4453, 0.0375, 0.0375]
    """
    checked_graph(G)
    if not (_is_number(damping) and 0 <= damping < 1):
        raise InputError(f"damping={damping!r} is not a number in [0, 1)")
    if tol is not None and not (_is_number(tol) and tol >= 0):
        raise InputError(f"tol={tol!r} is not a number of 0 or more")
    if error is not None and not (_is_number(error) and error > 0):
        raise InputError(f"error={error!r} is not a number above 0")
    if tol is not None and error is not None:
        raise InputError(f"tol={tol:g} and error={error:g} both say when to stop; leave one out")
    if not isinstance(max_iter, int | np.integer) or isinstance(max_iter, bool) or max_iter < 1:
        raise InputError(f"max_iter={max_iter!r} is not a whole number of 1 or more")
    name = _name_of(dtype)
    choice("dtype", name, ("float64", "float32"))
    _refuse_endless(float(damping), tol, error, int(max_iter), name)
    if dangling is not None:
        choice("dangling", dangling, ("uniform", "self-loop"))
    if norm is not None:
        choice("norm", norm, ("l1", "linf"))
    if weighted is not None and not isinstance(weighted, bool | np.bool_):
        raise InputError(f"weighted={weighted!r} is neither true nor false")
    if weighted and not G.weighted:
        raise InputError("weighted=True, but the edges of this graph have no weights")
    if method is not None:
        plain = {
            "dangling": dangling in (None, "self-loop"), "norm": norm in (None, "linf"), "dtype": name == "float64",
            "personalization": personalization is None, "start": start is None, "weighted": not weighted,
            "exchange": exchange in (None, "selective"), "checkpoint": checkpoint is None, "every": every is None,
        }  # fmt: skip
        return dynamic_pagerank(
            G, method, float(damping), 1e-10 if tol is None else float(tol), int(max_iter), frontier_tol, prune_tol,
            plain, weighted is None, error=None if error is None else float(error), partition_by=partition_by,
            client=client, progress=progress,
        )  # fmt: skip
    if frontier_tol is not None or prune_tol is not None:
        raise Unsupported("frontier_tol= and prune_tol= are of method='df' and 'dfp'")
    if partition_by is not None:
        raise Unsupported("partition_by= is of the methods of a DynamicGraph; say method=")
    if error is not None and norm == "linf":
        raise Unsupported("error= is an L1 distance; leave norm='linf' out, or say tol=")
    if error is not None:
        tol = float(error) * (1.0 - damping) / max(float(damping), 0.01)
    tol = 1e-10 if tol is None else float(tol)
    weighted = G.weighted if weighted is None else bool(weighted)
    personal, first = distribution(G, personalization, "personalization"), distribution(G, start, "start")
    if weighted:
        takes = "; pagerank takes weights of 0 or more that are finite, and weighted=False leaves them aside"
        fit_weights(G, takes, client, progress)
    primitive = (PageRank if name == "float64" else SinglePageRank)(
        float(damping),
        tol,
        int(max_iter),
        self_loops=dangling == "self-loop",
        weighted=weighted,
        norm=norm or "l1",
        personalization=personal,
        start=first,
    )
    result = execute.run(
        G, primitive, exchange=exchange, checkpoint=checkpoint, every=every, client=client, progress=progress
    )
    if (tol or error is not None) and not result.converged:
        warn_of_residual(result, max_iter, tol, error)
    return result


def _refuse_endless(damping: float, tol: float | None, error: float | None, max_iter: int, dtype: Any) -> None:
    """Raise InputError for more iterations than any machine does, where they are certain to be done: a tolerance that
    rounding keeps the ranks from reaching ends nothing."""
    resolved = 2.0**-23 if dtype == "float32" else 2.0**-52
    bound, least = ("tol", 1e-10 if tol is None else tol) if error is None else ("error", error * (1.0 - damping))
    if least < resolved:
        why = "tol=0 asks for exactly so many" if tol == 0 else f"{bound}= is below what {dtype} resolves"
        refuse_beyond_time(
            f"max_iter={max_iter:,} iterations, of which each takes a microsecond at least ({why}),",
            max_iter * LEAST_SECONDS, f"give fewer, or a larger {bound}=",
        )  # fmt: skip


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _name_of(dtype: Any) -> Any:
    """The name of a dtype, however it is given; what is none stays."""
    if isinstance(dtype, type | np.dtype):
        try:
            return np.dtype(dtype).name
        except TypeError:
            return dtype
    return dtype


def dynamic_pagerank(
    G: Any,
    method: str,
    damping: float,
    tol: float,
    max_iter: int,
    frontier_tol: float | None,
    prune_tol: float | None,
    plain: Mapping[str, bool],
    weights_unset: bool,
    *,
    error: float | None = None,
    partition_by: str | None = None,
    keeps: bool = True,
    client: Any = None,
    progress: bool | None = None,
) -> DynamicPageRankResult:
    """Rank a DynamicGraph as `pagerank` does if it is given a method.

    Parameters
    ----------
    plain : mapping of str to bool
        By the name of another argument, whether the methods support its value.
    weights_unset : bool
        Whether the caller left open whether to use weights.
    keeps : bool
        Whether the ranks stay on the workers, so that the next call begins with them.
    """
    if method not in (*METHODS, AUTO):
        raise InputError(f"method={shown(method)} is not one of {', '.join((*METHODS, AUTO))}")
    if partition_by is not None:
        choice("partition_by", partition_by, tuple(PARTITIONS))
    if method == AUTO and error is None:
        raise InputError("method='auto' chooses the fastest way to an error; say error=")
    if not isinstance(G, DynamicGraph):
        raise Unsupported(f"method={shown(method)} follows the batches of a DynamicGraph, and G is none; leave it out")
    for name, fits in plain.items():
        if not fits:
            raise Unsupported(f"{name}= is as it is with method={shown(method)}; leave it out, or the method")
    if G.weighted and weights_unset:
        raise Unsupported(f"method={shown(method)} does not support weights, and G has some; use weighted=False")
    for name, value in (("frontier_tol", frontier_tol), ("prune_tol", prune_tol)):
        if value is None:
            continue
        if method not in ((*FRONTIERS, AUTO) if name == "frontier_tol" else ("dfp", AUTO)):
            raise Unsupported(f"{name}= has no meaning with method={shown(method)}")
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not value >= 0:
            raise InputError(f"{name}={shown(value)} is not a number of 0 or more")
    usual = TOLERANCE if error is None else TOLERANCE_OF_ERROR * error
    frontier, prune = (usual if value is None else float(value) for value in (frontier_tol, prune_tol))
    primitive = DynamicPageRank(method, damping, tol, max_iter, frontier, prune, keeps, error, partition_by or "both")
    result: DynamicPageRankResult = execute.rank(G, primitive, client=client, progress=progress)
    if keeps and (tol or error is not None) and not result.converged:
        warn_of_residual(result, max_iter, tol, error)
    return result


def warn_of_residual(result: Any, max_iter: int, tol: float, error: float | None = None) -> None:
    """Say that the iterations stopped before they converged."""
    missed = f"a residual of {result.residual:.3g}, above tol={tol:g}; raise max_iter= or tol="
    if error is not None:
        missed = f"an error of up to {result.error:.3g}, above error={error:g}; raise max_iter= or error="
    warnings.warn(
        f"pagerank stopped after max_iter={max_iter} iterations with {missed}", GraphdaskWarning, stacklevel=outside()
    )
