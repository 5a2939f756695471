"""What `graphdask bench generate` measures: the experiments of the cuPPA paper, with its sizes or smaller ones.

An experiment is a list of cases. `paper` has the sizes of the paper, for GPUs; `quick` has the same experiments with
n divided by 250 to 2,000 and fewer points, for two cores and a minute; `tiny` divides by 16 again, to see it run.

Source: M. Alam, K. Perumalla, P. Sanders, "Novel parallel algorithms for fast multi-GPU-based generation of massive
scale-free networks", Data Science and Engineering 4 (2019), Sections 5.6 and 5.7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from graphdask.errors import InputError

SUITES = ("tiny", "quick", "paper")


@dataclass(frozen=True)
class Case:
    """One graph to be made, and how."""

    experiment: str
    generator: str
    """cuPPA-Hash, cuPPA (with waiting queues), R-MAT or G(n, m)."""
    n: int
    degree: int
    """Edges per vertex."""
    p: float | None = None
    devices: int | None = None
    """GPUs, or threads on the CPU; None: all for graphs of a billion vertices and on the CPU, else one."""
    threads: int | None = None
    """Of cuPPA: threads that share the vertices; None: as many as the device runs."""


BOTH = ("cuPPA-Hash", "cuPPA")


def _rate(quick: bool) -> list[Case]:
    """Headline: n=500M d=4 for p from 0.01 to 1; n=1B d=4; n=2B d=8; the other models."""
    shrink, probabilities = (250, (0.01, 0.5, 1.0)) if quick else (1, (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0))
    cases = [Case("rate", "cuPPA-Hash", 500_000_000 // shrink, 4, p) for p in probabilities]
    cases += [
        Case("rate", "cuPPA-Hash", 10**9 // shrink, 4, 0.5),
        Case("rate", "cuPPA-Hash", 2 * 10**9 // shrink, 8, 0.5),
    ]
    cases += [Case("rate", "cuPPA", 500_000_000 // shrink // (4 if quick else 1), 4, 0.5)]
    vertices = 1 << (17 if quick else 28)
    return [*cases, Case("rate", "R-MAT", vertices, 16), Case("rate", "G(n, m)", vertices, 16)]


def _vertices(quick: bool) -> list[Case]:
    """Figure 11: runtime against n for several p at d=4."""
    sizes = [500_000_000 >> k for k in range(9)][::-1]
    probabilities: tuple[float, ...] = (0.0, 0.001, 0.25, 0.5, 0.75, 1.0)
    if quick:
        sizes, probabilities = [size // 500 for size in sizes[4::2]], (0.001, 0.5, 1.0)
    return [Case("vertices", name, n, 4, p) for name in BOTH for p in probabilities for n in sizes]


def _vertices_degree(quick: bool) -> list[Case]:
    """Figure 12: runtime against n for several d at p=0.5."""
    sizes = [7_680_000 >> k for k in range(8)][::-1]
    degrees = [1 << k for k in range(8)]
    if quick:
        sizes, degrees = sizes[0:5:2], degrees[0:5:2]
    return [Case("vertices-degree", name, n, degree, 0.5) for name in BOTH for degree in degrees for n in sizes]


def _degree(quick: bool) -> list[Case]:
    """Figure 13: runtime against d for several p at n=7,812,500."""
    probabilities: tuple[float, ...] = (0.0, 0.00001, 0.001, 0.25, 0.5, 0.75, 1.0)
    n, degrees = 7_812_500, [1 << k for k in range(8)]
    if quick:
        n, degrees, probabilities = n // 500, degrees[0:5:2], (0.001, 0.5, 1.0)
    return [Case("degree", name, n, degree, p) for name in BOTH for p in probabilities for degree in degrees]


def _probability(quick: bool) -> list[Case]:
    """Figure 14: runtime against p for three pairs of n and d with two billion edges."""
    inner = tuple(k / 10 for k in range(1, 10))
    probabilities = (0.0, 0.00001, 0.0001, 0.001, 0.01, *inner, 0.99, 1.0)
    shrink, sets = 1, [(500_000_000, 4), (125_000_000, 16), (31_250_000, 64)]
    if quick:
        shrink, sets, probabilities = 2000, sets[:2], (0.0, 0.00001, 0.01, 0.1, 0.5, 0.9, 1.0)
    return [
        Case("probability", name, n // shrink, degree, p)
        for name in BOTH for n, degree in sets for p in probabilities
    ]  # fmt: skip


def _threads(quick: bool) -> list[Case]:
    """Figure 15: runtime of cuPPA against the number of threads, on GPUs; a block always has 256 threads."""
    shrink = 500 if quick else 1
    sets = ((500_000_000, 4), (125_000_000, 16), (31_250_000, 64), (7_812_500, 256))
    counts = [1 << k for k in range(10, 18)]
    return [Case("threads", "cuPPA", n // shrink, degree, 0.5, threads=t) for n, degree in sets for t in counts]


def _scaling(quick: bool) -> list[Case]:
    """Figure 16: strong scaling with n=1B d=4, and n=2B d=8; on the CPU over threads."""
    shrink = 250 if quick else 1
    sets = ((10**9, 4), (2 * 10**9, 8))
    counts = (1, 2, 3, 4)
    return [Case("scaling", "cuPPA-Hash", n // shrink, degree, 0.5, devices=k) for n, degree in sets for k in counts]


EXPERIMENTS: dict[str, Callable[[bool], list[Case]]] = {
    "rate": _rate,
    "scaling": _scaling,
    "vertices": _vertices,
    "vertices-degree": _vertices_degree,
    "degree": _degree,
    "probability": _probability,
    "threads": _threads,
}
"""Cases of an experiment; the argument says whether they shall be quick."""


def cases(suite: str, experiments: tuple[str, ...] = ()) -> list[Case]:
    """Return the cases of a suite.

    Parameters
    ----------
    suite : {"tiny", "quick", "paper"}
    experiments : tuple of str
        Keys of `EXPERIMENTS`; none means all.

    Raises
    ------
    InputError
        For another name.
    """
    if suite not in SUITES:
        raise InputError(f"suite={suite!r} is not one of {', '.join(SUITES)}")
    for name in experiments:
        if name not in EXPERIMENTS:
            raise InputError(f"experiment={name!r} is not one of {', '.join(EXPERIMENTS)}")
    found = [case for name in experiments or EXPERIMENTS for case in EXPERIMENTS[name](suite != "paper")]
    if suite != "tiny":
        return found
    return [replace(case, n=max(case.n // 16, 4 * case.degree)) for case in found]
