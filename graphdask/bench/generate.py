"""Edges and bytes per second of the generators, on CPU cores or GPUs, and other generators in the same run.

The experiments stand in `generation/cases.py`, what is timed in `generation/timing.py`. Of the copy model the targets
alone are made, 4 bytes an edge while the ids fit 32 bits; of other models both ends. The others build the graph that
they return, on a core of the CPU, or the arrays of its edges; beside them graphdask is measured on a core too.
`product` says what a run ends with: targets that are dropped, the arrays of both ends in memory, or a graph object.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from graphdask.bench.generation import peers as others
from graphdask.bench.generation.cases import EXPERIMENTS, SUITES, Case, cases
from graphdask.bench.generation.timing import LONG_ENOUGH, kept_apart, measure, team
from graphdask.bench.generation.work import work_of
from graphdask.bench.harness import Record, recorded
from graphdask.device.backend import cuda_device_count, get_backend
from graphdask.errors import InputError, OverBudget
from graphdask.generate.preferential_attachment import PreferentialAttachment
from graphdask.io.outputs import pictures_output

SHOWN = (
    "experiment", "generator", "n", "degree", "p", "product", "threads", "devices", "blocks", "seconds",
    "edges_per_second", "bytes_per_second", "memory_over_output", "speedup", "skipped",
)  # fmt: skip
"""Columns of the table that a person sees; the JSON lines have more."""

PEERS = "peers"
"""The experiment of Figure 10: other generators, on the CPU."""
WITH_PEERS = {"tiny": 20_000, "quick": 500_000, "paper": 2_000_000}
"""Vertices of the graphs that peers make."""
KNOWN = 1 << 26
"""Bytes of output from which on memory is compared with it: below, malloc's own reserves blur the figure."""


@recorded
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
    overwrite: bool = False,
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter,
) -> Iterator[Record]:
    """Measure the generators.

    Parameters
    ----------
    suite : {"tiny", "quick", "paper"}
        The experiments of the paper's Section 5, small or as in the paper.
    experiments : tuple of str
        Keys of `graphdask.bench.generation.cases.EXPERIMENTS`, or "peers"; none means all.
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
    overwrite : bool
        Replace figures that are there. Default: raise OutputExists, before anything is measured.
    progress : callable
        Wraps the list of cases, as tqdm does.

    Yields
    ------
    dict
        One record for each case: `experiment`, `generator`, `n`, `degree`, `p`, `device`, `devices`, `edges`,
        `seconds` (median), `edges_per_second`, `bytes_per_second`, `memory_over_output`, ...; a case that cannot run
        here has `skipped` and the reason.

    Raises
    ------
    InputError
        For an unknown name or a size out of range.
    """
    backend = get_backend(device)
    here = cuda_device_count() if backend.name == "cuda" else _cores()
    if devices is not None and not 1 <= devices <= here:
        raise InputError(f"devices={devices} must be from 1 to {here}: so many {_kind(backend.name)} are here")
    if repeats < 1:
        raise InputError(f"repeats={repeats} must be at least 1")
    most = devices or here
    planned = _planned(suite, experiments, backend.name, most, n, degree, p)
    beside = peers and (n is not None or not experiments or PEERS in experiments)
    steps: list[Case | others.Peer] = [*planned, *(_beside(n or WITH_PEERS[suite], degree) if beside else [])]
    if plot is not None:
        from graphdask.bench.generation.figures import PICTURES, draw

        pictures_output(plot, PICTURES, overwrite)
    shortest = 0.005 if suite == "tiny" else LONG_ENOUGH
    records: list[dict[str, Any]] = []
    with kept_apart():
        for step in progress(steps):
            if isinstance(step, Case):
                where = "cpu" if step.experiment == PEERS else backend.name
                records.append(_measured(step, where, most, repeats, shortest))
                _add_speedup(records)
            else:
                records.append(_peer(step, n or WITH_PEERS[suite], degree, repeats))
            yield records[-1]
    if plot is not None:
        draw(records, Path(plot), overwrite)


def _planned(
    suite: str, experiments: tuple[str, ...], device: str, most: int, n: int | None, degree: int, p: float
) -> list[Case]:
    """The cases that can run here."""
    chosen = tuple(name for name in experiments if name != PEERS)
    found = cases(suite, chosen) if chosen or not experiments else []
    if n is not None:
        PreferentialAttachment(n, degree, p)
        return [Case("rate", "cuPPA-Hash", n, degree, p, most)]
    possible = [case for case in found if not _impossible(case, device, most)]
    reasons = {(case.experiment, _impossible(case, device, most)): case for case in found if case not in possible}
    return [*possible, *reasons.values()]


def _impossible(case: Case, device: str, most: int) -> str:
    """Why a case cannot run here; empty if it can."""
    if case.threads is not None and device == "cpu":
        return "needs a GPU: on the CPU threads of cuPPA are simulated"
    if (case.devices or 1) > most:
        return f"needs {case.devices} {_kind(device)}; {most} are here or allowed"
    return ""


def _beside(n: int, degree: int) -> list[Case | others.Peer]:
    """graphdask's own generators on a core, its sequential references, and those of others."""
    own = [Case(PEERS, "cuPPA-Hash", n, degree, 0.5, 1), Case(PEERS, "cuPPA", n, degree, 0.5, 1)]
    own += [Case(PEERS, "cuPPA-Hash, edges", n, degree, 0.5, 1)]
    own += [Case(PEERS, "R-MAT", 1 << others.scale(n), degree, devices=1), Case(PEERS, "G(n, m)", n, degree, devices=1)]
    return [*own, *others.PEERS]


def _kind(name: str) -> str:
    return "GPUs" if name == "cuda" else "cores"


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _measured(case: Case, device: str, most: int, repeats: int, shortest: float = LONG_ENOUGH) -> dict[str, Any]:
    """The record of one of graphdask's own cases."""
    if reason := _impossible(case, device, most):
        return {"benchmark": "generate", "experiment": case.experiment, "generator": case.generator, "skipped": reason}
    work = work_of(case)
    used = case.devices or (_cores() if device == "cpu" else most if case.n >= 10**9 else 1)
    used = min(used, most) if work.divisible else 1
    backends = team(device, used)
    record = {
        "benchmark": "generate", "experiment": case.experiment, "generator": case.generator, "n": case.n,
        "degree": case.degree, "p": case.p, "threads": case.threads, "device": backends[0].description,
        "devices": used, "edges": work.num_edges, "product": work.product,
    }  # fmt: skip
    try:
        found = measure(work, backends, repeats, shortest=shortest)
    except OverBudget as error:
        return record | {"skipped": str(error)}
    seconds, memory = found.median, found.peak_bytes
    return record | {
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
        "memory_over_output": None if memory is None or found.held_bytes < KNOWN else memory / found.held_bytes,
        "version": others.version("graphdask"),
    }


def _peer(peer: others.Peer, n: int, degree: int, repeats: int) -> dict[str, Any]:
    """The record of a generator of others, on the CPU."""
    record = {
        "benchmark": "generate", "experiment": PEERS, "generator": peer.title, "device": "CPU",
        "devices": 1, "product": peer.product,
    }  # fmt: skip
    found = others.measure(peer, n, degree, min(repeats, 3))
    if "skipped" in found:
        return record | found
    seconds = statistics.median(found["seconds"])
    return record | found | {
        "seconds": seconds,
        "repeats": len(found["seconds"]),
        "edges_per_second": found["edges"] / seconds,
    }  # fmt: skip


def _add_speedup(records: list[dict[str, Any]]) -> None:
    """Strong scaling: how many times faster than one device the last record is."""
    last = records[-1]
    if last["experiment"] != "scaling" or "seconds" not in last:
        return
    for record in records:
        same = all(record.get(key) == last[key] for key in ("experiment", "n", "degree"))
        if same and record["devices"] == 1 and "seconds" in record:
            last["speedup"] = record["seconds"] / last["seconds"]


__all__ = ["EXPERIMENTS", "SHOWN", "SUITES", "run"]
