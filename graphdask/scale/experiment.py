"""Runs a scaling experiment: builds each graph once for each number of workers, and measures what the file lacks.

Ranks are workers of a Dask cluster; fewer than it has are a subset of them, so that workers start once. Two times are
taken of each run: that of its supersteps, without any start-up, and that of the whole call. What fails is recorded
with the reason, and the next measurement begins; where workers of this host may have been left in disorder, they are
started anew.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from graphdask.bench.analysis.graphs import Case, Facts, input_edges, weighted
from graphdask.bench.analysis.timing import Timed, middle, quiet, rate, timed
from graphdask.device.backend import get_backend
from graphdask.errors import GraphdaskWarning, InputError, OverBudget, shown
from graphdask.interface.kinds import checked_seed
from graphdask.scale.plan import USUAL, Measurement, Settings, measurements
from graphdask.scale.records import Record, RecordFile, opened

MOST_STEPS = 400
"""Supersteps of the typical run that are recorded one by one; of a longer run the first."""


def run(
    path: str | os.PathLike[str],
    *,
    workers: Sequence[int] = (1, 2),
    kinds: Sequence[str] = ("strong",),
    algorithms: Sequence[str] = USUAL,
    scales: Sequence[int] = (),
    edge_factor: int | None = None,
    transports: Sequence[str] = ("auto",),
    sources: int = 4,
    repeats: int = 3,
    seed: int = 0,
    max_weight: int = 255,
    overwrite: bool = False,
    device: str = "auto",
    deadline: float | None = None,
    retry_failed: bool = False,
    client: Any = None,
    each: Callable[[Record], Any] | None = None,
    say: Callable[[str], Any] | None = None,
    doing: Callable[[str], Any] | None = None,
) -> list[Record]:
    """Measure how the time of the algorithms changes with the number of workers; go on where the file ends.

    Parameters
    ----------
    path : path-like
        A JSON line for each measurement is appended to this file, as soon as it is made. What is in it is not
        measured again, so that a run which was ended goes on with the same call.
    workers : sequence of int
        Numbers of workers.
    kinds : sequence of {"strong", "weak-edge", "weak-vertex"}
        The same graph for all numbers of workers; its edge factor times the workers; its vertices times the workers,
        which then are a power of two.
    algorithms : sequence of str
        Of bfs (which only pushes), dobfs (which optimises its direction), components, betweenness, pagerank,
        triangles, sssp.
    scales : sequence of int
        Of the R-MAT graphs, of weak kinds that of one worker; default: the paper's on GPUs (strong 24, weak 19), small
        ones on CPUs.
    edge_factor : int, optional
        Edges per vertex, of weak-edge for one worker; default: the paper's on GPUs (strong 32, weak 256).
    transports : sequence of {"auto", "shm", "ucx", "nccl", "tcp"}
        Data planes between workers; one worker is measured once.
    sources : int
        Vertices to start from, the same for all numbers of workers.
    repeats : int
        Runs from each source, or of an algorithm without one.
    seed, max_weight : int
        Of graphs, weights and sources; weights are whole, from 1 to `max_weight`.
    overwrite : bool
        Measure everything anew, and replace the file in the end. Default: go on with what is in it; a file that holds
        anything else is refused.
    device : {"auto", "cpu", "cuda"}
    deadline : float, optional
        Seconds after which one run counts as failed; default: `graphdask.time-limit`.
    retry_failed : bool
        Measure again what failed before.
    client : distributed.Client, optional
        Run on its workers; default: workers are started on this host.
    each : callable, optional
        Called with every new record.
    say : callable, optional
        Called with a line of what was found in the file, and when workers are started anew.
    doing : callable, optional
        Called with what is measured next.

    Returns
    -------
    list of dict
        The records of all measurements that were asked for, those that were in the file too.

    Raises
    ------
    InputError
        Before any work: for an unknown name, a number out of range, more workers than there are, a file that cannot be
        written, or that holds measurements of another machine.
    FormatError
        For a file that holds something else.

    Examples
    --------
    >>> from graphdask import scale
    >>> scale.run("strong.jsonl", workers=(1, 2), algorithms=("bfs",), scales=(12,))  # doctest: +SKIP
    """
    import dask.config

    checked_seed(seed)
    for name, number in (("sources", sources), ("repeats", repeats), ("max_weight", max_weight)):
        if number < 1:
            raise InputError(f"{name}={number} must be at least 1")
    if edge_factor is not None and edge_factor < 1:
        raise InputError(f"edge_factor={edge_factor} must be at least 1")
    if deadline is not None and not deadline > 0:
        raise InputError(f"deadline={deadline} must be more than 0")
    for name, called in (("each", each), ("say", say), ("doing", doing)):
        if called is not None and not callable(called):
            raise InputError(f"{name}={shown(called)} cannot be called")
    there = None if client is None else _Described.by(client, device)
    settings = Settings(get_backend(device).name if there is None else there.device, sources, repeats, seed, max_weight)
    planned = measurements(settings, workers, kinds, algorithms, scales, edge_factor, transports)
    most = max(one.workers for one in planned)
    _enough(most, settings.device, client)
    say, doing = (_nobody if called is None else called for called in (say, doing))
    limit = {} if deadline is None else dict.fromkeys(("graphdask.deadline", "graphdask.time-limit"), float(deadline))
    with opened(path, overwrite) as file:
        machine = about_machine() if there is None else there.machine
        _same_machine(file, machine)
        had = _had(file, planned, retry_failed)
        if file.cut:
            say(f"{file.path}: its last line was not written to its end, and was cut off")
        if had:
            say(f"{file.path}: {len(had)} of {len(planned)} measurements are in it already")
        left = [one for one in planned if one.key not in had]
        made = {}
        with dask.config.set(limit), _Workers(most, settings.device, client) as places:
            experiment = _Experiment(places, settings, machine, say, doing)
            for number, (one, record) in enumerate(experiment.measure(left), start=1):
                made[one.key] = file.append(record)
                if each is not None:
                    each(made[one.key] | {"done": number, "of": len(left)})
    return [had.get(one.key) or made[one.key] for one in planned]


def _nobody(line: str) -> None:
    """Hears what nobody wants to know."""


def _enough(most: int, device: str, client: Any) -> None:
    """Raise InputError where there are not so many workers."""
    from graphdask.device.backend import cuda_device_count

    if client is not None:
        there, what = len(client.nthreads()), "the cluster has {} workers"
    elif device == "cuda":
        there, what = cuda_device_count(), "there are {} GPUs, and each worker needs its own"
    else:
        _warn_of_shared_cores(most)
        return
    if there < most:
        raise InputError(f"workers={most} is too many: {what.format(there)}")


def _warn_of_shared_cores(most: int) -> None:
    from graphdask.cluster.local import core_count

    if most > core_count():
        warnings.warn(
            GraphdaskWarning(
                f"{most} workers share {core_count()} cores here: their times say little about how the algorithms scale"
            ),
            stacklevel=4,
        )


def about_machine() -> dict[str, Any]:
    """This host, its versions, and the commit of graphdask's source."""
    from graphdask.cluster.described import commit
    from graphdask.cluster.doctor import examine

    seen = examine()
    return {
        "host": seen["host"], "processor": seen["processor"], "cores": seen["cores"],
        "memory": seen["memory"]["total"], "gpus": [gpu["name"] for gpu in seen["gpus"]],
        "driver": seen["cuda"].get("driver"), "python": seen["python"], "versions": seen["versions"],
        "commit": commit(),
    }  # fmt: skip


@dataclass(frozen=True)
class _Described:
    """What a worker of somebody's cluster says of its machine."""

    machine: dict[str, Any]
    device: str

    @classmethod
    def by(cls, client: Any, device: str) -> _Described:
        addresses = list(client.nthreads())
        if not addresses:
            raise InputError("the Dask cluster has no workers; start some, or wait with client.wait_for_workers(1)")
        machine, name = client.run(_machine_and_device, device, workers=addresses[:1])[addresses[0]]
        return cls(machine, name)


def _machine_and_device(device: str) -> tuple[dict[str, Any], str]:
    return about_machine(), get_backend(device).name


def _same_machine(file: RecordFile, machine: dict[str, Any]) -> None:
    """Times of different hardware are not compared; that of another node with the same is the same."""
    for record in file.records:
        for what in ("processor", "gpus"):
            if record["machine"].get(what) != machine[what]:
                was, now = (m.get(what) or "none" for m in (record["machine"], machine))
                raise InputError(
                    f"{file.path} holds measurements of another machine ({what}: {was}; here: {now}); name another file"
                )


def _had(file: RecordFile, planned: list[Measurement], retry_failed: bool) -> dict[tuple[Any, ...], Record]:
    from graphdask.scale.plan import identity

    wanted = {one.key for one in planned}
    found = {identity(record): record for record in file.records}
    return {key: record for key, record in found.items() if key in wanted and not (retry_failed and "failed" in record)}


class _Workers:
    """The cluster's client: somebody's, or of workers that are started here when the first is needed."""

    def __init__(self, most: int, device: str, client: Any):
        self._most, self._device, self._given = most, device, client
        self._stack = ExitStack()
        self._own: Any = None

    @property
    def client(self) -> Any:
        from graphdask.cluster.local import local_cluster

        if self._given is not None:
            return self._given
        if self._own is None:
            self._own = self._stack.enter_context(local_cluster(self._most, self._device))
        return self._own

    def renew(self) -> bool:
        """End the workers of this host, so that the next measurement starts others; whether there were any."""
        had = self._own is not None
        self._own = None
        self._stack.close()
        return had

    def __enter__(self) -> _Workers:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._stack.close()


@dataclass
class _Start:
    """Where the runs on a graph begin, for all numbers of workers."""

    numbers: np.ndarray
    """Vertices."""
    edges: list[int]
    """For each, the edges of the input that can be reached from it."""
    degrees: list[list[int]]
    """Vertices and the sum of their degrees, for degrees of 1, 2 to 3, 4 to 7, ..."""


@dataclass
class _Experiment:
    places: _Workers
    settings: Settings
    machine: dict[str, Any]
    say: Callable[[str], Any]
    doing: Callable[[str], Any]
    starts: dict[tuple[int, int], _Start] = field(default_factory=dict)
    """By scale and edge factor."""

    def measure(self, left: list[Measurement]) -> Iterator[tuple[Measurement, Record]]:
        """The records of all measurements, grouped by what graph they need."""
        for (case, size, weights), group in groupby(left, lambda one: (one.case, one.workers, one.algorithm.weights)):
            todo = sorted(group, key=lambda one: one.transport)
            graph = None
            for one in todo:
                graph, record = self._one(one, graph, case, size, weights)
                yield one, record

    def _one(self, one: Measurement, graph: Any, case: Case, size: int, weights: bool) -> tuple[Any, Record]:
        import dask.config

        about = one.about | {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "machine": self.machine}
        comm = one.transport if size > 1 else "auto"
        self.doing(
            f"{one.case.scaling} {case.name}: {one.algorithm.name}, {size} worker{'s' * (size > 1)}, {one.transport}"
        )
        try:
            with dask.config.set({"graphdask.comm": comm}), quiet():
                client = self.places.client
                if graph is None:
                    graph = case.make(self.settings.seed)
                    if weights:
                        graph = weighted(graph, self.settings.seed, self.settings.max_weight)
                    graph = graph.partition(parts=size, device=self.settings.device)
                begin = time.perf_counter()
                graph.persist(client=client, progress=False)
                about |= {"vertices": graph.num_vertices, "edges": graph.built.num_edges}
                build = time.perf_counter() - begin
                start = self._start(case, graph, client)
                return graph, about | {"build_seconds": build} | _runs(one, graph, start, client)
        except Exception as error:  # whatever it is, it is said, and the next one may do
            if not isinstance(error, OverBudget | InputError):
                if self.places.renew():
                    self.say("its workers are started anew")
                graph = None
            return graph, about | {"failed": type(error).__name__, "reason": str(error)}

    def _start(self, case: Case, graph: Any, client: Any) -> _Start:
        key = (case.scale, case.edge_factor)
        if key not in self.starts:
            facts = Facts.of(graph)
            numbers = facts.sources(self.settings.sources, self.settings.seed)
            if not len(numbers):
                raise InputError("the graph has no edge to another vertex; take a larger one")
            edges = input_edges(graph, facts, numbers, client=client, progress=False)
            bins = np.frexp(facts.degree[facts.degree > 0])[1]
            counts, sums = np.bincount(bins), np.bincount(bins, facts.degree[facts.degree > 0])
            degrees = [[int(count), int(total)] for count, total in zip(counts, sums, strict=True) if count]
            self.starts[key] = _Start(numbers, edges, degrees)
        return self.starts[key]


def _runs(one: Measurement, graph: Any, start: _Start, client: Any) -> Record:
    """What one algorithm did; its first run, which compiles and connects, is not counted."""
    ids, algorithm, repeats = graph.vertex_ids, one.algorithm, one.settings.repeats
    own = len(start.numbers) if algorithm.source else 1
    sources = [ids[number] for number in start.numbers] if algorithm.source else [None]
    reached = start.edges if algorithm.source else [graph.built.num_edges]

    def once(source: Any) -> Any:
        return algorithm.run(graph, source, client=client, progress=False)

    begin = time.perf_counter()
    once(sources[0])
    warm_up = time.perf_counter() - begin
    runs = timed(once, sources * repeats)
    typical = middle(runs)
    return {
        "data_plane": typical.stats.transport,
        "exchange": typical.stats.exchange,
        "devices": typical.stats.devices,
        "hosts": len({host.address.rpartition(":")[0] for host in graph.built.gang.hosts}),
        "warm_up_seconds": warm_up,
        "runs": [
            {
                "source": number % own if algorithm.source else None,
                "seconds": each.seconds,
                "call_seconds": each.call_seconds,
                "supersteps": len(each.stats),
                "edges_looked": each.stats.edges,
                "bytes_sent": each.stats.bytes_sent,
                "edges_reached": reached[number % own],
            }
            for number, each in enumerate(runs)
        ],
        "seconds": float(np.median([each.seconds for each in runs])),
        "call_seconds": float(np.median([each.call_seconds for each in runs])),
        "teps": _teps(reached * repeats, runs),
        "bsp": asdict(typical.stats.bsp),
        "steps": _steps(runs, typical.stats),
        "degrees": start.degrees,
    }


def _teps(edges: Sequence[int], runs: Sequence[Timed]) -> float | None:
    """Edges of the input per second, the harmonic mean over the runs, as Graph500 takes it."""
    found = rate(edges, [each.seconds for each in runs])
    return None if found is None else found * 1e6


def _steps(runs: Sequence[Timed], typical: Any) -> list[list[float]]:
    """For each superstep of the typical run: edges visited, of all ranks and of the one with most; bytes sent
    likewise; seconds of computation of the slowest rank, and of the superstep on the mean of the ranks, whose sum is
    the run's as no wait counts twice. Seconds are medians over the runs that did the same.
    """
    counts = _counts(typical)
    same = [_seconds(each.stats) for each in runs if _counts(each.stats) == counts]
    times = np.median(np.array(same), axis=0).reshape(-1, 2).tolist()
    return [[*count, *time] for count, time in zip(counts, times, strict=True)][:MOST_STEPS]


def _seconds(stats: Any) -> list[list[float]]:
    computed = [step["compute"] for step in stats]
    shares = [share.compute + share.code + share.exchange + share.wait for share in stats.shares]
    return [list(both) for both in zip(computed, shares, strict=True)]


def _counts(stats: Any) -> list[list[int]]:
    found = []
    for ranks in zip(*stats.ranks_detail, strict=True):
        edges, sent = [rank.edges for rank in ranks], [rank.bytes_sent for rank in ranks]
        found.append([sum(edges), max(edges), sum(sent), max(sent)])
    return found
