"""`graphdask warm`: compile the kernels of algorithms ahead, for job scripts and images of containers.

Kernels are compiled when they are called first, and kept in the user's folder. So each algorithm runs over small graphs
of the kinds that have kernels of their own: directed and undirected, without weights and with each type of weights, on
one partition and on two. A path hangs on each graph, because a CPU goes through many small levels by other kernels.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import click
import numpy as np

from graphdask.commands.options import device_option, json_option
from graphdask.display import terminal
from graphdask.errors import GraphdaskWarning, InputError

VERTICES, EDGES, PATH = 400, 3000, 150
WEIGHTS = ("float32", "float64", "int32")
PARTITIONS = (1, 2)


@click.command("warm")
@click.argument("algorithms", nargs=-1, metavar="[ALGORITHM]...")
@click.option("--wide", is_flag=True, help="Compile for ids of 64 bits too, which graphs of 2**31 vertices have.")
@device_option
@json_option
def command(algorithms: tuple[str, ...], wide: bool, device: str, as_json: bool) -> None:
    """Compile the kernels of each ALGORITHM ahead, named as for `graphdask run`; default: of all.

    Runs each over small graphs, so that later processes of this user find the kernels compiled. `--device cuda`
    compiles for the GPU of this host, and needs one. Says how many kernels were compiled for each algorithm, and for
    how many seconds; none where all are there.
    """
    from graphdask.device.backend import get_backend
    from graphdask.kernels.common import compiling

    chosen = _chosen(algorithms)
    backend = get_backend(device)
    widths = (32, 64) if wide else (32,)
    if not as_json:
        click.echo(f"Compiling for {backend.description}, ids of {' and '.join(map(str, widths))} bits\n")
    rows, before = [], compiling.process()
    for each in chosen:
        began = compiling.process()
        for width in widths:
            _run(each, backend.name, width)
        ended = compiling.process()
        row = {
            "algorithm": each.command, "compiled": ended.kernels - began.kernels,
            "seconds": ended.seconds - began.seconds,
        }  # fmt: skip
        rows.append(row)
        if not as_json:
            took = f"{row['seconds']:6.2f} s  {terminal.count(row['compiled'], 'kernel')}"
            click.echo(f"  {each.command:20}  {took if row['compiled'] else 'all was there'}")
    after = compiling.process()
    kernels, seconds = after.kernels - before.kernels, after.seconds - before.seconds
    folder = _folder(backend.name)
    if as_json:
        terminal.print_json({
            "device": backend.name, "id_widths": list(widths), "compiled": kernels, "seconds": seconds,
            "folder": folder, "algorithms": rows,
        })  # fmt: skip
    elif kernels:
        click.echo(f"\n{terminal.count(kernels, 'kernel')} compiled in {seconds:.1f} s, kept in {folder}")
    else:
        click.echo(f"\nAll kernels were there, in {folder}")


def _chosen(names: tuple[str, ...]) -> list[Any]:
    """The algorithms of these commands, in the order of the commands; all of them if none is named."""
    from graphdask.interface.registry import algorithms

    known = {each.command: each for each in sorted(algorithms().values(), key=lambda each: each.command)}
    for name in names:
        if name not in known:
            raise InputError(f"there is no algorithm {name!r} to warm; there are {', '.join(known)}")
    return [each for command, each in known.items() if not names or command in names]


def _graphs(algorithm: Any) -> Iterator[Any]:
    """Small graphs of all kinds that an algorithm takes."""
    from graphdask.graph.construct import from_edges

    rng = np.random.default_rng(0)
    hub, path = np.zeros(VERTICES, np.int64), np.arange(VERTICES, VERTICES + PATH)
    src = np.concatenate((rng.integers(0, VERTICES, EDGES), hub, [1], path[:-1]))
    dst = np.concatenate((rng.integers(0, VERTICES, EDGES), np.arange(VERTICES), path))
    kinds = (None, *WEIGHTS) if algorithm.weights else (None,)
    for kind in kinds:
        weights = None if kind is None else rng.integers(1, 3, len(src)).astype(kind)
        for directed in (False,) if algorithm.undirected else (False, True):
            yield from_edges(src, dst, weights=weights, num_vertices=VERTICES + PATH, directed=directed)


def _run(algorithm: Any, device: str, width: int) -> None:
    for graph in _graphs(algorithm):
        for parts in PARTITIONS:
            G = graph.partition(parts, device=device, id_width=width)
            options = {"progress": False} if algorithm.takes("progress") else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GraphdaskWarning)
                result = algorithm.function(G, **algorithm.example(G), **options)
            for name in algorithm.columns:
                result.column(name)


def _folder(device: str) -> str:
    """Where what is compiled is kept."""
    if device == "cuda":
        return os.environ.get("CUPY_CACHE_DIR") or os.path.expanduser("~/.cupy/kernel_cache")
    from graphdask.kernels.common.kept import cache_folder

    return os.environ.get("NUMBA_CACHE_DIR") or os.fspath(cache_folder() / "kernels")
