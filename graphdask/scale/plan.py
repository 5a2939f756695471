"""What a scaling experiment measures: kinds x sizes x workers x transports x algorithms, in the order of the work.

Graphs are those of Pan et al., Multi-GPU Graph Analytics, Figure 5: `strong`, the same for all numbers of workers;
`weak-edge`, whose edge factor grows with the workers; `weak-vertex`, whose vertices do. Algorithms have the paper's
names: `bfs` only pushes, `dobfs` optimises its direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphdask.bench.analysis.algorithms import Algorithm
from graphdask.bench.analysis.algorithms import chosen as measured_elsewhere
from graphdask.bench.analysis.graphs import Case, cases
from graphdask.errors import InputError, Unsupported, shown
from graphdask.interface.kinds import choice, whole_or_none
from graphdask.partition.given import given_sequence

KINDS = ("strong", "weak-edge", "weak-vertex")
TRANSPORTS = ("auto", "shm", "ucx", "nccl", "tcp")
ALONE = "single"
"""The transport of one worker, which has no peer to send to: measured once for all transports."""
NAMES = {
    "bfs": "bfs-push", "dobfs": "bfs", "components": "components", "betweenness": "betweenness",
    "pagerank": "pagerank", "triangles": "triangles", "sssp": "sssp",
}  # fmt: skip
"""For each algorithm its name in `graphdask bench analytics`; the one on weighted graphs stands last."""
USUAL = ("bfs", "dobfs", "components", "betweenness", "pagerank", "sssp")
"""Those of the paper's Figure 4."""
IDENTITY = (
    "kind", "algorithm", "scale", "edge_factor", "workers", "transport", "device", "sources", "repeats", "seed",
    "max_weight",
)  # fmt: skip
"""What makes two measurements the same."""


@dataclass(frozen=True)
class Settings:
    """What all measurements of an experiment share."""

    device: str
    sources: int
    repeats: int
    seed: int
    max_weight: int


@dataclass(frozen=True)
class Measurement:
    """An algorithm on a graph, by so many workers over a transport."""

    case: Case
    workers: int
    transport: str
    algorithm: Algorithm
    settings: Settings

    @property
    def about(self) -> dict[str, Any]:
        """What the record says of it, and what it is known by."""
        settings = self.settings
        return {
            "kind": self.case.scaling,
            "algorithm": self.algorithm.name,
            "scale": self.case.scale,
            "edge_factor": self.case.edge_factor,
            "workers": self.workers,
            "transport": self.transport,
            "device": settings.device,
            "sources": settings.sources if self.algorithm.source else None,
            "repeats": settings.repeats,
            "seed": settings.seed,
            "max_weight": settings.max_weight if self.algorithm.weights else None,
        }

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for two measurements of the same."""
        return identity(self.about)


def identity(record: dict[str, Any]) -> tuple[Any, ...]:
    """The key of a record."""
    return tuple(record.get(name) for name in IDENTITY)


def algorithms(names: Sequence[str]) -> list[Algorithm]:
    """Algorithms by the paper's names, those on weighted graphs last.

    Raises
    ------
    InputError
        For an unknown name.
    """
    for name in names:
        choice("algorithms", name, NAMES)
    [known] = zip(*[measured_elsewhere((other,)) for other in NAMES.values()], strict=True)
    of_name = dict(zip(NAMES, known, strict=True))
    return [replace(algorithm, name=name) for name, algorithm in of_name.items() if name in names]


def measurements(
    settings: Settings,
    workers: Sequence[int],
    kinds: Sequence[str],
    names: Sequence[str],
    scales: Sequence[int],
    edge_factor: int | None,
    transports: Sequence[str],
) -> list[Measurement]:
    """List what is measured, each once.

    Raises
    ------
    InputError
        For an unknown name, a number out of range, or a number of workers for which there is no graph.
    """
    workers, kinds, names, scales, transports = (
        given_sequence(name, given, "not a sequence")
        for name, given in (
            ("workers", workers), ("kinds", kinds), ("algorithms", names), ("scales", scales),
            ("transports", transports),
        )
    )  # fmt: skip
    for what, given in (("workers", workers), ("kinds", kinds), ("algorithms", names), ("transports", transports)):
        if not given:
            raise InputError(f"{what}=() is empty; name at least one")
    for what, numbers in (("workers", workers), ("scales", scales)):
        for place, number in enumerate(numbers):
            whole = whole_or_none(number)
            if whole is None:
                raise InputError(f"{what}[{place}]={shown(number)} is not a whole number")
            numbers[place] = whole
    wanted = algorithms(names)
    for kind in kinds:
        choice("kinds", kind, KINDS)
    for number in workers:
        if number < 1:
            raise InputError(f"workers={number} must be at least 1")
        if "weak-vertex" in kinds and number & (number - 1):
            raise InputError(f"workers={number} is no power of two, but the vertices of weak-vertex R-MAT graphs are")
    for transport in transports:
        choice("transports", transport, TRANSPORTS)
    if "nccl" in transports and settings.device != "cuda":
        raise Unsupported("transports='nccl' needs GPUs, and these workers have none; leave it out")
    found: dict[tuple[Any, ...], Measurement] = {}
    counts = tuple(sorted(set(workers)))
    for case in _graphs(settings.device, counts, kinds, scales, edge_factor):
        for size in case.ranks:
            for algorithm in wanted:
                for transport in transports if size > 1 else (ALONE,):
                    each = Measurement(case, size, transport, algorithm, settings)
                    found.setdefault(each.key, each)
    return list(found.values())


def _graphs(
    device: str, workers: tuple[int, ...], kinds: Sequence[str], scales: Sequence[int], edge_factor: int | None
) -> Iterator[Case]:
    suite = "full" if device == "cuda" else "quick"
    for kind in dict.fromkeys(kinds):
        for scale in dict.fromkeys(scales) or (None,):
            one = () if scale is None else (scale,)
            yield from cases(suite, device, workers, scales=one, edge_factor=edge_factor, scaling=(kind,))
