"""Searches in which rows find their own parents, in one pass by layers, or level by level, by one rank on a CPU.

In a pass by layers every row finds its own parent, its first neighbour in the previous layer, and most of its edges are
not scanned. It is for searches from the root of the layers.

Level by level, each level is pushed or pulled, whichever reads fewer bytes. A push reads the chunks that hold the
vertices of the level. A pull reads the chunks that hold unreached vertices. The cores share the rows of a pull, and
each row is scanned only until it finds a vertex of the level. In a graph of few levels this takes a few passes.

Labels that fall in the order of chunks (`paths.search`) take fewer passes, and many fewer if there are many levels. But
`paths.search` scans all edges, on one core, and scans the edges of a vertex again when its distance falls. On two cores
and R-MAT 20, from a disk of 2 GB/s, its searches read 210 to 360 MB and take 150 to 320 ms. Searches by levels take 150
to 180 ms, though they read 330 to 430 MB. So `paths.search` is used if the disk is slow.

Source: Beamer, Asanović, Patterson, Direction-optimizing breadth-first search, SC 2012; here what is compared is bytes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphdask.kernels.stream.chunk_pack import COUNTS, ChunkRows
from graphdask.kernels.stream.layered_levels_values import ALONE, UNREACHED
from graphdask.stream.cores import Cores, finished
from graphdask.stream.store import Store
from graphdask.stream.sweeps import Log, cpu, window_of

SHALLOW = 16
"""Layers of a store up to which its searches are done so."""
PER_VERTEX = 10
"""Bytes besides the answers."""


def by_levels(
    store: Store, source: int, memory: int, log: Log, ahead: int | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Depths and parents, int32 by vertex number, in the order of depths.

    None where edges do not stand at both ends, where there are many layers or levels, and where the disk is slow.
    """
    if store.header["directed"] or store.by_number or store.header["layers"] > SHALLOW or store.direct.slow:
        return None
    section = store.sections["out"]
    n, kernels = store.num_vertices, cpu().kernels("layered_levels")
    number = store.numbers()
    level, above = np.full(n, UNREACHED, np.uint8), np.full(n, -1, np.int32)
    (place,) = np.flatnonzero(number == source)
    level[place], above[place], count = 0, place, 1
    bounds = np.append(section.table["first"], n)
    sizes = [sum(section.sizes(k)) for k in range(len(section))]

    def chunks_with(value: int) -> list[int]:
        here = level == value
        return [k for k in range(len(sizes)) if here[bounds[k] : bounds[k + 1]].any()]

    with window_of(store, "out", memory - PER_VERTEX * n, "a search", log, ahead) as window, Cores() as cores:
        for depth in range(ALONE):
            if not count:
                break
            if depth + 1 == ALONE:
                return None
            pushing, pulling = chunks_with(depth), chunks_with(UNREACHED)
            pulls = sum(sizes[k] for k in pulling) <= sum(sizes[k] for k in pushing)
            chunks = (pulling if pulls else pushing)[
                :: -1 if depth % 2 else 1
            ]  # begins with those that are still there
            reached, looked = 0, 0
            for at, k in enumerate(chunks):
                chunk = window.load(k, (chunks[later] for later in range(at + 1, len(chunks))))
                indptr, start, rows = window.indptr(chunk), int(bounds[k]), len(chunk.degrees)
                if pulls:
                    given = start, indptr, chunk.targets, level, above, depth
                    parts = finished(cores.begin(indptr, partial(_pull, kernels, given)))
                else:
                    parts = [kernels.levels_push(rows, start, indptr, chunk.targets, number, level, above, depth)]
                reached, looked = reached + sum(part[0] for part in parts), looked + sum(part[1] for part in parts)
                log.check()
            window.traffic.skipped += len(sizes) - len(chunks)
            log.sweep(count, looked)
            count = reached
    depths, parents = np.empty(n, np.int32), np.empty(n, np.int32)
    kernels.levels_unpack(n, number, level, above, depths, parents)
    return depths, parents


def _pull(kernels: Any, given: tuple[Any, ...], first: int, last: int) -> tuple[int, int]:
    """How many rows were reached, and the edges scanned."""
    reached, looked = kernels.levels_pull(last - first, first, *given)
    return reached, looked


def by_layers(
    store: Store, source: int, memory: int, log: Log, ahead: int | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return depths and parents of a search from the root of the layers, int32 by vertex number, in one pass.

    Return None for another source, if edges are not stored at both ends, or if most rows are not in the component of
    the source. In the last case a search that skips chunks reads less.
    """
    if store.header["directed"] or store.by_number or source != store.header["root"]:
        return None
    n, section, kernels = store.num_vertices, store.sections["out"], cpu().kernels("layered")
    layers = section.table["layer"]
    chunks = [k for k in range(len(section)) if layers[k : k + 2].any() or k + 1 == len(section)]
    with window_of(store, "out", memory - 10 * n, "a search", log, ahead, once=True) as window:
        window.ask(chunks)
        number, depth, parent = (np.full(n, -1, np.int32) for _ in range(3))
        (place,) = store.positions([source], range(int(np.count_nonzero(layers == 0))))
        number[place], depth[source], parent[source] = source, 0, source
        layer, reached = np.array([0, 0, 0, place], np.int64), 1
        pack = ChunkRows(counters=np.zeros(len(COUNTS), np.int64))
        window.traffic.skipped = len(section) - len(chunks)
        for at, k in enumerate(chunks):
            chunk = window.load(k, (chunks[later] for later in range(at + 1, len(chunks))))
            pack.hold(chunk, window.indptr(chunk))
            kernels.layered_pull(len(chunk.degrees), chunk.ids, number, depth, parent, layer, pack)
            log.check()
            done = pack.read_counters(cpu())
            reached += done.found
            if done.worked > 2 * reached:
                return None
            if layer[0] > layer[3]:  # nothing was reached in the layer before
                window.traffic.skipped += len(chunks) - at - 1
                break
    log.sweep(reached, done.looked)
    return depth, parent
