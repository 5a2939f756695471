"""What layered_rows.py and layered_proofs.py work on."""

from typing import Any

from graphdask.kernels.common.packs import Counters
from graphdask.kernels.stream.chunk_pack import ActiveRows, ChunkRows

TRIANGLES = Counters("RowTriangles", "triangles", "looked", "added")
"""Triangles, edges scanned, and the sum of all that was added to `links`."""


class WaitingRows(ActiveRows):
    low = "long long", "the first own position: only own positions become active"
    high = "long long", "the one after the last"


class OrderedRows(ChunkRows):
    order = "const index_t *", "the positions in an order"
    place = "const index_t *", "per position: its place in the order"
    value = "index_t *", "per position: -1 until it is known"
    most = "long long", "the largest value"
    earlier = "index_t *", "per position: how many earlier neighbours its value depends on"
    begins = "long long *", "per place of a block: where these neighbours begin in `ends`"
    ends = "index_t *", "these neighbours"
    taken = "index_t *", "per value: the last position that has an earlier neighbour of this value"


class WholeRows(ChunkRows):
    back_indptr = "const long long *", "like `indptr`, of in-edges"
    back_targets = "const index_t *", "like `targets`, of in-edges"
    both = "long long", "whether these are others than the out-edges"

    def hold(self, chunk: Any, indptr: Any) -> None:
        super().hold(chunk, indptr)
        self.back_indptr, self.back_targets = chunk.back_indptr, chunk.back_targets


class HigherRows(WholeRows):
    degree = "const unsigned *", "per position: rows are in the order of degrees, then positions"
    mark = "unsigned char *", "per position: is and stays 0"
    higher = "index_t *", "one entry per edge of a row"
    higher_ties = "unsigned char *", "one entry per edge of a row"
    begins = "long long *", "where the higher neighbours of each row begin; that of row 0 is given"
    ends = "index_t *", "the higher neighbours"
    ties = "unsigned char *", "2 for those of both in- and out-edges, else 1"
    joined = "unsigned *", "per position: the number of distinct neighbours"
    links = "long long *", "per position: the sum of the ties between the other two corners of its triangles"
    totals = TRIANGLES, "what was found"
