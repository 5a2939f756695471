"""What layered_kept.py and layered_kept.cu work on."""

from graphdask.kernels.stream.layered_sums_pack import RowSums


class KeptSums(RowSums):
    """`items` are the parts of rows of more than 256 edges, by chunk, first edge and number of edges."""

    tiles = "long long", "the number of tiles"
    table = "const long long *", "shape (8, chunks), see layered_kept.py"
    chunks = "long long", "the number of chunks"
    upto = "const long long *", "per tile: its number of edges and of all before it"
    words = "const unsigned *", "buffer of degrees and of targets; chunks have fewer than 2^31 edges"
    goes = "long long *", "per row of more than 256 edges: where its sum is stored in `sums`; one entry per 257 edges"
    places = "index_t *", "where the parts of each begin"
    parts = "index_t *", "how many parts it has"
