"""Samples that are larger than the memory: some instances at a time, drawn as among all of them."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from graphdask import execute
from graphdask.device.limits import refuse_beyond_disk
from graphdask.errors import InputError, Unsupported, shown
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import flag, whole
from graphdask.interface.suggest import public
from graphdask.kernels.common.compiling import Timer
from graphdask.sample.result import Samples, sample_folder
from graphdask.sample.sampler import Planned, numbered, planning
from graphdask.sample.unfinished import Unfinished, complete, unfinished


@dataclass(frozen=True)
class Written:
    """What writing chunks has made."""

    path: Path
    chunks: int
    instances: int
    rows: int
    """Walks, or edges, or pools: rows of all files together."""
    edges: int
    """Edges that the runs went along."""
    seconds: float
    """Without `compile_seconds`."""
    compile_seconds: float
    """For which kernels were compiled that were used for the first time."""
    stats: Any = field(repr=False)
    """Of the last run."""
    placement: str
    """Of the last run."""


@public
class Chunks:
    """The samples of a call, some instances at a time; each pass draws them anew, and they are the same.

    Iterating gives a result for each chunk, of the class that the call itself returns, in the order of the instances.
    Its rows are those of the whole, its `instance` numbers too, if it has any; with offsets, its first instance has
    place 0.

    Attributes
    ----------
    graph : Graph
    sampler
        What would be run in one piece.
    chunk : int
        Instances that are drawn together.
    """

    def __init__(self, planned: Planned, chunk: int):
        self.graph, self.sampler, self.chunk, self._planned = planned.graph, planned.sampler, chunk, planned

    def __len__(self) -> int:
        """Chunks; there is one at least."""
        return max(1, -(-self.sampler.instances // self.chunk))

    def __iter__(self) -> Iterator[Any]:
        return self._drawn(self.sampler)

    def _drawn(self, sampler: Any) -> Iterator[Any]:
        planned = self._planned
        drawn: Iterator[Samples] = execute.sample_chunks(
            planned.graph, sampler, self.chunk, planned.placement, client=planned.client,
            progress=planned.progress,
        )  # fmt: skip
        return drawn

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        verify: bool = False,
        edge_rows: bool = False,
        overwrite: bool = False,
        resume: bool = False,
    ) -> Written:
        """Write a folder of Parquet files, `part-CHUNK-WORKER.parquet`.

        Each worker writes its own rows, and frees them before the next chunk. The files in the order of their names
        hold the rows in the order of the whole sample.

        Parameters
        ----------
        path : path-like
            A folder that does not exist, or is empty, on a disk that all workers share. An error leaves nothing there.
        verify : bool
            Verify each chunk before it is written, as `Samples.verify` does.
        edge_rows : bool
            Write the column `edge` too, as `Samples.with_edges` adds it.
        overwrite : bool
            Replace an existing folder of samples once the new one is complete. Default: raise OutputExists.
        resume : bool
            Keep complete chunks in the folder `PATH.unfinished` if the call does not come to its end, and go on after
            those that are there. The last one of them is drawn again and compared. If the folder itself has all chunks
            of the call, nothing else is drawn and nothing written. Default: begin with the first chunk, and leave
            nothing where the call fails.

        Raises
        ------
        OutputExists
            If the folder is not empty and `overwrite` is False, or if it holds anything but samples. With `resume`,
            only if it does not hold the samples of this call.
        InputError
            If the folder cannot be written, or if the complete chunks are of another call.
        WriteError
            If the disk is full or fails.
        """
        for name, value in (("verify", verify), ("edge_rows", edge_rows), ("resume", resume)):
            if not isinstance(value, bool):
                raise InputError(f"{name}={shown(value)} is neither True nor False")
        instances = self.sampler.instances
        refuse_beyond_disk(path, f"the samples of {instances:,} instances", instances, "draw fewer")
        timer = Timer()
        overwrite = flag("overwrite", overwrite)
        out = replace(sample_folder(path, overwrite or resume), overwrite=overwrite)
        sampler = self.sampler
        if edge_rows and sampler.gives_edges:
            sampler = numbered(copy.copy(sampler), True)

        def ready(samples: Samples) -> Samples:
            if verify:
                samples.verify()
            return samples.with_edges() if edge_rows else samples

        def last_one() -> Samples:
            begin = sampler.first + (len(self) - 1) * self.chunk
            (samples,) = self._drawn(sampler.chunk(begin, sampler.last) if begin else sampler)
            return ready(samples)

        digits = max(5, len(str(len(self) - 1)))
        last: tuple[Any, str] = None, ""
        found = complete(out, len(self), digits, last_one) if resume else None
        if found is not None:
            return self._written(found[0], timer, found[1].stats, found[1].placement)
        with unfinished(out, resume, digits) as chunks:
            first = max(len(chunks.done) - 1, 0)  # the last complete one is drawn again
            if first:
                sampler = sampler.chunk(sampler.first + first * self.chunk, sampler.last)
            for number, samples in enumerate(self._drawn(sampler), first):
                samples = ready(samples)
                chunks.take(number, samples)
                last = samples.stats, samples.placement
                del samples
        return self._written(chunks, timer, *last)

    def _written(self, chunks: Unfinished, timer: Timer, stats: Any, placement: str) -> Written:
        rows, edges = (sum(counts) for counts in zip(*chunks.done, strict=True))
        spent = timer.seconds, timer.compiled.seconds
        return Written(chunks.out.path, len(self), self.sampler.instances, rows, edges, *spent, stats, placement)

    def __repr__(self) -> str:
        return f"<Chunks: {self.sampler.name} of {self.sampler.instances:,} instances, {self.chunk:,} at a time>"


def in_chunks(function: Callable[..., Any], G: Graph, *arguments: Any, chunk: int, **options: Any) -> Chunks:
    """Draw the samples of a function of `graphdask.sample` in chunks of instances, if memory does not hold all of them.

    The samples are bit for bit those of a single call: what an instance draws depends on its number, not on what is
    drawn with it. Iteration holds the samples of two chunks: the caller keeps the previous chunk until the next one is
    ready. `to_parquet` holds one chunk.

    Parameters
    ----------
    function : callable
        Of `graphdask.sample`, such as `random_walk`, `neighbors` or `run`. Those that draw a sample of the whole graph
        in one pass have no instances that could be divided.
    G : Graph
    *arguments, **options
        Of the function. Arguments are checked here; nothing is drawn yet.
    chunk : int
        Number of instances (walks, seeds, pools) that are drawn together.

    Returns
    -------
    Chunks
        Iterate over it for one result after the other, each with `to_dask` and the other methods of samples; or write
        all with `to_parquet`.

    Raises
    ------
    InputError
        If `chunk` is below 1, or if the function refuses an argument.
    Unsupported
        If the samples of the function cannot be divided.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 0])
    >>> walks = gd.sample.in_chunks(gd.sample.random_walk, G, [0, 1, 2], 2, chunk=2)
    >>> walks
    <Chunks: random walk of 3 instances, 2 at a time>
    >>> [some.walks.tolist() for some in walks]
    [[[0, 1, 2], [1, 2, 0]], [[2, 0, 1]]]
    """
    size = whole("chunk", chunk, 1)
    if not callable(function):
        raise InputError(f"function={shown(function)} is none of graphdask.sample")
    with planning() as planned:
        function(G, *arguments, **options)
    if len(planned) != 1:
        name = getattr(function, "__name__", function)
        raise Unsupported(f"function={name} draws no instances that could be divided; it cannot be done in chunks")
    planned[0].sampler.chunk(0, 0)
    return Chunks(planned[0], size)
