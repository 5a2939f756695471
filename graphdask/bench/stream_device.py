"""Streaming through a GPU: bytes that go over the link to it, and how fast, beside the same algorithm in its memory.

Searches and components read rows in place; the same runs with copied chunks are recorded beside them. The link is
measured in the same run: page-locked memory of the size of a chunk is copied again and again. Budgets are shares of the
bytes of the edges, in addition to the bytes that an algorithm keeps per vertex. The last records are of PageRank when
all chunks but a few must move, with chunks of several sizes, and from copies and kernels that take turns to four
buffers.

Source: WolfPath, Section 5.4 (Figure 9: asynchronous copies).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graphdask.bench.analysis.graphs import weighted
from graphdask.bench.harness import Record, repeat
from graphdask.bench.streaming import (
    HEAVIEST,
    PAGERANK,
    WEIGHTED,
    beside_memory,
    built,
    call_of,
    iterate,
    record_of,
    starts,
)  # fmt: skip
from graphdask.bench.tuning import BENCH
from graphdask.device.backend import Backend, get_backend
from graphdask.device.residency import page_locked_buffer
from graphdask.errors import InputError
from graphdask.kernels.common.compiling import clock
from graphdask.stream.copies import copies_of
from graphdask.stream.graph import open_
from graphdask.stream.window import AHEAD as DEFAULT_AHEAD

CHUNK = 16 << 20
CHUNKS = (1 << 20, 4 << 20, 64 << 20)
"""Bytes of a chunk, and others that it is compared with."""
AHEAD = (0, 1, 2, 3)
"""Chunks that are copied while one is worked on."""
COPIED = ", copied"
"""Where chunks are copied whose rows would be read in place."""
STATES = {
    "bfs from the root": 9, "bfs from elsewhere": 9, "bfs from the root" + COPIED: 9, "bfs from elsewhere" + COPIED: 9,
    "components": 4, "components" + COPIED: 4, PAGERANK: 53, "sssp from the root": 53,
}  # fmt: skip
"""Bytes per vertex beside chunks, of which so many are needed in all: 68 by PageRank, 20 by the others."""


def measured(
    graph: Any, shares: Sequence[float], repeats: int, directory: str | os.PathLike[str] | None, chunk: int = CHUNK,
    chunks: Sequence[int] = CHUNKS,
) -> Iterator[Record]:  # fmt: skip
    """Records of an undirected graph.

    Yields
    ------
    dict
        As those of `graphdask.bench.stream.run`, where `mb` are what went over the link, `of_link` is their rate by
        that of the link, and `over_link` the seconds by those that the link takes for them.

    Raises
    ------
    InputError
        Where there is no GPU.
    VerificationError
        If an answer is not the one in memory.
    """
    backend = get_backend("cuda")
    if backend.name != "cuda":
        raise InputError("--device cuda needs a GPU")
    inside = graph.partition(1, device="cuda")
    inside.persist(progress=False)
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        path = Path(folder) / "graph.gdl"
        yield _built(graph, path, chunk)
        link = _link(backend, chunk, repeats)
        yield {"record": "host to device", "chunk": chunk, "mb": BENCH.link_bytes / 1e6, "mb_per_s": link / 1e6}
        for share in shares:
            for row in _algorithms(inside, path, share, repeats, link, set(STATES) - set(WEIGHTED)):
                yield row | {"share": share, "chunk": chunk}
        for size in (chunk, *chunks):
            if size != chunk:
                _built(graph, path, size)
            for ahead in AHEAD if size == chunk else (0, 2):
                with _opened(path, PAGERANK, 0.0, ahead) as S:
                    row = record_of(PAGERANK, repeat(partial(iterate, S), repeats))
                yield _beside(row, link) | {"chunk": size, "read_ahead": ahead}
        yield from _with_weights(graph, path, shares, repeats, link, chunk)


def _with_weights(
    graph: Any, path: Path, shares: Sequence[float], repeats: int, link: float, chunk: int
) -> Iterator[Record]:
    """What is run on a graph with weights."""
    heavy = weighted(graph, 0, HEAVIEST).partition(1, device="cuda")
    heavy.persist(progress=False)
    _built(heavy, path, chunk)
    for share in shares:
        for row in _algorithms(heavy, path, share, repeats, link, set(WEIGHTED)):
            yield row | {"share": share, "chunk": chunk, "weights": str(heavy.source.weight_dtype)}


def _built(graph: Any, path: Path, chunk: int) -> Record:
    S, row = built(graph, path, chunk, "64GiB")
    S.close()
    return row


def _link(backend: Backend, size: int, repeats: int) -> float:
    """Bytes per second from page-locked memory to the device, the median."""
    source = page_locked_buffer(backend, size)
    source[...] = 1
    rates = []
    with backend.activate():
        target = backend.xp.empty(size, np.uint8)
        count, copies = max(1, BENCH.link_bytes // size), copies_of(backend)
        copies.copy(0, target, source)
        for _ in range(max(repeats, 3)):
            copies.finish()
            began = clock()
            for _ in range(count):
                copies.copy(0, target, source)
            copies.finish()
            rates.append(count * size / (clock() - began))
    return float(np.median(rates))


def _opened(path: Path, name: str, share: float, ahead: int | None = None) -> Any:
    with open_(path, device="cpu") as S:
        n, section = S.num_vertices, S.store.sections["out"]
        edges = sum(section.edge_bytes(int(count)) for count in section.table["edges"])
        buffers = (3 if ahead is None else ahead + 1) * section.most_bytes + 48 * section.most_rows + (1 << 20)
    memory = max(
        STATES[name] * n + buffers + int(share * edges), (68 if name.startswith(("pagerank", "sssp")) else 20) * n
    )
    return open_(path, memory, device="cuda", read_ahead=ahead)


def _algorithms(inside: Any, path: Path, share: float, repeats: int, link: float, names: set[str]) -> Iterator[Record]:
    """Each algorithm over the file, and in memory."""
    where = starts(path, inside)
    for name in (name for name in STATES if name in names):
        with _opened(path, name, share, DEFAULT_AHEAD if name.endswith(COPIED) else None) as S:
            call = call_of(name, where)
            runs = repeat(partial(call, S), repeats)
            row = _beside(record_of(name, runs), link) | beside_memory(
                name, runs, repeat(partial(call, inside), repeats)
            )
            streamed = runs.result.stats.streamed
            yield row | {"from_disk": streamed["from_disk"], "in_place": streamed["in_place"] / 1e6}


def _beside(row: Record, link: float) -> Record:
    """Besides, against the link."""
    needed = row["mb"] * 1e6 / link
    return row | {"of_link": needed / row["seconds"], "over_link": row["seconds"] / needed if needed else None}
