"""Edges and bytes per second of the generators, on CPU cores or GPUs, and other generators in the same run.

The experiments stand in `generation/cases.py`, what is timed in `generation/timing.py`. graphdask makes the targets alone,
4 bytes an edge while the ids fit 32 bits, in fresh memory. The others build the graph that they return, on the CPU;
beside them graphdask is measured on the same cores.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from graphdask.backend import cuda_device_count, get_backend
from graphdask.bench.generation import peers as others
from graphdask.bench.generation.cases import EXPERIMENTS, SUITES, Case, cases
from graphdask.bench.generation.timing import Targets, measure, team
from graphdask.errors import InputError
from graphdask.generate.preferential_attachment import PreferentialAttachment

SHOWN = (
    "experiment", "generator", "n", "degree", "p", "devices", "blocks", "seconds", "edges_per_second",
    "bytes_per_second", "memory_over_output", "speedup", "skipped",
)  # fmt: skip
"""Columns of the table that a person sees; the JSON lines have more."""

SEED = 1
WITH_PEERS = 500_000
"""Vertices beside the peers in the quick suite; four times as many in the other."""


def run(
    suite: str = "quick",
    *,
    experiments: tuple[str, ...] = (),
    n: int | None = None,
    degree: int = 4,
    p: float = 0.5,
    device: str = "auto",
    devices: int | None = None,
    repeats: int = 5,
    peers: bool = True,
    plot: str | os.PathLike[str] | None = None,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> list[dict[str, Any]]:
    """Measure the generators.

    Parameters
    ----------
    suite : {"quick", "paper"}
        The experiments of the paper's Section 5, small or as in the paper.
    experiments : tuple of str
        Some of `graphdask.bench.generation.cases.EXPERIMENTS` and "peers"; none means all.
    n, degree, p
        With n, this one graph instead of the suite's.
    device : {"auto", "cpu", "cuda"}
    devices : int, optional
        GPUs, or threads on the CPU, at most; default: all.
    repeats : int
        Counted runs of each case, of which the median counts; long cases have fewer.
    peers : bool
        Measure the generators of others too.
    plot : path-like, optional
        Folder for the figures, as PNG.
    progress : callable
        Wraps the list of cases, as tqdm does.

    Returns
    -------
    list of dict
        One record for each case: `experiment`, `generator`, `n`, `degree`, `p`, `device`, `devices`, `edges`,
        `seconds` (median), `edges_per_second`, `bytes_per_second`, `memory_over_output`, ...; a case that cannot run
        here has `skipped` and the reason.

    Raises
    ------
    InputError
        For an unknown name or a size out of range.
    """
    backend = get_backend(device)
    here = cuda_device_count() if backend.name == "cuda" else len(os.sched_getaffinity(0))
    if devices is not None and not 1 <= devices <= here:
        raise InputError(f"devices={devices} must be from 1 to {here}: so many {_kind(backend.name)} are here")
    if repeats < 1:
        raise InputError(f"repeats={repeats} must be at least 1")
    most = devices or here
    chosen = tuple(name for name in experiments if name != "peers")
    if n is not None:
        PreferentialAttachment(n, degree, p, SEED)
        planned = [Case("rate", n, degree, p, most)]
    else:
        planned = cases(suite, chosen) if chosen or not experiments else []
    beside = peers and (n is not None or not experiments or "peers" in experiments)
    steps: list[Case | str] = [case for case in planned if (case.devices or 1) <= most]
    if beside:
        steps += ["graphdask", *others.PEERS]
    if plot is not None:
        Path(plot).mkdir(parents=True, exist_ok=True)
    size = n or (WITH_PEERS if suite == "quick" else 4 * WITH_PEERS)
    records = []
    for step in progress(steps):
        if isinstance(step, Case):
            records.append(_measured(step, backend.name, most, repeats))
        else:
            records.append(_peer(step, size, degree, repeats))
    _add_speedups(records)
    if plot is not None:
        from graphdask.bench.generation.figures import draw

        draw(records, Path(plot))
    return records


def _kind(name: str) -> str:
    return "GPUs" if name == "cuda" else "cores"


def _measured(case: Case, device: str, most: int, repeats: int) -> dict[str, Any]:
    """The record of one of graphdask's own cases."""
    used = case.devices or (most if device == "cpu" or case.n >= 10**9 else 1)
    graph = PreferentialAttachment(case.n, case.degree, case.p, SEED)
    work, backends = Targets(graph), team(device, used)
    found = measure(work, backends, repeats)
    seconds, memory = found.median, found.peak_bytes
    return {
        "benchmark": "generate",
        "experiment": case.experiment,
        "generator": f"cuPPA-{case.method.capitalize()}",
        "n": case.n,
        "degree": case.degree,
        "p": case.p,
        "device": backends[0].description,
        "devices": used,
        "edges": work.num_edges,
        "seconds": seconds,
        "seconds_least": min(found.seconds),
        "repeats": len(found.seconds),
        "back_to_back": found.back_to_back,
        "edges_per_second": work.num_edges / seconds,
        "bytes_per_edge": work.bytes_per_edge,
        "bytes_per_second": work.num_edges * work.bytes_per_edge / seconds,
        "blocks": found.blocks,
        "held_bytes": found.held_bytes,
        "peak_bytes": memory,
        "memory_over_output": None if memory is None or found.held_bytes < 1 << 22 else memory / found.held_bytes,
        "version": others.version("graphdask"),
    }


def _peer(name: str, n: int, degree: int, repeats: int) -> dict[str, Any]:
    """The record of a generator on the CPU."""
    if name == "graphdask":
        return _measured(Case("peers", n, degree, 0.5), "cpu", len(os.sched_getaffinity(0)), repeats)
    found = others.measure(name, n, degree, min(repeats, 3))
    record = {"benchmark": "generate", "experiment": "peers", "generator": name, "degree": degree, "p": 0.5}
    if "skipped" in found:
        return record | found
    seconds = statistics.median(found["seconds"])
    return record | found | {
        "device": "CPU",
        "seconds": seconds,
        "repeats": len(found["seconds"]),
        "edges_per_second": found["edges"] / seconds,
    }  # fmt: skip


def _add_speedups(records: list[dict[str, Any]]) -> None:
    """Strong scaling: how many times faster than one device."""
    alone = {(r["n"], r["degree"]): r["seconds"] for r in records if r["experiment"] == "scaling" and r["devices"] == 1}
    for record in records:
        if record["experiment"] == "scaling":
            record["speedup"] = alone[record["n"], record["degree"]] / record["seconds"]


__all__ = ["EXPERIMENTS", "SHOWN", "SUITES", "run"]
