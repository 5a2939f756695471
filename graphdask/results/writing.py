"""What a rank does when a graph is written: its own part files, block by block, without a word to the others.

Everything is made in a folder beside the target, under a name that no reader takes; the last rank program joins the
parts where one file is wanted, describes them where a folder is, and gives the result its name. So nothing
half-written is ever there under the target's name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.device.backend import get_backend
from graphdask.engine.loop import RankContext, Superstep
from graphdask.errors import InputError, OutputExists
from graphdask.io.folder import MANIFEST, VERTICES, part_name, write_manifest
from graphdask.io.os_errors import SMALLER
from graphdask.io.outputs import NOTHING, UNCHANGED, readable_write
from graphdask.io.parts import Content, join_parts, open_part, part_bytes
from graphdask.io.put import UNFINISHED, exists, new_name, put_file, put_folder
from graphdask.partition.blocks import Share, to_host
from graphdask.partition.part import Part
from graphdask.partition.sources import Edges
from graphdask.partition.stored_edges import stored_blocks


@dataclass(frozen=True)
class WritePlan:
    """What every rank must know."""

    target: Path
    """Absolute."""
    folder: Path
    """Where parts are made until all are there."""
    content: Content
    files: int
    """Part files."""
    single: bool
    """Whether the target is one file."""
    max_edges: int
    """Of a block."""
    overwrite: bool
    directed: bool
    device: str


@dataclass(frozen=True)
class WrittenPart:
    """A part file."""

    number: int
    edges: int
    nbytes: int


@contextmanager
def readable(target: Path, smaller: str = SMALLER) -> Iterator[None]:
    """Say in words what the operating system refused; `smaller`: what to choose where the disk is full."""
    with readable_write(target, UNCHANGED if os.path.lexists(target) else NOTHING, smaller):
        yield


def begin(plan: WritePlan) -> None:
    """Make the folder that is filled."""
    with readable(plan.target):
        if not plan.target.parent.is_dir():
            raise InputError(
                f"{plan.target} cannot be written: there is no directory {plan.target.parent}; make it first, on a "
                "disk that all workers share"
            )
        try:
            plan.folder.mkdir(exist_ok=True)
        except PermissionError:
            raise InputError(
                f"{plan.target} cannot be written: no permission to write in {plan.target.parent}; name another, or "
                "get it"
            ) from None


def write_parts(context: RankContext, given: Any, plan: WritePlan) -> list[WrittenPart]:
    """Write the parts of this rank; `given` is a share of the edges for each, by number, or the rank's partition."""
    backend = get_backend("cpu") if plan.device == "cpu" else context.backend
    rank, size = context.comm.rank, context.comm.size
    stored = isinstance(given, Part)
    begin(plan)
    if stored and plan.files == 1 and size > 1 and not plan.content.joins:
        return _written_by_one(context, given, plan)
    if stored:
        return [_write_part(context, stored_blocks(given, plan.directed, plan.max_edges), plan, rank)]

    def blocks_of(share: Any) -> Iterator[Any]:
        if isinstance(share, Share):
            return to_host(share.blocks(backend, plan.max_edges), backend)
        blocks: Iterator[Any] = share.blocks(plan.max_edges)  # with columns
        return blocks

    return [_write_part(context, blocks_of(share), plan, number) for number, share in given.items()]


def _written_by_one(context: RankContext, part: Part, plan: WritePlan) -> list[WrittenPart]:
    """Rank 0 writes what the others send it, a block at a time; every rank takes part in every exchange."""
    comm, content = context.comm, plan.content

    def gathered() -> Iterator[Edges]:
        blocks = -(-part.out.num_edges // plan.max_edges)
        everyone = comm.allgather(np.array([blocks], np.int64))[:, 0]
        for sender in range(comm.size):
            own = stored_blocks(part, plan.directed, plan.max_edges) if sender == comm.rank else iter(())
            for _ in range(int(everyone[sender])):
                src, dst, weights = next(own, (none, none, nothing))
                columns = [_to_first(context, column) for column in (src, dst)]
                last = None if content.weight_dtype is None else _to_first(context, weights)
                yield columns[0], columns[1], last

    none = np.zeros(0, content.number_dtype)
    nothing = None if content.weight_dtype is None else np.zeros(0, content.weight_dtype)
    if comm.rank == 0:
        return [_write_part(context, gathered(), plan, 0)]
    for _ in gathered():
        pass
    return []


def _to_first(context: RankContext, column: Any) -> np.ndarray:
    backend, empty = context.backend, column[:0]
    sends = [backend.from_host(column if rank == 0 else empty) for rank in range(context.comm.size)]
    received = [backend.to_host(values) for values in context.comm.alltoallv(sends)]
    return np.concatenate(received)


def _write_part(context: RankContext, blocks: Iterator[Edges], plan: WritePlan, number: int) -> WrittenPart:
    path = plan.folder / part_name(number, plan.content)
    edges = 0
    more: list[Any]
    with readable(plan.target):
        content = plan.content if plan.single else replace(plan.content, vertex_columns=None)  # beside the parts
        file = open_part(path, content, alone=not plan.single or plan.files == 1, first=number == 0)
        try:
            for step, (src, dst, weights, *more) in enumerate(blocks):
                context.comm.check()
                file.write(src, dst, weights, *more)
                edges += len(src)
                context.watchdog.advance(f"writing {plan.target}", f"part {number}, after {edges:,} edges,")
                if context.on_superstep is not None:
                    context.on_superstep(_step(step, len(src)))
            file.finish()
        except BaseException:
            with suppress(Exception):  # the error above says what is wrong
                file.close()
            raise
        file.close()
        nbytes = part_bytes(path)
    return WrittenPart(number, edges, nbytes)


def _step(number: int, edges: int) -> Superstep:
    return Superstep(number, 0, edges, 0, 0, (), 0.0, 0.0, 0.0, 0.0)


def count_edges(context: RankContext, shares: list[Share], device: str, max_edges: int) -> tuple[int, int]:
    """Make the edges of this rank's shares, a block at a time, and drop them; return their number and the loops'."""
    backend = get_backend("cpu") if device == "cpu" else context.backend
    edges = loops = 0
    for share in shares:
        for step, (src, dst, _) in enumerate(share.blocks(backend, max_edges)):
            context.comm.check()
            loops += int((src == dst).sum())
            edges += len(src)
            if context.on_superstep is not None:
                context.on_superstep(_step(step, len(src)))
            del src, dst
    return edges, loops


def complete(context: RankContext, plan: WritePlan, parts: list[WrittenPart]) -> int:
    """Give what was written its name: the work of rank 0. Return the bytes of all."""
    if context.comm.rank != 0:
        return 0
    content, target, folder = plan.content, plan.target, plan.folder
    names = [folder / part_name(part.number, content) for part in parts]
    with readable(target):
        missing = [name for name, part in zip(names, parts, strict=True) if part_bytes(name) != part.nbytes]
        if missing:
            raise InputError(
                f"{target} is not on a disk that all workers share: {missing[0].name}, which another has written, is "
                "not there; choose a folder that they share"
            )
        if plan.single:
            whole = folder / f"whole{content.suffix}"
            join_parts(names, whole, content)
            refuse_existing(target, plan.overwrite, plan.single)
            size = whole.stat().st_size
            if target.is_dir():
                _move_away(target, folder)
            put_file(whole, target, plan.overwrite)
            shutil.rmtree(folder, ignore_errors=True)
            return size
        described = [{"file": part_name(p.number, content), "edges": p.edges, "bytes": p.nbytes} for p in parts]
        write_manifest(folder, content, described)
        refuse_existing(target, plan.overwrite)
        if target.is_file():
            _move_away(target, old := new_name(target))
            folder.rename(target)
            discard(old)
        else:
            put_folder(folder, target, plan.overwrite, lambda: refuse_existing(target, plan.overwrite), MANIFEST)
        return sum(part.nbytes for part in parts)


def _move_away(target: Path, folder: Path) -> None:
    """Move what was there to where it is deleted with the new one's scaffolding."""
    folder.mkdir(exist_ok=True)
    target.rename(folder / "replaced")


def refuse_existing(target: Path, overwrite: bool, single: bool = False) -> None:
    """Raise OutputExists where something is in the way that may not, or must not, be replaced; `single`: by a file."""
    if not os.path.lexists(target):
        return
    if target.is_dir():
        names = {name for name in os.listdir(target) if not UNFINISHED.fullmatch(name)}
        if not names and not single:
            return
        if not names or not (target / MANIFEST).is_file():
            raise OutputExists(
                f"{target} is a folder that holds no graph of graphdask's, so it is not replaced; name another", target
            )
        if others := names - _listed(target):
            raise OutputExists(
                f"{target} is a folder that holds what graphdask did not write ({min(others)}), so it is not replaced; "
                f"name another",
                target,
            )
    elif not target.is_file():
        raise OutputExists(f"{target} is neither a file nor a folder, so it is not replaced; name another", target)
    if not overwrite:
        raise exists(target)


def _listed(folder: Path) -> set[str]:
    """The files of a graph's folder, by what it says itself; empty where it cannot be read."""
    try:
        parts = [part["file"] for part in json.loads((folder / MANIFEST).read_bytes())["parts"]]
        return {MANIFEST, VERTICES, *parts}
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return set()


def discard(folder: Path) -> None:
    """Delete what an attempt has left."""
    shutil.rmtree(folder, ignore_errors=True)


def discard_on_rank(context: RankContext, folder: Path) -> None:
    """The same, on every host that has a part of it."""
    discard(folder)
