"""What layered.py, layered_paths.py and layered_paths.cu work on."""

from typing import Any

from graphdask.kernels.stream.chunk_pack import ActiveRows

NEAR = 255
"""Distances from this one on are not stored in `near`."""


class PathChunk(ActiveRows):
    ids = "const index_t *", "per row: the vertex number; None if positions are vertex numbers"
    weights = "const weight_t *", "one per edge, or a single one for all edges"
    each = "long long", "-1 for one per edge, 0 for a single one: edge e has the weight weights[e & each]"

    def hold(self, chunk: Any, indptr: Any) -> None:
        super().hold(chunk, indptr)
        self.ids = chunk.ids if chunk.ids is not None and len(chunk.ids) else None
        if self.each:
            self.weights = chunk.weights


class ChunkLabels(PathChunk):
    begin = "long long", "positions from here on belong to this rank"
    end = "long long", "up to here; those of other ranks are marked also if only their predecessor changes"
    packed = "long long", "1 if labels are a distance times 2^32 plus the number of the predecessor, None for distances"
    labels = "dist_t *", "per position: int64 or float64; the largest value, or infinity, if unreached"
    near = "unsigned char *", "None, or per position the distance in a packed label up to 254, else 255 (layered.py)"
    highest = "long long *", "with `near`: for each distance below 255, the largest predecessor in a label of it"
    queue = "index_t *", "one entry per row of the chunk"


class TightEdges(PathChunk):
    distance = "const dist_t *", "per position, final; the largest value, or infinity, if unreached"
    parent = "index_t *", "per position: the smallest number of a vertex that offers itself as the parent"
    flat = "unsigned char *", "per position: whether a row has a tight edge that adds nothing to the distance"
    hops = "int *", "per position: how many such edges away from a vertex with a nearer parent; -1 if none are known"
    hop = "long long", "the rows that are scanned have so many"
