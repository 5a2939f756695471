"""PageRank of graphs that change, method beside method, at the same tolerance and at the same error.

Temporal graphs, from files or generated (the edges of R-MAT in random order, those of preferential attachment as they
grow), with 90 % of the edges there to begin with and consecutive batches of insertions; R-MAT graphs under random
batches, of which 80 % insert and 20 % delete edges; and R-MAT graphs that the workers generate, of any size, under
random insertions. Errors are L1 distances to a run of 500 iterations at a tolerance
of 1e-100. Every method has a graph and ranks of its own; a batch before the first warms it up.

Source: Sahu, Efficient GPU implementation of static and incrementally expanding DF-P PageRank for dynamic graphs, 2024,
Section 5: temporal batches of 1e-5 to 1e-3 of the edges, random ones of 1e-7 to 1e-1.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import truediv
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.bench.harness import CLOCK, Record, recorded, suite_of, timed_call
from graphdask.errors import InputError
from graphdask.graph.graph import Graph
from graphdask.io.outputs import pictures_output

SHOWN = (
    "experiment", "graph", "edges", "batch", "ranks", "stop", "method", "ms", "iteration_ms", "update_ms", "iterations",
    "affected", "error", "bound", "static_over_it", "nd_over_it",
)  # fmt: skip
"""Columns of the table."""
METHODS = ("static", "nd", "dt", "df", "dfp")
EXPERIMENTS = ("temporal", "random", "generated")
DEFAULT = ("temporal", "random")
PARTITIONS = ("both", "in", "none")
STOPS = ("tolerance", "error")
DAMPING, TOLERANCE, PRELOAD = 0.85, 1e-10, 0.9
Ends = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Suite:
    """How large, and how often."""

    temporal: int
    """R-MAT scale of the generated temporal graphs; those of preferential attachment have as many vertices."""
    shares: tuple[float, ...]
    """Of the edges, in a batch."""
    batches: int
    random: tuple[int, ...]
    """R-MAT scales of the graphs under random batches."""
    random_shares: tuple[float, ...]
    random_batches: int


SUITES = {
    ("quick", "cpu"): Suite(13, (1e-4, 1e-3), 8, (13,), (1e-5, 1e-3, 1e-1), 3),
    ("full", "cpu"): Suite(18, (1e-5, 1e-4, 1e-3), 100, (18,), tuple(10.0**-k for k in range(7, 0, -1)), 5),
    ("quick", "cuda"): Suite(18, (1e-5, 1e-4, 1e-3), 20, (20,), (1e-5, 1e-3, 1e-1), 3),
    ("full", "cuda"): Suite(22, (1e-5, 1e-4, 1e-3), 100, (20, 22, 24, 25), tuple(10.0**-k for k in range(7, 0, -1)), 5),
}
"""By name and device."""


@dataclass(frozen=True)
class Stream:
    """A graph to begin with, and edges to insert and to delete batch by batch."""

    experiment: str
    name: str
    share: float
    vertices: int
    start: Ends | Graph
    """Edges, or a graph that the workers generate."""
    insert: list[Ends]
    delete: list[Ends]


@recorded
def run(
    suite: str = "quick",
    *,
    experiments: tuple[str, ...] = (),
    files: tuple[str, ...] = (),
    methods: tuple[str, ...] = (),
    stops: tuple[str, ...] = (),
    error: float = 1e-6,
    graphs: tuple[str, ...] = (),
    scale: int | None = None,
    shares: tuple[float, ...] = (),
    batches: int | None = None,
    ranks: Sequence[int] = (1,),
    errors: int | None = None,
    partition_by: str = "both",
    device: str = "auto",
    seed: int = 0,
    plot: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    client: Any = None,
    progress: Callable[[Any], Any] = iter,
) -> Iterator[Record]:
    """Measure PageRank of graphs that change.

    Parameters
    ----------
    suite : {"quick", "full"}
        `quick` ends in a minute on two cores.
    experiments : tuple of {"temporal", "random", "generated"}
        Default: the first two.
    files : tuple of str
        Files of `source destination time`, for the temporal experiment in place of generated graphs.
    graphs : tuple of str
        Files of graphs without times, for the random experiment in place of R-MAT.
    methods : tuple of str
        Default: all, and at the same error "auto" too. Static and nd are measured in any case, to compare with.
    stops : tuple of {"tolerance", "error"}
        The largest change of a rank at the end, 1e-10, or a bound of the L1 error, `error`. Default: both.
    error : float
    scale : int, optional
        R-MAT graphs of 2**scale vertices; default: the suite's.
    shares : tuple of float
        Of the edges, in a batch; default: the suite's.
    batches : int, optional
        In a stream; default: the suite's.
    ranks : sequence of int
        Workers, or ranks of this process.
    errors : int, optional
        After how many batches of a stream the error is measured, spread over it, the last among them. Default: 4.
    partition_by : {"both", "in", "none"}
        As in `pagerank`: the partitionings of the paper's Figure 1.
    device : {"auto", "cpu", "cuda"}
    seed : int
    plot : path-like, optional
        Folder for figures, as PNG.
    overwrite : bool
        Replace figures that are there. Default: raise OutputExists, before anything is measured.
    client : distributed.Client, optional
    progress : callable
        Wraps the list of cases, as tqdm does.

    Yields
    ------
    dict
        For each graph, share, number of ranks, stop and method: `clock` ("call"), `ms` of a whole call of PageRank,
        `run_ms` of it on the ranks, `iteration_ms` of its iterations, and
        `update_ms` of the batch, medians; `iterations` and `affected`, means; `done`, iterations by method; `error`,
        the largest L1 error, `bound`, the largest one that was proved; `static_over_it` and `nd_over_it`, ratios of
        `ms`.

    Raises
    ------
    InputError
        For unknown names, and numbers that are not above 0.
    """
    size, device = suite_of(SUITES, suite, device)
    for name, given, known in (
        ("experiments", experiments, EXPERIMENTS), ("methods", methods, (*METHODS, "auto")), ("stops", stops, STOPS),
    ):  # fmt: skip
        for value in given:
            if value not in known:
                raise InputError(f"{name}: {value!r} is not one of {', '.join(known)}")
    for name, number in (("scale", scale), ("batches", batches), ("errors", errors), *(("ranks", r) for r in ranks)):
        if number is not None and number < 1:
            raise InputError(f"{name}={number} must be at least 1")
    for share in shares:
        if not 0 < share <= 1:
            raise InputError(f"shares: {share} is not above 0 and at most 1")
    if partition_by not in PARTITIONS:
        raise InputError(f"partition_by={partition_by!r} is not one of {', '.join(PARTITIONS)}")
    if not error > 0:
        raise InputError(f"error={error} must be above 0")
    if files and experiments and "temporal" not in experiments:
        raise InputError("files are for the temporal experiment; name it, or leave experiments out")
    if graphs and experiments and "random" not in experiments:
        raise InputError("graphs are for the random experiment; name it, or leave experiments out")
    if plot is not None:
        pictures_output(plot, ("dynamic-*.png",), overwrite)
    wanted = methods or (*METHODS, "auto")
    if shares:
        size = replace(size, shares=shares, random_shares=shares)
    chosen = experiments or (("random",) if graphs and not files else DEFAULT)
    streams = _streams(size, chosen, files, scale, batches, seed, graphs)
    records: list[Record] = []
    for stream in progress(streams):
        made = stream()
        for count in ranks:
            checked = 4 if errors is None else errors
            bench = Bench(made, wanted, stops or STOPS, error, count, checked, partition_by, device, client)
            for record in bench.records():
                records.append(record)
                yield record
    if plot is not None:
        _draw(records, Path(plot), overwrite)


@dataclass
class Bench:
    """The methods on one stream."""

    stream: Stream
    methods: tuple[str, ...]
    stops: tuple[str, ...]
    error: float
    ranks: int
    errors: int
    partition_by: str
    device: str
    client: Any

    def records(self) -> Iterator[dict[str, Any]]:
        from graphdask.graph.construct import from_edges

        stream, start = self.stream, self.stream.start
        base = from_edges(*start, num_vertices=stream.vertices) if isinstance(start, tuple) else start
        base = base.partition(self.ranks, device=self.device)
        last = len(stream.insert) - 1
        checked = sorted({last - round(k * last / self.errors) for k in range(self.errors)} - {0})
        exact: dict[int, np.ndarray] = {}
        for stop in self.stops:
            how: dict[str, Any] = {"tol": TOLERANCE} if stop == "tolerance" else {"error": self.error}
            others = [m for m in self.methods if m not in ("static", "nd") and (m != "auto" or stop == "error")]
            compared: dict[str, float] = {}
            for method in ("static", "nd", *others):
                row = self._follow(base, method, how, checked, exact)
                compared.setdefault(method, row["ms"])
                yield {
                    "benchmark": "dynamic", "experiment": stream.experiment, "graph": stream.name,
                    "vertices": stream.vertices, "batch": stream.share, "ranks": self.ranks, "device": self.device,
                    "partition_by": self.partition_by,
                    "stop": stop, "clock": CLOCK, "method": method, **row,
                } | {f"{m}_over_it": compared[m] / row["ms"] for m in ("static", "nd") if m in compared}  # fmt: skip

    def _follow(
        self, base: Any, method: str, how: dict[str, Any], checked: list[int], exact: dict[int, np.ndarray]
    ) -> dict[str, Any]:
        from graphdask.algorithms.ranking import dynamic_pagerank, pagerank
        from graphdask.dynamic.graph import DynamicGraph

        where: dict[str, Any] = {"client": self.client, "progress": False}
        D = DynamicGraph(base)
        pagerank(D, method="static", damping=DAMPING, **how, **where)
        seconds, running, updating, iterations, affected, errors, bounds = [], [], [], [], [], [], []
        done: dict[str, int] = {}
        for k, (insert, delete) in enumerate(zip(self.stream.insert, self.stream.delete, strict=True)):
            update = D.update(insert=insert, delete=delete, **where)
            ranked: Any = partial(pagerank, D, method=method, damping=DAMPING, partition_by=self.partition_by)
            spent, result = timed_call(partial(ranked, **how, **where))
            if k == 0:  # kernels are compiled
                continue
            seconds.append(spent)
            running.append(result.stats.seconds)
            updating.append(update.seconds)
            iterations.append(result.iterations)
            affected.append(result.affected)
            bounds.append(result.error)
            for name, count in result.steps.items():
                done[name] = done.get(name, 0) + count
            if k in checked:
                if k not in exact:
                    exact[k] = dynamic_pagerank(
                        D, "static", DAMPING, 1e-100, 500, None, None, {}, False, keeps=False, **where
                    ).rank
                errors.append(float(np.abs(result.rank - exact[k]).sum()))
        found = {
            "edges": D.num_edges, "batch_edges": len(self.stream.insert[-1][0]) + len(self.stream.delete[-1][0]),
            "batches": len(seconds), "ms": 1e3 * statistics.median(seconds), "ms_mean": 1e3 * statistics.mean(seconds),
            "iteration_ms": 1e3 * statistics.median(map(truediv, seconds, iterations)),
            "run_ms": 1e3 * statistics.median(running), "update_ms": 1e3 * statistics.median(updating),
            "iterations": statistics.mean(iterations),
            "affected": statistics.mean(affected), "error": max(errors), "bound": max(bounds), "done": done,
        }  # fmt: skip
        D.rows = None
        return found


def _streams(
    size: Suite,
    experiments: Sequence[str],
    files: Sequence[str],
    scale: int | None,
    batches: int | None,
    seed: int,
    graphs: Sequence[str] = (),
) -> list[Callable[[], Stream]]:
    """What makes each stream, so that one is in memory at a time."""
    made: list[Callable[[], Stream]] = []
    if "temporal" in experiments:
        count = 1 + (batches or size.batches)
        names = files or (f"R-MAT {scale or size.temporal}", f"PA 2^{scale or size.temporal}")
        made += [partial(_temporal, name, bool(files), share, count, seed) for name in names for share in size.shares]
    count, scales = 1 + (batches or size.random_batches), (scale,) if scale else size.random
    if "random" in experiments and graphs:
        made += [partial(_random, 0, share, count, seed, path) for path in graphs for share in size.random_shares]
        experiments = [name for name in experiments if name != "random"]
    for name, make in (("random", _random), ("generated", _inserted)):
        if name in experiments:
            made += [partial(make, each, share, count, seed) for each in scales for share in size.random_shares]
    return made


def _temporal(name: str, is_file: bool, share: float, count: int, seed: int) -> Stream:
    src, dst, vertices = _file(name) if is_file else _generated(name, seed)
    first, size = round(PRELOAD * len(src)), max(1, round(share * len(src)))
    count = min(count, -(-(len(src) - first) // size))
    if count < 2:
        raise InputError(f"{name}: its {len(src):,} edges are too few for two batches of {share:g}")
    cuts = [slice(first + k * size, first + (k + 1) * size) for k in range(count)]
    insert = [(src[cut], dst[cut]) for cut in cuts]
    nothing = src[:0], dst[:0]
    label = Path(name).name if is_file else name
    return Stream("temporal", label, share, vertices, (src[:first], dst[:first]), insert, [nothing] * count)


def _file(name: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Edges of a temporal file in the order of time, vertices numbered."""
    from graphdask.dynamic.temporal import read_stream

    stream = read_stream(name)
    ids, numbers = np.unique(np.concatenate([stream.src, stream.dst]), return_inverse=True)
    return numbers[: len(stream.src)], numbers[len(stream.src) :], len(ids)


def _generated(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Edges of a generated graph in the order in which they come, and how many vertices there are."""
    from graphdask.generate import preferential_attachment, rmat

    kind, size = name.rsplit(" ", 1)
    if kind == "PA":
        vertices = 1 << int(size.removeprefix("2^"))
        src, dst, _ = preferential_attachment(vertices, 8, 0.5, seed=seed).partition(1, device="cpu").edges("cpu")
        return src, dst, vertices
    src, dst, _ = rmat(int(size), edge_factor=16, directed=True, seed=seed).partition(1, device="cpu").edges("cpu")
    order = np.random.default_rng(seed).permutation(len(src))
    return src[order], dst[order], 1 << int(size)


def _random(scale: int, share: float, count: int, seed: int, path: str | None = None) -> Stream:
    """Batches of random edges to insert, and edges of the first graph to delete, each once."""
    name = f"R-MAT {scale}" if path is None else Path(path).name
    src, dst, vertices = _generated(name, seed) if path is None else _plain(path, seed)
    rng = np.random.default_rng([seed, scale])
    size = max(1, round(share * len(src)))
    gone = max(1, round(0.2 * size))
    if gone * count > len(src):
        raise InputError(f"{name} has {len(src):,} edges, too few for {count} batches of {share:g}")
    insert = [tuple(rng.integers(0, vertices, (2, max(1, size - gone)))) for _ in range(count)]
    delete = [(src[cut], dst[cut]) for cut in (slice(k * gone, (k + 1) * gone) for k in range(count))]
    return Stream("random", name, share, vertices, (src, dst), insert, delete)  # type: ignore[arg-type]


def _plain(path: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Edges of a file in random order, in both directions where it is undirected, vertices numbered."""
    from graphdask.bench.analysis.graphs import of_file
    from graphdask.bench.analysis.peers import Edges

    edges = Edges.of(of_file(path))
    src, dst, _ = edges.arcs
    order = np.random.default_rng(seed).permutation(len(src))
    return src[order], dst[order], edges.n


def _inserted(scale: int, share: float, count: int, seed: int) -> Stream:
    """Batches of random edges to insert into a graph that the workers generate."""
    from graphdask.generate import rmat

    vertices, rng = 1 << scale, np.random.default_rng([seed, scale])
    size = max(1, round(share * 16 * vertices))
    insert = [tuple(rng.integers(0, vertices, (2, size))) for _ in range(count)]
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    start = rmat(scale, edge_factor=16, directed=True, seed=seed)
    return Stream("generated", f"R-MAT {scale}", share, vertices, start, insert, [nothing] * count)  # type: ignore[arg-type]


def _draw(records: list[dict[str, Any]], folder: Path, overwrite: bool) -> None:
    """A picture for each graph and stop, over the share of a batch."""
    from graphdask.plot import changing_ranks

    groups = dict.fromkeys((r["experiment"], r["graph"], r["stop"], r["ranks"]) for r in records)
    for experiment, graph, stop, ranks in groups:
        mine = [r for r in records if (r["experiment"], r["graph"], r["stop"], r["ranks"]) == (experiment, graph, stop,
                ranks)]  # fmt: skip
        name = f"dynamic-{experiment}-{graph}-{stop}-{ranks}.png".replace(" ", "-").replace("^", "")
        title = f"{graph}, {experiment} batches, the same {stop}"
        xlabel = "batch, share of the edges"
        changing_ranks(mine, folder / name, x="batch", xlabel=xlabel, title=title, xscale="log", overwrite=overwrite)
