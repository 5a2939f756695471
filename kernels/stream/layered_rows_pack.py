"""What layered_rows.py and layered_proofs.py work on."""

from typing import Any

from graphdask.kernels.common.packs import Counters
from graphdask.kernels.stream.chunk_pack import ActiveRows, ChunkRows

TRIANGLES = Counters("RowTriangles", "triangles", "looked", "added")
"""Triangles, edges scanned, and the sum of all that was added to `links`."""


class WaitingRows(ActiveRows):
    low = "long long", "the first own position: only own positions become active"
    high = "long long", "the one after the last"


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
