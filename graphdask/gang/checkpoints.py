"""What the client does for checkpoints: it checks what is asked for, and finds those to go on from."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.engine.checkpoint_files import Folder
from graphdask.engine.checkpoints import DEFAULT, Checkpointing, Resumable, refuse_other
from graphdask.engine.keeper import EDGES
from graphdask.errors import InputError, PeerLost, Unsupported, WrongWorker, shown
from graphdask.interface.kinds import is_path
from graphdask.io.addresses import ADDRESS
from graphdask.io.secrets import without_secrets
from graphdask.stream.graph import StreamedGraph
from graphdask.version import VERSION

UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}
DURATION = re.compile(r"(\d+(?:\.\d*)?)\s*(s|min|h)")


def resumable(primitive: Any) -> bool:
    """Whether the runs of a primitive over a graph in memory can be resumed."""
    return isinstance(primitive, Resumable) and primitive.resumes


def wanted(graph: Any, primitive: Any, checkpoint: Any, every: Any, resumes: bool) -> Checkpointing | None:
    """What a caller asks for by `checkpoint=` and `every=`, checked before any work; None for no checkpoints.
    `resumes` is whether runs over the graph can be resumed.

    Raises
    ------
    InputError
        For a folder that is none, or `every` that is neither a duration nor a number of supersteps.
    Unsupported
        If the algorithm, or the graph on disk, cannot be resumed.
    """
    if checkpoint is None:
        if every is not None:
            raise InputError(f"every={shown(every)} says how often checkpoints are written; say checkpoint= too")
        return None
    name, (seconds, supersteps) = primitive.name, _interval(every)
    if not resumes and resumable(primitive):
        raise Unsupported(
            f"{name} of a graph on disk does not support checkpoints; leave checkpoint= out, or take S.in_memory()"
        )
    if not resumes:
        raise Unsupported(f"{name} does not support checkpoints; leave checkpoint= out")
    facts = {"algorithm": name, "graphdask": VERSION, "vertices": int(graph.num_vertices)}
    facts |= {"directed": bool(graph.directed), "merged": bool(graph.merge)} | primitive.facts()
    if isinstance(graph, StreamedGraph):
        facts[EDGES] = graph.store.checksum
    address = _address(checkpoint)
    return attempt(Checkpointing(address, without_secrets(address), seconds, supersteps, every is None, facts))


def attempt(checkpoints: Checkpointing) -> Checkpointing:
    """The same for one attempt of a run, with the complete checkpoints that there are now.

    Raises
    ------
    InputError
        If these are of another run, or the folder cannot be read or made.
    """
    try:
        folder = Folder(checkpoints.folder)
        folder.fs.makedirs(folder.root, exist_ok=True)
        found = tuple(folder.complete())
    except (OSError, ValueError, ImportError) as error:
        raise InputError(f"checkpoint={checkpoints.name!r} cannot be used as a folder: {error}") from error
    for manifest in found:
        refuse_other(manifest, checkpoints.facts, checkpoints.name)
    return replace(checkpoints, found=found, token=secrets.token_hex(4))


@contextmanager
def on_loss(checkpoints: Checkpointing | None) -> Iterator[None]:
    """Let the loss of a worker say how far the run has come: to its last complete checkpoint, from which it goes on."""
    try:
        yield
    except (PeerLost, WrongWorker) as error:
        if checkpoints is not None:
            latest = next(Folder(checkpoints.folder).complete(), None)
            error.reached = 0 if latest is None else latest.superstep  # type: ignore[union-attr]
            error.kept = True  # type: ignore[union-attr]
        raise


def _interval(every: Any) -> tuple[float | None, int]:
    """Seconds, or None and supersteps."""
    if every is None:
        return DEFAULT, 0
    if isinstance(every, str):
        if every.isdecimal() and int(every):
            return None, int(every)
        found = DURATION.fullmatch(every.strip())
        if found and float(found[1]) > 0:
            return float(found[1]) * UNITS[found[2]], 0
    elif isinstance(every, int | np.integer) and not isinstance(every, bool) and every >= 1:
        return None, int(every)
    raise InputError(
        f'every={shown(every)} is neither a duration, such as "60s", "5min" or "1h", nor a number of supersteps from 1'
    )


def _address(checkpoint: Any) -> str:
    """The folder as all workers find it."""
    if not is_path(checkpoint) or not os.fspath(checkpoint):
        raise InputError(f"checkpoint={shown(checkpoint)} is neither the path of a folder nor an address")
    address = os.fspath(checkpoint)
    address = os.fsdecode(address) if isinstance(address, bytes) else address
    return address if ADDRESS.match(address) else os.path.abspath(address)
