"""A run in the terms of the BSP model, W + H g + S l, and what bounds it.

W is local computation, H the volume of communication, g the time to deliver a message, S the number of supersteps and
l what each of them costs besides: launches, synchronisation, waiting for slower ranks. C is the computation that
communication takes: splitting, coding and decoding. Of a superstep the slowest rank counts.

Sources: Pan et al., Multi-GPU Graph Analytics, Sections III-A (the terms) and V (what limits performance); Valiant,
A bridging model for parallel computation (1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from graphdask.engine.loop import Superstep

LIGHT = 0.01
"""Share of the largest superstep's edges and messages up to which a superstep has next to no work."""


@dataclass(frozen=True)
class Share:
    """Where the time of one superstep went, on the mean of the ranks, in seconds."""

    compute: float
    code: float
    exchange: float
    wait: float
    seconds: float
    """Of the whole superstep, on the rank that took longest."""

    @classmethod
    def of(cls, ranks: Sequence[Superstep]) -> Share:
        """Of one superstep, from what each rank says of it."""
        mean = {name: fmean(getattr(rank, name) for rank in ranks) for name in ("compute", "code", "exchange", "wait")}
        return cls(**mean, seconds=max(map(seconds_of, ranks)))

    def bottleneck(self, latency: float) -> str:
        """What took most of it: `W`, `C`, `H`, `wait`, or `l` where it costs little more than a superstep at least."""
        if self.seconds <= 2 * latency:
            return "l"
        return _largest(self.compute, self.code, self.exchange, self.wait)


def seconds_of(step: Superstep) -> float:
    """Of a superstep of one rank, from its beginning to its end."""
    return step.compute + step.code + step.exchange + step.wait


def _largest(compute: float, code: float, exchange: float, wait: float) -> str:
    parts = {"W": compute, "C": code, "H": exchange, "wait": wait}
    return max(parts, key=lambda name: parts[name])


@dataclass(frozen=True)
class BspTerms:
    """W, H, C, S and l of one run (Pan et al., Section III-A)."""

    work_edges: int
    """W: edges visited, over all ranks."""
    work_seconds: float
    """W: seconds of computation, of each superstep the slowest rank's."""
    volume_vertices: int
    """H: vertices sent to other ranks."""
    volume_bytes: int
    """H: bytes sent to other ranks."""
    transfer_seconds: float
    """H g: seconds on the wire, of each superstep the slowest rank's."""
    coding_seconds: float
    """C: seconds of splitting, coding and decoding, of each superstep the slowest rank's."""
    wait_seconds: float
    """Seconds that ranks waited for slower ones, on the mean; load imbalance, which the paper counts to S l."""
    supersteps: int
    """S."""
    latency_seconds: float
    """l: seconds that a superstep costs without any work."""
    latency_from: str
    """`light supersteps`: the median over those with next to no work; `exchange`: where all have work, the least that
    the exchange of a superstep took, waiting included, a bound from below; `nothing`: where there was no superstep."""
    seconds: float
    """Of all supersteps, on the rank that took longest."""
    bottleneck: str
    """The term that took most: `W`, `C`, `H`, `wait`; or `l`, where S l is more than half of the seconds."""

    @classmethod
    def of(cls, ranks: Sequence[Sequence[Superstep]]) -> BspTerms:
        """From the supersteps of each rank."""
        steps = list(zip(*ranks, strict=True))
        shares = [Share.of(step) for step in steps]
        latency, source = _latency(steps, shares)
        seconds = max((sum(map(seconds_of, own)) for own in ranks), default=0.0)
        sums = [sum(getattr(share, name) for share in shares) for name in ("compute", "code", "exchange", "wait")]
        return cls(
            work_edges=sum(rank.edges for step in steps for rank in step),
            work_seconds=sum(max(rank.compute for rank in step) for step in steps),
            volume_vertices=sum(rank.messages for step in steps for rank in step),
            volume_bytes=sum(rank.bytes_sent for step in steps for rank in step),
            transfer_seconds=sum(max(rank.exchange for rank in step) for step in steps),
            coding_seconds=sum(max(rank.code for rank in step) for step in steps),
            wait_seconds=sums[3],
            supersteps=len(steps),
            latency_seconds=latency,
            latency_from=source,
            seconds=seconds,
            bottleneck="l" if latency * len(steps) > seconds / 2 else _largest(*sums),
        )

    def __str__(self) -> str:
        return (
            f"W {self.work_edges:,} edges, {self.work_seconds * 1e3:.4g} ms; "
            f"H {self.volume_vertices:,} vertices, {self.volume_bytes:,} bytes, {self.transfer_seconds * 1e3:.4g} ms; "
            f"C {self.coding_seconds * 1e3:.4g} ms; S {self.supersteps:,}; l {self.latency_seconds * 1e6:.4g} us; "
            f"bound by {self.bottleneck}"
        )


def _latency(steps: Sequence[Sequence[Superstep]], shares: Sequence[Share]) -> tuple[float, str]:
    """l, and what it was taken from. The first superstep makes the state; it counts only where it is the only one."""
    later = list(zip(steps, shares, strict=True))[1:] or list(zip(steps, shares, strict=True))
    if not later:
        return 0.0, "nothing"
    edges = [sum(rank.edges for rank in step) for step, _ in later]
    messages = [sum(rank.messages for rank in step) for step, _ in later]
    most = max(edges) * LIGHT, max(messages) * LIGHT
    light = [
        share.seconds
        for (_, share), looked, sent in zip(later, edges, messages, strict=True)
        if looked <= most[0] and sent <= most[1]
    ]
    if light:
        return median(light), "light supersteps"
    return min(share.exchange + share.wait for _, share in later), "exchange"
