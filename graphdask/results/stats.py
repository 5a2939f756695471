"""What a run did: per superstep over all ranks, and in the BSP terms of Pan et al. (W, H, C, S, l)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from graphdask.engine.checkpoints import joined as joined_checkpoints
from graphdask.engine.loop import RankResult, Superstep
from graphdask.interface.suggest import public
from graphdask.kernels.common.compiling import NOTHING, Compiled
from graphdask.results.bsp import BspTerms, Share, seconds_of


@public
@dataclass(repr=False)
class Stats:
    """Statistics of one run; iterate over it for the supersteps."""

    algorithm: str
    transport: str
    """The data plane that ran: `single`, `threads`, `tcp`, `ucx`, `nccl` or `shm`."""
    exchange: str
    ghosts: str
    ranks: int
    devices: list[str]
    memory: int = 0
    """Bytes that the run was announced to need besides the partition, on the rank that needs most; where queues grow,
    an estimate."""
    allocation: str = "maximal"
    """How much memory queues were given: `maximal`, `just-enough`, or `fixed` and the share of the maximum."""
    allocated_start: int = 0
    """Bytes of the algorithm's own arrays before the first superstep, on the rank that has most."""
    allocated_end: int = 0
    """The same after the last superstep."""
    growths: int = 0
    """How often a queue had to grow because the estimate was too small, over all ranks."""
    seconds: float = 0.0
    """Wall time of the run, without the build of the partitions and `compile_seconds`."""
    compile_seconds: float = 0.0
    """For which the run compiled kernels that were used for the first time, on the rank that compiled for longest,
    without what a rank computed or waited for meanwhile in its supersteps; 0 where they were there, or were loaded from
    files. The wall time is the sum of both."""
    compiled: int = 0
    """How many of these: functions that Numba compiled, or modules that NVRTC did, those of CuPy among them; of the
    worker that compiled most."""
    restarts: int = 0
    """How often the run was started again after a lost worker."""
    checkpoints: dict[str, Any] = field(default_factory=dict)
    """Of a run with checkpoints: `resumed`, the superstep from which it went on, 0 for the beginning, and its `source`,
    "files" or "memory" of other workers; how many were `written` to files since then, and how many
    `failed`, if some did; `nbytes` of these over all ranks, and `seconds` for them on the slowest one. Of a run on
    several workers of which states were copied: `copies` since then, `copied_bytes` over all ranks, `copy_seconds` on
    the slowest one, the bytes `held` in memory of the host by the rank with most, and copies `left_out` because a host
    had no memory for them."""
    streamed: dict[str, Any] = field(default_factory=dict)
    """Of a graph on disk: `sweeps` over it; `nbytes` that were read; the `least` that had to be, each edge that was
    visited once (as many as were visited, but no more than those chunks have); and bytes of the `distinct` chunks
    that were needed, which for samples are the least; chunks that were `chunks_read`, `chunks_resident` in memory,
    `chunks_skipped` as no source had changed, and `chunks_unused`, read ahead in vain; seconds of `reading` and of
    `waiting` for it, `overlap` with computation as a share of reading, `bandwidth` in bytes per second of the whole
    run, and `window`, bytes of chunks in memory. Through a GPU, `in_place` are those of the bytes that it read where
    the host has them, a row at a time, and `from_disk` what came from the file. Of samples from a graph on disk the
    same, where a sweep is as many visits of chunks as there are of them, or a hop, and nothing is read ahead.

    Of samples from a graph in host memory: `scheme`, `partitions`, `resident` at a time, `batches` of instances;
    over all ranks `transfers` of partitions to devices, and `nbytes` of these and of what stays there of rows;
    `in_place`, steps of walks, or vertices of hops, whose edges were read in host memory, or the edges of the
    supersteps of a sampler that reads all of them there, as if they were one partition; `imbalance`, the standard
    deviation of queue entries per thread block divided by their mean, of partitions that are sampled at the same time
    by launches of their own, on the mean of the supersteps. Empty for other runs."""
    chosen: dict[str, Any] = field(default_factory=dict)
    """Of PageRank of a dynamic graph: `method`, which was done, `steps`, iterations by method, `frontier_tol` and
    `prune_tol`. Of a program: whether `messages` are "pushed" along the edges of the vertices that send, or "pulled" by
    each vertex along its edges, and `because` of what; where only Python can call `until`, that it does, and why. Empty
    for other runs."""
    ranks_detail: list[list[Superstep]] = field(default_factory=list, repr=False)
    """Per rank, its own supersteps."""

    @cached_property
    def supersteps(self) -> list[dict[str, Any]]:
        """One for each superstep: `frontier`, `edges`, `messages`, `bytes_sent` summed over ranks; `compute`, `code`,
        `exchange`, `wait` in seconds, the largest of any rank; `seconds` of all four, of the rank that took longest;
        `compile`, the seconds besides for which kernels were compiled; `codes`, how payloads were coded; `pushed` and
        `pulled`, how often messages of a program were: several times where one entry stands for several supersteps.
        What ranks ask each other while they compute, as samplers do that draw by a vertex's neighbours elsewhere,
        counts to `bytes_sent`, and its time to `compute`; in the first superstep with what is asked before it, and in
        the last one with what brings results to where they belong."""
        return [_joined(same) for same in zip(*self.ranks_detail, strict=True)]

    @classmethod
    def of(
        cls, algorithm: str, results: Sequence[RankResult], exchange: str, ghosts: str, seconds: float,
        allocation: str = "maximal", compiled: Compiled = NOTHING,
    ) -> Stats:  # fmt: skip
        ran = max([seconds, *(sum(map(seconds_of, result.supersteps)) for result in results)])
        wall = max(ran, seconds + compiled.seconds)
        return cls(
            algorithm=algorithm,
            transport=results[0].transport,
            exchange=exchange,
            ghosts=ghosts,
            ranks=len(results),
            devices=[result.device for result in results],
            memory=max(result.memory for result in results),
            allocation=allocation,
            allocated_start=max(result.allocated_start for result in results),
            allocated_end=max(result.allocated_end for result in results),
            growths=sum(result.growths for result in results),
            seconds=ran,
            compile_seconds=wall - ran,
            compiled=compiled.kernels,
            ranks_detail=[result.supersteps for result in results],
            checkpoints=joined_checkpoints([result.checkpoints for result in results]),
        )

    def __len__(self) -> int:
        return len(self.ranks_detail[0])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.supersteps)

    def __getitem__(self, number: int) -> dict[str, Any]:
        return self.supersteps[number]

    @property
    def edges(self) -> int:
        """The number of edges visited, over all supersteps and ranks.

        For samplers it is the number of edges that they draw, however many candidates they visit for that. For
        traversal samplers, layers and Specs these are the edges of the result. For walks, and for pools of frontier
        sampling, it is the number of steps; if the whole graph is on a device, it is the number of steps that they were
        to make, although some end before. Samplers of edges in one pass visit all edges.
        """
        return sum(step["edges"] for step in self.supersteps)

    @property
    def bytes_sent(self) -> int:
        """Payload bytes sent between ranks: in all supersteps, before the first and after the last."""
        return sum(step["bytes_sent"] for step in self.supersteps)

    @property
    def compiling_in_words(self) -> str:
        """The seconds of compilation, as the end of a sentence; empty if nothing was compiled."""
        if not self.compiled:
            return ""
        kernels = "1 kernel" if self.compiled == 1 else f"{self.compiled:,} kernels"
        return f", and {self.compile_seconds:.4g} s for compiling {kernels}"

    @property
    def waits_for(self) -> str:
        """What ranks waited for in supersteps."""
        if self.streamed.get("scheme") != "layers":
            return "slower ranks"
        return "chunks" if self.ranks == 1 else "ranks or chunks"

    @property
    def bsp(self) -> BspTerms:
        """The run in the terms of the BSP model: W, H, C, S and l (Pan et al., Section III-A)."""
        return BspTerms.of(self.ranks_detail)

    @property
    def shares(self) -> list[Share]:
        """For each superstep, how its time was spent, as the mean of the ranks."""
        return [Share.of(same) for same in zip(*self.ranks_detail, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = {k: v for k, v in asdict(self).items() if k != "ranks_detail"}
        return values | {
            "supersteps": self.supersteps,
            "edges": self.edges,
            "bytes_sent": self.bytes_sent,
            "bsp": asdict(self.bsp),
        }

    def __repr__(self) -> str:
        lines = [
            f"{self.algorithm}: {self.ranks} ranks over {self.transport}, {self.exchange}, ghosts {self.ghosts}, "
            f"{self.seconds:.4g} s" + self.compiling_in_words,
            f"{self.allocation}: {self.memory:,} bytes announced, {self.allocated_start:,} allocated at the start, "
            f"{self.allocated_end:,} at the end, {self.growths} growths",
            f"{'superstep':>9} {'frontier':>12} {'edges':>14} {'messages':>12} {'bytes':>14} {'compute ms':>11} "
            f"{'code ms':>9} {'exchange ms':>11} {'wait ms':>9}  codes",
        ]
        if "messages" in self.chosen:
            lines.insert(1, f"messages are {self.chosen['messages']}, because {self.chosen['because']}")
        if "until" in self.chosen:
            lines.insert(2, f"until is {self.chosen['until']}")
        for step in self.supersteps[:40]:
            lines.append(
                f"{step['superstep']:>9} {step['frontier']:>12,} {step['edges']:>14,} {step['messages']:>12,} "
                f"{step['bytes_sent']:>14,} {step['compute'] * 1e3:>11.3f} {step['code'] * 1e3:>9.3f} "
                f"{step['exchange'] * 1e3:>11.3f} {step['wait'] * 1e3:>9.3f}  {' '.join(step['codes'])}"
            )
        if len(self.supersteps) > 40:
            lines.append(f"{'...':>9} {len(self.supersteps) - 40} more")
        return "\n".join([*lines, str(self.bsp)])


def _joined(same: Sequence[Superstep]) -> dict[str, Any]:
    """A superstep as `Stats.supersteps` has it, from what each rank says of it."""
    one = same[0] if len(same) == 1 else None  # most runs have one rank

    def added(name: str) -> Any:
        return getattr(one, name) if one else sum([getattr(rank, name) for rank in same])

    def largest(name: str) -> Any:
        return getattr(one, name) if one else max([getattr(rank, name) for rank in same])

    return {
        "superstep": same[0].number,
        "frontier": added("frontier"),
        "edges": added("edges"),
        "messages": added("messages"),
        "bytes_sent": added("bytes_sent"),
        "compute": largest("compute"),
        "code": largest("code"),
        "exchange": largest("exchange"),
        "wait": largest("wait"),
        "compile": largest("compile"),
        "seconds": max([seconds_of(rank) for rank in same]),
        "pushed": max([rank.ways[0] for rank in same]),
        "pulled": max([rank.ways[1] for rank in same]),
        "codes": sorted({code for rank in same for code in rank.codes}),
    }
