"""The framework of c-saw: samplers that a Spec describes, with the caller's functions in the kernels.

Source: Pandey et al., c-saw, Section III, Figure 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.arrays import is_array
from graphdask.device.limits import refuse_beyond_memory
from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.kinds import checked_seed, whole
from graphdask.interface.parameters import documented
from graphdask.partition.given import given_array
from graphdask.partition.vertex_map import index_dtype
from graphdask.sample.hops import arrays_of_seeds, checked_seeds
from graphdask.sample.sampler import Placement, checked_placement, numbered, sampled
from graphdask.sample.spec import Spec
from graphdask.sample.steps import Framework, SampledEdges
from graphdask.sample.walkers import stored_edges

__all__ = ["Framework", "SampledEdges", "run"]

TOO_MANY = "draw fewer, with another seed for each call"


@documented
def run(
    G: Graph,
    spec: Spec,
    seeds: Any,
    instances: int | None = None,
    *,
    seed: int = 0,
    edge_rows: bool = False,
    placement: Placement = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> SampledEdges:
    """Sample with functions of your own: c-saw's framework.

    Parameters
    ----------
    G : Graph
    spec : Spec
        What a step does.
    seeds : array of vertex ids, shape (k,) or (instances, k), or sequence of arrays
        With an array of one dimension, every seed is an instance of its own; else each row, or each array of a
        sequence, is the pool with which one instance begins. A seed that stands twice in an instance counts once,
        unless the spec says that vertices are revisited.
    instances : int, optional
        How many instances there are: instance i begins with the seeds number i modulo their count. Default: one for
        each.
    edge_rows : bool
        Whether samples have the column `edge` from the beginning: the row of each edge in what the graph was made of.
        Edges are drawn step by step then, which takes longer where instances are walks. Without it, `s.edge` draws
        them once more when it is first used.
    placement : {"auto", "replicated", "partitioned", "streamed"} or Streamed
        Whether every worker holds the whole graph, or a partition of it. `auto`: the whole where it fits. Partitions
        send each other much in every step for `per="layer"`, the biases of all edges that are chosen from, and for
        functions that read `destination_near_previous`, the rows of the vertices before. With "streamed" the edges are
        read where the host has them, as `Streamed` says.

    Returns
    -------
    SampledEdges
        `src`, `dst`, `hop`, `instance`: a row for each edge, in the order of instance, step, the source's place in
        the pool, and as they were chosen.

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    FunctionError
        If a function fails on a vertex or edge, or returns what cannot be used, with its line: a bias that is
        negative, infinite, NaN or above `edge_bound`, or a vertex that there is not. If it reads what is neither a
        field nor a column of the graph, or a column that has missing values or holds no numbers or dates.
    InputError
        For an argument out of its range, or a function that asks for weights that the graph has not.
    Unsupported
        For a function in CUDA C++ on a CPU.

    References
    ----------
    Pandey et al., c-saw: A Framework for Graph Sampling and Random Walk on GPUs, SC 2020, Section III.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [5.0, 0.0, 1.0, 1.0])
    >>> walk = gd.sample.Spec(edge_bias=lambda e: e.weight, depth=2, replace=True)
    >>> s = gd.sample.run(G, walk, [0], instances=2)
    >>> s.src.tolist(), s.dst.tolist(), s.instance.tolist()
    ([0, 1, 0, 1], [1, 3, 1, 3], [0, 0, 1, 1])
    """
    checked_graph(G)
    if not isinstance(spec, Spec):
        raise InputError(f"spec is a {type(spec).__name__}, not a gd.sample.Spec")
    flat, bounds = _pools(G, seeds, bool(spec.revisit))
    flat, bounds = _repeated(flat, bounds, instances)
    functions, columns = spec.functions_for(G)
    where = checked_placement(placement)
    sampler = Framework(flat, bounds, spec, functions, checked_seed(seed), *G.ids.in_functions, stored_edges(G))
    sampler.column_numbers = columns.numbers
    sampler.reads = columns.at(["in" if spec.direction == "in" and G.directed else "out"], "ids")
    return sampled(G, numbered(sampler, edge_rows), where, client, progress)


def _pools(G: Graph, seeds: Any, revisit: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """Vertex numbers of the pools of all instances, and where each begins; None where each has one."""
    if is_array(seeds):
        array = given_array("seeds", seeds)
        seeds = list(array) if array.ndim == 2 else array
    of_each = arrays_of_seeds(seeds) if revisit else seeds
    if not revisit or not isinstance(of_each, list):
        return checked_seeds(G, of_each)
    sizes = np.fromiter(map(len, of_each), np.int64, len(of_each))
    given = of_each if sizes.all() else [of_one for of_one in of_each if len(of_one)]
    if len({of_one.dtype for of_one in given}) == 1:  # all at once
        given = [np.concatenate(given)]
    numbers = [G.ids.to_internal(of_one, "seed", copy=False) for of_one in given] or [np.zeros(0, np.int64)]
    flat = numbers[0] if len(numbers) == 1 else np.concatenate(numbers)
    flat = flat.astype(index_dtype(G.num_vertices), copy=False)
    return flat, np.concatenate(([0], np.cumsum(sizes)))


def _repeated(flat: np.ndarray, bounds: np.ndarray | None, instances: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """The pools again and again, for a number of instances."""
    if instances is None:
        return flat, bounds
    instances = whole("instances", instances, 0, 2**40 - 1)
    given = len(flat) if bounds is None else len(bounds) - 1
    if instances and not given:
        raise InputError(f"instances={instances}, but there are no seeds")
    refuse_beyond_memory(f"{instances:,} instances", 24 * instances, TOO_MANY)
    which = np.arange(instances) % max(given, 1)
    if bounds is None:
        return flat[which], None
    sizes = np.diff(bounds)[which]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return flat[np.arange(starts[-1]) + np.repeat(bounds[which] - starts[:-1], sizes)], starts
