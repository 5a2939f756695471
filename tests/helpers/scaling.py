"""Measurements of a scaling experiment that follow the cost model exactly, or with a little noise."""

from __future__ import annotations

from typing import Any

import numpy as np

VERTICES = 1 << 23
EDGES = (2e5, 4e6, 9e7, 3e7, 6e5, 1e4)
"""Looked at in the supersteps of a search, over all ranks."""


def measured(
    workers: int,
    *,
    algorithm: str = "bfs",
    transport: str = "shm",
    kind: str = "strong",
    w: float = 2e-11,
    l: float = 2e-5,  # noqa: E741  (the letter of the model)
    g: float = 1e-10,
    m: float = 6e-5,
    v: float = 0.0,
    noise: float = 0.0,
    edges: tuple[float, ...] = EDGES,
) -> dict[str, Any]:
    """A record of a run of `workers` ranks that share the work evenly; a byte is sent for every 50 edges."""
    rng = np.random.default_rng([workers, len(algorithm), len(transport)])
    grown = 1 if kind == "strong" else workers
    steps = []
    for count in edges:
        share, sent = count * grown / workers, (count * grown / 50 if workers > 1 else 0.0)
        compute = w * share + l
        reported = (g * sent / workers + m * (workers - 1)) if workers > 1 else 0.0
        compute += v * VERTICES * (grown if kind == "weak-vertex" else 1) / workers if not steps else 0.0
        steps.append([count * grown, share, sent, sent / workers, compute, compute + reported])
    seconds = sum(step[5] for step in steps)
    times = seconds * (1 + noise * rng.normal(size=9)) if noise else np.full(9, seconds)
    reached = int(sum(edges)) * grown
    factor, scale = (16 * grown if kind == "weak-edge" else 16), 25
    if kind == "weak-vertex":
        scale += workers.bit_length() - 1
    return {
        "experiment": "scale", "format": 1, "kind": kind, "algorithm": algorithm, "scale": scale,
        "edge_factor": factor, "workers": workers, "transport": transport if workers > 1 else "single",
        "data_plane": transport if workers > 1 else "single", "device": "cuda", "devices": ["NVIDIA H200"] * workers,
        "sources": 3, "repeats": 3, "seed": 0, "max_weight": None, "exchange": "selective", "hosts": 1,
        "machine": {"processor": "Intel Xeon", "gpus": ["NVIDIA H200"] * 4},
        "runs": [{"seconds": float(t), "call_seconds": float(t) + 0.05, "edges_reached": reached} for t in times],
        "seconds": float(np.median(times)), "call_seconds": float(np.median(times)) + 0.05, "teps": reached / seconds,
        "steps": steps, "bsp": {"bottleneck": "W"},
        "vertices": VERTICES * (grown if kind == "weak-vertex" else 1),
        "degrees": [[2**22 >> k, (2**22 >> k) * 3 * 2**k // 2] for k in range(20)],
    }  # fmt: skip
