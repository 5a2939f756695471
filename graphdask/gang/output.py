"""A graph's edges on their way out: files written by every worker, and blocks of built partitions.

What is written straight from its source needs no partitions: each rank is sent shares of the source. Graphs whose
parallel edges are merged when they are built are written from their partitions.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.config import Config
from graphdask.device.arrays import on_host
from graphdask.device.limits import least_of_edges, refuse_beyond_disk, refuse_beyond_time
from graphdask.display.notebook import is_watched
from graphdask.errors import InputError, PeerLost, Unsupported, WrongWorker, shown
from graphdask.gang.arguments import PerRank
from graphdask.gang.columns_out import kept_columns, lost_columns, shares_with_columns
from graphdask.gang.drawings_out import DRAWN, check_drawing, drawing_format, write_drawing
from graphdask.gang.in_memory import with_partitions
from graphdask.gang.local import LocalGang, itself
from graphdask.gang.retries import retried
from graphdask.gang.tuning import GANG
from graphdask.generate.preferential_attachment import PreferentialAttachment
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import choice, whole
from graphdask.io import detect_format
from graphdask.io.folder import unfinished_name
from graphdask.io.formats import refuse_packed
from graphdask.io.kept import warn_of_columns, warn_of_lost, warn_of_types
from graphdask.io.opening import COMPRESSION_SUFFIXES
from graphdask.io.output_paths import output_path
from graphdask.io.outputs import FileOutput, file_output
from graphdask.io.parts import SUFFIXES, TEXT, Content
from graphdask.io.put import special
from graphdask.io.streams import called
from graphdask.io.text_columns import warn_of_column_types
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.blocks import Share, edge_bytes, refuse_device
from graphdask.partition.sources import ArraySource, Edges, GeneratedSource
from graphdask.partition.stored_edges import StoredBlock, StoredCount, stored_count
from graphdask.partition.vertex_map import index_dtype
from graphdask.results import writing

SLOWEST = 2e5
"""Edges a second that a writer makes at least: what the deadline of a write allows for."""

FASTEST = {"cpu": 5e8, "cuda": 1e11}
"""Edges a second that a rank makes at most, twice what is measured and more."""

MOST_FILES = 99_999


@dataclass(frozen=True)
class Written:
    """What a write has made."""

    path: Path | str
    """A str where it is an address."""
    format: str
    files: int
    """Part files in the folder `path`; 1 where it is a file."""
    edges: int
    bytes: int
    seconds: float
    """Without `compile_seconds`."""
    compile_seconds: float
    """For which kernels were compiled that were used for the first time."""
    writers: int
    """How many ranks wrote at the same time."""


@dataclass(frozen=True)
class Order:
    """What the caller asked for, checked."""

    target: Path
    content: Content
    single: bool
    files: int | None
    """Part files, where the caller said how many."""
    overwrite: bool
    device: str
    stream: FileOutput | None = None
    """The pipe or device that gets the file once it is whole, where `target` is one."""


def checked_order(graph: Graph, path: Any, format: str | None, files: Any, overwrite: bool, device: str) -> Order:
    """Check the arguments of a write, before any work."""
    try:
        text = os.fspath(path)
    except Exception:  # whatever an object that a caller gives raises
        raise InputError(f"{shown(path)} is not a path") from None
    if not isinstance(text, str) or not text:
        raise InputError(f"{shown(path)} is not the name of a file or folder")
    place = output_path(path)
    stream = file_output(path, overwrite) if special(place) is not None else None
    target = Path(os.path.realpath(place)) if stream is None else place
    if files is not None:
        files = whole("files", files, 1, MOST_FILES)
    if device not in ("auto", "cpu", "cuda"):
        raise InputError(f"device={device!r} is not one of auto, cpu, cuda")
    refuse_packed(target)
    named = True
    try:
        found = detect_format(target)
    except InputError:
        named = False
        if format is None:
            raise
        found = format
    name = found if format is None else format
    if name not in SUFFIXES:
        raise Unsupported(
            f"a graph is written as one of {', '.join((*SUFFIXES, *DRAWN))}, not {name}; for another format write .gdg "
            f"and convert that (graphdask convert, graphdask.io.write_edges)"
        )
    if stream is not None and name not in TEXT:
        raise Unsupported(f"{place} is a pipe or a device, which takes {' or '.join(TEXT)}; name a file for {name}")
    if stream is not None and files not in (None, 1):
        raise InputError(f"files={files} are of a folder, and {place} is a pipe or a device; leave it out")
    compression = target.suffix.lower() if target.suffix.lower() in COMPRESSION_SUFFIXES else ""
    if compression and name not in TEXT:
        raise InputError(f"{target.name}: {name} files are not compressed as a whole; leave out {compression}")
    refuse_device(graph, device)
    source = graph.source
    single = (named or bool(compression)) and not text.endswith(("/", os.sep)) and files in (None, 1)
    content = Content(name, compression, graph.directed, graph.ids, index_dtype(source.num_vertices),
                      source.weight_dtype, *kept_columns(graph, name, single))  # fmt: skip
    content.check()
    if stream is not None:
        kept = Path(tempfile.gettempdir(), place.name)
        _refuse_beyond_disk(graph, kept, name, compression, "set TMPDIR to a larger disk, or write fewer edges")
        return Order(target, content, True, None, overwrite, device, stream)
    if target.parent.is_dir():  # else it may be on the workers only
        writing.refuse_existing(target, overwrite, single)
        if not os.access(target.parent, os.W_OK):
            raise InputError(
                f"{target} cannot be written: no permission to write in {target.parent}; name another, or get it"
            )
        _refuse_beyond_disk(graph, target, name, compression, "write to a larger disk, or fewer edges")
    return Order(target, content, single, files, overwrite, device)


def check_write(graph: Graph, path: Any, format: str | None, files: Any, overwrite: bool, device: str) -> None:
    """Raise what a write with these arguments raises before any work."""
    drawn = drawing_format(path, format)
    if drawn is None:
        checked_order(graph, path, format, files, overwrite, device)
        return
    choice("device", device, ("auto", "cpu", "cuda"))
    refuse_device(graph, device)
    check_drawing(graph, path, drawn, files, overwrite)


def _refuse_beyond_disk(graph: Graph, path: Path, name: str, compression: str, instead: str) -> None:
    """Raise WriteError if the disk of a file has too little free space for the edges of a graph."""
    source = graph.source
    if graph.merge:  # nobody knows how many are left
        return
    edges = source.num_edges // (2 if source.drops_self_loops else 1)
    each = index_dtype(source.num_vertices).itemsize, 0 if source.weight_dtype is None else 1
    needed = least_of_edges(name, compression, edges, source.num_vertices, *each)
    refuse_beyond_disk(path, f"{edges:,} edges", needed, instead)


def write(
    graph: Graph,
    path: Any,
    format: str | None,
    files: int | None,
    overwrite: bool,
    device: str,
    client: Any,
    progress: bool | None,
) -> Written:
    """Write the edges of a graph to files."""
    drawn = drawing_format(path, format)
    if drawn is not None:
        check_write(graph, path, format, files, overwrite, device)
        timer = Timer()
        place, edges, size = write_drawing(graph, path, drawn, overwrite, client, progress)
        return Written(place, drawn, 1, edges, size, timer.seconds, timer.compiled.seconds, 1)
    order = checked_order(graph, path, format, files, overwrite, device)
    return _write(graph, order, client, Config.load(progress=progress))


def _write(graph: Graph, order: Order, client: Any, config: Config) -> Written:
    if order.stream is not None:
        with order.stream.unfinished() as made:  # writers make their shares side by side, so not in the stream's order
            kept = replace(
                order, target=made.with_name(f"{made.name}.kept{SUFFIXES[order.content.format]}"), stream=None
            )
            with called(kept.target, str(order.target)):
                written = _write(graph, kept, client, config)
            os.replace(kept.target, made)
        return replace(written, path=order.target)
    timer = Timer()
    token = secrets.token_hex(6)
    if order.content.edge_columns is not None or order.content.vertex_columns is not None:
        found = _with_columns(graph, order, token, timer, config)
    elif graph.merge:
        if not order.single and order.files is not None and graph.plan.parts != order.files:
            graph = graph.partition(order.files, device=graph.plan.device)

        def from_parts(built: Any, attempt: int) -> Written:
            size = built.gang.size
            joins = not order.single or order.content.joins
            plan = _plan(graph, order, size if joins else 1, token, attempt)
            return _carry_out(built.gang, built.parts, plan, timer, built.num_edges, config)

        found = with_partitions(graph, client, config, from_parts)
    else:

        def from_source(client: Any, workers: Mapping[str, Any], attempt: int) -> Written:
            most = 1 if order.single and not order.content.joins else None if order.single else order.files
            gang = _writers(graph, most, order.device, client, config, workers)
            files = most or gang.size
            plan = _plan(graph, order, files, token, attempt)
            shares = [
                {number: Share.of(graph.source, number, files) for number in range(rank, files, gang.size)}
                for rank in range(gang.size)
            ]
            return _carry_out(gang, PerRank(shares), plan, timer, graph.source.num_edges, config)

        found = retried(client, config, from_source)
    if order.single and order.content.format in (*TEXT, "parquet"):
        edges = None if graph.merge else graph.source.num_edges
        warn_of_lost(order.target, order.content, _without_place(graph, order.content), edges)
    warn_of_columns(*lost_columns(graph, order.content), order.target)
    warn_of_types(getattr(graph, "vertex_types", ()), getattr(graph, "edge_types", ()), order.target)
    if order.content.format == "csv" and order.content.edge_columns is not None and graph.edge_attributes is not None:
        kept = graph.edge_attributes.table.select(order.content.edge_columns.column_names)
        warn_of_column_types(kept, graph.weighted, f"{order.target}: ")
    made_of_it: Written = found
    return made_of_it


def _with_columns(graph: Graph, order: Order, token: str, timer: Timer, config: Config) -> Written:
    """Write a graph with columns in this process, whose memory they are in."""
    files = 1 if order.single else order.files or 1
    gang = LocalGang(min(files, LocalGang.default_size("cpu", graph.source.num_edges)), "cpu", config)
    plan = replace(_plan(graph, order, files, token, 0), device="cpu")
    shares = shares_with_columns(graph, order.content, files)
    given = [{number: shares[number] for number in range(rank, files, gang.size)} for rank in range(gang.size)]
    return _carry_out(gang, PerRank(given), plan, timer, graph.source.num_edges, config)


def _plan(graph: Graph, order: Order, files: int, token: str, attempt: int) -> writing.WritePlan:
    max_edges = max(1, GANG.write_bytes // edge_bytes(graph.source, graph.ids))
    folder = unfinished_name(order.target, token, attempt)
    single = order.single
    return writing.WritePlan(
        order.target, folder, order.content, files, single, max_edges, order.overwrite, graph.directed, order.device
    )


def _writers(
    graph: Graph, most: int | None, device: str, client: Any, config: Config, workers: Mapping[str, Any]
) -> Any:
    """A gang of as many ranks as can work at the same time, or of `most`."""
    device = device if device != "auto" else config.device
    if not isinstance(graph.source, GeneratedSource):
        device = "cpu"
    if client is None:
        cores = LocalGang.default_size("cpu", graph.source.num_edges)
        return LocalGang(min(cores, most or cores), device, config)
    from graphdask.gang.cluster import DaskGang

    return DaskGang(client, workers, min(len(workers), most or len(workers)) or None, device, config)


def _carry_out(gang: Any, given: Any, plan: writing.WritePlan, timer: Timer, num_edges: int, config: Config) -> Written:
    """Write all parts, then give them their name; on any error nothing is left."""
    each = num_edges / min(gang.size, plan.files) / SLOWEST
    gang.use(replace(config, deadline=config.deadline + each))
    show = is_watched(config.progress)
    label = f"writing {plan.target.name}"
    try:
        kept = gang.run(writing.write_parts, given, plan, summary=itself, label=label, show=show, total=num_edges)
        parts = sorted((part for rank in kept.summary for part in rank), key=lambda part: part.number)
        ended = gang.run(writing.complete, plan, parts, summary=itself, label=label, show=show)
    except BaseException as error:
        if not isinstance(error, PeerLost | WrongWorker | KeyboardInterrupt):
            with suppress(Exception):  # the error above says what is wrong
                gang.run(writing.discard_on_rank, plan.folder, summary=itself, label=label, show=False)
        shutil.rmtree(plan.folder, ignore_errors=True)
        raise
    return Written(
        path=plan.target,
        format=plan.content.format,
        files=1 if plan.single else plan.files,
        edges=sum(part.edges for part in parts),
        bytes=sum(ended.summary),
        seconds=timer.seconds,
        compile_seconds=timer.compiled.seconds,
        writers=min(gang.size, plan.files),
    )


@dataclass(frozen=True)
class Made:
    """What making all edges found."""

    edges: int
    self_loops: int
    bytes: int
    """Of the arrays of their ends, all blocks together."""
    seconds: float
    """Without `compile_seconds`."""
    compile_seconds: float
    """For which kernels were compiled that were used for the first time."""
    writers: int
    """How many ranks made them at the same time."""


def count(graph: Graph, device: str, client: Any, progress: bool | None) -> Made:
    """Make all edges of a graph where they would be written, a block at a time, and drop them."""
    config = Config.load(progress=progress)
    timer = Timer()
    each = edge_bytes(graph.source, graph.ids)

    def attempt(client: Any, workers: Mapping[str, Any], number: int) -> Made:
        gang = _writers(graph, None, device, client, config, workers)
        shares = PerRank([[Share.of(graph.source, rank, gang.size)] for rank in range(gang.size)])
        total = graph.source.num_edges
        refuse_beyond_time(
            f"{total:,} edges, to be made and dropped by {gang.size:,} ranks,",
            total / gang.size / FASTEST[gang.device],
            "make fewer, or use more workers or GPUs",
        )
        gang.use(replace(config, deadline=config.deadline + total / gang.size / SLOWEST))
        kept = gang.run(
            writing.count_edges,
            shares,
            device,
            max(1, GANG.write_bytes // each),
            summary=itself,
            label="generating",
            show=is_watched(config.progress),
            total=total,
        )
        edges, loops = (sum(column) for column in zip(*kept.summary, strict=True))
        return Made(edges, loops, edges * each, timer.seconds, timer.compiled.seconds, gang.size)

    found: Made = retried(client, config, attempt)
    return found


def _without_place(graph: Graph, content: Content) -> int | None:
    """How many vertices without edges a file cannot name; None where nobody has counted."""
    if content.vertex_range is not None and content.format != "csv":
        return 0
    source = graph.source
    if isinstance(source, ArraySource):
        if source.num_vertices > 64 * source.num_edges:  # a table of them may be larger than memory
            return int(source.num_vertices - len(np.union1d(on_host(source.src), on_host(source.dst))))
        named = np.zeros(source.num_vertices, bool)
        for ends in (source.src, source.dst):
            named[on_host(ends)] = True
        return int(source.num_vertices - named.sum())
    if isinstance(source, GeneratedSource) and isinstance(source.generator, PreferentialAttachment):
        return 0
    return None if content.vertex_range is not None else 0


def stored_blocks(built: Any, directed: bool, max_edges: int) -> Iterator[Edges]:
    """The edges of built partitions as NumPy arrays, a block at a time, from where they are."""
    counts = built.parts.fetch(stored_count)
    for rank, count in enumerate(counts):
        for first in range(0, count, max_edges):
            yield built.parts.take(rank, StoredBlock(directed, first, first + max_edges))


def delayed_edges(built: Any, directed: bool) -> list[tuple[Any, int]]:
    """For each rank, the task that gives its edges in vertex numbers, and their number."""
    counts = built.parts.fetch(StoredCount(directed))
    return list(zip(built.parts.delayed(StoredBlock(directed)), counts, strict=True))
