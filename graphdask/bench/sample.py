"""Samplers beside each other and beside others': sampled edges per second (SEPS), of whole calls and of their parts.

Walks by each bias and method, and traversal sampling by each way to draw without replacement, as in Figure 10 of the
c-saw paper; the same as functions of the user (graphdask.bench.specs). Some walks also start from every vertex, which
is said as a range and a number of walks for each. The graph is R-MAT, weighted from 1 to 64, undirected. Tables of
biases stay with the graph; the first call of a case makes them, and its time is recorded separately. Samplers of other
libraries are in graphdask.bench.sample_peers.

Source: Pandey et al., c-saw, Section VI: 4,000 walks of 2,000 steps, and 2,000 sampling instances.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from graphdask.bench.analysis.graphs import of_file
from graphdask.bench.harness import Record, recorded, suite_of
from graphdask.bench.out_of_memory import OutOfMemory
from graphdask.bench.sample_cases import NEIGHBORHOODS, SUITES, WALKS, Bench
from graphdask.bench.sample_links import LIKE
from graphdask.bench.selection import Selection
from graphdask.bench.specs import WALK_SPECS
from graphdask.errors import InputError

SHOWN = (
    "sampler", "like", "bias", "method", "starts", "instances", "batch_size", "size", "at_once", "ranks",
    "scheme", "edges", "kernel_ms", "draw_ms", "run_ms", "ms", "host_ms", "kernel_mseps", "draw_mseps", "mseps",
    "clock", "graphdask_ms", "over_graphdask", "differs", "times", "draw_times",
    "transfers", "transferred_mb", "in_place", "imbalance", "skipped",
)  # fmt: skip
"""Columns of the table."""


@recorded
def run(
    suite: str = "quick",
    *,
    scale: int | None = None,
    graph: str | os.PathLike[str] | None = None,
    directed: bool | None = None,
    samplers: Sequence[str] = (),
    walks: Sequence[int] = (),
    ranks: Sequence[int] = (1,),
    placement: str = "auto",
    device: str = "auto",
    repeats: int = 3,
    seed: int = 0,
    gather: bool = True,
    peers: bool = True,
    client: Any = None,
) -> Iterator[Record]:
    """Measure samplers.

    Parameters
    ----------
    suite : {"quick", "full", "peers", "selection", "out-of-memory"}
        `peers` has others' samplers alone, each with ours beside it. `selection` compares ways to draw several
        neighbours of a vertex, by time, tries and looks for collisions (graphdask.bench.selection). The last one draws
        the same samples from a graph in memory and from one streamed by each scheme (graphdask.bench.out_of_memory).
    scale : int, optional
        Of an R-MAT graph with 2**scale vertices and 16 edges for each. Default: the suite's.
    graph : path-like, optional
        A graph from this file instead, its weights or such as R-MAT is given.
    directed : bool, optional
        How the file is read; default: as it says.
    samplers : sequence of str
        Only those whose names begin so; default: all.
    walks : sequence of int
        How many walks there are in each case, of the suite's first length; default: as many as the suite has.
    ranks : sequence of int
        Workers, or ranks of this process.
    placement : {"auto", "replicated", "partitioned"}
    device : {"auto", "cpu", "cuda"}
    repeats : int
        Each call runs once to warm up and then this often; one of a few milliseconds oftener, unless this is 1.
    seed : int
    gather : bool
        Whether samples are brought to the caller, and that is measured; many walks are more than a host takes.
    peers : bool
        Whether others' samplers are measured too, where they are installed, without a client: igraph, NetworkX,
        torch-cluster, pyg-lib, on CPUs PyTorch Geometric's loader of links; on a GPU pylibcugraph.
    client : distributed.Client, optional

    Yields
    ------
    dict
        For each case `sampler`, `bias`, `method`, of walks `starts` (`array`, or `range`), `instances`, `size` (length
        of walks, or fan-outs), `ranks`, `placement`, `device`, `scale`; `edges` (sampled), `first_ms` (the first call,
        with tables), `compile_ms` (what compiling took in it besides), `ms` (median of the later calls, after which the
        samples are on the devices), `run_ms` (of it on
        the workers, from when they are called until their devices are done), `draw_ms` (of that what the slowest rank
        was drawing, its starts taken to its device included), `host_ms` (of a call and of bringing all columns to the
        caller); on GPUs of this process `kernel_ms` (of another call what its kernels took on the device, by events
        around each launch) and `kernels` (of each, by name); `mseps`, `run_mseps`, `draw_mseps`, `kernel_mseps` and
        `host_mseps` (millions of edges per second of each); of functions of the user `like` (the built-in sampler that
        draws the same), `times` and `draw_times` (how many times as long an edge takes as with that one in this run, of
        `ms` and of `draw_ms`); of others' samplers `like`, `clock` ("call"), `graphdask_ms`, `graphdask_edges` and
        `graphdask_mseps` of the same walks or seeds by that one, and `over_graphdask`, its `ms` over that, or `differs`
        and what does; or `skipped`. Out of memory besides: `scheme`, and of the
        last call `transfers` of partitions to the device, `transferred_mb`, `in_place` and `imbalance` (as in
        `Stats.streamed`). Of selection besides: `table`, `collisions`, and what graphdask.bench.selection says. Of the
        loader `ms` is that of an epoch, and `at_once` how many batches are drawn together, where it is said. Of PyTorch
        Geometric's loader of links `batch_size`, and `ms` of an epoch of `instances` batches; its first line says
        `skipped` without pyg-lib and torch-sparse.

    Raises
    ------
    InputError
        For an unknown suite or sampler, or numbers that are not above 0.
    """
    size, device = suite_of(SUITES, suite, device)
    if min(1 if scale is None else scale, repeats, *ranks, *walks) < 1:
        raise InputError(
            f"scale={scale}, repeats={repeats}, ranks={tuple(ranks)} and walks={tuple(walks)} must be 1 or more"
        )
    if walks and not size.walks:
        raise InputError(f"walks={tuple(walks)} says nothing for suite={suite!r}, which has none; leave it out")
    if walks:
        size = replace(size, walks=tuple((count, size.walks[0][1]) for count in walks))
    known = sorted({"loader", LIKE}.union(name.split()[0] for name, _, _ in (*WALKS, *WALK_SPECS, *NEIGHBORHOODS)))
    for name in samplers:
        if not any(each_name.startswith(name) for each_name in known):
            raise InputError(f"sampler={name!r} is not one of {', '.join(known)}")
    if suite == "out-of-memory" and placement != "auto":
        raise InputError(f"placement={placement!r} does not go with suite='out-of-memory', which compares them")
    made = {"out-of-memory": OutOfMemory, "selection": Selection}.get(suite, Bench)
    if graph is not None and scale is not None:
        raise InputError(f"scale={scale} is of R-MAT graphs; leave it out with graph={os.fspath(graph)!r}")
    bench = made(size, size.scale if scale is None else scale, placement, device, repeats, seed, gather, client)
    if graph is not None:
        bench.read, bench.scale = of_file(graph, directed), None
    named = {} if graph is None else {"graph": os.path.basename(graph)}
    for record in bench.records(tuple(samplers), ranks, peers):
        yield record | named
