"""Rows of a layered edge list that kernels read where they are, in the host's memory, as their packs begin."""

from graphdask.kernels.common.packs import Pack


class RowsThere(Pack):
    chunks = "long long", "the number of chunks"
    firsts = "const long long *", "per chunk: the position of its first row; rows are in the order of positions"
    begins = "const long long *", "per chunk: the number of edges in the chunks that precede it"
    bases = (
        "const unsigned long long *",
        "per chunk: the address of the targets of its edges, or 0 if the chunk is not in memory. Targets are int32 "
        "positions by row, each row in the order of vertex numbers. They begin and end at multiples of 16 bytes",
    )
    ends = "const unsigned int *", "n + 1: edges of all rows that precede this one, modulo 2^32"
    asked = "unsigned long long *", "per chunk: whether one of its rows was requested"
